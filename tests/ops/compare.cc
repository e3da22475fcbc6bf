// See compare.h.
#include "tests/ops/compare.h"

#include <fmt/format.h>

#include <cmath>
#include <cstring>

namespace sindri::test {

Tolerance tolerance_of(DType t) {
  switch (t) {
    case DType::kFloat64: return {1e-10, 1e-12};
    case DType::kFloat32: return {1.3e-6, 1e-5};
    case DType::kBFloat16: return {1.6e-2, 1e-3};
    case DType::kFloat16: return {1e-3, 1e-3};
    default: return {0, 0};
  }
}

::testing::AssertionResult close(const Tensor& actual, const Tensor& expected, Tolerance tol) {
  if (actual.shape() != expected.shape()) return ::testing::AssertionFailure() << "shape " << actual.shape().str() << ", expected " << expected.shape().str();
  const std::vector<double> a = actual.to_vector<double>(), e = expected.to_vector<double>();
  double worst = 0;
  size_t at = 0, bad = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    if (std::isnan(a[i]) && std::isnan(e[i])) continue;
    if (a[i] == e[i]) continue;
    const double excess = std::abs(a[i] - e[i]) / (tol.relative * std::abs(e[i]) + tol.absolute + 1e-300);
    if (excess <= 1) continue;
    ++bad;
    if (!(excess <= worst)) {
      worst = excess;
      at = i;
    }
  }
  if (bad == 0) return ::testing::AssertionSuccess();
  return ::testing::AssertionFailure() << fmt::format("{} of {} elements of {} differ; worst at {}: {} expected {} ({}x the tolerance)", bad, a.size(),
                                                      actual.meta().str(), at, a[at], e[at], worst);
}

Tensor nudged(const Tensor& t, int64_t i, double by) {
  Tensor moved = t.device().is_cpu() ? t.clone() : t.to({});
  moved.mutable_data<double>()[i] += by;
  return moved.to(t.device());
}

::testing::AssertionResult same_bits(const Tensor& a, const Tensor& b) {
  if (a.shape() != b.shape() || a.dtype() != b.dtype()) return ::testing::AssertionFailure() << a.meta().str() << " against " << b.meta().str();
  const Tensor x = a.to({}).contiguous(), y = b.to({}).contiguous();
  const size_t size = dtype_size(a.dtype());
  const char *p = static_cast<const char*>(x.raw_data()), *q = static_cast<const char*>(y.raw_data());
  for (size_t i = 0, n = static_cast<size_t>(a.numel()); i < n; ++i) {
    if (std::memcmp(p + i * size, q + i * size, size) == 0) continue;
    return ::testing::AssertionFailure() << fmt::format("element {} of {}: {} against {}", i, a.meta().str(), x.to_vector<double>()[i],
                                                        y.to_vector<double>()[i]);
  }
  return ::testing::AssertionSuccess();
}

}  // namespace sindri::test
