// Included by the generated source of a cluster (cluster_text.h). NVRTC gets this file from memory; the host run's replacement of NVRTC compiles it for the
// host. Its functions compute the same as those of elementwise_cuda.cu, so that results are bitwise identical.
#pragma once

#include "ops/elementwise/wrapping_int.h"

#if defined(SINDRI_GENERATED_CLUSTER) && !defined(__CUDACC_RTC__)
#include <bit>
#include <cmath>
#include <cstddef>

#include "sindri/core/dtype.h"
#endif

namespace sindri::cuda::generated {

/// The kernel's only argument.
struct ClusterArgs {
  int64_t n;  ///< elements
  int64_t groups;  ///< number of whole vectors, computed from element 0 on
  int64_t size[8];  ///< of the walk (operand_walk.h), and the divisors for them (divisor.h)
  uint32_t multiplier[8];
  int32_t shift[8];
  const void* in[12];
  void* out[24];
  int64_t stride[12][8];
};

#ifdef SINDRI_GENERATED_CLUSTER  // the generated source defines it

#ifdef __CUDACC_RTC__
#define SINDRI_GENERATED __device__ __forceinline__
#define SINDRI_UNROLL _Pragma("unroll")
#define SINDRI_CLUSTER_KERNEL extern "C" __global__ void __launch_bounds__(256) sindri_cluster(const __grid_constant__ ClusterArgs args)
struct DeviceTag;
SINDRI_GENERATED float half_to_float(uint16_t h) {
  float f;
  asm("cvt.f32.f16 %0, %1;" : "=f"(f) : "h"(h));
  return f;
}
SINDRI_GENERATED uint16_t float_to_half(float f) {
  uint16_t h;
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(h) : "f"(f));
  return h;
}
SINDRI_GENERATED float bf16_to_float(uint16_t b) { return __uint_as_float(static_cast<uint32_t>(b) << 16); }
SINDRI_GENERATED uint16_t float_to_bf16(float f) {
  uint16_t b;
  asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(b) : "f"(f));
  return b;
}
SINDRI_GENERATED double number(uint64_t bits) { return __longlong_as_double(static_cast<long long>(bits)); }
SINDRI_GENERATED int64_t global_thread() { return static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; }
SINDRI_GENERATED int64_t global_threads() { return static_cast<int64_t>(gridDim.x) * blockDim.x; }
#else
#include <cuda_host/generated_language.h>
#endif

using Int = elementwise::WrappingInt<DeviceTag>;

SINDRI_GENERATED float sigmoid(float x) { return 1.0f / (1.0f + exp(-x)); }
SINDRI_GENERATED double sigmoid(double x) { return 1.0 / (1.0 + exp(-x)); }
#define SINDRI_EXPRESSION_INLINE SINDRI_GENERATED
#include "ops/elementwise/expression_functions.def"
#undef SINDRI_EXPRESSION_INLINE

// Elements as they are stored in memory.
struct Half {
  uint16_t bits;
};
struct Bf16 {
  uint16_t bits;
};
// V elements, read or written by accesses of up to 16 bytes.
template <class E, int V> struct alignas(sizeof(E) * V < 16 ? sizeof(E) * V : 16) Pack { E e[V]; };
template <class E, int V> SINDRI_GENERATED Pack<E, V> load(const void* p, int64_t i) {
  return *reinterpret_cast<const Pack<E, V>*>(static_cast<const E*>(p) + i);
}
template <class E, int V> SINDRI_GENERATED void store(void* p, int64_t i, const Pack<E, V>& v) { *reinterpret_cast<Pack<E, V>*>(static_cast<E*>(p) + i) = v; }

// Converts an element to its compute type and back.
SINDRI_GENERATED float value(Half e) { return half_to_float(e.bits); }
SINDRI_GENERATED float value(Bf16 e) { return bf16_to_float(e.bits); }
SINDRI_GENERATED float value(float e) { return e; }
SINDRI_GENERATED double value(double e) { return e; }
SINDRI_GENERATED Int value(uint8_t e) { return Int(e); }
SINDRI_GENERATED Int value(int32_t e) { return Int(e); }
SINDRI_GENERATED Int value(int64_t e) { return Int(e); }
SINDRI_GENERATED void element(float v, Half* e) { e->bits = float_to_half(v); }
SINDRI_GENERATED void element(float v, Bf16* e) { e->bits = float_to_bf16(v); }
SINDRI_GENERATED void element(float v, float* e) { *e = v; }
SINDRI_GENERATED void element(double v, double* e) { *e = v; }
SINDRI_GENERATED void element(Int v, uint8_t* e) { *e = static_cast<uint8_t>(v.v); }
SINDRI_GENERATED void element(Int v, int32_t* e) { *e = static_cast<int32_t>(v.v); }
SINDRI_GENERATED void element(Int v, int64_t* e) { *e = v.v; }
template <class E, class T> SINDRI_GENERATED T rounded(T v) {
  E e;
  element(v, &e);
  return value(e);
}
SINDRI_GENERATED Int truth(Int v) { return Int(v.v != 0 ? 1 : 0); }

// Stores an expression's result as the value of its step.
SINDRI_GENERATED void put(float v, float* to) { *to = v; }
SINDRI_GENERATED void put(double v, double* to) { *to = v; }
SINDRI_GENERATED void put(Int v, Int* to) { *to = v; }
SINDRI_GENERATED void put(bool v, Int* to) { *to = Int(v ? 1 : 0); }
SINDRI_GENERATED void put(int v, Int* to) { *to = Int(v != 0 ? 1 : 0); }

SINDRI_GENERATED void convert(float v, float* to) { *to = v; }
SINDRI_GENERATED void convert(float v, double* to) { *to = static_cast<double>(v); }
SINDRI_GENERATED void convert(double v, float* to) { *to = static_cast<float>(v); }
SINDRI_GENERATED void convert(double v, double* to) { *to = v; }
SINDRI_GENERATED void convert(Int v, float* to) { *to = static_cast<float>(v.v); }
SINDRI_GENERATED void convert(Int v, double* to) { *to = static_cast<double>(v.v); }
SINDRI_GENERATED void convert(Int v, Int* to) { *to = v; }
SINDRI_GENERATED Int to_bool(double v) { return Int(v != 0 ? 1 : 0); }
SINDRI_GENERATED Int to_int64(double v) { return Int(elementwise::truncated<DeviceTag, int64_t>(v)); }
SINDRI_GENERATED Int to_int32(double v) { return Int(elementwise::truncated<DeviceTag, int32_t>(v)); }

// Offset in operand k of element i of the walk.
template <int kRank> SINDRI_GENERATED int64_t offset(const ClusterArgs& args, int k, int64_t i) {
  int64_t at = 0;
  SINDRI_UNROLL for (int d = kRank - 1; d > 0; --d) {
    const uint32_t low = static_cast<uint32_t>(i);
    const int64_t q =
        args.shift[d] < 0 ? i / args.size[d] : static_cast<int64_t>((((static_cast<uint64_t>(low) * args.multiplier[d]) >> 32) + low) >> args.shift[d]);
    at += (i - q * args.size[d]) * args.stride[k][d];
    i = q;
  }
  return at + i * args.stride[k][0];
}

#endif

}  // namespace sindri::cuda::generated
