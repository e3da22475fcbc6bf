// Transforms of Winograd's F(2x2, 3x3) (Lavin and Gray 2016, arXiv:1509.09308). All channel vectors are contiguous.
// conv2d_winograd_cpu.cc describes how these transforms and the products of panel_simd.h form convolutions.
#pragma once

#include <cstdint>

#include "src/device/cpu/simd.h"

namespace sindri::winograd {
inline constexpr int kPositions = 16;
}  // namespace sindri::winograd

// clang-format off
SINDRI_SIMD_DECLARE(
  // Bᵀ d B of one tile: d[i] points at the 16 pixels of a 4x4 patch, row by row; position p goes to v + p·stride.
  void winograd_input(const float* const* d, int64_t channels, float* v, int64_t stride);
  // Aᵀ m A: 16 positions to the four pixels y[0..3]; null pixels are outside the result and are skipped.
  void winograd_output(const float* m, int64_t stride, int64_t channels, float* const* y);
  // As winograd_output, followed by + bias [channels], + residual pixels if given, and max(·, 0) with relu.
  void winograd_output_act(const float* m, int64_t stride, int64_t channels, float* const* y, const float* bias, const float* const* residual, bool relu);
  // A dy Aᵀ: the four pixels (null: zero) to 16 positions.
  void winograd_output_grad(const float* const* dy, int64_t channels, float* w, int64_t stride);
  // G g Gᵀ for c in [c_first, c_last) and every o. g(c, o) is the 3x3 kernel at w + c·c_stride + o·o_stride, rotated by 180 degrees if
  // requested. Each position is packed as u of panel_multiply.
  void winograd_weights(const float* w, int64_t c_first, int64_t c_last, int64_t channels, int64_t outputs, int64_t c_stride, int64_t o_stride,
                        bool rotated, float* u);
  // Gᵀ s G: rows [first, last) of s, position p at s + p·stride, element (o, c) at o·channels + c, to the kernels dw[o][c][3][3].
  void winograd_weight_grad(const float* s, int64_t stride, int64_t first, int64_t last, int64_t channels, float* dw);
)
// clang-format on
