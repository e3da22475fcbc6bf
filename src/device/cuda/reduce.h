// Reductions over the lanes of a warp and the threads of a block, in an order that depends only on how many there are:
// bitwise identical in every run. Used by *_cuda.cu files, on both platforms of language.h.
//
// `combine(a, b)` must be commutative (lanes exchange values crosswise) and associative up to rounding. All lanes of a
// warp, or all threads of a block, must take part.
#pragma once

#include <type_traits>

#include "src/device/cuda/language.h"

namespace sindri::cuda {

/// Exchanges a value between lanes: applies f to a number, or to each 32-bit word of a struct (whose size must be a multiple of 4).
template <class T, class F> SINDRI_DEVICE T exchange_words(const T& v, F&& f) {
  if constexpr (std::is_arithmetic_v<T>) {
    return static_cast<T>(f(v));
  } else {
    static_assert(std::is_trivially_copyable_v<T> && sizeof(T) % sizeof(uint32_t) == 0);
    uint32_t words[sizeof(T) / sizeof(uint32_t)];
    memcpy(words, &v, sizeof v);
    for (uint32_t& w : words) w = f(w);
    T other;
    memcpy(static_cast<void*>(&other), words, sizeof other);
    return other;
  }
}
/// Returns the value of the lane whose number differs by `bits` (xor).
template <class T> SINDRI_DEVICE T exchange_xor(const T& v, int bits) {
  return exchange_words(v, [bits](auto w) { return __shfl_xor_sync(0xffffffffu, w, bits); });
}
/// Returns the value of the lane whose number is lower by `by`; the lane's own value if there is none.
template <class T> SINDRI_DEVICE T exchange_up(const T& v, int by) {
  return exchange_words(v, [by](auto w) { return __shfl_up_sync(0xffffffffu, w, static_cast<unsigned>(by)); });
}

/// Returns, in every lane, the combination of the values of its group of `width` lanes (a power of two up to 32; the
/// same for all lanes of the warp).
template <class T, class Combine> SINDRI_DEVICE T warp_reduce(T v, Combine&& combine, int width = 32) {
  for (int bits = width / 2; bits > 0; bits /= 2) v = combine(v, exchange_xor(v, bits));
  return v;
}

/// Returns, in every thread, the combination of the values of a one-dimensional block of whole warps. `partial` is
/// shared memory of one T per warp (at most 32); it may be reused at once.
template <class T, class Shared, class Combine> SINDRI_DEVICE T block_reduce(T v, Shared&& partial, Combine&& combine) {
  v = warp_reduce(v, combine);
  const int warps = static_cast<int>(blockDim.x) / 32;
  if (warps == 1) return v;
  __syncthreads();  // others may still read the values of the previous call
  if (threadIdx.x % 32 == 0) partial[threadIdx.x / 32] = v;
  __syncthreads();
  T all = partial[0];
  for (int w = 1; w < warps; ++w) all = combine(all, static_cast<T>(partial[w]));
  return all;
}

// ----- combining functions -----

struct Add {
  template <class T> SINDRI_DEVICE T operator()(T a, T b) const {
    if constexpr (std::is_same_v<T, int64_t>) return static_cast<int64_t>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));  // wraps
    else return a + b;
  }
};
/// The larger (smaller) number; NaN if either is.
struct Larger {
  template <class T> SINDRI_DEVICE T operator()(T a, T b) const { return a != a || a > b ? a : b; }
};
struct Smaller {
  template <class T> SINDRI_DEVICE T operator()(T a, T b) const { return a != a || a < b ? a : b; }
};

/// A number and its index; index < 0 for none.
template <class T> struct Indexed {
  int64_t index;
  T value;
};
/// The first of the largest (smallest) values by index, or the first NaN.
template <bool kLargest> struct FirstOf {
  template <class T> SINDRI_DEVICE Indexed<T> operator()(const Indexed<T>& a, const Indexed<T>& b) const {
    if (a.index < 0) return b;
    if (b.index < 0) return a;
    const bool nan_a = a.value != a.value, nan_b = b.value != b.value;
    if (nan_a || nan_b) {
      if (nan_a != nan_b) return nan_a ? a : b;
    } else if (a.value != b.value) {
      return (kLargest ? a.value > b.value : a.value < b.value) ? a : b;
    }
    return a.index < b.index ? a : b;
  }
};

template <class T, class Shared> SINDRI_DEVICE T block_sum(T v, Shared&& partial) { return block_reduce(v, partial, Add()); }
template <class T> SINDRI_DEVICE T warp_sum(T v, int width = 32) { return warp_reduce(v, Add(), width); }
template <class T> SINDRI_DEVICE T warp_max(T v, int width = 32) { return warp_reduce(v, Larger(), width); }

}  // namespace sindri::cuda
