// Gradient freezing: the schedules, the units, and steps that leave the first parameters bitwise unchanged.
#include "sindri/boost/grad_freeze.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "sindri/core/error.h"
#include "tests/boost/training.h"

namespace sindri::grad_freeze_test {
namespace {

using test::BoostedTraining;
using test::ModeScope;

train::BoostAlgorithmPtr freeze(int64_t groups, int64_t type = 0, double p = 0.5) {
  return train::boosts().make("grad_freeze", {{"param_groups", groups}, {"freeze_type", type}, {"freeze_p", p}, {"total_steps", int64_t{100}}});
}

TEST(GradFreezeSchedule, InARow) {
  const std::vector<int> s = boost::freeze_sequence(10, 0, 0.7, 1000, 0);
  EXPECT_EQ(s.size(), 1010u);
  for (size_t i = 0; i < s.size(); ++i) EXPECT_EQ(s[i], std::max(0, static_cast<int>(i % 29) - 19)) << i;  // 20 zeros, then 1 … 9
  EXPECT_EQ(boost::freeze_sequence(1, 0, 0.7, 100, 0), std::vector<int>(101, 0));
  EXPECT_EQ(boost::freeze_sequence(1000, 0, 1 - 1e-9, 100, 0), std::vector<int>(101, 0));  // more whole steps than any integer holds
}

TEST(GradFreezeSchedule, Drawn) {
  const std::vector<int> s = boost::freeze_sequence(10, 1, 0.7, 20000, 3);
  std::map<int, int> counts;
  for (const int v : s) ++counts[v];
  EXPECT_NEAR(counts[0] / static_cast<double>(s.size()), 0.7, 0.005);
  const double frozen = static_cast<double>(s.size()) - counts[0];
  for (int i = 1; i < 10; ++i) EXPECT_NEAR(counts[i] / frozen, (10 - i) / 45.0, 0.02) << i;
  EXPECT_EQ(s[0], 0);
  EXPECT_NE(s[1], 0);
  EXPECT_EQ(s, boost::freeze_sequence(10, 1, 0.7, 20000, 3));
  EXPECT_NE(s, boost::freeze_sequence(10, 1, 0.7, 20000, 4));
}

TEST(GradFreezeSchedule, Units) {
  const std::vector<std::string> names = {"conv1.weight", "bn1.gamma", "bn1.beta", "conv2.weight", "bn2.gamma", "bn2.beta", "fc.weight", "fc.bias"};
  EXPECT_THAT(boost::freeze_starts(names, 3), testing::ElementsAre(0, 3, 6));
  EXPECT_THAT(boost::freeze_starts(names, 2), testing::ElementsAre(0, 3));
  EXPECT_THAT(boost::freeze_starts(names, 10), testing::Each(0));
  EXPECT_THAT(boost::freeze_starts({"a", "b", "c", "d", "d.bias"}, 2), testing::ElementsAre(0, 3));
}

class GradFreeze : public testing::TestWithParam<Mode> {
  ModeScope mode_{GetParam()};
};
INSTANTIATE_TEST_SUITE_P(Modes, GradFreeze, testing::Values(Mode::kGraph, Mode::kPynative));

std::vector<double> of(optim::Optimizer& o, size_t begin, size_t end) {
  std::vector<Parameter*> all;
  for (size_t i = begin; i < end; ++i) {
    all.push_back(o.parameters()[i]);
    for (Parameter* p : o.state_of(i)) all.push_back(p);
  }
  return test::values_of(all);
}

// Steps 1, 3, … of p = 0.5 and two variants are frozen: the first parameters and their momentum stay unchanged, and the others are updated as in whole steps.
TEST_P(GradFreeze, FrozenParametersStayToTheBit) {
  BoostedTraining t({freeze(2)}), whole({});
  std::vector<std::string> names;
  for (const Parameter* p : t.optimizer->parameters()) names.push_back(p->name());
  const size_t first = boost::freeze_starts(names, 2)[1], count = names.size();
  ASSERT_GT(first, 0u);
  for (int64_t i = 0; i < 6; ++i) {
    // The unfrozen network continues from the same point, and its step is whole.
    for (size_t k = 0; k < count; ++k) {
      whole.optimizer->parameters()[k]->store(t.optimizer->parameters()[k]->stored().clone());
      for (size_t s = 0; s < t.optimizer->state_of(k).size(); ++s) whole.optimizer->state_of(k)[s]->store(t.optimizer->state_of(k)[s]->stored().clone());
    }
    const std::vector<double> before = of(*t.optimizer, 0, first);
    const double loss = t.run(test::small_batch(6, i)).loss.item();
    EXPECT_EQ(loss, whole.run(test::small_batch(6, i)).loss.item());
    EXPECT_EQ(of(*t.optimizer, first, count), of(*whole.optimizer, first, count)) << i;
    if (i % 2 == 1) {
      EXPECT_EQ(of(*t.optimizer, 0, first), before);
    } else {
      EXPECT_EQ(of(*t.optimizer, 0, first), of(*whole.optimizer, 0, first));
    }
  }
}

TEST_P(GradFreeze, WithAccumulationAVariantHoldsForAnUpdate) {
  BoostedTraining t({freeze(2), train::boosts().make("grad_accumulation", {{"step", int64_t{2}}})});
  std::vector<std::string> names;
  for (const Parameter* p : t.optimizer->parameters()) names.push_back(p->name());
  const size_t first = boost::freeze_starts(names, 2)[1];
  for (int64_t update = 0; update < 4; ++update) {
    const std::vector<double> before = of(*t.optimizer, 0, first);
    t.run(test::small_batch(6, 2 * update)), t.run(test::small_batch(6, 2 * update + 1));
    EXPECT_EQ(of(*t.optimizer, 0, first) == before, update % 2 == 1) << update;
  }
  train::TrainState s;
  s.cur_step_num = 6;  // the second of three updates
  for (const auto& a : t.applied)
    for (const auto& [name, share] : a->columns(s)) EXPECT_DOUBLE_EQ(share, 2.0 / 6) << name;
}

// An optimizer may order parameters by groups: the frozen ones are still those at the network's input.
TEST_P(GradFreeze, TheOrderIsTheNetworks) {
  const nn::CellPtr net = test::small_net_with_loss();
  std::vector<Parameter*> params = net->trainable_params();
  std::vector<std::string> names;
  for (const Parameter* p : params) names.push_back(p->name());
  const size_t first = boost::freeze_starts(names, 2)[1];
  const std::vector<Parameter*> backwards(params.rbegin(), params.rend());
  optim::Momentum optimizer(backwards, optim::MomentumOptions{.learning_rate = 0.05});
  train::TrainStep step = train::make_train_step(*net, optimizer, {});
  const train::BuildContext context{.parameters = optimizer.parameters(), .network_state = net->parameters_and_names()};
  const auto applied = train::apply_boosts(step, context, {freeze(2)});
  train::StepRunner runner(step);
  for (int64_t i = 0; i < 4; ++i) {
    std::vector<std::vector<double>> before;
    for (Parameter* p : params) before.push_back(test::values_of({p}));
    runner(test::small_batch(6, i), i);
    for (size_t k = 0; k < params.size(); ++k) EXPECT_EQ(test::values_of({params[k]}) == before[k], i % 2 == 1 && k < first) << i << ", " << names[k];
  }
}

// Variants and their order as written in the settings.
TEST_P(GradFreeze, VariantsAndStrategyOfOnesOwn) {
  const std::vector<double> starts = {0, 4, 2}, rising = {0, 2, 4}, strategy = {2, 0, 1};
  EXPECT_THROW(train::boosts().make("grad_freeze", {{"starts", starts}}), ValueError);
  BoostedTraining t({train::boosts().make("grad_freeze", {{"starts", rising}, {"strategy", strategy}})});
  for (int64_t i = 0; i < 7; ++i) {
    const auto first = static_cast<size_t>(rising[static_cast<size_t>(strategy[static_cast<size_t>(i % 3)])]);
    const std::vector<double> frozen = of(*t.optimizer, 0, first), trained = of(*t.optimizer, first, first + 1);
    t.run(test::small_batch(6, i));
    EXPECT_EQ(of(*t.optimizer, 0, first), frozen) << i;
    EXPECT_NE(of(*t.optimizer, first, first + 1), trained) << i;
  }
}

TEST(GradFreezeRefusals, StartsAndStrategies) {
  const std::vector<double> two = {0, 1}, late = {1, 2}, far = {0, 5}, three = {0, 2};
  EXPECT_THROW(train::boosts().make("grad_freeze", {{"starts", late}}), ValueError);
  EXPECT_THROW(train::boosts().make("grad_freeze", {{"starts", two}, {"strategy", three}}), ValueError);
  EXPECT_THROW(BoostedTraining({train::boosts().make("grad_freeze", {{"starts", far}})}), ValueError);  // there are five parameters
}

TEST(GradFreezeRefusals, TooFewParametersAndOthers) {
  testing::internal::CaptureStderr();
  BoostedTraining few({freeze(100)}), plain({});
  EXPECT_THAT(testing::internal::GetCapturedStderr(), testing::HasSubstr("too few for 100 variants: nothing is ever frozen"));
  for (int64_t i = 0; i < 3; ++i) few.run(test::small_batch(6, i)), plain.run(test::small_batch(6, i));
  EXPECT_EQ(few.everything(), plain.everything());
  EXPECT_THROW(train::boosts().make("grad_freeze", {{"freeze_type", int64_t{2}}}), ValueError);
  EXPECT_THROW(train::boosts().make("grad_freeze", {{"freeze_p", 1.0}}), ValueError);
  EXPECT_NE(freeze(1)->idle(), "");
  EXPECT_THROW(BoostedTraining({freeze(2), train::boosts().make("sam", {})}), ValueError);
}

}  // namespace
}  // namespace sindri::grad_freeze_test
