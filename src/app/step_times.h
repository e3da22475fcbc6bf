// The time of a training step: durations of past steps, kept for estimates of a run's remaining time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace sindri::app {

/// Durations of steps, finer for recent ones than for old ones: a few hundred entries however long the run is.
class StepTimes {
 public:
  /// Adds the total duration of the last `steps` steps.
  void add(double seconds, int64_t steps);
  bool empty() const { return history_.empty(); }

  /// Returns the expected duration of each of the next `left` steps; 0: of the next one. It averages over a past window half as long as the remaining time, but
  /// at least 50 steps and 3 seconds. Other programs on the machine start and end, so the distant future is estimated from a long past, and the near future
  /// from the last seconds. The window is divided into 5 to 20 parts, and the slowest and the fastest part are dropped, so one stall does not count. Within a
  /// part the mean is used, because steps may come in bursts (data ready several batches at a time, accumulated gradients), and a median would count only the
  /// short ones. Requires !empty().
  double expected(int64_t left) const;

 private:
  struct Span {
    double seconds = 0;
    int64_t steps = 0;
  };
  void compact();
  std::vector<Span> history_;  // oldest first
  size_t added_ = 0;  // since the last compaction
};

}  // namespace sindri::app
