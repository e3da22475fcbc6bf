// Comparing tensors in tests.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "sindri/core/tensor.h"

namespace sindri::test {

struct Tolerance {
  double relative, absolute;
};
/// quality.md section 7: what a dtype allows against an exact result.
Tolerance tolerance_of(DType t);
/// Fails with the first and the worst element that differ by more than relative·|expected| + absolute. NaN equals NaN, Inf its like.
::testing::AssertionResult close(const Tensor& actual, const Tensor& expected, Tolerance tol);
/// Same shape, dtype and bits (in logical order; NaN payloads count).
::testing::AssertionResult same_bits(const Tensor& a, const Tensor& b);

}  // namespace sindri::test
