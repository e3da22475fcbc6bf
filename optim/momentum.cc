// Momentum: the rule is one op.
#include "sindri/optim/momentum.h"

#include <fmt/format.h>

#include "sindri/core/error.h"
#include "sindri/ops/optimizer.h"
#include "sindri/optim/registry.h"

namespace sindri::optim {

Momentum::Momentum(Params params, const Options& o)
    : Optimizer("Momentum", std::move(params),
                {.learning_rate = o.learning_rate, .weight_decay = o.weight_decay, .loss_scale = o.loss_scale, .grad_clip = o.grad_clip}),
      nesterov_(o.use_nesterov) {
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
    .settings = {{.name = "momentum", .type = SettingType::kFloat, .fallback = "0.9", .doc = "how much of the velocity stays", .min = 0, .max = 1e6},
                 {.name = "nesterov", .type = SettingType::kBool, .fallback = "false", .doc = "Nesterov's form: the step looks ahead along the velocity"},
                 loss_scale_setting()},
    .make = [](Params params, const OptimizerOptions& o, const SettingValues& v) -> std::shared_ptr<Optimizer> {
      return std::make_shared<Momentum>(std::move(params),
                                        MomentumOptions{.learning_rate = o.learning_rate,
                                                        .momentum = v.get_float("momentum"),
                                                        .weight_decay = o.weight_decay,
                                                        .loss_scale = v.get_float("loss_scale"),
                                                        .use_nesterov = v.get_bool("nesterov"),
                                                        .grad_clip = o.grad_clip});
    },
});

}  // namespace

}  // namespace sindri::optim
