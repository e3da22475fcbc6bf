// Linear algebra beyond the common suite: identities the results must satisfy, gradients for symmetric inputs, failures.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "sindri/autograd/grad.h"
#include "sindri/core/context.h"
#include "sindri/core/error.h"
#include "sindri/op/kernel.h"
#include "sindri/ops/elementwise.h"
#include "sindri/ops/linalg.h"
#include "sindri/ops/matmul.h"
#include "sindri/ops/reduce.h"
#include "sindri/ops/shape.h"
#include "tests/ops/compare.h"
#include "tests/ops/samples.h"

namespace sindri::test {
namespace {

using ::testing::HasSubstr;

Tensor uniform(const std::string& name, Shape shape, double lo = -2, double hi = 2) {
  std::vector<double> v(static_cast<size_t>(shape.numel()));
  const UnitValues u(name, 0);
  for (size_t i = 0; i < v.size(); ++i) v[i] = lo + (hi - lo) * u(i);
  return Tensor::from_values(shape, v, DType::kFloat64);
}
Tensor swapped(const Tensor& x) {
  std::vector<int64_t> perm;
  for (int d = 0; d < x.rank(); ++d) perm.push_back(d);
  std::swap(perm[perm.size() - 1], perm[perm.size() - 2]);
  return ops::transpose(x, perm);
}
// Distinct eigenvalues 1, 2, …, n plus a small symmetric part.
Tensor separated(const std::string& name, int64_t n) {
  const Tensor r = uniform(name, {n, n}, -0.3, 0.3);
  std::vector<double> v = ops::add(r, swapped(r)).to_vector<double>();
  for (int64_t i = 0; i < n; ++i) v[static_cast<size_t>(i * n + i)] += 2.0 * static_cast<double>(i + 1);
  return Tensor::from_values({n, n}, v, DType::kFloat64);
}
std::string message_of(const std::function<void()>& f) {
  try {
    finish(f);
  } catch (const ValueError& e) { return e.what(); }
  return "no ValueError";
}

using Function = std::function<TensorList(const Tensor&)>;

double weighted(const Function& f, const Tensor& a) {
  const TensorList out = f(a);
  double total = 0;
  for (size_t o = 0; o < out.size(); ++o) {
    const std::vector<double> v = out[o].to_vector<double>();
    const UnitValues u("weights", static_cast<int>(o));
    for (size_t i = 0; i < v.size(); ++i) total += v[i] * (2 * u(i) - 1);
  }
  return total;
}

// Perturbs a_ij and a_ji together; for a symmetric gradient that changes the result by g_ij + g_ji (once on the diagonal).
void check_symmetric_gradient(const Function& f, const Tensor& a) {
  const int64_t n = a.dim(0);
  Tape tape;
  TensorList out, seeds;
  {
    const TraceScope scope(tape);
    out = f(a);
  }
  for (size_t o = 0; o < out.size(); ++o) {
    std::vector<double> w(static_cast<size_t>(out[o].numel()));
    const UnitValues u("weights", static_cast<int>(o));
    for (size_t i = 0; i < w.size(); ++i) w[i] = 2 * u(i) - 1;
    seeds.push_back(Tensor::from_values(out[o].shape(), w, DType::kFloat64));
  }
  const std::vector<double> g = tape.backward(out, seeds, {&a, 1}, {}).of_inputs[0].to_vector<double>();
  const double step = 1e-6;
  for (int64_t i = 0; i < n; ++i)
    for (int64_t j = 0; j <= i; ++j) {
      const auto moved = [&](double by) {
        const Tensor t = nudged(a, i * n + j, by);
        return weighted(f, i != j ? nudged(t, j * n + i, by) : t);
      };
      const double numeric = (moved(step) - moved(-step)) / (2 * step);
      const double lower = g[static_cast<size_t>(i * n + j)], upper = g[static_cast<size_t>(j * n + i)];
      EXPECT_NEAR(lower, upper, 1e-12 + 1e-12 * std::abs(lower)) << "the gradient must be symmetric";
      EXPECT_NEAR(i == j ? lower : lower + upper, numeric, 1e-7 + 1e-5 * std::abs(numeric)) << i << ", " << j;
    }
}

TEST(Cholesky, GradientForSymmetricInput) {
  for (int64_t n : {1, 2, 5}) check_symmetric_gradient([](const Tensor& a) { return TensorList{ops::cholesky(a)}; }, separated("cholesky", n));
}
TEST(Cholesky, FactorsAndIgnoresTheUpperTriangle) {
  const Tensor a = separated("factors", 9);
  const Tensor l = ops::cholesky(a);
  EXPECT_TRUE(close(ops::batch_matmul(l, l, false, true), a, {1e-12, 1e-12}));
  const Tensor spoiled = nudged(a, 1, 99);  // row 0, column 1
  for (const char* kernel : {"eigen", "reference"}) {
    const ForceKernel force(kernel);
    EXPECT_TRUE(close(ops::cholesky(spoiled), l, {1e-12, 1e-12})) << kernel;
  }
}
TEST(Cholesky, NamesBatchIndexAndPivot) {
  const Tensor a = Tensor::from_vector<float>({2, 2, 2}, {1, 0, 0, 1, 4, 2, 2, 1});  // the second: pivots 4, 0
  for (const char* kernel : {"eigen", "reference"}) {
    const ForceKernel force(kernel);
    const std::string m = message_of([&] { ops::cholesky(a); });
    EXPECT_THAT(m, HasSubstr("matrix [1] of f32[2, 2, 2] is not positive definite: pivot 1")) << kernel;
  }
  const Tensor nan = Tensor::full({1, 1}, std::numeric_limits<double>::quiet_NaN());
  EXPECT_THAT(message_of([&] { ops::cholesky(nan); }), HasSubstr("pivot 0"));
}

TEST(Inverse, SingularMatrixIsNamed) {
  const Tensor a = Tensor::from_vector<double>({2, 2}, {1, 2, 2, 4});
  for (const char* kernel : {"eigen", "reference"}) {
    const ForceKernel force(kernel);
    EXPECT_THAT(message_of([&] { ops::inverse(a); }), HasSubstr("singular: no pivot in column 1")) << kernel;
  }
}

// The row order that lu returns, as permuted rows of the matrix.
Tensor picked(const Tensor& a, const Tensor& rows) { return ops::batch_matmul(ops::one_hot(rows, a.dim(-1), 1, 0, a.dtype()), a); }

TEST(Lu, FactorsAnyOrderOfRows) {
  const Tensor a = uniform("lu", {3, 9, 9});
  for (const char* kernel : {"eigen", "reference"}) {
    const ForceKernel force(kernel);
    const auto [packed, rows, sign] = ops::lu(a);
    const std::vector<double> v = packed.to_vector<double>();
    std::vector<double> l(v.size(), 0.0), u(v.size(), 0.0);
    for (size_t e = 0; e < v.size(); ++e) {
      const size_t i = e / 9 % 9, j = e % 9;
      (i > j ? l : u)[e] = v[e];
      if (i == j) l[e] = 1;
      EXPECT_LE(i > j ? std::abs(v[e]) : 0, 1) << "a larger pivot was available";
    }
    EXPECT_TRUE(
        close(ops::batch_matmul(Tensor::from_values(a.shape(), l, a.dtype()), Tensor::from_values(a.shape(), u, a.dtype())), picked(a, rows), {1e-13, 1e-13}))
        << kernel;
  }
}
TEST(Lu, SignIsThatOfThePermutation) {
  // Two exchanges, one exchange, none: permutation matrices, whose determinants are the signs.
  const Tensor a = Tensor::from_vector<double>({3, 3, 3}, {0, 1, 0, 0, 0, 1, 1, 0, 0, 0, 1, 0, 1, 0, 0, 0, 0, 1, 1, 0, 0, 0, 1, 0, 0, 0, 1});
  for (const char* kernel : {"eigen", "reference"}) {
    const ForceKernel force(kernel);
    const auto [packed, rows, sign] = ops::lu(a);
    EXPECT_EQ(sign.to_vector<double>(), (std::vector<double>{1, -1, 1})) << kernel;
    EXPECT_TRUE(close(picked(a, rows), packed, {0, 0})) << kernel;  // U is the unit matrix, L too
  }
}
TEST(Lu, SingularMatrixHasAZeroPivot) {
  const Tensor a = Tensor::from_vector<double>({2, 3, 3}, {1, 2, 3, 2, 4, 6, 1, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0});
  for (const char* kernel : {"eigen", "reference"}) {
    const ForceKernel force(kernel);
    const std::vector<double> v = std::get<0>(ops::lu(a)).to_vector<double>();
    EXPECT_EQ(v[0] * v[4] * v[8], 0) << kernel;
    EXPECT_EQ(v[9] * v[13] * v[17], 0) << kernel;
  }
}
TEST(Lu, NoElementsHaveSignOne) { EXPECT_EQ(std::get<2>(ops::lu(Tensor::zeros({2, 0, 0}, DType::kFloat32))).to_vector<float>(), (std::vector<float>{1, 1})); }

TEST(Eigh, GradientForSymmetricInput) {
  const Function both = [](const Tensor& a) {
    const auto [w, v] = ops::eigh(a);
    return TensorList{w, v};
  };
  for (int64_t n : {1, 2, 4}) check_symmetric_gradient(both, separated("eigh", n));
  check_symmetric_gradient([](const Tensor& a) { return TensorList{ops::eigh(a).first}; }, separated("values", 4));
  check_symmetric_gradient([](const Tensor& a) { return TensorList{ops::eigh(a).second}; }, separated("vectors", 4));
}
TEST(Eigh, DecomposesWithPositiveLargestComponents) {
  const Tensor a = separated("decompose", 12);
  for (const char* kernel : {"eigen", "reference"}) {
    const ForceKernel force(kernel);
    const auto [w, v] = ops::eigh(a);
    EXPECT_TRUE(close(ops::batch_matmul(ops::mul(v, ops::expand_dims(w, 0)), v, false, true), a, {1e-11, 1e-11})) << kernel;
    const std::vector<double> values = w.to_vector<double>(), vectors = v.to_vector<double>();
    EXPECT_TRUE(std::is_sorted(values.begin(), values.end()));
    for (size_t c = 0; c < 12; ++c) {
      double largest = 0;
      for (size_t r = 0; r < 12; ++r)
        if (std::abs(vectors[r * 12 + c]) > std::abs(largest)) largest = vectors[r * 12 + c];
      EXPECT_GT(largest, 0) << "column " << c;
    }
  }
}
TEST(Eigh, ReadsTheLowerTriangle) {
  const Tensor a = Tensor::from_vector<double>({2, 2}, {2, 77, 1, 2});
  for (const char* kernel : {"eigen", "reference"}) {
    const ForceKernel force(kernel);
    EXPECT_TRUE(close(ops::eigh(a).first, Tensor::from_vector<double>({2}, {1, 3}), {1e-14, 1e-14})) << kernel;
  }
}
TEST(Eigh, RefusesNan) {
  const Tensor a = Tensor::from_vector<double>({2, 2}, {1, 0, std::nan(""), 1});
  EXPECT_THAT(message_of([&] { ops::eigh(a); }), HasSubstr("nan at row 1, column 0"));
}

TEST(Svd, DecomposesEvenWithoutFullRank) {
  const Tensor x = uniform("left", {6, 2}), y = uniform("right", {2, 4});
  for (const char* kernel : {"eigen", "reference"}) {
    const ForceKernel force(kernel);
    for (const Tensor& a : {ops::batch_matmul(x, y), swapped(ops::batch_matmul(x, y)), Tensor::zeros({3, 2}, DType::kFloat64)}) {
      const auto [u, s, v] = ops::svd(a);
      EXPECT_TRUE(close(ops::batch_matmul(ops::mul(u, ops::expand_dims(s, 0)), v, false, true), a, {1e-12, 1e-12})) << kernel;
      const int64_t k = s.dim(0);
      const Tensor eye = ops::one_hot(ops::arange(0, static_cast<double>(k)), k, 1, 0, DType::kFloat64);
      EXPECT_TRUE(close(ops::batch_matmul(u, u, true), eye, {1e-12, 1e-12})) << kernel;
      EXPECT_TRUE(close(ops::batch_matmul(v, v, true), eye, {1e-12, 1e-12})) << kernel;
    }
  }
}

TEST(Linalg, BatchResultsDoNotDependOnThreads) {
  const Tensor r = uniform("batch", {6, 5, 5}), a = ops::add(ops::batch_matmul(r, r, false, true), ops::full({}, 1, DType::kFloat64));
  const int before = num_threads();
  TensorList first;
  for (int threads : {1, 2, 3}) {
    set_num_threads(threads);
    const auto [w, v] = ops::eigh(a);
    const TensorList all{ops::inverse(a), w, v, std::get<1>(ops::svd(r))};
    if (first.empty()) first = all;
    for (size_t i = 0; i < all.size(); ++i) EXPECT_TRUE(same_bits(all[i], first[i])) << threads << " threads, result " << i;
  }
  set_num_threads(before);
}

TEST(Linalg, BadArguments) {
  const Tensor vector = Tensor::zeros({3}), tall = Tensor::zeros({3, 2}), square = Tensor::zeros({3, 3}), ints = Tensor::zeros({3, 3}, DType::kInt32);
  EXPECT_THROW(ops::cholesky(vector), ShapeError);
  EXPECT_THROW(ops::cholesky(tall), ShapeError);
  EXPECT_THROW(ops::cholesky(ints), DTypeError);
  EXPECT_THROW(ops::inverse(tall), ShapeError);
  EXPECT_THROW(ops::eigh(Tensor::zeros({})), ShapeError);
  EXPECT_THROW(ops::svd(Tensor::zeros({2, 2}, DType::kBFloat16)), DTypeError);
  EXPECT_THROW(ops::triangular_solve(square, vector), ShapeError);
  EXPECT_THROW(ops::triangular_solve(square, Tensor::zeros({2, 3})), ShapeError);
  EXPECT_THROW(ops::triangular_solve(square, Tensor::zeros({1, 3, 3})), ShapeError);
  EXPECT_THROW(ops::triangular_solve(square, Tensor::zeros({3, 1}, DType::kFloat64)), DTypeError);
}

}  // namespace
}  // namespace sindri::test
