// The lines of log.style mindspore: those of MindSpore's LossMonitor and TimeMonitor, for people and scripts that know them.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "sindri/train/callback.h"

namespace sindri::app {

/// Follows the steps of a training run and decides which lines are due. Losses are those of single steps, as MindSpore prints them, not means.
class MonitorLines {
 public:
  /// `every`: a line is due after this many steps and at the end of each epoch. 0: only at the end of each epoch, as with dataset sinking.
  explicit MonitorLines(int64_t every);

  /// Records steps whose loss is known. Returns "epoch: 1 step: 5004, loss is 4.4182425" if a line is due, else "".
  std::string steps(const train::KnownSteps& known, double loss);
  /// Returns whether a line is due once `unseen` more steps are known.
  bool due(int64_t unseen) const { return every_ > 0 && since_line_ + unseen >= every_; }
  /// Returns the line of the epoch's last step, unless it was printed, and "Train epoch time: 1234.567 ms, per step time: 12.346 ms".
  std::vector<std::string> epoch_end();

 private:
  int64_t every_, since_line_ = 0, epoch_steps_ = 0;
  std::string last_line_;  // line of the last known step; empty once printed
  double epoch_start_;
};

}  // namespace sindri::app
