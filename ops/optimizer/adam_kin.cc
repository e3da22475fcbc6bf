// Updates with Adam's moments and another final step: adamax_update, amsgrad_update and lamb_direction.
#include "ops/optimizer/update_op.h"
#include "sindri/ops/optimizer.h"
#include "src/op/quick_call.h"

namespace sindri::ops {
namespace {

struct AdamKinAttrs {
  double beta1 = 0.9;
  double beta2 = 0.999;
  double eps = 1e-8;
  double weight_decay = 0;
  double grad_scale = 1;
  SINDRI_ATTRS(AdamKinAttrs, beta1, beta2, eps, weight_decay, grad_scale)
};

void check_attrs(const Attrs& attrs) {
  const auto& a = attrs.as<AdamKinAttrs>();
  check_unit_interval("an update in Adam's manner", a.beta1, "beta1");
  check_unit_interval("an update in Adam's manner", a.beta2, "beta2");
  check_not_negative("an update in Adam's manner", a.eps, "eps");
}

constexpr UpdateOp kAdaMaxRule = {
    .name = "adamax_update",
    .rule = UpdateRuleId::kAdaMax,
    .states = {"m", "v"},
    .scalars = {"lr", "beta1_power"},
    .check = check_attrs,
    .numbers =
        [](const Attrs& attrs, double* k) {
          const auto& a = attrs.as<AdamKinAttrs>();
          k[3] = a.beta1, k[4] = a.beta2, k[5] = a.eps;
        },
    .use = ScalarUse::kAdaMax,
};
constexpr UpdateOp kAmsGradRule = {
    .name = "amsgrad_update",
    .rule = UpdateRuleId::kAmsGrad,
    .states = {"m", "v", "vhat"},
    .scalars = {"lr", "beta1_power", "beta2_power"},
    .check = check_attrs,
    .numbers =
        [](const Attrs& attrs, double* k) {
          const auto& a = attrs.as<AdamKinAttrs>();
          k[3] = a.beta1, k[4] = a.beta2, k[5] = a.eps;
        },
    .use = ScalarUse::kAdam,
};
constexpr UpdateOp kLambRule = {
    .name = "lamb_direction",
    .rule = UpdateRuleId::kLambDirection,
    .states = {"m", "v"},
    .scalars = {"beta1_power", "beta2_power"},
    .check = check_attrs,
    .numbers =
        [](const Attrs& attrs, double* k) {
          const auto& a = attrs.as<AdamKinAttrs>();
          k[2] = a.beta1, k[3] = a.beta2, k[4] = a.eps, k[5] = a.weight_decay;
        },
    .use = ScalarUse::kLamb,
    .decoupled = true,
    .makes_param = false,
};

const OpDef& kAdaMax = register_update<AdamKinAttrs, kAdaMaxRule>(
    "param, m, v, grad, scalars lr and beta1_power -> param, m, v. g = grad·grad_scale + weight_decay·param; m = beta1·m + (1-beta1)·g; "
    "v = max(beta2·v, |g|); p -= lr/(1-beta1_power)·m/(v + eps) (MindSpore nn.AdaMax). " SINDRI_UPDATE_CONTROLS_DOC "Not differentiable.");
const OpDef& kAmsGrad = register_update<AdamKinAttrs, kAmsGradRule>(
    "param, m, v, vhat, grad, scalars lr, beta1_power, beta2_power -> param, m, v, vhat. As adam_update with vhat = max(vhat, v) in the root "
    "(MindSpore nn.Adam with use_amsgrad). " SINDRI_UPDATE_CONTROLS_DOC "Not differentiable.");
const OpDef& kLamb = register_update<AdamKinAttrs, kLambRule>(
    "param, m, v, grad, scalars beta1_power, beta2_power -> direction, m, v. g = grad·grad_scale; m = beta1·m + (1-beta1)·g; v = beta2·v + (1-beta2)·g²; "
    "direction = m/(1-beta1_power)/(sqrt(v/(1-beta2_power)) + eps) + weight_decay·param, which nn.Lamb scales by |param|/|direction| (MindSpore "
    "nn.Lamb). " SINDRI_UPDATE_CONTROLS_DOC "The direction is param then. Not differentiable.");

}  // namespace

std::vector<Tensor> adamax_update(const Tensor& param, const Tensor& m, const Tensor& v, const Tensor& grad, const Tensor& lr, const Tensor& beta1_power,
                                  double beta1, double beta2, double eps, double weight_decay, double grad_scale, const Tensor& inv_scale, const Tensor& skip) {
  return bind_update(kAdaMax, recent_attrs(AdamKinAttrs{beta1, beta2, eps, weight_decay, grad_scale}), {param, m, v, grad, lr, beta1_power}, inv_scale, skip);
}

std::vector<Tensor> amsgrad_update(const Tensor& param, const Tensor& m, const Tensor& v, const Tensor& vhat, const Tensor& grad, const Tensor& lr,
                                   const Tensor& beta1_power, const Tensor& beta2_power, double beta1, double beta2, double eps, double weight_decay,
                                   double grad_scale, const Tensor& inv_scale, const Tensor& skip) {
  return bind_update(kAmsGrad, recent_attrs(AdamKinAttrs{beta1, beta2, eps, weight_decay, grad_scale}), {param, m, v, vhat, grad, lr, beta1_power, beta2_power},
                     inv_scale, skip);
}

std::vector<Tensor> lamb_direction(const Tensor& param, const Tensor& m, const Tensor& v, const Tensor& grad, const Tensor& beta1_power,
                                   const Tensor& beta2_power, double beta1, double beta2, double eps, double weight_decay, double grad_scale,
                                   const Tensor& inv_scale, const Tensor& skip) {
  return bind_update(kLamb, recent_attrs(AdamKinAttrs{beta1, beta2, eps, weight_decay, grad_scale}), {param, m, v, grad, beta1_power, beta2_power}, inv_scale,
                     skip);
}

}  // namespace sindri::ops
