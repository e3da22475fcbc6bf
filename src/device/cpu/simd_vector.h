// The widest vector of floats of the instruction set that a *_simd.cc file is compiled for. All have internal linkage (simd.h).
#pragma once

#include <immintrin.h>
#include <stdint.h>

#include "src/device/cpu/simd_math.h"

namespace sindri::SINDRI_SIMD_NS {
namespace {

#if defined(__AVX512F__)
typedef float Vec __attribute__((vector_size(64)));
#elif defined(__AVX2__)
typedef float Vec __attribute__((vector_size(32)));
#else
typedef float Vec __attribute__((vector_size(16)));
#endif
constexpr int kVecFloats = static_cast<int>(sizeof(Vec) / sizeof(float));

SINDRI_SIMD_INLINE Vec load(const float* p) {
  Vec v;
  __builtin_memcpy(&v, p, sizeof v);
  return v;
}
SINDRI_SIMD_INLINE void store(float* p, Vec v) { __builtin_memcpy(p, &v, sizeof v); }
SINDRI_SIMD_INLINE Vec broadcast(float x) { return x - Vec{}; }
// Contraction is disabled for the whole build, so fused multiply-add is called explicitly.
SINDRI_SIMD_INLINE Vec multiply_add(Vec a, Vec b, Vec c) {
#if defined(__AVX512F__)
  return reinterpret_cast<Vec>(_mm512_fmadd_ps(reinterpret_cast<__m512>(a), reinterpret_cast<__m512>(b), reinterpret_cast<__m512>(c)));
#elif defined(__FMA__)
  return reinterpret_cast<Vec>(_mm256_fmadd_ps(reinterpret_cast<__m256>(a), reinterpret_cast<__m256>(b), reinterpret_cast<__m256>(c)));
#else
  return a * b + c;
#endif
}

}  // namespace
}  // namespace sindri::SINDRI_SIMD_NS
