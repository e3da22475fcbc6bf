// Attributes of the data movement ops, and their resolution against an input shape (defaults filled in, negative values
// mapped, bounds checked). infer, gradient rules and kernels all use the same resolve functions.
#pragma once

#include <string>
#include <vector>

#include "sindri/core/tensor.h"
#include "sindri/op/attrs.h"
#include "sindri/op/op_def.h"

namespace sindri::shape_ops {

struct ShapeAttrs {  // reshape, broadcast_to, sum_to
  Shape shape;
  SINDRI_ATTRS(ShapeAttrs, shape)
};
struct TransposeAttrs {
  std::vector<int64_t> perm;
  SINDRI_ATTRS(TransposeAttrs, perm)
};
struct AxisAttrs {  // concat, gather, scatter_add, gather_elements
  int64_t axis = 0;
  SINDRI_ATTRS(AxisAttrs, axis)
};
struct SplitAttrs {
  std::vector<int64_t> sizes;
  int64_t axis = 0;
  SINDRI_ATTRS(SplitAttrs, sizes, axis)
};
struct SliceAttrs {
  std::vector<int64_t> begin, end, stride;
  SINDRI_ATTRS(SliceAttrs, begin, end, stride)
};
struct SliceGradAttrs {
  Shape shape;  // of the sliced tensor
  std::vector<int64_t> begin, end, stride;
  SINDRI_ATTRS(SliceGradAttrs, shape, begin, end, stride)
};
struct PadAttrs {
  std::vector<int64_t> pads;  // before, after of each dimension
  double value = 0;
  std::string mode = "constant";
  SINDRI_ATTRS(PadAttrs, pads, value, mode)
};
struct PadGradAttrs {
  Shape shape;  // of the tensor that was padded
  std::vector<int64_t> pads;
  std::string mode = "reflect";
  SINDRI_ATTRS(PadGradAttrs, shape, pads, mode)
};
struct GatherElementsGradAttrs {
  Shape shape;  // of the tensor gathered from
  int64_t axis = 0;
  SINDRI_ATTRS(GatherElementsGradAttrs, shape, axis)
};
struct RavelIndicesAttrs {
  Shape dims;
  bool wrap = true;  // negative indices count from the end
  std::vector<int64_t> axes;  // names of the dimensions in messages; empty: 0, 1, …
  SINDRI_ATTRS(RavelIndicesAttrs, dims, wrap, axes)
};
struct EmbeddingGradAttrs {
  int64_t rows = 0;  // of the table
  SINDRI_ATTRS(EmbeddingGradAttrs, rows)
};
struct OneHotAttrs {
  int64_t depth = 1;
  double on = 1, off = 0;
  DType dtype = DType::kFloat32;
  SINDRI_ATTRS(OneHotAttrs, depth, on, off, dtype)
};
struct ArangeAttrs {
  double start = 0, stop = 0, step = 1;
  DType dtype = DType::kInt64;
  SINDRI_ATTRS(ArangeAttrs, start, stop, step, dtype)
};
struct FullAttrs {
  Shape shape;
  double value = 0;
  DType dtype = DType::kFloat32;
  SINDRI_ATTRS(FullAttrs, shape, value, dtype)
};

/// Throws ValueError for a negative dimension, or if the tensor has more bytes than 63 bits can count.
void check_shape(const char* op, const Shape& shape, DType dtype);
/// Throws ValueError if `value` cannot be converted to an integral `dtype` (NaN, infinite, out of range).
void check_value(const char* op, double value, DType dtype);

/// A slice per dimension: element i of the result is begin + i·stride of the source.
struct SliceRange {
  Shape begin, stride, count;
};
SINDRI_API SliceRange resolve_slice(const char* op, const Shape& shape, const std::vector<int64_t>& begin, const std::vector<int64_t>& end,
                                    const std::vector<int64_t>& stride);

/// The permutation with negative axes mapped. Throws unless it names every axis once.
SINDRI_API std::vector<int> resolve_perm(const Shape& shape, const std::vector<int64_t>& perm);

enum class PadMode { kConstant, kReflect, kSymmetric, kEdge };
struct PadSpec {
  Shape before, out;
  PadMode mode;
  /// Source index of output index i in dimension d; -1 for the constant border.
  int64_t source(int64_t i, int d, int64_t size) const;
};
SINDRI_API PadSpec resolve_pad(const char* op, const Shape& shape, const std::vector<int64_t>& pads, const std::string& mode);

/// Shape of gather(x, indices, axis): x's, with dimension `axis` replaced by the indices' dimensions.
Shape gather_shape(const char* op, const Shape& x, const Shape& indices, int axis);
/// Throws DTypeError unless the indices are int32 or int64.
void check_indices(const char* op, const TensorMeta& indices);

}  // namespace sindri::shape_ops
