// See tile_operands.h.
#include "ops/elementwise/tile_operands.h"

#include <algorithm>

#include "ops/elementwise/elementwise_impl.h"

namespace sindri::elementwise {

TileOperands::TileOperands(Span<const TensorMeta> in, const TensorMeta& out) : count_(in.size()) {
  std::array<Shape, kMost> strides;
  for (size_t k = 0; k < count_; ++k) strides[k] = operand_strides(in[k], out.shape);
  constexpr std::array<int, 4> kChannelsLastOrder = {0, 2, 3, 1};
  for (int d = 0; d < out.shape.rank(); ++d) {
    const int dim = out.layout == Layout::kChannelsLast ? kChannelsLastOrder[static_cast<size_t>(d)] : d;
    if (out.shape[dim] == 1) continue;
    bool joins = rank_ > 0;
    for (size_t k = 0; k < count_ && joins; ++k) joins = stride_[k][static_cast<size_t>(rank_ - 1)] == strides[k][dim] * out.shape[dim];
    const auto at = static_cast<size_t>(joins ? rank_ - 1 : rank_);
    size_[at] = (joins ? size_[at] : 1) * out.shape[dim];
    for (size_t k = 0; k < count_; ++k) stride_[k][at] = strides[k][dim];
    if (!joins) ++rank_;
  }
  for (size_t k = 0; k < count_; ++k) {
    element_size_[k] = dtype_size(in[k].dtype);
    int64_t dense = 1;
    bool in_place = true, constant = true;
    for (int d = rank_ - 1; d >= 0; --d) {
      const auto i = static_cast<size_t>(d);
      in_place = in_place && stride_[k][i] == dense;
      constant = constant && stride_[k][i] == 0;
      dense *= size_[i];
    }
    access_[k] = in_place ? Access::kInPlace : constant ? Access::kConstant : Access::kGather;
  }
}

bool TileOperands::all_in_place() const {
  return std::all_of(access_.begin(), access_.begin() + static_cast<ptrdiff_t>(count_), [](Access a) { return a == Access::kInPlace; });
}

template <class E> void TileOperands::copy(size_t k, const E* from, int64_t begin, int64_t n, E* to) const {
  std::array<int64_t, Shape::kMaxRank> index{};
  int64_t rest = begin, offset = 0;
  for (int d = rank_ - 1; d >= 0; --d) {
    const auto i = static_cast<size_t>(d);
    index[i] = rest % size_[i];
    rest /= size_[i];
    offset += index[i] * stride_[k][i];
  }
  const auto last = static_cast<size_t>(rank_ - 1);
  const int64_t step = stride_[k][last];
  while (n > 0) {
    const int64_t run = std::min(n, size_[last] - index[last]);
    const E* p = from + offset;
    if (step == 0) std::fill_n(to, run, *p);
    else if (step == 1) std::copy_n(p, run, to);
    else
      for (int64_t i = 0; i < run; ++i) to[i] = p[i * step];
    to += run;
    n -= run;
    index[last] += run;
    offset += run * step;
    for (size_t d = last; d > 0 && index[d] == size_[d]; --d) {
      index[d] = 0;
      offset += stride_[k][d - 1] - size_[d] * stride_[k][d];
      ++index[d - 1];
    }
  }
}

void TileOperands::gather(size_t k, const void* from, int64_t begin, int64_t n, void* to) const {
  switch (element_size_[k]) {
    case 1: return copy(k, static_cast<const uint8_t*>(from), begin, n, static_cast<uint8_t*>(to));
    case 2: return copy(k, static_cast<const uint16_t*>(from), begin, n, static_cast<uint16_t*>(to));
    case 4: return copy(k, static_cast<const uint32_t*>(from), begin, n, static_cast<uint32_t*>(to));
    default: return copy(k, static_cast<const uint64_t*>(from), begin, n, static_cast<uint64_t*>(to));
  }
}

}  // namespace sindri::elementwise
