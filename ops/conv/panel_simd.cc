// See panel_simd.h.
#include "ops/conv/panel_simd.h"

#include "src/device/cpu/simd_vector.h"

namespace sindri::SINDRI_SIMD_NS {
namespace {

// Rows of a register block, two vectors wide: sums take 24 of 32 registers with AVX-512, 12 of 16 with AVX2, otherwise 8.
constexpr int kRows = kVecFloats == 16 ? 12 : kVecFloats == 8 ? 6 : 4, kPanel = 2 * kVecFloats;

// block [rows, kPanel] = sum over d of a(r, d)·b(d, ·), a(r, d) at a + r·a_row + d·a_step, b(d, ·) at b + d·b_step.
template <int rows>
SINDRI_SIMD_INLINE void register_block(int64_t depth, const float* a, int64_t a_row, int64_t a_step, const float* b, int64_t b_step, Vec (&block)[kRows][2]) {
  for (int r = 0; r < rows; ++r) block[r][0] = block[r][1] = Vec{};
  for (int64_t d = 0; d < depth; ++d) {
    const Vec b0 = load(b + d * b_step), b1 = load(b + d * b_step + kVecFloats);
#pragma GCC unroll 12
    for (int r = 0; r < rows; ++r) {
      const Vec x = broadcast(a[r * a_row + d * a_step]);
      block[r][0] = multiply_add(x, b0, block[r][0]);
      block[r][1] = multiply_add(x, b1, block[r][1]);
    }
  }
}

SINDRI_SIMD_INLINE void write_row(float* to, Vec x0, Vec x1, int64_t columns, bool accumulate) {
  if (columns >= kPanel) {
    store(to, accumulate ? load(to) + x0 : x0);
    store(to + kVecFloats, accumulate ? load(to + kVecFloats) + x1 : x1);
    return;
  }
  float row[kPanel];
  store(row, x0);
  store(row + kVecFloats, x1);
  for (int64_t j = 0; j < columns; ++j) to[j] = accumulate ? to[j] + row[j] : row[j];
}

template <int rows> SINDRI_SIMD_INLINE void multiply_rows(int64_t n, int64_t depth, const float* a, int64_t a_row, int64_t a_step, const float* b, float* c,
                                                          int64_t ldc, bool accumulate) {
  Vec block[kRows][2];
  register_block<rows>(depth, a, a_row, a_step, b, kPanel, block);
  for (int r = 0; r < rows; ++r) write_row(c + r * ldc, block[r][0], block[r][1], n, accumulate);
}

// c [m, n <= kPanel] = a·b with b [depth, kPanel].
SINDRI_SIMD_INLINE void multiply(int64_t m, int64_t n, int64_t depth, const float* a, int64_t a_row, int64_t a_step, const float* b, float* c, int64_t ldc,
                                 bool accumulate) {
  constexpr int kMiddle = kRows >= 8 ? 8 : 4;
  int64_t i = 0;
  for (; i + kRows <= m; i += kRows) multiply_rows<kRows>(n, depth, a + i * a_row, a_row, a_step, b, c + i * ldc, ldc, accumulate);
  for (; i + kMiddle <= m; i += kMiddle) multiply_rows<kMiddle>(n, depth, a + i * a_row, a_row, a_step, b, c + i * ldc, ldc, accumulate);
  for (; i + 4 <= m; i += 4) multiply_rows<4>(n, depth, a + i * a_row, a_row, a_step, b, c + i * ldc, ldc, accumulate);
  for (; i < m; ++i) multiply_rows<1>(n, depth, a + i * a_row, a_row, a_step, b, c + i * ldc, ldc, accumulate);
}

}  // namespace

int64_t panel_columns() { return kPanel; }

void panel_pack_row(const float* row, int64_t columns, float* to, int64_t stride) {
  for (; columns >= kPanel; columns -= kPanel, row += kPanel, to += stride) {
    store(to, load(row));
    store(to + kVecFloats, load(row + kVecFloats));
  }
  if (columns == 0) return;
  for (int64_t j = 0; j < kPanel; ++j) to[j] = j < columns ? row[j] : 0.0f;
}

void panel_multiply(const float* v, int64_t row, int64_t rows, int64_t channels, const float* u, int64_t outputs, float* m) {
  for (int64_t o = 0; o < outputs; o += kPanel) multiply(rows, outputs - o, channels, v, row, 1, u + o * channels, m + o, outputs, false);
}

void panel_outer(const float* w, const float* v, int64_t rows, int64_t outputs, int64_t channels, float* s, bool accumulate) {
  for (int64_t c = 0; c < channels; c += kPanel)
    for (int64_t o = 0; o < outputs; o += kPanel) {
      const int64_t lines = outputs - o < kPanel ? outputs - o : kPanel;
      multiply(lines, channels - c, rows, w + o * rows, 1, kPanel, v + c * rows, s + o * channels + c, channels, accumulate);
    }
}

}  // namespace sindri::SINDRI_SIMD_NS
