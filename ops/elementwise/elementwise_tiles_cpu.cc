// The "simd" kernel of the elementwise ops. The output is walked in its physical order in flat tiles; an operand stored in the same
// order is read in place, a broadcast one is copied into a tile-sized buffer first, so that one vectorised loop per op serves all cases.
#include <algorithm>
#include <cstring>

#include "ops/elementwise/elementwise_impl.h"
#include "ops/elementwise/elementwise_simd.h"
#include "sindri/op/kernel.h"
#include "src/device/cpu/parallel.h"

namespace sindri {
namespace {

using namespace elementwise;

constexpr int64_t kTile = 1024;  // elements; three operand buffers of 8-byte elements stay within L1
constexpr int64_t kParallelGrain = 16384;  // elements per thread below which starting threads costs more than it saves
constexpr size_t kMaxOperands = 3;

// Operand memory as the output is walked: the dimensions in physical order, joined where every operand allows.
struct Walk {
  int rank = 0;
  std::array<int64_t, Shape::kMaxRank> size{};
  std::array<std::array<int64_t, Shape::kMaxRank>, kMaxOperands> stride{};
};

Walk make_walk(Span<const TensorMeta> in, const TensorMeta& out) {
  Walk w;
  std::array<Shape, kMaxOperands> strides;
  for (size_t k = 0; k < in.size(); ++k) strides[k] = operand_strides(in[k], out.shape);
  constexpr std::array<int, 4> kChannelsLastOrder = {0, 2, 3, 1};
  for (int d = 0; d < out.shape.rank(); ++d) {
    const int dim = out.layout == Layout::kChannelsLast ? kChannelsLastOrder[static_cast<size_t>(d)] : d;
    if (out.shape[dim] == 1) continue;
    bool joins = w.rank > 0;
    for (size_t k = 0; k < in.size() && joins; ++k) joins = w.stride[k][static_cast<size_t>(w.rank - 1)] == strides[k][dim] * out.shape[dim];
    const auto at = static_cast<size_t>(joins ? w.rank - 1 : w.rank);
    w.size[at] = (joins ? w.size[at] : 1) * out.shape[dim];
    for (size_t k = 0; k < in.size(); ++k) w.stride[k][at] = strides[k][dim];
    if (!joins) ++w.rank;
  }
  return w;
}

// Copies elements [begin, begin + n) of the walk from operand k's memory.
template <class E> void gather(const Walk& w, size_t k, const E* from, int64_t begin, int64_t n, E* to) {
  std::array<int64_t, Shape::kMaxRank> index{};
  int64_t rest = begin, offset = 0;
  for (int d = w.rank - 1; d >= 0; --d) {
    const auto i = static_cast<size_t>(d);
    index[i] = rest % w.size[i];
    rest /= w.size[i];
    offset += index[i] * w.stride[k][i];
  }
  const auto last = static_cast<size_t>(w.rank - 1);
  const int64_t step = w.stride[k][last];
  while (n > 0) {
    const int64_t run = std::min(n, w.size[last] - index[last]);
    const E* p = from + offset;
    if (step == 0) std::fill_n(to, run, *p);
    else if (step == 1) std::copy_n(p, run, to);
    else
      for (int64_t i = 0; i < run; ++i) to[i] = p[i * step];
    to += run;
    n -= run;
    index[last] += run;
    offset += run * step;
    for (size_t d = last; d > 0 && index[d] == w.size[d]; --d) {
      index[d] = 0;
      offset += w.stride[k][d - 1] - w.size[d] * w.stride[k][d];
      ++index[d - 1];
    }
  }
}

void gather_bytes(const Walk& w, size_t k, size_t element_size, const void* from, int64_t begin, int64_t n, void* to) {
  switch (element_size) {
    case 1: return gather(w, k, static_cast<const uint8_t*>(from), begin, n, static_cast<uint8_t*>(to));
    case 2: return gather(w, k, static_cast<const uint16_t*>(from), begin, n, static_cast<uint16_t*>(to));
    case 4: return gather(w, k, static_cast<const uint32_t*>(from), begin, n, static_cast<uint32_t*>(to));
    default: return gather(w, k, static_cast<const uint64_t*>(from), begin, n, static_cast<uint64_t*>(to));
  }
}

class TileKernel final : public Kernel {
 public:
  TileKernel(const KernelQuery& q, TileFn tile)
      : tile_(tile),
        operands_(q.in.size()),
        numel_(q.out[0].numel()),
        out_size_(dtype_size(q.out[0].dtype)),
        numbers_(numbers_of(q.attrs)),
        walk_(make_walk(q.in, q.out[0])) {
    for (size_t k = 0; k < operands_; ++k) {
      element_size_[k] = dtype_size(q.in[k].dtype);
      int64_t dense = 1;
      bool in_place = true, constant = true;
      for (int d = walk_.rank - 1; d >= 0; --d) {
        const auto i = static_cast<size_t>(d);
        in_place = in_place && walk_.stride[k][i] == dense;
        constant = constant && walk_.stride[k][i] == 0;
        dense *= walk_.size[i];
      }
      access_[k] = in_place ? kInPlace : constant ? kConstant : kGather;
      all_in_place_ = all_in_place_ && in_place;
    }
  }

  void run(ExecContext&, Span<const Buffer> in, Span<const Buffer> out) override {
    if (numel_ == 0) return;
    char* y = static_cast<char*>(out[0].data);
    parallel_for(fixed_chunks(numel_, kTile), kParallelGrain / kTile,
                 [&](int64_t first, int64_t last) { run_range(in, y, first * kTile, std::min(numel_, last * kTile)); });
  }

 private:
  enum Access { kInPlace, kConstant, kGather };

  void run_range(Span<const Buffer> in, char* y, int64_t begin, int64_t end) const {
    alignas(64) std::array<std::array<char, kTile * 8>, kMaxOperands> buffers;
    std::array<const void*, kMaxOperands> at{};
    const int64_t step = all_in_place_ ? end - begin : kTile;
    for (size_t k = 0; k < operands_; ++k) {
      if (access_[k] != kConstant) continue;
      gather_bytes(walk_, k, element_size_[k], in[k].data, begin, std::min(step, end - begin), buffers[k].data());
      at[k] = buffers[k].data();
    }
    for (int64_t i = begin; i < end; i += step) {
      const int64_t n = std::min(step, end - i);
      for (size_t k = 0; k < operands_; ++k) {
        if (access_[k] == kInPlace) at[k] = static_cast<const char*>(in[k].data) + static_cast<size_t>(i) * element_size_[k];
        if (access_[k] != kGather) continue;
        gather_bytes(walk_, k, element_size_[k], in[k].data, i, n, buffers[k].data());
        at[k] = buffers[k].data();
      }
      tile_(at.data(), y + static_cast<size_t>(i) * out_size_, n, numbers_.data());
    }
  }

  TileFn tile_;
  size_t operands_;
  int64_t numel_;
  size_t out_size_;
  std::array<double, 2> numbers_;
  Walk walk_;
  std::array<size_t, kMaxOperands> element_size_{};
  std::array<Access, kMaxOperands> access_{};
  bool all_in_place_ = true;
};

std::unique_ptr<Kernel> make_tiles(const KernelQuery& q, TileFn tile) { return std::make_unique<TileKernel>(q, tile); }

// clang-format off
#define UNARY(id, ...)                                                                                                               \
  const bool k_##id = register_kernel({.op = #id, .name = "simd", .make = [](const KernelQuery& q) {                                 \
    return make_tiles(q, SINDRI_SIMD_CALL(unary_tile)(UnaryId::id, static_cast<int>(q.in[0].dtype))); }});
#define UNARY_WITH(id, ...) UNARY(id, __VA_ARGS__)
#include "ops/elementwise/unary.def"
#undef UNARY
#undef UNARY_WITH

#define BINARY(id, ...)                                                                                                              \
  const bool kBinary_##id = register_kernel({.op = #id, .name = "simd", .make = [](const KernelQuery& q) {                           \
    return make_tiles(q, SINDRI_SIMD_CALL(binary_tile)(BinaryId::id, static_cast<int>(q.in[0].dtype))); }});
#define BINARY_WITH(id, ...) BINARY(id, __VA_ARGS__)
#define BINARY_FLAT(id, ...) BINARY(id, __VA_ARGS__)
#include "ops/elementwise/binary.def"
#undef BINARY
#undef BINARY_WITH
#undef BINARY_FLAT
// clang-format on

const bool kWhere = register_kernel({.op = "where", .name = "simd", .make = [](const KernelQuery& q) {
                                       return make_tiles(q, SINDRI_SIMD_CALL(where_tile)(static_cast<int>(dtype_size(q.out[0].dtype))));
                                     }});
const bool kCast = register_kernel({.op = "cast", .name = "simd", .make = [](const KernelQuery& q) {
                                      return make_tiles(q, SINDRI_SIMD_CALL(cast_tile)(static_cast<int>(q.in[0].dtype), static_cast<int>(q.out[0].dtype)));
                                    }});

}  // namespace
}  // namespace sindri
