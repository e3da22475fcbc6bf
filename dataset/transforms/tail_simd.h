// The inner loops of the fused tail: one row of uint8 pixels to float planes or pixels.
#pragma once

#include <cstdint>

#include "src/device/cpu/simd.h"

namespace sindri::dataset {

/// y = (x * a + b) * scale[c] + bias[c], either half left out where it is not asked for, rounded after each operation as the
/// separate transforms do: the same bits.
struct TailArithmetic {
  bool rescale, normalize;
  float a, b;
  float scale[3], bias[3];
};

}  // namespace sindri::dataset

// split_row: [width] pixels of c channels at src -> c byte planes `plane` apart, mirrored when flip.
// arithmetic_row: n bytes of channel c -> floats.
SINDRI_SIMD_DECLARE(void tail_split_row(const uint8_t* src, int64_t width, int64_t channels, bool flip, uint8_t* planes, int64_t plane);
                    void tail_arithmetic_row(const uint8_t* x, int64_t n, const ::sindri::dataset::TailArithmetic& f, int64_t channel, float* y);)
