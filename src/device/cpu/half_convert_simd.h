// The inner loops of half_convert.h.
#pragma once

#include <cstdint>

#include "src/device/cpu/simd.h"

SINDRI_SIMD_DECLARE(void widen_row(bool bf16, const uint16_t* from, float* to, int64_t n);)
SINDRI_SIMD_DECLARE(void narrow_row(bool bf16, const float* from, uint16_t* to, int64_t n);)
