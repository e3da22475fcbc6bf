// One tile of a matrix product, on one thread. See gemm.h.
#pragma once

#include <cstdint>

#include "src/device/cpu/simd.h"

namespace sindri {
// A tile's packed operands (kGemmTileM x kGemmBlockK and kGemmBlockK x tile columns) fit into a 1 MB L2 cache. The
// sizes are multiples of every register block below.
inline constexpr int64_t kGemmTileM = 192, kGemmBlockK = 256, kGemmTileBytesN = 1024;
inline constexpr int64_t kGemmRowUnit = 12, kGemmColumnBytesUnit = 128;  // the largest register block; its sizes are multiples of those of the smaller blocks
inline constexpr int64_t kGemmInPlaceColumns = 16;
inline constexpr int64_t kGemmPackBytes = kGemmBlockK * (kGemmTileM * 8 + kGemmTileBytesN);
}  // namespace sindri

// gemm_in_place_f32 reads A and B without packing. It is for products whose operands stay in the cache, where packing
// would take a large part of the time. B [k, n] and C [m, n] are row-major, n is a multiple of kGemmInPlaceColumns. The
// other functions require m <= kGemmTileM and n * sizeof(element) <= kGemmTileBytesN; pack: kGemmPackBytes, 64-byte
// aligned.
// clang-format off
SINDRI_SIMD_DECLARE(
  void gemm_tile_f32(int64_t m, int64_t n, int64_t k, const float* a, int64_t a_row, int64_t a_col, const float* b, int64_t b_row, int64_t b_col,
                     float* c, int64_t ldc, bool accumulate, void* pack);
  void gemm_tile_f64(int64_t m, int64_t n, int64_t k, const double* a, int64_t a_row, int64_t a_col, const double* b, int64_t b_row, int64_t b_col,
                     double* c, int64_t ldc, bool accumulate, void* pack);
  void gemm_in_place_f32(int64_t m, int64_t n, int64_t k, const float* a, int64_t a_row, int64_t a_col, const float* b, float* c);
)
// clang-format on
