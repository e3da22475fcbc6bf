// Adagrad and Adadelta: each rule is one op.
#include "sindri/optim/adagrad.h"

#include <fmt/format.h>

#include "optim/optimizer_impl.h"
#include "sindri/core/error.h"
#include "sindri/ops/optimizer.h"
#include "sindri/optim/registry.h"

namespace sindri::optim {

Adagrad::Adagrad(Params params, const Options& o) : Optimizer("Adagrad", std::move(params), shared_options(o)), accum_(o.accum), update_slots_(o.update_slots) {
  if (!(accum_ >= 0)) throw ValueError(fmt::format("Adagrad: accum must not be negative, got {}", accum_));
  init_state();
}

Tensor Adagrad::update(const Parameter& p, const Tensor& grad, const Tensor& lr, double weight_decay, const UpdateControl& control,
                       const std::vector<Parameter*>& state) {
  return assign_state(
      state, ops::adagrad_update(p.value(), state[0]->value(), grad, lr, update_slots_, weight_decay, control.grad_scale, control.inv_scale, control.skip));
}

Adadelta::Adadelta(Params params, const Options& o) : Optimizer("Adadelta", std::move(params), shared_options(o)), rho_(o.rho), epsilon_(o.epsilon) {
  if (!(rho_ >= 0 && rho_ <= 1)) throw ValueError(fmt::format("Adadelta: rho must be in [0, 1], got {}", rho_));
  if (!(epsilon_ >= 0)) throw ValueError(fmt::format("Adadelta: epsilon must not be negative, got {}", epsilon_));
  init_state();
}

Tensor Adadelta::update(const Parameter& p, const Tensor& grad, const Tensor& lr, double weight_decay, const UpdateControl& control,
                        const std::vector<Parameter*>& state) {
  return assign_state(state,
                      ops::adadelta_update(p.value(), state[0]->value(), state[1]->value(), grad, lr, rho_, epsilon_, weight_decay, control.grad_scale,
                                           control.inv_scale, control.skip));
}

namespace {

const auto& kAdagrad = optimizers().add({
    .name = "adagrad",
    .doc = "p -= lr·g/sqrt(sum of squares) (Duchi et al. 2011)",
    .settings = {{.name = "accum", .type = SettingType::kFloat, .fallback = "0.1", .doc = "initial value of the sum of squares", .min = 0},
                 {.name = "update_slots", .type = SettingType::kBool, .fallback = "true", .doc = "whether the sum of squares is updated"},
                 loss_scale_setting()},
    .make = make_from_settings<Adagrad,
                               [](auto& o, const SettingValues& v) {
                                 o.accum = v.get_float("accum");
                                 o.update_slots = v.get_bool("update_slots");
                               }>,
});

const auto& kAdadelta = optimizers().add({
    .name = "adadelta",
    .doc = "steps in the units of the weights (Zeiler 2012)",
    .settings = {{.name = "rho", .type = SettingType::kFloat, .fallback = "0.9", .doc = "decay rate of the running averages of squares", .min = 0, .max = 1},
                 {.name = "epsilon", .type = SettingType::kFloat, .fallback = "1e-06", .doc = "added inside the square roots", .min = 0},
                 loss_scale_setting()},
    .make = make_from_settings<Adadelta,
                               [](auto& o, const SettingValues& v) {
                                 o.rho = v.get_float("rho");
                                 o.epsilon = v.get_float("epsilon");
                               }>,
});

}  // namespace

}  // namespace sindri::optim
