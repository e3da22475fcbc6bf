// Geometry of pooling: attribute structs of the gradient ops and, per axis, the window of every output position.
#pragma once

#include <vector>

#include "sindri/op/attrs.h"
#include "sindri/op/op_def.h"
#include "sindri/ops/pool.h"

namespace sindri::ops {

/// Pool2dAttrs of the forward op and its input's height and width, which are ambiguous with strides.
struct Pool2dGradAttrs {
  std::vector<int64_t> kernel = {1, 1};
  std::vector<int64_t> stride = {1, 1};
  std::vector<int64_t> pad = {0, 0, 0, 0};
  bool ceil_mode = false;
  bool count_include_pad = false;
  std::vector<int64_t> input_size = {1, 1};
  SINDRI_ATTRS(Pool2dGradAttrs, kernel, stride, pad, ceil_mode, count_include_pad, input_size)
  Pool2dAttrs forward() const { return {kernel, stride, pad, ceil_mode, count_include_pad}; }
};
inline Pool2dGradAttrs with_input_size(const Pool2dAttrs& a, const Shape& x) {
  return {a.kernel, a.stride, a.pad, a.ceil_mode, a.count_include_pad, {x[2], x[3]}};
}

/// Height and width of the output.
struct AdaptivePool2dAttrs {
  int64_t oh = 1, ow = 1;
  SINDRI_ATTRS(AdaptivePool2dAttrs, oh, ow)
};
/// Height and width of the forward op's input.
struct AdaptivePool2dGradAttrs {
  int64_t h = 1, w = 1;
  SINDRI_ATTRS(AdaptivePool2dGradAttrs, h, w)
};

/// Windows along one axis, clipped to the input: output o covers [begin[o], end[o]), never empty; both grow with o. `start` is
/// the start of the unclipped window and `divisor` the axis' factor of an average's count.
struct PoolAxis {
  int64_t in = 0, out = 0;
  std::vector<int64_t> start, begin, end, divisor;
};

/// Throws ValueError or ShapeError, naming `op`, if the attributes do not match an input of height h and width w.
void check_pool_attrs(const char* op, const Pool2dAttrs& a, int64_t h, int64_t w);
/// axis 0: rows, 1: columns. The attributes must have been checked.
PoolAxis pool_axis(const Pool2dAttrs& a, int axis, int64_t in);
PoolAxis adaptive_pool_axis(int64_t in, int64_t out);
/// Number of windows along an axis.
SINDRI_API int64_t pooled_size(const Pool2dAttrs& a, int axis, int64_t in);
/// Checks the rank and type of x [N, C, H, W] and the attributes. Returns [N, C, OH, OW].
TensorMeta infer_pooled(const char* op, const Pool2dAttrs& a, const TensorMeta& x);
/// Checks that dy has the forward op's result shape for an input of input_size. Returns the input's meta.
TensorMeta infer_unpooled(const char* op, const Pool2dGradAttrs& a, const TensorMeta& dy);
/// Type of a max pool's argmax: the position within the window, row by row from its unclipped start.
inline DType argmax_dtype(const Pool2dAttrs& a) { return a.kernel[0] * a.kernel[1] <= 256 ? DType::kUInt8 : DType::kInt32; }

/// Strides of [N, C, H, W] in either layout.
struct ImageView {
  int64_t n, c, h, w, stride_n, stride_c, stride_h, stride_w;
  bool channels_last;
  int64_t at(int64_t in_n, int64_t in_c, int64_t in_h, int64_t in_w) const { return in_n * stride_n + in_c * stride_c + in_h * stride_h + in_w * stride_w; }
};
inline ImageView image_view(const TensorMeta& m) {
  const int64_t n = m.shape[0], c = m.shape[1], h = m.shape[2], w = m.shape[3];
  if (m.layout == Layout::kChannelsLast) return {n, c, h, w, h * w * c, 1, w * c, c, true};
  return {n, c, h, w, c * h * w, h * w, w, 1, false};
}

}  // namespace sindri::ops
