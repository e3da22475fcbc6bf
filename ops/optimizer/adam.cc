// adam_update (Kingma & Ba 2015) and adam_weight_decay_update (decoupled decay, no bias correction).
#include <fmt/format.h>

#include "ops/optimizer/optimizer_checks.h"
#include "ops/optimizer/optimizer_common.h"
#include "sindri/op/bind.h"
#include "sindri/ops/optimizer.h"
#include "src/op/quick_call.h"

namespace sindri::ops {
namespace {

template <class A> void check_adam_attrs(const char* op, const A& a) {
  check_unit_interval(op, a.beta1, "beta1");
  check_unit_interval(op, a.beta2, "beta2");
  check_not_negative(op, a.eps, "eps");
  check_not_negative(op, a.weight_decay, "weight_decay");
}

std::vector<TensorMeta> infer_adam(const Attrs& attrs, Span<const TensorMeta> in) {
  check_arity_with_controls("adam_update", in, 7);
  check_state("adam_update", in, {{1, "m"}, {2, "v"}});
  check_grad("adam_update", in[0], in[3]);
  check_scalar("adam_update", in[4], "lr");
  check_scalar("adam_update", in[5], "beta1_power");
  check_scalar("adam_update", in[6], "beta2_power");
  check_adam_attrs("adam_update", attrs.as<AdamAttrs>());
  return {in[0], in[1], in[2]};
}

std::vector<TensorMeta> infer_adam_weight_decay(const Attrs& attrs, Span<const TensorMeta> in) {
  check_arity_with_controls("adam_weight_decay_update", in, 5);
  check_state("adam_weight_decay_update", in, {{1, "m"}, {2, "v"}});
  check_grad("adam_weight_decay_update", in[0], in[3]);
  check_scalar("adam_weight_decay_update", in[4], "lr");
  check_adam_attrs("adam_weight_decay_update", attrs.as<AdamWeightDecayAttrs>());
  return {in[0], in[1], in[2]};
}

const OpDef& kAdam = register_op({
    .name = "adam_update",
    .doc =
        "param, m, v, grad, scalars lr, beta1_power, beta2_power -> param, m, v. g = grad·grad_scale + weight_decay·param; m = beta1·m + (1-beta1)·g; "
        "v = beta2·v + (1-beta2)·g²; p -= lr·sqrt(1-beta2_power)/(1-beta1_power)·m/(sqrt(v)+eps), with nesterov beta1·m + (1-beta1)·g for m there (MindSpore "
        "nn.Adam). " SINDRI_UPDATE_CONTROLS_DOC "Not differentiable.",
    .attrs = attrs_type<AdamAttrs>(),
    .traits = {.amp = AmpClass::kFp32, .layout = LayoutRule::kFollowInput0, .saves_in = kSavesNone, .inplace_pairs = 0b111, .update_inputs = 4},
    .infer = infer_adam,
});

const OpDef& kAdamWeightDecay = register_op({
    .name = "adam_weight_decay_update",
    .doc = "param, m, v, grad, scalar lr -> param, m, v. g = grad·grad_scale; m = beta1·m + (1-beta1)·g; v = beta2·v + (1-beta2)·g²; "
           "p -= lr·(m/(sqrt(v)+eps) + weight_decay·p) (MindSpore nn.AdamWeightDecay). " SINDRI_UPDATE_CONTROLS_DOC "Not differentiable.",
    .attrs = attrs_type<AdamWeightDecayAttrs>(),
    .traits = {.amp = AmpClass::kFp32, .layout = LayoutRule::kFollowInput0, .saves_in = kSavesNone, .inplace_pairs = 0b111, .update_inputs = 4},
    .infer = infer_adam_weight_decay,
});

}  // namespace

std::vector<Tensor> adam_update(const Tensor& param, const Tensor& m, const Tensor& v, const Tensor& grad, const Tensor& lr, const Tensor& beta1_power,
                                const Tensor& beta2_power, double beta1, double beta2, double eps, double weight_decay, double grad_scale, bool nesterov,
                                const Tensor& inv_scale, const Tensor& skip) {
  return bind_update(kAdam, recent_attrs(AdamAttrs{beta1, beta2, eps, weight_decay, grad_scale, nesterov}), {param, m, v, grad, lr, beta1_power, beta2_power},
                     inv_scale, skip);
}

std::vector<Tensor> adam_weight_decay_update(const Tensor& param, const Tensor& m, const Tensor& v, const Tensor& grad, const Tensor& lr, double beta1,
                                             double beta2, double eps, double weight_decay, double grad_scale, const Tensor& inv_scale, const Tensor& skip) {
  return bind_update(kAdamWeightDecay, recent_attrs(AdamWeightDecayAttrs{beta1, beta2, eps, weight_decay, grad_scale}), {param, m, v, grad, lr}, inv_scale,
                     skip);
}

}  // namespace sindri::ops
