// Scalar arithmetic of the reference kernels: floats in double, integers in 64-bit two's complement that wraps.
#pragma once

#include <cmath>
#include <cstdint>
#include <type_traits>

#include "ops/elementwise/wrapping_int.h"
#include "sindri/core/dtype.h"

namespace sindri::reference {

struct ReferenceTag;
using Int = elementwise::WrappingInt<ReferenceTag>;

using std::abs, std::ceil, std::cos, std::erf, std::exp, std::expm1, std::floor, std::log, std::log1p, std::pow, std::rint, std::sin, std::sqrt, std::tanh;

/// Python's float % and //: the remainder has the sign of b, and a == b * floor_div(a, b) + mod(a, b) up to rounding.
inline double mod(double a, double b) {
  const double r = std::fmod(a, b);
  return r != 0 && (r < 0) != (b < 0) ? r + b : r;
}
inline double floor_div(double a, double b) {
  if (b == 0) return a / b;
  double r = std::fmod(a, b), q = (a - r) / b;
  if (r != 0 && (r < 0) != (b < 0)) q -= 1;
  if (q == 0) return std::copysign(0.0, a / b);
  const double f = std::floor(q);
  return q - f > 0.5 ? f + 1 : f;
}

inline double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }
inline double hsigmoid(double x) { return x <= -3 ? 0.0 : x >= 3 ? 1.0 : (x + 3) / 6; }
inline double silu_slope(double x) {
  const double s = sigmoid(x);
  return s * (1 + x * (1 - s));
}

inline constexpr double kSqrt2OverPi = 0.79788456080286536, kGeluCubic = 0.044715, kSqrtHalf = 0.70710678118654752, kInvSqrt2Pi = 0.39894228040143268;
inline double gelu_tanh(double x) { return 0.5 * x * (1 + std::tanh(kSqrt2OverPi * (x + kGeluCubic * x * x * x))); }
inline double gelu_erf(double x) { return 0.5 * x * (1 + std::erf(x * kSqrtHalf)); }
inline double gelu_tanh_slope(double x) {
  const double t = std::tanh(kSqrt2OverPi * (x + kGeluCubic * x * x * x));
  return 0.5 * (1 + t) + 0.5 * x * (1 - t * t) * kSqrt2OverPi * (1 + 3 * kGeluCubic * x * x);
}
inline double gelu_erf_slope(double x) { return 0.5 * (1 + std::erf(x * kSqrtHalf)) + x * kInvSqrt2Pi * std::exp(-0.5 * x * x); }

/// The type in which an element is computed.
template <class E> using Compute = std::conditional_t<std::is_same_v<E, bool> || std::is_integral_v<E>, Int, double>;
template <class E> Compute<E> load(E e) {
  if constexpr (std::is_same_v<Compute<E>, Int>) return Int(e);
  else return static_cast<double>(e);
}
template <class E, class C> E store(C c) {
  if constexpr (std::is_same_v<E, bool>) {
    if constexpr (std::is_same_v<C, Int>) return c.v != 0;
    else return c != 0;
  } else if constexpr (std::is_integral_v<E>) {
    if constexpr (std::is_same_v<C, Int>) return static_cast<E>(c.v);
    else return elementwise::truncated<ReferenceTag, E>(static_cast<double>(c));
  } else if constexpr (std::is_same_v<E, float16> || std::is_same_v<E, bfloat16>) {
    if constexpr (std::is_same_v<C, Int>) return E(static_cast<float>(c.v));
    else return E(static_cast<float>(c));
  } else {
    if constexpr (std::is_same_v<C, Int>) return static_cast<E>(c.v);
    else return static_cast<E>(c);
  }
}

}  // namespace sindri::reference
