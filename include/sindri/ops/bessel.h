// Bessel functions of order 0 and 1, elementwise. Values and gradients are computed in float64, whatever the type of x;
// integers give float32.
#pragma once

#include "sindri/core/tensor.h"
#include "sindri/export.h"

namespace sindri::ops {

SINDRI_API Tensor bessel_j0(const Tensor& x);  ///< Bessel function of the first kind, order 0.
SINDRI_API Tensor bessel_j1(const Tensor& x);  ///< Bessel function of the first kind, order 1.
SINDRI_API Tensor bessel_y0(const Tensor& x);  ///< Bessel function of the second kind, order 0; -inf for x <= 0.
SINDRI_API Tensor bessel_y1(const Tensor& x);  ///< Bessel function of the second kind, order 1; -inf for x <= 0.
SINDRI_API Tensor bessel_i0(const Tensor& x);  ///< Modified Bessel function of the first kind, order 0.
SINDRI_API Tensor bessel_i0e(const Tensor& x);  ///< e^-|x| bessel_i0(x), without overflow.
SINDRI_API Tensor bessel_i1(const Tensor& x);  ///< Modified Bessel function of the first kind, order 1.
SINDRI_API Tensor bessel_i1e(const Tensor& x);  ///< e^-|x| bessel_i1(x), without overflow.
SINDRI_API Tensor bessel_k0(const Tensor& x);  ///< Modified Bessel function of the second kind, order 0; inf for x <= 0.
SINDRI_API Tensor bessel_k0e(const Tensor& x);  ///< e^x bessel_k0(x), without underflow.
SINDRI_API Tensor bessel_k1(const Tensor& x);  ///< Modified Bessel function of the second kind, order 1; inf for x <= 0.
SINDRI_API Tensor bessel_k1e(const Tensor& x);  ///< e^x bessel_k1(x), without underflow.

}  // namespace sindri::ops
