// Element arithmetic of the reduce kernels: floats widen to double, integers to int64; integer sums wrap at 64 bits.
#pragma once

#include <cstdint>
#include <type_traits>

#include "sindri/core/dtype.h"

namespace sindri::reduce {

template <class E> auto widen(E v) {
  if constexpr (std::is_integral_v<E>) return static_cast<int64_t>(v);
  else if constexpr (sizeof(E) == 2) return static_cast<double>(static_cast<float>(v));
  else return static_cast<double>(v);
}
template <class E, class W> E narrow(W v) {
  if constexpr (std::is_integral_v<E>) return static_cast<E>(v);
  else if constexpr (sizeof(E) == 2) return E(static_cast<float>(v));
  else return static_cast<E>(v);
}

/// Result of summing or multiplying elements E, and the type it is accumulated in.
template <class E> using SumType = std::conditional_t<std::is_same_v<E, bool> || std::is_same_v<E, uint8_t>, int64_t, E>;
template <class E> using Accumulator = std::conditional_t<std::is_integral_v<E>, uint64_t, double>;

/// Whether a replaces b as the extremum found so far: larger (smaller), or the first NaN.
template <bool kMax, class W> bool ranks_before(W a, W b) {
  if (b != b) return false;
  return a != a || (kMax ? a > b : a < b);
}

/// For ops of floating input: calls f.template operator()<E>() for the element type.
template <class F> void dispatch_floating(DType t, F&& f) {
  dispatch_dtype(t, [&]<class E>() {
    if constexpr (!std::is_integral_v<E>) f.template operator()<E>();
  });
}

}  // namespace sindri::reduce
