// Momentum: the rule is one op.
#include "sindri/optim/momentum.h"

#include <fmt/format.h>

#include "sindri/core/error.h"
#include "sindri/ops/optimizer.h"

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
  const std::vector<Tensor> out = ops::momentum_update(p.value(), state[0]->value(), grad, lr, momentum_->value(), weight_decay, control.grad_scale, nesterov_,
                                                       control.inv_scale, control.skip);
  state[0]->assign(out[1]);
  return out[0];
}

}  // namespace sindri::optim
