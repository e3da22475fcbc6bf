// BoostAlgorithm: the interface of training algorithms, which change a TrainStep. Algorithms register by name; the core does not
// name any.
//
//   ModelOptions o;
//   o.algorithms = {train::boosts().make("grad_accumulation", {{"step", 4}})};
//
// docs/contributing.md, "A training algorithm", shows how to write one.
#pragma once
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "sindri/core/registry.h"
#include "sindri/export.h"
#include "sindri/nn/cell.h"
#include "sindri/optim/optimizer.h"
#include "sindri/train/callback.h"
#include "sindri/train/train_step.h"

namespace sindri::train {

/// Inputs of an algorithm when a step is built. The parameters are owned elsewhere and outlive the algorithm.
struct BuildContext {
  std::vector<Parameter*> parameters = {};  ///< trained, in the order of gradients and updates
  std::vector<std::pair<std::string, Parameter*>> network_state = {};  ///< all parameters and moving statistics of the network, by path
  /// A moving mean or variance of a batch norm, and the weight of its old value in a step.
  struct MovingAverage {
    Parameter* parameter;  ///< the moving mean or variance
    double momentum;  ///< weight of the old value in a step
    Parameter* mean = nullptr;  ///< of a variance: the same layer's moving mean
  };
  std::vector<MovingAverage> moving_averages = {};  ///< of all batch norms
  std::vector<const Parameter*> grouped_weights = {};  ///< weights of convolutions with several groups (depthwise ones have one group per channel)
  nn::Cell* network = nullptr;  ///< null if the network is defined in Python
  optim::Optimizer* optimizer = nullptr;  ///< null if it is defined in Python
  /// Number of gradient lists that pass from `gradients` to `reduce_gradients` in a step that collects (TrainStep::collect): one
  /// for each virtual rank of this process (data_parallel.h), concatenated.
  int64_t gradient_lists = 1;
  /// Ratio of the gradients after `reduce_gradients` to those of the loss: above 1 if several ranks' gradients are summed rather
  /// than averaged.
  double gradient_sum = 1;
  /// Factor by which the optimizer divides gradients, in addition to their inv_scale. Inside the stages, gradients are too large
  /// by this factor.
  double loss_scale = 1;
};

/// The weights of the network's convolutions with several groups.
SINDRI_API std::vector<const Parameter*> grouped_weights(nn::Cell& network);
/// Indices into `parameters` in the network's order, from its input on (an optimizer orders parameters by its groups). Parameters
/// that the network does not have come last.
SINDRI_API std::vector<size_t> network_order(const BuildContext& context);

/// Names and values of metrics.csv columns.
using EventColumns = std::vector<std::pair<std::string, double>>;

/// Occasions of on_event, which is always called before the callbacks' function of that name.
enum class Event { kBegin, kEpochBegin, kStepBegin, kStepEnd, kEpochEnd, kEnd };

/// A training algorithm. It wraps stages when the step is built, may observe the loop, and owns its state.
class SINDRI_API BoostAlgorithm {
 public:
  BoostAlgorithm() = default;
  virtual ~BoostAlgorithm() = default;
  BoostAlgorithm(const BoostAlgorithm&) = delete;
  BoostAlgorithm& operator=(const BoostAlgorithm&) = delete;

  /// The name under which it is registered.
  virtual std::string name() const = 0;
  /// Why it has no effect with its present settings; empty if it has. An idle algorithm is not applied.
  virtual std::string idle() const { return ""; }
  /// Number of steps whose gradients it collects for one update.
  virtual int64_t steps_per_update() const { return 1; }
  /// Changes the network before its parameters are read. Called by code that makes a network to train or evaluate with this
  /// algorithm.
  virtual void prepare(nn::Cell& network) { (void)network; }
  /// Wraps stages. Called once; `step` outlives the algorithm's use and keeps its address.
  virtual void apply(TrainStep& step, const BuildContext& context) = 0;
  /// Called at each event of the training loop.
  virtual void on_event(Event, TrainState&) {}
  /// Parameters that checkpoints hold, under the algorithm's own names; available after apply().
  virtual std::vector<Parameter*> state() { return {}; }
  /// The part of state(), and of the optimizer's state, that each rank keeps separately while training. A run that continues in
  /// the same process leaves it unchanged.
  virtual std::vector<Parameter*> own_state() { return {}; }
  /// The part of state() that follows values written by forward, such as batch norm's moving statistics, and so differs between
  /// ranks. Before evaluations and checkpoints, all ranks receive the state of the first virtual rank, which is the same for any
  /// number of ranks.
  virtual std::vector<Parameter*> follows_forward() { return {}; }
  /// Columns for metrics.csv at the end of an epoch.
  virtual EventColumns columns(const TrainState&) const { return {}; }
  /// Curves for the run's report, by step (Optimizer::Measure); read at the end of an epoch. Curves of one group share a plot.
  virtual std::vector<optim::Optimizer::Measure> measures() const { return {}; }
  /// Pairs of a network parameter and another value for it, with which the network can be evaluated or saved. Empty: none (yet).
  virtual std::vector<std::pair<Parameter*, Parameter*>> other_weights() { return {}; }

 private:
  friend SINDRI_API std::vector<std::shared_ptr<BoostAlgorithm>> apply_boosts(TrainStep& step, const BuildContext& context,
                                                                              const std::vector<std::shared_ptr<BoostAlgorithm>>& algorithms);
  bool applied_ = false;
};
using BoostAlgorithmPtr = std::shared_ptr<BoostAlgorithm>;

/// Relations to other algorithms, by names, which need not be registered.
struct BoostFacts {
  std::vector<std::string> excludes = {};  ///< algorithms that it cannot be combined with
  std::vector<std::string> precedes = {};  ///< algorithms that must be applied after it, so that they wrap it
  /// Whether it has other_weights(). Its state then holds them as `<its name>.<parameter>`, and eval_weights may name it.
  bool keeps_weights = false;
  /// With keeps_weights: the state entry that counts how often weights were accumulated. While it is 0, the stored weights are
  /// not usable.
  std::string weights_count = "";
};
/// Makes an algorithm from its settings.
using MakeBoost = BoostAlgorithmPtr(const SettingValues& settings);

/// The training algorithms by name. Each is the section `boost.<name>` in settings files, so names are lower case.
SINDRI_API Registry<MakeBoost, BoostFacts>& boosts();
/// Throws ValueError, with the valid names, unless an algorithm that keeps weights (BoostFacts) is registered under that name.
SINDRI_API void check_keeps_weights(const std::string& name);

/// The algorithms in order of application: as given, but each after those that must precede it. Throws ValueError for a null
/// algorithm, for two with the same name, for two of which one excludes the other, and for contradictory orders.
SINDRI_API std::vector<BoostAlgorithmPtr> in_order(const std::vector<BoostAlgorithmPtr>& algorithms);
/// Number of steps whose gradients go into one update; idle algorithms do not collect.
SINDRI_API int64_t steps_per_update(const std::vector<BoostAlgorithmPtr>& algorithms);
/// Warns on rank 0 if none of the steps from `first` up to `end` ends with an update, because the run is shorter than a group of
/// accumulated steps. Call after Event::kBegin.
SINDRI_API void warn_without_updates(const TrainStep& step, int64_t first, int64_t end);
/// Orders the algorithms and applies those that are not idle; rank 0 warns about the idle ones. Returns the applied ones. Keep
/// them as long as the step is used, since its stages refer to them. Throws the same errors as in_order, and ValueError for an
/// algorithm that belongs to another step.
SINDRI_API std::vector<BoostAlgorithmPtr> apply_boosts(TrainStep& step, const BuildContext& context, const std::vector<BoostAlgorithmPtr>& algorithms);
/// Batch norm statistics for the network's current weights, one tensor for each of `moving`. Each virtual rank computes the
/// statistics of its part of a batch; the result is their mean over all virtual ranks and over up to `batches` batches of the
/// training data (Izmailov et al. 2018, section 3.2). Restores the moving statistics and the random state. Empty if no data can
/// be opened. Collective: all ranks receive the same result. Throws what forward throws.
SINDRI_API TensorList measured_statistics(const TrainStep& step, const std::vector<BuildContext::MovingAverage>& moving, const TrainState& state,
                                          int64_t batches);
/// Gives the network an algorithm's other weights (BoostAlgorithm::other_weights) for the life of the object.
class SINDRI_API OtherWeights {
 public:
  explicit OtherWeights(BoostAlgorithm& algorithm);
  ~OtherWeights();
  OtherWeights(const OtherWeights&) = delete;
  OtherWeights& operator=(const OtherWeights&) = delete;

 private:
  OtherWeights() = default;
  std::vector<std::pair<Parameter*, Tensor>> before_;
};

}  // namespace sindri::train
