// What a training shows while it runs: one line that is redrawn on a terminal, plain lines elsewhere.
#pragma once

#include <cstdint>
#include <cstdio>
#include <deque>
#include <functional>
#include <string>

#include "sindri/export.h"

namespace sindri::app {

/// What is known after a step, or after several in sink mode.
struct StepProgress {
  int64_t epoch = 1, step = 1;  ///< from 1; step within the epoch
  int64_t steps = 1;  ///< steps since the last call
  int64_t samples = 0;  ///< samples of those steps
  double seconds = 0;  ///< what they took, without evaluation and saving
  double loss = 0;
  double lr = 0;
  std::string metric = {};  ///< name, empty: none yet
  double metric_value = 0;
};

struct ProgressOptions {
  int64_t epochs = 1, steps_per_epoch = 1;
  int64_t max_steps = 0;  ///< the training ends behind so many steps; 0: behind its epochs
  double evals_per_epoch = 0, saves_per_epoch = 0;  ///< for the remaining time
  bool eval_at_end = false;  ///< one more evaluation than those of the epochs
  int64_t eval_steps = 0;  ///< batches of an evaluation; until one is measured, each counts as a third of a step
  bool quiet = false;  ///< plain lines even on a terminal
  int64_t log_every = 0;  ///< plain lines: every so many steps; 0: every 10 s
  std::FILE* out = stdout;
  std::function<double()> clock = {};  ///< seconds; empty: the steady clock
};

/// A terminal gets one line, redrawn at most 10 times a second and never wider than the window. Not a terminal, TERM=dumb or quiet:
/// plain lines without control characters, one per 10 s (or log_every steps) and what print() is given. NO_COLOR leaves colour out.
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
  /// A line that stays: an epoch's result, a saved checkpoint, a warning. On a terminal it is folded between words.
  void print(const std::string& line);
  /// A line to copy, never folded: "resume with: " and the command.
  void print_command(const std::string& line);
  /// Names what takes long outside of steps ("reading the data", "evaluating"): on a terminal in place of the line. Plain output gets a line
  /// where evaluations are known to take more than 2 s.
  void phase(const std::string& what);
  /// Durations that count towards the remaining time.
  void eval_took(double seconds);
  void save_took(double seconds);
  /// Seconds to the end: the median duration of the last 50 steps, from the end of one to that of the next, the first two of the run left
  /// out, times the steps that remain, plus evaluation and saving. Negative while unknown.
  double remaining() const;
  bool redraws() const { return redraws_; }

 private:
  std::string compose(size_t columns) const;
  int64_t total_steps() const;
  void draw(const std::string& line);
  void clear();
  double now() const;
  bool due(double t, int64_t steps) const;
  ProgressOptions options_;
  bool redraws_ = false, color_ = false, drawn_ = false;
  double last_draw_ = -1e9, last_plain_ = 0, eval_seconds_ = -1, save_seconds_ = 0;
  double last_step_end_ = -1, paused_ = 0;  // when the last step ended, and what evaluating and saving took since
  int64_t steps_seen_ = 0, steps_since_plain_ = 0;
  std::deque<double> durations_;  // per step, at most 50
  StepProgress last_;
};

/// "1h02m", "3m12s", "45s".
SINDRI_API std::string duration_text(double seconds);

}  // namespace sindri::app
