// Vectorised loops of layer normalisation over one contiguous row. gamma and beta are float, or double for float64 rows.
#pragma once

#include <cstdint>

#include "sindri/core/dtype.h"
#include "src/device/cpu/simd.h"

// Mean and biased variance in two passes over the row, which is in the cache during the second.
SINDRI_SIMD_DECLARE(void layer_norm_stats(DType t, const void* x, int64_t n, double* mean, double* var);)
// y = (x - mean)·inv_std·gamma + beta.
SINDRI_SIMD_DECLARE(void layer_norm_row(DType t, const void* x, void* y, int64_t n, double mean, double inv_std, const void* gamma, const void* beta);)
// dx = inv_std·(g - mean(g) - xh·mean(g·xh)), g = dy·gamma, xh = (x - mean)·inv_std; adds dy·xh to dgamma and dy to dbeta.
SINDRI_SIMD_DECLARE(void layer_norm_grad_row(DType t, const void* dy, const void* x, void* dx, int64_t n, double mean, double inv_std, const void* gamma,
                                             double* dgamma, double* dbeta);)
