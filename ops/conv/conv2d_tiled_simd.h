// Inner loops of the tiled convolutions (conv2d_tiled_cpu.cc): channels-last float32, output channels in blocks of kTiledLanes.
#pragma once

#include <cstdint>

#include "src/device/cpu/simd.h"

namespace sindri {

inline constexpr int64_t kTiledLanes = 16;

/// Geometry of one image in elements: for each kernel row a pixel's taps are `run` = kw * c neighbouring elements of x.
struct TiledConv {
  int64_t kernel_rows, run;
  int64_t pixel_stride, row_stride, kernel_row_stride;  ///< of x: between output columns, output rows, kernel rows
  int64_t oh, ow, o;
};

}  // namespace sindri

// kTiledLanes channels of y [oh, ow, o] of one image: x is padded already, weight [kernel_rows, run, kTiledLanes]. With bias [kTiledLanes]
// y = sum + bias (null: no bias); with relu y = max(y, 0).
SINDRI_SIMD_DECLARE(void tiled_conv_image(const TiledConv& d, const float* x, const float* weight, const float* bias, bool relu, float* y);)
// partial [kernel_rows, run, kTiledLanes] += x times dy [rows, ow, o] over output rows [row, row + rows), for kTiledLanes channels of dy.
SINDRI_SIMD_DECLARE(void tiled_conv_weight_grad(const TiledConv& d, int64_t row, int64_t rows, const float* x, const float* dy, float* partial);)
