// SGD: the rule is one op.
#include "sindri/optim/sgd.h"

#include <fmt/format.h>

#include "sindri/core/error.h"
#include "sindri/ops/optimizer.h"

namespace sindri::optim {

SGD::SGD(Params params, const Options& o)
    : Optimizer("SGD", std::move(params),
                {.learning_rate = o.learning_rate, .weight_decay = o.weight_decay, .loss_scale = o.loss_scale, .grad_clip = o.grad_clip}),
      momentum_(o.momentum),
      dampening_(o.dampening),
      nesterov_(o.nesterov) {
  if (!(momentum_ >= 0)) throw ValueError(fmt::format("SGD: momentum must not be negative, got {}", momentum_));
  if (!(dampening_ >= 0)) throw ValueError(fmt::format("SGD: dampening must not be negative, got {}", dampening_));
  if (nesterov_ && (momentum_ == 0 || dampening_ != 0))
    throw ValueError(fmt::format("SGD: nesterov needs a momentum above 0 and dampening 0, got {} and {}", momentum_, dampening_));
  init_state();
}

Tensor SGD::update(const Parameter& p, const Tensor& grad, const Tensor& lr, double weight_decay, const UpdateControl& control,
                   const std::vector<Parameter*>& state) {
  const std::vector<Tensor> out = ops::sgd_update(p.value(), state[0]->value(), state[1]->value(), grad, lr, momentum_, dampening_, weight_decay,
                                                  control.grad_scale, nesterov_, control.inv_scale, control.skip);
  state[0]->assign(out[1]);
  state[1]->assign(out[2]);
  return out[0];
}

}  // namespace sindri::optim
