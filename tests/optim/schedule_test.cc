// Schedules against closed forms, written independently in double.
#include "sindri/optim/schedule.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "sindri/core/error.h"
#include "sindri/graph/compile.h"
#include "sindri/ops/elementwise.h"
#include "sindri/optim/registry.h"

namespace sindri::optim {
namespace {

double at(const LearningRateSchedule& s, int64_t step) { return s.construct(Tensor::scalar(static_cast<double>(step), DType::kInt32)).item(); }

TEST(Schedule, Cells) {
  const PolynomialDecayLR poly(0.1, 0.01, 10, 2), again(0.1, 0.01, 10, 1, true);
  const WarmUpLR warm(0.2, 5);
  const ExponentialDecayLR exponential(0.1, 0.9, 4), stairs(0.1, 0.9, 4, true);
  const NaturalExpDecayLR natural(0.1, 0.5, 4), natural_stairs(0.1, 0.5, 4, true);
  const InverseDecayLR inverse(0.1, 0.5, 4, true);
  const CosineDecayLR cosine(0.01, 0.1, 8);
  for (int64_t i = 0; i < 25; ++i) {
    const auto t = static_cast<double>(i);
    EXPECT_NEAR(at(poly, i), 0.09 * std::pow(1 - std::min(t, 10.0) / 10, 2) + 0.01, 1e-7) << i;
    EXPECT_NEAR(at(again, i), 0.09 * (1 - t / (10 * std::max(std::ceil(t / 10), 1.0))) + 0.01, 1e-7) << i;
    EXPECT_NEAR(at(warm, i), 0.2 * std::min(t, 5.0) / 5, 1e-7) << i;
    EXPECT_NEAR(at(exponential, i), 0.1 * std::pow(0.9, t / 4), 1e-7) << i;
    EXPECT_NEAR(at(stairs, i), 0.1 * std::pow(0.9, std::floor(t / 4)), 1e-7) << i;
    EXPECT_NEAR(at(natural, i), 0.1 * std::exp(-0.5 * t), 1e-7) << i;
    EXPECT_NEAR(at(natural_stairs, i), 0.1 * std::exp(-0.5 * 4 * std::floor(t / 4)), 1e-7) << i;
    EXPECT_NEAR(at(inverse, i), 0.1 / (1 + 0.5 * std::floor(t / 4)), 1e-7) << i;
    EXPECT_NEAR(at(cosine, i), 0.01 + 0.045 * (1 + std::cos(std::numbers::pi * std::min(t, 8.0) / 8)), 1e-7) << i;
  }
}

TEST(Schedule, Lists) {
  EXPECT_THAT(piecewise_constant_lr({2, 5}, {0.5, 0.25}), ::testing::ElementsAre(0.5f, 0.5f, 0.25f, 0.25f, 0.25f));
  const auto exponential = exponential_decay_lr(0.1, 0.9, 12, 2, 3), stairs = exponential_decay_lr(0.1, 0.9, 12, 2, 3, true);
  const auto natural = natural_exp_decay_lr(0.1, 0.9, 12, 2, 3, true), inverse = inverse_decay_lr(0.1, 0.5, 12, 2, 3);
  const auto cosine = cosine_decay_lr(0.01, 0.1, 12, 2, 4), poly = polynomial_decay_lr(0.1, 0.01, 12, 2, 4, 0.5),
             grown = polynomial_decay_lr(0.1, 0.01, 12, 2, 4, 1, true);
  const auto warm = warmup_lr(0.1, 12, 2, 4);
  for (size_t i = 0; i < 12; ++i) {
    const double e = std::floor(static_cast<double>(i) / 2);
    EXPECT_FLOAT_EQ(exponential[i], static_cast<float>(0.1 * std::pow(0.9, e / 3)));
    EXPECT_FLOAT_EQ(stairs[i], static_cast<float>(0.1 * std::pow(0.9, std::floor(e / 3))));
    EXPECT_FLOAT_EQ(natural[i], static_cast<float>(0.1 * std::exp(-0.9 * 3 * std::floor(e / 3))));
    EXPECT_FLOAT_EQ(inverse[i], static_cast<float>(0.1 / (1 + 0.5 * e / 3)));
    EXPECT_FLOAT_EQ(cosine[i], static_cast<float>(0.01 + 0.045 * (1 + std::cos(std::numbers::pi * std::min(e, 4.0) / 4))));
    EXPECT_FLOAT_EQ(poly[i], static_cast<float>(0.09 * std::sqrt(1 - std::min(e, 4.0) / 4) + 0.01));
    EXPECT_FLOAT_EQ(grown[i], static_cast<float>(0.09 * (1 - e / (4 * std::max(std::ceil(e / 4), 1.0))) + 0.01));
    EXPECT_FLOAT_EQ(warm[i], static_cast<float>(0.1 * std::min(e, 4.0) / 4));
  }
}

// The schedules that only settings files choose; the others are compared with MindSpore in schedule_expectations_test.cc.
TEST(Schedule, OfSettingsFiles) {
  const Course course{.learning_rate = 0.4, .steps = 20, .warmup_steps = 3, .steps_per_epoch = 4};
  const auto constant = schedules().make("constant", {}, course), linear = schedules().make("linear", {{"end", 0.1}}, course);
  const auto step = schedules().make("step", {{"milestones", std::vector<double>{2, 4}}, {"gamma", 0.5}}, course);
  EXPECT_TRUE(constant->fixed());
  EXPECT_FALSE(linear->fixed());
  for (int64_t i = 0; i < 25; ++i) {
    const double line = 0.4 - 0.3 * static_cast<double>(std::min<int64_t>(i, 20)) / 20, stairs = std::pow(0.5, (i >= 5 ? 1 : 0) + (i >= 13 ? 1 : 0));
    const std::pair<const LearningRateSchedule&, double> expected[] = {{*constant, 0.4}, {*linear, line}, {*step, 0.4 * stairs}};
    for (const auto& [schedule, want] : expected) {
      EXPECT_NEAR(at(schedule, i), want, 1e-7) << i;
      EXPECT_DOUBLE_EQ(schedule.rate(i), want) << i;
    }
  }
}

TEST(Schedule, WarmRestarts) {
  const auto s = schedules().make("cosine_restarts", {{"end", 0.1}, {"decay_steps", int64_t{8}}}, Course{.learning_rate = 0.4});
  for (int64_t i = 0; i < 20; ++i) EXPECT_NEAR(s->rate(i), 0.25 + 0.15 * std::cos(std::numbers::pi * static_cast<double>(i % 8) / 8), 1e-15) << i;
}

// For every registered schedule, the three forms agree.
TEST(Schedule, TablesAndStepsHaveTheSameRates) {
  for (const std::string& name : schedules().names()) {
    std::map<std::string, SettingValue> given;
    if (schedules().info(name).find("milestones") != nullptr) given["milestones"] = std::vector<double>{3, 4};
    const auto schedule = schedules().make(name, given, Course{.learning_rate = 0.3, .steps = 11, .warmup_steps = 2, .steps_per_epoch = 2});
    CompiledFn compiled = compile([&](Span<const Tensor> step) -> TensorList { return {schedule->construct(step[0])}; });
    for (int64_t i = 0; i < 25; ++i) {
      const TensorList step = {Tensor::scalar(static_cast<double>(i), DType::kInt32)};
      EXPECT_NEAR(at(*schedule, i), schedule->rate(i), 1e-7) << name << " at step " << i;
      EXPECT_EQ(compiled(step)[0].item(), at(*schedule, i)) << name << " at step " << i;
    }
  }
}

TEST(Schedule, OneWithoutAFormulaHasRatesToo) {
  struct Counted final : LearningRateSchedule {
    Tensor construct(const Tensor& global_step) const override { return ops::mul(ops::cast(global_step, DType::kFloat32), 0.5); }
  };
  EXPECT_EQ(Counted().rate(3), 1.5);
  EXPECT_FALSE(Counted().fixed());
}

LrOptions seed(const std::string& mode) {
  return {.lr_init = 0.02, .lr_end = 0.001, .lr_max = 0.8, .warmup_epochs = 2, .total_epochs = 10, .steps_per_epoch = 5, .lr_decay_mode = mode};
}

TEST(Schedule, GetLrOfTheResNetScripts) {
  const auto steps = get_lr(seed("steps")), poly = get_lr(seed("poly")), cosine = get_lr(seed("cosine")), linear = get_lr(seed("linear"));
  ASSERT_EQ(linear.size(), 50u);
  for (int i = 0; i < 50; ++i) {
    const bool warm = i < 10;
    const double up = 0.02 + 0.78 * i / 10, left = 1 - (i - 10) / 40.0;
    EXPECT_FLOAT_EQ(steps[static_cast<size_t>(i)], static_cast<float>(warm ? up : i < 15 ? 0.8 : i < 30 ? 0.08 : i < 40 ? 0.008 : 0.0008)) << i;
    EXPECT_FLOAT_EQ(poly[static_cast<size_t>(i)], static_cast<float>(warm ? up : 0.8 * left * left)) << i;
    EXPECT_FLOAT_EQ(linear[static_cast<size_t>(i)], static_cast<float>(warm ? up : 0.8 - 0.799 * (i - 10) / 40.0)) << i;
    const double cos = (50 - i) / 40.0 * 0.5 * (1 + std::cos(std::numbers::pi * 0.94 * i / 40)) + 1e-5;
    EXPECT_FLOAT_EQ(cosine[static_cast<size_t>(i)], static_cast<float>(warm ? 0.02 + 0.78 * (i + 1) / 10 : 0.8 * cos)) << i;
  }
  const auto annealed = warmup_cosine_annealing_lr(0.8, 5, 2, 10, 7);
  ASSERT_EQ(annealed.size(), 43u);
  EXPECT_FLOAT_EQ(annealed[0], 0.64f);
  EXPECT_FLOAT_EQ(annealed[3], cosine[10]);
}

TEST(Schedule, Refusals) {
  EXPECT_THROW(get_lr(seed("cosin")), ValueError);
  EXPECT_THROW(get_lr({.lr_max = 0.1, .warmup_epochs = 3, .total_epochs = 2, .steps_per_epoch = 1}), ValueError);
  EXPECT_THROW(get_lr({.lr_max = 0.1, .total_epochs = 2}), ValueError);
  EXPECT_THROW(piecewise_constant_lr({3, 3}, {0.1, 0.2}), ValueError);
  EXPECT_THROW(piecewise_constant_lr({3}, {}), ValueError);
  EXPECT_THROW(cosine_decay_lr(0.2, 0.1, 5, 1, 5), ValueError);
  EXPECT_THROW(warmup_lr(0.1, 5, 1, 0), ValueError);
  EXPECT_THROW(CosineDecayLR(0.2, 0.1, 5), ValueError);
  EXPECT_THROW(PolynomialDecayLR(0.1, 0.1, 5, 1), ValueError);
  EXPECT_THROW(WarmUpLR(0.1, 0), ValueError);
  EXPECT_THROW(ExponentialDecayLR(0.1, 0, 5), ValueError);
  EXPECT_THROW(warmup_cosine_annealing_lr(0.1, 5, 1, 2, 10), ValueError);
  EXPECT_THROW(schedules().make("cosine", {}, Course{}), ValueError);  // the number of steps is unknown
  EXPECT_THROW(schedules().make("step", {}, Course{}), ValueError);
  EXPECT_THROW(exponential_decay_lr(0.1, 1e200, 200, 1, 1), ValueError);
}

}  // namespace
}  // namespace sindri::optim
