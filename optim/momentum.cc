// Momentum: the rule is one op.
#include "sindri/optim/momentum.h"

#include <fmt/format.h>

#include "optim/optimizer_impl.h"
#include "sindri/core/error.h"
#include "sindri/ops/optimizer.h"
#include "sindri/optim/registry.h"

namespace sindri::optim {

Momentum::Momentum(Params params, const Options& o) : Optimizer("Momentum", std::move(params), shared_options(o)), nesterov_(o.use_nesterov) {
  if (!(o.momentum >= 0)) throw ValueError(fmt::format("Momentum: momentum must not be negative, got {}", o.momentum));
  momentum_ = &shared_state("momentum", o.momentum);
  init_state();
}

Tensor Momentum::update(const Parameter& p, const Tensor& grad, const Tensor& lr, double weight_decay, const UpdateControl& control,
                        const std::vector<Parameter*>& state) {
  return assign_state(state,
                      ops::momentum_update(p.value(), state[0]->value(), grad, lr, momentum_->value(), weight_decay, control.grad_scale, nesterov_,
                                           control.inv_scale, control.skip));
}

namespace {

const auto& kMomentum = optimizers().add({
    .name = "momentum",
    .doc = "v = momentum·v + g; p -= lr·v (Polyak 1964)",
    .settings = {momentum_setting("0.9"), nesterov_setting("momentum"), loss_scale_setting()},
    .make = make_from_settings<Momentum,
                               [](auto& o, const SettingValues& v) {
                                 o.momentum = v.get_float("momentum");
                                 o.use_nesterov = v.get_bool("nesterov");
                               }>,
});

}  // namespace

}  // namespace sindri::optim
