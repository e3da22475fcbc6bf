// The parts of nvcc that src/device/cuda/language.h uses, for the host compiler: threads of a grid are fibers (fibers.h), a block runs on one host thread.
#pragma once

#include <cuda_runtime_api.h>

#include <atomic>
#include <bit>
#include <cfloat>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <functional>
#include <limits>
#include <type_traits>

#include "cuda_host/fibers.h"
#include "cuda_host/shared_memory.h"

#define SINDRI_DEVICE inline
#define SINDRI_UNROLL
#define SINDRI_SHARED(type, name, count) \
  static thread_local ::sindri::cuda_host::SharedArray<type> name##_array{#name, count}; \
  const ::sindri::cuda_host::SharedView<type> name = name##_array.enter()
#define SINDRI_DYNAMIC_SHARED(type, name) \
  static thread_local ::sindri::cuda_host::SharedArray<type> name##_array{#name}; \
  const ::sindri::cuda_host::SharedView<type> name = name##_array.enter()

#ifndef __launch_bounds__
#define __launch_bounds__(...)
#endif

#define threadIdx (::sindri::cuda_host::here().thread)
#define blockIdx (::sindri::cuda_host::here().block)
#define blockDim (::sindri::cuda_host::here().block_dim)
#define gridDim (::sindri::cuda_host::here().grid_dim)

namespace sindri::cuda {

using cuda_host::SharedView;
using std::abs, std::cbrt, std::ceil, std::copysign, std::cos, std::cosh, std::erf, std::erfc, std::exp, std::exp2, std::expm1, std::floor, std::fma, std::fmod,
    std::isfinite, std::isinf, std::isnan, std::ldexp, std::lgamma, std::log, std::log1p, std::log2, std::max, std::min, std::pow, std::rint, std::sin,
    std::sinh, std::sqrt, std::tan, std::tanh, std::trunc;

inline constexpr int warpSize = 32;
inline void __syncthreads() { cuda_host::barrier(); }
inline void sync_grid() { cuda_host::grid_barrier(); }
inline void __syncwarp(unsigned mask = 0xffffffffu) { (void)cuda_host::exchange(mask, "__syncwarp", 0); }
inline void __threadfence() {}
inline void __threadfence_block() {}
inline void __threadfence_system() { std::atomic_thread_fence(std::memory_order_seq_cst); }

/// Converts a value of 1 to 8 bytes to bits, and back.
template <class T> uint64_t to_bits(T v) {
  static_assert(std::is_trivially_copyable_v<T> && sizeof(T) <= 8);
  uint64_t b = 0;
  std::memcpy(&b, &v, sizeof v);
  return b;
}
template <class T> T from_bits(uint64_t b) {
  T v;
  std::memcpy(&v, &b, sizeof v);
  return v;
}

/// The value of `lane`; poison (all bits set) for lanes that do not participate.
template <class T> T value_of_lane(const cuda_host::Exchanged& e, int lane) { return from_bits<T>(e.of(lane)); }
template <class T> T __shfl_sync(unsigned mask, T v, int from, int width = 32) {
  const int lane = cuda_host::lane();
  return value_of_lane<T>(cuda_host::exchange(mask, "__shfl_sync", to_bits(v)), lane / width * width + from % width);
}
template <class T> T __shfl_xor_sync(unsigned mask, T v, int bits, int width = 32) {
  const int lane = cuda_host::lane(), from = lane ^ bits;
  const cuda_host::Exchanged e = cuda_host::exchange(mask, "__shfl_xor_sync", to_bits(v));
  return from / width == lane / width ? value_of_lane<T>(e, from) : v;
}
template <class T> T __shfl_down_sync(unsigned mask, T v, unsigned by, int width = 32) {
  const int lane = cuda_host::lane(), from = lane + static_cast<int>(by);
  const cuda_host::Exchanged e = cuda_host::exchange(mask, "__shfl_down_sync", to_bits(v));
  return from / width == lane / width ? value_of_lane<T>(e, from) : v;
}
template <class T> T __shfl_up_sync(unsigned mask, T v, unsigned by, int width = 32) {
  const int lane = cuda_host::lane(), from = lane - static_cast<int>(by);
  const cuda_host::Exchanged e = cuda_host::exchange(mask, "__shfl_up_sync", to_bits(v));
  return from >= 0 && from / width == lane / width ? value_of_lane<T>(e, from) : v;
}
inline unsigned __ballot_sync(unsigned mask, int predicate) { return cuda_host::exchange(mask, "__ballot_sync", predicate != 0).ballot(); }
inline int __any_sync(unsigned mask, int predicate) { return cuda_host::exchange(mask, "__any_sync", predicate != 0).ballot() != 0; }
inline int __all_sync(unsigned mask, int predicate) {
  const cuda_host::Exchanged e = cuda_host::exchange(mask, "__all_sync", predicate != 0);
  return e.ballot() == e.present();
}
inline int __popc(unsigned v) { return std::popcount(v); }
inline int __popcll(unsigned long long v) { return std::popcount(v); }
inline int __ffs(int v) { return v == 0 ? 0 : std::countr_zero(static_cast<unsigned>(v)) + 1; }
inline int __clz(int v) { return std::countl_zero(static_cast<unsigned>(v)); }
inline unsigned __umulhi(unsigned a, unsigned b) { return static_cast<unsigned>((static_cast<uint64_t>(a) * b) >> 32); }
inline uint64_t __umul64hi(uint64_t a, uint64_t b) { return static_cast<uint64_t>((static_cast<unsigned __int128>(a) * b) >> 64); }
template <class T> T __ldg(const T* p) { return *p; }
inline float __uint_as_float(uint32_t b) { return std::bit_cast<float>(b); }
inline uint32_t __float_as_uint(float f) { return std::bit_cast<uint32_t>(f); }
inline int __float_as_int(float f) { return std::bit_cast<int>(f); }
inline float __int_as_float(int b) { return std::bit_cast<float>(b); }
inline double __longlong_as_double(long long b) { return std::bit_cast<double>(b); }
inline long long __double_as_longlong(double d) { return std::bit_cast<long long>(d); }
inline float rsqrtf(float x) { return 1.0f / std::sqrt(x); }
inline float rsqrt(float x) { return 1.0f / std::sqrt(x); }
inline double rsqrt(double x) { return 1.0 / std::sqrt(x); }
inline float __fdividef(float a, float b) { return a / b; }
inline float __fmul_rn(float a, float b) { return a * b; }
inline float __fadd_rn(float a, float b) { return a + b; }
inline double __dmul_rn(double a, double b) { return a * b; }
inline double __dadd_rn(double a, double b) { return a + b; }

// Atomics on global memory: blocks of other streams may run at the same time.
template <class T> T atomicAdd(T* p, T v) {
  std::atomic_ref<T> a(*p);
  T old = a.load();
  while (!a.compare_exchange_weak(old, static_cast<T>(old + v))) {}
  return old;
}
template <class T> T atomicMax(T* p, T v) {
  std::atomic_ref<T> a(*p);
  T old = a.load();
  while (old < v && !a.compare_exchange_weak(old, v)) {}
  return old;
}
template <class T> T atomicMin(T* p, T v) {
  std::atomic_ref<T> a(*p);
  T old = a.load();
  while (v < old && !a.compare_exchange_weak(old, v)) {}
  return old;
}
template <class T> T atomicOr(T* p, T v) { return std::atomic_ref<T>(*p).fetch_or(v); }
template <class T> T atomicAnd(T* p, T v) { return std::atomic_ref<T>(*p).fetch_and(v); }
template <class T> T atomicExch(T* p, T v) { return std::atomic_ref<T>(*p).exchange(v); }
template <class T> T atomicCAS(T* p, T expected, T v) {
  std::atomic_ref<T>(*p).compare_exchange_strong(expected, v);
  return expected;
}
// On shared memory: atomics do not race with each other.
template <class T> T atomicAdd(SharedView<T> p, T v) {
  return p.atomic([v](T old) { return static_cast<T>(old + v); });
}
template <class T> T atomicMax(SharedView<T> p, T v) {
  return p.atomic([v](T old) { return old < v ? v : old; });
}
template <class T> T atomicMin(SharedView<T> p, T v) {
  return p.atomic([v](T old) { return v < old ? v : old; });
}
template <class T> T atomicOr(SharedView<T> p, T v) {
  return p.atomic([v](T old) { return static_cast<T>(old | v); });
}

}  // namespace sindri::cuda
