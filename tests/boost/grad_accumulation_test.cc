// Gradient accumulation: the mean gradient of n steps, skipped groups, and resuming from any step of a group.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "sindri/boost/grad_accumulation.h"
#include "sindri/core/context.h"
#include "sindri/core/error.h"
#include "sindri/core/rng.h"
#include "sindri/nn/dense.h"
#include "sindri/nn/loss.h"
#include "sindri/nn/nn.h"
#include "sindri/ops/random.h"
#include "sindri/ops/shape.h"
#include "sindri/optim/momentum.h"
#include "sindri/train/model.h"
#include "sindri/train/training_state.h"
#include "tests/amp/small_net.h"
#include "tests/boost/training.h"
#include "tests/train/temp_folder.h"

namespace sindri {
namespace {

using test::BoostedTraining;
using test::ModeScope;

class GradAccumulation : public testing::TestWithParam<Mode> {
  ModeScope mode_{GetParam()};
};
INSTANTIATE_TEST_SUITE_P(Modes, GradAccumulation, testing::Values(Mode::kGraph, Mode::kPynative));

// By hand: an optimizer that gets the mean of each batch's gradients.
TEST_P(GradAccumulation, UpdatesWithTheMeanGradient) {
  BoostedTraining t({train::boosts().make("grad_accumulation", {{"step", 3}})});
  BoostedTraining by_hand({});
  const std::vector<Parameter*> params = by_hand.net->trainable_params();
  for (int update = 0; update < 2; ++update) {
    TensorList mean;
    const auto before = test::values_of(t.net->trainable_params());
    for (int i = 0; i < 3; ++i) {
      const TensorList batch = test::small_batch(6, 1 + 3 * update + i);
      EXPECT_EQ(test::values_of(t.net->trainable_params()), before) << "nothing moves within a group";
      t.run(batch);
      const Gradients g = by_hand.step.gradients(by_hand.step, batch).second;
      for (size_t p = 0; p < g.of_params.size(); ++p) {
        const Tensor share = ops::div(g.of_params[p], 3.0);
        if (i == 0) mean.push_back(share);
        else mean[p] = ops::add(mean[p], share);
      }
    }
    by_hand.optimizer->apply(mean);
    const auto want = test::values_of(params), got = test::values_of(t.net->trainable_params());
    ASSERT_EQ(got.size(), want.size());
    for (size_t i = 0; i < want.size(); ++i) EXPECT_NEAR(got[i], want[i], 1e-6 * std::max(1.0, std::abs(want[i])));
  }
}

// Five steps in groups of three: the last group updates with the mean of two. Without `rest` nothing changes there, and a warning at the end of the run says
// so.
TEST_P(GradAccumulation, TheRestOfATrainingIsAnUpdateWhereItIsSet) {
  BoostedTraining t({train::boosts().make("grad_accumulation", {{"step", 3}, {"rest", std::string("update")}})});
  BoostedTraining kept({train::boosts().make("grad_accumulation", {{"step", 3}})});
  BoostedTraining by_hand({});
  t.step.last_step = kept.step.last_step = 4;
  for (const std::vector<int>& group : std::vector<std::vector<int>>{{0, 1, 2}, {3, 4}}) {
    TensorList mean;
    for (const int i : group) {
      const TensorList batch = test::small_batch(6, 1 + i);
      t.run(batch);
      kept.run(batch);
      const Gradients g = by_hand.step.gradients(by_hand.step, batch).second;
      for (size_t p = 0; p < g.of_params.size(); ++p) {
        const Tensor share = ops::div(g.of_params[p], static_cast<double>(group.size()));
        if (i == group[0]) mean.push_back(share);
        else mean[p] = ops::add(mean[p], share);
      }
    }
    if (group.size() == 2) { EXPECT_NE(test::values_of(kept.net->trainable_params()), test::values_of(t.net->trainable_params())); }
    by_hand.optimizer->apply(mean);
    const auto want = test::values_of(by_hand.net->trainable_params()), got = test::values_of(t.net->trainable_params());
    for (size_t i = 0; i < want.size(); ++i) EXPECT_NEAR(got[i], want[i], 1e-6 * std::max(1.0, std::abs(want[i])));
    if (group.size() == 3) { EXPECT_EQ(test::values_of(kept.net->trainable_params()), got); }
  }
}

TEST_P(GradAccumulation, StepsWithoutAnUpdateAtTheEndAreSaid) {
  const auto said = [](int64_t steps, const std::string& rest) {
    test::ModelRun r;
    r.algorithms = {train::boosts().make("grad_accumulation", {{"step", steps}, {"rest", rest}})};
    testing::internal::CaptureStderr();
    r.train(1, 0, "", "", false);  // five steps
    return testing::internal::GetCapturedStderr();
  };
  EXPECT_THAT(said(3, "keep"), testing::HasSubstr("the last 2 steps changed no weight: an update takes 3"));
  EXPECT_EQ(said(5, "keep"), "");
  EXPECT_EQ(said(3, "update"), "");
}

// Without batch norm, eight parts of a batch are equivalent to the whole batch. Intermediate values take the memory of one part only, because the sums are
// state.
TEST(GradAccumulationOfParts, IsTheWholeBatchInTheMemoryOfOnePart) {
  const ModeScope mode(Mode::kGraph);
  constexpr int64_t kParts = 8, kRows = 64;
  const auto make = [](const std::vector<train::BoostAlgorithmPtr>& algorithms) {
    auto t = std::make_unique<BoostedTraining>(std::vector<train::BoostAlgorithmPtr>{});
    ops::reset_rng(3);
    const auto net = nn::SequentialCell::make({nn::Flatten::make(), nn::Dense::make({.in_channels = 36, .out_channels = 32, .activation = "relu"}),
                                               nn::Dense::make({.in_channels = 32, .out_channels = 3})});
    t->net = std::make_shared<nn::WithLossCell>(net, nn::SoftmaxCrossEntropyWithLogits::make({.sparse = true, .reduction = "mean"}));
    t->optimizer = std::make_unique<optim::Momentum>(t->net->trainable_params(), optim::MomentumOptions{.learning_rate = 0.05, .weight_decay = 1e-3});
    t->step = train::make_train_step(*t->net, *t->optimizer);
    train::BuildContext context{.parameters = t->optimizer->parameters(), .network_state = t->net->parameters_and_names()};
    context.network = t->net.get(), context.optimizer = t->optimizer.get();
    t->applied = train::apply_boosts(t->step, context, algorithms);
    t->new_runner();
    return t;
  };
  const auto collecting = make({train::boosts().make("grad_accumulation", {{"step", kParts}})}), whole = make({}), one = make({});
  int64_t most = 0;
  for (int64_t update = 0; update < 3; ++update) {
    const TensorList batch = test::small_batch(kParts * kRows, 1 + update);
    for (int64_t i = 0; i < kParts; ++i) {
      const TensorList part = {ops::slice(batch[0], {i * kRows, 0, 0, 0}, {(i + 1) * kRows, 1, 6, 6}), ops::slice(batch[1], {i * kRows}, {(i + 1) * kRows})};
      collecting->run(part);
      most = std::max(most, collecting->runner->compiled().info().arena_bytes);
      if (update == 0 && i == 0) one->run(part);
    }
    whole->run(batch);
  }
  const auto got = test::values_of(collecting->net->trainable_params()), want = test::values_of(whole->net->trainable_params());
  for (size_t i = 0; i < want.size(); ++i) ASSERT_NEAR(got[i], want[i], 1e-6 * std::max(1.0, std::abs(want[i])));
  const int64_t alone = one->runner->compiled().info().arena_bytes;
  EXPECT_LE(most, alone + alone / 10);
  EXPECT_GT(whole->runner->compiled().info().arena_bytes, 4 * alone);
}

// Both modes are bitwise identical.
TEST(GradAccumulationModes, GraphEqualsEagerBitForBit) {
  std::vector<std::vector<double>> weights;
  for (const Mode mode : {Mode::kGraph, Mode::kPynative}) {
    const ModeScope scope(mode);
    BoostedTraining t({train::boosts().make("grad_accumulation", {{"step", 2}})}, {.loss_scale_manager = std::make_shared<train::DynamicLossScaleManager>(64)});
    for (int i = 0; i < 5; ++i) t.run(test::small_batch(6, i + 1));
    weights.push_back(t.everything());
    if (mode == Mode::kGraph) { EXPECT_EQ(t.runner->compiled().num_signatures(), 2) << "one graph accumulates, one updates"; }
  }
  EXPECT_EQ(weights[0], weights[1]);
}

// One step of a group overflows: the group is skipped, and the scale adapts once, at its end. The next group is normal.
TEST_P(GradAccumulation, AGroupThatOverflowsIsLeftOutAsAWhole) {
  for (const int bad : {0, 1, 2}) {
    SCOPED_TRACE(bad);
    const auto manager = std::make_shared<train::DynamicLossScaleManager>(1024, 2, 1000);
    BoostedTraining t({train::boosts().make("grad_accumulation", {{"step", 3}})}, {.loss_scale_manager = manager});
    const auto before = test::values_of(t.net->trainable_params());
    for (int i = 0; i < 3; ++i) {
      EXPECT_EQ(manager->get_loss_scale(), 1024);
      const double finite = t.run(i == bad ? test::overflowing_batch() : test::small_batch(6, i + 1)).finite.item();
      EXPECT_EQ(finite, i == 2 ? 0 : 1) << "known at the end of the group";
    }
    EXPECT_EQ(manager->get_loss_scale(), 512);
    EXPECT_EQ(test::values_of(t.net->trainable_params()), before);
    for (const double v : t.everything()) EXPECT_TRUE(std::isfinite(v)) << "also sums and moving statistics";
    for (int i = 0; i < 3; ++i) t.run(test::small_batch(6, i + 1));
    EXPECT_EQ(manager->get_loss_scale(), 512);
    EXPECT_NE(test::values_of(t.net->trainable_params()), before);
  }
}

// The loss is not finite but the gradients are: nan_policy skip skips its group.
TEST_P(GradAccumulation, ALossThatIsNotFiniteCountsForItsGroup) {
  BoostedTraining t({train::boosts().make("grad_accumulation", {{"step", 2}})}, {.skip_nonfinite = true});
  const auto inner = t.step.gradients;
  bool bad = true;
  t.step.gradients = [&](train::TrainStep& step, const TensorList& batch) {
    auto r = inner(step, batch);
    if (bad) r.first = ops::div(r.first, 0.0);
    return r;
  };
  const auto before = test::values_of(t.net->trainable_params());
  t.run(test::small_batch(6, 1));
  bad = false;
  if (GetParam() == Mode::kGraph) t.new_runner();
  EXPECT_EQ(t.run(test::small_batch(6, 2)).finite.item(), 0);
  EXPECT_EQ(test::values_of(t.net->trainable_params()), before);
}

// Through Model, in the middle of groups and of epochs: five rows per epoch, groups of three.
TEST_P(GradAccumulation, GoesOnFromAnyStepOfAGroup) {
  const auto run = [](int64_t stop, const std::string& from, const std::string& folder) {
    test::ModelRun r;
    r.algorithms = {train::boosts().make("grad_accumulation", {{"step", 3}})};
    return r.train(3, stop, from, folder);
  };
  const std::vector<double> whole = run(0, "", "");
  for (int64_t stop = 1; stop < 15; ++stop) {
    SCOPED_TRACE(stop);
    const TempFolder folder;
    run(stop, "", folder.path());
    EXPECT_EQ(run(0, train::find_newest_checkpoint(folder.path()), ""), whole);
  }
}

// A second call of Model.train starts where the first one left the group.
TEST_P(GradAccumulation, ASecondTrainingGoesOnInTheGroup) {
  test::ModelRun a, b;
  a.algorithms = {train::boosts().make("grad_accumulation", {{"step", 3}})};
  b.algorithms = {train::boosts().make("grad_accumulation", {{"step", 3}})};
  const std::vector<double> at_once = a.train(2, 0, "", "", false);
  b.train(1, 0, "", "", false);
  EXPECT_EQ(b.train_again(), at_once);
}

// Five steps in a group of six: one warning; with one step more, or starting within the group, there is an update.
TEST(GradAccumulationOfFewSteps, ATrainingWithoutAnUpdateIsWarnedOf) {
  const auto said = [](const std::function<void(test::ModelRun&)>& train, int64_t steps) {
    test::ModelRun r;
    r.algorithms = {train::boosts().make("grad_accumulation", {{"step", steps}})};
    testing::internal::CaptureStderr();
    train(r);
    const std::string text = testing::internal::GetCapturedStderr(), warning = "no weight will change: ";
    const size_t at = text.find(warning);
    return at == std::string::npos ? "" : text.substr(at + warning.size(), text.find(" |", at) - at - warning.size());
  };
  const auto whole = [](test::ModelRun& r) { r.train(1, 0, "", ""); };
  EXPECT_EQ(said(whole, 6), "the run trains 5 of the 6 steps of one update, but not the last one");
  EXPECT_EQ(said(whole, 5), "");
  EXPECT_EQ(said([](test::ModelRun& r) { r.train(3, 5, "", ""); }, 6), "the run trains 5 of the 6 steps of one update, but not the last one");
  EXPECT_EQ(said([](test::ModelRun& r) { r.train(3, 0, "", ""); }, 6), "");
  test::ModelRun again;
  again.algorithms = {train::boosts().make("grad_accumulation", {{"step", 6}})};
  again.train(1, 0, "", "");
  testing::internal::CaptureStderr();
  again.train_again();
  EXPECT_THAT(testing::internal::GetCapturedStderr(), testing::Not(testing::HasSubstr("no weight will change"))) << "its first step ends the group";
}

// 24 steps of one row each in groups of four; a row is infinite where `bad` says so. Returns the counts at the end.
train::StepCounts counts_of(bool scaled, const std::function<bool(int64_t row)>& bad) {
  struct AtTheEnd final : train::Callback {
    void end(train::TrainState& s) override { counts = s.counts(); }
    train::StepCounts counts;
  };
  dataset::GeneratorDataset::Options rows;
  rows.column_names = {"x", "label"};
  rows.size = 24;
  rows.shuffle = false;
  rows.row = [&](int64_t i) {
    return dataset::GeneratorDataset::Row{Tensor::from_values({2}, {bad(i) ? HUGE_VAL : 0.5, 1}, DType::kFloat32),
                                          Tensor::scalar(static_cast<double>(i % 3), DType::kInt32)};
  };
  ops::reset_rng(7);
  const auto net = nn::Dense::make({.in_channels = 2, .out_channels = 3});
  train::ModelOptions o;
  o.nan_policy = train::NanPolicy::kSkip;
  if (scaled) o.loss_scale_manager = std::make_shared<train::DynamicLossScaleManager>(256, 2, 1000);
  o.algorithms = {train::boosts().make("grad_accumulation", {{"step", 4}})};
  const auto optimizer = std::make_shared<optim::Momentum>(net->trainable_params(), optim::MomentumOptions{.learning_rate = 0.1});
  train::Model model(net, nn::SoftmaxCrossEntropyWithLogits::make({.sparse = true, .reduction = "mean"}), optimizer, o);
  const auto at_the_end = std::make_shared<AtTheEnd>();
  model.train(1, dataset::GeneratorDataset::make(rows)->batch(1), {at_the_end}, {.dataset_sink_mode = false});
  return at_the_end->counts;
}

// A skipped group counts as four skipped steps, whichever of them overflowed.
TEST_P(GradAccumulation, StepsOfAGroupThatIsLeftOutAllCount) {
  for (const bool scaled : {false, true}) {
    SCOPED_TRACE(scaled);
    for (const int64_t place : {1, 3}) EXPECT_THROW(counts_of(scaled, [&](int64_t row) { return row % 4 == place; }), NonFiniteError) << place;
    const train::StepCounts half = counts_of(scaled, [](int64_t row) { return row % 8 >= 5; });
    EXPECT_EQ(half.nonfinite, 12) << "each second group, which max_skipped still allows";
    EXPECT_EQ(half.nonfinite_in_epoch, 12);
    EXPECT_EQ(scaled ? half.overflow : half.skipped, 12);
    EXPECT_EQ(scaled ? half.skipped : half.overflow, 0);
  }
}

// Without Model, where only the counter knows the position in the group.
TEST(CollectGradients, TheCounterSaysWhichStepIsTheLast) {
  Parameter sum(Tensor::zeros({2}), "sum", false), count(Tensor::scalar(0, DType::kInt32), "count", false);
  const auto step = [&](double a, double b) {
    Gradients g;
    g.of_params = {Tensor::from_values({2}, {a, b})};
    return boost::collect_gradients({&sum}, count, 2, std::move(g));
  };
  for (int group = 0; group < 2; ++group) {
    EXPECT_FALSE(step(2, 6).has_value());
    EXPECT_EQ(sum.stored().to_vector<double>(), (std::vector<double>{1, 3}));
    EXPECT_EQ(count.stored().item(), 1);
    const std::optional<Gradients> due = step(4, -6);
    ASSERT_TRUE(due.has_value());
    EXPECT_EQ(due->of_params[0].to_vector<double>(), (std::vector<double>{3, 0}));
    EXPECT_FALSE(due->skip.defined());
    EXPECT_EQ(sum.stored().to_vector<double>(), (std::vector<double>{0, 0}));
    EXPECT_EQ(count.stored().item(), 0);
  }
  Gradients one_too_many;
  one_too_many.of_params = {Tensor::zeros({2})};
  EXPECT_THROW(boost::collect_gradients({}, count, 2, one_too_many), ValueError);
}

TEST(GradAccumulationSettings, Checks) {
  EXPECT_NE(train::boosts().make("grad_accumulation", {})->idle(), "");
  EXPECT_EQ(train::boosts().make("grad_accumulation", {{"step", 4}})->steps_per_update(), 4);
  EXPECT_THROW(train::boosts().make("grad_accumulation", {{"step", 0}}), ValueError);
  EXPECT_THROW(train::boosts().make("grad_accumulation", {{"steps", 4}}), ValueError);
  BoostedTraining idle({train::boosts().make("grad_accumulation", {})});
  const auto before = test::values_of(idle.net->trainable_params());
  idle.run(test::small_batch(6, 1));
  EXPECT_NE(test::values_of(idle.net->trainable_params()), before) << "every step is an update";
}

}  // namespace
}  // namespace sindri
