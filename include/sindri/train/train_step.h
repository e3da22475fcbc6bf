// TrainStep: one training step as a function of tensors, divided into stages that algorithms wrap or replace.
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

/// Result of a step.
struct StepResult {
  Tensor loss;  ///< unscaled, scalar float32
  Tensor finite = {};  ///< bool scalar: false if the step was skipped; undefined if steps never are (TrainStepOptions)
};

/// A stage that records whether it was replaced, so that adjacent default stages can run as one.
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
  /// Sets the default, without marking the stage as replaced.
  void set_default(Function f) { Function::operator=(std::move(f)); }
  /// Whether the stage was wrapped or replaced.
  bool replaced() const { return replaced_; }

 private:
  bool replaced_ = false;
};

/// Result of a guard: bool scalars.
struct Verdict {
  Tensor skip;  ///< whether the update must be skipped
  Tensor finite = {};  ///< its negation, if already computed; else undefined
};

/// Stages are values: they are wrapped or replaced when the step is built, never edited. The default `run` calls them in order:
///
///   restore     = snapshot()              // guarded steps: values that forward writes, to restore if the step is skipped
///   loss, grads = gradients(batch)        // forward on a tape (under casts of mixed precision), loss scale, backward; uses on request
///   grads       = collect(grads)          // null: passes every step's gradients; if it returns none, the step ends without an update
///   grads       = reduce_gradients(grads) // mean over ranks; identity on a single rank
///   loss        = reduce_loss(loss)       // null: unchanged; runs before collect if gradients are collected
///   grads.skip  = guard(grads, loss)      // guarded steps: whether a value is not finite, under a loss scale or skip_nonfinite
///   restore(grads.skip)
///   grads       = transform_gradients(grads)  // natural gradient; clipping and centralisation belong to the optimizer
///   update(grads):
///     updates   = compute_updates(grads)  // the optimizer's rule: the new value of each parameter
///     updates   = reduce_updates(updates) // identity
///     apply_updates(updates)              // written to the parameters
///   after_apply(grads.skip)               // null: nothing; used for averages of the weights
///   adapt(finite)                         // null: nothing; adapts a loss scale
///
/// Under a loss scale gradients stay scaled until the update, and grads.inv_scale accompanies them. A stage that makes new
/// Gradients passes on inv_scale and skip; one that unscales clears inv_scale. Uses of Parameters (grads.uses) carry their own
/// scale. If none of the three parts of `update` is wrapped, each parameter is written as soon as its new value is computed.
///
/// A wrapper of `gradients` may call it more than once, at other values of the parameters. It then restores what the further
/// passes wrote, resets the number of the next random op (ops::set_rng_instance) if they must draw the same numbers, and returns
/// the loss to report. The guard sees only the gradients that the wrapper returns; a `skip` that the wrapper sets is lost if
/// `collect` makes new gradients.
///
/// In GRAPH_MODE `run` is traced once per variant and replayed; in PYNATIVE_MODE it is called. A variant is what the host knows
/// of a step before it runs: choices of stages (add_choice, chosen), and the optimizer's own (`variant`).
struct SINDRI_API TrainStep {
  using Batch = TensorList;  ///< the columns of a batch
  using Restore = std::function<void(const Tensor& skip)>;  ///< restores a snapshot if `skip`, a bool scalar, is true
  std::function<Tensor(const Batch&)> forward;  ///< network and loss
  std::function<Restore()> snapshot;  ///< null: nothing is restored
  std::function<std::pair<Tensor, Gradients>(TrainStep&, const Batch&)> gradients;  ///< calls forward
  /// `finite`: whether this step's loss and gradients are finite; undefined if steps are never skipped.
  std::function<std::optional<Gradients>(TrainStep&, Gradients, const Tensor& finite)> collect;
  /// Parameters in which `collect` keeps sums or means of gradients between steps: one list for each virtual rank of this
  /// process, concatenated (BuildContext::gradient_lists). Before a checkpoint every list receives the mean over all virtual
  /// ranks; the collecting algorithm keeps the first list in its state.
  std::vector<Parameter*> collected = {};
  std::function<Gradients(Gradients)> reduce_gradients;  ///< mean over ranks
  std::function<Tensor(const Tensor& loss)> reduce_loss;  ///< null: the loss of this process
  /// `decides`: the update depends on this check; false for a check of gradients that are being collected. Null: steps are never
  /// skipped.
  std::function<Verdict(const Gradients&, const Tensor& loss, bool decides)> guard;
  std::function<Gradients(Gradients)> transform_gradients;  ///< before the update; default: identity
  Stage<optim::Updates(const Gradients&)> compute_updates;  ///< the optimizer's rule
  Stage<optim::Updates(optim::Updates)> reduce_updates;  ///< default: identity
  Stage<void(const optim::Updates&)> apply_updates;  ///< writes the new values
  std::function<void(TrainStep&, const Gradients&)> update;  ///< calls the three above
  std::function<void(TrainStep&, const Tensor& skip)> after_apply;  ///< skip: bool scalar, true if the update was skipped; or undefined
  std::function<void(const Tensor& finite)> adapt;  ///< guarded steps only; null: nothing adapts
  std::function<int(int64_t update)> variant;  ///< the optimizer's choice of a compiled graph, for the update with this number
  int current_variant = 0;  ///< result of `variant` for the step being run or traced; the runner sets it, stages read it
  std::function<StepResult(TrainStep&, const Batch&)> run;  ///< default: run_stages as one step of the random ops

  std::vector<Parameter*> parameters = {};  ///< trained, in the order of gradients
  std::function<std::vector<Parameter*>(size_t parameter)> state_of;  ///< the optimizer's state of a parameter; null: not known
  bool wants_uses = false;  ///< request ParamUse from the backward pass; set before anything runs
  /// For each parameter, whether it is excluded from now on: it has no gradient, and backward stops where only excluded
  /// parameters remain. Empty: none is excluded. Algorithms set it for a step, within `gradients`.
  std::vector<bool> left_out = {};
  /// Number of consecutive ranks that reduce gradients among themselves; 0: all. Set by an algorithm that synchronises such
  /// groups in another way.
  int64_t ranks_per_group = 0;
  int64_t steps_per_update = 1;  ///< steps whose gradients are collected for one update
  int64_t steps_before = 0;  ///< steps of earlier runs of the same network, at which this run's schedules continue
  int64_t last_step = -1;  ///< number of the planned last step of the current run, counted as in updates(); -1: not known
  /// Number of the update that a step contributes to.
  int64_t update_of(int64_t step) const { return (step + steps_before) / steps_per_update; }
  /// Whether an update needs the gradients of all parameters, so that none may be excluded (left_out). Null: no update does.
  std::function<bool(int64_t update)> needs_whole;
  std::function<bool(int64_t step)> updates_at;  ///< whether a step ends with an update; null: every step

  /// Makes the choice for the step with that number.
  using Choose = std::function<int(const TrainStep&, int64_t step)>;
  /// Adds a choice among 0 … count-1, which the host makes for every step, from 0 on. Returns its number for chosen(). Throws
  /// ValueError for count < 2.
  size_t add_choice(int count, Choose choose);
  /// The choice for the step being run or traced.
  int chosen(size_t choice) const { return choices_.at(choice).now; }
  /// All choices for a step, and the optimizer's, as one number.
  int variant_at(int64_t step) const;
  /// Sets the results of chosen(), and current_variant, from a number of variant_at().
  void set_variant(int number);
  /// Whether a step ends with an update.
  bool updates(int64_t step) const { return !updates_at || updates_at(step); }

 private:
  struct Choice {
    int count;
    Choose choose;
    int now = 0;
  };
  std::vector<Choice> choices_;
};

/// Takes a snapshot of the parameters' values. If `skip` is true, the result restores the values of the parameters that were
/// assigned since. It uses ops.
SINDRI_API TrainStep::Restore keep_values(const std::vector<Parameter*>& parameters);

/// Calls the stages of a step, except `run`, in order.
SINDRI_API StepResult run_stages(TrainStep& step, const TrainStep::Batch& batch);

/// Precision, loss scale, and treatment of steps that are not finite.
struct TrainStepOptions {
  double loss_scale = 1;  ///< multiplies the seed of backward; the optimizer divides by its own loss_scale. Not together with a manager
  /// Skips steps whose loss or a gradient is NaN or infinite: all parameters and all optimizer state stay unchanged.
  bool skip_nonfinite = false;
  /// Number of equal parts of the batch along its first dimension. Their gradients are averaged in order, with memory for one
  /// part. Correct if the loss is a mean over samples; batch norm sees each part separately.
  int64_t micro_batches = 1;
  amp::Options amp = {};  ///< of the forward pass; parameters, gradients and optimizer state are float32 at every level
  std::shared_ptr<LossScaleManager> loss_scale_manager = nullptr;  ///< null: the constant loss_scale
};

/// Makes a step with the default stages from a network with loss (inputs: the batch's columns; output: a scalar loss) and an
/// optimizer. Both must outlive the step. Throws ValueError for amp options that do not suit the network (amp::check) and for a
/// loss scale that contradicts the optimizer's own.
SINDRI_API TrainStep make_train_step(nn::Cell& net_with_loss, optim::Optimizer& optimizer, const TrainStepOptions& options = {});

/// Runs a TrainStep in the context's mode; compiles it in GRAPH_MODE.
class SINDRI_API StepRunner {
 public:
  /// `step` is kept by reference and must outlive the runner.
  explicit StepRunner(TrainStep& step, CompileOptions options = {});
  /// Runs the step with that number, counted from 0.
  StepResult operator()(const TrainStep::Batch& batch, int64_t step_index);
  /// In GRAPH_MODE, compiles what that step needs. Runs nothing.
  void prepare(const TrainStep::Batch& batch, int64_t step_index);
  /// The compiled step; without signatures in PYNATIVE_MODE.
  const CompiledFn& compiled() const { return compiled_; }

 private:
  TrainStep& step_;
  CompiledFn compiled_;
};

}  // namespace sindri::train
