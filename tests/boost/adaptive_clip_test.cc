// Adaptive gradient clipping against loops in double, in both modes, under a loss scale, and with accumulation.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "sindri/train/loss_scale.h"
#include "tests/boost/training.h"

namespace sindri::adaptive_clip_test {
namespace {

using test::BoostedTraining;
using test::ModeScope;

class AdaptiveClip : public testing::TestWithParam<Mode> {
  ModeScope mode_{GetParam()};
};
INSTANTIATE_TEST_SUITE_P(Modes, AdaptiveClip, testing::Values(Mode::kGraph, Mode::kPynative));

train::BoostAlgorithmPtr clip(double clipping, const std::string& except = "") {
  return train::boosts().make("adaptive_clip", {{"clipping", clipping}, {"except", except}});
}

double norm(const std::vector<double>& v, size_t begin, size_t end) {
  double sum = 0;
  for (size_t i = begin; i < end; ++i) sum += v[i] * v[i];
  return std::sqrt(sum);
}

// Equation 3 of the paper for one parameter.
Tensor by_hand(const Tensor& gradient, const Tensor& weight, double clipping, int* scaled) {
  std::vector<double> g = gradient.to_vector<double>();
  const std::vector<double> w = weight.to_vector<double>();
  const size_t unit = weight.rank() > 1 ? g.size() / static_cast<size_t>(weight.dim(0)) : g.size();
  for (size_t begin = 0; begin < g.size(); begin += unit) {
    const double most = clipping * std::max(norm(w, begin, begin + unit), 1e-3), is = norm(g, begin, begin + unit);
    if (is <= most) continue;
    ++*scaled;
    for (size_t i = begin; i < begin + unit; ++i) g[i] *= most / is;
  }
  return Tensor::from_values(gradient.shape(), g, gradient.dtype());
}

TEST_P(AdaptiveClip, IsEquationThree) {
  BoostedTraining t({clip(0.05, "beta")}), plain({});
  const std::vector<Parameter*> params = plain.optimizer->parameters();
  int scaled = 0;
  for (int i = 0; i < 3; ++i) {
    const TensorList batch = test::small_batch(6, i);
    Gradients g = plain.step.gradients(plain.step, batch).second;
    for (size_t p = 0; p < params.size(); ++p) {
      if (params[p]->name().find("beta") == std::string::npos) g.of_params[p] = by_hand(g.of_params[p], params[p]->stored(), 0.05, &scaled);
    }
    plain.optimizer->apply(g.of_params);
    t.run(batch);
    const auto want = test::values_of(params), got = test::values_of(t.optimizer->parameters());
    ASSERT_EQ(got.size(), want.size());
    for (size_t k = 0; k < want.size(); ++k) EXPECT_NEAR(got[k], want[k], 1e-5 * std::max(1.0, std::abs(want[k]))) << "step " << i;
  }
  EXPECT_GT(scaled, 3);
}

// A loss scale that is a power of two only changes exponents.
TEST_P(AdaptiveClip, SeesGradientsWithoutTheLossScale) {
  std::vector<std::vector<double>> weights;
  for (const double scale : {1.0, 1024.0}) {
    BoostedTraining t({clip(0.05)}, {.loss_scale_manager = std::make_shared<train::FixedLossScaleManager>(scale)});
    for (int i = 0; i < 3; ++i) t.run(test::small_batch(6, i));
    weights.push_back(test::values_of(t.optimizer->parameters()));
  }
  EXPECT_EQ(weights[0], weights[1]);
  BoostedTraining t({clip(0.05)}, {.loss_scale = 1024});  // which the optimizer divides by
  for (int i = 0; i < 3; ++i) t.run(test::small_batch(6, i));
  EXPECT_EQ(weights[0], test::values_of(t.optimizer->parameters()));
}

TEST_P(AdaptiveClip, LeavesOutWhatOverflows) {
  BoostedTraining t({clip(0.05)}, {.loss_scale_manager = std::make_shared<train::DynamicLossScaleManager>(64)});
  t.run(test::small_batch(6, 0));
  const auto before = test::values_of(t.optimizer->parameters());
  t.run(test::overflowing_batch());
  EXPECT_EQ(test::values_of(t.optimizer->parameters()), before);
}

TEST(AdaptiveClipModes, GraphEqualsEagerWithAccumulation) {
  std::vector<std::vector<double>> weights;
  for (const Mode mode : {Mode::kGraph, Mode::kPynative}) {
    const ModeScope scope(mode);
    BoostedTraining t({train::boosts().make("grad_accumulation", {{"step", 2}}), clip(0.05)});
    for (int i = 0; i < 6; ++i) t.run(test::small_batch(6, i));
    weights.push_back(t.everything());
  }
  EXPECT_EQ(weights[0], weights[1]);
}

}  // namespace
}  // namespace sindri::adaptive_clip_test
