// See winograd_simd.h.
//
//        | 1  0 -1  0 |        | 1    0    0  |         | 1  1  1  0 |
//   Bᵀ = | 0  1  1  0 |    G = | 1/2  1/2 1/2 |    Aᵀ = | 0  1 -1 -1 |
//        | 0 -1  1  0 |        | 1/2 -1/2 1/2 |
//        | 0  1  0 -1 |        | 0    0    1  |
#include "ops/conv/winograd_simd.h"

#include <immintrin.h>

#include "src/device/cpu/simd_math.h"

namespace sindri::SINDRI_SIMD_NS {
namespace {

#if defined(__AVX512F__)
constexpr int kVectorBytes = 64, kRows = 12;  // 24 of 32 registers hold sums
#elif defined(__AVX2__)
constexpr int kVectorBytes = 32, kRows = 6;  // 12 of 16
#else
constexpr int kVectorBytes = 16, kRows = 4;  // 8 of 16
#endif
typedef float V __attribute__((vector_size(kVectorBytes)));
constexpr int kLanes = kVectorBytes / 4, kPanel = 2 * kLanes;

SINDRI_SIMD_INLINE V load(const float* p) {
  V v;
  __builtin_memcpy(&v, p, sizeof v);
  return v;
}
SINDRI_SIMD_INLINE void store(float* p, V v) { __builtin_memcpy(p, &v, sizeof v); }
SINDRI_SIMD_INLINE V multiply_add(V a, V b, V c) {
#if defined(__AVX512F__)
  return reinterpret_cast<V>(_mm512_fmadd_ps(reinterpret_cast<__m512>(a), reinterpret_cast<__m512>(b), reinterpret_cast<__m512>(c)));
#elif defined(__FMA__)
  return reinterpret_cast<V>(_mm256_fmadd_ps(reinterpret_cast<__m256>(a), reinterpret_cast<__m256>(b), reinterpret_cast<__m256>(c)));
#else
  return a * b + c;
#endif
}

// 1-D transforms of four (three, two) values.
SINDRI_SIMD_INLINE void input4(float a, float b, float c, float d, float* r) {
  r[0] = a - c;
  r[1] = b + c;
  r[2] = c - b;
  r[3] = b - d;
}
SINDRI_SIMD_INLINE void output4(float a, float b, float c, float d, float* r) {
  r[0] = (a + b) + c;
  r[1] = (b - c) - d;
}
SINDRI_SIMD_INLINE void output_grad2(float a, float b, float* r) {
  r[0] = a;
  r[1] = a + b;
  r[2] = a - b;
  r[3] = -b;
}
SINDRI_SIMD_INLINE void weight3(float a, float b, float c, float* r) {
  const float s = (a + c) * 0.5f, h = b * 0.5f;
  r[0] = a;
  r[1] = s + h;
  r[2] = s - h;
  r[3] = c;
}
SINDRI_SIMD_INLINE void weight_grad4(float a, float b, float c, float d, float* r) {
  const float s = (b + c) * 0.5f;
  r[0] = a + s;
  r[1] = (b - c) * 0.5f;
  r[2] = s + d;
}

// Aᵀ m A of channel c into four values.
SINDRI_SIMD_INLINE void output_tile(const float* m, int64_t stride, int64_t c, float* r) {
  float t[4][2];
  for (int i = 0; i < 4; ++i) {
    const float* p = m + 4 * i * stride + c;
    output4(p[0], p[stride], p[2 * stride], p[3 * stride], t[i]);
  }
  for (int j = 0; j < 2; ++j) {
    float column[2];
    output4(t[0][j], t[1][j], t[2][j], t[3][j], column);
    r[j] = column[0];
    r[2 + j] = column[1];
  }
}

// block [rows, kPanel] = sum over d of a(r, d)·b(d, ·), a(r, d) at a + r·a_row + d·a_step, b(d, ·) at b + d·b_step.
template <int rows>
SINDRI_SIMD_INLINE void register_block(int64_t depth, const float* a, int64_t a_row, int64_t a_step, const float* b, int64_t b_step, V (&block)[kRows][2]) {
  for (int r = 0; r < rows; ++r) block[r][0] = block[r][1] = V{};
  for (int64_t d = 0; d < depth; ++d) {
    const V b0 = load(b + d * b_step), b1 = load(b + d * b_step + kLanes);
#pragma GCC unroll 12
    for (int r = 0; r < rows; ++r) {
      const V x = a[r * a_row + d * a_step] - V{};  // broadcast
      block[r][0] = multiply_add(x, b0, block[r][0]);
      block[r][1] = multiply_add(x, b1, block[r][1]);
    }
  }
}

SINDRI_SIMD_INLINE void write_row(float* to, V x0, V x1, int64_t columns, bool accumulate) {
  if (columns >= kPanel) {
    store(to, accumulate ? load(to) + x0 : x0);
    store(to + kLanes, accumulate ? load(to + kLanes) + x1 : x1);
    return;
  }
  float row[kPanel];
  store(row, x0);
  store(row + kLanes, x1);
  for (int64_t j = 0; j < columns; ++j) to[j] = accumulate ? to[j] + row[j] : row[j];
}

template <int rows> SINDRI_SIMD_INLINE void multiply_rows(int64_t n, int64_t depth, const float* a, int64_t a_row, int64_t a_step, const float* b, float* c,
                                                          int64_t ldc, bool accumulate) {
  V block[kRows][2];
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

void winograd_input(const float* const* d, int64_t channels, float* v, int64_t stride) {
  const float *const p0 = d[0], *const p1 = d[1], *const p2 = d[2], *const p3 = d[3], *const p4 = d[4], *const p5 = d[5], *const p6 = d[6], *const p7 = d[7],
                     *const p8 = d[8], *const p9 = d[9], *const p10 = d[10], *const p11 = d[11], *const p12 = d[12], *const p13 = d[13], *const p14 = d[14],
                     *const p15 = d[15];
  float* __restrict out = v;
#pragma omp simd
  for (int64_t c = 0; c < channels; ++c) {
    float t[4][4], column[4];
    input4(p0[c], p1[c], p2[c], p3[c], t[0]);
    input4(p4[c], p5[c], p6[c], p7[c], t[1]);
    input4(p8[c], p9[c], p10[c], p11[c], t[2]);
    input4(p12[c], p13[c], p14[c], p15[c], t[3]);
    for (int j = 0; j < 4; ++j) {
      input4(t[0][j], t[1][j], t[2][j], t[3][j], column);
      for (int i = 0; i < 4; ++i) out[(4 * i + j) * stride + c] = column[i];
    }
  }
}

void winograd_output(const float* m, int64_t stride, int64_t channels, float* const* y) {
  if (y[1] != nullptr && y[2] != nullptr && y[3] != nullptr) {
    float* __restrict y0 = y[0], * __restrict y1 = y[1], * __restrict y2 = y[2], * __restrict y3 = y[3];
#pragma omp simd
    for (int64_t c = 0; c < channels; ++c) {
      float r[4];
      output_tile(m, stride, c, r);
      y0[c] = r[0];
      y1[c] = r[1];
      y2[c] = r[2];
      y3[c] = r[3];
    }
    return;
  }
  for (int64_t c = 0; c < channels; ++c) {
    float r[4];
    output_tile(m, stride, c, r);
    for (int i = 0; i < 4; ++i)
      if (y[i] != nullptr) y[i][c] = r[i];
  }
}

void winograd_output_act(const float* m, int64_t stride, int64_t channels, float* const* y, const float* bias, const float* const* residual, bool relu) {
  constexpr int64_t kBlock = 256;
  float r[4][kBlock];
  for (int64_t first = 0; first < channels; first += kBlock) {
    const int64_t n = channels - first < kBlock ? channels - first : kBlock;
    float* const to[4] = {r[0], r[1], r[2], r[3]};
    winograd_output(m + first, stride, n, to);
    for (int i = 0; i < 4; ++i) {
      if (y[i] == nullptr) continue;
      float* out = y[i] + first;
      const float* b = bias + first;
      const float* add = residual != nullptr ? residual[i] + first : nullptr;
      for (int64_t c = 0; c < n; ++c) {
        const float s = add != nullptr ? (r[i][c] + b[c]) + add[c] : r[i][c] + b[c];
        out[c] = relu && s < 0 ? 0 : s;
      }
    }
  }
}

void winograd_output_grad(const float* const* dy, int64_t channels, float* w, int64_t stride) {
  const float *const p0 = dy[0], *const p1 = dy[1], *const p2 = dy[2], *const p3 = dy[3];
  float* __restrict out = w;
#pragma omp simd
  for (int64_t c = 0; c < channels; ++c) {
    float t[2][4], column[4];
    output_grad2(p0[c], p1[c], t[0]);
    output_grad2(p2[c], p3[c], t[1]);
    for (int j = 0; j < 4; ++j) {
      output_grad2(t[0][j], t[1][j], column);
      for (int i = 0; i < 4; ++i) out[(4 * i + j) * stride + c] = column[i];
    }
  }
}

int64_t winograd_panel() { return kPanel; }

void winograd_weights(const float* w, int64_t c_first, int64_t c_last, int64_t channels, int64_t outputs, int64_t c_stride, int64_t o_stride, bool rotated,
                      float* u) {
  const int64_t panels = (outputs + kPanel - 1) / kPanel, per_position = panels * channels * kPanel;
  for (int64_t c = c_first; c < c_last; ++c) {
    for (int64_t o = 0; o < panels * kPanel; ++o) {
      float t[3][4], column[4], g[9] = {};
      const float* from = w + c * c_stride + o * o_stride;
      if (o < outputs) {
        for (int i = 0; i < 9; ++i) g[i] = from[rotated ? 8 - i : i];
      }
      for (int i = 0; i < 3; ++i) weight3(g[3 * i], g[3 * i + 1], g[3 * i + 2], t[i]);
      float* to = u + (o / kPanel * channels + c) * kPanel + o % kPanel;
      for (int j = 0; j < 4; ++j) {
        weight3(t[0][j], t[1][j], t[2][j], column);
        for (int i = 0; i < 4; ++i) to[(4 * i + j) * per_position] = column[i];
      }
    }
  }
}

void winograd_multiply(const float* v, int64_t row, int64_t tiles, int64_t channels, const float* u, int64_t outputs, float* m) {
  for (int64_t o = 0; o < outputs; o += kPanel) multiply(tiles, outputs - o, channels, v, row, 1, u + o * channels, m + o, outputs, false);
}

void winograd_outer(const float* w, const float* v, int64_t tiles, int64_t outputs, int64_t channels, float* s, bool accumulate) {
  for (int64_t c = 0; c < channels; c += kPanel)
    for (int64_t o = 0; o < outputs; o += kPanel) {
      const int64_t rows = outputs - o < kPanel ? outputs - o : kPanel;
      multiply(rows, channels - c, tiles, w + o * tiles, 1, kPanel, v + c * tiles, s + o * channels + c, channels, accumulate);
    }
}

void winograd_weight_grad(const float* s, int64_t stride, int64_t first, int64_t last, int64_t channels, float* dw) {
  for (int64_t i = first * channels; i < last * channels; ++i) {
    float t[4][3], column[3];
    for (int k = 0; k < 4; ++k) {
      const float* p = s + 4 * k * stride + i;
      weight_grad4(p[0], p[stride], p[2 * stride], p[3 * stride], t[k]);
    }
    for (int j = 0; j < 3; ++j) {
      weight_grad4(t[0][j], t[1][j], t[2][j], t[3][j], column);
      for (int k = 0; k < 3; ++k) dw[9 * i + 3 * k + j] = column[k];
    }
  }
}

}  // namespace sindri::SINDRI_SIMD_NS
