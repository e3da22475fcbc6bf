// TrainStep: one training step as a function of tensors, cut into stages that algorithms wrap or replace.
#pragma once
#include <functional>
#include <memory>

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

/// Stages are values: they are wrapped or replaced at build time, never edited. The default `run` calls them in order:
///
///   loss, grads = gradients(batch)        // forward on a tape (casts of mixed precision above it), loss scale, backward; uses on request
///   grads       = reduce_gradients(grads) // mean over ranks; identity on one
///   grads.skip  = !all_finite(grads)      // under a loss scale that drops overflows, or skip_nonfinite
///   grads       = transform_gradients(grads)  // clipping, natural gradient
///   update(grads)                         // optimizer rule for each parameter, written to the parameters
///
/// Under a loss scale gradients stay scaled until the update: grads.inv_scale rides along. A stage that makes new Gradients hands
/// inv_scale and skip on; one that unscales clears inv_scale. Uses of Parameters (grads.uses) say themselves what they are scaled by.
/// In GRAPH_MODE `run` is traced once and replayed; in PYNATIVE_MODE it is called.
struct SINDRI_API TrainStep {
  using Batch = TensorList;
  std::function<Tensor(const Batch&)> forward;  ///< network and loss
  std::function<std::pair<Tensor, Gradients>(TrainStep&, const Batch&)> gradients;  ///< calls forward
  std::function<Gradients(Gradients)> reduce_gradients;
  std::function<Gradients(Gradients)> transform_gradients;
  std::function<void(const Gradients&)> update;
  std::function<int(int64_t step)> variant;  ///< which form a step takes: in GRAPH_MODE each has a graph of its own
  int current_variant = 0;  ///< that of the step which runs or is traced now; the runner sets it, stages read it
  std::function<StepResult(TrainStep&, const Batch&)> run;  ///< calls the stages above
};

/// Precision, loss scale, and what a step that is not finite does.
struct TrainStepOptions {
  double loss_scale = 1;  ///< multiplies the seed of backward; the optimizer divides by its own loss_scale. Not beside a manager
  bool skip_nonfinite = false;  ///< a step whose loss or a gradient is NaN or infinite leaves every parameter and all optimizer state as they were
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
  const CompiledFn& compiled() const { return compiled_; }

 private:
  TrainStep& step_;
  CompiledFn compiled_;
  bool reports_finite_ = false;  // as traced
};

}  // namespace sindri::train
