// Adam and related rules: one op per parameter; bias corrections come from shared scalars.
#include "sindri/optim/adam.h"

#include <fmt/format.h>

#include "optim/optimizer_impl.h"
#include "sindri/core/error.h"
#include "sindri/ops/elementwise.h"
#include "sindri/ops/optimizer.h"
#include "sindri/optim/registry.h"

namespace sindri::optim {

namespace {

void check_forms(const std::string& who, bool amsgrad, bool nesterov) {
  if (amsgrad && nesterov) throw ValueError(fmt::format("{}: use_amsgrad cannot be combined with use_nesterov", who), "amsgrad");
}

}  // namespace

Adam::Adam(std::string name, Params params, const Options& o, const Shape& power_shape)
    : Optimizer(std::move(name), std::move(params), shared_options(o)),
      beta1_(o.beta1),
      beta2_(o.beta2),
      eps_(o.eps),
      nesterov_(o.use_nesterov),
      amsgrad_(o.use_amsgrad) {
  check_betas(this->name(), beta1_, beta2_, eps_);
  check_forms(this->name(), amsgrad_, nesterov_);
  beta1_power_ = &shared_state("beta1_power", 1, power_shape);
  beta2_power_ = &shared_state("beta2_power", 1, power_shape);
  init_state();
}

std::vector<Optimizer::Slot> Adam::slots() const {
  std::vector<Slot> s = {{.prefix = "moment1"}, {.prefix = "moment2"}};
  if (amsgrad_) s.push_back({.prefix = "vhat"});
  return s;
}

void Adam::begin_update() {
  beta1_power_->assign(ops::mul(beta1_power_->value(), beta1_));
  beta2_power_->assign(ops::mul(beta2_power_->value(), beta2_));
}

Tensor Adam::update(const Parameter& p, const Tensor& grad, const Tensor& lr, double weight_decay, const UpdateControl& control,
                    const std::vector<Parameter*>& state) {
  const Tensor &m = state[0]->value(), &v = state[1]->value(), power1 = beta1_power_->value(), power2 = beta2_power_->value();
  if (amsgrad_)
    return assign_state(state,
                        ops::amsgrad_update(p.value(), m, v, state[2]->value(), grad, lr, power1, power2, beta1_, beta2_, eps_, weight_decay,
                                            control.grad_scale, control.inv_scale, control.skip));
  return assign_state(state,
                      ops::adam_update(p.value(), m, v, grad, lr, power1, power2, beta1_, beta2_, eps_, weight_decay, control.grad_scale, nesterov_,
                                       control.inv_scale, control.skip));
}

AdaMax::AdaMax(Params params, const Options& o) : Optimizer("AdaMax", std::move(params), shared_options(o)), beta1_(o.beta1), beta2_(o.beta2), eps_(o.eps) {
  check_betas("AdaMax", beta1_, beta2_, eps_);
  beta1_power_ = &shared_state("beta1_power", 1, {1});
  init_state();
}

void AdaMax::begin_update() { beta1_power_->assign(ops::mul(beta1_power_->value(), beta1_)); }

Tensor AdaMax::update(const Parameter& p, const Tensor& grad, const Tensor& lr, double weight_decay, const UpdateControl& control,
                      const std::vector<Parameter*>& state) {
  return assign_state(state,
                      ops::adamax_update(p.value(), state[0]->value(), state[1]->value(), grad, lr, beta1_power_->value(), beta1_, beta2_, eps_, weight_decay,
                                         control.grad_scale, control.inv_scale, control.skip));
}

AdamWeightDecay::AdamWeightDecay(Params params, const Options& o)
    : Optimizer("AdamWeightDecay", std::move(params), shared_options(o)), beta1_(o.beta1), beta2_(o.beta2), eps_(o.eps) {
  check_betas("AdamWeightDecay", beta1_, beta2_, eps_);
  init_state();
}

Tensor AdamWeightDecay::update(const Parameter& p, const Tensor& grad, const Tensor& lr, double weight_decay, const UpdateControl& control,
                               const std::vector<Parameter*>& state) {
  const Tensor old = p.value();
  const Tensor value = assign_state(state,
                                    ops::adam_weight_decay_update(old, state[0]->value(), state[1]->value(), grad, lr, beta1_, beta2_, eps_, weight_decay,
                                                                  control.grad_scale, control.inv_scale, control.skip));
  if (!control.decay.defined()) return value;
  const Tensor decayed = ops::sub(value, ops::mul(old, ops::cast(ops::mul(control.decay, lr), old.dtype())));
  return control.skip.defined() ? ops::where(control.skip, old, decayed) : decayed;
}

namespace {

const auto& kAdam = optimizers().add({
    .name = "adam",
    .doc = "Adam with bias correction (Kingma and Ba 2015)",
    .settings = {beta1_setting(),
                 beta2_setting(),
                 eps_setting("1e-08"),
                 nesterov_setting(""),
                 {.name = "amsgrad",
                  .type = SettingType::kBool,
                  .fallback = "false",
                  .doc = "use the largest second moment so far in the denominator (Reddi et al. 2018)"},
                 loss_scale_setting()},
    .check = [](const SettingValues& v) { check_forms("Adam", v.get_bool("amsgrad"), v.get_bool("nesterov")); },
    .make = make_from_settings<Adam,
                               [](auto& o, const SettingValues& v) {
                                 o.use_nesterov = v.get_bool("nesterov");
                                 o.use_amsgrad = v.get_bool("amsgrad");
                               }>,
});

const auto& kLazyAdam = optimizers().add({
    .name = "lazy_adam",
    .doc = "Adam; gradients are dense, so every row of a table is updated",
    .settings = {beta1_setting(), beta2_setting(), eps_setting("1e-08"), nesterov_setting(""), loss_scale_setting()},
    .make = make_from_settings<LazyAdam, [](auto& o, const SettingValues& v) { o.use_nesterov = v.get_bool("nesterov"); }>,
});

const auto& kAdamWeightDecay = optimizers().add({
    .name = "adam_weight_decay",
    .doc = "Adam without bias correction and with decoupled weight decay",
    .settings = {beta1_setting(), beta2_setting(), eps_setting("1e-06")},
    .make = make_from_settings<AdamWeightDecay>,
});

const auto& kAdaMax = optimizers().add({
    .name = "adamax",
    .doc = "Adam with the largest gradient in place of the second moment",
    .settings = {beta1_setting(), beta2_setting(), eps_setting("1e-08"), loss_scale_setting()},
    .make = make_from_settings<AdaMax>,
});

}  // namespace

}  // namespace sindri::optim
