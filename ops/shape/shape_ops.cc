// Checks and resolution of attributes shared by the data movement ops (see shape_ops.h).
#include "ops/shape/shape_ops.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "sindri/core/error.h"

namespace sindri::shape_ops {

void check_shape(const char* op, const Shape& shape, DType dtype) {
  for (int d = 0; d < shape.rank(); ++d) {
    if (shape[d] < 0) throw ValueError(fmt::format("{}: dimension {} of shape {} is negative", op, d, shape.str()));
  }
  int64_t bytes = 0;
  if (__builtin_mul_overflow(shape.numel(), static_cast<int64_t>(dtype_size(dtype)), &bytes))
    throw ValueError(fmt::format("{}: shape {} of {} has more bytes than 64 bits can count", op, shape.str(), dtype_name(dtype)));
}

void check_value(const char* op, double value, DType dtype) {
  if (is_floating(dtype) || dtype == DType::kBool) return;
  // 2^63 is a double, 2^63 - 1 is not: the upper bound is exclusive.
  const double lo = dtype == DType::kUInt8 ? 0 : dtype == DType::kInt32 ? -0x1p31 : -0x1p63;
  const double hi = dtype == DType::kUInt8 ? 0x1p8 : dtype == DType::kInt32 ? 0x1p31 : 0x1p63;
  if (!(std::trunc(value) >= lo && value < hi)) throw ValueError(fmt::format("{}: value {} does not fit {}", op, value, dtype_name(dtype)));
}

namespace {

// Python's slice.indices for one dimension.
void resolve_dim(int64_t size, int64_t begin, int64_t end, int64_t stride, int64_t* first, int64_t* count) {
  const int64_t lo = stride > 0 ? 0 : -1, hi = stride > 0 ? size : size - 1;
  const auto place = [&](int64_t i) { return std::clamp(i < 0 ? i + size : i, lo, hi); };
  *first = place(begin);
  const int64_t last = place(end);
  const int64_t span = stride > 0 ? last - *first : *first - last;
  const int64_t step = stride > 0 ? stride : -std::max(stride, -std::numeric_limits<int64_t>::max());
  *count = span <= 0 ? 0 : (span - 1) / step + 1;
}

}  // namespace

SliceRange resolve_slice(const char* op, const Shape& shape, const std::vector<int64_t>& begin, const std::vector<int64_t>& end,
                         const std::vector<int64_t>& stride) {
  if (begin.size() != end.size() || (!stride.empty() && stride.size() != begin.size()))
    throw ValueError(fmt::format("{}: begin has {} entries, end {} and stride {}", op, begin.size(), end.size(), stride.size()), "",
                     "give one entry of each per dimension");
  if (begin.size() > static_cast<size_t>(shape.rank()))
    throw ValueError(fmt::format("{}: {} entries for shape {} of {} dimensions", op, begin.size(), shape.str(), shape.rank()));
  SliceRange r{Shape::filled(shape.rank(), 0), Shape::filled(shape.rank(), 1), shape};
  for (size_t i = 0; i < begin.size(); ++i) {
    const int d = static_cast<int>(i);
    const int64_t s = stride.empty() ? 1 : stride[i];
    if (s == 0) throw ValueError(fmt::format("{}: stride of dimension {} is 0", op, d));
    resolve_dim(shape[d], begin[i], end[i], s, &r.begin[d], &r.count[d]);
    r.stride[d] = r.count[d] > 1 ? s : 1;  // keeps begin + i·stride inside the dimension, so kernels cannot overflow
    if (r.count[d] == 0) r.begin[d] = 0;
  }
  return r;
}

std::vector<int> resolve_perm(const Shape& shape, const std::vector<int64_t>& perm) {
  if (perm.size() != static_cast<size_t>(shape.rank()))
    throw ValueError(
        fmt::format("transpose: perm [{}] has {} entries, the input {} has {} dimensions", fmt::join(perm, ", "), perm.size(), shape.str(), shape.rank()));
  std::vector<int> axes;
  for (int64_t p : perm) {
    const int a = normalize_axis(p, shape.rank(), "transpose");
    if (std::find(axes.begin(), axes.end(), a) != axes.end())
      throw ValueError(fmt::format("transpose: perm [{}] names axis {} twice", fmt::join(perm, ", "), a));
    axes.push_back(a);
  }
  return axes;
}

namespace {

PadMode parse_mode(const char* op, const std::string& mode) {
  if (mode == "constant") return PadMode::kConstant;
  if (mode == "reflect") return PadMode::kReflect;
  if (mode == "symmetric") return PadMode::kSymmetric;
  if (mode == "edge") return PadMode::kEdge;
  throw ValueError(fmt::format("{}: mode '{}' is not known", op, mode), "", "use constant, reflect, symmetric or edge");
}

// Most elements a mode can add on one side of a dimension.
int64_t pad_limit(PadMode mode, int64_t size) {
  if (mode == PadMode::kReflect) return std::max<int64_t>(size - 1, 0);
  if (mode == PadMode::kSymmetric) return size;
  return mode == PadMode::kEdge && size == 0 ? 0 : std::numeric_limits<int64_t>::max();
}

}  // namespace

PadSpec resolve_pad(const char* op, const Shape& shape, const std::vector<int64_t>& pads, const std::string& mode) {
  PadSpec spec{Shape::filled(shape.rank(), 0), shape, parse_mode(op, mode)};
  if (pads.size() != 2 * static_cast<size_t>(shape.rank()))
    throw ValueError(fmt::format("{}: pads has {} entries, shape {} needs {}", op, pads.size(), shape.str(), 2 * shape.rank()), "",
                     "give before and after for each dimension");
  for (int d = 0; d < shape.rank(); ++d) {
    const int64_t before = pads[2 * static_cast<size_t>(d)], after = pads[2 * static_cast<size_t>(d) + 1];
    if (before < 0 || after < 0)
      throw ValueError(fmt::format("{}: pads ({}, {}) of dimension {} are negative", op, before, after, d), "", "use ops::slice to cut");
    if (std::max(before, after) > pad_limit(spec.mode, shape[d]))
      throw ValueError(fmt::format("{}: mode {} can add at most {} elements to dimension {} of {}, asked for ({}, {})", op, mode,
                                   pad_limit(spec.mode, shape[d]), d, shape.str(), before, after));
    spec.before[d] = before;
    if (__builtin_add_overflow(before, after, &spec.out[d]) || __builtin_add_overflow(spec.out[d], shape[d], &spec.out[d]))
      throw ValueError(fmt::format("{}: pads ({}, {}) of dimension {} overflow", op, before, after, d));
  }
  return spec;
}

int64_t PadSpec::source(int64_t i, int d, int64_t size) const {
  const int64_t j = i - before[d];
  if (j >= 0 && j < size) return j;
  switch (mode) {
    case PadMode::kConstant: return -1;
    case PadMode::kEdge: return j < 0 ? 0 : size - 1;
    case PadMode::kReflect: return j < 0 ? -j : 2 * (size - 1) - j;
    default: return j < 0 ? -1 - j : 2 * size - 1 - j;
  }
}

Shape gather_shape(const char* op, const Shape& x, const Shape& indices, int axis) {
  if (x.rank() == 0) throw ShapeError(fmt::format("{}: the input must have at least one dimension, got a scalar", op));
  if (x.rank() - 1 + indices.rank() > Shape::kMaxRank)
    throw ShapeError(fmt::format("{}: input {} with indices {} gives more than {} dimensions", op, x.str(), indices.str(), Shape::kMaxRank));
  Shape out;
  for (int d = 0; d < axis; ++d) out.push_back(x[d]);
  for (int64_t n : indices) out.push_back(n);
  for (int d = axis + 1; d < x.rank(); ++d) out.push_back(x[d]);
  return out;
}

void check_indices(const char* op, const TensorMeta& indices) {
  if (indices.dtype != DType::kInt32 && indices.dtype != DType::kInt64)
    throw DTypeError(fmt::format("{}: indices must be int32 or int64, got {}", op, indices.str()), "", "convert them with ops::cast");
}

}  // namespace sindri::shape_ops
