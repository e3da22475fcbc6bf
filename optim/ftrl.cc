// FTRL: the rule is one op.
#include "sindri/optim/ftrl.h"

#include <fmt/format.h>

#include "optim/optimizer_impl.h"
#include "sindri/core/error.h"
#include "sindri/ops/optimizer.h"
#include "sindri/optim/registry.h"

namespace sindri::optim {

namespace {

Params without_rates(Params params) {
  for (const ParamGroup& g : params.groups())
    if (g.lr.has_value()) throw ValueError("FTRL: the learning rate must be one number", "", "remove 'lr' from the groups");
  return params;
}

}  // namespace

FTRL::FTRL(Params params, const Options& o)
    : Optimizer("FTRL", without_rates(std::move(params)), shared_options(o)), initial_accum_(o.initial_accum), lr_power_(o.lr_power), l1_(o.l1), l2_(o.l2) {
  if (!(initial_accum_ >= 0)) throw ValueError(fmt::format("FTRL: initial_accum must not be negative, got {}", initial_accum_));
  if (!(o.learning_rate > 0)) throw ValueError(fmt::format("FTRL: the learning rate must be above 0, got {}", o.learning_rate));
  if (!(lr_power_ <= 0)) throw ValueError(fmt::format("FTRL: lr_power must not be above 0, got {}", lr_power_));
  if (!(l1_ >= 0) || !(l2_ >= 0)) throw ValueError(fmt::format("FTRL: l1 and l2 must not be negative, got {} and {}", l1_, l2_));
  init_state();
}

Tensor FTRL::update(const Parameter& p, const Tensor& grad, const Tensor& lr, double weight_decay, const UpdateControl& control,
                    const std::vector<Parameter*>& state) {
  return assign_state(state,
                      ops::ftrl_update(p.value(), state[0]->value(), state[1]->value(), grad, lr, lr_power_, l1_, l2_, weight_decay, control.grad_scale,
                                       control.inv_scale, control.skip));
}

namespace {

const auto& kFtrl = optimizers().add({
    .name = "ftrl",
    .doc = "follow the regularised leader (McMahan et al. 2013); constant learning rate only",
    .settings = {{.name = "initial_accum", .type = SettingType::kFloat, .fallback = "0.1", .doc = "initial value of the sum of squares", .min = 0},
                 {.name = "lr_power", .type = SettingType::kFloat, .fallback = "-0.5", .doc = "exponent of the sum of squares in the learning rate", .max = 0},
                 {.name = "l1", .type = SettingType::kFloat, .fallback = "0", .doc = "L1 regularization: weights below this threshold become 0", .min = 0},
                 {.name = "l2", .type = SettingType::kFloat, .fallback = "0", .doc = "L2 regularization", .min = 0},
                 loss_scale_setting()},
    .make = [](Params params, const OptimizerOptions& o, const SettingValues& v) -> std::shared_ptr<Optimizer> {
      if (o.learning_rate.dynamic()) throw ValueError("FTRL: the learning rate must be one number", "", "use a constant schedule without warm-up");
      return std::make_shared<FTRL>(std::move(params),
                                    FTRLOptions{.initial_accum = v.get_float("initial_accum"),
                                                .learning_rate = o.learning_rate.constant(),
                                                .lr_power = v.get_float("lr_power"),
                                                .l1 = v.get_float("l1"),
                                                .l2 = v.get_float("l2"),
                                                .loss_scale = v.get_float("loss_scale"),
                                                .weight_decay = o.weight_decay,
                                                .grad_clip = o.grad_clip});
    },
});

}  // namespace

}  // namespace sindri::optim
