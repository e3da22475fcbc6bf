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
  int64_t every = 1;  ///< epochs between evaluations, as EvalCallback has it
  std::string file = "";  ///< where the checkpoint of the best evaluation is kept; empty: nowhere
  bool save_optimizer = true, mindspore1 = false;  ///< see CheckpointConfig
  /// (epoch, value) of evaluations before this process, oldest first: a training that is resumed counts on where it was.
  std::vector<std::pair<int64_t, double>> earlier = {};
};

/// Watches the evaluations of a training. Stands behind EvalCallback; ends the training by TrainState::request_stop. A value that is not finite is never
/// better. With several ranks all enter and rank 0 writes.
class SINDRI_API KeepBest : public Callback {
 public:
  /// Throws ValueError for an empty metric, a negative patience or min_delta, and `every` below 1.
  explicit KeepBest(BestOptions options);
  /// A training that had run out of patience when it was stopped ends at once.
  void begin(TrainState& s) override;
  /// Throws ValueError, with the names there are, where the evaluations have no such metric.
  void epoch_end(TrainState& s) override;

  bool exhausted() const { return options_.patience > 0 && rule_.exhausted(); }
  /// 0 before the first evaluation that counts.
  int64_t best_epoch() const { return best_epoch_; }
  double best_value() const { return rule_.best; }
  /// Whether this value, which no evaluation at the end of an epoch had, is better still.
  bool beats_best(double value) const { return std::isfinite(value) && rule_.beats(value, rule_.best); }
  const std::string& metric() const { return options_.metric; }
  const std::string& file() const { return options_.file; }
  /// Why the best checkpoint was not saved; empty where it was. That does not end the training.
  const std::string& last_error() const { return last_error_; }

 private:
  bool see(int64_t epoch, double value);
  void save(TrainState& s);
  BestOptions options_;
  Patience rule_;
  int64_t best_epoch_ = 0;
  std::string last_error_;
};

}  // namespace sindri::train
