// The language of *_cuda.cu files. nvcc compiles them for GPUs; the host run (tests/cuda_host) compiles the same text
// with the host compiler, where <cuda_host/language.h> provides threadIdx, barriers, shuffles and atomics to code that
// runs on fibers. To support both:
//    - start kernels with launch() (launch.h), never with <<<>>>;
//    - declare shared memory with SINDRI_SHARED and access it through the view it defines;
//    - pass pointers that a kernel reads from memory through device_pointer();
//    - use the element types below, and mark functions for both sides SINDRI_DEVICE.
#pragma once

#include <cstdint>

#include "sindri/core/dtype.h"

#ifdef __CUDACC__
#include <cooperative_groups.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#define SINDRI_DEVICE __device__ __forceinline__
/// Place before a loop over an array that must stay in registers.
#define SINDRI_UNROLL _Pragma("unroll")
/// A shared array of `count` (a constant) elements named `name`, with undefined contents.
#define SINDRI_SHARED(type, name, count) __shared__ type name[count]
/// The block's dynamic shared memory (Grid::shared bytes) as an array of `type`.
#define SINDRI_DYNAMIC_SHARED(type, name) \
  extern __shared__ __align__(16) char sindri_shared_memory[]; \
  type* const name = reinterpret_cast<type*>(sindri_shared_memory)
#else
#include <cuda_host/language.h>
#endif

namespace sindri::cuda {

// Elements as stored in memory.
struct Half {
  uint16_t bits;
};
struct Bf16 {
  uint16_t bits;
};
struct Bool {
  uint8_t bits;
};

#ifdef __CUDACC__
SINDRI_DEVICE float widen(Half h) { return __half2float(__ushort_as_half(h.bits)); }
SINDRI_DEVICE float widen(Bf16 b) { return __uint_as_float(static_cast<uint32_t>(b.bits) << 16); }
SINDRI_DEVICE Half to_half(float f) { return {__half_as_ushort(__float2half_rn(f))}; }
SINDRI_DEVICE Bf16 to_bf16(float f) { return {__bfloat16_as_ushort(__float2bfloat16_rn(f))}; }
/// Waits for all threads of a grid started by launch_cooperative(); their earlier writes are then visible. Every thread must call it.
SINDRI_DEVICE void sync_grid() { cooperative_groups::this_grid().sync(); }
/// Passes on a device address that the kernel has read from memory.
template <class T> SINDRI_DEVICE T* device_pointer(T* p) { return p; }
#else
inline float widen(Half h) {
  float16 f;
  f.bits = h.bits;
  return f;
}
inline float widen(Bf16 b) {
  bfloat16 f;
  f.bits = b.bits;
  return f;
}
inline Half to_half(float f) { return {float16(f).bits}; }
inline Bf16 to_bf16(float f) { return {bfloat16(f).bits}; }
template <class T> T* device_pointer(T* p) { return static_cast<T*>(cuda_host::inside(p)); }
#endif

/// Converts an element to the number type that kernels compute with: float for the half types, itself otherwise; bool as 0 or 1.
SINDRI_DEVICE float load(Half e) { return widen(e); }
SINDRI_DEVICE float load(Bf16 e) { return widen(e); }
SINDRI_DEVICE float load(float e) { return e; }
SINDRI_DEVICE double load(double e) { return e; }
SINDRI_DEVICE int32_t load(int32_t e) { return e; }
SINDRI_DEVICE int64_t load(int64_t e) { return e; }
SINDRI_DEVICE uint8_t load(uint8_t e) { return e; }
SINDRI_DEVICE uint8_t load(Bool e) { return e.bits; }
template <class E> using Number = decltype(load(E{}));
/// The wider type for long sums of E: float for half types and float, double, int64_t.
template <class E> struct SumOf { using type = int64_t; };
template <> struct SumOf<Half> { using type = float; };
template <> struct SumOf<Bf16> { using type = float; };
template <> struct SumOf<float> { using type = float; };
template <> struct SumOf<double> { using type = double; };
template <class E> using Sum = typename SumOf<E>::type;

/// Converts a number to an element, rounded to nearest even; integers and bool as by a C cast.
template <class E, class N> SINDRI_DEVICE E store_as(N n) {
  if constexpr (std::is_same_v<E, Half>) return to_half(static_cast<float>(n));
  else if constexpr (std::is_same_v<E, Bf16>) return to_bf16(static_cast<float>(n));
  else if constexpr (std::is_same_v<E, Bool>) return Bool{static_cast<uint8_t>(n != N(0) ? 1 : 0)};
  else return static_cast<E>(n);
}

template <class E> inline constexpr bool kIsFloating =
    std::is_same_v<E, Half> || std::is_same_v<E, Bf16> || std::is_same_v<E, float> || std::is_same_v<E, double>;

/// Host side: calls f.template operator()<E>() with the kernels' element type for `t`.
template <class F> decltype(auto) dispatch_element(DType t, F&& f) {
  switch (t) {
    case DType::kBool: return f.template operator()<Bool>();
    case DType::kUInt8: return f.template operator()<uint8_t>();
    case DType::kInt32: return f.template operator()<int32_t>();
    case DType::kInt64: return f.template operator()<int64_t>();
    case DType::kFloat16: return f.template operator()<Half>();
    case DType::kBFloat16: return f.template operator()<Bf16>();
    case DType::kFloat32: return f.template operator()<float>();
    default: return f.template operator()<double>();
  }
}
/// Like dispatch_element, for floating types only; does nothing for other types, which the op's infer function has already rejected.
template <class F> void dispatch_floating_element(DType t, F&& f) {
  switch (t) {
    case DType::kFloat16: return f.template operator()<Half>();
    case DType::kBFloat16: return f.template operator()<Bf16>();
    case DType::kFloat32: return f.template operator()<float>();
    case DType::kFloat64: return f.template operator()<double>();
    default: return;
  }
}
/// For kernels that only move elements: selects by size, as uint8_t … uint64_t.
template <class F> decltype(auto) dispatch_bytes(DType t, F&& f) {
  switch (dtype_size(t)) {
    case 1: return f.template operator()<uint8_t>();
    case 2: return f.template operator()<uint16_t>();
    case 4: return f.template operator()<uint32_t>();
    default: return f.template operator()<uint64_t>();
  }
}

/// Index of this thread in the whole one-dimensional grid; global_threads() is their number. For loops `for (int64_t i
/// = global_thread(); i < n; i += global_threads())`.
SINDRI_DEVICE int64_t global_thread() { return static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; }
SINDRI_DEVICE int64_t global_threads() { return static_cast<int64_t>(gridDim.x) * blockDim.x; }

}  // namespace sindri::cuda
