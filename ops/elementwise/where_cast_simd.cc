// Tile loops of where (by element size) and cast (by both types).
#include "ops/elementwise/elementwise_simd.h"
#include "ops/elementwise/elementwise_types_simd.h"

namespace sindri::SINDRI_SIMD_NS {
namespace {

using elementwise::TileFn;

template <class E> struct WhereLoop {
  static void run(const void* const* in, void* out, int64_t n, const double*) {
    const uint8_t* cond = static_cast<const uint8_t*>(in[0]);
    const E *a = static_cast<const E*>(in[1]), *b = static_cast<const E*>(in[2]);
    E* y = static_cast<E*>(out);
    SINDRI_SIMD_INDEPENDENT
    for (int64_t i = 0; i < n; ++i) y[i] = cond[i] != 0 ? a[i] : b[i];
  }
};

// Integer to half goes through float.
SINDRI_SIMD_INLINE void convert(Int v, Bool* out) { out->u = v.v != 0; }
SINDRI_SIMD_INLINE void convert(float v, Bool* out) { out->u = v != 0; }
SINDRI_SIMD_INLINE void convert(double v, Bool* out) { out->u = v != 0; }
SINDRI_SIMD_INLINE void convert(float v, double* out) { *out = v; }
SINDRI_SIMD_INLINE void convert(double v, double* out) { *out = v; }
SINDRI_SIMD_INLINE void convert(Int v, double* out) { *out = static_cast<double>(v.v); }
SINDRI_SIMD_INLINE void convert(Int v, float* out) { *out = static_cast<float>(v.v); }
SINDRI_SIMD_INLINE void convert(Int v, uint8_t* out) { store(v, out); }
SINDRI_SIMD_INLINE void convert(Int v, int32_t* out) { store(v, out); }
SINDRI_SIMD_INLINE void convert(Int v, int64_t* out) { store(v, out); }
template <class V> SINDRI_SIMD_INLINE void convert(V v, uint8_t* out) { *out = elementwise::truncated<SimdTag, uint8_t>(v); }
template <class V> SINDRI_SIMD_INLINE void convert(V v, int32_t* out) { *out = elementwise::truncated<SimdTag, int32_t>(v); }
template <class V> SINDRI_SIMD_INLINE void convert(V v, int64_t* out) { *out = elementwise::truncated<SimdTag, int64_t>(v); }
template <class V> SINDRI_SIMD_INLINE void convert(V v, float* out) { *out = static_cast<float>(v); }
SINDRI_SIMD_INLINE void convert(Int v, F16* out) { store(static_cast<float>(v.v), out); }
SINDRI_SIMD_INLINE void convert(Int v, Bf16* out) { store(static_cast<float>(v.v), out); }
template <class V> SINDRI_SIMD_INLINE void convert(V v, F16* out) { store(static_cast<float>(v), out); }
template <class V> SINDRI_SIMD_INLINE void convert(V v, Bf16* out) { store(static_cast<float>(v), out); }

template <class From, class To> struct CastLoop {
  static void run(const void* const* in, void* out, int64_t n, const double*) {
    const From* x = static_cast<const From*>(in[0]);
    To* y = static_cast<To*>(out);
    SINDRI_SIMD_INDEPENDENT
    for (int64_t i = 0; i < n; ++i) convert(load(x[i]), y + i);
  }
};

}  // namespace

TileFn where_tile(int element_size) {
  return element_size == 1 ? &WhereLoop<uint8_t>::run
      : element_size == 2  ? &WhereLoop<uint16_t>::run
      : element_size == 4  ? &WhereLoop<uint32_t>::run
                           : &WhereLoop<uint64_t>::run;
}

TileFn cast_tile(int from, int to) {
#define ROW(F) \
  { \
    &CastLoop<F, Bool>::run, &CastLoop<F, uint8_t>::run, &CastLoop<F, int32_t>::run, &CastLoop<F, int64_t>::run, &CastLoop<F, F16>::run, \
        &CastLoop<F, Bf16>::run, &CastLoop<F, float>::run, &CastLoop<F, double>::run \
  }
  static constexpr TileFn table[kNumDTypes][kNumDTypes] = {ROW(Bool), ROW(uint8_t), ROW(int32_t), ROW(int64_t), ROW(F16), ROW(Bf16), ROW(float), ROW(double)};
  return table[from][to];
}

}  // namespace sindri::SINDRI_SIMD_NS
