// double -> element type, as in the cast op, and the type in which kernels accumulate.
#pragma once

#include <type_traits>

#include "sindri/core/dtype.h"

namespace sindri::shape_ops {

template <class T> T from_double(double v) {
  if constexpr (std::is_same_v<T, bool>) return v != 0;
  else if constexpr (std::is_arithmetic_v<T>) return static_cast<T>(v);
  else return T(static_cast<float>(v));
}

/// Integers are summed modulo 2^64 and truncated to their width once; floats are summed in double and rounded once.
template <class T> using Accumulator = std::conditional_t<std::is_integral_v<T>, uint64_t, double>;
template <class T> T from_accumulator(Accumulator<T> v) {
  if constexpr (std::is_integral_v<T>) return static_cast<T>(v);
  else return from_double<T>(v);
}

}  // namespace sindri::shape_ops
