// BoostAlgorithm: what a training algorithm says of itself and does to a TrainStep. Algorithms register by name; the core names none.
//
//   ModelOptions o;
//   o.algorithms = {train::boosts().make("grad_accumulation", {{"step", 4}})};
//
// docs/contributing.md, "A training algorithm", shows how one is written.
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

/// What an algorithm finds when a step is built. Parameters are owned by others and outlive it.
struct BuildContext {
  std::vector<Parameter*> parameters = {};  ///< trained, in the order of gradients and updates
  std::vector<std::pair<std::string, Parameter*>> network_state = {};  ///< every parameter and moving average of the network, by path
  /// Of each batch norm: its moving averages, and the weight that a step leaves to their old value.
  struct MovingAverage {
    Parameter* parameter;
    double momentum;
    Parameter* mean = nullptr;  ///< of a variance: the moving mean beside it
  };
  std::vector<MovingAverage> moving_averages = {};
  std::vector<const Parameter*> grouped_weights = {};  ///< of convolutions with several groups (depthwise ones have as many as channels)
  nn::Cell* network = nullptr;  ///< null where the network is defined in Python
  optim::Optimizer* optimizer = nullptr;  ///< likewise
  /// Between `gradients` and `reduce_gradients` of a step that collects (TrainStep::collect), gradients are so many lists of the parameters' ones, one
  /// behind the other: a list for each virtual rank of this process (data_parallel.h).
  int64_t gradient_lists = 1;
  double gradient_sum = 1;  ///< behind `reduce_gradients` they are so many times those of the loss: of several ranks the sum, where no mean was asked for
  double loss_scale = 1;  ///< by which the optimizer divides gradients, beside their inv_scale: in stages they are so many times too large
};

/// The weights of the network's convolutions that have several groups.
SINDRI_API std::vector<const Parameter*> grouped_weights(nn::Cell& network);
/// The numbers of `parameters` in the order in which the network has them, from its input on; an optimizer has them by its groups. Those that the network does not
/// have come last.
SINDRI_API std::vector<size_t> network_order(const BuildContext& context);

/// Names and values of columns.
using EventColumns = std::vector<std::pair<std::string, double>>;

/// When on_event is called; always before the callbacks of that name.
enum class Event { kBegin, kEpochBegin, kStepBegin, kStepEnd, kEpochEnd, kEnd };

/// A training algorithm. It wraps stages when the step is built; it may watch the loop; it owns its state.
class SINDRI_API BoostAlgorithm {
 public:
  BoostAlgorithm() = default;
  virtual ~BoostAlgorithm() = default;
  BoostAlgorithm(const BoostAlgorithm&) = delete;
  BoostAlgorithm& operator=(const BoostAlgorithm&) = delete;

  /// The name it is registered under.
  virtual std::string name() const = 0;
  /// Why it would change nothing, as it is set; empty: it does its work. One that is idle is not applied.
  virtual std::string idle() const { return ""; }
  /// Steps whose gradients it collects for one update.
  virtual int64_t steps_per_update() const { return 1; }
  /// Changes the network, before its parameters are asked for: by whoever makes a network to train or to evaluate with this algorithm.
  virtual void prepare(nn::Cell& network) { (void)network; }
  /// Wraps stages. Called once; `step` outlives the algorithm's use and keeps its address.
  virtual void apply(TrainStep& step, const BuildContext& context) = 0;
  virtual void on_event(Event, TrainState&) {}
  /// What checkpoints keep, under names of its own; there after apply().
  virtual std::vector<Parameter*> state() { return {}; }
  /// What each rank has for itself while training, of state() and of the optimizer's: a training that goes on in the same process leaves it as it is.
  virtual std::vector<Parameter*> own_state() { return {}; }
  /// Of state() what follows something that forward writes, as batch norm's moving averages, and so differs between ranks: before evaluation and checkpoints all have
  /// the first virtual rank's, which is the same in every layout.
  virtual std::vector<Parameter*> follows_forward() { return {}; }
  /// Columns of metrics.csv at the end of an epoch.
  virtual EventColumns columns(const TrainState&) const { return {}; }
  /// What the run's report follows over time, by step (Optimizer::Measure); asked at the end of an epoch. Those of one group are drawn together.
  virtual std::vector<optim::Optimizer::Measure> measures() const { return {}; }
  /// Pairs of a parameter of the network and another value for it, to evaluate or save the network with; empty: it has none (yet).
  virtual std::vector<std::pair<Parameter*, Parameter*>> other_weights() { return {}; }

 private:
  friend SINDRI_API std::vector<std::shared_ptr<BoostAlgorithm>> apply_boosts(TrainStep& step, const BuildContext& context,
                                                                              const std::vector<std::shared_ptr<BoostAlgorithm>>& algorithms);
  bool applied_ = false;
};
using BoostAlgorithmPtr = std::shared_ptr<BoostAlgorithm>;

/// How an algorithm stands to others, by names, which need not be registered.
struct BoostFacts {
  std::vector<std::string> excludes = {};  ///< those it cannot be used beside
  std::vector<std::string> precedes = {};  ///< those that must be applied after it, so that they wrap it
  /// Whether it has other_weights(); its state holds them under `<its name>.<parameter>`, and eval_weights may name it.
  bool keeps_weights = false;
  /// Of such a one: the entry of its state that counts how often weights were taken in. While it is 0, what it holds are no weights to use.
  std::string weights_count = "";
};
using MakeBoost = BoostAlgorithmPtr(const SettingValues& settings);

/// The training algorithms by name. Settings files have each as the section `boost.<name>`, so its name is in lower case.
SINDRI_API Registry<MakeBoost, BoostFacts>& boosts();
/// Throws ValueError where no algorithm that keeps weights (BoostFacts) is registered under that name, with those that are.
SINDRI_API void check_keeps_weights(const std::string& name);

/// The algorithms in the order in which they are applied: as given, but each behind those that must precede it. Throws ValueError for a null
/// one, two of one name, two of which one excludes the other, and orders that contradict each other.
SINDRI_API std::vector<BoostAlgorithmPtr> in_order(const std::vector<BoostAlgorithmPtr>& algorithms);
/// Steps whose gradients go into one update; idle algorithms collect none.
SINDRI_API int64_t steps_per_update(const std::vector<BoostAlgorithmPtr>& algorithms);
/// Says on rank 0, where that is so, that none of the steps from `first` up to `end` ends with an update: a training that is shorter than a group of
/// accumulated steps. Behind Event::kBegin.
SINDRI_API void warn_without_updates(const TrainStep& step, int64_t first, int64_t end);
/// Orders them and applies those that are not idle; of the others rank 0 warns, as they were asked for. Returns the ones applied, to be kept as long as the step is used: its stages refer to them.
/// Throws ValueError as in_order, and for one that is part of another step.
SINDRI_API std::vector<BoostAlgorithmPtr> apply_boosts(TrainStep& step, const BuildContext& context, const std::vector<BoostAlgorithmPtr>& algorithms);
/// What batch norm's moving averages are to be for the weights that the network has now: for each of `moving` the mean, over up to `batches` batches of the
/// training data and all virtual ranks, of the statistics of one part of a batch (Izmailov et al. 2018, section 3.2). The moving averages and the random
/// state are then as before. Empty where no data can be opened. Collective: all ranks get the same. Throws as forward does.
SINDRI_API TensorList measured_statistics(const TrainStep& step, const std::vector<BuildContext::MovingAverage>& moving, const TrainState& state,
                                          int64_t batches);
/// While it lives, the network has the other weights of an algorithm (BoostAlgorithm::other_weights).
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
