// How long a training step takes: the durations of past steps, kept so that the remaining time of a run can be estimated from them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace sindri::app {

/// Durations of steps, finer for recent ones than for old ones: a few hundred entries however long the run is.
class StepTimes {
 public:
  /// Adds the duration of the last steps together.
  void add(double seconds, int64_t steps);
  bool empty() const { return history_.empty(); }

  /// The expected duration of each of the next `left` steps; 0: of the next one. The past that is averaged is as long as half the time that remains, at
  /// least 50 steps and 3 seconds: other programs on the machine come and go, so a long rest of the run is like a long past, and a short one like the last
  /// seconds. The window is cut into 5 to 20 parts, and the slowest and the fastest part are dropped, so one stall does not count. Within a part it is a
  /// mean, because steps may come in bursts (data ready several batches at a time, accumulated gradients), of which a median sees the short ones only.
  /// Requires !empty().
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
