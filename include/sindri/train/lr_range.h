// The learning-rate range test (Smith 2017, arXiv:1506.01186): the rate rises exponentially from step to step, and the loss curve
// shows which rates train.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sindri/export.h"

namespace sindri::train {

/// The rates of a range test and the resulting losses, for `sindri train --lr-find` and Python's train.lr_find.
class SINDRI_API LrRange {
 public:
  /// `steps` rates from `first` to `last` in geometric progression. The test ends early when the running mean of the loss exceeds
  /// `stop_factor` times its minimum. Throws ValueError unless 0 < first < last, steps >= 10 and stop_factor > 1.
  LrRange(double first, double last, int64_t steps, double stop_factor = 4);

  int64_t steps() const { return steps_; }  ///< planned number of steps
  /// Rate of step i, from 0.
  double rate(int64_t i) const;
  /// Adds the loss of the next step, computed before its update. Returns false when the test is over: this was the last step, or
  /// the loss is not finite or has diverged. A loss that is not finite is not kept.
  bool add(double loss);
  const std::vector<double>& losses() const { return losses_; }  ///< of the steps so far
  /// Means over neighbouring steps (a 25th of all steps to each side), one for each loss.
  std::vector<double> smoothed() const;
  /// The suggested rate: where the smoothed loss, as a function of the logarithm of the rate, is steepest before it reaches its
  /// minimum. Empty if the loss never falls by at least 2 %, or after fewer than 10 steps.
  std::optional<double> suggestion() const;
  /// CSV text with the columns step, lr, loss, smoothed.
  std::string csv() const;

 private:
  double first_, last_, stop_factor_;
  int64_t steps_;
  std::vector<double> losses_;
  double running_ = 0, least_ = 0;
};

}  // namespace sindri::train
