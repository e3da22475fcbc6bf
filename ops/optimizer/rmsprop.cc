// rmsprop_update (Tieleman & Hinton 2012) and its centered form (Graves 2013).
#include "ops/optimizer/update_op.h"
#include "sindri/ops/optimizer.h"
#include "src/op/quick_call.h"

namespace sindri::ops {
namespace {

struct RmsPropAttrs {
  double decay = 0.9;
  double momentum = 0;
  double eps = 1e-10;
  double weight_decay = 0;
  double grad_scale = 1;
  SINDRI_ATTRS(RmsPropAttrs, decay, momentum, eps, weight_decay, grad_scale)
};

void check_attrs(const Attrs& attrs) {
  const auto& a = attrs.as<RmsPropAttrs>();
  check_not_negative("rmsprop_update", a.decay, "decay");
  check_not_negative("rmsprop_update", a.momentum, "momentum");
  check_not_negative("rmsprop_update", a.eps, "eps");
}
void numbers(const Attrs& attrs, double* k) {
  const auto& a = attrs.as<RmsPropAttrs>();
  k[3] = a.decay, k[4] = a.momentum, k[5] = a.eps;
}

constexpr UpdateOp kPlainRule = {
    .name = "rmsprop_update",
    .rule = UpdateRuleId::kRmsProp,
    .states = {"mean_square", "moment"},
    .scalars = {"lr"},
    .check = check_attrs,
    .numbers = numbers,
};
constexpr UpdateOp kCenteredRule = {
    .name = "rmsprop_centered_update",
    .rule = UpdateRuleId::kRmsPropCentered,
    .states = {"mean_square", "moment", "mean_grad"},
    .scalars = {"lr"},
    .check = check_attrs,
    .numbers = numbers,
};

const OpDef& kPlain = register_update<RmsPropAttrs, kPlainRule>(
    "param, mean_square, moment, grad, scalar lr -> param, mean_square, moment. g = grad·grad_scale + weight_decay·param; "
    "s = decay·s + (1-decay)·g²; v = momentum·v + lr·g/sqrt(s + eps); p -= v (MindSpore nn.RMSProp). " SINDRI_UPDATE_CONTROLS_DOC "Not differentiable.");
const OpDef& kCentered = register_update<RmsPropAttrs, kCenteredRule>(
    "param, mean_square, moment, mean_grad, grad, scalar lr -> param, mean_square, moment, mean_grad. As rmsprop_update with s - c² + eps in the root, "
    "c = decay·c + (1-decay)·g (MindSpore nn.RMSProp with centered). " SINDRI_UPDATE_CONTROLS_DOC "Not differentiable.");

}  // namespace

std::vector<Tensor> rmsprop_update(const Tensor& param, const Tensor& mean_square, const Tensor& moment, const Tensor& grad, const Tensor& lr, double decay,
                                   double momentum, double eps, double weight_decay, double grad_scale, const Tensor& inv_scale, const Tensor& skip) {
  return bind_update(kPlain, recent_attrs(RmsPropAttrs{decay, momentum, eps, weight_decay, grad_scale}), {param, mean_square, moment, grad, lr}, inv_scale,
                     skip);
}

std::vector<Tensor> rmsprop_centered_update(const Tensor& param, const Tensor& mean_square, const Tensor& moment, const Tensor& mean_grad, const Tensor& grad,
                                            const Tensor& lr, double decay, double momentum, double eps, double weight_decay, double grad_scale,
                                            const Tensor& inv_scale, const Tensor& skip) {
  return bind_update(kCentered, recent_attrs(RmsPropAttrs{decay, momentum, eps, weight_decay, grad_scale}), {param, mean_square, moment, mean_grad, grad, lr},
                     inv_scale, skip);
}

}  // namespace sindri::ops
