// Inner loops of the direct convolutions for few channels (conv2d_direct_cpu.cc). Images are channels-last float32. In forward and
// weight gradient vectors hold the output channels of a pixel, padded to `lanes`; in the input gradient they hold a run of (kw, c).
#pragma once

#include <cstdint>

#include "src/device/cpu/simd.h"

namespace sindri {

/// Output pixels are `pixel_stride` elements of x apart, output rows `row_stride`. Tap k of a pixel is at x[offset[k]], relative to the pixel's first element.
struct DirectConv {
  int64_t taps;
  const int32_t* offset;
  int64_t pixel_stride, row_stride;
  int64_t oh, ow, o;
  int64_t lanes;  ///< 8 or 16, at least o
  int64_t run;  ///< taps form runs of this many neighbouring elements
};

/// Input gradient: for each kernel row a pixel of dy contributes to `run` consecutive elements of dx (kw * c of them).
struct DirectInputGrad {
  int64_t kernel_rows, run;
  int64_t pixel_stride, row_stride, kernel_row_stride;
  int64_t ow, o;
};
/// kDirectRunBlock: runs in the packed weight are padded to a multiple of this, and an update may write this many elements past the end of a run (it adds zeros
/// there). kDirectMaxKernelRows: the largest supported number of kernel rows.
inline constexpr int64_t kDirectRunBlock = 32, kDirectMaxKernelRows = 16;
inline int64_t direct_run_length(int64_t run) { return (run + kDirectRunBlock - 1) / kDirectRunBlock * kDirectRunBlock; }

}  // namespace sindri

// One image: x (already padded) and weight [taps, lanes] -> y [oh, ow, o]. Writes exactly y.
SINDRI_SIMD_DECLARE(void direct_conv_image(const DirectConv& d, const float* x, const float* weight, float* y);)
// One image: partial [taps, lanes] += dy [oh, ow, o] times x. `room`: number of floats that may be read from dy on.
SINDRI_SIMD_DECLARE(void direct_conv_weight_grad(const DirectConv& d, const float* x, const float* dy, int64_t room, float* partial);)
// One row of dy [ow, o]: added to dx from the first element that its first pixel contributes to. weight [kernel_rows, o, direct_run_length].
SINDRI_SIMD_DECLARE(void direct_conv_input_grad_row(const DirectInputGrad& d, const float* dy, const float* weight, float* dx);)
