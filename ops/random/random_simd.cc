// See random_simd.h. The logarithm, sine and cosine are series computed here: those of the C library differ between machines.
#include "ops/random/random_simd.h"

#include <cstring>

namespace sindri::SINDRI_SIMD_NS {
namespace {

#define SINDRI_INLINE static inline __attribute__((always_inline))

constexpr int kLanes = 16;  // blocks computed at a time

// Ten rounds of Philox4x32 on kLanes counters, in which word 0, or word 1, increases by one from each to the next.
SINDRI_INLINE void philox_lanes(const uint32_t* key, const uint32_t* counter, uint32_t first, bool next_block, uint32_t (&out)[4 * kLanes]) {
  uint32_t c0[kLanes], c1[kLanes], c2[kLanes], c3[kLanes];
  for (int i = 0; i < kLanes; ++i) {
    c0[i] = first + (next_block ? static_cast<uint32_t>(i) : 0);
    c1[i] = counter[0] + (next_block ? 0 : static_cast<uint32_t>(i));
    c2[i] = counter[1];
    c3[i] = counter[2];
  }
  uint32_t k0 = key[0], k1 = key[1];
  for (int round = 0; round < 10; ++round) {
#pragma omp simd
    for (int i = 0; i < kLanes; ++i) {
      const uint64_t p0 = 0xD2511F53ull * c0[i], p1 = 0xCD9E8D57ull * c2[i];
      c0[i] = static_cast<uint32_t>(p1 >> 32) ^ c1[i] ^ k0;
      c1[i] = static_cast<uint32_t>(p1);
      c2[i] = static_cast<uint32_t>(p0 >> 32) ^ c3[i] ^ k1;
      c3[i] = static_cast<uint32_t>(p0);
    }
    k0 += 0x9E3779B9u;
    k1 += 0xBB67AE85u;
  }
  for (int i = 0; i < kLanes; ++i) {
    out[4 * i] = c0[i];
    out[4 * i + 1] = c1[i];
    out[4 * i + 2] = c2[i];
    out[4 * i + 3] = c3[i];
  }
}

SINDRI_INLINE double bits_to_double(uint64_t u) {
  double d;
  std::memcpy(&d, &u, sizeof d);
  return d;
}
SINDRI_INLINE uint64_t double_to_bits(double d) {
  uint64_t u;
  std::memcpy(&u, &d, sizeof u);
  return u;
}

// ln x for normal x > 0: x = m·2^e with m in [2^-1/2, 2^1/2), ln m = 2 artanh f, f = (m-1)/(m+1), |f| < 0.1716.
SINDRI_INLINE double log_positive(double x) {
  const uint64_t u = double_to_bits(x) + 0x00095f619980c433ull;  // 1 - 2^-1/2 in the mantissa: rounds the exponent at 2^-1/2
  const int64_t e = static_cast<int64_t>(u >> 52) - 1023;
  const double m = bits_to_double((u & 0x000fffffffffffffull) + 0x3fe6a09e667f3bcdull);
  const double f = (m - 1) / (m + 1), s = f * f;
  double p = 1.0 / 21;
  p = p * s + 1.0 / 19;
  p = p * s + 1.0 / 17;
  p = p * s + 1.0 / 15;
  p = p * s + 1.0 / 13;
  p = p * s + 1.0 / 11;
  p = p * s + 1.0 / 9;
  p = p * s + 1.0 / 7;
  p = p * s + 1.0 / 5;
  p = p * s + 1.0 / 3;
  return static_cast<double>(static_cast<int32_t>(e)) * 0.69314718055994530942 + (2 * f + 2 * f * s * p);
}

// sin and cos of 2πu for u in [0, 1), by Taylor series on [-π/4, π/4] and a rotation by quarter turns.
SINDRI_INLINE void sincos_turn(double u, double* sine, double* cosine) {
  const auto quarter = static_cast<int32_t>(4 * u + 0.5);
  const double a = (u - 0.25 * static_cast<double>(quarter)) * 6.28318530717958647693, s = a * a;
  double ps = 1.0 / 355687428096000, pc = 1.0 / 20922789888000;
  ps = ps * s - 1.0 / 1307674368000;
  ps = ps * s + 1.0 / 6227020800;
  ps = ps * s - 1.0 / 39916800;
  ps = ps * s + 1.0 / 362880;
  ps = ps * s - 1.0 / 5040;
  ps = ps * s + 1.0 / 120;
  ps = ps * s - 1.0 / 6;
  pc = pc * s - 1.0 / 87178291200;
  pc = pc * s + 1.0 / 479001600;
  pc = pc * s - 1.0 / 3628800;
  pc = pc * s + 1.0 / 40320;
  pc = pc * s - 1.0 / 720;
  pc = pc * s + 1.0 / 24;
  pc = pc * s - 1.0 / 2;
  const double sn = a + a * s * ps, cs = 1 + s * pc;
  const bool swap = (quarter & 1) != 0;
  const double x = swap ? cs : sn, y = swap ? sn : cs;
  *sine = (quarter & 2) != 0 ? -x : x;
  *cosine = ((quarter + 1) & 2) != 0 ? -y : y;
}

// Box and Muller 1958: two uniform numbers, the first above 0, give two independent normal ones.
SINDRI_INLINE void box_muller(double u, double v, double* z0, double* z1) {
  const double r = __builtin_sqrt(-2 * log_positive(u));
  double sine, cosine;
  sincos_turn(v, &sine, &cosine);
  *z0 = r * cosine;
  *z1 = r * sine;
}

SINDRI_INLINE double u64_from(const uint32_t* w) { return static_cast<double>((static_cast<uint64_t>(w[1]) << 32 | w[0]) >> 11); }

SINDRI_INLINE uint16_t bf16_from_float(float f) {
  uint32_t u;
  std::memcpy(&u, &f, sizeof u);
  const uint32_t rounded = (u + 0x7fffu + ((u >> 16) & 1u)) >> 16, quiet = (u >> 16) | 0x40u;
  return static_cast<uint16_t>((u & 0x7fffffffu) > 0x7f800000u ? quiet : rounded);
}
SINDRI_INLINE float bf16_to_float(uint16_t v) {
  const uint32_t u = static_cast<uint32_t>(v) << 16;
  float f;
  std::memcpy(&f, &u, sizeof f);
  return f;
}

#undef SINDRI_INLINE

}  // namespace

void philox_blocks(const uint32_t* key, const uint32_t* counter, uint32_t first, int64_t blocks, uint32_t* words) {
  uint32_t out[4 * kLanes];
  for (int64_t b = 0; b < blocks; b += kLanes) {
    philox_lanes(key, counter, first + static_cast<uint32_t>(b), true, out);
    const int64_t count = blocks - b < kLanes ? blocks - b : kLanes;
    std::memcpy(words + 4 * b, out, static_cast<size_t>(count) * 16);
  }
}

void philox_samples(const uint32_t* key, const uint32_t* counter, uint32_t block, int64_t samples, int64_t stride, uint32_t* words) {
  uint32_t out[4 * kLanes], at[3] = {counter[0], counter[1], counter[2]};
  for (int64_t s = 0; s < samples; s += kLanes, at[0] += kLanes) {
    philox_lanes(key, at, block, false, out);
    const int64_t count = samples - s < kLanes ? samples - s : kLanes;
    for (int64_t i = 0; i < count; ++i) std::memcpy(words + (s + i) * stride, out + 4 * i, 16);
  }
}

void dropout_f32(const float* x, const uint32_t* words, float* y, int64_t n, int32_t threshold, float scale) {
#pragma omp simd
  for (int64_t i = 0; i < n; ++i) {
    const float kept = x[i] * scale;
    y[i] = static_cast<int32_t>(words[i] >> 8) < threshold ? kept : 0.0f;
  }
}

void dropout_bf16(const uint16_t* x, const uint32_t* words, uint16_t* y, int64_t n, int32_t threshold, float scale) {
#pragma omp simd
  for (int64_t i = 0; i < n; ++i) {
    const uint16_t kept = bf16_from_float(bf16_to_float(x[i]) * scale);
    y[i] = static_cast<int32_t>(words[i] >> 8) < threshold ? kept : static_cast<uint16_t>(0);
  }
}

void normal_from_u32(const uint32_t* words, double* z, int64_t n) {
#pragma omp simd
  for (int64_t i = 0; i < n; i += 2) {
    const double u = (static_cast<double>(words[i]) + 1) * 0x1p-32, v = static_cast<double>(words[i + 1]) * 0x1p-32;
    box_muller(u, v, &z[i], &z[i + 1]);
  }
}

void normal_from_u64(const uint32_t* words, double* z, int64_t n) {
#pragma omp simd
  for (int64_t i = 0; i < n; i += 2) {
    const double u = (u64_from(words + 2 * i) + 1) * 0x1p-53, v = u64_from(words + 2 * i + 2) * 0x1p-53;
    box_muller(u, v, &z[i], &z[i + 1]);
  }
}

}  // namespace sindri::SINDRI_SIMD_NS
