// See bfloat16_rate.h.
#include "src/device/cpu/bfloat16_rate.h"

#include <immintrin.h>

#include <algorithm>
#include <chrono>
#include <cstdint>

#include "sindri/core/context.h"

namespace sindri {

namespace {

constexpr int64_t kRounds = 2000;  // about 10 us: shorter than a time slice, long compared with the clock's resolution
constexpr int kTries = 20;

// 16 independent sums hide the latency of either instruction. The empty assembly keeps the compiler from folding the iterations.
__attribute__((target("avx512f,avx512bf16"))) void dot_products() {
  __m512 sums[16];
  for (__m512& s : sums) s = _mm512_setzero_ps();
  __m512i bits = _mm512_set1_epi32(0x3f803f80);
  for (int64_t i = 0; i < kRounds; ++i) {
    asm volatile("" : "+v"(bits));
    const __m512bh x = reinterpret_cast<__m512bh>(bits);
#pragma GCC unroll 16
    for (__m512& s : sums) s = _mm512_dpbf16_ps(s, x, x);
  }
  for (__m512& s : sums) asm volatile("" : "+v"(s));
}

// Twice the iterations: two multiply-adds do the work of one dot product.
__attribute__((target("avx512f"))) void multiply_adds() {
  __m512 sums[16];
  for (__m512& s : sums) s = _mm512_setzero_ps();
  __m512 x = _mm512_set1_ps(1.0f);
  for (int64_t i = 0; i < 2 * kRounds; ++i) {
    asm volatile("" : "+v"(x));
#pragma GCC unroll 16
    for (__m512& s : sums) s = _mm512_fmadd_ps(x, x, s);
  }
  for (__m512& s : sums) asm volatile("" : "+v"(s));
}

double seconds(void (*f)()) {
  const auto start = std::chrono::steady_clock::now();
  f();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

// Compares minimum times of alternating runs. On any processor one of the two is faster by a factor of two or more, so a busy
// machine does not change the result.
bool measure() {
  double dot = 1e30, multiply = 1e30;
  for (int i = 0; i < kTries; ++i) {
    dot = std::min(dot, seconds(dot_products));
    multiply = std::min(multiply, seconds(multiply_adds));
  }
  return dot > 1.2 * multiply;
}

}  // namespace

bool bfloat16_slower_than_float32() {
  if (cpu_isa() != CpuIsa::kAvx512Bf16) return false;
  static const bool slower = measure();
  return slower;
}

}  // namespace sindri
