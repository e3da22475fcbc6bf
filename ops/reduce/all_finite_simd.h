// The inner loop of all_finite, over the bits of n contiguous elements.
#pragma once

#include <cstdint>

#include "src/device/cpu/simd.h"

// dtype: a floating DType as int.
SINDRI_SIMD_DECLARE(bool row_is_finite(int dtype, const void* x, int64_t n);)
