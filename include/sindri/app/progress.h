// What a training shows while it runs: one line that is redrawn on a terminal, plain lines elsewhere. The program and Python's Model show the same.
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

/// What is known after a step, or after several in sink mode.
struct StepProgress {
  int64_t epoch = 1, step = 1;  ///< from 1; step within the epoch
  int64_t steps = 1;  ///< steps since the last call
  int64_t samples = 0;  ///< samples of those steps; 0: not known
  double seconds = 0;  ///< what they took, without evaluation and saving
  double loss = 0;
  bool has_loss = true;
  double lr = -1;  ///< negative: not known
  std::string metric = {};  ///< name, empty: none yet
  double metric_value = 0;
};

/// What an epoch came to.
struct EpochProgress {
  int64_t epoch = 1, epochs = 1;
  double loss = 0;  ///< mean of the steps
  bool has_loss = true;
  std::vector<std::pair<std::string, double>> metrics = {};  ///< of the evaluation behind it, with the names that are shown
  double samples_per_second = 0;  ///< 0: not known
  int64_t device_bytes = 0;  ///< most memory that was taken of the device, free blocks that are kept included; 0: on the CPU
};
/// "epoch 2/20: loss 0.1684, eval loss 0.3007, accuracy 0.9359, 44998 samples/s"
SINDRI_API std::string epoch_text(const EpochProgress& e);

/// What a Progress knows of the training before it begins, and where it writes.
struct ProgressOptions {
  int64_t epochs = 1, steps_per_epoch = 1;
  int64_t max_steps = 0;  ///< the training ends behind so many steps; 0: behind its epochs
  int64_t eval_every = 0, save_every = 0;  ///< epochs between evaluations and between checkpoints, for the remaining time; 0: none
  int64_t save_every_steps = 0;  ///< steps between checkpoints; 0: none
  bool eval_at_end = false;  ///< where the training ends at no multiple of eval_every it is evaluated once more
  int64_t eval_steps = 0;  ///< batches of an evaluation; until one is measured, each counts as a third of a step
  bool quiet = false;  ///< plain lines even on a terminal
  int64_t log_every = 0;  ///< plain lines: every so many steps; 0: where none came for long
  std::FILE* out = stdout;  ///< null: nothing is written, line() is shown elsewhere
  std::function<double()> clock = {};  ///< seconds; empty: the steady clock
};

/// A terminal gets one line, redrawn at most 10 times a second and never wider than the window, also when that becomes narrower. Not a terminal, TERM=dumb
/// or quiet: plain lines without control characters: what print() is given, and of steps one per log_every of them, or else where none came for 10 s in the
/// first epoch and for 60 s later. NO_COLOR leaves colour out. The library's log lines take the line's place, and it is drawn again below them. One object at
/// a time draws; its functions are for one thread.
class SINDRI_API Progress {
 public:
  explicit Progress(ProgressOptions options);
  /// Ends the redrawn line.
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void step(const StepProgress& s);
  /// Whether a step would be shown now; `unseen`: steps that were run and that step() has not been told of.
  bool due(int64_t unseen) const;
  /// A line that stays: an epoch's result, a saved checkpoint, a warning. On a terminal it is folded between words, and the live line goes on below it.
  void print(const std::string& line);
  /// A command to copy behind a label ("resume with: "). On a terminal that is too narrow it is folded as the shell takes it, with a backslash.
  void print_command(const std::string& label, const std::string& command);
  /// Names what takes long outside of steps ("reading the data", "evaluating"), in place of the live line; short evaluations do not. Plain output gets a
  /// line only where evaluations are known to take more than a minute.
  void phase(const std::string& what);
  /// Takes the live line away until the next step, for others to write there.
  void hide();
  /// The training is over: what print() is given from here on has no live line below it.
  void finish();
  /// While held nothing is drawn: another has begun a line that is not ended.
  void hold(bool held) { held_ = held; }
  /// Durations that count towards the remaining time.
  void eval_took(double seconds);
  void save_took(double seconds);
  /// Seconds to the end, negative while unknown: the expected duration of a step times the steps that remain, plus evaluations, checkpoints and the turns
  /// between epochs, each as the mean of the last five. The steps' duration is averaged over a past half as long as the time that remains, at least 50 steps
  /// and three seconds, without the first two of the run; the slowest and the fastest of 5 to 20 parts of it do not count.
  double remaining() const;
  /// The live line for a window of so many columns, without colour; 0: all of it.
  std::string line(size_t columns) const { return compose(columns, false); }
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
  std::unique_ptr<Screen> screen_;  // where redraws_
  double last_draw_ = -1e9, last_plain_ = 0, eval_seconds_ = -1;
  int64_t evaluations_ = 0;  // measured
  double last_step_end_ = -1, paused_ = 0;  // when the last step ended, and what evaluating and saving took since
  int64_t steps_seen_ = 0, steps_since_plain_ = 0;
  std::unique_ptr<StepTimes> step_times_;
  std::deque<double> evals_, saves_;  // durations of the last evaluations without the first of the run, which also compiles, and of the last checkpoints
  std::deque<double> turns_;  // what the last epochs' ends took besides steps, evaluating and saving
  StepProgress last_;
};

/// "1h02m", "3m12s", "45s".
SINDRI_API std::string duration_text(double seconds);

}  // namespace sindri::app
