// Powers and roots for norms.
#pragma once

#include "sindri/core/tensor.h"
#include "sindri/export.h"

namespace sindri::ops {

/// x^exponent, but 0 with gradient 0 where x is 0: the chained derivatives of a norm would be infinity times 0 there.
/// NaN stays NaN; integers give float32.
SINDRI_API Tensor power_or_zero(const Tensor& x, double exponent);

}  // namespace sindri::ops
