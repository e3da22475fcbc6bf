// Vectorised loops of batch normalisation. "rows" are interleaved channels, [rows, C]; a "run" is part of one channel's plane.
// Coefficients are float, or double for float64 x; sums are always double. They are defined in batch_norm_cpu.cc.
#pragma once

#include <cstdint>

#include "sindri/core/dtype.h"
#include "src/device/cpu/simd.h"

// sum[c] = sum over rows of d, square[c] = sum of d², d = x - shift[c].
SINDRI_SIMD_DECLARE(void bn_stats_rows(DType t, const void* x, int64_t rows, int64_t channels, const double* shift, double* sum, double* square);)
SINDRI_SIMD_DECLARE(void bn_stats_run(DType t, const void* x, int64_t n, double shift, double* sum, double* square);)
// y = (x - mean)·scale + beta, with relu max(y + residual, 0) if a residual is given. Each step is rounded to the type of x, as
// in the separate ops. Arrays of coefficients have C elements for rows and one for a run.
namespace sindri {
struct BnApply {
  DType type;
  const void* x;
  const void* residual;  // null: none
  void* y;
  const void *mean, *scale, *beta;
  bool relu;
};
}  // namespace sindri
SINDRI_SIMD_DECLARE(void bn_apply_rows(const ::sindri::BnApply& a, int64_t rows, int64_t channels);)
SINDRI_SIMD_DECLARE(void bn_apply_run(const ::sindri::BnApply& a, int64_t n);)

namespace sindri {
// The gradient of the normalised value: g = dy, or dy (+ dy2) where relu passed it and 0 elsewhere.
enum class BnMask : uint8_t {
  kNone,
  kInput,  // recomputed from x: (x - mean)·scale + beta > 0
  kOutput,  // from the output y of relu: y > 0
};
struct BnGrad {
  DType type;
  BnMask mask;
  const void *dy, *dy2, *x, *y;  // dy2: null or added to dy; y: for kOutput
  void* g;  // null, or where the pass over sums stores g
  const void *mean, *scale, *beta;  // coefficients of the forward form
};
}  // namespace sindri
// sum[c] = sum over rows of g, dot[c] = sum of g·(x - mean[c]), or for a run sum of g·(x - shift). Stores g if requested.
SINDRI_SIMD_DECLARE(void bn_grad_sums_rows(const ::sindri::BnGrad& a, int64_t rows, int64_t channels, double* sum, double* dot);)
SINDRI_SIMD_DECLARE(void bn_grad_sums_run(const ::sindri::BnGrad& a, int64_t n, double shift, double* sum, double* dot);)
// dx = a·g - b·(x - mean) - c with g masked from x, or read unchanged from dy.
SINDRI_SIMD_DECLARE(void bn_grad_rows(const ::sindri::BnGrad& g, void* dx, int64_t rows, int64_t channels, const void* a, const void* b, const void* c);)
SINDRI_SIMD_DECLARE(void bn_grad_run(const ::sindri::BnGrad& g, void* dx, int64_t n, const void* a, const void* b, const void* c);)
