// Scalar arithmetic of the reference kernels: floats in double, integers in 64-bit two's complement that wraps.
#pragma once

#include <cmath>
#include <cstdint>
#include <type_traits>

#include "sindri/core/dtype.h"

namespace sindri::reference {

/// Truncates; NaN gives 0, values out of range the nearest int64.
inline int64_t to_int64(double v) {
  if (v != v) return 0;
  if (v >= 0x1p63) return INT64_MAX;
  if (v < -0x1p63) return INT64_MIN;
  return static_cast<int64_t>(v);
}

/// Integer whose overflow wraps instead of being undefined.
struct Int {
  int64_t v = 0;
  Int() = default;
  explicit Int(double d) : v(to_int64(d)) {}
  template <class I> requires std::is_integral_v<I> explicit Int(I i) : v(static_cast<int64_t>(i)) {}
  static Int wrap(uint64_t u) { return Int(static_cast<int64_t>(u)); }
  uint64_t u() const { return static_cast<uint64_t>(v); }
  friend Int operator+(Int a, Int b) { return wrap(a.u() + b.u()); }
  friend Int operator-(Int a, Int b) { return wrap(a.u() - b.u()); }
  friend Int operator*(Int a, Int b) { return wrap(a.u() * b.u()); }
  friend Int operator-(Int a) { return wrap(0 - a.u()); }
  friend bool operator==(Int a, Int b) { return a.v == b.v; }
  friend bool operator!=(Int a, Int b) { return a.v != b.v; }
  friend bool operator<(Int a, Int b) { return a.v < b.v; }
  friend bool operator<=(Int a, Int b) { return a.v <= b.v; }
  friend bool operator>(Int a, Int b) { return a.v > b.v; }
  friend bool operator>=(Int a, Int b) { return a.v >= b.v; }
};

using std::abs, std::ceil, std::cos, std::erf, std::exp, std::expm1, std::floor, std::log, std::log1p, std::pow, std::rint, std::sin, std::sqrt, std::tanh;
inline Int abs(Int x) { return x.v < 0 ? -x : x; }
inline Int floor(Int x) { return x; }
inline Int ceil(Int x) { return x; }
inline Int rint(Int x) { return x; }

/// Floored quotient and remainder. Division by zero gives 0, the most negative number over -1 wraps to itself.
inline Int floor_div(Int a, Int b) {
  if (b.v == 0) return Int(0);
  if (b.v == -1) return -a;
  const int64_t q = a.v / b.v;
  return Int(q - (a.v % b.v != 0 && (a.v < 0) != (b.v < 0)));
}
inline Int mod(Int a, Int b) {
  if (b.v == 0 || b.v == -1) return Int(0);
  const int64_t r = a.v % b.v;
  return Int(r != 0 && (r < 0) != (b.v < 0) ? r + b.v : r);
}
inline Int pow(Int a, Int b) {
  if (b.v < 0) return a.v == 1 ? a : a.v == -1 ? Int(b.v % 2 != 0 ? -1 : 1) : Int(0);
  Int r(1);
  for (uint64_t e = b.u(); e != 0; e >>= 1, a = a * a) {
    if ((e & 1) != 0) r = r * a;
  }
  return r;
}

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
inline double silu_slope(double x) { const double s = sigmoid(x); return s * (1 + x * (1 - s)); }

inline constexpr double kSqrt2OverPi = 0.79788456080286536, kGeluCubic = 0.044715, kSqrtHalf = 0.70710678118654752, kInvSqrt2Pi = 0.39894228040143268;
inline double gelu_tanh(double x) { return 0.5 * x * (1 + std::tanh(kSqrt2OverPi * (x + kGeluCubic * x * x * x))); }
inline double gelu_erf(double x) { return 0.5 * x * (1 + std::erf(x * kSqrtHalf)); }
inline double gelu_tanh_slope(double x) {
  const double t = std::tanh(kSqrt2OverPi * (x + kGeluCubic * x * x * x));
  return 0.5 * (1 + t) + 0.5 * x * (1 - t * t) * kSqrt2OverPi * (1 + 3 * kGeluCubic * x * x);
}
inline double gelu_erf_slope(double x) { return 0.5 * (1 + std::erf(x * kSqrtHalf)) + x * kInvSqrt2Pi * std::exp(-0.5 * x * x); }

/// The type an element is computed in.
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
    else return static_cast<E>(to_int64(static_cast<double>(c)));
  } else if constexpr (std::is_same_v<E, float16> || std::is_same_v<E, bfloat16>) {
    if constexpr (std::is_same_v<C, Int>) return E(static_cast<float>(c.v));
    else return E(static_cast<float>(c));
  } else {
    if constexpr (std::is_same_v<C, Int>) return static_cast<E>(c.v);
    else return static_cast<E>(c);
  }
}

}  // namespace sindri::reference
