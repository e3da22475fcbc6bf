// The estimate of the remaining time, over whole runs with known step times: at points of the run it is compared with the actual time left.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <vector>

#include "sindri/app/progress.h"
#include "src/app/step_times.h"

namespace sindri::app::remaining_time {
namespace {

constexpr double kBar = 0.15;
constexpr double kUntil = 0.15;  // share of the run left at which checking stops: its last seconds cannot be predicted

struct Course {
  const char* name;
  int64_t epochs, steps_per_epoch;
  std::function<double(int64_t step, double time)> step_seconds;
  std::function<double(int64_t epoch)> eval_seconds = {};  // empty: no evaluations
  double save_seconds = 0, turn_seconds = 0;
  double from = 0.1;  // share of the run after which the estimate is checked
};

// A step takes up to 5 % more or less, in a fixed pattern that repeats after 17 steps.
double jitter(int64_t step) { return 1 + 0.05 * static_cast<double>(step * 7 % 17 - 8) / 8; }

// The worst relative error of the estimates after each tenth of the run, or as often as requested.
std::string errors_over_bar(const Course& run, int64_t looks = 10) {
  double time = 0;
  Progress p({.epochs = run.epochs,
              .steps_per_epoch = run.steps_per_epoch,
              .eval_every = run.eval_seconds ? 1 : 0,
              .save_every = run.save_seconds > 0 ? 1 : 0,
              .eval_steps = run.steps_per_epoch / 5,
              .out = nullptr,
              .clock = [&] { return time; }});
  const int64_t total = run.epochs * run.steps_per_epoch;
  std::vector<std::pair<double, double>> estimates;  // (time, seconds that remain)
  for (int64_t i = 0; i < total; ++i) {
    const double seconds = run.step_seconds(i, time) + (i > 0 && i % run.steps_per_epoch == 0 ? run.turn_seconds : 0);
    time += seconds;
    p.step({.epoch = i / run.steps_per_epoch + 1, .step = i % run.steps_per_epoch + 1, .seconds = seconds});
    if ((i + 1) * looks / total != i * looks / total) estimates.emplace_back(time, p.remaining());
    if ((i + 1) % run.steps_per_epoch != 0) continue;
    if (run.eval_seconds) {
      const double took = run.eval_seconds((i + 1) / run.steps_per_epoch);
      time += took;
      p.eval_took(took);
    }
    time += run.save_seconds;
    if (run.save_seconds > 0) p.save_took(run.save_seconds);
  }
  std::string found;
  for (const auto& [at, estimate] : estimates) {
    const double left = time - at, error = left > 0 ? (estimate - left) / left : 0;
    if (at >= run.from * time && left > kUntil * time && std::abs(error) > kBar)
      found += fmt::format("{}: {:.0f} s of {:.0f} s: ETA {:.1f} s, {:.1f} s left, {:+.0f} %\n", run.name, at, time, estimate, left, 100 * error);
  }
  return found;
}

TEST(RemainingTime, IsWithinTheBarWhateverSlowsTheSteps) {
  const auto steady = [](int64_t i, double) { return 0.1 * jitter(i); };
  const std::vector<Course> runs = {
      {.name = "steady", .epochs = 10, .steps_per_epoch = 100, .step_seconds = steady},
      {.name = "the first steps compile",
       .epochs = 10,
       .steps_per_epoch = 100,
       .step_seconds = [](int64_t i, double) { return (i < 2 ? 3.0 : 0.1) * jitter(i); }},
      {.name = "a slow stretch of a thirtieth",
       .epochs = 10,
       .steps_per_epoch = 100,
       .step_seconds = [](int64_t i, double) { return (i >= 400 && i < 433 ? 0.2 : 0.1) * jitter(i); }},
      {.name = "another program every other second",
       .epochs = 20,
       .steps_per_epoch = 500,
       .step_seconds = [](int64_t i, double time) { return (static_cast<int64_t>(time) % 2 == 0 ? 0.02 : 0.01) * jitter(i); }},
      {.name = "another program for three of eight seconds",
       .epochs = 20,
       .steps_per_epoch = 1000,
       .step_seconds = [](int64_t i, double time) { return (std::fmod(time, 8) < 3 ? 0.025 : 0.01) * jitter(i); }},
      {.name = "one step in forty stalls",
       .epochs = 10,
       .steps_per_epoch = 400,
       .step_seconds = [](int64_t i, double) { return (i % 40 == 11 ? 1.0 : 0.05) * jitter(i); }},
      {.name = "bursts of eight batches", .epochs = 10, .steps_per_epoch = 100, .step_seconds = [](int64_t i, double) { return i % 8 == 7 ? 0.73 : 0.01; }},
      {.name = "one long stall",
       .epochs = 10,
       .steps_per_epoch = 100,
       .step_seconds = [](int64_t i, double) { return i == 250 ? 20.0 : 0.1 * jitter(i); },
       .from = 0.4},
      {.name = "evaluations of changing length, checkpoints, turns",
       .epochs = 12,
       .steps_per_epoch = 60,
       .step_seconds = steady,
       .eval_seconds = [](int64_t epoch) { return epoch == 1 ? 6.0 : 2.0 * jitter(3 * epoch) * (epoch % 2 == 0 ? 1.3 : 0.7); },
       .save_seconds = 0.8,
       .turn_seconds = 1.5,
       .from = 0.25},
  };
  for (const Course& run : runs) EXPECT_EQ(errors_over_bar(run), "");
}

// Checked continuously, a short slow stretch of a long run moves the estimate by less than the bar, even at the end of the stretch.
TEST(RemainingTime, AShortStretchHardlyMovesTheEstimate) {
  const Course run = {.name = "a minute of an hour", .epochs = 36, .steps_per_epoch = 1000, .step_seconds = [](int64_t i, double) {
                        return (i >= 12000 && i < 12300 ? 0.2 : 0.1) * jitter(i);
                      }};
  EXPECT_EQ(errors_over_bar(run, 1200), "");
}

// If a machine stays slower, the estimate follows within seconds when the run is nearly over, later when it is long.
TEST(RemainingTime, FollowsALastingChange) {
  StepTimes times;
  for (int i = 0; i < 10000; ++i) times.add(0.1, 1);
  for (int i = 0; i < 100; ++i) times.add(0.2, 1);
  EXPECT_NEAR(times.expected(0), 0.2, 1e-9);
  EXPECT_NEAR(times.expected(150), 0.2, 0.02);
  EXPECT_LT(times.expected(10000), 0.11);
  for (int i = 0; i < 10000; ++i) times.add(0.2, 1);
  EXPECT_NEAR(times.expected(10000), 0.2, 1e-6);
}

// Merging old step times keeps the mean over millions of steps.
TEST(RemainingTime, ALongHistoryKeepsItsMean) {
  StepTimes times;
  for (int64_t i = 0; i < 2'000'000; ++i) times.add(0.001 * jitter(i), 1);
  EXPECT_NEAR(times.expected(1'000'000'000), 0.001, 1e-6);
  EXPECT_NEAR(times.expected(1000), 0.001, 1e-5);
}

}  // namespace
}  // namespace sindri::app::remaining_time
