// See all_finite_simd.h. An element is not finite if all bits of its exponent are set. x & mask then equals the mask, its largest
// possible value, so one maximum over the row decides.
#include "ops/reduce/all_finite_simd.h"

#include "sindri/core/dtype.h"

namespace sindri::SINDRI_SIMD_NS {
namespace {

template <class U> inline __attribute__((always_inline)) bool below_mask(const void* x_v, int64_t n, U mask) {
  const U* __restrict x = static_cast<const U*>(x_v);
  U largest = 0;
#pragma omp simd reduction(max : largest)
  for (int64_t i = 0; i < n; ++i) {
    const U exponent = static_cast<U>(x[i] & mask);
    largest = exponent > largest ? exponent : largest;
  }
  return largest < mask;
}

}  // namespace

bool row_is_finite(int dtype, const void* x, int64_t n) {
  switch (static_cast<DType>(dtype)) {
    case DType::kFloat16: return below_mask<uint16_t>(x, n, 0x7c00u);
    case DType::kBFloat16: return below_mask<uint16_t>(x, n, 0x7f80u);
    case DType::kFloat64: return below_mask<uint64_t>(x, n, 0x7ff0000000000000ull);
    default: return below_mask<uint32_t>(x, n, 0x7f800000u);
  }
}

}  // namespace sindri::SINDRI_SIMD_NS
