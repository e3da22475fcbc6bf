// The default stages of a training step.
#include "sindri/train/train_step.h"

#include <fmt/format.h>

#include "sindri/core/context.h"
#include "sindri/core/error.h"
#include "sindri/ops/elementwise.h"
#include "sindri/ops/random.h"
#include "sindri/ops/shape.h"

namespace sindri::train {

namespace {

std::pair<Tensor, Gradients> loss_and_gradients(const TrainStep& step, const TrainStep::Batch& batch, const std::vector<Parameter*>& params, double loss_scale,
                                                bool with_uses) {
  Tape tape;
  Tensor loss;
  {
    const TraceScope scope(tape);
    loss = step.forward(batch);
  }
  if (loss.numel() != 1)
    throw ShapeError(fmt::format("the loss must be one number, the loss function returned {}", loss.meta().str()), "", "use reduction \"mean\" or \"sum\"");
  return {loss, tape.backward({loss}, {ops::full(loss.shape(), loss_scale, loss.dtype())}, {}, params, with_uses)};
}

// Runs the step, then takes every state back to what it was where the loss is not finite: selected by ops, so that a compiled
// step decides without asking the host.
std::function<StepResult(TrainStep&, const TrainStep::Batch&)> guarded(std::function<StepResult(TrainStep&, const TrainStep::Batch&)> run, nn::Cell& net,
                                                                       optim::Optimizer& optimizer) {
  return [run = std::move(run), &net, &optimizer](TrainStep& step, const TrainStep::Batch& batch) {
    std::vector<Parameter*> states = net.get_parameters();
    for (Parameter* p : optimizer.state()) states.push_back(p);
    TensorList before;
    for (Parameter* p : states) before.push_back(p->value());
    StepResult r = run(step, batch);
    const Tensor finite = ops::isfinite(r.loss);
    for (size_t i = 0; i < states.size(); ++i) {
      const Tensor after = states[i]->value();
      if (after.id() != before[i].id()) states[i]->assign(ops::where(finite, after, before[i]));
    }
    return r;
  };
}

}  // namespace

TrainStep make_train_step(nn::Cell& net, optim::Optimizer& optimizer, const TrainStepOptions& options) {
  if (!(options.loss_scale > 0)) throw ValueError(fmt::format("loss_scale must be positive, got {}", options.loss_scale));
  TrainStep s;
  s.forward = [&net](const TrainStep::Batch& batch) {
    const std::vector<nn::Value> in(batch.begin(), batch.end());
    return net.call(in).tensor();
  };
  s.reduce_gradients = [](Gradients g) { return g; };
  s.transform_gradients = [&optimizer](Gradients g) { return optimizer.precondition(std::move(g)); };
  s.update = [&optimizer](const Gradients& g) { optimizer.apply(g.of_params); };
  s.variant = [&optimizer](int64_t step) { return optimizer.variant(step); };
  const std::vector<Parameter*> params = optimizer.parameters();
  s.gradients = [params, scale = options.loss_scale, uses = optimizer.wants_uses()](TrainStep& step, const TrainStep::Batch& batch) {
    return loss_and_gradients(step, batch, params, scale, uses);
  };
  s.run = [](TrainStep& step, const TrainStep::Batch& batch) {
    ops::begin_rng_step();
    auto [loss, grads] = step.gradients(step, batch);
    step.update(step.transform_gradients(step.reduce_gradients(std::move(grads))));
    ops::end_rng_step();
    return StepResult{ops::cast(loss, DType::kFloat32)};
  };
  if (options.skip_nonfinite) s.run = guarded(std::move(s.run), net, optimizer);
  return s;
}

StepRunner::StepRunner(TrainStep& step, CompileOptions options) : step_(step) {
  compiled_ = CompiledFn([this](Span<const Tensor> in, int) -> TensorList { return {step_.run(step_, TrainStep::Batch(in.begin(), in.end())).loss}; },
                         std::move(options));
}

StepResult StepRunner::operator()(const TrainStep::Batch& batch, int64_t step_index) {
  if (context().mode == Mode::kPynative) return step_.run(step_, batch);
  return {compiled_(batch, step_.variant(step_index))[0]};
}

}  // namespace sindri::train
