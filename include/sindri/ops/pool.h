// Pooling over the last two dimensions of [N, C, H, W].
#pragma once
#include <vector>

#include "sindri/core/tensor.h"
#include "sindri/export.h"
#include "sindri/op/attrs.h"

namespace sindri::ops {

/// Geometry of a pooling window.
struct Pool2dAttrs {
  std::vector<int64_t> kernel = {1, 1};
  std::vector<int64_t> stride = {1, 1};
  std::vector<int64_t> pad = {0, 0, 0, 0};  ///< top, bottom, left, right; max pads with -inf
  bool ceil_mode = false;
  bool count_include_pad = false;  ///< average only: divide by the kernel size at the border too
  SINDRI_ATTRS(Pool2dAttrs, kernel, stride, pad, ceil_mode, count_include_pad)
};

/// Maximum of each window; the first of equal values takes the gradient. NaN wins.
SINDRI_API Tensor max_pool2d(const Tensor& x, const Pool2dAttrs& attrs);
SINDRI_API Tensor avg_pool2d(const Tensor& x, const Pool2dAttrs& attrs);
/// Average over the windows [floor(i·H/oh), ceil((i+1)·H/oh)), as in PyTorch -> [N, C, oh, ow].
SINDRI_API Tensor adaptive_avg_pool2d(const Tensor& x, int64_t oh, int64_t ow);
/// Mean over H and W -> [N, C, 1, 1].
SINDRI_API Tensor global_avg_pool2d(const Tensor& x);

}  // namespace sindri::ops
