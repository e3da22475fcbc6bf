// momentum_update and sgd_update: gradient descent with a velocity.
#include <fmt/format.h>

#include "ops/optimizer/optimizer_checks.h"
#include "ops/optimizer/optimizer_common.h"
#include "sindri/op/bind.h"
#include "sindri/ops/optimizer.h"
#include "src/op/quick_call.h"

namespace sindri::ops {
namespace {

std::vector<TensorMeta> infer_momentum(const Attrs& attrs, Span<const TensorMeta> in) {
  check_arity_with_controls("momentum_update", in, 5);
  check_state("momentum_update", in, {{1, "velocity"}});
  check_grad("momentum_update", in[0], in[2]);
  check_scalar("momentum_update", in[3], "lr");
  check_scalar("momentum_update", in[4], "momentum");
  const auto& a = attrs.as<MomentumAttrs>();
  check_not_negative("momentum_update", a.weight_decay, "weight_decay");
  return {in[0], in[1]};
}

std::vector<TensorMeta> infer_sgd(const Attrs& attrs, Span<const TensorMeta> in) {
  check_arity_with_controls("sgd_update", in, 5);
  check_state("sgd_update", in, {{1, "accum"}});
  if (in[2].numel() == 1) check_scalar("sgd_update", in[2], "stat");
  else check_state("sgd_update", in, {{2, "stat"}});
  check_grad("sgd_update", in[0], in[3]);
  check_scalar("sgd_update", in[4], "lr");
  const auto& a = attrs.as<SgdAttrs>();
  check_not_negative("sgd_update", a.momentum, "momentum");
  check_not_negative("sgd_update", a.dampening, "dampening");
  check_not_negative("sgd_update", a.weight_decay, "weight_decay");
  if (a.nesterov && (a.momentum == 0 || a.dampening != 0))
    throw ValueError(fmt::format("sgd_update: nesterov needs momentum above 0 and dampening 0, got momentum {} and dampening {}", a.momentum, a.dampening));
  return {in[0], in[1], in[2]};
}

const OpDef& kMomentum = register_op({
    .name = "momentum_update",
    .doc = "param, velocity, grad, scalars lr and momentum -> param, velocity. g = grad·grad_scale + weight_decay·param; v = momentum·v + g; p -= lr·v, "
           "or with nesterov p -= lr·(g + momentum·v) (MindSpore nn.Momentum). " SINDRI_UPDATE_CONTROLS_DOC "Not differentiable.",
    .attrs = attrs_type<MomentumAttrs>(),
    .traits = {.amp = AmpClass::kFp32, .layout = LayoutRule::kFollowInput0, .saves_in = kSavesNone, .inplace_pairs = 0b11, .update_inputs = 3},
    .infer = infer_momentum,
});

const OpDef& kSgd = register_op({
    .name = "sgd_update",
    .doc = "param, accum, stat (above 0 before the first step; a scalar, or equal values in param's shape), grad, scalar lr -> param, accum, stat = 0. g = "
           "grad·grad_scale + weight_decay·param; v "
           "= g on the first "
           "step, then momentum·v + (1 - dampening)·g; p -= lr·v, or with nesterov p -= lr·(g + momentum·v). With momentum 0: p -= lr·g, and accum and stat "
           "stay (MindSpore "
           "nn.SGD, PyTorch SGD). " SINDRI_UPDATE_CONTROLS_DOC "Not differentiable.",
    .attrs = attrs_type<SgdAttrs>(),
    .traits = {.amp = AmpClass::kFp32, .layout = LayoutRule::kFollowInput0, .saves_in = kSavesNone, .inplace_pairs = 0b111, .update_inputs = 4},
    .infer = infer_sgd,
});

}  // namespace

std::vector<Tensor> momentum_update(const Tensor& param, const Tensor& velocity, const Tensor& grad, const Tensor& lr, const Tensor& momentum,
                                    double weight_decay, double grad_scale, bool nesterov, const Tensor& inv_scale, const Tensor& skip) {
  return bind_update(kMomentum, recent_attrs(MomentumAttrs{weight_decay, grad_scale, nesterov}), {param, velocity, grad, lr, momentum}, inv_scale, skip);
}

std::vector<Tensor> sgd_update(const Tensor& param, const Tensor& accum, const Tensor& stat, const Tensor& grad, const Tensor& lr, double momentum,
                               double dampening, double weight_decay, double grad_scale, bool nesterov, const Tensor& inv_scale, const Tensor& skip) {
  return bind_update(kSgd, recent_attrs(SgdAttrs{momentum, dampening, weight_decay, grad_scale, nesterov}), {param, accum, stat, grad, lr}, inv_scale, skip);
}

}  // namespace sindri::ops
