// Shared by the normalisation ops: attribute structs, the type of statistics and the division of memory into channels.
#pragma once

#include <cstdint>
#include <vector>

#include "sindri/op/attrs.h"
#include "sindri/op/op_def.h"
#include "sindri/ops/elementwise.h"

namespace sindri::ops {

struct BatchNormAttrs {
  double eps = 1e-5;
  SINDRI_ATTRS(BatchNormAttrs, eps)
};

/// mask: a further result marks where relu passed values, one bit per element.
struct BatchNormReluAttrs {
  double eps = 1e-5;
  bool mask = false;
  SINDRI_ATTRS(BatchNormReluAttrs, eps, mask)
};

/// residual: the forward form had a residual. relu's mask is then not recomputed from x, but comes from an input: y or, with `mask`, the stored mask. sum: the
/// gradient of y is dy + dy2.
struct BatchNormReluGradAttrs {
  double eps = 1e-5;
  bool residual = false;
  bool sum = false;
  bool mask = false;
  SINDRI_ATTRS(BatchNormReluGradAttrs, eps, residual, sum, mask)
  bool gives_g() const { return residual || sum; }
  size_t num_inputs() const { return 6u + (residual ? 1u : 0u) + (sum ? 1u : 0u); }
};

/// Batch norm and the windows of the max pooling that follows relu, as in Pool2dAttrs.
struct BatchNormPoolAttrs {
  double eps = 1e-5;
  std::vector<int64_t> kernel = {1, 1};
  std::vector<int64_t> stride = {1, 1};
  std::vector<int64_t> pad = {0, 0, 0, 0};
  bool ceil_mode = false;
  SINDRI_ATTRS(BatchNormPoolAttrs, eps, kernel, stride, pad, ceil_mode)
};
/// Stored as the argmax of a window if relu gave 0, so that no element gets the gradient.
inline constexpr uint8_t kNoPlace = 255;

struct LayerNormAttrs {
  int64_t begin_norm_axis = -1;
  double eps = 1e-7;
  SINDRI_ATTRS(LayerNormAttrs, begin_norm_axis, eps)
};

/// Means and variances of half types are float32.
inline DType stats_dtype(DType x) { return x == DType::kFloat64 ? DType::kFloat64 : DType::kFloat32; }
inline Tensor to_dtype(const Tensor& t, DType dtype) { return t.dtype() == dtype ? t : cast(t, dtype); }

/// Checks of the batch norm ops; they throw naming `op`.
void check_batch_norm_input(const char* op, const TensorMeta& x, double eps);
void check_channels(const char* op, const TensorMeta& x, const TensorMeta& m, const char* which);
/// Meta of a statistic of x.
TensorMeta per_channel(const TensorMeta& x);

/// Meta of the mask of x: bit i % 8 of byte i / 8 belongs to element i in memory order.
TensorMeta mask_of(const TensorMeta& x);
inline bool mask_bit(const uint8_t* mask, int64_t i) { return (mask[i / 8] >> (i % 8) & 1) != 0; }

/// x [N, C, ...] as n x c x s elements, element (i, j, k) at i·stride_n + j·stride_c + k·stride_s. Either planar (each
/// channel's s elements contiguous) or interleaved (n = 1, channels contiguous: rank 2 and channels_last).
struct ChannelView {
  int64_t n = 1, c = 1, s = 1;
  int64_t stride_n = 0, stride_c = 1, stride_s = 1;
  bool planar = true;
  int64_t count() const { return n * s; }
};

inline ChannelView channel_view(const TensorMeta& x) {
  const int64_t batch = x.shape[0], c = x.shape[1];
  int64_t s = 1;
  for (int i = 2; i < x.shape.rank(); ++i) s *= x.shape[i];
  if (c == 1) return {1, 1, batch * s, 0, batch * s, 1, true};
  if (s == 1 || x.layout == Layout::kChannelsLast) return {1, c, batch * s, 0, 1, c, false};
  return {batch, c, s, c * s, s, 1, true};
}

}  // namespace sindri::ops
