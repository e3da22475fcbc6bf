// What the definitions and the kernels of reductions share: attributes, the set of reduced dimensions, the output shape.
#pragma once

#include <array>

#include "sindri/core/tensor.h"
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
struct CumsumAttrs {
  int64_t axis = -1;
  SINDRI_ATTRS(CumsumAttrs, axis)
};
struct TopkAttrs {
  int64_t k = 1;
  int64_t axis = -1;
  bool largest = true;
  SINDRI_ATTRS(TopkAttrs, k, axis, largest)
};

/// reduced[d] says whether dimension d is reduced. Throws ValueError for an axis out of range or named twice.
using AxisSet = std::array<bool, Shape::kMaxRank>;
AxisSet reduced_dims(const char* op, const std::vector<int64_t>& axes, int rank);
Shape reduced_shape(const Shape& in, const AxisSet& reduced, bool keep_dims);
/// Elements per output element.
int64_t reduced_count(const Shape& in, const AxisSet& reduced);

}  // namespace sindri::reduce
