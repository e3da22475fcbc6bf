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

/// Reaction to a loss or gradient that is not finite: end the run with NonFiniteError, or skip the update of that step.
enum class NanPolicy { kStop, kSkip };

/// Options of a Model: precision, loss scale, metrics and training algorithms.
struct ModelOptions {
  std::map<std::string, std::shared_ptr<nn::Metric>> metrics = {};  ///< evaluated by eval(); "loss" gets losses, the others (output, labels)
  double loss_scale = 1;  ///< see TrainStepOptions
  amp::Options amp = {};  ///< amp_level, its half type, keep_batchnorm_fp32, lists; evaluation and prediction run at it too
  /// Unset: at level O2 with float16 a DynamicLossScaleManager, unless loss_scale or the optimizer's own loss scale is set;
  /// otherwise none. Null: none.
  std::optional<std::shared_ptr<LossScaleManager>> loss_scale_manager = {};
  NanPolicy nan_policy = NanPolicy::kStop;  ///< what to do if the loss or a gradient is not finite
  /// With kSkip: the run ends if more than this share of the steps was skipped, in the epoch or since training began, and at
  /// least 10 steps were skipped; 1: never.
  double max_skipped = 0.5;
  /// With kSkip: the run ends, on all ranks, after more than this number of consecutive skipped steps; 0: never.
  int64_t max_skips = 50;
  int64_t micro_batches = 1;  ///< see TrainStepOptions
  /// The weights for eval(): "trained", or the name of an algorithm with other weights (BoostAlgorithm::other_weights).
  std::string eval_weights = "trained";
  /// If set (on all ranks), the ranks of comm::world() train together, each on its part of the data. A batch of the dataset is
  /// then the concatenation of the batches of this rank's virtual ranks, and train() and eval() are collective.
  std::optional<DataParallelOptions> data_parallel = {};
  std::vector<BoostAlgorithmPtr> algorithms = {};  ///< training algorithms (boost.h); each belongs to one Model
  CompileOptions compile = {};  ///< of the train step, evaluation and prediction
  /// Computes the network's input from the data's first column, on the device, for each batch of train() and eval() and for
  /// predict(): images transferred as bytes are normalised there. Null: the data is the input. Steps run directly through
  /// train_step() take its output.
  std::function<Tensor(const Tensor&)> prepare = nullptr;
};

/// Options of train(): data, start position and end.
struct TrainOptions {
  bool dataset_sink_mode = true;  ///< GRAPH_MODE: callbacks once per sink_size steps
  int64_t sink_size = -1;  ///< steps per chunk; -1: one pass over the data
  int64_t initial_epoch = 0;  ///< epochs already done (resuming)
  int64_t initial_step = 0;  ///< steps already done in the epoch after these
  int64_t initial_total = -1;  ///< steps already done in total; -1: initial_epoch full epochs and initial_step
  int64_t initial_samples = -1;  ///< samples already trained on by all ranks; -1: the steps already done times the current number of samples per step
  int64_t max_steps = 0;  ///< total number of steps, including earlier runs, after which the run ends; 0: no limit
  std::string dataset_state = "";  ///< position of the data iterator, from TrainState::dataset_state
  dataset::OnCorrupt on_corrupt = dataset::OnCorrupt::kFail;  ///< reaction to corrupt samples
  int64_t max_corrupt = -1;  ///< distinct corrupt rows tolerated; -1: 100 or 0.1 % of the rows, whichever is larger
  bool epoch_not_ended = false;  ///< epoch_end of the last completed epoch is still due: the process was killed before it
  StepCounts initial_counts = {};  ///< counts of the steps already done
  std::string record = "";  ///< initial TrainState::record
  std::string callbacks = "";  ///< TrainPosition::callbacks, which the callbacks restore before begin()
  std::string settings_hash = "";  ///< kept in checkpoints
  std::string data_fingerprint = "";  ///< kept in checkpoints
  std::vector<std::string> class_names = {};  ///< kept in checkpoints
  /// Called after every step, also within a chunk; true ends the run there. With several ranks it is called before every step,
  /// and true on one rank ends the run on all ranks after that step.
  std::function<bool()> stop_requested = nullptr;
  /// Several ranks: further values that must agree on all ranks before training starts, as lines "name: value".
  std::vector<std::string> plan = {};
};

/// Trains, evaluates and applies a network. One training run at a time; callbacks see its state (callback.h).
class SINDRI_API Model {
 public:
  /// network: images -> outputs. loss: (outputs, labels) -> scalar, or null if the network's output is the loss. optimizer: may
  /// be null for evaluation and prediction only. Throws ValueError for options that contradict each other.
  Model(nn::CellPtr network, nn::CellPtr loss = nullptr, std::shared_ptr<optim::Optimizer> optimizer = nullptr, ModelOptions options = {});
  ~Model();

  /// Trains until `epochs` epochs are done in total. Throws ValueError without an optimizer or data, for an empty dataset, a
  /// repeated dataset without sink_size, and options out of range; NonFiniteError if the loss of a step is not finite
  /// (NanPolicy).
  void train(int64_t epochs, const std::shared_ptr<dataset::Dataset>& data, const std::vector<CallbackPtr>& callbacks = {}, const TrainOptions& options = {});
  /// Values of all metrics over one pass of the data, in inference mode. With `ranks`, each of these ranks has a part of the
  /// data, which may be empty, and the call is collective: the metrics' counts are summed, so that all ranks receive the values
  /// over all of the data. Throws ValueError without metrics or data, and if a metric's counts cannot be summed
  /// (nn::Metric::adds_up).
  MetricValues eval(const std::shared_ptr<dataset::Dataset>& data, dataset::OnCorrupt on_corrupt = dataset::OnCorrupt::kFail, int64_t max_corrupt = -1,
                    comm::Communicator* ranks = nullptr);
  /// Output of the network in inference mode.
  Tensor predict(const Tensor& x);
  nn::Cell& network() { return *network_; }
  TrainStep& train_step() { return step_; }
  /// The applied algorithms of ModelOptions::algorithms, in order.
  const std::vector<BoostAlgorithmPtr>& algorithms() const { return algorithms_; }
  /// Data-parallel state; null without ModelOptions::data_parallel.
  DataParallel* data_parallel() const { return parallel_.get(); }
  /// The applied algorithm of that name; null if there is none.
  BoostAlgorithm* algorithm(const std::string& name) const;
  /// State of all applied algorithms, for load_training_state.
  std::vector<Parameter*> algorithm_state() const;
  /// Sets the ranks' separate states from a checkpoint (TrainPosition::of_ranks), for the train() that continues from it. Call it
  /// on every rank.
  void restore_of_ranks(std::vector<std::pair<std::string, Tensor>> saved);
  /// The given or default manager; null without one.
  const std::shared_ptr<LossScaleManager>& loss_scale_manager() const { return loss_scale_manager_; }
  /// The compiled train step, for graph text and memory use; empty in PYNATIVE_MODE.
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
  int64_t steps_trained_ = 0;  ///< in all calls of train()
  bool began_ = false;  ///< with parallel_: train() has been called
  std::unique_ptr<StepRunner> runner_;
  CompiledFn eval_fn_, predict_fn_;
};

}  // namespace sindri::train
