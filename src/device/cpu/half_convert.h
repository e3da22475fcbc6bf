// bfloat16 and float16 rows to and from float32, split over threads: for kernels that compute half types through float32.
#pragma once

#include <cstdint>

#include "sindri/core/dtype.h"

namespace sindri {

/// Widens `n` elements of a half type. Exact.
void half_to_float(DType half, const void* from, float* to, int64_t n);
/// Rounds `n` elements to nearest even.
void float_to_half(DType half, const float* from, void* to, int64_t n);

}  // namespace sindri
