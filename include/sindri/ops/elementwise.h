// Elementwise ops. Binary ops broadcast like NumPy and promote types like promote_types; comparisons and logical ops
// return bool. Every op is differentiable wherever its derivative exists, and works in eager and in graph mode.
#pragma once

#include "sindri/core/tensor.h"
#include "sindri/export.h"

namespace sindri::ops {

// Unary ops. Floating-point ops compute integers in float32 and return float32.
SINDRI_API Tensor neg(const Tensor& x);  ///< Negation, -x.
SINDRI_API Tensor abs(const Tensor& x);  ///< Absolute value, |x|; gradient 0 at 0.
SINDRI_API Tensor sign(const Tensor& x);  ///< Sign of x: 1, 0 or -1; 0 for NaN.
SINDRI_API Tensor floor(const Tensor& x);  ///< Largest integer <= x.
SINDRI_API Tensor ceil(const Tensor& x);  ///< Smallest integer >= x.
SINDRI_API Tensor round(const Tensor& x);  ///< Nearest integer; halves round to even.
SINDRI_API Tensor exp(const Tensor& x);  ///< Exponential, e^x.
SINDRI_API Tensor expm1(const Tensor& x);  ///< e^x - 1, accurate near 0.
SINDRI_API Tensor log(const Tensor& x);  ///< Natural logarithm.
SINDRI_API Tensor log1p(const Tensor& x);  ///< log(1 + x), accurate near 0.
SINDRI_API Tensor sqrt(const Tensor& x);  ///< Square root; NaN below 0.
SINDRI_API Tensor rsqrt(const Tensor& x);  ///< Reciprocal square root, 1/sqrt(x).
SINDRI_API Tensor square(const Tensor& x);  ///< Square, x*x.
SINDRI_API Tensor reciprocal(const Tensor& x);  ///< Reciprocal, 1/x.
SINDRI_API Tensor sin(const Tensor& x);  ///< Sine of x in radians.
SINDRI_API Tensor cos(const Tensor& x);  ///< Cosine of x in radians.
SINDRI_API Tensor erf(const Tensor& x);  ///< Error function.
SINDRI_API Tensor tanh(const Tensor& x);  ///< Hyperbolic tangent.
SINDRI_API Tensor sigmoid(const Tensor& x);  ///< Logistic function, 1/(1 + e^-x).
SINDRI_API Tensor relu(const Tensor& x);  ///< max(x, 0); gradient 0 at 0.
SINDRI_API Tensor relu6(const Tensor& x);  ///< min(max(x, 0), 6).
SINDRI_API Tensor leaky_relu(const Tensor& x, double alpha = 0.2);  ///< x if x > 0, else alpha*x.
SINDRI_API Tensor elu(const Tensor& x, double alpha = 1.0);  ///< x if x > 0, else alpha*(e^x - 1).
/// Gaussian error linear unit. approximate: 0.5x(1 + tanh(sqrt(2/pi)(x + 0.044715x^3))) (MindSpore's default), else
/// 0.5x(1 + erf(x/sqrt 2)).
SINDRI_API Tensor gelu(const Tensor& x, bool approximate = true);
SINDRI_API Tensor silu(const Tensor& x);  ///< x*sigmoid(x).
SINDRI_API Tensor softplus(const Tensor& x);  ///< log(1 + e^x), without overflow.
SINDRI_API Tensor hswish(const Tensor& x);  ///< x*relu6(x + 3)/6.
SINDRI_API Tensor hsigmoid(const Tensor& x);  ///< relu6(x + 3)/6.
SINDRI_API Tensor logical_not(const Tensor& x);  ///< True where x is 0.
SINDRI_API Tensor isnan(const Tensor& x);  ///< True where x is NaN.
SINDRI_API Tensor isfinite(const Tensor& x);  ///< True where x is neither NaN nor infinite.

// Binary ops.
SINDRI_API Tensor add(const Tensor& a, const Tensor& b);  ///< Sum, a + b.
SINDRI_API Tensor sub(const Tensor& a, const Tensor& b);  ///< Difference, a - b.
SINDRI_API Tensor mul(const Tensor& a, const Tensor& b);  ///< Product, a*b.
SINDRI_API Tensor div(const Tensor& a, const Tensor& b);  ///< Quotient, a/b; integers give float32.
SINDRI_API Tensor floor_div(const Tensor& a, const Tensor& b);  ///< floor(a/b); 0 for integers divided by 0.
SINDRI_API Tensor mod(const Tensor& a, const Tensor& b);  ///< Remainder with the sign of the divisor, as in Python.
SINDRI_API Tensor pow(const Tensor& a, const Tensor& b);  ///< Power, a^b.
SINDRI_API Tensor maximum(const Tensor& a, const Tensor& b);  ///< Larger of a and b; NaN wins. A tie shares the gradient equally.
SINDRI_API Tensor minimum(const Tensor& a, const Tensor& b);  ///< Smaller of a and b; NaN wins. A tie shares the gradient equally.
SINDRI_API Tensor equal(const Tensor& a, const Tensor& b);  ///< a == b; comparisons with NaN follow IEEE 754.
SINDRI_API Tensor not_equal(const Tensor& a, const Tensor& b);  ///< a != b.
SINDRI_API Tensor less(const Tensor& a, const Tensor& b);  ///< a < b.
SINDRI_API Tensor less_equal(const Tensor& a, const Tensor& b);  ///< a <= b.
SINDRI_API Tensor greater(const Tensor& a, const Tensor& b);  ///< a > b.
SINDRI_API Tensor greater_equal(const Tensor& a, const Tensor& b);  ///< a >= b.
SINDRI_API Tensor logical_and(const Tensor& a, const Tensor& b);  ///< True where a and b are not 0.
SINDRI_API Tensor logical_or(const Tensor& a, const Tensor& b);  ///< True where a or b is not 0.
SINDRI_API Tensor logical_xor(const Tensor& a, const Tensor& b);  ///< True where exactly one of a and b is not 0.
SINDRI_API Tensor bitwise_and(const Tensor& a, const Tensor& b);  ///< a & b. Takes integers and bools, as the next four ops do.
SINDRI_API Tensor bitwise_or(const Tensor& a, const Tensor& b);  ///< a | b.
SINDRI_API Tensor bitwise_xor(const Tensor& a, const Tensor& b);  ///< a ^ b.
SINDRI_API Tensor bitwise_left_shift(const Tensor& a, const Tensor& b);  ///< a << b; 0 for b outside [0, 63].
SINDRI_API Tensor bitwise_right_shift(const Tensor& a, const Tensor& b);  ///< a >> b, keeping the sign.

/// Elements of a where cond (bool) is true, else of b; all three broadcast.
SINDRI_API Tensor where(const Tensor& cond, const Tensor& a, const Tensor& b);
/// min(max(x, lo), hi); gradient 1 inside and at the borders.
SINDRI_API Tensor clamp(const Tensor& x, double lo, double hi);
/// Converts the element type. Floats to integers truncate; to bool: != 0.
SINDRI_API Tensor cast(const Tensor& x, DType dtype);

/// Converts `value` to a scalar tensor, for an op that combines it with x. It has x's type, as in PyTorch; if x is an
/// integer tensor and `value` a fraction, it is float32. Throws ValueError if an integer type cannot hold the value.
SINDRI_API Tensor scalar_like(const Tensor& x, double value);
/// The ops above for a number b, which scalar_like converts.
inline Tensor add(const Tensor& a, double b) { return add(a, scalar_like(a, b)); }
inline Tensor sub(const Tensor& a, double b) { return sub(a, scalar_like(a, b)); }
inline Tensor mul(const Tensor& a, double b) { return mul(a, scalar_like(a, b)); }
inline Tensor div(const Tensor& a, double b) { return div(a, scalar_like(a, b)); }
inline Tensor pow(const Tensor& a, double b) { return pow(a, scalar_like(a, b)); }

}  // namespace sindri::ops

namespace sindri {
/// Operators of tensors, and of a tensor and a number (ops::scalar_like).
inline Tensor operator+(const Tensor& a, const Tensor& b) { return ops::add(a, b); }
inline Tensor operator-(const Tensor& a, const Tensor& b) { return ops::sub(a, b); }
inline Tensor operator*(const Tensor& a, const Tensor& b) { return ops::mul(a, b); }
inline Tensor operator/(const Tensor& a, const Tensor& b) { return ops::div(a, b); }
inline Tensor operator-(const Tensor& a) { return ops::neg(a); }
inline Tensor operator+(const Tensor& a, double b) { return ops::add(a, b); }
inline Tensor operator-(const Tensor& a, double b) { return ops::sub(a, b); }
inline Tensor operator*(const Tensor& a, double b) { return ops::mul(a, b); }
inline Tensor operator/(const Tensor& a, double b) { return ops::div(a, b); }
inline Tensor operator+(double a, const Tensor& b) { return ops::add(ops::scalar_like(b, a), b); }
inline Tensor operator-(double a, const Tensor& b) { return ops::sub(ops::scalar_like(b, a), b); }
inline Tensor operator*(double a, const Tensor& b) { return ops::mul(ops::scalar_like(b, a), b); }
inline Tensor operator/(double a, const Tensor& b) { return ops::div(ops::scalar_like(b, a), b); }
}  // namespace sindri
