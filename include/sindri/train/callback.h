// Callbacks observe a training loop (MindSpore: mindspore.train.callback). They never change the arithmetic of a step.
//
//   begin
//   for every epoch:
//     epoch_begin
//     for every step (sunk: every chunk of sink_size steps):
//       step_begin; run; step_end          -> request_stop() ends after this step
//     epoch_end
//   end
//
// On an asynchronous device the host runs ahead: at step_end the step has been put on the device, and its loss may not be known
// yet. steps_known reports losses when they reach the host, in order and once per step: on the CPU just before step_end, on other
// devices as they arrive. All are reported before epoch_end, before end, and when something asks for them (TrainState::settle).
#pragma once
#include <cstdint>
#include <functional>
#include <iosfwd>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "sindri/export.h"
#include "sindri/nn/cell.h"
#include "sindri/optim/optimizer.h"
#include "sindri/train/loss_scale.h"
#include "sindri/train/patience.h"

namespace sindri::dataset {
class Dataset;
}
namespace sindri::comm {
class Communicator;
}

namespace sindri::train {

class BoostAlgorithm;
class Callback;

/// Values of metrics by name.
using MetricValues = std::map<std::string, double>;

/// Steps without an update since training began; a resumed run continues the counts.
struct StepCounts {
  int64_t skipped = 0;  ///< skipped because the loss or a gradient was not finite (NanPolicy::kSkip)
  int64_t overflow = 0;  ///< skipped by the loss scale because a gradient overflowed
  int64_t nonfinite = 0;  ///< of both kinds, those that a smaller loss scale would not avoid
  int64_t nonfinite_in_epoch = 0;  ///< those of `nonfinite` in the current epoch
};

/// A step, or with data sinking a chunk of steps, whose losses have reached the host.
struct KnownSteps {
  int64_t epoch = 0;  ///< number of the epoch, from 1
  int64_t step = 0;  ///< TrainState::cur_step_num of the last step
  int64_t step_in_epoch = 0;  ///< place of the last step in its epoch, from 1
  std::span<const float> losses;  ///< one for each step
  double seconds = 0;  ///< wall time per step, data included
  double data_wait_seconds = 0;  ///< part of the time above spent waiting for data
};

/// State of the training loop for callbacks (MindSpore: run_context.original_args()).
struct SINDRI_API TrainState {
  std::string mode = "train";  ///< "train" or "eval"
  nn::Cell* network = nullptr;  ///< as given to Model
  nn::Cell* train_network = nullptr;  ///< network with loss
  optim::Optimizer* optimizer = nullptr;
  dataset::Dataset* train_dataset = nullptr;  ///< as passed to Model::train
  /// Opens a separate pass over the training data: returns a function that reads the next batch and returns false at the end.
  /// Null if not available.
  std::function<std::function<bool(std::vector<Tensor>*)>()> open_data = nullptr;
  /// Must be called after changing the network's moving statistics between steps, so that this process's virtual ranks receive
  /// them. Null without virtual ranks.
  std::function<void()> moving_averages_written = nullptr;
  int64_t epoch_num = 0;  ///< number of epochs requested
  int64_t batch_num = 0;  ///< steps per epoch
  int64_t batch_size = 0;  ///< samples of a step on this rank
  int64_t cur_epoch_num = 0;  ///< from 1
  int64_t cur_step_num = 0;  ///< from 1, across epochs
  int64_t steps_before_epoch = 0;  ///< cur_step_num at the start of this epoch
  bool epoch_complete = false;  ///< no further step belongs to this epoch: all are done, or the data ended early (bad samples skipped)
  bool dataset_sink_mode = false;  ///< whether callbacks run once per chunk of steps
  Tensor net_outputs;  ///< loss of the last step, on the device
  /// Waits until the losses of all steps so far are known and steps_known has reported them. Call it before saving training
  /// state. Throws NonFiniteError, naming the step, if the run must not continue. Null outside of Model::train.
  std::function<void()> settle = nullptr;
  /// Loss of the last step, on the host; settles first.
  double loss();
  MetricValues metrics;  ///< of the last evaluation in this run; empty before the first
  /// cur_step_num at that evaluation, 0 before the first. -1 if the code that set `metrics` did not set it; the metrics then
  /// count as those of the current epoch.
  int64_t metrics_step = -1;
  int64_t skipped_steps = 0;  ///< skipped because the loss or a gradient was not finite (NanPolicy::kSkip)
  int64_t overflow_steps = 0;  ///< skipped by the loss scale because a gradient overflowed
  int64_t nonfinite_steps = 0, nonfinite_in_epoch = 0;  ///< see StepCounts
  LossScaleManager* loss_scale_manager = nullptr;  ///< null without one; get_loss_scale() is the scale of the next step
  std::vector<Callback*> callbacks = {};  ///< of this run; checkpoints hold their states
  /// The algorithms applied to the step, in order. They receive events before callbacks do.
  std::vector<std::shared_ptr<BoostAlgorithm>> algorithms = {};
  double last_step_seconds = 0;  ///< KnownSteps::seconds of the last known steps
  double data_wait_seconds = 0;  ///< part of the time above spent waiting for data
  std::string data_stats;  ///< one line about the data pipeline, set at the end
  std::string settings_hash;  ///< hash of the settings; kept in checkpoints
  std::string data_fingerprint;  ///< fingerprint of the data; kept in checkpoints
  std::vector<std::string> class_names;  ///< names by label; kept in checkpoints
  /// What a callback needs to continue in a resumed run; kept in checkpoints. Callbacks before ModelCheckpoint set it.
  std::string record;
  int64_t known_step = 0;  ///< cur_step_num of the last step whose loss is known
  std::optional<double> last_loss;  ///< loss of that step; unset outside of Model::train
  std::string dataset_state;  ///< position of the data iterator after this step, for checkpoints

  // Fields for several ranks. Callbacks are called on all ranks, in the same order; rank 0 does what only one rank must do, such
  // as writing a file.

  comm::Communicator* ranks = nullptr;  ///< the ranks of the run; null for a single rank
  /// Collective. While the result lives, the network and `of_ranks` hold what a checkpoint must store for all ranks. Null if
  /// there is nothing to merge.
  std::function<std::shared_ptr<void>()> merge_ranks = nullptr;
  std::vector<std::pair<std::string, Tensor>> of_ranks = {};  ///< TrainPosition::of_ranks
  int64_t virtual_ranks = 1;  ///< parts of the global batch (DataParallelOptions)
  int64_t global_batch = 0;  ///< samples of a step on all ranks; 0: batch_size
  int64_t global_samples = 0;  ///< samples of all ranks trained on so far, including the last step

  /// Position of the current step in its epoch, from 1.
  int64_t step_in_epoch() const { return cur_step_num - steps_before_epoch; }
  /// Number of skipped steps by cause.
  StepCounts counts() const { return {skipped_steps, overflow_steps, nonfinite_steps, nonfinite_in_epoch}; }
  /// Ends the run after this step.
  void request_stop() { stop = true; }
  bool stop = false;  ///< set by request_stop()
  bool interrupted = false;  ///< by TrainOptions::stop_requested: the process ends, and the run can be resumed
  bool epoch_ending = false;  ///< epoch_end of this epoch has been called for at least some callbacks
};

/// Base class of callbacks; override the functions you need. Exceptions end the run and reach the caller of Model::train.
class SINDRI_API Callback {
 public:
  virtual ~Callback() = default;
  /// The name under which checkpoints hold state(); empty: no state. Several callbacks of one name are distinguished by their
  /// order.
  virtual std::string state_name() const { return ""; }
  /// State that the callback needs to continue in a resumed run.
  virtual std::string state() const { return ""; }
  /// Restores what state() returned; called before begin(). Throws ValueError for any other text.
  virtual void load_state(const std::string&) {}
  /// Called before the first epoch.
  virtual void begin(TrainState&) {}
  /// Called at the start of each epoch.
  virtual void epoch_begin(TrainState&) {}
  /// Called before each step, or chunk of steps with data sinking.
  virtual void step_begin(TrainState&) {}
  /// Called when losses reach the host, in order and once per step.
  virtual void steps_known(TrainState&, const KnownSteps&) {}
  /// Called after each step, or chunk of steps with data sinking.
  virtual void step_end(TrainState&) {}
  /// Called at the end of each epoch.
  virtual void epoch_end(TrainState&) {}
  /// Called after the last epoch.
  virtual void end(TrainState&) {}
};
using CallbackPtr = std::shared_ptr<Callback>;

/// Prints "epoch: 1 step: 625, loss is 2.302585" when at least per_print_times steps have passed since the last line, and reads
/// the loss only then (MindSpore: LossMonitor). Throws NonFiniteError if a known loss is NaN or infinite, unless NanPolicy::kSkip
/// skipped the step.
class SINDRI_API LossMonitor : public Callback {
 public:
  /// per_print_times 0: prints no losses. out: null for stdout. Throws ValueError for a negative per_print_times.
  explicit LossMonitor(int64_t per_print_times = 1, std::ostream* out = nullptr);
  void step_end(TrainState& s) override;
  void epoch_end(TrainState& s) override;

 private:
  int64_t per_print_times_, last_print_ = 0, skipped_ = 0;
  std::ostream* out_;
};

/// Prints "Train epoch time: 1234.567 ms, per step time: 12.346 ms" after each epoch (MindSpore: TimeMonitor). The number of
/// steps is the state's batch_num, else data_size; epoch_end throws ValueError if neither is known.
class SINDRI_API TimeMonitor : public Callback {
 public:
  /// Throws ValueError for a negative data_size. out: null for stdout.
  explicit TimeMonitor(int64_t data_size = 0, std::ostream* out = nullptr);
  void epoch_begin(TrainState& s) override;
  void epoch_end(TrainState& s) override;

 private:
  int64_t data_size_;
  std::ostream* out_;
  double start_ = 0;
};

/// When to save and how many files to keep (MindSpore: CheckpointConfig). steps > 0 overrides seconds; keep_max > 0 overrides
/// keep_per_n_minutes.
struct CheckpointConfig {
  int64_t save_checkpoint_steps = 1;  ///< steps between saves; 0: by time
  int64_t save_checkpoint_seconds = 0;  ///< seconds between saves; 0: by steps
  int64_t keep_checkpoint_max = 5;  ///< number of files to keep; 0: no limit
  int64_t keep_checkpoint_per_n_minutes = 0;  ///< see checkpoints_to_remove() in checkpoint_files.h; 0: no limit
  bool save_optimizer = true;  ///< false: the network's parameters only (not enough to resume)
  bool mindspore1 = false;  ///< files that MindSpore 1.x can read: integrity data goes into a .sum file
};

/// Saves PREFIX-EPOCH_STEP.ckpt (STEP within the epoch) during and at the end of training, then removes the oldest files beyond
/// keep_checkpoint_max (MindSpore: ModelCheckpoint). If the folder already holds files of the prefix, PREFIX_1, PREFIX_2, … is
/// used, unless `resuming`. The link "latest" next to them points to the newest file. With several ranks, all take part, rank 0
/// writes, and every rank learns whether the save succeeded.
class SINDRI_API ModelCheckpoint : public Callback {
 public:
  /// Throws ValueError for a prefix with '/', and if no condition to save is set.
  ModelCheckpoint(std::string prefix, std::string directory, CheckpointConfig config = {}, bool resuming = false);
  void begin(TrainState& s) override;
  void step_end(TrainState& s) override;
  void end(TrainState& s) override;
  /// Saves now, whatever the interval. Returns the path; empty if this step is already saved.
  std::string save(TrainState& s);
  /// Path of the newest saved file; empty before the first.
  const std::string& latest_ckpt_file_name() const { return latest_; }
  /// Why the last save failed; empty if it did not. A failed save does not end the run: the next interval tries again.
  const std::string& last_error() const { return last_error_; }

 private:
  void prepare(const TrainState& s);
  void write(const TrainState& s, const std::string& path) const;
  void rotate();
  std::string prefix_, directory_, latest_, last_error_;
  CheckpointConfig config_;
  int64_t last_step_ = 0;
  double last_time_ = 0;
  std::vector<std::pair<std::string, double>> saved_;  // path, time of saving
};

/// Ends the run when `monitor` (a metric name, or "loss") has not improved by min_delta for `patience` evaluations (MindSpore:
/// EarlyStopping). For a "loss" that is not evaluated, epochs count instead.
class SINDRI_API EarlyStopping : public Callback {
 public:
  /// Throws ValueError for a negative patience or min_delta.
  EarlyStopping(std::string monitor, int64_t patience, double min_delta = 0, bool larger_is_better = false);
  std::string state_name() const override { return "early_stopping"; }
  std::string state() const override { return rule_.state(); }
  void load_state(const std::string& text) override { rule_.load_state(text); }
  /// Ends a resumed run at once if it had already run out of patience.
  void begin(TrainState& s) override;
  /// Throws ValueError, with the known names, if the evaluations have no such metric.
  void epoch_end(TrainState& s) override;

 private:
  std::string monitor_;
  Patience rule_;
};

/// Runs `evaluate` every `every` epochs and at the end of the run's last epoch, and stores the result in TrainState::metrics.
class SINDRI_API EvalCallback : public Callback {
 public:
  /// Throws ValueError for `every` below 1.
  EvalCallback(std::function<MetricValues()> evaluate, int64_t every = 1);
  void begin(TrainState& s) override;
  void epoch_end(TrainState& s) override;

 private:
  std::function<MetricValues()> evaluate_;
  int64_t every_;
};

/// A callback from two functions (MindSpore: LambdaCallback).
class SINDRI_API LambdaCallback : public Callback {
 public:
  using Fn = std::function<void(TrainState&)>;
  explicit LambdaCallback(Fn on_step_end, Fn on_epoch_end = nullptr) : step_(std::move(on_step_end)), epoch_(std::move(on_epoch_end)) {}
  void step_end(TrainState& s) override {
    if (step_) step_(s);
  }
  void epoch_end(TrainState& s) override {
    if (epoch_) epoch_(s);
  }

 private:
  Fn step_, epoch_;
};

}  // namespace sindri::train
