// The sizes of one 2-D convolution, checked once and shared by the three ops (forward, input gradient, weight gradient) and
// their kernels. Private to ops/conv/.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sindri/export.h"
#include "sindri/op/attrs.h"
#include "sindri/op/kernel.h"
#include "sindri/ops/conv.h"

namespace sindri::conv {

// The gradient ops need the shape of their result: with stride > 1 several input sizes give the same output size.
struct Conv2dInputGradAttrs {
  std::vector<int64_t> stride = {1, 1};
  std::vector<int64_t> pad = {0, 0, 0, 0};
  std::vector<int64_t> dilation = {1, 1};
  int64_t groups = 1;
  Shape x_shape;
  SINDRI_ATTRS(Conv2dInputGradAttrs, stride, pad, dilation, groups, x_shape)
};
struct Conv2dWeightGradAttrs {
  std::vector<int64_t> stride = {1, 1};
  std::vector<int64_t> pad = {0, 0, 0, 0};
  std::vector<int64_t> dilation = {1, 1};
  int64_t groups = 1;
  Shape w_shape;
  SINDRI_ATTRS(Conv2dWeightGradAttrs, stride, pad, dilation, groups, w_shape)
};

struct Conv2dBiasActAttrs {
  std::vector<int64_t> stride = {1, 1};
  std::vector<int64_t> pad = {0, 0, 0, 0};
  std::vector<int64_t> dilation = {1, 1};
  int64_t groups = 1;
  bool relu = false;
  SINDRI_ATTRS(Conv2dBiasActAttrs, stride, pad, dilation, groups, relu)
};
struct FoldBatchNormAttrs {
  double eps = 1e-5;
  SINDRI_ATTRS(FoldBatchNormAttrs, eps)
};

/// x [n, c, h, w], weight [o, c/groups, kh, kw], y [n, o, oh, ow].
struct ConvGeometry {
  int64_t n, c, h, w;
  int64_t o, kh, kw, oh, ow, groups;
  int64_t stride_h, stride_w, pad_top, pad_bottom, pad_left, pad_right, dilation_h, dilation_w;

  int64_t c_per_group() const { return c / groups; }
  int64_t o_per_group() const { return o / groups; }
  int64_t weight_numel() const { return o * c_per_group() * kh * kw; }
  Shape x_shape() const { return {n, c, h, w}; }
  Shape w_shape() const { return {o, c_per_group(), kh, kw}; }
  Shape y_shape() const { return {n, o, oh, ow}; }
  /// Whether an operand has no elements; library kernels leave that case to the reference.
  bool empty() const { return n == 0 || c == 0 || h == 0 || w == 0 || o == 0; }
};

/// Checks attributes and shapes; throws ShapeError or ValueError that names `op`.
ConvGeometry make_geometry(const char* op, const ops::Conv2dAttrs& attrs, const Shape& x, const Shape& w);

enum class Direction { kForward, kInputGrad, kWeightGrad };

/// The op that a query is for, and its sizes.
SINDRI_API Direction direction_of(const KernelQuery& q);
SINDRI_API ConvGeometry geometry_of(const KernelQuery& q);
/// Whether a relu follows; only in conv2d_bias_act.
SINDRI_API bool relu_of(const KernelQuery& q);

template <class A> ops::Conv2dAttrs common_attrs(const A& a) { return {a.stride, a.pad, a.dilation, a.groups}; }

}  // namespace sindri::conv
