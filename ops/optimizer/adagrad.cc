// adagrad_update (Duchi et al. 2011) and adadelta_update (Zeiler 2012).
#include "ops/optimizer/update_op.h"
#include "sindri/ops/optimizer.h"
#include "src/op/quick_call.h"

namespace sindri::ops {
namespace {

struct AdagradAttrs {
  bool update_slots = true;
  double weight_decay = 0;
  double grad_scale = 1;
  SINDRI_ATTRS(AdagradAttrs, update_slots, weight_decay, grad_scale)
};

constexpr UpdateOp kAdagradRule = {
    .name = "adagrad_update",
    .rule = UpdateRuleId::kAdagrad,
    .states = {"accum"},
    .scalars = {"lr"},
    .check = nullptr,
    .numbers = [](const Attrs& attrs, double* k) { k[3] = attrs.as<AdagradAttrs>().update_slots ? 1 : 0; },
};

const OpDef& kAdagrad = register_update<AdagradAttrs, kAdagradRule>(
    "param, accum, grad, scalar lr -> param, accum. g = grad·grad_scale + weight_decay·param; accum += g² unless update_slots is false; "
    "p -= lr·g/sqrt(accum) (MindSpore nn.Adagrad). " SINDRI_UPDATE_CONTROLS_DOC "Not differentiable.");

struct AdadeltaAttrs {
  double rho = 0.9;
  double eps = 1e-6;
  double weight_decay = 0;
  double grad_scale = 1;
  SINDRI_ATTRS(AdadeltaAttrs, rho, eps, weight_decay, grad_scale)
};

constexpr UpdateOp kAdadeltaRule = {
    .name = "adadelta_update",
    .rule = UpdateRuleId::kAdadelta,
    .states = {"accum", "accum_update"},
    .scalars = {"lr"},
    .check =
        [](const Attrs& attrs) {
          const auto& a = attrs.as<AdadeltaAttrs>();
          check_not_negative("adadelta_update", a.rho, "rho");
          check_not_negative("adadelta_update", 1 - a.rho, "1 - rho");
          check_not_negative("adadelta_update", a.eps, "eps");
        },
    .numbers =
        [](const Attrs& attrs, double* k) {
          const auto& a = attrs.as<AdadeltaAttrs>();
          k[3] = a.rho, k[4] = a.eps;
        },
};

const OpDef& kAdadelta = register_update<AdadeltaAttrs, kAdadeltaRule>(
    "param, accum, accum_update, grad, scalar lr -> param, accum, accum_update. g = grad·grad_scale + weight_decay·param; "
    "accum = rho·accum + (1-rho)·g²; u = sqrt(accum_update + eps)/sqrt(accum + eps)·g; accum_update = rho·accum_update + (1-rho)·u²; p -= lr·u "
    "(MindSpore nn.Adadelta). " SINDRI_UPDATE_CONTROLS_DOC "Not differentiable.");

}  // namespace

std::vector<Tensor> adagrad_update(const Tensor& param, const Tensor& accum, const Tensor& grad, const Tensor& lr, bool update_slots, double weight_decay,
                                   double grad_scale, const Tensor& inv_scale, const Tensor& skip) {
  return bind_update(kAdagrad, recent_attrs(AdagradAttrs{update_slots, weight_decay, grad_scale}), {param, accum, grad, lr}, inv_scale, skip);
}

std::vector<Tensor> adadelta_update(const Tensor& param, const Tensor& accum, const Tensor& accum_update, const Tensor& grad, const Tensor& lr, double rho,
                                    double eps, double weight_decay, double grad_scale, const Tensor& inv_scale, const Tensor& skip) {
  return bind_update(kAdadelta, recent_attrs(AdadeltaAttrs{rho, eps, weight_decay, grad_scale}), {param, accum, accum_update, grad, lr}, inv_scale, skip);
}

}  // namespace sindri::ops
