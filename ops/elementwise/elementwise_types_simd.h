// Element types of the elementwise *_simd.cc files: how each is loaded, computed and stored.
#pragma once

#include <cstdint>

#include "ops/elementwise/domain.h"
#include "ops/elementwise/wrapping_int.h"
#include "sindri/core/dtype.h"
#include "src/device/cpu/simd_math.h"

namespace sindri::SINDRI_SIMD_NS {
namespace {

using elementwise::Domain;
using enum elementwise::Domain;
using simd_math::Bf16, simd_math::F16;

struct Bool {
  uint8_t u;
};
struct SimdTag;
using Int = elementwise::WrappingInt<SimdTag>;

SINDRI_SIMD_INLINE Int load(Bool e) { return Int(e.u); }
SINDRI_SIMD_INLINE Int load(uint8_t e) { return Int(e); }
SINDRI_SIMD_INLINE Int load(int32_t e) { return Int(e); }
SINDRI_SIMD_INLINE Int load(int64_t e) { return Int(e); }
SINDRI_SIMD_INLINE float load(F16 e) { return simd_math::widen(e); }
SINDRI_SIMD_INLINE float load(Bf16 e) { return simd_math::widen(e); }
SINDRI_SIMD_INLINE float load(float e) { return e; }
SINDRI_SIMD_INLINE double load(double e) { return e; }

SINDRI_SIMD_INLINE void store(bool v, Bool* out) { out->u = v; }
SINDRI_SIMD_INLINE void store(int v, Bool* out) { out->u = v != 0; }  // a & b of two bools is an int
SINDRI_SIMD_INLINE void store(Int v, Bool* out) { out->u = v.v != 0; }
SINDRI_SIMD_INLINE void store(Int v, uint8_t* out) { *out = static_cast<uint8_t>(v.v); }
SINDRI_SIMD_INLINE void store(Int v, int32_t* out) { *out = static_cast<int32_t>(v.v); }
SINDRI_SIMD_INLINE void store(Int v, int64_t* out) { *out = v.v; }
SINDRI_SIMD_INLINE void store(float v, F16* out) { simd_math::narrow(v, out); }
SINDRI_SIMD_INLINE void store(float v, Bf16* out) { simd_math::narrow(v, out); }
SINDRI_SIMD_INLINE void store(float v, float* out) { *out = v; }
SINDRI_SIMD_INLINE void store(double v, double* out) { *out = v; }

template <class E> struct Is { static constexpr bool boolean = false, floating = false; };
template <> struct Is<Bool> { static constexpr bool boolean = true, floating = false; };
template <> struct Is<F16> { static constexpr bool boolean = false, floating = true; };
template <> struct Is<Bf16> { static constexpr bool boolean = false, floating = true; };
template <> struct Is<float> { static constexpr bool boolean = false, floating = true; };
template <> struct Is<double> { static constexpr bool boolean = false, floating = true; };

template <class E> constexpr bool in_domain(Domain d) {
  return d == kFloating ? Is<E>::floating : d == kNumeric ? !Is<E>::boolean : d == kIntegral ? !Is<E>::floating : true;
}

}  // namespace
}  // namespace sindri::SINDRI_SIMD_NS
