// Losses against plain loops in double.
#include "sindri/nn/loss.h"

#include <gtest/gtest.h>

#include <cmath>

#include "sindri/core/error.h"

namespace sindri::nn {
namespace {

const std::vector<double> kLogits = {1, -2, 0.5, 3, 0, -1, 2, 2, -3, 0.25, 0.75, 1.5};  // [4, 3]
const std::vector<int64_t> kLabels = {0, 2, 1, 2};

double log_softmax(const std::vector<double>& x, size_t row, size_t c, size_t classes) {
  double sum = 0;
  for (size_t k = 0; k < classes; ++k) sum += std::exp(x[row * classes + k]);
  return x[row * classes + c] - std::log(sum);
}

Tensor logits() { return Tensor::from_values({4, 3}, kLogits, DType::kFloat64); }
Tensor labels() { return Tensor::from_vector({4}, kLabels); }

// q given per class: on for the label, off for the others.
std::vector<double> expected(double on, double off, const std::vector<double>& weight = {1, 1, 1}) {
  std::vector<double> out;
  for (size_t i = 0; i < 4; ++i) {
    double loss = 0;
    for (size_t c = 0; c < 3; ++c) loss -= weight[c] * (static_cast<int64_t>(c) == kLabels[i] ? on : off) * log_softmax(kLogits, i, c, 3);
    out.push_back(loss);
  }
  return out;
}

void expect_near(const Tensor& got, const std::vector<double>& want, double tol = 1e-12) {
  const std::vector<double> v = got.to_vector<double>();
  ASSERT_EQ(v.size(), want.size());
  for (size_t i = 0; i < v.size(); ++i) EXPECT_NEAR(v[i], want[i], tol) << i;
}
double sum(const std::vector<double>& v) {
  double s = 0;
  for (double x : v) s += x;
  return s;
}

TEST(Loss, SoftmaxCrossEntropyDefaultsToNoReduction) {
  auto loss = SoftmaxCrossEntropyWithLogits::make({.sparse = true});
  expect_near((*loss)(logits(), labels()), expected(1, 0));
  auto mean = SoftmaxCrossEntropyWithLogits::make({.sparse = true, .reduction = "mean"});
  expect_near((*mean)(logits(), labels()), {sum(expected(1, 0)) / 4});
  auto dense = SoftmaxCrossEntropyWithLogits::make({.reduction = "sum"});
  const Tensor one_hot = Tensor::from_values({4, 3}, {1, 0, 0, 0, 0, 1, 0, 1, 0, 0, 0, 1}, DType::kFloat64);
  expect_near((*dense)(logits(), one_hot), {sum(expected(1, 0))});
}

// float16 can represent neither 70,000 nor a sum of this many losses.
TEST(Loss, CrossEntropyOfManyHalfRows) {
  const Tensor x = Tensor::full({70000, 2}, 0, DType::kFloat16), y = Tensor::full({70000}, 1, DType::kInt32);
  for (const Tensor& weight : {Tensor(), Tensor::full({2}, 3)}) {
    const Tensor loss = (*CrossEntropyLoss::make({.weight = weight}))(x, y);
    EXPECT_EQ(loss.dtype(), weight.defined() ? DType::kFloat32 : DType::kFloat16);  // the type that can represent both, as in MindSpore
    EXPECT_NEAR(loss.item(), std::log(2.0), 1e-3);
  }
}

TEST(Loss, CrossEntropySmoothSpreadsOverTheOtherClasses) {
  auto loss = CrossEntropySmooth::make({.reduction = "none", .smooth_factor = 0.1, .num_classes = 3});
  expect_near((*loss)(logits(), labels()), expected(0.9, 0.05));
  EXPECT_THROW((*CrossEntropySmooth::make({.num_classes = 5}))(logits(), labels()), ShapeError);
  EXPECT_THROW(CrossEntropySmooth::make({.smooth_factor = 0.9, .num_classes = 3}), ValueError);
}

TEST(Loss, CrossEntropyLossSmoothsOverAllClassesAndWeighs) {
  expect_near((*CrossEntropyLoss::make({.reduction = "none", .label_smoothing = 0.3}))(logits(), labels()), expected(0.8, 0.1));
  const std::vector<double> w = {1, 2, 0.5};
  const Tensor weight = Tensor::from_values({3}, w, DType::kFloat64);
  expect_near((*CrossEntropyLoss::make({.weight = weight, .reduction = "sum", .label_smoothing = 0.3}))(logits(), labels()), {sum(expected(0.8, 0.1, w))});
  expect_near((*CrossEntropyLoss::make({.weight = weight}))(logits(), labels()), {sum(expected(1, 0, w)) / (1 + 0.5 + 2 + 0.5)});
}

TEST(Loss, CrossEntropyLossIgnoresALabel) {
  auto loss = CrossEntropyLoss::make({.ignore_index = 2});
  const std::vector<double> all = expected(1, 0);
  expect_near((*loss)(logits(), labels()), {(all[0] + all[2]) / 2});
  const Tensor weight = Tensor::from_values({3}, {1, 3, 1}, DType::kFloat64);
  expect_near((*CrossEntropyLoss::make({.weight = weight, .ignore_index = 2}))(logits(), labels()), {(all[0] + 3 * all[2]) / 4});
}

TEST(Loss, CrossEntropyLossOverPositions) {
  // [1, 3, 4]: position j holds row j of the matrix case.
  std::vector<double> x(12);
  for (size_t i = 0; i < 4; ++i)
    for (size_t c = 0; c < 3; ++c) x[c * 4 + i] = kLogits[i * 3 + c];
  const Tensor in = Tensor::from_values({1, 3, 4}, x, DType::kFloat64);
  const Tensor out = (*CrossEntropyLoss::make({.reduction = "none"}))(in, Tensor::from_vector({1, 4}, kLabels));
  EXPECT_EQ(out.shape(), (Shape{1, 4}));
  expect_near(out, expected(1, 0));
  EXPECT_THROW((*CrossEntropyLoss::make())(in, labels()), ShapeError);
}

TEST(Loss, CrossEntropyLossOfProbabilities) {
  const Tensor q = Tensor::from_values({4, 3}, {0.8, 0.1, 0.1, 0.1, 0.1, 0.8, 0.1, 0.8, 0.1, 0.1, 0.1, 0.8}, DType::kFloat64);
  expect_near((*CrossEntropyLoss::make({.reduction = "none"}))(logits(), q), expected(0.8, 0.1));
}

TEST(Loss, MeanSquareAndAbsolute) {
  const Tensor a = Tensor::from_values({2, 2}, {1, 2, 3, 4}), b = Tensor::from_values({2, 2}, {1, 0, 6, 3});
  EXPECT_DOUBLE_EQ((*MSELoss::make())(a, b).item(), (4 + 9 + 1) / 4.0);
  EXPECT_DOUBLE_EQ((*MSELoss::make({.reduction = "sum"}))(a, b).item(), 14);
  EXPECT_DOUBLE_EQ((*L1Loss::make())(a, b).item(), 6 / 4.0);
  EXPECT_EQ((*L1Loss::make({.reduction = "none"}))(a, b).to_vector<double>(), (std::vector<double>{0, 2, 3, 1}));
}

TEST(Loss, BinaryCrossEntropyIsStable) {
  const Tensor x = Tensor::from_values({4}, {0.5, -1.5, 800, -800}, DType::kFloat64), y = Tensor::from_values({4}, {1, 0, 0, 1}, DType::kFloat64);
  const double s0 = 1 / (1 + std::exp(-0.5)), s1 = 1 / (1 + std::exp(1.5));
  expect_near((*BCEWithLogitsLoss::make({.reduction = "none"}))(x, y), {-std::log(s0), -std::log(1 - s1), 800, 800});
  const Tensor pos = Tensor::from_values({1}, {3}, DType::kFloat64), w = Tensor::from_values({4}, {1, 2, 1, 1}, DType::kFloat64);
  expect_near((*BCEWithLogitsLoss::make({.reduction = "none", .weight = w, .pos_weight = pos}))(x, y), {-3 * std::log(s0), -2 * std::log(1 - s1), 800, 2400});
}

TEST(Loss, Errors) {
  EXPECT_THROW(MSELoss::make({.reduction = "average"}), ValueError);
  EXPECT_THROW(CrossEntropyLoss::make({.label_smoothing = 2}), ValueError);
  EXPECT_THROW((*CrossEntropyLoss::make({.weight = Tensor::zeros({2})}))(logits(), labels()), ShapeError);
  EXPECT_THROW((*MSELoss::make())(logits()), ValueError);
}

}  // namespace
}  // namespace sindri::nn
