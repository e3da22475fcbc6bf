// Vectorised loops of batch normalisation. "rows" are interleaved channels, [rows, C]; a "run" is part of one channel's plane.
// Coefficients are float, or double for float64 x; sums are always double. See batch_norm_cpu.cc for what they mean.
#pragma once

#include <cstdint>

#include "sindri/core/dtype.h"
#include "src/device/cpu/simd.h"

// sum[c] = sum over rows of d, square[c] = sum of d², d = x - shift[c].
SINDRI_SIMD_DECLARE(void bn_stats_rows(DType t, const void* x, int64_t rows, int64_t channels, const double* shift, double* sum, double* square);)
SINDRI_SIMD_DECLARE(void bn_stats_run(DType t, const void* x, int64_t n, double shift, double* sum, double* square);)
// y = (x - mean)·scale + beta.
SINDRI_SIMD_DECLARE(void bn_apply_rows(DType t, const void* x, void* y, int64_t rows, int64_t channels, const void* mean, const void* scale, const void* beta);)
SINDRI_SIMD_DECLARE(void bn_apply_run(DType t, const void* x, void* y, int64_t n, double mean, double scale, double beta);)
// sum[c] = sum over rows of dy, dot[c] = sum of dy·(x - mean[c]).
SINDRI_SIMD_DECLARE(void bn_grad_sums_rows(DType t, const void* dy, const void* x, int64_t rows, int64_t channels, const double* mean, double* sum,
                                           double* dot);)
SINDRI_SIMD_DECLARE(void bn_grad_sums_run(DType t, const void* dy, const void* x, int64_t n, double mean, double* sum, double* dot);)
// dx = a·dy - b·(x - mean) - c.
SINDRI_SIMD_DECLARE(void bn_grad_rows(DType t, const void* dy, const void* x, void* dx, int64_t rows, int64_t channels, const void* mean, const void* a,
                                      const void* b, const void* c);)
SINDRI_SIMD_DECLARE(void bn_grad_run(DType t, const void* dy, const void* x, void* dx, int64_t n, double mean, double a, double b, double c);)
