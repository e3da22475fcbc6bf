// The default stages of a training step.
#include "sindri/train/train_step.h"

#include <fmt/format.h>

#include <algorithm>

#include "sindri/core/context.h"
#include "sindri/core/error.h"
#include "sindri/ops/elementwise.h"
#include "sindri/ops/random.h"
#include "sindri/ops/reduce.h"
#include "sindri/ops/shape.h"
#include "sindri/train/amp.h"
#include "src/train/batch_parts.h"

namespace sindri::train {

namespace {

using Batch = TrainStep::Batch;

std::pair<Tensor, Gradients> loss_and_gradients(const TrainStep& step, const Batch& batch, const std::vector<Parameter*>& params, const Tensor& loss_scale) {
  Tape tape({.uses = step.wants_uses});
  Tensor loss;
  {
    const TraceScope scope(tape);
    loss = step.forward(batch);
  }
  if (loss.numel() != 1)
    throw ShapeError(fmt::format("the loss must be one number, the loss function returned {}", loss.meta().str()), "", "use reduction \"mean\" or \"sum\"");
  const Tensor seed = ops::cast(ops::reshape(loss_scale, loss.shape()), loss.dtype());
  std::vector<Parameter*> trained;
  for (size_t i = 0; i < params.size(); ++i)
    if (step.left_out.empty() || !step.left_out[i]) trained.push_back(params[i]);
  Gradients g = tape.backward({loss}, {seed}, {}, trained);
  if (trained.size() < params.size()) {
    TensorList of_all;
    for (size_t i = 0, next = 0; i < params.size(); ++i) of_all.push_back(step.left_out[i] ? Tensor() : std::move(g.of_params[next++]));
    g.of_params = std::move(of_all);
  }
  for (ParamUse& use : g.uses) use.loss_scale = loss_scale;
  g.variant = step.current_variant;
  g.samples = batch.empty() || batch[0].rank() == 0 ? 0 : batch[0].shape()[0];
  return {loss, std::move(g)};
}

}  // namespace

Batch part_of(const Batch& batch, int64_t part, int64_t parts, const char* setting) {
  Batch out;
  for (const Tensor& column : batch) {
    const int64_t rows = column.rank() > 0 ? column.shape()[0] : 0;
    if (rows == 0 || rows % parts != 0)
      throw ShapeError(fmt::format("a column of the batch is {}, which cannot be split into {} equal parts", column.meta().str(), parts), setting,
                       fmt::format("choose a batch size that is a multiple of {}, and drop the remainder", setting));
    std::vector<int64_t> begin(static_cast<size_t>(column.rank()), 0), end(column.shape().begin(), column.shape().end());
    begin[0] = part * (rows / parts), end[0] = begin[0] + rows / parts;
    out.push_back(ops::slice(column, begin, end));
  }
  return out;
}

namespace {

// The mean over parts: ((g₀ + g₁) + g₂ + …)/parts.
std::pair<Tensor, Gradients> gradients_in_parts(const TrainStep& step, const Batch& batch, const std::vector<Parameter*>& params, const Tensor& loss_scale,
                                                int64_t parts) {
  std::pair<Tensor, Gradients> sum;
  auto& [loss, grads] = sum;
  for (int64_t i = 0; i < parts; ++i) {
    auto [part_loss, part] = loss_and_gradients(step, part_of(batch, i, parts, "micro_batches"), params, loss_scale);
    if (i == 0) {
      loss = part_loss, grads = std::move(part);
      continue;
    }
    loss = ops::add(loss, part_loss);
    grads.samples += part.samples;
    for (size_t p = 0; p < part.of_params.size(); ++p)
      if (part.of_params[p].defined()) grads.of_params[p] = ops::add(grads.of_params[p], part.of_params[p]);
    grads.uses.insert(grads.uses.end(), part.uses.begin(), part.uses.end());
  }
  const double share = 1.0 / static_cast<double>(parts);
  loss = ops::mul(loss, share);
  for (Tensor& g : grads.of_params)
    if (g.defined()) g = ops::mul(g, share);
  if (grads.uses.empty()) return sum;
  const Tensor of_parts = ops::mul(loss_scale, static_cast<double>(parts));  // output gradients are those of a part's own loss, which is a share of the whole
  for (ParamUse& use : grads.uses) use.loss_scale = of_parts;
  return sum;
}

void check_options(nn::Cell& net, const optim::Optimizer& optimizer, const TrainStepOptions& o) {
  if (!(o.loss_scale > 0)) throw ValueError(fmt::format("loss_scale must be positive, got {}", o.loss_scale));
  if (o.micro_batches < 1) throw ValueError(fmt::format("micro_batches must be at least 1, got {}", o.micro_batches));
  std::vector<std::string> classes;
  for (const auto& [path, cell] : net.cells_and_names()) classes.push_back(cell->class_name());
  amp::check(o.amp, classes);
  if (o.loss_scale_manager == nullptr) return;
  if (o.loss_scale != 1) throw ValueError(fmt::format("loss_scale is {} together with a loss scale manager", o.loss_scale), "", "keep loss_scale at 1");
  const bool drops = o.loss_scale_manager->get_drop_overflow_update();
  check_loss_scales("the manager", drops ? 1 : o.loss_scale_manager->get_loss_scale(), drops, optimizer.name(), optimizer.base_options().loss_scale);
}

// The inverse of the guard's skip flag: the guard's own, or computed by one op.
Tensor finite_of(const Verdict& v) { return v.finite.defined() ? v.finite : ops::logical_not(v.skip); }

// Ends a step whose gradients were kept for a later update. Whether its group counts is known at the group's end.
StepResult end_collected(const TrainStep::Restore& restore, const Tensor& loss, const Verdict& verdict) {
  if (!verdict.skip.defined()) return {loss};
  if (restore) restore(verdict.skip);
  return {loss, ops::full({}, 1, DType::kBool)};
}

}  // namespace

// Keeps the values that the forward pass overwrites (moving averages), and restores them in a skipped step. Ops make the choice, so that a compiled step does
// not ask the host. The optimizer guards its own writes.
TrainStep::Restore keep_values(const std::vector<Parameter*>& parameters) {
  TensorList before;
  for (const Parameter* p : parameters) before.push_back(p->value());
  return [parameters, before = std::move(before)](const Tensor& skip) {
    for (size_t i = 0; i < parameters.size(); ++i) {
      const Tensor after = parameters[i]->value();
      if (after.id() != before[i].id()) parameters[i]->assign(ops::where(skip, before[i], after));
    }
  };
}

// Replaces missing gradients by zeros and records which ones were missing. There may be several lists of gradients (BuildContext::gradient_lists).
void fill_untrained(Gradients* g, const std::vector<Parameter*>& parameters) {
  for (size_t i = 0; i < g->of_params.size(); ++i) {
    if (g->of_params[i].defined()) continue;
    const size_t of = i % parameters.size();
    g->untrained.resize(parameters.size(), false);
    g->untrained[of] = true;
    g->of_params[i] = ops::full(parameters[of]->shape(), 0, parameters[of]->dtype());
  }
}

StepResult run_stages(TrainStep& step, const Batch& batch) {
  const bool guarded = static_cast<bool>(step.guard);
  TrainStep::Restore restore = guarded && step.snapshot ? step.snapshot() : nullptr;
  auto [loss, grads] = step.gradients(step, batch);
  if (step.collect) {
    fill_untrained(&grads, step.parameters);
    if (step.reduce_loss) loss = step.reduce_loss(loss);
    const Verdict verdict = guarded ? step.guard(grads, loss, false) : Verdict{};
    std::vector<bool> untrained = grads.untrained;
    std::optional<Gradients> due = step.collect(step, std::move(grads), guarded ? finite_of(verdict) : Tensor());
    if (!due) return end_collected(restore, loss, verdict);
    grads = std::move(*due);
    grads.untrained = std::move(untrained);
  }
  grads = step.reduce_gradients(std::move(grads));
  fill_untrained(&grads, step.parameters);
  if (step.reduce_loss && !step.collect) loss = step.reduce_loss(loss);
  Verdict verdict;
  if (guarded) {
    const Tensor left_out = grads.skip;
    verdict = step.guard(grads, loss, true);
    if (left_out.defined()) {
      const Tensor skip = ops::logical_or(verdict.skip, left_out);
      verdict = {skip, ops::logical_not(skip)};
    }
    grads.skip = verdict.skip;
    if (restore) restore(grads.skip);
    restore = nullptr;  // drops old values before the update where nothing needs them
  }
  grads = step.transform_gradients(std::move(grads));
  const Tensor skip = grads.skip;
  std::vector<std::pair<Parameter*, Tensor>> stay;
  for (size_t i = 0; i < grads.untrained.size(); ++i) {
    if (!grads.untrained[i]) continue;
    stay.emplace_back(step.parameters[i], step.parameters[i]->value());
    for (Parameter* p : step.state_of ? step.state_of(i) : std::vector<Parameter*>()) stay.emplace_back(p, p->value());
  }
  step.update(step, grads);
  for (const auto& [p, value] : stay) p->assign(value);  // so a graph computes no update for them
  if (step.after_apply) step.after_apply(step, skip);
  if (!guarded) return {loss};
  const Tensor finite = finite_of(verdict);
  if (step.adapt) step.adapt(finite);
  return {loss, finite};
}

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
  s.compute_updates.set_default([&optimizer](const Gradients& g) { return optimizer.compute_updates(g.of_params, g.inv_scale, g.skip); });
  s.reduce_updates.set_default([](optim::Updates u) { return u; });
  s.apply_updates.set_default([&optimizer](const optim::Updates& u) { optimizer.assign_updates(u); });
  s.update = [&optimizer](TrainStep& step, const Gradients& g) {
    const bool as_made = !step.compute_updates.replaced() && !step.reduce_updates.replaced() && !step.apply_updates.replaced();
    if (as_made) return optimizer.apply(g.of_params, g.inv_scale, g.skip);
    step.apply_updates(step.reduce_updates(step.compute_updates(g)));
  };
  s.variant = [&optimizer](int64_t update) { return optimizer.variant(update); };
  s.wants_uses = optimizer.wants_uses();
  s.parameters = optimizer.parameters();
  if (optimizer.wants_uses()) s.needs_whole = [&optimizer](int64_t update) { return optimizer.remeasures(optimizer.variant(update)); };
  s.state_of = [&optimizer](size_t i) { return optimizer.state_of(i); };
  const std::shared_ptr<LossScaleManager>& manager = options.loss_scale_manager;
  const bool drops = manager != nullptr && manager->get_drop_overflow_update();
  s.gradients = [params = optimizer.parameters(), fixed = options.loss_scale, manager, drops, parts = options.micro_batches](TrainStep& step,
                                                                                                                             const Batch& batch) {
    // The optimizer divides by a constant scale. In float64 it does not lower the optimizer's precision.
    const Tensor scale = drops ? manager->scale() : ops::full({}, manager != nullptr ? manager->get_loss_scale() : fixed, DType::kFloat64);
    auto result = parts == 1 ? loss_and_gradients(step, batch, params, scale) : gradients_in_parts(step, batch, params, scale, parts);
    if (drops) result.second.inv_scale = inverse_scale(scale, result.second.of_params);
    return result;
  };
  if (drops || options.skip_nonfinite) {
    s.guard = [look_at_loss = options.skip_nonfinite](const Gradients& g, const Tensor& loss, bool) {
      TensorList watched = g.of_params;
      if (look_at_loss) watched.push_back(loss);
      const Tensor finite = ops::all_finite(watched);
      return Verdict{ops::logical_not(finite), finite};
    };
    s.snapshot = [&net] { return keep_values(net.get_parameters()); };
    if (drops) s.adapt = [manager](const Tensor& finite) { manager->update(finite); };
  }
  s.run = [manager](TrainStep& step, const Batch& batch) -> StepResult {
    ops::begin_rng_step();
    const StepResult r = run_stages(step, batch);
    ops::end_rng_step();
    return {ops::cast(r.loss, DType::kFloat32), r.finite};
  };
  return s;
}

size_t TrainStep::add_choice(int count, Choose choose) {
  if (count < 2) throw ValueError(fmt::format("a choice has at least 2 outcomes, got {}", count));
  choices_.push_back({count, std::move(choose)});
  return choices_.size() - 1;
}

// The variant is a mixed-radix number: the first choice is the lowest digit, and the optimizer's variant is the highest, since its range is not known.
int TrainStep::variant_at(int64_t step) const {
  int v = variant ? variant(update_of(step)) : 0;
  for (auto c = choices_.rbegin(); c != choices_.rend(); ++c) v = v * c->count + c->choose(*this, step);
  return v;
}

void TrainStep::set_variant(int number) {
  for (Choice& c : choices_) {
    c.now = number % c.count;
    number /= c.count;
  }
  current_variant = number;
}

StepRunner::StepRunner(TrainStep& step, CompileOptions options) : step_(step) {
  const auto run = [this](Span<const Tensor> in, int variant) -> TensorList {
    step_.set_variant(variant);
    const StepResult r = step_.run(step_, Batch(in.begin(), in.end()));
    return r.finite.defined() ? TensorList{r.loss, r.finite} : TensorList{r.loss};
  };
  compiled_ = CompiledFn(run, std::move(options));
}

void StepRunner::prepare(const TrainStep::Batch& batch, int64_t step_index) {
  if (context().mode == Mode::kGraph) compiled_.prepare(batch, step_.variant_at(step_index));
}

StepResult StepRunner::operator()(const TrainStep::Batch& batch, int64_t step_index) {
  const int variant = step_.variant_at(step_index);
  if (context().mode == Mode::kPynative) {
    step_.set_variant(variant);
    return step_.run(step_, batch);
  }
  const TensorList out = compiled_(batch, variant);
  return {out[0], out.size() > 1 ? out[1] : Tensor()};  // one variant may report and another not
}

}  // namespace sindri::train
