// 2-D convolution and its two gradients, each a separate op.
#pragma once
#include <vector>

#include "sindri/core/tensor.h"
#include "sindri/export.h"
#include "sindri/op/attrs.h"

namespace sindri::ops {

/// Options of a 2-D convolution.
struct Conv2dAttrs {
  std::vector<int64_t> stride = {1, 1};  ///< rows, columns
  std::vector<int64_t> pad = {0, 0, 0, 0};  ///< zeros added at top, bottom, left, right
  std::vector<int64_t> dilation = {1, 1};  ///< rows, columns
  int64_t groups = 1;  ///< channels are divided into this many groups, each with its own filters
  SINDRI_ATTRS(Conv2dAttrs, stride, pad, dilation, groups)
};

/// 2-D cross-correlation, as MindSpore's Conv2D and PyTorch compute it: x [N, C, H, W], w [O, C/groups, KH, KW] -> [N,
/// O, OH, OW], OH = (H + top + bottom - dilation·(KH-1) - 1)/stride + 1, rounded down, and OW likewise. Throws
/// ShapeError if channels, groups or sizes do not match.
SINDRI_API Tensor conv2d(const Tensor& x, const Tensor& w, const Conv2dAttrs& attrs = {});
/// Gradient of conv2d with respect to x: dy [N, O, OH, OW], w [O, C/groups, KH, KW] -> x_shape [N, C, H, W].
SINDRI_API Tensor conv2d_input_grad(const Tensor& dy, const Tensor& w, const Shape& x_shape, const Conv2dAttrs& attrs);
/// Gradient of conv2d with respect to w: dy [N, O, OH, OW], x [N, C, H, W] -> w_shape [O, C/groups, KH, KW].
SINDRI_API Tensor conv2d_weight_grad(const Tensor& dy, const Tensor& x, const Shape& w_shape, const Conv2dAttrs& attrs);

}  // namespace sindri::ops
