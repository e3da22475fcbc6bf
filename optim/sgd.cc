// SGD: the rule is one op.
#include "sindri/optim/sgd.h"

#include <fmt/format.h>

#include "optim/optimizer_impl.h"
#include "sindri/core/error.h"
#include "sindri/ops/optimizer.h"
#include "sindri/optim/registry.h"

namespace sindri::optim {

namespace {

// Nesterov's step extrapolates along the velocity, which must contain the whole gradient.
void check_nesterov(bool nesterov, double momentum, double dampening) {
  if (nesterov && (momentum == 0 || dampening != 0))
    throw ValueError(fmt::format("SGD: nesterov needs a momentum above 0 and dampening 0, got {} and {}", momentum, dampening), "nesterov");
}

}  // namespace

SGD::SGD(Params params, const Options& o)
    : Optimizer("SGD", std::move(params), shared_options(o)), momentum_(o.momentum), dampening_(o.dampening), nesterov_(o.nesterov), decay_all_(o.decay_all) {
  if (!(momentum_ >= 0)) throw ValueError(fmt::format("SGD: momentum must not be negative, got {}", momentum_));
  if (!(dampening_ >= 0)) throw ValueError(fmt::format("SGD: dampening must not be negative, got {}", dampening_));
  check_nesterov(nesterov_, momentum_, dampening_);
  init_state();
}

Tensor SGD::update(const Parameter& p, const Tensor& grad, const Tensor& lr, double weight_decay, const UpdateControl& control,
                   const std::vector<Parameter*>& state) {
  return assign_state(state,
                      ops::sgd_update(p.value(), state[0]->value(), state[1]->value(), grad, lr, momentum_, dampening_, weight_decay, control.grad_scale,
                                      nesterov_, control.inv_scale, control.skip));
}

namespace {

const auto& kSgd = optimizers().add({
    .name = "sgd",
    .doc = "PyTorch's SGD: the first gradient is the first velocity",
    .settings = {momentum_setting("0.9"),
                 {.name = "dampening",
                  .type = SettingType::kFloat,
                  .fallback = "0",
                  .doc = "dampening: the gradient enters the velocity times (1 - dampening)",
                  .min = 0},
                 nesterov_setting(""),
                 {.name = "decay_all", .type = SettingType::kBool, .fallback = "false", .doc = "apply weight decay to batch norm's gamma and beta too"},
                 loss_scale_setting()},
    .check = [](const SettingValues& v) { check_nesterov(v.get_bool("nesterov"), v.get_float("momentum"), v.get_float("dampening")); },
    .make = make_from_settings<SGD,
                               [](auto& o, const SettingValues& v) {
                                 o.momentum = v.get_float("momentum");
                                 o.dampening = v.get_float("dampening");
                                 o.decay_all = v.get_bool("decay_all");
                                 o.nesterov = v.get_bool("nesterov");
                               }>,
});

}  // namespace

}  // namespace sindri::optim
