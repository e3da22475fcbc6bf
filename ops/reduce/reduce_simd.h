// Vectorised inner loops of the reductions of floats. Everything is accumulated in double, whatever the element type.
#pragma once

#include <cstdint>

#include "src/device/cpu/simd.h"

namespace sindri::reduce {

enum class Fold : int { kSum, kSumAbs, kSumSquare, kMax, kMaxAbs, kMin };

}  // namespace sindri::reduce

// dtype: a floating DType as int.
// The fold of n contiguous elements, over 32 interleaved partial results whatever the vector width.
SINDRI_SIMD_DECLARE(double fold_row(reduce::Fold fold, int dtype, const void* x, int64_t n);)
// acc[c] folded with x[r * stride + c] for all rows r in order.
SINDRI_SIMD_DECLARE(void fold_columns(reduce::Fold fold, int dtype, const void* x, int64_t rows, int64_t stride, int64_t columns, double* acc);)
