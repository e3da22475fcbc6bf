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
/// The tolerance of a dtype against an exact result.
Tolerance tolerance_of(DType t);
/// Fails with the first and the worst element that differ by more than relative·|expected| + absolute. NaN equals NaN; Inf equals Inf of the same sign.
::testing::AssertionResult close(const Tensor& actual, const Tensor& expected, Tolerance tol);
/// A copy of a float64 tensor, on its device, with `by` added to the i-th element in memory.
Tensor nudged(const Tensor& t, int64_t i, double by);
/// Calls f and waits for the work it submitted to the current device: that work's errors are thrown here, as the CPU throws them within f.
template <class F> void finish(F&& f) {
  (void)f();
  synchronize(current_device());
}
/// Same shape, dtype and bits (in logical order; NaN payloads count).
::testing::AssertionResult same_bits(const Tensor& a, const Tensor& b);

}  // namespace sindri::test
