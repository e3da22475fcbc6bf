// The best evaluation of a run: which one it is, when the patience ends, and how an earlier process's evaluations count.
#include "sindri/train/keep_best.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "sindri/core/error.h"

namespace sindri::train {
namespace {

// The epoch in which the run was asked to stop; 0: never.
int64_t stopped_at(KeepBest& best, const std::vector<double>& values, int64_t every = 1, int64_t first = 1) {
  TrainState s;
  s.epoch_num = 1000;
  if (every > 1) s.metrics_step = 0;
  best.begin(s);
  if (s.stop) return -1;
  int64_t epoch = first - 1;
  for (const double v : values) {
    for (int64_t i = 0; i < every; ++i) {
      s.cur_step_num = s.cur_epoch_num = ++epoch;
      if (epoch % every == 0) s.metrics = {{"accuracy", v}};
      if (epoch % every == 0 && every > 1) s.metrics_step = s.cur_step_num;
      best.epoch_end(s);
      if (s.stop) return epoch;
    }
  }
  return 0;
}

TEST(KeepBest, EndsBehindSoManyWithoutABetter) {
  KeepBest best({.metric = "accuracy", .patience = 2});
  EXPECT_EQ(stopped_at(best, {0.5, 0.6, 0.6, 0.55, 0.9}), 4);
  EXPECT_TRUE(best.exhausted());
  EXPECT_EQ(best.best_epoch(), 2);
  EXPECT_EQ(best.best_value(), 0.6);
}

TEST(KeepBest, DirectionDeltaAndEpochsBetweenEvaluations) {
  KeepBest smallest({.metric = "accuracy", .larger_is_better = false, .min_delta = 0.1, .patience = 2});
  EXPECT_EQ(stopped_at(smallest, {1.0, 0.95, 0.85, 0.8, 0.9}, 3), 15) << "0.95 is not better by enough, 0.85 is";
  EXPECT_EQ(smallest.best_epoch(), 9);
  KeepBest never({.metric = "accuracy"});
  EXPECT_EQ(stopped_at(never, {0.5, 0.4, 0.3, 0.2, 0.1}), 0);
  EXPECT_EQ(never.best_epoch(), 1);
}

TEST(KeepBest, WhatIsNotFiniteIsNeverBetter) {
  KeepBest best({.metric = "accuracy", .patience = 3});
  EXPECT_EQ(stopped_at(best, {NAN, INFINITY, 0.1, NAN, -INFINITY, NAN}), 6);
  EXPECT_EQ(best.best_epoch(), 3);
}

TEST(KeepBest, EarlierEvaluationsCount) {
  KeepBest going_on({.metric = "accuracy", .patience = 3, .earlier = {{1, 0.5}, {2, 0.7}, {3, 0.6}}});
  EXPECT_EQ(stopped_at(going_on, {0.65, 0.69, 0.8}, 1, 4), 5);
  EXPECT_EQ(going_on.best_epoch(), 2);
  KeepBest spent({.metric = "accuracy", .patience = 1, .earlier = {{1, 0.5}, {2, 0.4}}});
  EXPECT_EQ(stopped_at(spent, {0.9}), -1) << "it ends before the first step";
}

// State in a checkpoint: a resumed run continues to wait.
TEST(KeepBest, StateGoesOnWhereItWas) {
  KeepBest before({.metric = "accuracy", .patience = 3});
  EXPECT_EQ(stopped_at(before, {0.5, 0.7, 0.6, 0.1 + 0.2}), 0);
  KeepBest after({.metric = "accuracy", .patience = 3, .earlier = {{1, 0.9}}});
  after.load_state(before.state());
  EXPECT_EQ(after.best_value(), 0.7);
  EXPECT_EQ(stopped_at(after, {0.65, 0.8}, 1, 5), 5);
  KeepBest none({.metric = "accuracy"}), same({.metric = "accuracy"});
  same.load_state(none.state());
  EXPECT_TRUE(std::isinf(same.best_value()));
  EXPECT_THROW(same.load_state("{}"), ValueError);
  EXPECT_THROW(same.load_state("no state"), ValueError);
}

TEST(KeepBest, AnEvaluationAfterTheEndCounts) {
  KeepBest best({.metric = "accuracy"});
  TrainState s;
  s.cur_epoch_num = 3;
  s.metrics = {{"accuracy", 0.5}};
  best.epoch_end(s);
  s.cur_epoch_num = 4;
  best.end(s);
  best.see_after_end({{"accuracy", 0.4}});
  EXPECT_EQ(best.best_epoch(), 3);
  best.see_after_end({{"accuracy", 0.6}});
  EXPECT_EQ(best.best_epoch(), 4);
  best.adopt(2, 0.55);
  EXPECT_EQ(best.best_epoch(), 4);
  best.adopt(2, 0.65);
  EXPECT_EQ(best.best_epoch(), 2);
}

// Epochs between two evaluations do not count.
TEST(EarlyStopping, CountsEvaluations) {
  double value = 0;
  EvalCallback eval([&value] { return MetricValues{{"accuracy", value += 1}}; }, 3);
  EarlyStopping stop("accuracy", 2, 0, true);
  TrainState s;
  s.epoch_num = 12;
  eval.begin(s);
  for (int64_t epoch = 1; epoch <= 12; ++epoch) {
    s.cur_epoch_num = s.cur_step_num = epoch;
    eval.epoch_end(s);
    stop.epoch_end(s);
    ASSERT_FALSE(s.stop) << epoch;
  }
  EXPECT_EQ(value, 4);
}

TEST(EarlyStopping, StateGoesOnWhereItWas) {
  EarlyStopping before("accuracy", 2, 0, true), after("accuracy", 2, 0, true);
  TrainState s;
  const auto see = [&s](EarlyStopping& stop, double v) {
    s.metrics = {{"accuracy", v}};
    stop.epoch_end(s);
    return s.stop;
  };
  EXPECT_FALSE(see(before, 0.5));
  EXPECT_FALSE(see(before, 0.4));
  after.load_state(before.state());
  after.begin(s);
  EXPECT_FALSE(s.stop);
  EXPECT_TRUE(see(after, 0.45));
  s.stop = false;
  before.load_state(after.state());
  before.begin(s);
  EXPECT_TRUE(s.stop) << "its patience had run out";
}

// A run that a signal interrupts is evaluated at the same points as an uninterrupted one.
TEST(EvalCallback, AnInterruptedEpochIsNotEvaluatedOutOfTurn) {
  for (const bool interrupted : {false, true}) {
    int64_t evaluations = 0;
    EvalCallback eval([&evaluations] { return ++evaluations, MetricValues{}; }, 3);
    TrainState s;
    s.epoch_num = 12, s.cur_epoch_num = 2, s.stop = true, s.interrupted = interrupted;
    eval.epoch_end(s);
    EXPECT_EQ(evaluations, interrupted ? 0 : 1);
  }
}

TEST(KeepBest, BadOptionsAndUnknownMetricsAreRefused) {
  EXPECT_THROW(KeepBest({.metric = ""}), ValueError);
  EXPECT_THROW(KeepBest({.metric = "loss", .min_delta = -1}), ValueError);
  EXPECT_THROW(KeepBest({.metric = "loss", .patience = -1}), ValueError);
  KeepBest best({.metric = "acuracy", .patience = 2});
  try {
    stopped_at(best, {0.5});
    FAIL();
  } catch (const ValueError& e) { EXPECT_THAT(e.fix(), testing::HasSubstr("accuracy")); }
}

}  // namespace
}  // namespace sindri::train
