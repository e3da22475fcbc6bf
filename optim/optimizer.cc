// Groups, rates, decay, clipping and state naming: all that optimizers share around the rule for one tensor.
//
// Order of a step, as in MindSpore: unscale (and clip) -> weight decay -> centralisation -> rule. Where nothing but scaling and
// decay happens, both are left to the update op, so that a step costs one op per parameter.
#include "sindri/optim/optimizer.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <unordered_map>
#include <unordered_set>

#include "sindri/core/error.h"
#include "sindri/nn/clip.h"
#include "sindri/ops/elementwise.h"
#include "sindri/ops/reduce.h"
#include "sindri/ops/shape.h"

namespace sindri::optim {

namespace {

// The rate of one group: a number or table held in a Parameter (so that both can change without a new graph), or a schedule.
struct Rate {
  std::unique_ptr<Parameter> slot;
  std::shared_ptr<LearningRateSchedule> schedule;
  bool dynamic() const { return schedule != nullptr || slot->shape().rank() == 1; }
};

Rate make_rate(const std::string& optimizer, const LearningRate& lr, const std::string& name, DType dtype) {
  const auto check = [&](double v, const std::string& which) {
    if (!(v >= 0)) throw ValueError(fmt::format("{}: the learning rate{} must not be negative, got {}", optimizer, which, v));
  };
  Rate r;
  r.schedule = lr.schedule();
  if (r.schedule != nullptr) return r;
  if (!lr.per_step().empty()) {
    for (size_t i = 0; i < lr.per_step().size(); ++i) check(lr.per_step()[i], fmt::format(" of step {}", i));
    const std::vector<double> table(lr.per_step().begin(), lr.per_step().end());
    r.slot = std::make_unique<Parameter>(Tensor::from_values({static_cast<int64_t>(table.size())}, table, dtype), name, false);
    return r;
  }
  check(lr.constant(), "");
  r.slot = std::make_unique<Parameter>(Tensor::scalar(lr.constant(), dtype), name, false);
  return r;
}

// Rates and shared scalars are float32 as in MindSpore; float64 where the parameters are, so that a float64 training is one throughout.
DType scalar_dtype(const Params& params) {
  const auto wide = [](const Parameter* p) { return p != nullptr && p->dtype() == DType::kFloat64; };
  bool any = std::any_of(params.params().begin(), params.params().end(), wide);
  for (const ParamGroup& g : params.groups()) any = any || std::any_of(g.params.begin(), g.params.end(), wide);
  return any ? DType::kFloat64 : DType::kFloat32;
}

bool skips_decay(const std::string& name) { return name.find("beta") != std::string::npos || name.find("gamma") != std::string::npos; }

// Gradient minus its mean over all dimensions but the first (Yong et al. 2020).
Tensor centralize(const Tensor& grad) {
  if (grad.rank() < 2) return grad;
  ops::Axes axes(static_cast<size_t>(grad.rank() - 1));
  std::iota(axes.begin(), axes.end(), 1);
  return ops::sub(grad, ops::mean(grad, axes, true));
}

Tensor rescaled(Tensor g, double scale, const Tensor& inv_scale) {
  if (scale != 1) g = ops::mul(g, scale);
  return inv_scale.defined() ? ops::mul(g, ops::cast(inv_scale, g.dtype())) : g;
}

}  // namespace

struct Optimizer::Impl {
  struct Group {
    size_t rate = 0;  // index into rates
    double weight_decay = 0;
    bool centralize = false;
  };
  OptimizerOptions options;
  DType scalar = DType::kFloat32;
  bool grouped = false, group_lr = false;
  std::vector<Rate> rates;  // [0] is the optimizer's own
  std::vector<Group> groups;
  std::vector<size_t> group_of;  // per parameter, in update order
  std::vector<std::vector<Parameter*>> state_of;
  std::vector<std::unique_ptr<Parameter>> slots, shared;
};

Optimizer::Optimizer(std::string name, Params params, OptimizerOptions o) : impl_(std::make_unique<Impl>()), name_(std::move(name)) {
  if (!(o.loss_scale > 0)) throw ValueError(fmt::format("{}: loss_scale must be positive, got {}", name_, o.loss_scale));
  if (!(o.weight_decay >= 0)) throw ValueError(fmt::format("{}: weight_decay must not be negative, got {}", name_, o.weight_decay));
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
  std::unordered_set<std::string> names;
  for (const Parameter* p : params_) {
    if (!names.insert(p->name()).second)
      throw ValueError(fmt::format("{}: two parameters are named '{}'", name_, p->name()), "",
                       "take them from one network's trainable_params(), which names them by path");
  }
  global_step_ = std::make_unique<Parameter>(Tensor::zeros({1}, DType::kInt32), "global_step", false);
}

Optimizer::~Optimizer() = default;

void Optimizer::add_parameter(Parameter* p, size_t group) {
  if (p == nullptr) throw ValueError(fmt::format("{}: parameter {} is null", name_, params_.size()));
  if (p->name().empty())
    throw ValueError(fmt::format("{}: parameter {} has no name", name_, params_.size()), "",
                     "its state is named after it: take it from a Cell's trainable_params()");
  if (std::find(params_.begin(), params_.end(), p) != params_.end()) throw ValueError(fmt::format("{}: parameter '{}' is given twice", name_, p->name()));
  params_.push_back(p);
  impl_->group_of.push_back(group);
}

void Optimizer::add_groups(const Params& params) {
  const std::vector<Parameter*>* order = nullptr;
  for (const ParamGroup& g : params.groups()) {
    if (!g.order_params.empty()) {
      if (!g.params.empty() || g.lr.has_value() || g.weight_decay.has_value() || g.grad_centralization)
        throw ValueError(fmt::format("{}: the group with order_params holds other settings too", name_), "", "give order_params a group of its own");
      if (order != nullptr) throw ValueError(fmt::format("{}: order_params is given twice", name_));
      order = &g.order_params;
      continue;
    }
    const size_t index = impl_->groups.size();
    if (g.params.empty()) throw ValueError(fmt::format("{}: group {} has no parameters", name_, index));
    const double decay = g.weight_decay.value_or(impl_->options.weight_decay);
    if (!(decay >= 0)) throw ValueError(fmt::format("{}: weight_decay of group {} must not be negative, got {}", name_, index, decay));
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
      impl_->slots.push_back(std::make_unique<Parameter>(init, s.prefix + "." + p.name(), false));
      impl_->state_of[i].push_back(impl_->slots.back().get());
    }
  }
}

Parameter& Optimizer::shared_state(const std::string& name, double init) {
  impl_->shared.push_back(std::make_unique<Parameter>(Tensor::scalar(init, impl_->scalar), name, false));
  return *impl_->shared.back();
}

std::vector<Parameter*> Optimizer::state() {
  std::vector<Parameter*> out;
  // Slot by slot ("moments.*" before the next prefix), as MindSpore's ParameterTuples come.
  const size_t per_param = impl_->state_of.empty() ? 0 : impl_->state_of[0].size();
  for (size_t s = 0; s < per_param; ++s)
    for (const auto& state : impl_->state_of) out.push_back(state[s]);
  for (const auto& p : impl_->shared) out.push_back(p.get());
  for (const Rate& r : impl_->rates)
    if (r.slot != nullptr) out.push_back(r.slot.get());
  out.push_back(global_step_.get());
  return out;
}

const OptimizerOptions& Optimizer::base_options() const { return impl_->options; }

bool Optimizer::dynamic_lr() const {
  return std::any_of(impl_->rates.begin(), impl_->rates.end(), [](const Rate& r) { return r.dynamic(); });
}

void Optimizer::set_lr(double lr) {
  if (impl_->group_lr || dynamic_lr())
    throw ValueError(fmt::format("{}: set_lr needs one fixed learning rate; this one is {}", name_, impl_->group_lr ? "per group" : "dynamic"));
  if (!(lr >= 0)) throw ValueError(fmt::format("{}: the learning rate must not be negative, got {}", name_, lr));
  impl_->rates[0].slot->assign(Tensor::scalar(lr, impl_->scalar));
}

double Optimizer::weight_decay(size_t i) const {
  if (i >= params_.size()) throw ValueError(fmt::format("{}: parameter {} of {}", name_, i, params_.size()));
  if (!impl_->grouped && filters_decay() && skips_decay(params_[i]->name())) return 0;
  return impl_->groups[impl_->group_of[i]].weight_decay;
}

TensorList Optimizer::group_rates() {
  TensorList out;
  for (const Rate& r : impl_->rates) {
    if (r.schedule != nullptr) {
      const Tensor lr = r.schedule->construct(ops::reshape(global_step_->value(), Shape{}));
      if (lr.numel() != 1) throw ShapeError(fmt::format("{}: the schedule gave {}, a scalar is expected", name_, lr.meta().str()));
      out.push_back(ops::cast(ops::reshape(lr, Shape{}), impl_->scalar));
    } else if (!r.dynamic()) {
      out.push_back(r.slot->value());
    } else {
      const Tensor last = ops::full({1}, static_cast<double>(r.slot->shape()[0] - 1), DType::kInt32);  // beyond the table its last value holds
      out.push_back(ops::reshape(ops::gather(r.slot->value(), ops::minimum(global_step_->value(), last)), Shape{}));
    }
  }
  return out;
}

TensorList Optimizer::get_lr() {
  const TensorList rates = group_rates();
  if (!impl_->group_lr) return {rates[0]};
  TensorList out;
  for (size_t g : impl_->group_of) out.push_back(rates[impl_->groups[g].rate]);
  return out;
}

// Unscaled and clipped gradients when clipping is on; else as they came, and update() unscales them.
TensorList Optimizer::prepare(const TensorList& grads, const Tensor& inv_scale) const {
  const GradClip& clip = impl_->options.grad_clip;
  if (clip.global_norm == 0 && clip.value == 0) return grads;
  TensorList out = grads;
  for (Tensor& g : out) g = rescaled(g, 1 / impl_->options.loss_scale, inv_scale);
  if (clip.global_norm > 0) out = nn::clip_by_global_norm(out, clip.global_norm);
  if (clip.value > 0)
    for (Tensor& g : out) g = nn::clip_by_value(g, -clip.value, clip.value);
  return out;
}

void Optimizer::check_gradients(const TensorList& grads) const {
  if (grads.size() != params_.size()) throw ValueError(fmt::format("{}: {} gradients for {} parameters", name_, grads.size(), params_.size()));
  for (size_t i = 0; i < grads.size(); ++i) {
    if (!grads[i].defined() || grads[i].shape() != params_[i]->shape())
      throw ShapeError(fmt::format("{}: the gradient of '{}' is {}, the parameter {}", name_, params_[i]->name(),
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

void Optimizer::run(const TensorList& grads, const Tensor& inv_scale, const Tensor& skip, const std::function<void(Parameter&, Tensor)>& emit) {
  check_gradients(grads);
  if (impl_->state_of.empty()) throw InternalError(fmt::format("{}: init_state was not called by the constructor", name_));
  const GradClip& clip = impl_->options.grad_clip;
  const bool clips = clip.global_norm != 0 || clip.value != 0;
  const TensorList prepared = prepare(grads, inv_scale);
  const UpdateControl whole = clips ? UpdateControl{.grad_scale = 1, .inv_scale = {}, .skip = skip}
                                    : UpdateControl{.grad_scale = 1 / impl_->options.loss_scale, .inv_scale = inv_scale, .skip = skip};
  const TensorList rates = group_rates();
  TensorList shared_before;
  for (const auto& s : impl_->shared) shared_before.push_back(s->value());
  begin_update();
  for (size_t i = 0; i < params_.size(); ++i) {
    Parameter& p = *params_[i];
    const Impl::Group& group = impl_->groups[impl_->group_of[i]];
    Tensor g = prepared[i];
    double decay = weight_decay(i);
    UpdateControl control = whole;
    if (group.centralize) {
      g = rescaled(g, control.grad_scale, control.inv_scale);
      control = {.grad_scale = 1, .inv_scale = {}, .skip = skip};
      if (decay != 0 && decays_gradient()) {
        g = ops::add(g, ops::mul(p.value(), decay));
        decay = 0;
      }
      g = centralize(g);
    }
    emit(p, update(p, g, rates[group.rate], decay, control, impl_->state_of[i]));
  }
  const auto advance = [&](Parameter& p, const Tensor& before, const Tensor& after) { p.assign(skip.defined() ? ops::where(skip, before, after) : after); };
  for (size_t i = 0; skip.defined() && i < shared_before.size(); ++i) {
    const Tensor after = impl_->shared[i]->value();
    if (after.id() != shared_before[i].id()) advance(*impl_->shared[i], shared_before[i], after);
  }
  if (dynamic_lr()) advance(*global_step_, global_step_->value(), ops::add(global_step_->value(), ops::full({1}, 1, DType::kInt32)));
}

}  // namespace sindri::optim
