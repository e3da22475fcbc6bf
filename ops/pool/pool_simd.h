// Vectorised loops of pooling: over channels in channels-last images, along rows in contiguous ones. Sums are float (double for
// float64), window row by window row, in a fixed order.
#pragma once

#include <cstdint>

#include "sindri/core/dtype.h"
#include "src/device/cpu/simd.h"

namespace sindri {

/// Windows along one axis (PoolAxis as plain arrays), and for each input position the outputs [from, to) that cover it.
struct PoolTable {
  int64_t in, out;
  const int64_t *start, *begin, *end, *divisor, *from, *to;
};

/// Both axes of one image. kernel_w and stride_w are 0 for adaptive windows; wide_index: argmax is int32 instead of uint8.
/// separate: windows are adjacent from the first element on and inside the image (stride = kernel).
struct PoolImage {
  PoolTable rows, cols;
  int64_t channels, kernel_w, stride_w;
  bool wide_index, separate;
};

/// Widest row that the contiguous kernels keep on the stack.
inline constexpr int64_t kMaxPoolWidth = 2048;

}  // namespace sindri

// Output row oh of an image x [H, W, C] -> y, argmax [OW, C].
SINDRI_SIMD_DECLARE(void max_pool_row(DType t, const PoolImage& p, const void* x, int64_t oh, void* y, void* argmax);)
SINDRI_SIMD_DECLARE(void avg_pool_row(DType t, const PoolImage& p, const void* x, int64_t oh, void* y);)
// Input row h of an image: dy, argmax [OH, OW, C] -> dx [W, C].
SINDRI_SIMD_DECLARE(void max_pool_grad_row(DType t, const PoolImage& p, const void* dy, const void* argmax, int64_t h, void* dx);)
// The same if p.separate: fills the rows of the image dx under output row oh.
SINDRI_SIMD_DECLARE(void max_pool_grad_separate(DType t, const PoolImage& p, const void* dy, const void* argmax, int64_t oh, void* dx);)
SINDRI_SIMD_DECLARE(void avg_pool_grad_row(DType t, const PoolImage& p, const void* dy, int64_t h, void* dx);)
// One plane: x [H, W] <-> y [OH, OW].
SINDRI_SIMD_DECLARE(void max_pool_plane(DType t, const PoolImage& p, const void* x, void* y, void* argmax);)
SINDRI_SIMD_DECLARE(void avg_pool_plane(DType t, const PoolImage& p, const void* x, void* y);)
SINDRI_SIMD_DECLARE(void max_pool_grad_plane(DType t, const PoolImage& p, const void* dy, const void* argmax, void* dx);)
SINDRI_SIMD_DECLARE(void avg_pool_grad_plane(DType t, const PoolImage& p, const void* dy, void* dx);)
