// Model: trains, evaluates and applies a network (MindSpore: mindspore.Model).
#pragma once
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sindri/dataset/dataset.h"
#include "sindri/export.h"
#include "sindri/nn/cell.h"
#include "sindri/nn/metric.h"
#include "sindri/optim/optimizer.h"
#include "sindri/train/boost.h"
#include "sindri/train/callback.h"
#include "sindri/train/data_parallel.h"
#include "sindri/train/train_step.h"

namespace sindri::train {

/// What a loss that is not finite does to the training: end it with NonFiniteError, or leave out the update of that step.
enum class NanPolicy { kStop, kSkip };

/// What evaluation and the training step are made with.
struct ModelOptions {
  std::map<std::string, std::shared_ptr<nn::Metric>> metrics = {};  ///< evaluated by eval(); "loss" gets losses, the others (output, labels)
  double loss_scale = 1;  ///< see TrainStepOptions
  amp::Options amp = {};  ///< amp_level, its half type, keep_batchnorm_fp32, lists; evaluation and prediction run at it too
  /// Unset: at level O2 with float16 a DynamicLossScaleManager (unless loss_scale or the optimizer's own is set), else none; null: none.
  std::optional<std::shared_ptr<LossScaleManager>> loss_scale_manager = {};
  NanPolicy nan_policy = NanPolicy::kStop;
  /// With kSkip: a larger share of steps left out, of the epoch or of the whole training, and at least 10 of them, ends the training; 1: never.
  double max_skipped = 0.5;
  /// With kSkip: more steps than these left out one behind the other end the training, on all ranks; 0: never.
  int64_t max_skips = 50;
  int64_t micro_batches = 1;  ///< see TrainStepOptions
  /// eval() runs with these weights: "trained", or the name of an algorithm that has others (BoostAlgorithm::other_weights).
  std::string eval_weights = "trained";
  /// The ranks of comm::world() train together, each with its own part of the data: set on all of them. A batch of the data set holds those of
  /// this rank's virtual ranks one behind the other. train() and eval() are then calls that all ranks make.
  std::optional<DataParallelOptions> data_parallel = {};
  std::vector<BoostAlgorithmPtr> algorithms = {};  ///< what changes the training step (boost.h); each of one Model only
  CompileOptions compile = {};
  /// Makes the network's input of the data (the first column), on the device, for every batch of train() and eval() and the input of predict(): images that
  /// travel as bytes are normalised there. Null: the data is the input. Steps that are
  /// run without train(), through train_step(), take what it made.
  std::function<Tensor(const Tensor&)> prepare = nullptr;
};

/// How train() reads the data, where it begins and when it ends.
struct TrainOptions {
  bool dataset_sink_mode = true;  ///< GRAPH_MODE: callbacks once per sink_size steps
  int64_t sink_size = -1;  ///< steps per chunk; -1: one pass over the data
  int64_t initial_epoch = 0;  ///< epochs already done (resuming)
  int64_t initial_step = 0;  ///< steps already done in the epoch after those
  int64_t initial_total = -1;  ///< steps already done in all; -1: initial_epoch full epochs and initial_step
  int64_t initial_samples = -1;  ///< samples already trained on by all ranks; -1: those steps of as many samples as now
  int64_t max_steps = 0;  ///< the training ends when this many steps are done in all, those of earlier runs included; 0: no limit
  std::string dataset_state = "";  ///< position of the data iterator, as TrainState::dataset_state gave it
  dataset::OnCorrupt on_corrupt = dataset::OnCorrupt::kFail;
  int64_t max_corrupt = -1;
  bool epoch_not_ended = false;  ///< epoch_end of the last of initial_epoch's epochs is still to be called: the process was killed before it
  StepCounts initial_counts = {};  ///< of the steps already done
  std::string record = "";  ///< TrainState::record to begin with
  std::string callbacks = "";  ///< TrainPosition::callbacks, which the callbacks take back before begin()
  std::string settings_hash = "";  ///< kept in checkpoints
  std::string data_fingerprint = "";  ///< kept in checkpoints
  std::vector<std::string> class_names = {};  ///< kept in checkpoints
  /// Asked after every step, also inside a chunk; true ends the training there. Of several ranks it is asked before every step, and true on one ends
  /// the training of all behind that step.
  std::function<bool()> stop_requested = nullptr;
  /// Several ranks: what else must be the same on all before the training begins, as lines "name: value".
  std::vector<std::string> plan = {};
};

/// A network with what trains and judges it. One training at a time; callbacks see its state (callback.h).
class SINDRI_API Model {
 public:
  /// network: images -> outputs. loss: (outputs, labels) -> scalar, or null when the network's output is already the loss.
  /// optimizer may be null for evaluation and prediction only.
  Model(nn::CellPtr network, nn::CellPtr loss = nullptr, std::shared_ptr<optim::Optimizer> optimizer = nullptr, ModelOptions options = {});
  ~Model();

  /// Trains up to `epochs` epochs in all. Throws ValueError for an empty dataset, a repeated dataset without sink_size, or
  /// options out of range; NonFiniteError when the loss of a step is not finite.
  void train(int64_t epochs, const std::shared_ptr<dataset::Dataset>& data, const std::vector<CallbackPtr>& callbacks = {}, const TrainOptions& options = {});
  /// Values of every metric over one pass of the data, in inference mode. Throws ValueError without metrics or data.
  /// `ranks`: each of them has a part of the data, which may be empty; what metrics have counted of them is added up, so that all have the values of
  /// the whole. Collective then; ValueError where a metric's counts do not add up (nn::Metric::adds_up).
  MetricValues eval(const std::shared_ptr<dataset::Dataset>& data, dataset::OnCorrupt on_corrupt = dataset::OnCorrupt::kFail, int64_t max_corrupt = -1,
                    comm::Communicator* ranks = nullptr);
  /// Output of the network in inference mode.
  Tensor predict(const Tensor& x);
  nn::Cell& network() { return *network_; }
  TrainStep& train_step() { return step_; }
  /// Those of ModelOptions::algorithms that are in force, in their order.
  const std::vector<BoostAlgorithmPtr>& algorithms() const { return algorithms_; }
  /// Null without ModelOptions::data_parallel.
  DataParallel* data_parallel() const { return parallel_.get(); }
  /// The one of that name; null where it is not in force.
  BoostAlgorithm* algorithm(const std::string& name) const;
  /// All their state, for load_training_state.
  std::vector<Parameter*> algorithm_state() const;
  /// What a checkpoint holds of several ranks (TrainPosition::of_ranks): for the train() that continues from it, on every rank.
  void restore_of_ranks(std::vector<std::pair<std::string, Tensor>> saved);
  /// As given, or made by default; null without one.
  const std::shared_ptr<LossScaleManager>& loss_scale_manager() const { return loss_scale_manager_; }
  /// The compiled train step, for graph text and memory figures; empty in PYNATIVE_MODE.
  const CompiledFn& compiled_train_step() const;
  /// The compiled prediction; empty before the first predict() and in PYNATIVE_MODE.
  const CompiledFn& compiled_predict() const { return predict_fn_; }

 private:
  struct Loop;
  std::unique_ptr<dataset::Iterator> open_at(const Loop& loop, const dataset::Dataset& data, int64_t size);
  void begin_parallel(Loop& loop);
  bool within_group(const TrainState& s) const;
  [[noreturn]] void fail_without_data(const Loop& loop) const;
  bool run_step(Loop& loop, const TensorList& batch);
  void share_stop(Loop& loop, bool epoch_ended);
  void run_epochs(Loop& loop);
  TensorList run_eval(const TensorList& batch);
  Tensor run_network(const Tensor& x);
  nn::CellPtr network_, loss_, net_with_loss_;
  std::shared_ptr<optim::Optimizer> optimizer_;
  ModelOptions options_;
  std::shared_ptr<LossScaleManager> loss_scale_manager_;
  TrainStep step_;
  std::vector<BoostAlgorithmPtr> algorithms_;
  std::shared_ptr<DataParallel> parallel_;
  int64_t steps_trained_ = 0;  ///< in all trainings of this Model
  bool began_ = false;  ///< with parallel_: a training of this Model has begun
  std::unique_ptr<StepRunner> runner_;
  CompiledFn eval_fn_, predict_fn_;
};

}  // namespace sindri::train
