// Adam and AdamWeightDecay: one op per parameter; Adam's bias correction comes from two shared scalars.
#include "sindri/optim/adam.h"

#include <fmt/format.h>

#include "sindri/core/error.h"
#include "sindri/ops/elementwise.h"
#include "sindri/ops/optimizer.h"

namespace sindri::optim {

namespace {

void check_betas(const char* who, double beta1, double beta2, double eps) {
  if (!(beta1 > 0 && beta1 < 1)) throw ValueError(fmt::format("{}: beta1 must be in (0, 1), got {}", who, beta1));
  if (!(beta2 > 0 && beta2 < 1)) throw ValueError(fmt::format("{}: beta2 must be in (0, 1), got {}", who, beta2));
  if (!(eps > 0)) throw ValueError(fmt::format("{}: eps must be positive, got {}", who, eps));
}

}  // namespace

Adam::Adam(Params params, const Options& o)
    : Optimizer("Adam", std::move(params),
                {.learning_rate = o.learning_rate, .weight_decay = o.weight_decay, .loss_scale = o.loss_scale, .grad_clip = o.grad_clip}),
      beta1_(o.beta1),
      beta2_(o.beta2),
      eps_(o.eps),
      nesterov_(o.use_nesterov) {
  check_betas("Adam", beta1_, beta2_, eps_);
  beta1_power_ = &shared_state("beta1_power", 1);
  beta2_power_ = &shared_state("beta2_power", 1);
  init_state();
}

void Adam::begin_update() {
  beta1_power_->assign(ops::mul(beta1_power_->value(), beta1_));
  beta2_power_->assign(ops::mul(beta2_power_->value(), beta2_));
}

Tensor Adam::update(const Parameter& p, const Tensor& grad, const Tensor& lr, double weight_decay, const UpdateControl& control,
                    const std::vector<Parameter*>& state) {
  const std::vector<Tensor> out = ops::adam_update(p.value(), state[0]->value(), state[1]->value(), grad, lr, beta1_power_->value(), beta2_power_->value(),
                                                   beta1_, beta2_, eps_, weight_decay, control.grad_scale, nesterov_, control.inv_scale, control.skip);
  state[0]->assign(out[1]);
  state[1]->assign(out[2]);
  return out[0];
}

AdamWeightDecay::AdamWeightDecay(Params params, const Options& o)
    : Optimizer("AdamWeightDecay", std::move(params), {.learning_rate = o.learning_rate, .weight_decay = o.weight_decay, .grad_clip = o.grad_clip}),
      beta1_(o.beta1),
      beta2_(o.beta2),
      eps_(o.eps) {
  check_betas("AdamWeightDecay", beta1_, beta2_, eps_);
  init_state();
}

Tensor AdamWeightDecay::update(const Parameter& p, const Tensor& grad, const Tensor& lr, double weight_decay, const UpdateControl& control,
                               const std::vector<Parameter*>& state) {
  const std::vector<Tensor> out = ops::adam_weight_decay_update(p.value(), state[0]->value(), state[1]->value(), grad, lr, beta1_, beta2_, eps_, weight_decay,
                                                                control.grad_scale, control.inv_scale, control.skip);
  state[0]->assign(out[1]);
  state[1]->assign(out[2]);
  return out[0];
}

}  // namespace sindri::optim
