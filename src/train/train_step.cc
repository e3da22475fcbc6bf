// The default stages of a training step.
#include "sindri/train/train_step.h"

#include <fmt/format.h>

#include "sindri/core/context.h"
#include "sindri/core/error.h"
#include "sindri/ops/elementwise.h"
#include "sindri/ops/random.h"
#include "sindri/ops/reduce.h"
#include "sindri/ops/shape.h"

namespace sindri::train {

namespace {

using Batch = TrainStep::Batch;

std::pair<Tensor, Gradients> loss_and_gradients(const TrainStep& step, const Batch& batch, const std::vector<Parameter*>& params, const Tensor& loss_scale,
                                                bool with_uses) {
  Tape tape({.uses = with_uses});
  Tensor loss;
  {
    const TraceScope scope(tape);
    loss = step.forward(batch);
  }
  if (loss.numel() != 1)
    throw ShapeError(fmt::format("the loss must be one number, the loss function returned {}", loss.meta().str()), "", "use reduction \"mean\" or \"sum\"");
  const Tensor seed = ops::cast(ops::reshape(loss_scale, loss.shape()), loss.dtype());
  Gradients g = tape.backward({loss}, {seed}, {}, params);
  for (ParamUse& use : g.uses) use.loss_scale = loss_scale;
  g.variant = step.current_variant;
  return {loss, std::move(g)};
}

// What the forward pass wrote to the network (moving averages), as it was before: brought back where a step is left out. The
// choice is made by ops, so that a compiled step does not ask the host. The optimizer guards what it writes by itself.
class NetworkState {
 public:
  explicit NetworkState(nn::Cell& net) : parameters_(net.get_parameters()) {
    for (Parameter* p : parameters_) before_.push_back(p->value());
  }
  void restore_where(const Tensor& skip) const {
    for (size_t i = 0; i < parameters_.size(); ++i) {
      const Tensor after = parameters_[i]->value();
      if (after.id() != before_[i].id()) parameters_[i]->assign(ops::where(skip, before_[i], after));
    }
  }

 private:
  std::vector<Parameter*> parameters_;
  TensorList before_;
};

// The step with nothing to look at.
StepResult run_plain(TrainStep& step, const Batch& batch) {
  ops::begin_rng_step();
  auto [loss, grads] = step.gradients(step, batch);
  step.update(step.transform_gradients(step.reduce_gradients(std::move(grads))));
  ops::end_rng_step();
  return {ops::cast(loss, DType::kFloat32)};
}

// The step that is left out, and the loss scale adapted, where something is not finite.
StepResult run_guarded(TrainStep& step, const Batch& batch, nn::Cell& net, LossScaleManager* manager, bool look_at_loss) {
  ops::begin_rng_step();
  const NetworkState state(net);
  auto [loss, grads] = step.gradients(step, batch);
  const Tensor inv_scale = grads.inv_scale;
  grads = step.reduce_gradients(std::move(grads));
  TensorList watched = grads.of_params;
  if (look_at_loss) watched.push_back(loss);
  const Tensor finite = ops::all_finite(watched);
  grads.inv_scale = inv_scale;
  grads.skip = ops::logical_not(finite);
  state.restore_where(grads.skip);
  step.update(step.transform_gradients(std::move(grads)));
  if (manager != nullptr) manager->update(finite);
  ops::end_rng_step();
  return {ops::cast(loss, DType::kFloat32), finite};
}

void check_options(nn::Cell& net, const optim::Optimizer& optimizer, const TrainStepOptions& o) {
  if (!(o.loss_scale > 0)) throw ValueError(fmt::format("loss_scale must be positive, got {}", o.loss_scale));
  std::vector<std::string> classes;
  for (const auto& [path, cell] : net.cells_and_names()) classes.push_back(cell->class_name());
  amp::check(o.amp, classes);
  if (o.loss_scale_manager == nullptr) return;
  if (o.loss_scale != 1) throw ValueError(fmt::format("loss_scale is {} beside a loss scale manager", o.loss_scale), "", "leave loss_scale at 1");
  const double own = optimizer.base_options().loss_scale;
  if (!o.loss_scale_manager->get_drop_overflow_update()) {
    if (const double scale = o.loss_scale_manager->get_loss_scale(); own != scale)
      throw ValueError(
          fmt::format("without drop_overflow_update the optimizer divides by the loss scale: the manager's is {}, {}'s {}", scale, optimizer.name(), own), "",
          "give both the same loss_scale");
  } else if (own != 1) {
    throw ValueError(fmt::format("gradients would be divided twice: by the loss scale manager's scale, and by {}'s loss_scale {}", optimizer.name(), own), "",
                     "leave the optimizer's loss_scale at 1");
  }
}

}  // namespace

TrainStep make_train_step(nn::Cell& net, optim::Optimizer& optimizer, const TrainStepOptions& options) {
  check_options(net, optimizer, options);
  TrainStep s;
  s.forward = [&net, amp = options.amp](const Batch& batch) {
    const amp::AmpScope scope(amp);
    const std::vector<nn::Value> in(batch.begin(), batch.end());
    const Tensor loss = net.call(in).tensor();
    return amp.active() ? amp::cast_floating(loss, DType::kFloat32) : loss;
  };
  s.reduce_gradients = [](Gradients g) { return g; };
  s.transform_gradients = [&optimizer](Gradients g) { return optimizer.precondition(std::move(g)); };
  s.update = [&optimizer](const Gradients& g) { optimizer.apply(g.of_params, g.inv_scale, g.skip); };
  s.variant = [&optimizer](int64_t step) { return optimizer.variant(step); };
  const std::shared_ptr<LossScaleManager>& manager = options.loss_scale_manager;
  const bool drops = manager != nullptr && manager->get_drop_overflow_update();
  s.gradients = [params = optimizer.parameters(), fixed = options.loss_scale, manager, drops, uses = optimizer.wants_uses()](TrainStep& step,
                                                                                                                             const Batch& batch) {
    const Tensor scale = manager != nullptr ? manager->scale() : ops::full({}, fixed, DType::kFloat32);
    auto result = loss_and_gradients(step, batch, params, scale, uses);
    if (drops) result.second.inv_scale = ops::reciprocal(scale);
    return result;
  };
  if (drops || options.skip_nonfinite) {
    s.run = [&net, manager = drops ? manager : nullptr, look_at_loss = options.skip_nonfinite](TrainStep& step, const Batch& batch) {
      return run_guarded(step, batch, net, manager.get(), look_at_loss);
    };
  } else {
    s.run = run_plain;
  }
  return s;
}

StepRunner::StepRunner(TrainStep& step, CompileOptions options) : step_(step) {
  const auto run = [this](Span<const Tensor> in, int variant) -> TensorList {
    step_.current_variant = variant;
    const StepResult r = step_.run(step_, Batch(in.begin(), in.end()));
    reports_finite_ = r.finite.defined();
    return reports_finite_ ? TensorList{r.loss, r.finite} : TensorList{r.loss};
  };
  compiled_ = CompiledFn(run, std::move(options));
}

StepResult StepRunner::operator()(const TrainStep::Batch& batch, int64_t step_index) {
  const int variant = step_.variant(step_index);
  if (context().mode == Mode::kPynative) {
    step_.current_variant = variant;
    return step_.run(step_, batch);
  }
  const TensorList out = compiled_(batch, variant);
  return {out[0], reports_finite_ ? out[1] : Tensor()};
}

}  // namespace sindri::train
