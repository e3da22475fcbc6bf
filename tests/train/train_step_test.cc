// Parts of a batch, choices of graphs, and stages between those of a step.
#include "sindri/train/train_step.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sindri/core/context.h"
#include "sindri/core/error.h"
#include "sindri/core/rng.h"
#include "sindri/nn/container.h"
#include "sindri/nn/dense.h"
#include "sindri/nn/loss.h"
#include "sindri/ops/elementwise.h"
#include "sindri/ops/shape.h"
#include "sindri/optim/momentum.h"

namespace sindri {
namespace {

using ::testing::ElementsAre;
using train::TrainStep;

struct Training {
  explicit Training(const train::TrainStepOptions& options = {}) {
    set_seed(4);
    net = nn::WithLossCell::make(nn::Dense::make({.in_channels = 3, .out_channels = 2}),
                                 nn::SoftmaxCrossEntropyWithLogits::make({.sparse = true, .reduction = "mean"}));
    net->set_train();
    optimizer = std::make_unique<optim::Momentum>(net->trainable_params(), optim::MomentumOptions{.learning_rate = 0.1});
    step = train::make_train_step(*net, *optimizer, options);
  }
  std::vector<double> weights() {
    std::vector<double> out;
    for (const Parameter* p : net->get_parameters()) {
      for (const double v : p->stored().to_vector<double>()) out.push_back(v);
    }
    return out;
  }
  nn::CellPtr net;
  std::unique_ptr<optim::Optimizer> optimizer;
  TrainStep step;
};

TensorList batch(int64_t rows) {
  std::vector<double> x, y;
  for (int64_t i = 0; i < rows; ++i) {
    for (int j = 0; j < 3; ++j) x.push_back(0.1 * static_cast<double>((7 * i + 3 * j) % 11) - 0.5);
    y.push_back(static_cast<double>(i % 2));
  }
  return {Tensor::from_values({rows, 3}, x, DType::kFloat32), Tensor::from_values({rows}, y, DType::kInt32)};
}

class TrainStepModes : public testing::TestWithParam<Mode> {
 protected:
  void SetUp() override { set_mode(GetParam()); }
  void TearDown() override { set_mode(before_); }
  Mode before_ = context().mode;
};
INSTANTIATE_TEST_SUITE_P(Modes, TrainStepModes, testing::Values(Mode::kGraph, Mode::kPynative));

TEST_P(TrainStepModes, PartsOfABatchGiveItsMeanGradient) {
  Training whole, parts({.micro_batches = 4});
  train::StepRunner run_whole(whole.step), run_parts(parts.step);
  for (int64_t i = 0; i < 3; ++i) {
    EXPECT_NEAR(run_whole(batch(8), i).loss.item(), run_parts(batch(8), i).loss.item(), 1e-6);
    const std::vector<double> a = whole.weights(), b = parts.weights();
    for (size_t j = 0; j < a.size(); ++j) EXPECT_NEAR(a[j], b[j], 1e-6);
  }
  EXPECT_THROW(run_parts(batch(6), 3), ShapeError);
  EXPECT_THROW(train::make_train_step(*whole.net, *whole.optimizer, {.micro_batches = 0}), ValueError);
}

// Updates written in sequence or each as soon as it is ready are bitwise identical; stages in between are called.
TEST_P(TrainStepModes, StagesOfTheUpdateCanBeWrapped) {
  Training plain, wrapped;
  int seen = 0;
  wrapped.step.reduce_updates = [&seen, inner = wrapped.step.reduce_updates](optim::Updates u) {
    ++seen;
    return inner(std::move(u));
  };
  EXPECT_TRUE(wrapped.step.reduce_updates.replaced());
  EXPECT_FALSE(plain.step.reduce_updates.replaced());
  train::StepRunner a(plain.step), b(wrapped.step);
  for (int64_t i = 0; i < 3; ++i) a(batch(4), i), b(batch(4), i);
  EXPECT_EQ(plain.weights(), wrapped.weights());
  EXPECT_EQ(seen, GetParam() == Mode::kGraph ? 1 : 3);
  // Half of every change.
  Training half;
  half.step.reduce_updates = [](optim::Updates u) {
    for (size_t i = 0; i < u.params.size(); ++i) u.set_delta(i, ops::mul(u.delta(i), 0.5));
    return u;
  };
  Training before;
  train::StepRunner c(half.step), d(before.step);
  const std::vector<double> start = half.weights();
  c(batch(4), 0), d(batch(4), 0);
  for (size_t i = 0; i < start.size(); ++i) EXPECT_NEAR(half.weights()[i] - start[i], 0.5 * (before.weights()[i] - start[i]), 1e-7);
}

TEST_P(TrainStepModes, ChoicesOfAStepMakeItsGraph) {
  Training t;
  const size_t odd = t.step.add_choice(2, [](const TrainStep&, int64_t step) { return static_cast<int>(step % 2); });
  const size_t third = t.step.add_choice(3, [](const TrainStep&, int64_t step) { return static_cast<int>(step % 3); });
  t.step.variant = [](int64_t update) { return update >= 6 ? 5 : 0; };
  std::vector<int> now;
  t.step.after_apply = [&](TrainStep& step, const Tensor&) { now = {step.chosen(odd), step.chosen(third)}; };
  train::StepRunner run(t.step);
  for (int64_t i = 0; i < 6; ++i) {
    run(batch(4), i);
    EXPECT_THAT(now, ElementsAre(i % 2, i % 3)) << "traced, or run, with its step's choices";
  }
  EXPECT_EQ(t.step.variant_at(6) - t.step.variant_at(0), 5 * 6) << "the optimizer's lies above the choices";
  EXPECT_THROW(t.step.add_choice(1, nullptr), ValueError);
}

// A guard that only sets `skip`; values that stages pass on are seen by the others and reported.
TEST_P(TrainStepModes, AGuardThatOnlySaysSkipIsReported) {
  Training t;
  const Tensor skips = Tensor::full({}, 1, DType::kBool);
  Tensor seen;
  t.step.guard = [&](const Gradients&, const Tensor&, bool) { return train::Verdict{skips}; };
  t.step.after_apply = [&](TrainStep&, const Tensor& skip) { seen = skip; };
  train::StepRunner run(t.step);
  const std::vector<double> before = t.weights();
  const train::StepResult r = run(batch(4), 0);
  ASSERT_TRUE(r.finite.defined());
  EXPECT_EQ(r.finite.item(), 0);
  EXPECT_EQ(t.weights(), before);
  EXPECT_TRUE(seen.defined());
}

TEST_P(TrainStepModes, AfterApplyGetsTheSkipOfTheGradients) {
  Training t;
  Tensor handed, seen;
  t.step.transform_gradients = [&](Gradients g) {
    g.skip = handed = ops::logical_not(ops::full({}, 0, DType::kBool));
    return g;
  };
  t.step.after_apply = [&](TrainStep&, const Tensor& skip) { seen = skip; };
  train::StepRunner run(t.step);
  const std::vector<double> before = t.weights();
  run(batch(4), 0);
  EXPECT_EQ(t.weights(), before);
  ASSERT_TRUE(seen.defined());
  EXPECT_EQ(seen.id(), handed.id());
}

// One graph reports whether it took effect, another never skips a step.
TEST_P(TrainStepModes, VariantsMayDifferInWhatTheyReport) {
  Training t;
  t.step.add_choice(2, [](const TrainStep&, int64_t step) { return static_cast<int>(step % 2); });
  t.step.run = [](TrainStep& step, const TrainStep::Batch& b) -> train::StepResult {
    const Tensor loss = ops::cast(step.forward(b), DType::kFloat32);
    if (step.chosen(0) == 0) return {loss};
    return {loss, ops::full({}, 1, DType::kBool)};
  };
  train::StepRunner run(t.step);
  for (int64_t i = 0; i < 5; ++i) EXPECT_EQ(run(batch(4), i).finite.defined(), i % 2 == 1) << i;
}

// Values that may be restored are held no longer than needed.
TEST_P(TrainStepModes, OldValuesAreLetGoBeforeTheUpdate) {
  Training t({.skip_nonfinite = true});
  std::weak_ptr<int> old;
  t.step.snapshot = [&old]() -> TrainStep::Restore {
    const auto held = std::make_shared<int>(0);
    old = held;
    return [held](const Tensor&) {};
  };
  bool held_at_update = true;
  t.step.update = [&](TrainStep&, const Gradients&) { held_at_update = !old.expired(); };
  train::StepRunner run(t.step);
  run(batch(4), 0);
  EXPECT_FALSE(held_at_update);
}

}  // namespace
}  // namespace sindri
