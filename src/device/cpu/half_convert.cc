// See half_convert.h.
#include "src/device/cpu/half_convert.h"

#include "src/device/cpu/half_convert_simd.h"
#include "src/device/cpu/parallel.h"

namespace sindri {

namespace {
constexpr int64_t kGrain = 16384;  // elements worth another thread
}

void half_to_float(DType half, const void* from, float* to, int64_t n) {
  const auto* bits = static_cast<const uint16_t*>(from);
  parallel_for(n, kGrain, [&](int64_t b, int64_t e) { SINDRI_SIMD_CALL(widen_row)(half == DType::kBFloat16, bits + b, to + b, e - b); });
}

void float_to_half(DType half, const float* from, void* to, int64_t n) {
  auto* bits = static_cast<uint16_t*>(to);
  parallel_for(n, kGrain, [&](int64_t b, int64_t e) { SINDRI_SIMD_CALL(narrow_row)(half == DType::kBFloat16, from + b, bits + b, e - b); });
}

}  // namespace sindri
