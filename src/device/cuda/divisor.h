// Division by a number that is known before the kernel starts.
#pragma once

#include <bit>
#include <cstdint>

#include "src/device/cuda/language.h"

namespace sindri::cuda {

/// Computes quotients of numbers from 0 to a bound by `value`: for bounds below 2^31, by one multiplication instead of
/// about twenty instructions (Granlund and Montgomery 1994, "Division by invariant integers using multiplication");
/// otherwise by 64-bit division.
struct Divisor {
  int64_t value = 1;
  uint32_t multiplier = 0;
  int shift = -1;  // negative: divide

  Divisor() = default;
  /// `divisor` >= 1 (0 counts as 1: an empty tensor is never traversed); dividends are below `bound`.
  Divisor(int64_t divisor, int64_t bound) : value(divisor > 0 ? divisor : 1) {
    if (bound > INT32_MAX || value > INT32_MAX) return;
    // ceil(2^(32 + shift) / value) - 2^32 with 2^shift >= value: quotient = (mulhi(n, m) + n) >> shift, exact for n < 2^31.
    shift = std::bit_width(static_cast<uint64_t>(value) - 1);
    multiplier = static_cast<uint32_t>(((uint64_t{1} << 32) * ((uint64_t{1} << shift) - static_cast<uint64_t>(value))) / static_cast<uint64_t>(value) + 1);
  }
#ifdef __CUDACC__
  __device__ __forceinline__
#endif
      int64_t
      quotient(int64_t n) const {
    if (shift < 0) return n / value;
    const auto low = static_cast<uint32_t>(n);
    return static_cast<int64_t>((static_cast<uint64_t>(__umulhi(low, multiplier)) + low) >> shift);
  }
};

}  // namespace sindri::cuda
