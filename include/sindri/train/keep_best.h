// KeepBest: keeps the best state of a run, by a metric of its evaluations, as a separate checkpoint, and ends a run that no
// longer improves.
#pragma once
#include <cmath>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "sindri/export.h"
#include "sindri/train/callback.h"
#include "sindri/train/patience.h"

namespace sindri::train {

/// Options of KeepBest.
struct BestOptions {
  std::string metric;  ///< name in TrainState::metrics
  bool larger_is_better = true;
  double min_delta = 0;  ///< a value counts as better if it exceeds the best one by more than this; at least 0
  int64_t patience = 0;  ///< evaluations without a better value after which the run ends; 0: never
  std::string file = "";  ///< path of the best evaluation's checkpoint; empty: none
  bool save_optimizer = true, mindspore1 = false;  ///< see CheckpointConfig
  /// (epoch, value) of evaluations before this process, oldest first, if the checkpoint that a run resumes from holds no state of
  /// this callback.
  std::vector<std::pair<int64_t, double>> earlier = {};
};

/// Observes the evaluations of a run; comes after EvalCallback. Ends the run with TrainState::request_stop. A value that is not
/// finite is never better. With several ranks all take part and rank 0 writes.
class SINDRI_API KeepBest : public Callback {
 public:
  /// Throws ValueError for an empty metric and a negative patience or min_delta.
  explicit KeepBest(BestOptions options);
  std::string state_name() const override { return "keep_best"; }
  std::string state() const override;
  void load_state(const std::string& text) override;
  /// Ends a resumed run at once if it had already run out of patience.
  void begin(TrainState& s) override;
  /// Throws ValueError, with the nearest names, if the evaluations have no such metric.
  void epoch_end(TrainState& s) override;
  void end(TrainState& s) override;
  /// Adds the final evaluation, after end(), of a run that ended within an epoch. It counts and is kept like those at epoch ends.
  void see_after_end(const MetricValues& metrics);
  /// Adopts the value of the kept file if it is better than the evaluations counted so far. The file then comes from the final
  /// evaluation of the run being resumed, which no other checkpoint records.
  void adopt(int64_t epoch, double value);

  /// Whether the patience is used up.
  bool exhausted() const { return options_.patience > 0 && rule_.exhausted(); }
  /// Epoch of the best evaluation; 0 before the first that counts.
  int64_t best_epoch() const { return best_epoch_; }
  double best_value() const { return rule_.best; }  ///< metric of the best evaluation; infinite before the first
  const std::string& metric() const { return options_.metric; }
  const std::string& file() const { return options_.file; }
  /// Why the best checkpoint was not saved; empty if it was. A failed save does not end the run.
  const std::string& last_error() const { return last_error_; }

 private:
  void judge(TrainState& s, const MetricValues& metrics);
  bool see(int64_t epoch, double value);
  void save(TrainState& s);
  BestOptions options_;
  Patience rule_;
  int64_t best_epoch_ = 0;
  std::string last_error_;
  TrainState ended_;  // for a save after the end
};

}  // namespace sindri::train
