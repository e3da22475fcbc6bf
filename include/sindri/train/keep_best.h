// The best state of a training, by a metric of its evaluations: kept as a checkpoint of its own, and a reason to end where nothing better comes.
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

/// What KeepBest compares, and where it keeps the best checkpoint.
struct BestOptions {
  std::string metric;  ///< a name of TrainState::metrics
  bool larger_is_better = true;
  double min_delta = 0;  ///< at least 0: what a better value must exceed the best one by
  int64_t patience = 0;  ///< evaluations without a better one after which the training ends; 0: it does not
  std::string file = "";  ///< where the checkpoint of the best evaluation is kept; empty: nowhere
  bool save_optimizer = true, mindspore1 = false;  ///< see CheckpointConfig
  /// (epoch, value) of evaluations before this process, oldest first, where the checkpoint that a run resumes from holds no state of this callback.
  std::vector<std::pair<int64_t, double>> earlier = {};
};

/// Watches the evaluations of a training. Comes after EvalCallback; ends the training by TrainState::request_stop. A value that is not finite is never
/// better. With several ranks all enter and rank 0 writes.
class SINDRI_API KeepBest : public Callback {
 public:
  /// Throws ValueError for an empty metric and a negative patience or min_delta.
  explicit KeepBest(BestOptions options);
  std::string state_name() const override { return "keep_best"; }
  std::string state() const override;
  void load_state(const std::string& text) override;
  /// A training that had run out of patience when it was stopped ends at once.
  void begin(TrainState& s) override;
  /// Throws ValueError, with the names there are, where the evaluations have no such metric.
  void epoch_end(TrainState& s) override;
  void end(TrainState& s) override;
  /// An evaluation after end(), which a run that ended within an epoch is finished with: counts and is kept as those at the ends of epochs.
  void see_after_end(const MetricValues& metrics);
  /// What the kept file holds is better than the evaluations counted so far: the run that is resumed had ended with it.
  void adopt(int64_t epoch, double value);

  bool exhausted() const { return options_.patience > 0 && rule_.exhausted(); }
  /// 0 before the first evaluation that counts.
  int64_t best_epoch() const { return best_epoch_; }
  double best_value() const { return rule_.best; }
  const std::string& metric() const { return options_.metric; }
  const std::string& file() const { return options_.file; }
  /// Why the best checkpoint was not saved; empty where it was. That does not end the training.
  const std::string& last_error() const { return last_error_; }

 private:
  void judge(TrainState& s, const MetricValues& metrics);
  bool see(int64_t epoch, double value);
  void save(TrainState& s);
  BestOptions options_;
  Patience rule_;
  int64_t best_epoch_ = 0;
  std::string last_error_;
  TrainState ended_;  // for what is saved after the end
};

}  // namespace sindri::train
