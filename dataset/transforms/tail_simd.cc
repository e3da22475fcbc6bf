// Compiled once per instruction set; the compiler vectorises these loops.
#include "dataset/transforms/tail_simd.h"

#include <cstring>

#ifdef __AVX2__
#include <immintrin.h>
#endif

namespace sindri::SINDRI_SIMD_NS {

namespace {

#ifdef __AVX2__
// 16 pixels are three registers in both forms: byte 3·x + c of the pixels is byte x of plane c. Holds the pshufb indices by which each register of one
// form collects its bytes from those of the other; 0x80 selects none.
struct Shuffles {
  alignas(16) uint8_t split[3][3][16], join[3][3][16];  // [result][source]
  constexpr Shuffles() : split(), join() {
    for (int to = 0; to < 3; ++to)
      for (int from = 0; from < 3; ++from)
        for (int i = 0; i < 16; ++i) {
          const int pixel_byte = 3 * i + to, plane_byte = 16 * to + i;
          split[to][from][i] = pixel_byte / 16 == from ? static_cast<uint8_t>(pixel_byte % 16) : 0x80;
          join[to][from][i] = plane_byte % 3 == from ? static_cast<uint8_t>(plane_byte / 3) : 0x80;
        }
  }
};
constexpr Shuffles kShuffles;

__m128i load(const uint8_t* p) { return _mm_loadu_si128(reinterpret_cast<const __m128i*>(p)); }
void store(uint8_t* p, __m128i v) { _mm_storeu_si128(reinterpret_cast<__m128i*>(p), v); }
__m128i taken(const uint8_t (&indices)[3][16], __m128i a, __m128i b, __m128i c) {
  return _mm_or_si128(_mm_or_si128(_mm_shuffle_epi8(a, load(indices[0])), _mm_shuffle_epi8(b, load(indices[1]))), _mm_shuffle_epi8(c, load(indices[2])));
}

// Calls f(x) for blocks of 16 pixels from x on; the last two overlap if necessary. Returns false for shorter rows.
template <class F> bool for_each_16(int64_t width, F&& f) {
  if (width < 16) return false;
  for (int64_t x = 0; x + 16 <= width; x += 16) f(x);
  if (width % 16 != 0) f(width - 16);
  return true;
}
#endif

void split_row(const uint8_t* __restrict src, int64_t width, uint8_t* __restrict r, uint8_t* __restrict g, uint8_t* __restrict b) {
#ifdef __AVX2__
  const bool done = for_each_16(width, [&](int64_t x) {
    const __m128i p = load(src + 3 * x), q = load(src + 3 * x + 16), s = load(src + 3 * x + 32);
    store(r + x, taken(kShuffles.split[0], p, q, s));
    store(g + x, taken(kShuffles.split[1], p, q, s));
    store(b + x, taken(kShuffles.split[2], p, q, s));
  });
  if (done) return;
#endif
  for (int64_t x = 0; x < width; ++x) {
    r[x] = src[3 * x];
    g[x] = src[3 * x + 1];
    b[x] = src[3 * x + 2];
  }
}

}  // namespace

void tail_split(const uint8_t* src, int64_t stride, int64_t rows, int64_t width, int64_t channels, uint8_t* planes, int64_t pitch, int64_t plane) {
  for (int64_t y = 0; y < rows; ++y) {
    const uint8_t* const from = src + y * stride;
    uint8_t* const to = planes + y * pitch;
    if (channels == 1) std::memcpy(to, from, static_cast<size_t>(width));
    else split_row(from, width, to, to + plane, to + 2 * plane);
  }
}

void tail_join(const uint8_t* planes, int64_t plane, int64_t n, uint8_t* __restrict pixels) {
  const uint8_t* __restrict r = planes, * __restrict g = planes + plane, * __restrict b = planes + 2 * plane;
#ifdef __AVX2__
  const bool done = for_each_16(n, [&](int64_t x) {
    const __m128i p = load(r + x), q = load(g + x), s = load(b + x);
    for (int k = 0; k < 3; ++k) store(pixels + 3 * x + 16 * k, taken(kShuffles.join[k], p, q, s));
  });
  if (done) return;
#endif
  for (int64_t i = 0; i < n; ++i) {
    pixels[3 * i] = r[i];
    pixels[3 * i + 1] = g[i];
    pixels[3 * i + 2] = b[i];
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

namespace {
constexpr int kPattern = 48;  // 16 pixels of 3 channels or 48 of one: the same number of values

template <bool kRescale, bool kNormalize>
void interleaved(const uint8_t* __restrict x, int64_t n, int64_t channels, const ::sindri::dataset::TailArithmetic& f, float* __restrict y) {
  alignas(64) float scale[kPattern], bias[kPattern];
  for (int k = 0; k < kPattern; ++k) {
    scale[k] = f.scale[k % channels];
    bias[k] = f.bias[k % channels];
  }
  const float a = f.a, b = f.b;
  const auto value = [&](uint8_t byte, int k) {
    float v = static_cast<float>(byte);
    if constexpr (kRescale) v = v * a + b;
    if constexpr (kNormalize) v = v * scale[k] + bias[k];
    return v;
  };
  int64_t i = 0;
  for (; i + kPattern <= n; i += kPattern) {
    for (int k = 0; k < kPattern; ++k) y[i + k] = value(x[i + k], k);
  }
  for (int k = 0; i < n; ++i, ++k) y[i] = value(x[i], k);
}
}  // namespace

void tail_interleaved(const uint8_t* __restrict x, int64_t n, int64_t channels, const ::sindri::dataset::TailArithmetic& f, float* __restrict y) {
  if (f.rescale && f.normalize) interleaved<true, true>(x, n, channels, f, y);
  else if (f.normalize) interleaved<false, true>(x, n, channels, f, y);
  else if (f.rescale) interleaved<true, false>(x, n, channels, f, y);
  else interleaved<false, false>(x, n, channels, f, y);
}

}  // namespace sindri::SINDRI_SIMD_NS
