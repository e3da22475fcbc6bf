// Callbacks observe a training loop (MindSpore: mindspore.train.callback). They never change a step's arithmetic.
//
//   begin
//   for every epoch:
//     epoch_begin
//     for every step (sunk: every chunk of sink_size steps):
//       step_begin; run; step_end          -> request_stop() ends after this step
//     epoch_end
//   end
//
// On an asynchronous device the host runs ahead: at step_end the step has been given to the device, and its loss may not be known. steps_known
// tells of losses once they have reached the host, in order, each step once: on the CPU just before step_end, elsewhere as they come in, and
// at the latest before epoch_end, end, and whatever asks for them (TrainState::settle).
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

using MetricValues = std::map<std::string, double>;

/// Steps that changed nothing, since the training began.
struct StepCounts {
  int64_t skipped = 0;  ///< left out because their loss or a gradient was not finite (NanPolicy::kSkip)
  int64_t overflow = 0;  ///< left out by the loss scale, because a gradient overflowed
  int64_t nonfinite = 0;  ///< of both, those that a smaller loss scale does not mend
  int64_t nonfinite_in_epoch = 0;  ///< of these, those of the current epoch
};

/// A step, or sunk a chunk of them, whose losses have reached the host.
struct KnownSteps {
  int64_t epoch = 0;  ///< from 1
  int64_t step = 0;  ///< TrainState::cur_step_num of the last of them
  int64_t step_in_epoch = 0;  ///< of the last of them, from 1
  std::span<const float> losses;  ///< one per step
  double seconds = 0;  ///< wall time per step, data included
  double data_wait_seconds = 0;  ///< of which spent waiting for data
};

/// What callbacks see (MindSpore: run_context.original_args(), section "Fields of the callback parameters").
struct SINDRI_API TrainState {
  std::string mode = "train";  ///< "train" or "eval"
  nn::Cell* network = nullptr;  ///< as given to Model
  nn::Cell* train_network = nullptr;  ///< network with loss
  optim::Optimizer* optimizer = nullptr;
  dataset::Dataset* train_dataset = nullptr;
  /// Opens a pass of its own over the training data: a function that gives the next batch, false at the end. Null where there is none.
  std::function<std::function<bool(std::vector<Tensor>*)>()> open_data = nullptr;
  /// To be called by what has given the network other moving averages between steps: virtual ranks of this process take them over. Null: there are none.
  std::function<void()> moving_averages_written = nullptr;
  int64_t epoch_num = 0;  ///< epochs asked for
  int64_t batch_num = 0;  ///< steps per epoch
  int64_t batch_size = 0;
  int64_t cur_epoch_num = 0;  ///< from 1
  int64_t cur_step_num = 0;  ///< from 1, across epochs
  int64_t steps_before_epoch = 0;  ///< cur_step_num when this epoch began
  bool epoch_complete = false;  ///< no further step belongs to this epoch: all are done, or the data ended early (bad samples left out)
  bool dataset_sink_mode = false;
  Tensor net_outputs;  ///< loss of the last step, on the device
  /// Waits until the losses of all steps so far are known and steps_known has told of them. Throws NonFiniteError, naming the step, where the training must
  /// not go on; what saves the state of a training settles first. Null outside of Model::train.
  std::function<void()> settle = nullptr;
  /// Of the last step, on the host: settles first.
  double loss();
  MetricValues metrics;  ///< of the last evaluation in this run, empty before
  /// cur_step_num at that evaluation, 0 before the first. -1: whoever sets `metrics` does not say; then they count as those of the present epoch.
  int64_t metrics_step = -1;
  int64_t skipped_steps = 0;  ///< steps left out because their loss or a gradient was not finite (NanPolicy::kSkip)
  int64_t overflow_steps = 0;  ///< steps left out by the loss scale, because a gradient overflowed
  int64_t nonfinite_steps = 0, nonfinite_in_epoch = 0;  ///< see StepCounts
  LossScaleManager* loss_scale_manager = nullptr;  ///< null without one; get_loss_scale() is the scale of the next step
  std::vector<Callback*> callbacks = {};  ///< of this training; checkpoints hold their states
  std::vector<std::shared_ptr<BoostAlgorithm>> algorithms = {};  ///< those applied to the step, in their order; they see events before callbacks
  double last_step_seconds = 0;  ///< KnownSteps::seconds of the last that are known
  double data_wait_seconds = 0;  ///< of which spent waiting for data
  std::string data_stats;  ///< one line on the data pipeline, set at the end
  std::string settings_hash;  ///< of the settings in force, kept in checkpoints
  std::string data_fingerprint;  ///< of the data, likewise
  std::vector<std::string> class_names;  ///< by label, likewise
  std::string record;  ///< what a callback needs to go on where the training is resumed, likewise; callbacks before ModelCheckpoint set it
  int64_t known_step = 0;  ///< cur_step_num of the last step whose loss is known
  std::optional<double> last_loss;  ///< of that step; unset outside of Model::train
  std::string dataset_state;  ///< position of the data iterator after this step, for checkpoints

  // With several ranks. Callbacks are called on all of them, in the same order; what only one is to do, such as writing a file, rank 0 does.

  comm::Communicator* ranks = nullptr;  ///< those that train together; null where there is one
  /// Collective: while the result lives, the network and `of_ranks` are what a checkpoint must hold of all ranks. Null for nothing.
  std::function<std::shared_ptr<void>()> merge_ranks = nullptr;
  std::vector<std::pair<std::string, Tensor>> of_ranks = {};  ///< TrainPosition::of_ranks
  int64_t virtual_ranks = 1;  ///< parts of the global batch (DataParallelOptions)
  int64_t global_batch = 0;  ///< samples that all ranks together have in a step; 0: batch_size
  int64_t global_samples = 0;  ///< trained on in all, up to the last step

  /// Position of the current step in its epoch, from 1.
  int64_t step_in_epoch() const { return cur_step_num - steps_before_epoch; }
  StepCounts counts() const { return {skipped_steps, overflow_steps, nonfinite_steps, nonfinite_in_epoch}; }
  void request_stop() { stop = true; }
  bool stop = false;
  bool interrupted = false;  ///< by TrainOptions::stop_requested: the process ends, and the run may be resumed
  bool epoch_ending = false;  ///< epoch_end of this epoch has been called, of some callbacks at least
};

/// Override what is needed. Exceptions end the training and reach the caller of Model::train.
class SINDRI_API Callback {
 public:
  virtual ~Callback() = default;
  /// The name under which checkpoints hold state(); empty: the callback has none. Several of one name are told apart by their order.
  virtual std::string state_name() const { return ""; }
  /// What the callback needs in order to continue in a resumed run.
  virtual std::string state() const { return ""; }
  /// Takes back what state() returned, before begin(). Throws ValueError for a text that is not its own.
  virtual void load_state(const std::string&) {}
  virtual void begin(TrainState&) {}
  virtual void epoch_begin(TrainState&) {}
  virtual void step_begin(TrainState&) {}
  virtual void steps_known(TrainState&, const KnownSteps&) {}
  virtual void step_end(TrainState&) {}
  virtual void epoch_end(TrainState&) {}
  virtual void end(TrainState&) {}
};
using CallbackPtr = std::shared_ptr<Callback>;

/// Prints "epoch: 1 step: 625, loss is 2.302585" whenever at least per_print_times steps passed since the last line; only then it asks for the loss.
/// Throws NonFiniteError when a known loss is NaN or infinite, unless NanPolicy::kSkip left the step out (MindSpore: LossMonitor).
class SINDRI_API LossMonitor : public Callback {
 public:
  explicit LossMonitor(int64_t per_print_times = 1, std::ostream* out = nullptr);
  void step_end(TrainState& s) override;
  void epoch_end(TrainState& s) override;

 private:
  int64_t per_print_times_, last_print_ = 0, skipped_ = 0;
  std::ostream* out_;
};

/// Prints "Train epoch time: 1234.567 ms, per step time: 12.346 ms" after each epoch (MindSpore: TimeMonitor). The divisor is the
/// state's batch_num, else data_size.
class SINDRI_API TimeMonitor : public Callback {
 public:
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
  int64_t save_checkpoint_steps = 1;
  int64_t save_checkpoint_seconds = 0;
  int64_t keep_checkpoint_max = 5;
  int64_t keep_checkpoint_per_n_minutes = 0;
  bool save_optimizer = true;  ///< false: the network's parameters only (not enough to resume)
  bool mindspore1 = false;  ///< files MindSpore 1.x can read: integrity data goes into a .sum file
};

/// Saves PREFIX-EPOCH_STEP.ckpt (STEP within the epoch) during and at the end of training, then removes the oldest beyond
/// keep_checkpoint_max. If the folder already holds files of the prefix, PREFIX_1, PREFIX_2, … is used, unless it is resuming.
/// The link "latest" beside them names the last one. With several ranks all enter, rank 0 writes, and every rank knows what came of it.
class SINDRI_API ModelCheckpoint : public Callback {
 public:
  /// Throws ValueError for a prefix with '/', or when no condition to save is set.
  ModelCheckpoint(std::string prefix, std::string directory, CheckpointConfig config = {}, bool resuming = false);
  void begin(TrainState& s) override;
  void step_end(TrainState& s) override;
  void end(TrainState& s) override;
  /// Saves now, whatever the interval. Returns the path; empty when this step is saved already.
  std::string save(TrainState& s);
  const std::string& latest_ckpt_file_name() const { return latest_; }
  /// Why the last save failed; empty when it did not. A failed save does not end the training: the next interval tries again.
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

/// Stops when `monitor` (a metric name, or "loss") has not improved by min_delta for `patience` evaluations; "loss" that is not evaluated: epochs.
class SINDRI_API EarlyStopping : public Callback {
 public:
  /// Throws ValueError for a negative patience or min_delta.
  EarlyStopping(std::string monitor, int64_t patience, double min_delta = 0, bool larger_is_better = false);
  std::string state_name() const override { return "early_stopping"; }
  std::string state() const override { return rule_.state(); }
  void load_state(const std::string& text) override { rule_.load_state(text); }
  /// A resumed run that had run out of patience ends at once.
  void begin(TrainState& s) override;
  void epoch_end(TrainState& s) override;

 private:
  std::string monitor_;
  Patience rule_;
};

/// Runs `evaluate` every `every` epochs, and at the end of the epoch that a run ends with, and puts its result into TrainState::metrics.
class SINDRI_API EvalCallback : public Callback {
 public:
  EvalCallback(std::function<MetricValues()> evaluate, int64_t every = 1);
  void begin(TrainState& s) override;
  void epoch_end(TrainState& s) override;

 private:
  std::function<MetricValues()> evaluate_;
  int64_t every_;
};

/// Two std::functions as a callback.
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
