// Progress output of a training run: one line that is redrawn on a terminal, plain lines elsewhere. The program and Python's
// Model share it.
#pragma once

#include <cstdint>
#include <cstdio>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "sindri/export.h"

namespace sindri::app {

class StepTimes;

/// Progress after a step, or after several with data sinking.
struct StepProgress {
  int64_t epoch = 1, step = 1;  ///< from 1; step within the epoch
  int64_t steps = 1;  ///< steps since the last call
  int64_t samples = 0;  ///< of those steps; 0: not known
  double seconds = 0;  ///< duration of those steps, without evaluation and saving
  double loss = 0;
  bool has_loss = true;
  double lr = -1;  ///< negative: not known
  std::string metric = {};  ///< name; empty: none yet
  double metric_value = 0;  ///< value of `metric`
};

/// Results of an epoch.
struct EpochProgress {
  int64_t epoch = 1, epochs = 1;
  double loss = 0;  ///< mean over the steps
  bool has_loss = true;
  std::vector<std::pair<std::string, double>> metrics = {};  ///< of the evaluation after it, with the names to show
  double samples_per_second = 0;  ///< 0: not known
  int64_t device_bytes = 0;  ///< peak memory reserved on the device, including cached blocks; 0: on the CPU
};
/// Line for an epoch: "epoch 2/20: loss 0.1684, eval loss 0.3007, accuracy 0.9359, 44998 samples/s"
SINDRI_API std::string epoch_text(const EpochProgress& e);

/// Figures known before training starts, and the output.
struct ProgressOptions {
  int64_t epochs = 1, steps_per_epoch = 1;
  int64_t max_steps = 0;  ///< number of steps after which training ends; 0: after its epochs
  int64_t eval_every = 0, save_every = 0;  ///< epochs between evaluations and between checkpoints, for the estimated remaining time; 0: none
  int64_t save_every_steps = 0;  ///< steps between checkpoints; 0: none
  bool eval_at_end = false;  ///< evaluate once more if training does not end at a multiple of eval_every
  int64_t eval_steps = 0;  ///< batches of an evaluation; until one is measured, each counts as a third of a step
  bool quiet = false;  ///< plain lines even on a terminal
  int64_t log_every = 0;  ///< plain lines: number of steps between lines; 0: only after a long time without one
  std::FILE* out = stdout;  ///< null: nothing is written; line() is shown elsewhere
  std::function<double()> clock = {};  ///< returns seconds; empty: the steady clock
};

/// Shows the progress of training. A terminal gets one line, redrawn at most 10 times per second and never wider than the window,
/// even if that becomes narrower. Without a terminal, with TERM=dumb or if quiet, it prints plain lines without control
/// characters: the lines passed to print(), and one step line per log_every steps, or else after 10 s without a line in the first
/// epoch and 60 s later. NO_COLOR disables colour. The library's log lines replace the line, which is drawn again below them.
/// Only one object may draw at a time; call its functions from one thread.
class SINDRI_API Progress {
 public:
  explicit Progress(ProgressOptions options);
  /// Ends the redrawn line.
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// Shows progress after one or more steps.
  void step(const StepProgress& s);
  /// Whether a step would be shown now. `unseen`: steps run since the last call of step().
  bool due(int64_t unseen) const;
  /// Prints a line that stays: an epoch's result, a saved checkpoint, a warning. On a terminal it is folded between words, and
  /// the live line continues below it.
  void print(const std::string& line);
  /// Prints a command to copy, after a label ("resume with: "). On a terminal that is too narrow it is folded with backslashes,
  /// as the shell accepts it.
  void print_command(const std::string& label, const std::string& command);
  /// Names a long activity outside of steps ("reading the data", "evaluating") in place of the live line; short evaluations are
  /// not named. Plain output prints a line only if evaluations are known to take more than a minute.
  void phase(const std::string& what);
  /// Removes the live line until the next step, so that others can write there.
  void hide();
  /// Ends the progress output: later calls of print() have no live line below them.
  void finish();
  /// Suspends drawing while `held` is true, because another writer has started a line and not ended it.
  void hold(bool held) { held_ = held; }
  /// Adds the duration of an evaluation, for the estimate of the remaining time.
  void eval_took(double seconds);
  /// Adds the duration of writing a checkpoint, for the same estimate.
  void save_took(double seconds);
  /// Estimated seconds to the end; negative while unknown. The estimate is the expected duration of a step times the remaining
  /// steps, plus evaluations, checkpoints and epoch ends, each as the mean of the last five. A step's duration is averaged over
  /// the latest period, half as long as the remaining time but at least 50 steps and three seconds, without the first two steps of
  /// the run. The period is divided into 5 to 20 parts, of which the slowest and the fastest are ignored.
  double remaining() const;
  /// The live line for a window of `columns` columns, without colour; 0: the whole line.
  std::string line(size_t columns) const { return compose(columns, false); }
  /// Whether the line is redrawn on a terminal.
  bool redraws() const { return redraws_; }

 private:
  class Screen;
  std::string compose(size_t columns, bool color) const;
  int64_t total_steps() const;
  int64_t steps_done() const { return (last_.epoch - 1) * options_.steps_per_epoch + last_.step; }
  double eval_seconds(double step) const;
  void follow(const StepProgress& s, double t);
  void draw(const std::string& line);
  void write(const std::string& line);
  double now() const;
  bool due(double t, int64_t steps) const;
  ProgressOptions options_;
  bool redraws_ = false, color_ = false, held_ = false, stepped_ = false;
  std::unique_ptr<Screen> screen_;  // only if redraws_
  double last_draw_ = -1e9, last_plain_ = 0, eval_seconds_ = -1;
  int64_t evaluations_ = 0;  // measured
  double last_step_end_ = -1, paused_ = 0;  // end of the last step, and the time spent evaluating and saving since
  int64_t steps_seen_ = 0, steps_since_plain_ = 0;
  std::unique_ptr<StepTimes> step_times_;
  std::deque<double> evals_, saves_;  // durations of the last evaluations (without the run's first, which also compiles) and of the last checkpoints
  std::deque<double> turns_;  // for each of the last epochs: extra time of its first step beyond an ordinary step, without evaluating and saving
  StepProgress last_;
};

/// A duration: "1h02m", "3m12s", "45s".
SINDRI_API std::string duration_text(double seconds);

}  // namespace sindri::app
