// Groups of parameters by name: learning rates, decays and the order of updates, for every optimizer.
#include "sindri/optim/groups.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sindri/core/error.h"
#include "sindri/optim/momentum.h"
#include "sindri/optim/registry.h"

namespace sindri::optim {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

struct Three {
  Parameter first{Tensor::from_values({2}, {1, 2}, DType::kFloat64), "stem.weight"};
  Parameter gamma{Tensor::from_values({2}, {1, 1}, DType::kFloat64), "stem.gamma"};
  Parameter last{Tensor::from_values({2}, {3, -1}, DType::kFloat64), "end_point.weight"};
  std::vector<Parameter*> all() { return {&first, &gamma, &last}; }
};

const TensorList kGrads = {Tensor::from_values({2}, {0.5, -1}, DType::kFloat64), Tensor::from_values({2}, {0.25, 2}, DType::kFloat64),
                           Tensor::from_values({2}, {-1, 0.125}, DType::kFloat64)};

TEST(GroupRules, AreReadFromText) {
  const GroupRule both = parse_group_rule("layer1.*  lr=0.1 weight_decay=0");
  EXPECT_EQ(both.pattern, "layer1.*");
  EXPECT_EQ(both.lr_factor, 0.1);
  EXPECT_EQ(both.weight_decay.value(), 0);
  const GroupRule one = parse_group_rule("end_point lr=1e1");
  EXPECT_EQ(one.lr_factor, 10);
  EXPECT_FALSE(one.weight_decay.has_value());
  for (const char* wrong : {"", "  ", "layer1", "lr=0.1", "layer1 lr", "layer1 lr=", "layer1 lr=-1", "layer1 lr=nan", "layer1 lr=0.1x", "layer1 rate=2",
                            "layer1 lr=1 lr=2", "layer1 weight_decay=inf"})
    EXPECT_THROW(parse_group_rule(wrong), ValueError) << wrong;
}

// p -= factor·lr·(g + decay·p), in the order in which the parameters were given.
TEST(Groups, HaveTheirRateAndDecay) {
  Three net;
  Momentum opt(grouped_by_name(net.all(), {{.pattern = "end_point", .lr_factor = 10}, {.pattern = "stem", .weight_decay = 0.5}}, 0.1, 0.25),
               {.learning_rate = 0.1, .momentum = 0, .weight_decay = 0.25});
  ASSERT_THAT(opt.parameters(), ElementsAre(&net.first, &net.gamma, &net.last));
  opt.apply(kGrads);
  EXPECT_THAT(net.first.stored().to_vector<double>(), ElementsAre(1 - 0.1 * (0.5 + 0.5 * 1), 2 - 0.1 * (-1 + 0.5 * 2)));
  EXPECT_THAT(net.gamma.stored().to_vector<double>(), ElementsAre(1 - 0.1 * 0.25, 1 - 0.1 * 2)) << "gamma decays in no group";
  EXPECT_THAT(net.last.stored().to_vector<double>(), ElementsAre(3 - 1.0 * (-1 + 0.25 * 3), -1 - 1.0 * (0.125 + 0.25 * -1)));
  Three all;
  Momentum everything(grouped_by_name(all.all(), {{.pattern = "stem", .weight_decay = 0.5}}, 0.1, 0.25, true), {.learning_rate = 0.1, .momentum = 0});
  EXPECT_EQ(everything.weight_decay(1), 0.5);
}

TEST(Groups, TablesAndSchedulesAreScaled) {
  EXPECT_THAT(scaled_rate(std::vector<float>{1, 0.5, 0.25}, 2).per_step(), ElementsAre(2, 1, 0.5));
  EXPECT_EQ(scaled_rate(0.25, 4).constant(), 1);
  const auto schedule = std::make_shared<ExponentialDecayLR>(1.0, 0.5, 1);
  const LearningRate scaled = scaled_rate(schedule, 0.25);
  EXPECT_EQ(scaled.schedule()->rate(2), 0.0625);
  EXPECT_EQ(scaled.schedule()->construct(Tensor::scalar(2, DType::kInt32)).item(), 0.0625);
}

TEST(Groups, PatternsThatMeanNothingAreRefused) {
  Three net;
  try {
    grouped_by_name(net.all(), {{.pattern = "end_pont", .lr_factor = 10}}, 0.1, 0);
    FAIL();
  } catch (const ValueError& e) {
    EXPECT_THAT(e.message(), HasSubstr("end_pont"));
    EXPECT_THAT(e.fix(), HasSubstr("end_point"));
  }
  EXPECT_THROW(grouped_by_name(net.all(), {{.pattern = "stem", .lr_factor = -1}}, 0.1, 0), ValueError);
  EXPECT_FALSE(grouped_by_name(net.all(), {}, 0.1, 0).grouped());
}

// With every rule, a group with factor 1 changes nothing, and a group with factor 0 keeps its parameters.
TEST(Groups, WorkWithEveryOptimizer) {
  for (const std::string& name : optimizers().offered()) {
    SCOPED_TRACE(name);
    const auto train = [&](Three& net, const std::vector<GroupRule>& rules) {
      const OptimizerOptions options = {.learning_rate = 0.01, .weight_decay = 0.1};
      const auto opt = optimizers().make(name, {}, grouped_by_name(net.all(), rules, 0.01, 0.1, name == "ftrl"), options);
      for (int step = 0; step < 3; ++step) opt->apply(kGrads);
    };
    Three plain, same, held;
    train(plain, {});
    train(same, {{.pattern = "*", .lr_factor = 1, .weight_decay = 0.1}});
    // Without groups, thor decays every parameter; with groups, only those that all optimizers decay. Otherwise it acts like Momentum here, since nothing is
    // preconditioned.
    for (size_t i = 0; i < 3; i += name == "thor" ? 2 : 1)
      EXPECT_EQ(plain.all()[i]->stored().to_vector<double>(), same.all()[i]->stored().to_vector<double>()) << i;
    if (name == "ftrl") {  // its step is not a multiple of the learning rate
      EXPECT_THROW(train(held, {{.pattern = "stem", .lr_factor = 0.5}}), ValueError);
      continue;
    }
    train(held, {{.pattern = "stem", .lr_factor = 0}});
    if (name == "rprop") continue;  // its step sizes adapt; the learning rate is only the first one
    EXPECT_THAT(held.first.stored().to_vector<double>(), ElementsAre(1, 2));
    EXPECT_NE(held.last.stored().to_vector<double>(), (std::vector<double>{3, -1}));
  }
}

}  // namespace
}  // namespace sindri::optim
