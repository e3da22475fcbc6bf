// double -> element type, as the cast op does, and the type kernels accumulate in.
#pragma once

#include <type_traits>

#include "sindri/core/dtype.h"

namespace sindri::shape_ops {

template <class T> T from_double(double v) {
  if constexpr (std::is_same_v<T, bool>) return v != 0;
  else if constexpr (std::is_arithmetic_v<T>) return static_cast<T>(v);
  else return T(static_cast<float>(v));
}

/// Integers add up modulo 2^64 and are cut to their width once; floats add up in double and are rounded once.
template <class T> using Accumulator = std::conditional_t<std::is_integral_v<T>, uint64_t, double>;
template <class T> T from_accumulator(Accumulator<T> v) {
  if constexpr (std::is_integral_v<T>) return static_cast<T>(v);
  else return from_double<T>(v);
}

}  // namespace sindri::shape_ops
