// Products of matrices whose operands are stored in panels, each as many columns wide as a register block: the inner loops of
// Winograd's and of pointwise convolutions.
#pragma once

#include <cstdint>

#include "src/device/cpu/simd.h"

// clang-format off
SINDRI_SIMD_DECLARE(
  // Columns of a panel. In panels of `rows` rows, element (t, j) is at (j / panel · rows + t)·panel + j % panel; the last panel is padded with zeros.
  int64_t panel_columns();
  // Copies one row into panels that start `stride` floats apart.
  void panel_pack_row(const float* row, int64_t columns, float* to, int64_t stride);
  // m[t][o] = sum over c of v[t][c]·u(c, o); rows of v are `row` floats apart, u in panels of o.
  void panel_multiply(const float* v, int64_t row, int64_t rows, int64_t channels, const float* u, int64_t outputs, float* m);
  // s[o][c] (+)= sum over t of w(t, o)·v(t, c), both in panels.
  void panel_outer(const float* w, const float* v, int64_t rows, int64_t outputs, int64_t channels, float* s, bool accumulate);
)
// clang-format on
