// Groups, rates, decay, clipping and state names: everything that optimizers share apart from the rule for one tensor.
//
// Order of a step, as in MindSpore: unscale (and clip) -> weight decay -> centralisation -> rule. If only scaling and decay are
// needed, the update op does both, so that a step costs one op per parameter.
#include "sindri/optim/optimizer.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <unordered_map>
#include <unordered_set>

#include "optim/optimizer_impl.h"
#include "sindri/core/error.h"
#include "sindri/ops/elementwise.h"
#include "sindri/ops/reduce.h"
#include "sindri/ops/shape.h"
#include "sindri/optim/clip.h"

namespace sindri::optim {

namespace {

void check_decay(const std::string& optimizer, const WeightDecay& decay, const std::string& where) {
  if (!decay.dynamic() && !(decay.constant() >= 0))
    throw ValueError(fmt::format("{}: weight_decay{} must not be negative, got {}", optimizer, where, decay.constant()));
}

Rate make_rate(const std::string& optimizer, const LearningRate& lr, const std::string& name, DType dtype) {
  const auto check = [&](double v, const std::string& which) {
    if (!(v >= 0)) throw ValueError(fmt::format("{}: the learning rate{} must not be negative, got {}", optimizer, which, v));
  };
  Rate r;
  r.schedule = lr.schedule();
  if (r.schedule != nullptr) return r;
  if (!lr.per_step().empty()) {
    for (size_t i = 0; i < lr.per_step().size(); ++i)
      if (!(lr.per_step()[i] >= 0)) check(lr.per_step()[i], fmt::format(" of step {}", i));
    const std::vector<double> table(lr.per_step().begin(), lr.per_step().end());
    r.slot = std::make_unique<Parameter>(Tensor::from_values({static_cast<int64_t>(table.size())}, table, dtype), name, false);
    return r;
  }
  check(lr.constant(), "");
  r.slot = std::make_unique<Parameter>(Tensor::scalar(lr.constant(), dtype), name, false);
  return r;
}

// Rates and shared scalars are float32 as in MindSpore. They are float64 if a parameter is, so that a float64 run uses float64 throughout.
DType scalar_dtype(const Params& params) {
  const auto wide = [](const Parameter* p) { return p != nullptr && p->dtype() == DType::kFloat64; };
  bool any = std::any_of(params.params().begin(), params.params().end(), wide);
  for (const ParamGroup& g : params.groups()) any = any || std::any_of(g.params.begin(), g.params.end(), wide);
  return any ? DType::kFloat64 : DType::kFloat32;
}

// Gradient minus its mean over all dimensions but the first (Yong et al. 2020). As in MindSpore, only if the second dimension is a multiple of 16.
Tensor centralize(const Tensor& grad) {
  if (grad.rank() < 2 || grad.shape()[1] % 16 != 0) return grad;
  ops::Axes axes(static_cast<size_t>(grad.rank() - 1));
  std::iota(axes.begin(), axes.end(), 1);
  return ops::sub(grad, ops::mean(grad, axes, true));
}

}  // namespace

bool skips_decay(const std::string& name) { return name.find("beta") != std::string::npos || name.find("gamma") != std::string::npos; }

Tensor unscaled(Tensor grad, double scale, const Tensor& inv_scale) {
  if (scale != 1) grad = ops::mul(grad, scale);
  return inv_scale.defined() ? ops::mul(grad, ops::cast(inv_scale, grad.dtype())) : grad;
}

void check_betas(const std::string& optimizer, double beta1, double beta2, double eps) {
  if (!(beta1 > 0 && beta1 < 1)) throw ValueError(fmt::format("{}: beta1 must be in (0, 1), got {}", optimizer, beta1));
  if (!(beta2 > 0 && beta2 < 1)) throw ValueError(fmt::format("{}: beta2 must be in (0, 1), got {}", optimizer, beta2));
  if (!(eps > 0)) throw ValueError(fmt::format("{}: eps must be positive, got {}", optimizer, eps));
}

Optimizer::Optimizer(std::string name, Params params, OptimizerOptions o) : impl_(std::make_unique<Impl>()), name_(std::move(name)) {
  if (!(o.loss_scale > 0)) throw ValueError(fmt::format("{}: loss_scale must be positive, got {}", name_, o.loss_scale));
  check_decay(name_, o.weight_decay, "");
  if (!(o.grad_clip.global_norm >= 0) || !(o.grad_clip.value >= 0))
    throw ValueError(fmt::format("{}: grad_clip must not be negative, got global_norm {} and value {}", name_, o.grad_clip.global_norm, o.grad_clip.value));
  impl_->options = std::move(o);
  impl_->grouped = params.grouped();
  impl_->scalar = scalar_dtype(params);
  impl_->rates.push_back(make_rate(name_, impl_->options.learning_rate, "learning_rate", impl_->scalar));
  if (params.grouped()) {
    add_groups(params);
  } else {
    impl_->groups.push_back({0, impl_->options.weight_decay, false});
    for (Parameter* p : params.params()) add_parameter(p, 0);
  }
  if (params_.empty()) throw ValueError(fmt::format("{}: no parameters to train", name_), "", "pass net.trainable_params()");
  check_rates();
  global_step_ = std::make_unique<Parameter>(Tensor::zeros({1}, DType::kInt32), "global_step", false);
}

Optimizer::~Optimizer() = default;

void Optimizer::add_parameter(Parameter* p, size_t group) {
  if (p == nullptr) throw ValueError(fmt::format("{}: parameter {} is null", name_, params_.size()));
  if (p->name().empty())
    throw ValueError(fmt::format("{}: parameter {} has no name", name_, params_.size()), "",
                     "its state is named after it: take it from a Cell's trainable_params()");
  const auto it = std::find_if(params_.begin(), params_.end(), [p](const Parameter* known) { return known->name() == p->name(); });
  if (it != params_.end()) {
    const bool elsewhere = impl_->group_of[static_cast<size_t>(it - params_.begin())] != group;
    throw ValueError(fmt::format("{}: parameter '{}' is {}", name_, p->name(), elsewhere ? "in two groups" : "given twice, or two have that name"), "",
                     "take them from one network's trainable_params(), which names them by path");
  }
  params_.push_back(p);
  impl_->group_of.push_back(group);
}

void Optimizer::add_groups(const Params& params) {
  const std::vector<Parameter*>* order = nullptr;
  for (const ParamGroup& g : params.groups()) {
    if (!g.order_params.empty()) {
      if (!g.params.empty() || g.lr.has_value() || g.weight_decay.has_value() || g.grad_centralization)
        throw ValueError(fmt::format("{}: the group with order_params holds other settings too", name_), "", "give order_params a separate group");
      if (order != nullptr) throw ValueError(fmt::format("{}: order_params is given twice", name_));
      order = &g.order_params;
      continue;
    }
    const size_t index = impl_->groups.size();
    if (g.params.empty()) throw ValueError(fmt::format("{}: group {} has no parameters", name_, index));
    const WeightDecay decay = g.weight_decay.value_or(impl_->options.weight_decay);
    check_decay(name_, decay, fmt::format(" of group {}", index));
    size_t rate = 0;
    if (g.lr.has_value()) {
      rate = impl_->rates.size();
      impl_->rates.push_back(make_rate(name_, *g.lr, fmt::format("learning_rate_group_{}", index), impl_->scalar));
      impl_->group_lr = true;
    }
    impl_->groups.push_back({rate, decay, g.grad_centralization});
    for (Parameter* p : g.params) add_parameter(p, index);
  }
  if (order != nullptr) order_parameters(*order);
}

void Optimizer::check_rates() const {
  int64_t length = 0;
  for (const Rate& r : impl_->rates) {
    if (r.schedule != nullptr || !r.dynamic()) continue;
    if (length != 0 && r.slot->shape()[0] != length)
      throw ValueError(fmt::format("{}: tables of learning rates must have equal lengths, got {} and {}", name_, length, r.slot->shape()[0]));
    length = r.slot->shape()[0];
  }
}

void Optimizer::order_parameters(const std::vector<Parameter*>& order) {
  std::unordered_map<const Parameter*, size_t> group;
  for (size_t i = 0; i < params_.size(); ++i) group[params_[i]] = impl_->group_of[i];
  for (const Parameter* p : order) {
    if (p == nullptr || !group.contains(p))
      throw ValueError(fmt::format("{}: order_params holds '{}', which is in no group", name_, p == nullptr ? "null" : p->name()));
  }
  const std::unordered_set<const Parameter*> distinct(order.begin(), order.end());
  if (distinct.size() != order.size() || distinct.size() != params_.size())
    throw ValueError(fmt::format("{}: order_params holds {} parameters ({} distinct), the groups {}", name_, order.size(), distinct.size(), params_.size()), "",
                     "name each parameter of the groups once");
  params_ = order;
  for (size_t i = 0; i < params_.size(); ++i) impl_->group_of[i] = group[params_[i]];
}

void Optimizer::init_state() {
  impl_->state_of.resize(params_.size());
  for (size_t i = 0; i < params_.size(); ++i) {
    const Parameter& p = *params_[i];
    for (const Slot& s : slots()) {
      const Tensor init = Tensor::full(s.scalar ? Shape{} : p.shape(), s.init, p.dtype());
      impl_->slots.push_back(std::make_unique<Parameter>(init, s.prefix + s.joint + p.name(), false));
      impl_->state_of[i].push_back(impl_->slots.back().get());
    }
  }
}

Tensor Optimizer::finish(const Parameter&, const Tensor& made, const Tensor&, const UpdateControl&) { return made; }

Tensor Optimizer::assign_state(const std::vector<Parameter*>& state, const std::vector<Tensor>& updated) {
  for (size_t i = 0; i < state.size(); ++i) state[i]->assign(updated[i + 1]);
  return updated[0];
}

Tensor Optimizer::whole_gradient(const Parameter& p, const Tensor& grad, double weight_decay, const UpdateControl& control) {
  const Tensor g = unscaled(grad, control.grad_scale, control.inv_scale);
  return weight_decay == 0 ? g : ops::add(g, ops::mul(p.value(), weight_decay));
}

Tensor Optimizer::unless_skipped(const Parameter& p, const Tensor& value, const std::vector<Parameter*>& state, const TensorList& states,
                                 const UpdateControl& control) {
  const auto kept = [&](const Tensor& before, const Tensor& after) { return control.skip.defined() ? ops::where(control.skip, before, after) : after; };
  for (size_t i = 0; i < state.size(); ++i) state[i]->assign(kept(state[i]->value(), states[i]));
  return kept(p.value(), value);
}

Parameter& Optimizer::shared_state(const std::string& name, double init, const Shape& shape) {
  impl_->shared.push_back(std::make_unique<Parameter>(Tensor::full(shape, init, impl_->scalar), name, false));
  return *impl_->shared.back();
}

std::vector<Parameter*> Optimizer::state() {
  std::vector<Parameter*> out;
  // Ordered by slot ("moments.*" before the next prefix), like MindSpore's ParameterTuples.
  const size_t per_param = impl_->state_of.empty() ? 0 : impl_->state_of[0].size();
  for (size_t s = 0; s < per_param; ++s)
    for (const auto& state : impl_->state_of) out.push_back(state[s]);
  for (const auto& p : impl_->shared) out.push_back(p.get());
  for (const Rate& r : impl_->rates)
    if (r.slot != nullptr) out.push_back(r.slot.get());
  out.push_back(global_step_.get());
  return out;
}

const std::vector<Parameter*>& Optimizer::state_of(size_t i) const {
  if (i >= impl_->state_of.size()) throw ValueError(fmt::format("{}: parameter {} of {}", name_, i, impl_->state_of.size()));
  return impl_->state_of[i];
}

std::vector<Parameter*> Optimizer::shared_states() const {
  std::vector<Parameter*> out;
  for (const auto& p : impl_->shared) out.push_back(p.get());
  return out;
}

Parameter* Optimizer::rate_slot(size_t i) const {
  if (i >= params_.size()) throw ValueError(fmt::format("{}: parameter {} of {}", name_, i, params_.size()));
  return impl_->rates[impl_->groups[impl_->group_of[i]].rate].slot.get();
}

void Optimizer::count_every_update(bool on) { impl_->counts_every_update = on; }

const OptimizerOptions& Optimizer::base_options() const { return impl_->options; }

bool Optimizer::dynamic_lr() const {
  return std::any_of(impl_->rates.begin(), impl_->rates.end(), [](const Rate& r) { return r.dynamic(); });
}

bool Optimizer::dynamic() const {
  return dynamic_lr() || std::any_of(impl_->groups.begin(), impl_->groups.end(), [](const Impl::Group& g) { return g.weight_decay.dynamic(); });
}

void Optimizer::set_lr(double lr) {
  if (impl_->group_lr || dynamic_lr())
    throw ValueError(fmt::format("{}: set_lr needs one fixed learning rate; this one is {}", name_, impl_->group_lr ? "per group" : "dynamic"));
  if (!(lr >= 0)) throw ValueError(fmt::format("{}: the learning rate must not be negative, got {}", name_, lr));
  impl_->rates[0].slot->assign(Tensor::scalar(lr, impl_->scalar));
}

bool Optimizer::decays(size_t i) const { return impl_->grouped || !filters_decay() || !skips_decay(params_[i]->name()); }

double Optimizer::weight_decay(size_t i) const {
  if (i >= params_.size()) throw ValueError(fmt::format("{}: parameter {} of {}", name_, i, params_.size()));
  if (!decays(i)) return 0;
  const WeightDecay& decay = impl_->groups[impl_->group_of[i]].weight_decay;
  if (decay.dynamic()) throw ValueError(fmt::format("{}: the weight decay of '{}' depends on the step", name_, params_[i]->name()));
  return decay.constant();
}

namespace {

// The value of a schedule at this step, as a scalar of `dtype`.
Tensor at_step(const std::string& optimizer, const char* what, const LearningRateSchedule& schedule, const Parameter& global_step, DType dtype) {
  const Tensor v = schedule.construct(ops::reshape(global_step.value(), Shape{}));
  if (v.numel() != 1) throw ShapeError(fmt::format("{}: the {} gave {}, one number is expected", optimizer, what, v.meta().str()));
  return ops::cast(ops::reshape(v, Shape{}), dtype);
}

}  // namespace

// Returns one rate per entry of `rates`. The optimizer's own rate is undefined if every group has its own.
TensorList Optimizer::group_rates() {
  TensorList out(impl_->rates.size());
  for (const Impl::Group& group : impl_->groups) {
    const Rate& r = impl_->rates[group.rate];
    Tensor& lr = out[group.rate];
    if (lr.defined()) continue;
    if (r.schedule != nullptr) {
      lr = at_step(name_, "schedule", *r.schedule, *global_step_, impl_->scalar);
    } else if (!r.dynamic()) {
      lr = r.slot->value();
    } else {
      const Tensor last = ops::full({1}, static_cast<double>(r.slot->shape()[0] - 1), DType::kInt32);  // after the end of the table its last value is used
      lr = ops::reshape(ops::gather(r.slot->value(), ops::minimum(global_step_->value(), last)), Shape{});
    }
  }
  return out;
}

// Returns one decay per group, undefined if the decay is a number. Groups that share a schedule share its result.
TensorList Optimizer::group_decays() {
  TensorList out(impl_->groups.size());
  for (size_t i = 0; i < out.size(); ++i) {
    const WeightDecay& decay = impl_->groups[i].weight_decay;
    if (!decay.dynamic()) continue;
    for (size_t k = 0; k < i; ++k)
      if (impl_->groups[k].weight_decay.schedule() == decay.schedule()) out[i] = out[k];
    if (!out[i].defined()) out[i] = at_step(name_, "weight decay", *decay.schedule(), *global_step_, impl_->scalar);
  }
  return out;
}

TensorList Optimizer::get_lr() {
  const TensorList rates = group_rates();
  if (!impl_->group_lr) return {rates[impl_->groups[0].rate]};
  TensorList out;
  for (size_t g : impl_->group_of) out.push_back(rates[impl_->groups[g].rate]);
  return out;
}

Tensor Optimizer::update_number() const { return ops::add(ops::cast(ops::reshape(global_step_->value(), Shape{}), impl_->scalar), 1.0); }

TensorList Optimizer::clipped(TensorList unscaled) const {
  const GradClip& clip = impl_->options.grad_clip;
  if (clip.global_norm > 0) unscaled = clip_by_global_norm(unscaled, clip.global_norm);
  if (clip.value > 0)
    for (Tensor& g : unscaled) g = clip_by_value(g, -clip.value, clip.value);
  return unscaled;
}

void Optimizer::check_gradients(const TensorList& grads) const {
  if (grads.size() != params_.size()) throw ValueError(fmt::format("{}: {} gradients for {} parameters", name_, grads.size(), params_.size()));
  for (size_t i = 0; i < grads.size(); ++i) {
    if (!grads[i].defined() || grads[i].shape() != params_[i]->shape())
      throw ShapeError(fmt::format("{}: the gradient of '{}' must have its shape: it is {}, the parameter {}", name_, params_[i]->name(),
                                   grads[i].defined() ? grads[i].meta().str() : "undefined", params_[i]->meta().str()));
  }
}

void Optimizer::apply(const TensorList& grads, const Tensor& inv_scale, const Tensor& skip) {
  run(grads, inv_scale, skip, [](Parameter& p, Tensor value) { p.assign(value); });
}

Updates Optimizer::compute_updates(const TensorList& grads, const Tensor& inv_scale, const Tensor& skip) {
  Updates u;
  run(grads, inv_scale, skip, [&u](Parameter& p, Tensor value) {
    u.params.push_back(&p);
    u.values.push_back(std::move(value));
  });
  return u;
}

void Optimizer::assign_updates(const Updates& u) {
  if (u.params.size() != u.values.size()) throw ValueError(fmt::format("{}: {} new values for {} parameters", name_, u.values.size(), u.params.size()));
  for (size_t i = 0; i < u.params.size(); ++i) {
    if (!u.values[i].defined() || u.values[i].shape() != u.params[i]->shape())
      throw ShapeError(fmt::format("{}: the new value of '{}' is {}, the parameter {}", name_, u.params[i]->name(),
                                   u.values[i].defined() ? u.values[i].meta().str() : "undefined", u.params[i]->meta().str()));
  }
  for (size_t i = 0; i < u.params.size(); ++i) u.params[i]->assign(u.values[i]);
}

Tensor Updates::delta(size_t i) const { return ops::sub(values.at(i), params.at(i)->value()); }

void Updates::set_delta(size_t i, const Tensor& delta) {
  const Parameter& p = *params.at(i);
  if (!delta.defined() || delta.shape() != p.shape())
    throw ShapeError(fmt::format("the change of '{}' is {}, the parameter {}", p.name(), delta.defined() ? delta.meta().str() : "undefined", p.meta().str()));
  values.at(i) = ops::add(p.value(), ops::cast(delta, p.dtype()));
}

// Leaves scaling and decay to the rule's single pass, unless another operation must run in between.
std::vector<Optimizer::Prepared> Optimizer::prepare(const TensorList& grads, const Tensor& inv_scale, const Tensor& skip) {
  const GradClip& clip = impl_->options.grad_clip;
  const bool clips = !impl_->prepared && (clip.global_norm != 0 || clip.value != 0), is_unscaled = impl_->prepared || clips;
  TensorList given = grads;
  if (clips) {
    for (Tensor& g : given) g = unscaled(g, 1 / impl_->options.loss_scale, inv_scale);
    given = clipped(std::move(given));
  }
  const TensorList dynamic = group_decays();
  std::vector<Prepared> out;
  out.reserve(params_.size());
  for (size_t i = 0; i < params_.size(); ++i) {
    const size_t index = impl_->group_of[i];
    const Impl::Group& group = impl_->groups[index];
    Prepared p{.grad = given[i], .control = {.skip = skip}};
    if (!is_unscaled) p.control = {.grad_scale = 1 / impl_->options.loss_scale, .inv_scale = inv_scale, .skip = skip};
    const bool decayed = !impl_->prepared && decays(i);
    Tensor decay = decayed ? dynamic[index] : Tensor();
    if (decayed && !decay.defined()) p.weight_decay = group.weight_decay.constant();
    const bool decays_here = decays_gradient() && (decay.defined() || (group.centralize && p.weight_decay != 0));
    if (group.centralize || decays_here) {
      p.grad = unscaled(p.grad, p.control.grad_scale, p.control.inv_scale);
      p.control = {.skip = skip};
    }
    if (decays_here) {
      const Tensor& value = params_[i]->value();
      p.grad = ops::add(p.grad, decay.defined() ? ops::mul(value, ops::cast(decay, value.dtype())) : ops::mul(value, p.weight_decay));
      p.weight_decay = 0;
      decay = {};
    }
    if (group.centralize) p.grad = centralize(p.grad);
    p.control.decay = decay;
    out.push_back(std::move(p));
  }
  return out;
}

// rates: one per parameter.
void Optimizer::update_all(const std::vector<Prepared>& prepared, const TensorList& rates, const Tensor& skip, bool advance, const Emit& emit) {
  if (impl_->state_of.empty()) throw InternalError(fmt::format("{}: init_state was not called by the constructor", name_));
  TensorList shared_before;
  for (const auto& s : impl_->shared) shared_before.push_back(s->value());
  begin_update();
  TensorList made;
  for (size_t i = 0; i < params_.size(); ++i) {
    const Prepared& p = prepared[i];
    Tensor value = update(*params_[i], p.grad, rates[i], p.weight_decay, p.control, impl_->state_of[i]);
    if (two_passes()) made.push_back(std::move(value));
    else emit(*params_[i], std::move(value));
  }
  for (size_t i = 0; i < made.size(); ++i) emit(*params_[i], finish(*params_[i], made[i], rates[i], prepared[i].control));
  const auto unless_skipped = [&](Parameter& p, const Tensor& before, const Tensor& after) {
    p.assign(skip.defined() ? ops::where(skip, before, after) : after);
  };
  for (size_t i = 0; skip.defined() && i < shared_before.size(); ++i) {
    const Tensor after = impl_->shared[i]->value();
    if (after.id() != shared_before[i].id()) unless_skipped(*impl_->shared[i], shared_before[i], after);
  }
  if (advance) unless_skipped(*global_step_, global_step_->value(), ops::add(global_step_->value(), ops::full({1}, 1, DType::kInt32)));
}

void Optimizer::run(const TensorList& grads, const Tensor& inv_scale, const Tensor& skip, const Emit& emit) {
  check_gradients(grads);
  const std::vector<Prepared> prepared = prepare(grads, inv_scale, skip);
  const TensorList by_group = group_rates();
  TensorList rates;
  for (size_t g : impl_->group_of) rates.push_back(by_group[impl_->groups[g].rate]);
  update_all(prepared, rates, skip, impl_->counts_every_update || needs_step_count() || dynamic(), emit);
}

void Optimizer::apply_rule(const TensorList& grads, const TensorList& rates, const TensorList& decays, const Tensor& skip, bool advance) {
  check_gradients(grads);
  const size_t n = params_.size();
  const auto check = [&](const TensorList& given, const char* what) {
    if (given.size() != 1 && given.size() != n) throw ValueError(fmt::format("{}: {} {} for {} parameters", name_, given.size(), what, n));
  };
  check(rates, "learning rates");
  if (!decays.empty()) check(decays, "weight decays");
  std::vector<Prepared> prepared;
  TensorList each;
  for (size_t i = 0; i < n; ++i) {
    prepared.push_back({.grad = grads[i], .control = {.skip = skip}});
    each.push_back(rates[rates.size() == 1 ? 0 : i]);
    if (decays_gradient()) continue;
    if (!decays.empty()) prepared[i].control.decay = decays[decays.size() == 1 ? 0 : i];
    else prepared[i].weight_decay = weight_decay(i);
  }
  update_all(prepared, each, skip, advance, [](Parameter& p, Tensor value) { p.assign(value); });
}

}  // namespace sindri::optim
