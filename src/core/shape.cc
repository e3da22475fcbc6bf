// Shapes, broadcasting and axis arithmetic.
#include "sindri/core/shape.h"

#include <fmt/format.h>

#include <algorithm>

#include "sindri/core/error.h"

namespace sindri {

Shape::Shape(std::span<const int64_t> dims) {
  if (dims.size() > kMaxRank) throw ShapeError(fmt::format("a tensor has at most {} dimensions, got {}", kMaxRank, dims.size()));
  std::copy(dims.begin(), dims.end(), dims_.begin());
  rank_ = static_cast<int>(dims.size());
}
Shape::Shape(std::initializer_list<int64_t> dims) : Shape(std::span<const int64_t>(dims.begin(), dims.size())) {}
Shape::Shape(const std::vector<int64_t>& dims) : Shape(std::span<const int64_t>(dims)) {}

Shape Shape::filled(int rank, int64_t fill) { return Shape(std::vector<int64_t>(static_cast<size_t>(rank), fill)); }

int64_t Shape::dim(int64_t axis) const {
  const int64_t a = axis < 0 ? axis + rank_ : axis;
  if (a < 0 || a >= rank_) throw ValueError(fmt::format("dimension {} is outside shape {}", axis, str()));
  return dims_[static_cast<size_t>(a)];
}

int64_t Shape::numel() const {
  int64_t n = 1;
  for (int i = 0; i < rank_; ++i) {
    if (__builtin_mul_overflow(n, dims_[static_cast<size_t>(i)], &n)) throw ValueError(fmt::format("shape {} has more elements than 64 bits can count", str()));
  }
  return n;
}

void Shape::push_back(int64_t d) { insert(rank_, d); }

void Shape::insert(int position, int64_t d) {
  if (rank_ == kMaxRank) throw ShapeError(fmt::format("a tensor has at most {} dimensions", kMaxRank));
  std::copy_backward(dims_.begin() + position, dims_.begin() + rank_, dims_.begin() + rank_ + 1);
  dims_[static_cast<size_t>(position)] = d;
  ++rank_;
}

void Shape::erase(int position) {
  std::copy(dims_.begin() + position + 1, dims_.begin() + rank_, dims_.begin() + position);
  --rank_;
}

std::string Shape::str() const { return fmt::format("[{}]", fmt::join(begin(), end(), ", ")); }

bool Shape::operator==(const Shape& o) const { return rank_ == o.rank_ && std::equal(begin(), end(), o.begin()); }

Shape contiguous_strides(const Shape& shape) {
  Shape s = Shape::filled(shape.rank(), 1);
  // If a dimension is 0, others may be arbitrarily large: strides are then unused, but must not overflow as signed numbers.
  for (int i = shape.rank() - 2; i >= 0; --i) s[i] = static_cast<int64_t>(static_cast<uint64_t>(s[i + 1]) * static_cast<uint64_t>(shape[i + 1]));
  return s;
}

Shape broadcast_shapes(const Shape& a, const Shape& b, const char* op) {
  const int rank = std::max(a.rank(), b.rank());
  Shape out = Shape::filled(rank, 1);
  for (int i = 0; i < rank; ++i) {
    const int ia = i - (rank - a.rank()), ib = i - (rank - b.rank());
    const int64_t da = ia < 0 ? 1 : a[ia], db = ib < 0 ? 1 : b[ib];
    if (da != db && da != 1 && db != 1) {
      throw ShapeError(fmt::format("{}: shapes {} and {} do not broadcast: dimension {} is {} and {}", op, a.str(), b.str(), i, da, db), "",
                       "sizes must be equal, or one of them 1; dimensions are matched from the right");
    }
    out[i] = da == 1 ? db : da;
  }
  return out;
}

int normalize_axis(int64_t axis, int rank, const char* op) {
  const int64_t r = std::max(rank, 1);
  if (axis < -r || axis >= r) throw ValueError(fmt::format("{}: axis {} is outside [{}, {}] for {} dimensions", op, axis, -r, r - 1, rank));
  return static_cast<int>(axis < 0 ? axis + r : axis);
}

}  // namespace sindri
