// Softmax and cross entropy beyond the common suite: labels out of range, ignored rows, extreme logits, threads, bad arguments.
#include "sindri/ops/loss.h"

#include <gtest/gtest.h>

#include <cmath>

#include "sindri/autograd/grad.h"
#include "sindri/core/context.h"
#include "sindri/core/error.h"
#include "sindri/ops/elementwise.h"
#include "sindri/ops/reduce.h"
#include "sindri/ops/shape.h"
#include "tests/ops/compare.h"
#include "tests/ops/samples.h"

namespace sindri {
namespace {

Tensor labels(const std::vector<double>& v, DType t = DType::kInt32) { return Tensor::from_values({static_cast<int64_t>(v.size())}, v, t); }

Tensor sparse_gradient(const Tensor& logits, const Tensor& label, double smoothing = 0, int64_t ignore = -100) {
  return grad([&](Span<const Tensor> in) { return TensorList{ops::sum(ops::softmax_cross_entropy_sparse(in[0], label, smoothing, ignore))}; })(
      TensorList{logits})[0];
}

TEST(CrossEntropy, LabelOutOfRangeNamesRowAndValue) {
  const Tensor logits = Tensor::zeros({3, 10});
  for (const DType t : {DType::kInt32, DType::kInt64}) {
    for (const double bad : {10.0, -1.0, 1e9}) {
      try {
        test::finish([&] { return ops::softmax_cross_entropy_sparse(logits, labels({1, 2, bad}, t)); });
        FAIL() << "label " << bad << " was accepted";
      } catch (const DataError& e) {
        EXPECT_EQ(e.code(), ErrorCode::kLabelRange);
        EXPECT_NE(e.message().find("label " + std::to_string(static_cast<int64_t>(bad)) + " in row 2 is outside [0, 10)"), std::string::npos) << e.message();
      }
    }
  }
  EXPECT_NO_THROW(test::finish([&] { return ops::softmax_cross_entropy_sparse(logits, labels({1, 2, -100})); }));
  EXPECT_THROW(test::finish([&] { return ops::softmax_cross_entropy_sparse(logits, labels({1, 2, -100}), 0, -1); }), DataError);
}

TEST(CheckLabels, PassesClassesAndTheIgnoredIndexOnly) {
  for (const DType t : {DType::kInt32, DType::kInt64}) {
    const Tensor good = labels({0, 9, -100}, t);
    EXPECT_TRUE(test::same_bits(ops::check_labels(good, 10), good));
    EXPECT_NO_THROW(test::finish([&] { return ops::check_labels(labels({-1, 3}, t), 10, -1); }));
    for (const double bad : {10.0, -1.0, 1e9}) {
      try {
        test::finish([&] { return ops::check_labels(labels({1, -100, bad}, t), 10); });
        FAIL() << "label " << bad << " was accepted";
      } catch (const DataError& e) { EXPECT_EQ(e.code(), ErrorCode::kLabelRange); }
    }
  }
  EXPECT_THROW(ops::check_labels(labels({1}, DType::kFloat32), 10), DTypeError);
}

TEST(CheckProbabilities, PassesTheUnitIntervalAndNaNOnly) {
  for (const DType t : {DType::kFloat32, DType::kFloat64, DType::kFloat16, DType::kBFloat16}) {
    const Tensor good = ops::cast(Tensor::from_values({4}, {0, 0.5, 1, std::nan("")}), t);
    EXPECT_TRUE(test::same_bits(ops::check_probabilities(good), good));
    for (const int64_t place : {0, 4095, 4096, 8999})
      for (const double bad : {-0.25, 1.5, HUGE_VAL, -HUGE_VAL}) {
        std::vector<double> values(9000, 1);
        values[static_cast<size_t>(place)] = bad;
        const Tensor spoiled = ops::cast(Tensor::from_values({9000}, values), t);
        EXPECT_THROW(test::finish([&] { return ops::check_probabilities(spoiled); }), ValueError) << bad << " at " << place;
      }
  }
  EXPECT_THROW(ops::check_probabilities(labels({1})), DTypeError);
}

TEST(CrossEntropy, IgnoredRowsGiveNothing) {
  const Tensor logits = Tensor::from_values({2, 3}, {1, 2, 3, std::nan(""), 2, 3});
  const Tensor label = labels({0, 7});
  EXPECT_EQ(ops::softmax_cross_entropy_sparse(logits, label, 0.1, 7).to_vector<double>()[1], 0);
  const std::vector<double> g = sparse_gradient(logits, label, 0.1, 7).to_vector<double>();
  EXPECT_NE(g[0], 0);
  for (size_t i = 3; i < 6; ++i) EXPECT_EQ(g[i], 0);
}

TEST(CrossEntropy, ExtremeLogits) {
  const Tensor logits = Tensor::from_values({2, 3}, {1e4, 0, -1e4, 1e4, 1e4, -3e38});
  const std::vector<double> l = ops::softmax_cross_entropy_sparse(logits, labels({1, 0})).to_vector<double>();
  EXPECT_EQ(l[0], 1e4);
  EXPECT_NEAR(l[1], std::log(2.0), 1e-6);
  const std::vector<double> g = sparse_gradient(logits, labels({1, 0})).to_vector<double>();
  const std::vector<double> expected = {1, -1, 0, -0.5, 0.5, 0};
  for (size_t i = 0; i < 6; ++i) EXPECT_NEAR(g[i], expected[i], 1e-6);
}

// A class with probability 0 does not affect the loss of another label; with smoothing it makes the loss infinite, as in PyTorch.
TEST(CrossEntropy, MinusInfinityLogit) {
  const Tensor logits = Tensor::from_values({1, 3}, {1, 1, -HUGE_VAL});
  EXPECT_NEAR(ops::softmax_cross_entropy_sparse(logits, labels({0})).item(), std::log(2.0), 1e-6);
  EXPECT_EQ(ops::softmax_cross_entropy_sparse(logits, labels({2})).item(), HUGE_VAL);
  EXPECT_EQ(ops::softmax_cross_entropy_sparse(logits, labels({0}), 0.1).item(), HUGE_VAL);
}

TEST(CrossEntropy, NonFiniteRowsAreNaN) {
  const double inf = HUGE_VAL;
  const Tensor logits = Tensor::from_values({4, 2}, {std::nan(""), 0, inf, 0, -inf, -inf, 0, 0});
  const std::vector<double> l = ops::softmax_cross_entropy_sparse(logits, labels({1, 1, 0, 0})).to_vector<double>();
  EXPECT_TRUE(std::isnan(l[0]) && std::isnan(l[1]) && std::isnan(l[2]));
  EXPECT_NEAR(l[3], std::log(2.0), 1e-6);
  const std::vector<double> p = ops::softmax(logits).to_vector<double>();
  for (size_t i = 0; i < 6; ++i) EXPECT_TRUE(std::isnan(p[i])) << i;
}

TEST(CrossEntropy, DenseOneHotIsSparse) {
  const Tensor logits = test::make_inputs({.op = "loss_test", .name = "one_hot", .args = {{{5, 7}}}}, DType::kFloat64)[0];
  const Tensor label = labels({6, 0, 3, 3, 1});
  const Tensor dense = ops::softmax_cross_entropy_dense(logits, ops::one_hot(label, 7, 1, 0, DType::kFloat64));
  EXPECT_TRUE(test::close(dense, ops::softmax_cross_entropy_sparse(logits, label), {1e-12, 1e-12}));
}

TEST(CrossEntropy, DenseTakesLabelsOfAnotherType) {
  const Tensor logits = Tensor::from_values({1, 2}, {0, 0}), q = Tensor::from_values({1, 2}, {0.25, 0.75}, DType::kBFloat16);
  EXPECT_NEAR(ops::softmax_cross_entropy_dense(logits, q).item(), std::log(2.0), 1e-6);
}

TEST(Softmax, SameBitsForAnyNumberOfThreads) {
  const int before = num_threads();
  const Tensor x = test::make_inputs({.op = "loss_test", .name = "threads", .args = {{{70, 333}}}}, DType::kFloat32)[0];
  const Tensor label = test::make_inputs({.op = "loss_test", .name = "threads_labels", .args = {{{70}, 0, 333, DType::kInt32}}}, DType::kFloat32)[0];
  const auto run = [&] {
    return TensorList{ops::softmax(x), ops::softmax(x, 0), ops::log_softmax(x), ops::softmax_cross_entropy_sparse(x, label, 0.1),
                      sparse_gradient(x, label, 0.1)};
  };
  set_num_threads(1);
  const TensorList one = run();
  for (int n : {2, 3, 8}) {
    set_num_threads(n);
    const TensorList many = run();
    for (size_t i = 0; i < one.size(); ++i) EXPECT_TRUE(test::same_bits(one[i], many[i])) << "result " << i << " with " << n << " threads";
  }
  set_num_threads(before);
}

// A sequential float32 sum of 1,000,000 terms is off by parts in a thousand.
TEST(Softmax, LongColumnsKeepTheirDigits) {
  constexpr int64_t n = 1'000'000;
  std::vector<float> v(2 * n, -0.3f);
  v[0] = v[1] = 0;  // the maximum, so that the other terms are e^-0.3
  const Tensor x = Tensor::from_vector({n, 2}, v);
  const double sum = 1 + (n - 1) * std::exp(-0.3);
  EXPECT_NEAR(ops::softmax(x, 0).to_vector<float>()[n] * sum / std::exp(-0.3), 1, 2e-5);
  EXPECT_NEAR(ops::log_softmax(x, 0).to_vector<float>()[n], -0.3 - std::log(sum), 2e-5);
  const TensorList dx = grad([](Span<const Tensor> in) { return TensorList{ops::sum(ops::mul(ops::log_softmax(in[0], 0), 0.1))}; })(TensorList{x});
  EXPECT_NEAR(dx[0].to_vector<float>()[n], 0.1 - std::exp(-0.3) / sum * (0.1 * n), 5e-6);
}

TEST(Softmax, BadArguments) {
  const Tensor x = Tensor::zeros({2, 3});
  EXPECT_THROW(ops::softmax(x, 2), ValueError);
  EXPECT_THROW(ops::log_softmax(x, -3), ValueError);
  EXPECT_THROW(ops::softmax(Tensor::zeros({2}, DType::kInt64)), DTypeError);
  EXPECT_THROW(ops::softmax_cross_entropy_sparse(Tensor::zeros({3}), labels({0})), ShapeError);
  EXPECT_THROW(ops::softmax_cross_entropy_sparse(x, labels({0})), ShapeError);
  EXPECT_THROW(ops::softmax_cross_entropy_sparse(x, Tensor::zeros({2})), DTypeError);
  EXPECT_THROW(ops::softmax_cross_entropy_sparse(Tensor::zeros({2, 0}), labels({0, 0})), ShapeError);
  EXPECT_THROW(ops::softmax_cross_entropy_sparse(x, labels({0, 1}), 1.5), ValueError);
  EXPECT_THROW(ops::softmax_cross_entropy_sparse(x, labels({0, 1}), std::nan("")), ValueError);
  EXPECT_THROW(ops::softmax_cross_entropy_dense(x, Tensor::zeros({2, 4})), ShapeError);
  EXPECT_THROW(ops::softmax_cross_entropy_dense(x, Tensor::zeros({2, 3}, DType::kInt32)), DTypeError);
}

}  // namespace
}  // namespace sindri
