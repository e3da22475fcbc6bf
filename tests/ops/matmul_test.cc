// matmul and batch_matmul beyond the common suite: refused arguments, empty sums, special values, second derivatives.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>

#include "sindri/autograd/grad.h"
#include "sindri/core/context.h"
#include "sindri/core/error.h"
#include "sindri/op/kernel.h"
#include "sindri/ops/matmul.h"
#include "sindri/ops/shape.h"
#include "tests/ops/compare.h"
#include "tests/ops/samples.h"

namespace sindri::test::matmul_test {
namespace {

using ::testing::Each;
using ::testing::HasSubstr;

Tensor input(const Shape& shape, int key, DType dtype = DType::kFloat64) {
  std::vector<double> v(static_cast<size_t>(shape.numel()));
  const UnitValues u("matmul_test", key);
  for (size_t i = 0; i < v.size(); ++i) v[i] = 2 * u(i) - 1;
  return Tensor::from_values(shape, v, dtype);
}

template <class E, class F> std::string message_of(F&& f) {
  try {
    f();
  } catch (const E& e) { return e.what(); }
  ADD_FAILURE() << "nothing of the expected type was thrown";
  return "";
}

TEST(MatmulErrors, Shapes) {
  const Tensor a = Tensor::zeros({2, 3}), b = Tensor::zeros({4, 5}), cube = Tensor::zeros({2, 3, 4});
  EXPECT_THAT(message_of<ShapeError>([&] { ops::matmul(a, b); }), HasSubstr("inner dimensions differ, expected 3 of a [2, 3] but b [4, 5] has 4"));
  EXPECT_THAT(message_of<ShapeError>([&] { ops::matmul(a, b, true, true); }), HasSubstr("expected 2 of a [2, 3] (transposed) but b [4, 5] (transposed) has 5"));
  EXPECT_THAT(message_of<ShapeError>([&] { ops::matmul(cube, b); }), HasSubstr("use batch_matmul"));
  EXPECT_THAT(message_of<ShapeError>([&] { ops::matmul(a, Tensor::zeros({3})); }), HasSubstr("b must have 2 dimensions, got [3]"));
  EXPECT_THAT(message_of<ShapeError>([&] { ops::batch_matmul(Tensor::zeros({3}), b); }), HasSubstr("a must have at least 2 dimensions"));
  EXPECT_THROW(ops::batch_matmul(Tensor::zeros({2, 3, 4}), Tensor::zeros({3, 4, 5})), ShapeError);
}

TEST(MatmulErrors, Types) {
  EXPECT_THROW(ops::matmul(Tensor::zeros({2, 3}), Tensor::zeros({3, 2}, DType::kFloat64)), DTypeError);
  EXPECT_THROW(ops::matmul(Tensor::zeros({2, 3}, DType::kBool), Tensor::zeros({3, 2}, DType::kBool)), DTypeError);
}

TEST(Matmul, EmptySumIsZeroInEveryType) {
  for (const DType t : {DType::kFloat16, DType::kBFloat16, DType::kFloat32, DType::kFloat64}) {
    // Uninitialised results would show here: the memory just freed contained ones.
    { const Tensor ones = Tensor::full({3, 4}, 1.0, t); }
    EXPECT_THAT(ops::matmul(Tensor::zeros({3, 0}, t), Tensor::zeros({0, 4}, t)).to_vector<double>(), Each(0.0));
    EXPECT_EQ(ops::batch_matmul(Tensor::zeros({2, 3, 0}, t), Tensor::zeros({0, 4}, t)).shape(), Shape({2, 3, 4}));
  }
}

// 0 * NaN is NaN: no kernel may skip zeros.
TEST(Matmul, NaNAndInfinityPropagateInEveryKernel) {
  const double nan = std::numeric_limits<double>::quiet_NaN(), inf = std::numeric_limits<double>::infinity();
  for (const KernelDef* k : kernels_of("matmul")) {
    const ForceKernel force(k->name);
    for (const DType t : {DType::kFloat32, DType::kFloat64}) {
      const Tensor a = Tensor::from_values({2, 2}, {0, 1, 2, 0}, t), b = Tensor::from_values({2, 2}, {nan, 1, 1, inf}, t);
      std::vector<double> c;
      try {
        c = ops::matmul(a, b).to_vector<double>();
      } catch (const DeviceError&) {
        continue;  // rejected
      }
      EXPECT_TRUE(std::isnan(c[0])) << k->name;
      EXPECT_EQ(c[1], inf) << k->name;
      EXPECT_TRUE(std::isnan(c[2])) << k->name;
      EXPECT_TRUE(std::isnan(c[3])) << k->name;
    }
  }
}

// Sums of 16-bit products are accumulated in a wider type: 4096 ones sum to 4096, where a 16-bit running sum stops at 2048 (float16) or 256. Integer values, so
// that every order of summation gives the same result. The sizes lie at and around the edges of register blocks, vectors, tiles and pieces of the depth, for
// every operand layout and for numbers of threads that split them differently.
TEST(Matmul, OurProductIsExactAtEveryEdge) {
  const int before = num_threads();
  const std::vector<std::array<int64_t, 3>> sizes = {
      {1, 1, 1},      {5, 7, 9},      {6, 16, 8},     {7, 17, 15},   {12, 32, 16}, {13, 33, 17},    {25, 31, 40}, {96, 64, 256}, {97, 129, 257}, {192, 256, 3},
      {193, 257, 12}, {200, 40, 513}, {64, 300, 784}, {1, 600, 300}, {400, 1, 70}, {390, 270, 520}, {2, 700, 33}, {64, 512, 64}, {48, 16, 1000}, {500, 20, 31}};
  for (const DType dtype : {DType::kFloat32, DType::kFloat64}) {
    for (const auto& [m, n, k] : sizes) {
      std::vector<double> a(static_cast<size_t>(m * k)), b(static_cast<size_t>(k * n)), c(static_cast<size_t>(m * n));
      for (size_t i = 0; i < a.size(); ++i) a[i] = static_cast<double>(static_cast<int64_t>(i * 7919 % 13) - 6);
      for (size_t i = 0; i < b.size(); ++i) b[i] = static_cast<double>(static_cast<int64_t>(i * 104729 % 11) - 5);
      for (int64_t i = 0; i < m; ++i)
        for (int64_t d = 0; d < k; ++d)
          for (int64_t j = 0; j < n; ++j) c[static_cast<size_t>(i * n + j)] += a[static_cast<size_t>(i * k + d)] * b[static_cast<size_t>(d * n + j)];
      const Tensor plain_a = Tensor::from_values({m, k}, a, dtype), plain_b = Tensor::from_values({k, n}, b, dtype),
                   expected = Tensor::from_values({m, n}, c, dtype);
      const Tensor turned_a = ops::transpose(plain_a, {1, 0}), turned_b = ops::transpose(plain_b, {1, 0});
      const ForceKernel force("gemm");
      for (const int threads : {1, 2, 3, 8}) {
        set_num_threads(threads);
        for (int i = 0; i < 4; ++i) {
          const bool ta = (i & 1) != 0, tb = (i & 2) != 0;
          EXPECT_TRUE(same_bits(ops::matmul(ta ? turned_a : plain_a, tb ? turned_b : plain_b, ta, tb), expected))
              << dtype_name(dtype) << " " << m << " x " << n << " x " << k << ", " << threads << " threads" << (ta ? " ta" : "") << (tb ? " tb" : "");
        }
      }
      set_num_threads(before);
    }
  }
}

TEST(Matmul, HalfPrecisionAccumulatesInFloat) {
  for (const DType t : {DType::kFloat16, DType::kBFloat16}) {
    EXPECT_EQ(ops::matmul(Tensor::full({1, 4096}, 1.0, t), Tensor::full({4096, 1}, 1.0, t)).item(), 4096.0) << dtype_name(t);
  }
}

TEST(MatmulSecondDerivative, AgreesWithDifferences) {
  for (int i = 0; i < 4; ++i) {
    const bool ta = (i & 1) != 0, tb = (i & 2) != 0;
    const Tensor a = input(ta ? Shape{3, 2} : Shape{2, 3}, 0), b = input(tb ? Shape{4, 3} : Shape{3, 4}, 1), dc = input({2, 4}, 2), u = input(a.shape(), 3);
    // v -> d<matmul(a, v), dc>/da, weighted with u
    const TensorFn gradient = [&](Span<const Tensor> in) {
      const TensorFn product = [&](Span<const Tensor> x) { return TensorList{ops::matmul(x[0], in[0], ta, tb)}; };
      return value_and_grad(product, {{a}}, {0}, {}, {dc}).second.of_inputs;
    };
    const TensorList at = {b};
    const std::vector<double> analytic = value_and_grad(gradient, at, {0}, {}, {u}).second.of_inputs[0].to_vector<double>();
    const auto value = [&](const Tensor& v) {
      const TensorList in = {v};
      const std::vector<double> g = gradient(in)[0].to_vector<double>(), w = u.to_vector<double>();
      double total = 0;
      for (size_t k = 0; k < g.size(); ++k) total += g[k] * w[k];
      return total;
    };
    for (size_t k = 0; k < analytic.size(); ++k) {
      const auto at_k = static_cast<int64_t>(k);
      const Tensor up = nudged(b, at_k, 1e-6), down = nudged(b, at_k, -1e-6);
      EXPECT_NEAR(analytic[k], (value(up) - value(down)) / 2e-6, 1e-7) << "ta " << ta << " tb " << tb;
    }
  }
}

}  // namespace
}  // namespace sindri::test::matmul_test
