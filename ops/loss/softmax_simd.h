// Vectorised loops of softmax and cross entropy. A row is contiguous; a block is `width` rows of `inner` contiguous elements, normalised over width. Sums over
// a row use 16 lanes for each run of 1024 elements. Sums over the columns of a block are taken over 1024 rows at a time. These partial sums are added in
// double.
#pragma once

#include <cstdint>

#include "sindri/core/dtype.h"
#include "src/device/cpu/simd.h"

// max (NaN propagates), sum of exp(x - max), sum of x - max.
SINDRI_SIMD_DECLARE(void softmax_row_stats(DType t, const void* x, int64_t n, double* max, double* sum_exp, double* sum_shifted);)
// y = softmax or log_softmax of x; y may be x.
SINDRI_SIMD_DECLARE(void softmax_row(DType t, bool log, const void* x, void* y, int64_t n);)
SINDRI_SIMD_DECLARE(void softmax_block(DType t, bool log, const void* x, void* y, int64_t width, int64_t inner);)
SINDRI_SIMD_DECLARE(void softmax_grad_row(DType t, bool log, const void* dy, const void* y, void* dx, int64_t n);)
SINDRI_SIMD_DECLARE(void softmax_grad_block(DType t, bool log, const void* dy, const void* y, void* dx, int64_t width, int64_t inner);)
// dx = scale·(exp(x - lse) - offset).
SINDRI_SIMD_DECLARE(void cross_entropy_grad_row(DType t, const void* x, void* dx, int64_t n, double lse, double scale, double offset);)
// Sum of q·(lse - x).
SINDRI_SIMD_DECLARE(double cross_entropy_dense_row(DType t, const void* x, const void* q, int64_t n, double lse);)
// dx = scale·(exp(x - lse)·sum(q) - q).
SINDRI_SIMD_DECLARE(void cross_entropy_dense_grad_row(DType t, const void* x, const void* q, void* dx, int64_t n, double lse, double scale);)
