// Pooling over the last two dimensions of [N, C, H, W].
#pragma once
#include <vector>

#include "sindri/core/tensor.h"
#include "sindri/export.h"
#include "sindri/op/attrs.h"

namespace sindri::ops {

/// Options of 2-D pooling.
struct Pool2dAttrs {
  std::vector<int64_t> kernel = {1, 1};  ///< height, width
  std::vector<int64_t> stride = {1, 1};  ///< rows, columns
  std::vector<int64_t> pad = {0, 0, 0, 0};  ///< top, bottom, left, right; max pads with -inf
  bool ceil_mode = false;  ///< rounds the output size up instead of down
  bool count_include_pad = false;  ///< average only: padding counts in the divisor, so border windows divide by the kernel size too
  SINDRI_ATTRS(Pool2dAttrs, kernel, stride, pad, ceil_mode, count_include_pad)
};

/// Maximum of each window, x [N, C, H, W] -> [N, C, OH, OW]; NaN wins. The first of equal values receives the gradient.
/// Throws ShapeError or ValueError for windows that do not fit.
SINDRI_API Tensor max_pool2d(const Tensor& x, const Pool2dAttrs& attrs);
/// Mean of each window, x [N, C, H, W] -> [N, C, OH, OW]; padding counts in the divisor only with count_include_pad.
/// Throws the same errors as max_pool2d.
SINDRI_API Tensor avg_pool2d(const Tensor& x, const Pool2dAttrs& attrs);
/// Mean over the windows [floor(i·H/oh), ceil((i+1)·H/oh)) of rows, and columns likewise, as in PyTorch: [N, C, H, W]
/// -> [N, C, oh, ow].
SINDRI_API Tensor adaptive_avg_pool2d(const Tensor& x, int64_t oh, int64_t ow);
/// Mean over H and W: [N, C, H, W] -> [N, C, 1, 1].
SINDRI_API Tensor global_avg_pool2d(const Tensor& x);

}  // namespace sindri::ops
