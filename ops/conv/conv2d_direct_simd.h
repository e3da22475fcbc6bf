// Inner loops of the direct convolutions for few channels (conv2d_direct_cpu.cc). Images are channels-last float32; vectors hold the
// output channels of a pixel, padded to `lanes`, in forward and weight gradient, and a run of (kw, c) in the input gradient.
#pragma once

#include <cstdint>

#include "src/device/cpu/simd.h"

namespace sindri {

/// Output pixels are `pixel_stride` elements of x apart, output rows `row_stride`. Tap k of a pixel is x[offset[k]] from its first.
struct DirectConv {
  int64_t taps;
  const int32_t* offset;
  int64_t pixel_stride, row_stride;
  int64_t oh, ow, o;
  int64_t lanes;  ///< 8 or 16, at least o
  int64_t run;  ///< taps come in runs of this many neighbouring elements
};

/// Input gradient: a pixel of dy touches, for each kernel row, `run` consecutive elements of dx (kw * c of them).
struct DirectInputGrad {
  int64_t kernel_rows, run;
  int64_t pixel_stride, row_stride, kernel_row_stride;
  int64_t ow, o;
};
/// Elements of a run as the packed weight holds it, and how far an update may write behind its end (zeros are added there).
inline constexpr int64_t kDirectRunBlock = 32, kDirectMaxKernelRows = 16;
inline int64_t direct_run_length(int64_t run) { return (run + kDirectRunBlock - 1) / kDirectRunBlock * kDirectRunBlock; }

}  // namespace sindri

// One image: x (padded already) and weight [taps, lanes] -> y [oh, ow, o]. Writes exactly y.
SINDRI_SIMD_DECLARE(void direct_conv_image(const DirectConv& d, const float* x, const float* weight, float* y);)
// One image: partial [taps, lanes] += dy [oh, ow, o] times x. `room`: floats that can be read from dy on.
SINDRI_SIMD_DECLARE(void direct_conv_weight_grad(const DirectConv& d, const float* x, const float* dy, int64_t room, float* partial);)
// One row of dy [ow, o]: added to dx from the first element its first pixel touches. weight [kernel_rows, o, direct_run_length].
SINDRI_SIMD_DECLARE(void direct_conv_input_grad_row(const DirectInputGrad& d, const float* dy, const float* weight, float* dx);)
