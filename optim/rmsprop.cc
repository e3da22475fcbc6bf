// RMSProp: each of its two rules is one op.
#include "sindri/optim/rmsprop.h"

#include <fmt/format.h>

#include "optim/optimizer_impl.h"
#include "sindri/core/error.h"
#include "sindri/ops/optimizer.h"
#include "sindri/optim/registry.h"

namespace sindri::optim {

RMSProp::RMSProp(Params params, const Options& o)
    : Optimizer("RMSProp", std::move(params), shared_options(o)), decay_(o.decay), momentum_(o.momentum), epsilon_(o.epsilon), centered_(o.centered) {
  if (!(decay_ >= 0)) throw ValueError(fmt::format("RMSProp: decay must not be negative, got {}", decay_));
  if (!(momentum_ >= 0)) throw ValueError(fmt::format("RMSProp: momentum must not be negative, got {}", momentum_));
  if (!(epsilon_ > 0)) throw ValueError(fmt::format("RMSProp: epsilon must be above 0, got {}", epsilon_));
  init_state();
}

std::vector<Optimizer::Slot> RMSProp::slots() const {
  std::vector<Slot> s = {{.prefix = "mean_square", .init = 1}, {.prefix = "moment"}};
  if (centered_) s.push_back({.prefix = "mean_grad"});
  return s;
}

Tensor RMSProp::update(const Parameter& p, const Tensor& grad, const Tensor& lr, double weight_decay, const UpdateControl& control,
                       const std::vector<Parameter*>& state) {
  const Tensor &s = state[0]->value(), &v = state[1]->value();
  if (centered_)
    return assign_state(state,
                        ops::rmsprop_centered_update(p.value(), s, v, state[2]->value(), grad, lr, decay_, momentum_, epsilon_, weight_decay,
                                                     control.grad_scale, control.inv_scale, control.skip));
  return assign_state(
      state, ops::rmsprop_update(p.value(), s, v, grad, lr, decay_, momentum_, epsilon_, weight_decay, control.grad_scale, control.inv_scale, control.skip));
}

namespace {

const auto& kRmsProp = optimizers().add({
    .name = "rmsprop",
    .doc = "p -= lr·g/sqrt(mean of squares) (Tieleman and Hinton 2012)",
    .settings = {{.name = "decay", .type = SettingType::kFloat, .fallback = "0.9", .doc = "decay rate of the mean of squares", .min = 0},
                 momentum_setting("0"),
                 {.name = "epsilon", .type = SettingType::kFloat, .fallback = "1e-10", .doc = "added inside the square root", .min = 1e-30},
                 {.name = "centered", .type = SettingType::kBool, .fallback = "false", .doc = "divide by the centred variance (Graves 2013)"},
                 loss_scale_setting()},
    .make = make_from_settings<RMSProp,
                               [](auto& o, const SettingValues& v) {
                                 o.decay = v.get_float("decay");
                                 o.momentum = v.get_float("momentum");
                                 o.epsilon = v.get_float("epsilon");
                                 o.centered = v.get_bool("centered");
                               }>,
});

}  // namespace

}  // namespace sindri::optim
