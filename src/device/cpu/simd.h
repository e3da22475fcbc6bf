// Selects among the builds of a *_simd.cc file at run time.
//
//    // relu_simd.h
//    SINDRI_SIMD_DECLARE(void relu_f32(const float* x, float* y, int64_t n);)
//    // relu_simd.cc, compiled three times
//    namespace sindri::SINDRI_SIMD_NS { void relu_f32(const float* x, float* y, int64_t n) { … } }
//    // relu_cpu.cc
//    SINDRI_SIMD_CALL(relu_f32)(x, y, n);
//
// A *_simd.cc file must not instantiate inline or template functions that other files use too (std::vector, std::sort,
// …): the linker keeps one copy of each, and it could be the AVX-512 one. Put helpers into an anonymous namespace.
#pragma once

#include "sindri/core/context.h"

#define SINDRI_SIMD_DECLARE(...) \
  namespace sindri::simd_scalar { \
  __VA_ARGS__ \
  } \
  namespace sindri::simd_avx2 { \
  __VA_ARGS__ \
  } \
  namespace sindri::simd_avx512 { \
  __VA_ARGS__ \
  }

#define SINDRI_SIMD_CALL(fn) \
  (::sindri::cpu_isa() >= ::sindri::CpuIsa::kAvx512     ? &::sindri::simd_avx512::fn \
       : ::sindri::cpu_isa() >= ::sindri::CpuIsa::kAvx2 ? &::sindri::simd_avx2::fn \
                                                        : &::sindri::simd_scalar::fn)
