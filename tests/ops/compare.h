// Comparing tensors in tests.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "sindri/core/tensor.h"
#include "sindri/device/device.h"

namespace sindri::test {

struct Tolerance {
  double relative, absolute;
};
/// What a dtype allows against an exact result.
Tolerance tolerance_of(DType t);
/// Fails with the first and the worst element that differ by more than relative·|expected| + absolute. NaN equals NaN, Inf its like.
::testing::AssertionResult close(const Tensor& actual, const Tensor& expected, Tolerance tol);
/// A copy of a float64 tensor, where it lies, with `by` added to the i-th element in memory.
Tensor nudged(const Tensor& t, int64_t i, double by);
/// Calls f and waits for what it put on the current device: an error of that work is thrown here, as the CPU throws it within f.
template <class F> void finish(F&& f) {
  (void)f();
  synchronize(current_device());
}
/// Same shape, dtype and bits (in logical order; NaN payloads count).
::testing::AssertionResult same_bits(const Tensor& a, const Tensor& b);

}  // namespace sindri::test
