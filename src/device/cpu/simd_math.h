// Elementary functions for *_simd.cc files. Float versions are branch-free polynomials that gcc vectorises, within
// about 2 units in the last place; double versions call libm. All have internal linkage, as files compiled per
// instruction set require.
#pragma once

#include <stdint.h>

#define SINDRI_SIMD_MEMBER inline __attribute__((always_inline, unused))
#define SINDRI_SIMD_INLINE static SINDRI_SIMD_MEMBER
/// Place before a loop whose iterations may run in any order or at the same time: an output overlaps an input only at the same element.
#ifdef __clang__
#define SINDRI_SIMD_INDEPENDENT _Pragma("clang loop vectorize(assume_safety)")
#else
#define SINDRI_SIMD_INDEPENDENT _Pragma("GCC ivdep")
#endif

namespace sindri::simd_math {

SINDRI_SIMD_INLINE uint32_t bits(float x) { return __builtin_bit_cast(uint32_t, x); }
SINDRI_SIMD_INLINE float from_bits(uint32_t u) { return __builtin_bit_cast(float, u); }

SINDRI_SIMD_INLINE float abs(float x) { return from_bits(bits(x) & 0x7fffffffu); }
SINDRI_SIMD_INLINE float sqrt(float x) { return __builtin_sqrtf(x); }
SINDRI_SIMD_INLINE float floor(float x) { return __builtin_floorf(x); }
SINDRI_SIMD_INLINE float ceil(float x) { return __builtin_ceilf(x); }
SINDRI_SIMD_INLINE float rint(float x) { return __builtin_rintf(x); }
SINDRI_SIMD_INLINE float sin(float x) { return __builtin_sinf(x); }
SINDRI_SIMD_INLINE float cos(float x) { return __builtin_cosf(x); }

/// 2^n x for whole n in [-280, 280], in two steps so that results below the normal range round once.
SINDRI_SIMD_INLINE float scale(float x, int32_t n) {
  const int32_t half = n >> 1;
  return x * from_bits(static_cast<uint32_t>(half + 127) << 23) * from_bits(static_cast<uint32_t>(n - half + 127) << 23);
}

// e^x = 2^n e^r with n = round(x / ln 2), |r| <= ln 2 / 2; ln 2 in two parts, the first with trailing zeros so that n * part is exact.
SINDRI_SIMD_INLINE float exp(float x) {
  const float bounded = x < -104.0f ? -104.0f : x > 89.0f ? 89.0f : x;
  const float shifted = bounded * 1.44269504f + 12582912.0f;  // 1.5 * 2^23: adding it rounds to a whole number
  const float n = shifted - 12582912.0f;
  const float r = (bounded - n * 0.693359375f) + n * 2.12194440e-4f;
  float p = 1.98919813e-4f;
  p = p * r + 1.39345419e-3f;
  p = p * r + 8.33331002e-3f;
  p = p * r + 4.16664568e-2f;
  p = p * r + 1.66666667e-1f;
  p = p * r + 0.5f;
  const int32_t whole = static_cast<int32_t>(bits(shifted) - bits(12582912.0f));
  const float y = scale(p * r * r + r + 1.0f, x != x ? 0 : whole);
  return x != x ? x : y;
}

SINDRI_SIMD_INLINE float expm1(float x) {
  float p = 2.49224364e-5f;
  p = p * x + 1.99621762e-4f;
  p = p * x + 1.38887377e-3f;
  p = p * x + 8.33318207e-3f;
  p = p * x + 4.16666671e-2f;
  p = p * x + 1.66666671e-1f;
  p = p * x + 0.5f;
  const float near = p * x * x + x, far = exp(x) - 1.0f;
  return x == 0.0f ? x : abs(x) < 0.5f ? near : far;  // keeps -0
}

// x = 2^n (1 + f) with 1 + f in [sqrt(1/2), sqrt(2)).
SINDRI_SIMD_INLINE float log(float x) {
  const bool tiny = x < 1.17549435e-38f;
  const uint32_t u = bits(tiny ? x * 8388608.0f : x);
  const uint32_t at_half = u - 0x3f3504f3u;  // the exponent field then counts from sqrt(1/2)
  const int32_t n = static_cast<int32_t>(at_half) >> 23;
  const float f = from_bits((at_half & 0x007fffffu) + 0x3f3504f3u) - 1.0f;
  const float e = static_cast<float>(n) - (tiny ? 23.0f : 0.0f);
  float p = 6.97161147e-2f;
  p = p * f - 1.14797338e-1f;
  p = p * f + 1.16854199e-1f;
  p = p * f - 1.24256873e-1f;
  p = p * f + 1.42490576e-1f;
  p = p * f - 1.66678023e-1f;
  p = p * f + 2.00007157e-1f;
  p = p * f - 2.49999970e-1f;
  p = p * f + 3.33333312e-1f;
  const float f2 = f * f;
  const float y = (p * f * f2 + (e * -2.12194440e-4f - 0.5f * f2) + f) + e * 0.693359375f;
  const float special = x == 0.0f ? -__builtin_inff() : x < 0.0f ? __builtin_nanf("") : x;  // +inf and NaN pass unchanged
  return x > 0.0f && x < __builtin_inff() ? y : special;
}

// log(u) corrected for the rounding of u = 1 + x.
SINDRI_SIMD_INLINE float log1p(float x) {
  const float u = 1.0f + x, d = u - 1.0f, l = log(u);
  return d == 0.0f ? x : u < __builtin_inff() && u > 0.0f ? l * (x / d) : l;
}

SINDRI_SIMD_INLINE float tanh(float x) {
  const float a = abs(x), z = x * x;
  float p = -6.09671417e-3f;
  p = p * z + 2.09971790e-2f;
  p = p * z - 5.38509096e-2f;
  p = p * z + 1.33327697e-1f;
  p = p * z - 3.33333289e-1f;
  const float near = p * z * x + x, far = 1.0f - 2.0f / (exp(a + a) + 1.0f);
  return a == 0.0f ? x : a < 0.625f ? near : x < 0.0f ? -far : far;  // keeps -0
}

SINDRI_SIMD_INLINE float sigmoid(float x) { return 1.0f / (1.0f + exp(-x)); }

// x P(x^2) inside [-1, 1]; outside 1 - e^Q(|x|), Q fitted to log(erfc).
SINDRI_SIMD_INLINE float erf(float x) {
  const float a = abs(x), z = x * x, t = a > 4.0f ? 4.0f : a;
  float p = 7.87587506e-5f;
  p = p * z - 8.01686429e-4f;
  p = p * z + 5.18908742e-3f;
  p = p * z - 2.68542120e-2f;
  p = p * z + 1.12835947e-1f;
  p = p * z - 3.76126267e-1f;
  p = p * z + 1.12837917f;
  float q = 1.63715141e-6f;
  q = q * t - 4.60580427e-5f;
  q = q * t + 5.96805626e-4f;
  q = q * t - 4.75959629e-3f;
  q = q * t + 2.64211360e-2f;
  q = q * t - 1.10080083e-1f;
  q = q * t - 6.31826052e-1f;
  q = q * t - 1.13023343f;
  q = q * t + 3.20138050e-4f;
  const float far = 1.0f - exp(q);
  return a < 1.0f ? p * x : a == a ? (x < 0.0f ? -far : far) : x;
}

SINDRI_SIMD_INLINE double abs(double x) { return __builtin_fabs(x); }
SINDRI_SIMD_INLINE double sqrt(double x) { return __builtin_sqrt(x); }
SINDRI_SIMD_INLINE double floor(double x) { return __builtin_floor(x); }
SINDRI_SIMD_INLINE double ceil(double x) { return __builtin_ceil(x); }
SINDRI_SIMD_INLINE double rint(double x) { return __builtin_rint(x); }
SINDRI_SIMD_INLINE double sin(double x) { return __builtin_sin(x); }
SINDRI_SIMD_INLINE double cos(double x) { return __builtin_cos(x); }
SINDRI_SIMD_INLINE double exp(double x) { return __builtin_exp(x); }
SINDRI_SIMD_INLINE double expm1(double x) { return __builtin_expm1(x); }
SINDRI_SIMD_INLINE double log(double x) { return __builtin_log(x); }
SINDRI_SIMD_INLINE double log1p(double x) { return __builtin_log1p(x); }
SINDRI_SIMD_INLINE double tanh(double x) { return __builtin_tanh(x); }
SINDRI_SIMD_INLINE double erf(double x) { return __builtin_erf(x); }
SINDRI_SIMD_INLINE double sigmoid(double x) { return 1.0 / (1.0 + __builtin_exp(-x)); }

/// bfloat16 and float16 as 16-bit patterns; conversions round to nearest even, as the classes in dtype.h do.
struct Bf16 {
  uint16_t u;
};
struct F16 {
  uint16_t u;
};

SINDRI_SIMD_INLINE float widen(Bf16 h) { return from_bits(static_cast<uint32_t>(h.u) << 16); }
SINDRI_SIMD_INLINE float widen(F16 h) {
  const uint32_t sign = static_cast<uint32_t>(h.u & 0x8000u) << 16, em = h.u & 0x7fffu;
  // Scaling by 2^112 moves the exponent bias and makes subnormals normal; infinity and NaN need their exponent filled.
  const float scaled = from_bits(em << 13) * 0x1p112f;
  return from_bits((em >= 0x7c00u ? 0x7f800000u | (em << 13) : bits(scaled)) | sign);
}
SINDRI_SIMD_INLINE float widen(float x) { return x; }
SINDRI_SIMD_INLINE double widen(double x) { return x; }

SINDRI_SIMD_INLINE void narrow(float x, Bf16* out) {
  const uint32_t u = bits(x), rounded = (u + 0x7fffu + ((u >> 16) & 1u)) >> 16, nan = (u >> 16) | 0x40u;
  out->u = static_cast<uint16_t>(x != x ? nan : rounded);
}
SINDRI_SIMD_INLINE void narrow(float x, F16* out) {
  const uint32_t u = bits(x), sign = (u >> 16) & 0x8000u, a = u & 0x7fffffffu;
  const uint32_t normal = (a - 0x38000000u + 0xfffu + ((a >> 13) & 1u)) >> 13;
  const uint32_t subnormal = bits(from_bits(a) + 0.5f) - 0x3f000000u;  // the addition rounds at the last subnormal bit
  const uint32_t finite = a < 0x38800000u ? subnormal : a >= 0x477ff000u ? 0x7c00u : normal;
  out->u = static_cast<uint16_t>(sign | (a > 0x7f800000u ? 0x7e00u : finite));
}
SINDRI_SIMD_INLINE void narrow(float x, float* out) { *out = x; }
SINDRI_SIMD_INLINE void narrow(double x, double* out) { *out = x; }

}  // namespace sindri::simd_math
