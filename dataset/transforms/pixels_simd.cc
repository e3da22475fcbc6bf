// Compiled once per instruction set; the compiler vectorises these loops.
#include "dataset/transforms/pixels_simd.h"

#include <algorithm>
#include <cstring>

#ifdef __SSE4_1__
#include <immintrin.h>
#endif

namespace sindri::SINDRI_SIMD_NS {

void pixels_invert(const uint8_t* __restrict x, int64_t n, uint8_t* __restrict y) {
  for (int64_t i = 0; i < n; ++i) y[i] = static_cast<uint8_t>(255 - x[i]);
}

void pixels_mask(const uint8_t* __restrict x, int64_t n, uint8_t mask, uint8_t* __restrict y) {
  for (int64_t i = 0; i < n; ++i) y[i] = x[i] & mask;
}

void pixels_solarize(const uint8_t* __restrict x, int64_t n, uint8_t low, uint8_t high, uint8_t* __restrict y) {
  for (int64_t i = 0; i < n; ++i) y[i] = x[i] >= low && x[i] <= high ? static_cast<uint8_t>(255 - x[i]) : x[i];
}

void pixels_blur_row(const uint8_t* __restrict above, const uint8_t* __restrict x, const uint8_t* __restrict below, int64_t n, int64_t channels,
                     uint8_t* __restrict y) {
  for (int64_t i = channels; i < n - channels; ++i) {
    const int64_t l = i - channels, r = i + channels;
    const uint16_t sum = static_cast<uint16_t>(above[l] + above[i] + above[r] + x[l] + 5 * x[i] + x[r] + below[l] + below[i] + below[r]);
    // (sum + 6) / 13 as a multiplication by 5042 / 2^16, which is exact up to 3321.
    y[i] = static_cast<uint8_t>((static_cast<uint32_t>(sum + 6) * 5042u) >> 16);
  }
}

void pixels_add_to_first(uint8_t* x, int64_t n, uint8_t shift) {
  alignas(64) uint8_t pattern[192];  // 64 pixels
  for (int i = 0; i < 192; ++i) pattern[i] = i % 3 == 0 ? shift : 0;
  int64_t i = 0;
  for (; i + 192 <= n; i += 192) {
    for (int k = 0; k < 192; ++k) x[i + k] = static_cast<uint8_t>(x[i + k] + pattern[k]);
  }
  for (; i < n; i += 3) x[i] = static_cast<uint8_t>(x[i] + shift);
}

namespace {
template <int Bytes> void reverse(const uint8_t* __restrict x, int64_t pixels, uint8_t* __restrict y) {
  for (int64_t i = 0; i < pixels; ++i) {
    const uint8_t* const from = x + (pixels - 1 - i) * Bytes;
    for (int k = 0; k < Bytes; ++k) y[i * Bytes + k] = from[k];
  }
}
}  // namespace

void pixels_reverse(const uint8_t* __restrict x, int64_t pixels, int64_t bytes, uint8_t* __restrict y) {
  switch (bytes) {
    case 1: return reverse<1>(x, pixels, y);
    case 2: return reverse<2>(x, pixels, y);
    case 3: return reverse<3>(x, pixels, y);
    case 4: return reverse<4>(x, pixels, y);
    case 8: return reverse<8>(x, pixels, y);
    case 12: return reverse<12>(x, pixels, y);
    default:
      for (int64_t i = 0; i < pixels; ++i) {
        for (int64_t k = 0; k < bytes; ++k) y[i * bytes + k] = x[(pixels - 1 - i) * bytes + k];
      }
  }
}

// Pillow's fixed-point weights.
void pixels_grey(const uint8_t* __restrict x, int64_t n, uint8_t* __restrict y) {
  for (int64_t i = 0; i < n; ++i) y[i] = static_cast<uint8_t>((x[3 * i] * 19595u + x[3 * i + 1] * 38470u + x[3 * i + 2] * 7471u + 0x8000u) >> 16);
}

namespace {
constexpr int kPointBits = 22;
uint8_t from_fixed(int v) { return static_cast<uint8_t>(std::clamp(v >> kPointBits, 0, 255)); }
}  // namespace

void pixels_weighted_rows(const uint8_t* const* rows, const int* weights, int count, int64_t n, uint8_t* __restrict y) {
  constexpr int kBlock = 64;
  int64_t i = 0;
  for (; i + kBlock <= n; i += kBlock) {
    int sums[kBlock];
    for (int j = 0; j < kBlock; ++j) sums[j] = 1 << (kPointBits - 1);
    for (int k = 0; k < count; ++k) {
      const uint8_t* __restrict x = rows[k] + i;
      const int w = weights[k];
      for (int j = 0; j < kBlock; ++j) sums[j] += x[j] * w;
    }
    for (int j = 0; j < kBlock; ++j) y[i + j] = from_fixed(sums[j]);
  }
  for (; i < n; ++i) {
    int sum = 1 << (kPointBits - 1);
    for (int k = 0; k < count; ++k) sum += rows[k][i] * weights[k];
    y[i] = from_fixed(sum);
  }
}

void pixels_weighted_pixels(const uint8_t* x, const int* first, const int* count, const int* weights, int size, int width, uint8_t* y) {
  for (int i = 0; i < width; ++i) {
    const uint8_t* from = x + 3 * first[i];
    const int* const w = weights + static_cast<int64_t>(i) * size;
    int sums[4];
#ifdef __SSE4_1__
    // The three channels and the byte after them as one vector of four; compilers would split them if left to vectorise.
    __m128i sum = _mm_set1_epi32(1 << (kPointBits - 1));
    for (int n = 0; n < count[i]; ++n, from += 3) {
      int bytes;
      std::memcpy(&bytes, from, 4);
      sum = _mm_add_epi32(sum, _mm_mullo_epi32(_mm_cvtepu8_epi32(_mm_cvtsi32_si128(bytes)), _mm_set1_epi32(w[n])));
    }
    _mm_storeu_si128(reinterpret_cast<__m128i*>(sums), sum);
#else
    sums[0] = sums[1] = sums[2] = 1 << (kPointBits - 1);
    for (int n = 0; n < count[i]; ++n, from += 3) {
      for (int k = 0; k < 3; ++k) sums[k] += from[k] * w[n];
    }
#endif
    for (int k = 0; k < 3; ++k) y[3 * i + k] = from_fixed(sums[k]);
  }
}

}  // namespace sindri::SINDRI_SIMD_NS
