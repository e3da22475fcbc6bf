// TrainStep: one training step as a function of tensors, cut into stages that algorithms wrap or replace.
#pragma once
#include <functional>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include "sindri/amp/amp.h"
#include "sindri/autograd/grad.h"
#include "sindri/export.h"
#include "sindri/graph/compile.h"
#include "sindri/nn/cell.h"
#include "sindri/optim/optimizer.h"
#include "sindri/train/loss_scale.h"

namespace sindri::train {

/// What a step reports.
struct StepResult {
  Tensor loss;  ///< unscaled, scalar float32
  Tensor finite = {};  ///< bool scalar: false when the step was left out; undefined where steps never are (TrainStepOptions)
};

/// A stage that knows whether it is still the default one, so that defaults that lie side by side may be done in one go.
template <class Signature> class Stage : public std::function<Signature> {
 public:
  using Function = std::function<Signature>;
  Stage() = default;
  /// Wraps or replaces it: `step.reduce_updates = [inner = step.reduce_updates](Updates u) { … }`.
  template <class F>
  requires(!std::is_same_v<std::remove_cvref_t<F>, Stage>) Stage& operator=(F&& f) {
    Function::operator=(std::forward<F>(f));
    replaced_ = true;
    return *this;
  }
  void set_default(Function f) { Function::operator=(std::move(f)); }
  bool replaced() const { return replaced_; }

 private:
  bool replaced_ = false;
};

/// What a guard found: bool scalars.
struct Verdict {
  Tensor skip;  ///< the update must be left out
  Tensor finite = {};  ///< its opposite, where that is at hand
};

/// Stages are values: they are wrapped or replaced at build time, never edited. The default `run` calls them in order:
///
///   restore     = snapshot()              // guarded steps: what forward writes, to be taken back where the step is left out
///   loss, grads = gradients(batch)        // forward on a tape (casts of mixed precision above it), loss scale, backward; uses on request
///   grads       = collect(grads)          // null: hands on every step's; without a value the step ends here, without an update
///   grads       = reduce_gradients(grads) // mean over ranks; identity on one
///   loss        = reduce_loss(loss)       // null: as it is; where gradients are collected, before that
///   grads.skip  = guard(grads, loss)      // guarded steps: whether something is not finite, under a loss scale or skip_nonfinite
///   restore(grads.skip)
///   grads       = transform_gradients(grads)  // natural gradient; clipping and centralisation are the optimizer's
///   update(grads):
///     updates   = compute_updates(grads)  // the optimizer's rule: the new value of each parameter
///     updates   = reduce_updates(updates) // identity
///     apply_updates(updates)              // written to the parameters
///   after_apply(grads.skip)               // null: nothing; averages of the weights
///   adapt(finite)                         // a loss scale
///
/// Under a loss scale gradients stay scaled until the update: grads.inv_scale rides along. A stage that makes new Gradients hands
/// inv_scale and skip on; one that unscales clears inv_scale. Uses of Parameters (grads.uses) say themselves what they are
/// scaled by. Where none of the three parts of `update` is wrapped, each parameter is
/// written as soon as its new value is there.
///
/// `gradients` may be wrapped by one that calls it more than once, at other values of the parameters. That one gives back what the further passes wrote,
/// sets the number of the next random op back (ops::set_rng_instance) where they must draw the same, and returns the loss to report. The guard sees
/// the gradients that it returns and no others; a `skip` set there is lost where `collect` makes new ones.
///
/// In GRAPH_MODE `run` is traced once per variant and replayed; in PYNATIVE_MODE it is called. A variant is what the host knows of a
/// step before it runs: choices of stages (add_choice, chosen), and the optimizer's own (`variant`).
struct SINDRI_API TrainStep {
  using Batch = TensorList;
  using Restore = std::function<void(const Tensor& skip)>;
  std::function<Tensor(const Batch&)> forward;  ///< network and loss
  std::function<Restore()> snapshot;  ///< null: nothing is taken back
  std::function<std::pair<Tensor, Gradients>(TrainStep&, const Batch&)> gradients;  ///< calls forward
  /// `finite`: whether this step's loss and gradients are; undefined where steps are never left out.
  std::function<std::optional<Gradients>(TrainStep&, Gradients, const Tensor& finite)> collect;
  /// What `collect` holds between steps, sums or means of gradients: the Parameters of each virtual rank of this process, list behind list
  /// (BuildContext::gradient_lists). Before a checkpoint every list gets the mean over all virtual ranks; whoever collects keeps the first one in its state.
  std::vector<Parameter*> collected = {};
  std::function<Gradients(Gradients)> reduce_gradients;
  std::function<Tensor(const Tensor& loss)> reduce_loss;  ///< null: the loss is this process's own
  /// `decides`: this is the look that the update depends on, not one at gradients that are collected. Null: steps are never left out.
  std::function<Verdict(const Gradients&, const Tensor& loss, bool decides)> guard;
  std::function<Gradients(Gradients)> transform_gradients;
  Stage<optim::Updates(const Gradients&)> compute_updates;
  Stage<optim::Updates(optim::Updates)> reduce_updates;
  Stage<void(const optim::Updates&)> apply_updates;
  std::function<void(TrainStep&, const Gradients&)> update;  ///< calls the three above
  std::function<void(TrainStep&, const Tensor& skip)> after_apply;  ///< skip: bool scalar, true where the update was left out; or undefined
  std::function<void(const Tensor& finite)> adapt;  ///< of guarded steps; null: nothing adapts
  std::function<int(int64_t update)> variant;  ///< the optimizer's choice of a compiled graph for the update of this number
  int current_variant = 0;  ///< what `variant` gave for the step which runs or is traced now; the runner sets it, stages read it
  std::function<StepResult(TrainStep&, const Batch&)> run;  ///< default: run_stages as one step of the random ops

  std::vector<Parameter*> parameters = {};  ///< trained, in the order of gradients
  std::function<std::vector<Parameter*>(size_t parameter)> state_of;  ///< the optimizer's state of one; null: not known
  bool wants_uses = false;  ///< backward is asked for ParamUse; before anything runs
  /// Of each parameter, whether it is left out from now on: it has no gradient, and backward ends where only such ones lie before. Empty: none is. Algorithms set
  /// it for a step, within `gradients`.
  std::vector<bool> left_out = {};
  /// Ranks that follow each other, among which gradients are put together: 0 all. An algorithm that has its own way between such groups sets it.
  int64_t ranks_per_group = 0;
  int64_t steps_per_update = 1;  ///< steps whose gradients are collected for one update
  int64_t steps_before = 0;  ///< steps of earlier trainings of the same network, from which schedules of this one go on
  int64_t last_step = -1;  ///< number of the step that the running training is planned to end with, as updates() takes it; -1: not known
  /// The number of the update that a step goes into.
  int64_t update_of(int64_t step) const { return (step + steps_before) / steps_per_update; }
  std::function<bool(int64_t update)> needs_whole;  ///< whether an update needs the gradients of all parameters, so that none may be left out; null: none does
  std::function<bool(int64_t step)> updates_at;  ///< whether a step ends with an update; null: every step

  using Choose = std::function<int(const TrainStep&, int64_t step)>;
  /// A choice of 0 … count-1 that the host makes for every step, from 0 on. Returns the number to ask chosen() with. Throws ValueError for
  /// count < 2.
  size_t add_choice(int count, Choose choose);
  /// The choice of the step that runs or is traced.
  int chosen(size_t choice) const { return choices_.at(choice).now; }
  /// All choices of a step, and the optimizer's, as one number.
  int variant_at(int64_t step) const;
  /// What chosen() answers from now on, and current_variant.
  void set_variant(int number);
  bool updates(int64_t step) const { return !updates_at || updates_at(step); }

 private:
  struct Choice {
    int count;
    Choose choose;
    int now = 0;
  };
  std::vector<Choice> choices_;
};

/// A snapshot of these: brings back the values of now where `skip` is true, by ops, of those that were assigned meanwhile.
SINDRI_API TrainStep::Restore keep_values(const std::vector<Parameter*>& parameters);

/// Calls the stages of a step in their order, but `run`.
SINDRI_API StepResult run_stages(TrainStep& step, const TrainStep::Batch& batch);

/// Precision, loss scale, and what a step that is not finite does.
struct TrainStepOptions {
  double loss_scale = 1;  ///< multiplies the seed of backward; the optimizer divides by its own loss_scale. Not beside a manager
  bool skip_nonfinite = false;  ///< a step whose loss or a gradient is NaN or infinite leaves every parameter and all optimizer state as they were
  /// The batch is cut into so many parts along its first dimension, and their gradients are averaged, in the order of the parts: memory for
  /// one part. Right where the loss is a mean over samples; batch norm sees each part by itself.
  int64_t micro_batches = 1;
  amp::Options amp = {};  ///< of the forward pass; parameters, gradients and optimizer state are float32 at every level
  std::shared_ptr<LossScaleManager> loss_scale_manager = nullptr;
};

/// The default stages around a network with loss (inputs: the batch's columns; output: a scalar loss) and an optimizer. Both
/// must outlive the step. Throws ValueError for amp options that do not fit the network (amp::check) or a loss scale that the
/// optimizer's own contradicts.
SINDRI_API TrainStep make_train_step(nn::Cell& net_with_loss, optim::Optimizer& optimizer, const TrainStepOptions& options = {});

/// Runs a TrainStep according to the context's mode; compiles in GRAPH_MODE.
class SINDRI_API StepRunner {
 public:
  /// `step` is kept by reference and must outlive the runner.
  explicit StepRunner(TrainStep& step, CompileOptions options = {});
  StepResult operator()(const TrainStep::Batch& batch, int64_t step_index);
  /// GRAPH_MODE: compiles what that step needs, and runs nothing.
  void prepare(const TrainStep::Batch& batch, int64_t step_index);
  const CompiledFn& compiled() const { return compiled_; }

 private:
  TrainStep& step_;
  CompiledFn compiled_;
};

}  // namespace sindri::train
