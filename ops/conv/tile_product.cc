// See tile_product.h.
#include "ops/conv/tile_product.h"

#include <immintrin.h>

// This is not a *_simd.cc file: those are compiled for every instruction set (cmake/sindri_simd.cmake), but these functions exist for one set only. Nothing
// that they call is shared with other files.
#define SINDRI_TILES __attribute__((target("avx512f,avx512bw,avx512vl,amx-tile,amx-bf16")))

namespace sindri::conv {

namespace {

// Registers: sums 0 to 3 (two by two), left operands 4 and 5, right operands 6 and 7; all have 16 rows of 64 bytes.
struct alignas(64) TileShapes {
  uint8_t palette = 1, start = 0, reserved[14] = {};
  uint16_t bytes[16] = {64, 64, 64, 64, 64, 64, 64, 64};
  uint8_t rows[16] = {16, 16, 16, 16, 16, 16, 16, 16};
};

// 16 bfloat16 elements of a row from column `column` on.
SINDRI_TILES __m256i row_part(const uint16_t* row, int64_t column, int64_t columns) {
  if (row == nullptr || column >= columns) return _mm256_setzero_si256();
  const int64_t left = columns - column;
  const auto mask = static_cast<__mmask16>(left >= kTileColumns ? 0xffff : (1u << left) - 1);
  return _mm256_maskz_loadu_epi16(mask, row + column);
}

// Interleaves two rows: a pair of elements per column.
SINDRI_TILES __m512i pair_rows(__m256i even, __m256i odd) {
  return _mm512_or_si512(_mm512_maskz_cvtepu16_epi32(0xffff, even), _mm512_maskz_slli_epi32(0xffff, _mm512_maskz_cvtepu16_epi32(0xffff, odd), 16));
}

// Transposes a square of 16 by 16 elements of 32 bits.
SINDRI_TILES void transpose(__m512i (&r)[16]) {
  __m512i t[16];
  for (int i = 0; i < 16; i += 2) {
    t[i] = _mm512_maskz_unpacklo_epi32(0xffff, r[i], r[i + 1]);
    t[i + 1] = _mm512_maskz_unpackhi_epi32(0xffff, r[i], r[i + 1]);
  }
  for (int i = 0; i < 16; i += 4) {
    r[i] = _mm512_maskz_unpacklo_epi64(0xff, t[i], t[i + 2]);
    r[i + 1] = _mm512_maskz_unpackhi_epi64(0xff, t[i], t[i + 2]);
    r[i + 2] = _mm512_maskz_unpacklo_epi64(0xff, t[i + 1], t[i + 3]);
    r[i + 3] = _mm512_maskz_unpackhi_epi64(0xff, t[i + 1], t[i + 3]);
  }
  // r[4 g + k] holds columns k, k + 4, k + 8, k + 12 of rows 4 g to 4 g + 3.
  for (int k = 0; k < 4; ++k) {
    const __m512i a = _mm512_maskz_shuffle_i32x4(0xffff, r[k], r[k + 4], 0x88), b = _mm512_maskz_shuffle_i32x4(0xffff, r[k + 8], r[k + 12], 0x88);
    const __m512i c = _mm512_maskz_shuffle_i32x4(0xffff, r[k], r[k + 4], 0xdd), d = _mm512_maskz_shuffle_i32x4(0xffff, r[k + 8], r[k + 12], 0xdd);
    t[k] = _mm512_maskz_shuffle_i32x4(0xffff, a, b, 0x88);
    t[k + 8] = _mm512_maskz_shuffle_i32x4(0xffff, a, b, 0xdd);
    t[k + 4] = _mm512_maskz_shuffle_i32x4(0xffff, c, d, 0x88);
    t[k + 12] = _mm512_maskz_shuffle_i32x4(0xffff, c, d, 0xdd);
  }
  for (int i = 0; i < 16; ++i) r[i] = t[i];
}

}  // namespace

SINDRI_TILES void pack_tiles_right(const uint16_t* const* row, int64_t rows, int64_t columns, int64_t padded, uint16_t* to) {
  for (int64_t c = 0; c < padded; c += kTileColumns, to += rows * kTileColumns) {
    for (int64_t r = 0; r < rows; r += 2) _mm512_storeu_si512(to + r * kTileColumns, pair_rows(row_part(row[r], c, columns), row_part(row[r + 1], c, columns)));
  }
}

SINDRI_TILES void pack_tiles_left(const uint16_t* const* row, int64_t rows, int64_t columns, int64_t padded, uint16_t* to) {
  for (int64_t c = 0; c < padded; c += kTileColumns, to += rows * kTileColumns) {
    for (int64_t r = 0; r < rows; r += kTileDepth) {
      __m512i square[16];
      for (int i = 0; i < 16; ++i) square[i] = pair_rows(row_part(row[r + 2 * i], c, columns), row_part(row[r + 2 * i + 1], c, columns));
      transpose(square);
      for (int i = 0; i < 16; ++i) _mm512_storeu_si512(to + r * kTileColumns + i * kTileDepth, square[i]);
    }
  }
}

SINDRI_TILES void multiply_tiles(const uint16_t* left, const uint16_t* right, int64_t rows, int64_t m_padded, int64_t n_padded, float* sum, bool accumulate) {
  constexpr int64_t kBytes = 64;
  const TileShapes shapes;
  _tile_loadconfig(&shapes);
  const int64_t panel = rows * kTileColumns, line = n_padded * static_cast<int64_t>(sizeof(float));
  for (int64_t n = 0; n < n_padded; n += 2 * kTileColumns) {
    for (int64_t m = 0; m < m_padded; m += 2 * kTileColumns) {
      float *top = sum + m * n_padded + n, *bottom = top + kTileColumns * n_padded;
      if (accumulate) {
        _tile_loadd(0, top, line);
        _tile_loadd(1, top + kTileColumns, line);
        _tile_loadd(2, bottom, line);
        _tile_loadd(3, bottom + kTileColumns, line);
      } else {
        _tile_zero(0);
        _tile_zero(1);
        _tile_zero(2);
        _tile_zero(3);
      }
      const uint16_t *a = left + m / kTileColumns * panel, *b = right + n / kTileColumns * panel;
      for (int64_t r = 0; r < panel; r += kTileDepth * kTileColumns) {
        _tile_loadd(4, a + r, kBytes);
        _tile_loadd(6, b + r, kBytes);
        _tile_loadd(7, b + panel + r, kBytes);
        _tile_dpbf16ps(0, 4, 6);
        _tile_loadd(5, a + panel + r, kBytes);
        _tile_dpbf16ps(1, 4, 7);
        _tile_dpbf16ps(2, 5, 6);
        _tile_dpbf16ps(3, 5, 7);
      }
      _tile_stored(0, top, line);
      _tile_stored(1, top + kTileColumns, line);
      _tile_stored(2, bottom, line);
      _tile_stored(3, bottom + kTileColumns, line);
    }
  }
  _tile_release();
}

}  // namespace sindri::conv
