// The best evaluation of a training: which it is, when waiting ends, and what is counted of an earlier process.
#include "sindri/train/keep_best.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "sindri/core/error.h"

namespace sindri::train {
namespace {

// The epoch in which the training was asked to end; 0: not.
int64_t stopped_at(KeepBest& best, const std::vector<double>& values, int64_t every = 1, int64_t first = 1) {
  TrainState s;
  s.epoch_num = 1000;
  best.begin(s);
  if (s.stop) return -1;
  int64_t epoch = first - 1;
  for (const double v : values) {
    for (int64_t i = 0; i < every; ++i) {
      s.cur_epoch_num = ++epoch;
      if (epoch % every == 0) s.metrics = {{"accuracy", v}};
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
  EXPECT_TRUE(best.beats_best(0.61));
  EXPECT_FALSE(best.beats_best(NAN));
}

TEST(KeepBest, DirectionDeltaAndEpochsBetweenEvaluations) {
  KeepBest smallest({.metric = "accuracy", .larger_is_better = false, .min_delta = 0.1, .patience = 2, .every = 3});
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

TEST(KeepBest, BadOptionsAndUnknownMetricsAreRefused) {
  EXPECT_THROW(KeepBest({.metric = ""}), ValueError);
  EXPECT_THROW(KeepBest({.metric = "loss", .min_delta = -1}), ValueError);
  EXPECT_THROW(KeepBest({.metric = "loss", .patience = -1}), ValueError);
  EXPECT_THROW(KeepBest({.metric = "loss", .every = 0}), ValueError);
  KeepBest best({.metric = "acuracy", .patience = 2});
  try {
    stopped_at(best, {0.5});
    FAIL();
  } catch (const ValueError& e) { EXPECT_THAT(e.fix(), testing::HasSubstr("accuracy")); }
}

}  // namespace
}  // namespace sindri::train
