// The learning-rate range test on known curves.
#include "sindri/train/lr_range.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>

#include "sindri/core/error.h"

namespace sindri::train::lr_range_samples {
namespace {

// A loss that is `top` at small learning rates, falls around `centre` by `drop`, and explodes above `edge`.
LrRange run(const std::function<double(double rate, int64_t step)>& loss, int64_t steps = 100) {
  LrRange range(1e-6, 10, steps);
  for (int64_t i = 0; i < steps; ++i)
    if (!range.add(loss(range.rate(i), i))) break;
  return range;
}

double falls_at(double rate, double centre) { return 2.3 - 1.5 / (1 + std::pow(rate / centre, -1.5)) + std::pow(rate / 3, 3); }

TEST(LrRange, SuggestsWhereTheLossFallsFastest) {
  for (const double centre : {1e-4, 1e-3, 1e-2, 0.1}) {
    const LrRange r = run([&](double rate, int64_t) { return falls_at(rate, centre); });
    ASSERT_TRUE(r.suggestion());
    EXPECT_LT(std::abs(std::log10(*r.suggestion() / centre)), 0.1) << centre;
    const LrRange noisy = run([&](double rate, int64_t i) { return falls_at(rate, centre) + 0.04 * std::sin(static_cast<double>(i) * 2.7); });
    ASSERT_TRUE(noisy.suggestion());
    EXPECT_LT(std::abs(std::log10(*noisy.suggestion() / centre)), 0.35) << centre;
  }
}

TEST(LrRange, RatesAndCsv) {
  LrRange r(1e-3, 10, 11);
  EXPECT_DOUBLE_EQ(r.rate(0), 1e-3);
  EXPECT_NEAR(r.rate(5), 0.1, 1e-12);
  EXPECT_NEAR(r.rate(10), 10, 1e-12);
  for (int i = 0; i < 10; ++i) EXPECT_TRUE(r.add(3 - 0.5 * (i % 2))) << i;
  EXPECT_FALSE(r.add(3)) << "the last step";
  const std::string csv = r.csv();
  EXPECT_TRUE(csv.starts_with("step,lr,loss,smoothed\n1,0.001,3,3\n2,")) << csv;
  EXPECT_EQ(std::count(csv.begin(), csv.end(), '\n'), 12);
  EXPECT_NEAR(r.smoothed()[4], (3 + 2 * 2.5) / 3, 1e-12) << "with one neighbour to each side";
}

TEST(LrRange, NothingIsSuggestedWhereNothingIsLearned) {
  EXPECT_FALSE(run([](double, int64_t i) { return 2.3 + 0.01 * std::sin(static_cast<double>(i)); }).suggestion()) << "flat";
  EXPECT_FALSE(run([](double rate, int64_t) { return 2.3 + rate; }).suggestion()) << "rises";
  EXPECT_FALSE(run([](double, int64_t i) { return i < 5 ? 2.3 - 0.3 * static_cast<double>(i) : NAN; }).suggestion()) << "five steps";
}

TEST(LrRange, EndsWhereTheLossRunsAway) {
  const LrRange r = run([](double rate, int64_t) { return falls_at(rate, 1e-3) + std::pow(rate, 4) * 1000; });
  EXPECT_LT(r.losses().size(), 100u);
  EXPECT_GT(r.losses().size(), 60u);
  LrRange bad(1e-6, 10, 100);
  EXPECT_TRUE(bad.add(1));
  EXPECT_FALSE(bad.add(std::numeric_limits<double>::infinity()));
  EXPECT_EQ(bad.losses().size(), 1u);
}

TEST(LrRange, Refuses) {
  EXPECT_THROW(LrRange(0, 1, 100), ValueError);
  EXPECT_THROW(LrRange(1, 1, 100), ValueError);
  EXPECT_THROW(LrRange(1e-3, INFINITY, 100), ValueError);
  EXPECT_THROW(LrRange(1e-3, 1, 9), ValueError);
  EXPECT_THROW(LrRange(1e-3, 1, 100, 1), ValueError);
}

}  // namespace
}  // namespace sindri::train::lr_range_samples
