// Sharpness-aware minimisation against a network in double, in both modes, and combined with every other feature of a step.
#include <gtest/gtest.h>

#include <cmath>

#include "sindri/nn/nn.h"
#include "sindri/ops/shape.h"
#include "sindri/train/loss_scale.h"
#include "tests/boost/training.h"
#include "tests/train/temp_folder.h"

namespace sindri::sam_test {
namespace {

using test::BoostedTraining;
using test::ModeScope;
using Settings = std::map<std::string, SettingValue>;

class Sam : public testing::TestWithParam<Mode> {
  ModeScope mode_{GetParam()};
};
INSTANTIATE_TEST_SUITE_P(Modes, Sam, testing::Values(Mode::kGraph, Mode::kPynative));

train::BoostAlgorithmPtr sam(const Settings& settings = {}) { return train::boosts().make("sam", settings); }

// Dense(2, 3), tanh, Dense(3, 2), and the mean of the squared errors, in double. w: weight [3, 2], bias [3], weight [2, 3], bias [2].
std::vector<double> gradient(const std::vector<double>& w, const std::vector<double>& x, const std::vector<double>& y) {
  std::vector<double> g(w.size(), 0);
  const size_t rows = x.size() / 2;
  for (size_t n = 0; n < rows; ++n) {
    double h[3], dh[3] = {0, 0, 0};
    for (size_t j = 0; j < 3; ++j) h[j] = std::tanh(w[2 * j] * x[2 * n] + w[2 * j + 1] * x[2 * n + 1] + w[6 + j]);
    for (size_t k = 0; k < 2; ++k) {
      double out = w[15 + k];
      for (size_t j = 0; j < 3; ++j) out += w[9 + 3 * k + j] * h[j];
      const double d = 2 * (out - y[2 * n + k]) / static_cast<double>(2 * rows);
      g[15 + k] += d;
      for (size_t j = 0; j < 3; ++j) g[9 + 3 * k + j] += d * h[j], dh[j] += d * w[9 + 3 * k + j];
    }
    for (size_t j = 0; j < 3; ++j) {
      const double d = dh[j] * (1 - h[j] * h[j]);
      g[2 * j] += d * x[2 * n], g[2 * j + 1] += d * x[2 * n + 1], g[6 + j] += d;
    }
  }
  return g;
}

// The point of the second gradients: w + rho·T²g / ‖T·g‖.
std::vector<double> climbed(std::vector<double> w, const std::vector<double>& g, double rho, bool adaptive, double eta) {
  const auto t = [&](size_t i) { return adaptive ? std::abs(w[i]) + eta : 1; };
  double squares = 0;
  for (size_t i = 0; i < w.size(); ++i) squares += t(i) * g[i] * t(i) * g[i];
  for (size_t i = 0; i < w.size(); ++i) w[i] += rho * t(i) * t(i) * g[i] / std::sqrt(squares);
  return w;
}

nn::CellPtr small_mlp() {
  return nn::SequentialCell::make(
      {nn::Dense::make({.in_channels = 2, .out_channels = 3}), nn::Tanh::make(), nn::Dense::make({.in_channels = 3, .out_channels = 2})});
}

TEST_P(Sam, IsThePapersInDouble) {
  const std::vector<double> x = {0.3, -1, 0.8, 0.25, -0.5, 1.5, 1, 1}, y = {1, 0, -1, 0.5, 0.25, 2, 0, -1};
  for (const bool adaptive : {false, true}) {
    ops::reset_rng(5);
    set_seed(5);
    const nn::CellPtr net = nn::WithLossCell::make(small_mlp(), nn::MSELoss::make());
    optim::Momentum optimizer(net->trainable_params(), {.learning_rate = 0.5, .momentum = 0});
    train::TrainStep step = train::make_train_step(*net, optimizer);
    const auto applied = train::apply_boosts(step, {.parameters = optimizer.parameters(), .network_state = net->parameters_and_names()},
                                             {sam({{"rho", 0.4}, {"adaptive", adaptive}, {"eta", 0.02}})});
    train::StepRunner runner(step);
    std::vector<double> w = test::values_of(optimizer.parameters());
    ASSERT_EQ(w.size(), 17u);
    for (int i = 0; i < 5; ++i) {
      runner({Tensor::from_values({4, 2}, x, DType::kFloat32), Tensor::from_values({4, 2}, y, DType::kFloat32)}, i);
      const std::vector<double> plain = gradient(w, x, y), g = gradient(climbed(w, plain, 0.4, adaptive, 0.02), x, y);
      double apart = 0;
      for (size_t k = 0; k < w.size(); ++k) w[k] -= 0.5 * g[k], apart = std::max(apart, std::abs(g[k] - plain[k]));
      EXPECT_GT(apart, 0.005) << "a case in which the two gradients differ";
      const auto got = test::values_of(optimizer.parameters());
      for (size_t k = 0; k < w.size(); ++k) EXPECT_NEAR(got[k], w[k], 1e-5) << "step " << i << " weight " << k;
    }
  }
}

// Training the same network with rho 0 and with a negligible rho shows side effects of the second pass: on weights, moving statistics, random numbers, loss.
TEST_P(Sam, BelowRoundingNothingChanges) {
  std::vector<std::vector<double>> results;
  for (const double rho : {0.0, 1e-30}) {
    ops::reset_rng(3);
    set_seed(3);
    const nn::CellPtr net = nn::WithLossCell::make(
        nn::SequentialCell::make({nn::Dense::make({.in_channels = 2, .out_channels = 8}), nn::BatchNorm1d::make({.num_features = 8}),
                                  nn::Dropout::make({.p = 0.5}), nn::Dense::make({.in_channels = 8, .out_channels = 2}), nn::Dropout::make({.p = 0.25})}),
        nn::MSELoss::make());
    net->set_train(true);
    optim::Momentum optimizer(net->trainable_params(), {.learning_rate = 0.1});
    train::TrainStep step = train::make_train_step(*net, optimizer, {.loss_scale_manager = std::make_shared<train::DynamicLossScaleManager>(64)});
    const auto applied = train::apply_boosts(step, {.parameters = optimizer.parameters(), .network_state = net->parameters_and_names()}, {sam({{"rho", rho}})});
    EXPECT_EQ(applied.size(), rho == 0 ? 0u : 1u);
    train::StepRunner runner(step);
    std::vector<double>& all = results.emplace_back();
    for (int i = 0; i < 4; ++i) {
      std::vector<double> x;
      for (int k = 0; k < 24; ++k) x.push_back(std::sin(k + 24 * i));
      const Tensor batch = Tensor::from_values({12, 2}, x, DType::kFloat32);
      all.push_back(runner({batch, batch}, i).loss.item());
    }
    for (const double v : test::values_of(net->get_parameters())) all.push_back(v);
  }
  EXPECT_EQ(results[0], results[1]);
}

TEST_P(Sam, LossScalesCancelOut) {
  std::vector<std::vector<double>> weights;
  const auto train = [&](const train::TrainStepOptions& options) {
    BoostedTraining t({sam({{"rho", 0.2}})}, options);
    for (int i = 0; i < 3; ++i) t.run(test::small_batch(6, i));
    return test::values_of(t.net->get_parameters());
  };
  const auto want = train({});
  EXPECT_EQ(train({.loss_scale_manager = std::make_shared<train::FixedLossScaleManager>(1024.0)}), want);
  EXPECT_EQ(train({.loss_scale = 1024}), want);
}

TEST_P(Sam, LeavesOutWhatOverflows) {
  for (const bool accumulates : {false, true}) {  // a group is skipped as a whole
    std::vector<train::BoostAlgorithmPtr> algorithms = {sam()};
    if (accumulates) algorithms.push_back(train::boosts().make("grad_accumulation", {{"step", 2}}));
    BoostedTraining t(algorithms, {.loss_scale_manager = std::make_shared<train::DynamicLossScaleManager>(64)});
    for (int i = 0; i < 2; ++i) EXPECT_NE(t.run(test::small_batch(6, i)).finite.item(), 0);
    const auto weights = test::values_of(t.optimizer->parameters()), all = test::values_of(t.net->get_parameters());
    t.run(test::overflowing_batch());
    EXPECT_EQ(test::values_of(t.net->get_parameters()), all);
    if (accumulates) { EXPECT_EQ(t.run(test::small_batch(6, 2)).finite.item(), 0); }
    EXPECT_EQ(test::values_of(t.optimizer->parameters()), weights);
  }
}

// An activation may hide overflowed weights: then only the first gradients show it.
TEST_P(Sam, FirstGradientsThatOverflowCount) {
  BoostedTraining t({}, {.loss_scale_manager = std::make_shared<train::DynamicLossScaleManager>(64)});
  bool first = true;
  t.step.gradients = [&first, inner = t.step.gradients](train::TrainStep& self, const TensorList& batch) {
    auto out = inner(self, batch);
    if (first) out.second.of_params[1] = ops::div(out.second.of_params[1], 0.0);
    for (Tensor& g : out.second.of_params) g = first ? g : ops::zeros_like(g);
    first = !first;
    return out;
  };
  t.applied = train::apply_boosts(t.step, {.parameters = t.optimizer->parameters(), .network_state = t.net->parameters_and_names()}, {sam()});
  const auto before = test::values_of(t.net->get_parameters());
  EXPECT_EQ(t.run(test::small_batch(6, 0)).finite.item(), 0);
  EXPECT_EQ(test::values_of(t.net->get_parameters()), before);
}

TEST(SamEager, WeightsComeBackWhenTheSecondPassThrows) {
  const ModeScope scope(Mode::kPynative);
  BoostedTraining t({});
  int pass = 0;
  t.step.forward = [&pass, inner = t.step.forward](const TensorList& batch) {
    if (++pass == 2) throw ValueError("stopped");
    return inner(batch);
  };
  t.applied = train::apply_boosts(t.step, {.parameters = t.optimizer->parameters(), .network_state = t.net->parameters_and_names()}, {sam()});
  const auto before = test::values_of(t.optimizer->parameters());
  EXPECT_THROW(t.run(test::small_batch(6, 0)), ValueError);
  EXPECT_EQ(test::values_of(t.optimizer->parameters()), before);
}

TEST(SamModes, GraphEqualsEager) {
  for (const bool adaptive : {false, true}) {
    for (const int64_t parts : {1, 2}) {
      std::vector<std::vector<double>> results;
      for (const Mode mode : {Mode::kGraph, Mode::kPynative}) {
        const ModeScope scope(mode);
        BoostedTraining t({train::boosts().make("grad_accumulation", {{"step", 2}}), train::boosts().make("adaptive_clip", {{"clipping", 0.05}}),
                           train::boosts().make("average", {{"decay", 0.5}}), sam({{"rho", 0.3}, {"adaptive", adaptive}})},
                          {.micro_batches = parts, .loss_scale_manager = std::make_shared<train::DynamicLossScaleManager>(64, 2, 2)});
        for (int i = 0; i < 6; ++i) t.run(i == 3 ? test::overflowing_batch() : test::small_batch(6, i));
        results.push_back(t.everything());
      }
      EXPECT_EQ(results[0], results[1]);
    }
  }
}

TEST_P(Sam, GoesOnFromAnyStep) {
  const auto run = [&](int64_t stop, const std::string& from, const std::string& folder) {
    test::ModelRun r;
    r.algorithms = {sam({{"rho", 0.2}}), train::boosts().make("grad_accumulation", {{"step", 2}})};
    return r.train(3, stop, from, folder);
  };
  const std::vector<double> whole = run(0, "", "");
  for (int64_t stop = 1; stop < 15; stop += 3) {
    SCOPED_TRACE(stop);
    const TempFolder folder;
    run(stop, "", folder.path());
    EXPECT_EQ(run(0, train::find_newest_checkpoint(folder.path()), ""), whole);
  }
}

}  // namespace
}  // namespace sindri::sam_test
