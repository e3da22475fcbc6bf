// See half_convert_simd.h.
#include "src/device/cpu/half_convert_simd.h"

#include "src/device/cpu/simd_math.h"

namespace sindri::SINDRI_SIMD_NS {

using simd_math::Bf16;
using simd_math::F16;

void widen_row(bool bf16, const uint16_t* __restrict from, float* __restrict to, int64_t n) {
  if (bf16) {
    for (int64_t i = 0; i < n; ++i) to[i] = simd_math::widen(Bf16{from[i]});
  } else {
    for (int64_t i = 0; i < n; ++i) to[i] = simd_math::widen(F16{from[i]});
  }
}

void narrow_row(bool bf16, const float* __restrict from, uint16_t* __restrict to, int64_t n) {
  if (bf16) {
    for (int64_t i = 0; i < n; ++i) {
      Bf16 h;
      simd_math::narrow(from[i], &h);
      to[i] = h.u;
    }
  } else {
    for (int64_t i = 0; i < n; ++i) {
      F16 h;
      simd_math::narrow(from[i], &h);
      to[i] = h.u;
    }
  }
}

}  // namespace sindri::SINDRI_SIMD_NS
