// Normalisation beyond the common suite: second derivatives through x, accuracy, special values, threads, bad arguments.
#include "sindri/ops/norm.h"

#include <gtest/gtest.h>

#include <cmath>

#include "sindri/autograd/grad.h"
#include "sindri/core/context.h"
#include "sindri/core/error.h"
#include "sindri/op/kernel.h"
#include "sindri/ops/elementwise.h"
#include "sindri/ops/reduce.h"
#include "src/op/plan.h"
#include "tests/ops/compare.h"
#include "tests/ops/samples.h"

namespace sindri {
namespace {

Tensor values(const Shape& shape, const std::string& name, DType dtype = DType::kFloat64, double lo = -2, double hi = 2) {
  return test::make_inputs({.op = "norm_test", .name = name, .args = {{shape, lo, hi}}}, dtype)[0];
}

// L = <a, dx> + <b, dgamma> + <c, dbeta>, the gradients being those of <u, f(x, gamma, beta)>.
using Forward = std::function<Tensor(Span<const Tensor>)>;
TensorFn gradient_functional(const Forward& f, const Tensor& u, const TensorList& abc) {
  return [=](Span<const Tensor> in) {
    const TensorList g = grad([&](Span<const Tensor> x) { return TensorList{ops::sum(f(x) * u)}; })(in);
    Tensor total = ops::sum(g[0] * abc[0]);
    for (size_t i = 1; i < abc.size(); ++i) total = total + ops::sum(g[i] * abc[i]);
    return TensorList{total};
  };
}

void expect_second_derivative(const Forward& f, const TensorList& in) {
  TensorList abc;
  for (size_t i = 0; i < in.size(); ++i) abc.push_back(values(in[i].shape(), "cotangent" + std::to_string(i)));
  const TensorFn l = gradient_functional(f, values(in[0].shape(), "u"), abc);
  const TensorList analytic = grad(l)(in);
  for (size_t k = 0; k < in.size(); ++k) {
    const std::vector<double> a = analytic[k].to_vector<double>();
    for (int64_t i = 0; i < in[k].numel(); ++i) {
      double side[2];
      for (int s = 0; s < 2; ++s) {
        TensorList moved = in;
        moved[k] = test::nudged(moved[k], i, s == 0 ? 1e-6 : -1e-6);
        side[s] = l(moved)[0].item();
      }
      const double numeric = (side[0] - side[1]) / 2e-6;
      ASSERT_NEAR(a[static_cast<size_t>(i)], numeric, 2e-7 + 1e-5 * std::abs(numeric)) << "input " << k << ", element " << i;
    }
  }
}

TEST(BatchNorm, SecondDerivative) {
  for (const Shape& shape : {Shape{3, 2, 2, 3}, Shape{5, 3}}) {
    const TensorList in = {values(shape, "x"), values({shape[1]}, "gamma"), values({shape[1]}, "beta")};
    expect_second_derivative([](Span<const Tensor> t) { return ops::batch_norm_train(t[0], t[1], t[2], 1e-2).y; }, in);
  }
}

TEST(LayerNorm, SecondDerivative) {
  const TensorList in = {values({3, 2, 4}, "x"), values({2, 4}, "gamma"), values({2, 4}, "beta")};
  expect_second_derivative([](Span<const Tensor> t) { return ops::layer_norm(t[0], t[1], t[2], 1, 1e-2); }, in);
}

TEST(BatchNorm, GradientThroughStatistics) {
  const TensorList in = {values({4, 2, 3}, "x")};
  const Tensor gamma = values({2}, "gamma"), beta = values({2}, "beta");
  const auto g = grad([&](Span<const Tensor> t) {
    const ops::BatchNormOut o = ops::batch_norm_train(t[0], gamma, beta);
    return TensorList{ops::sum(o.var) + ops::sum(o.mean)};
  })(in);
  const std::vector<double> x = in[0].to_vector<double>(), d = g[0].to_vector<double>();
  double mean = 0;
  for (size_t n = 0; n < 4; ++n)
    for (size_t s = 0; s < 3; ++s) mean += x[n * 6 + s] / 12;
  EXPECT_NEAR(d[0], 1.0 / 12 + 2.0 / 12 * (x[0] - mean), 1e-12);
}

// var of values whose mean is a thousand times their spread: a plain E[x²] - E[x]² in float32 would have no correct digit.
TEST(BatchNorm, VarianceFarFromZero) {
  for (const Layout layout : {Layout::kContiguous, Layout::kChannelsLast}) {
    const Tensor x = convert_layout(values({4, 5, 9, 7}, "far", DType::kFloat32, 1000, 1001), layout);
    const Tensor one = Tensor::full({5}, 1), zero = Tensor::full({5}, 0);
    const ops::BatchNormOut o = ops::batch_norm_train(x, one, zero);
    const std::vector<double> v = x.to_vector<double>(), var = o.var.to_vector<double>(), mean = o.mean.to_vector<double>();
    for (size_t c = 0; c < 5; ++c) {
      double m = 0, s = 0;
      for (size_t n = 0; n < 4; ++n)
        for (size_t i = 0; i < 63; ++i) m += v[(n * 5 + c) * 63 + i] / 252;
      for (size_t n = 0; n < 4; ++n)
        for (size_t i = 0; i < 63; ++i) s += (v[(n * 5 + c) * 63 + i] - m) * (v[(n * 5 + c) * 63 + i] - m) / 252;
      EXPECT_NEAR(mean[c], m, 1e-7 * m);
      EXPECT_NEAR(var[c], s, 1e-6 * s);
    }
  }
}

TEST(BatchNorm, NonFiniteStaysInItsChannel) {
  const double inf = HUGE_VAL;
  for (const Layout layout : {Layout::kContiguous, Layout::kChannelsLast}) {
    std::vector<double> v(2 * 3 * 2 * 2, 0.0);
    for (size_t i = 0; i < v.size(); ++i) v[i] = static_cast<double>(i % 5);
    v[0] = std::nan("");  // channel 0
    v[16] = inf;  // channel 1, not its first value
    const Tensor x = convert_layout(Tensor::from_values({2, 3, 2, 2}, v), layout);
    const ops::BatchNormOut o = ops::batch_norm_train(x, Tensor::full({3}, 1), Tensor::full({3}, 0));
    const std::vector<double> y = o.y.to_vector<double>(), mean = o.mean.to_vector<double>(), var = o.var.to_vector<double>();
    EXPECT_TRUE(std::isnan(mean[0]) && std::isnan(var[0]));
    EXPECT_TRUE(mean[1] == inf && std::isnan(var[1]));
    EXPECT_TRUE(std::isfinite(mean[2]) && std::isfinite(var[2]));
    for (size_t i = 0; i < y.size(); ++i) EXPECT_EQ(std::isfinite(y[i]), i / 4 % 3 == 2) << i;
  }
}

TEST(BatchNorm, FirstValueInfinite) {
  const ops::BatchNormOut o = ops::batch_norm_train(Tensor::from_values({3, 1}, {HUGE_VAL, 1, 2}), Tensor::full({1}, 1), Tensor::full({1}, 0));
  EXPECT_EQ(o.mean.item(), HUGE_VAL);
  EXPECT_TRUE(std::isnan(o.var.item()));
}

class Threads : public ::testing::Test {
 protected:
  void TearDown() override { set_num_threads(before_); }
  int before_ = num_threads();
};
using NormThreads = Threads;

// Large enough to be split into several pieces.
TEST_F(NormThreads, SameBitsForAnyNumber) {
  const auto run = [](Layout layout) {
    const Tensor x = convert_layout(values({3, 40, 33, 31}, "x", DType::kFloat32), layout), gamma = values({40}, "gamma", DType::kFloat32),
                 beta = values({40}, "beta", DType::kFloat32);
    const Tensor wide = values({700, 60}, "wide", DType::kFloat32), g = values({60}, "g", DType::kFloat32), b = values({60}, "b", DType::kFloat32);
    TensorList out = {ops::batch_norm_train(x, gamma, beta).y};
    const Tensor u = values(x.shape(), "u", DType::kFloat32), w = values(wide.shape(), "w", DType::kFloat32);
    for (const Tensor& t :
         grad([&](Span<const Tensor> in) { return TensorList{ops::sum(ops::batch_norm_train(in[0], in[1], in[2]).y * u)}; })(TensorList{x, gamma, beta}))
      out.push_back(t);
    for (const Tensor& t : grad([&](Span<const Tensor> in) { return TensorList{ops::sum(ops::layer_norm(in[0], in[1], in[2]) * w)}; })(TensorList{wide, g, b}))
      out.push_back(t);
    return out;
  };
  for (const Layout layout : {Layout::kContiguous, Layout::kChannelsLast}) {
    set_num_threads(1);
    const TensorList one = run(layout);
    for (int n : {2, 3, 8}) {
      set_num_threads(n);
      const TensorList many = run(layout);
      for (size_t i = 0; i < one.size(); ++i) EXPECT_TRUE(test::same_bits(one[i], many[i])) << "result " << i << " with " << n << " threads";
    }
  }
}

TEST(BatchNorm, HalfInputKeepsFloatStatistics) {
  const Tensor x = values({4, 3, 2, 2}, "x", DType::kBFloat16);
  const ops::BatchNormOut o = ops::batch_norm_train(x, Tensor::full({3}, 1), Tensor::full({3}, 0));
  EXPECT_EQ(o.y.dtype(), DType::kBFloat16);
  EXPECT_EQ(o.mean.dtype(), DType::kFloat32);
  EXPECT_EQ(o.var.dtype(), DType::kFloat32);
}

TEST(BatchNorm, BadArguments) {
  const Tensor x = Tensor::zeros({2, 3, 4, 4}), three = Tensor::zeros({3}), four = Tensor::zeros({4});
  EXPECT_THROW(ops::batch_norm_train(Tensor::zeros({3}), three, three), ShapeError);
  EXPECT_THROW(ops::batch_norm_train(Tensor::zeros({1, 3, 1, 1, 1, 1}), three, three), ShapeError);
  EXPECT_THROW(ops::batch_norm_train(x, four, three), ShapeError);
  EXPECT_THROW(ops::batch_norm_train(x, three, Tensor::zeros({1, 3})), ShapeError);
  EXPECT_THROW(ops::batch_norm_train(x, three, three, -1e-5), ValueError);
  EXPECT_THROW(ops::batch_norm_train(x, three, three, std::nan("")), ValueError);
  EXPECT_THROW(ops::batch_norm_train(Tensor::zeros({2, 3}, DType::kInt32), three, three), DTypeError);
  EXPECT_THROW(ops::batch_norm_train(x, Tensor::zeros({3}, DType::kFloat64), three), DTypeError);
  EXPECT_THROW(ops::batch_norm_infer(x, three, three, four, three), ShapeError);
  EXPECT_THROW(ops::batch_norm_infer(x, three, three, three, Tensor::zeros({3}, DType::kInt64)), DTypeError);
  try {
    ops::batch_norm_train(x, four, three);
    FAIL();
  } catch (const ShapeError& e) { EXPECT_NE(e.message().find("gamma must be [3], got f32[4]"), std::string::npos) << e.message(); }
}

TEST(LayerNorm, BadArguments) {
  const Tensor x = Tensor::zeros({2, 3, 4}), four = Tensor::zeros({4});
  EXPECT_THROW(ops::layer_norm(x, four, Tensor::zeros({3})), ShapeError);
  EXPECT_THROW(ops::layer_norm(x, four, four, 1), ShapeError);
  EXPECT_THROW(ops::layer_norm(x, four, four, 3), ValueError);
  EXPECT_THROW(ops::layer_norm(x, four, four, -4), ValueError);
  EXPECT_THROW(ops::layer_norm(x, four, four, -1, -1), ValueError);
  EXPECT_THROW(ops::layer_norm(Tensor::zeros({}), Tensor::zeros({}), Tensor::zeros({})), ShapeError);
  EXPECT_THROW(ops::layer_norm(Tensor::zeros({2, 4}, DType::kUInt8), four, four), DTypeError);
}

}  // namespace
}  // namespace sindri
