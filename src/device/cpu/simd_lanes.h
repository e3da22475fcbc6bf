// Reads and writes elements of any floating type as vectors of the type they are computed in. Loops of *_simd.cc files
// are written once for full vectors and for the remaining elements: with V a vector or a single number, arithmetic,
// comparisons and c ? a : b are written the same way. Everything here has internal linkage (simd.h).
#pragma once

#include "src/device/cpu/simd_vector.h"

namespace sindri::SINDRI_SIMD_NS {
namespace {

using simd_math::Bf16;
using simd_math::F16;
using simd_math::narrow;
using simd_math::widen;

typedef double VecDouble __attribute__((vector_size(sizeof(Vec))));
typedef uint32_t VecBits __attribute__((vector_size(sizeof(Vec))));
typedef uint16_t VecHalf __attribute__((vector_size(sizeof(Vec) / 2)));

/// The types for computing with elements of T: a single value (One) and a vector of values (Many). kRoundsToZero is the
/// largest value that rounds to zero in T.
template <class T> struct Computed {
  using One = float;
  using Many = Vec;
};
template <> struct Computed<double> {
  using One = double;
  using Many = VecDouble;
};
template <class T> constexpr float kRoundsToZero = 0.0f;
template <> constexpr float kRoundsToZero<Bf16> = 0x1p-134f;
template <> constexpr float kRoundsToZero<F16> = 0x1p-25f;

/// Number of elements of T in a V.
template <class T, class V> constexpr int kLanesIn = static_cast<int>(sizeof(V) / sizeof(typename Computed<T>::One));

SINDRI_SIMD_INLINE VecBits rounded_bits(Vec v) {
  const VecBits u = reinterpret_cast<VecBits>(v);
  return v != v ? u | 0x400000u : u + 0x7fffu + ((u >> 16) & 1u);
}

template <class V, class T> SINDRI_SIMD_INLINE V read(const T* p) {
  if constexpr (kLanesIn<T, V> == 1) {
    return widen(*p);
  } else if constexpr (sizeof(T) == sizeof(typename Computed<T>::One)) {
    V v;
    __builtin_memcpy(&v, p, sizeof v);
    return v;
  } else {
    typename Computed<T>::One lanes[kLanesIn<T, V>];
    for (int i = 0; i < kLanesIn<T, V>; ++i) lanes[i] = widen(p[i]);
    V v;
    __builtin_memcpy(&v, lanes, sizeof v);
    return v;
  }
}
template <> SINDRI_SIMD_MEMBER Vec read<Vec, Bf16>(const Bf16* p) {
#if defined(__AVX512F__)
  // maskz: gcc 12 warns about the undefined operand of the form without it.
  return reinterpret_cast<Vec>(reinterpret_cast<VecBits>(_mm512_maskz_cvtepu16_epi32(0xffff, _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p)))) << 16);
#elif defined(__AVX2__)
  return reinterpret_cast<Vec>(reinterpret_cast<VecBits>(_mm256_cvtepu16_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p)))) << 16);
#else
  VecHalf h;
  __builtin_memcpy(&h, p, sizeof h);
  return reinterpret_cast<Vec>(__builtin_convertvector(h, VecBits) << 16);
#endif
}

#if defined(__AVX512F__)
template <> SINDRI_SIMD_MEMBER Vec read<Vec, F16>(const F16* p) {
  return reinterpret_cast<Vec>(_mm512_maskz_cvtph_ps(0xffff, _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p))));
}
#elif defined(__F16C__)
template <> SINDRI_SIMD_MEMBER Vec read<Vec, F16>(const F16* p) {
  return reinterpret_cast<Vec>(_mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p))));
}
#endif

template <class V, class T> SINDRI_SIMD_INLINE void write(T* p, V v) {
  if constexpr (kLanesIn<T, V> == 1) {
    narrow(v, p);
  } else if constexpr (sizeof(T) == sizeof(typename Computed<T>::One)) {
    __builtin_memcpy(p, &v, sizeof v);
  } else {
    typename Computed<T>::One lanes[kLanesIn<T, V>];
    __builtin_memcpy(lanes, &v, sizeof v);
    for (int i = 0; i < kLanesIn<T, V>; ++i) narrow(lanes[i], &p[i]);
  }
}
template <> SINDRI_SIMD_MEMBER void write<Vec, Bf16>(Bf16* p, Vec v) {
  const VecHalf h = __builtin_convertvector(rounded_bits(v) >> 16, VecHalf);
  __builtin_memcpy(p, &h, sizeof h);
}
#if defined(__AVX512F__)
template <> SINDRI_SIMD_MEMBER void write<Vec, F16>(F16* p, Vec v) {
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(p), _mm512_maskz_cvtps_ph(0xffff, reinterpret_cast<__m512>(v), _MM_FROUND_TO_NEAREST_INT));
}
#elif defined(__F16C__)
template <> SINDRI_SIMD_MEMBER void write<Vec, F16>(F16* p, Vec v) {
  _mm_storeu_si128(reinterpret_cast<__m128i*>(p), _mm256_cvtps_ph(reinterpret_cast<__m256>(v), _MM_FROUND_TO_NEAREST_INT));
}
#endif

/// Returns v rounded to T.
template <class T, class V> SINDRI_SIMD_INLINE V rounded(V v) {
  if constexpr (sizeof(T) == sizeof(typename Computed<T>::One)) {
    return v;
  } else {
    T t[kLanesIn<T, V>];
    write(t, v);
    return read<V>(static_cast<const T*>(t));
  }
}
template <> SINDRI_SIMD_MEMBER Vec rounded<Bf16, Vec>(Vec v) { return reinterpret_cast<Vec>(rounded_bits(v) & 0xffff0000u); }

/// Returns the values at p, converted to V's element type, as a V.
template <class T, class V> SINDRI_SIMD_INLINE V from_double(const double* p) {
  typename Computed<T>::One lanes[kLanesIn<T, V>];
  for (int i = 0; i < kLanesIn<T, V>; ++i) lanes[i] = static_cast<typename Computed<T>::One>(p[i]);
  V v;
  __builtin_memcpy(&v, lanes, sizeof v);
  return v;
}

SINDRI_SIMD_INLINE void add_vector(double* p, VecDouble v) {
  VecDouble sum;
  __builtin_memcpy(&sum, p, sizeof sum);
  sum += v;
  __builtin_memcpy(p, &sum, sizeof sum);
}
/// p[i] += v[i]. A vector is split into halves in registers: splitting it through memory took longer than reading the rows that are summed.
SINDRI_SIMD_INLINE void add_to_double(double* p, float v) { *p += v; }
SINDRI_SIMD_INLINE void add_to_double(double* p, double v) { *p += v; }
SINDRI_SIMD_INLINE void add_to_double(double* p, VecDouble v) { add_vector(p, v); }
SINDRI_SIMD_INLINE void add_to_double(double* p, Vec v) {
#if defined(__AVX512F__)
  const __m512 x = reinterpret_cast<__m512>(v);
  __m256 low;
  __builtin_memcpy(&low, &x, sizeof low);  // the cast of gcc 12 warns, as do forms without maskz
  add_vector(p, reinterpret_cast<VecDouble>(_mm512_maskz_cvtps_pd(0xff, low)));
  add_vector(p + kVecFloats / 2, reinterpret_cast<VecDouble>(_mm512_maskz_cvtps_pd(0xff, _mm512_maskz_extractf32x8_ps(0xff, x, 1))));
#elif defined(__AVX2__)
  const __m256 x = reinterpret_cast<__m256>(v);
  add_vector(p, reinterpret_cast<VecDouble>(_mm256_cvtps_pd(_mm256_castps256_ps128(x))));
  add_vector(p + kVecFloats / 2, reinterpret_cast<VecDouble>(_mm256_cvtps_pd(_mm256_extractf128_ps(x, 1))));
#else
  const __m128 x = reinterpret_cast<__m128>(v);
  add_vector(p, reinterpret_cast<VecDouble>(_mm_cvtps_pd(x)));
  add_vector(p + kVecFloats / 2, reinterpret_cast<VecDouble>(_mm_cvtps_pd(_mm_movehl_ps(x, x))));
#endif
}

/// Calls f(i, V) for every full vector V of elements of [0, n), then for each remaining number; the V passed to f only conveys the type.
template <class T, class F> SINDRI_SIMD_INLINE void for_each_lanes(int64_t n, const F& f) {
  using Many = typename Computed<T>::Many;
  using One = typename Computed<T>::One;
  int64_t i = 0;
  for (; i + kLanesIn<T, Many> <= n; i += kLanesIn<T, Many>) f(i, Many{});
  for (; i < n; ++i) f(i, One{});
}

}  // namespace
}  // namespace sindri::SINDRI_SIMD_NS
