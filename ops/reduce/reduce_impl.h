// Shared by the definitions and the kernels of reductions: attributes, the set of reduced dimensions, the output shape.
#pragma once

#include <array>

#include "sindri/core/tensor.h"
#include "sindri/export.h"
#include "sindri/op/attrs.h"

namespace sindri::reduce {

struct ReduceAttrs {
  std::vector<int64_t> axes;
  bool keep_dims = false;
  SINDRI_ATTRS(ReduceAttrs, axes, keep_dims)
};
struct AxisAttrs {
  int64_t axis = -1;
  bool keep_dims = false;
  SINDRI_ATTRS(AxisAttrs, axis, keep_dims)
};
struct NormAttrs {
  double p = 2;
  std::vector<int64_t> axes;
  bool keep_dims = false;
  SINDRI_ATTRS(NormAttrs, p, axes, keep_dims)
};
struct SearchsortedAttrs {
  bool right = false;
  SINDRI_ATTRS(SearchsortedAttrs, right)
};
struct CumsumAttrs {
  int64_t axis = -1;
  bool reverse = false;  // sums from the end; the gradient of either direction is the other
  SINDRI_ATTRS(CumsumAttrs, axis, reverse)
};
struct CumprodAttrs {
  int64_t axis = -1;
  bool reverse = false;
  SINDRI_ATTRS(CumprodAttrs, axis, reverse)
};
struct LinearScanAttrs {
  int64_t axis = -1;
  bool reverse = false;
  bool late = false;  // uses the coefficient of the previous position
  SINDRI_ATTRS(LinearScanAttrs, axis, reverse, late)
};
struct TopkAttrs {
  int64_t k = 1;
  int64_t axis = -1;
  bool largest = true;
  SINDRI_ATTRS(TopkAttrs, k, axis, largest)
};
struct TopkGradAttrs {
  int64_t size = 1;  // of dimension `axis` in topk's input
  int64_t axis = -1;
  SINDRI_ATTRS(TopkGradAttrs, size, axis)
};

/// The type in which to divide by a count, for a gradient of type `t`: half types hold no counts above 65504 (float16) or 256 exactly (bfloat16).
inline DType count_type(DType t) { return is_half(t) ? DType::kFloat32 : t; }

/// Returns, for each position, the element of t that a scan along `axis` visits just before it; `first` at the start.
Tensor visited_before(const Tensor& t, int64_t axis, bool reverse, double first);

/// reduced[d]: whether dimension d is reduced. Throws ValueError for an axis that is out of range or named twice.
using AxisSet = std::array<bool, Shape::kMaxRank>;
SINDRI_API AxisSet reduced_dims(const char* op, const std::vector<int64_t>& axes, int rank);
SINDRI_API Shape reduced_shape(const Shape& in, const AxisSet& reduced, bool keep_dims);
/// Number of input elements per output element.
SINDRI_API int64_t reduced_count(const Shape& in, const AxisSet& reduced);

/// A contiguous tensor viewed along one axis: element (o, i, k) is at (o * size + i) * inner + k.
struct AxisView {
  int64_t outer = 1, size = 1, inner = 1;
};
inline AxisView view_along(const char* op, const Shape& shape, int64_t axis) {
  AxisView v;
  const int at = normalize_axis(axis, shape.rank(), op);
  for (int d = 0; d < shape.rank(); ++d) (d < at ? v.outer : d == at ? v.size : v.inner) *= shape[d];
  return v;
}

}  // namespace sindri::reduce
