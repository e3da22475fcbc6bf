// Compiled once per instruction set; the compiler vectorises these loops.
#include "dataset/transforms/tail_simd.h"

namespace sindri::SINDRI_SIMD_NS {

void tail_split_row(const uint8_t* __restrict src, int64_t width, int64_t channels, bool flip, uint8_t* __restrict planes, int64_t plane) {
  uint8_t* __restrict r = planes;
  if (channels == 1) {
    if (flip)
      for (int64_t x = 0; x < width; ++x) r[x] = src[width - 1 - x];
    else
      for (int64_t x = 0; x < width; ++x) r[x] = src[x];
    return;
  }
  uint8_t* __restrict g = planes + plane;
  uint8_t* __restrict b = planes + 2 * plane;
  if (flip) {
    for (int64_t x = 0; x < width; ++x) {
      const int64_t s = 3 * (width - 1 - x);
      r[x] = src[s];
      g[x] = src[s + 1];
      b[x] = src[s + 2];
    }
  } else {
    for (int64_t x = 0; x < width; ++x) {
      r[x] = src[3 * x];
      g[x] = src[3 * x + 1];
      b[x] = src[3 * x + 2];
    }
  }
}

void tail_arithmetic_row(const uint8_t* __restrict x, int64_t n, const ::sindri::dataset::TailArithmetic& f, int64_t channel, float* __restrict y) {
  const float a = f.a, b = f.b, s = f.scale[channel], t = f.bias[channel];
  if (f.rescale && f.normalize)
    for (int64_t i = 0; i < n; ++i) y[i] = (static_cast<float>(x[i]) * a + b) * s + t;
  else if (f.normalize)
    for (int64_t i = 0; i < n; ++i) y[i] = static_cast<float>(x[i]) * s + t;
  else if (f.rescale)
    for (int64_t i = 0; i < n; ++i) y[i] = static_cast<float>(x[i]) * a + b;
  else
    for (int64_t i = 0; i < n; ++i) y[i] = static_cast<float>(x[i]);
}

}  // namespace sindri::SINDRI_SIMD_NS
