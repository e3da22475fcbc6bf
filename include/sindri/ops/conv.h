// 2-D convolution and its two gradients, each an op of its own.
#pragma once
#include <vector>

#include "sindri/core/tensor.h"
#include "sindri/export.h"
#include "sindri/op/attrs.h"

namespace sindri::ops {

/// Geometry of a convolution.
struct Conv2dAttrs {
  std::vector<int64_t> stride = {1, 1};  ///< rows, columns
  std::vector<int64_t> pad = {0, 0, 0, 0};  ///< zeros added at top, bottom, left, right
  std::vector<int64_t> dilation = {1, 1};
  int64_t groups = 1;
  SINDRI_ATTRS(Conv2dAttrs, stride, pad, dilation, groups)
};

/// x [N, C, H, W], w [O, C/groups, KH, KW] -> [N, O, OH, OW], OH = (H + top + bottom - dilation·(KH-1) - 1)/stride + 1.
/// Cross-correlation, as in MindSpore's Conv2D and PyTorch. Throws ShapeError when channels, groups or sizes do not fit.
SINDRI_API Tensor conv2d(const Tensor& x, const Tensor& w, const Conv2dAttrs& attrs = {});
/// Gradient with respect to x: dy [N, O, OH, OW], w -> [N, C, H, W] of the given spatial size.
SINDRI_API Tensor conv2d_input_grad(const Tensor& dy, const Tensor& w, const Shape& x_shape, const Conv2dAttrs& attrs);
/// Gradient with respect to w: dy, x -> w_shape.
SINDRI_API Tensor conv2d_weight_grad(const Tensor& dy, const Tensor& x, const Shape& w_shape, const Conv2dAttrs& attrs);

}  // namespace sindri::ops
