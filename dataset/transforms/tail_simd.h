// The inner loops of the fused tail: uint8 pixels to float planes or pixels.
#pragma once

#include <algorithm>
#include <cstdint>

#include "src/device/cpu/simd.h"

namespace sindri::dataset {

/// y = (x * a + b) * scale[c] + bias[c]; each half is optional. Rounded after each operation as in the separate transforms,
/// so that results are bitwise identical.
struct TailArithmetic {
  bool rescale, normalize;
  float a, b;
  float scale[3], bias[3];
};

/// The number of rows of an image of `height` rows with `bytes` each to process at once: as many as stay in the first-level cache between two loops.
inline int64_t tail_rows(int64_t height, int64_t bytes) { return std::clamp<int64_t>(16384 / bytes, 1, height); }

}  // namespace sindri::dataset

// split: a rectangle of `rows` x `width` pixels of c (1 or 3) channels with rows `stride` bytes apart -> c byte planes `plane` apart with rows `pitch`
// apart. join: three planes of n bytes, `plane` apart -> n pixels.
// arithmetic_row: n bytes of channel c -> floats. interleaved: n bytes of whole pixels with 1 or 3 channels -> n floats.
SINDRI_SIMD_DECLARE(void tail_split(const uint8_t* src, int64_t stride, int64_t rows, int64_t width, int64_t channels, uint8_t* planes, int64_t pitch,
                                    int64_t plane);
                    void tail_join(const uint8_t* planes, int64_t plane, int64_t n, uint8_t* pixels);
                    void tail_arithmetic_row(const uint8_t* x, int64_t n, const ::sindri::dataset::TailArithmetic& f, int64_t channel, float* y);
                    void tail_interleaved(const uint8_t* x, int64_t n, int64_t channels, const ::sindri::dataset::TailArithmetic& f, float* y);)
