// Scalars of the update rules, from attributes and scalar inputs.
#include "ops/optimizer/optimizer_common.h"

#include <cmath>

#include "src/device/cpu/element.h"

namespace sindri::ops {

// in: param, velocity, grad, lr, momentum.
MomentumCoefficients momentum_coefficients(const Attrs& attrs, Span<const Buffer> in) {
  const auto& a = attrs.as<MomentumAttrs>();
  const double momentum = load_element(in[4], 0);
  return {.lr = load_element(in[3], 0), .weight_decay = a.weight_decay, .grad_scale = a.grad_scale, .velocity_keep = momentum, .velocity_gain = 1,
          .step_grad = a.nesterov ? 1.0 : 0.0, .step_velocity = a.nesterov ? momentum : 1};
}

// in: param, accum, stat, grad, lr.
MomentumCoefficients sgd_coefficients(const Attrs& attrs, Span<const Buffer> in, bool* keep_velocity) {
  const auto& a = attrs.as<SgdAttrs>();
  const bool first = load_element(in[2], 0) > 0;
  *keep_velocity = a.momentum == 0;
  MomentumCoefficients k{.lr = load_element(in[4], 0), .weight_decay = a.weight_decay, .grad_scale = a.grad_scale, .velocity_keep = first ? 0 : a.momentum,
                         .velocity_gain = first ? 1 : 1 - a.dampening, .step_grad = a.nesterov ? 1.0 : 0.0, .step_velocity = a.nesterov ? a.momentum : 1};
  if (*keep_velocity) {
    k.velocity_keep = 1;
    k.velocity_gain = k.step_velocity = 0;
    k.step_grad = 1;
  }
  return k;
}

// in: param, m, v, grad, lr, beta1_power, beta2_power.
AdamCoefficients adam_coefficients(const Attrs& attrs, Span<const Buffer> in) {
  const auto& a = attrs.as<AdamAttrs>();
  const double corrected = load_element(in[4], 0) * std::sqrt(1 - load_element(in[6], 0)) / (1 - load_element(in[5], 0));
  return {.lr = corrected, .l2 = a.weight_decay, .decay = 0, .grad_scale = a.grad_scale, .beta1 = a.beta1, .beta2 = a.beta2, .eps = a.eps,
          .step_m = a.nesterov ? a.beta1 : 1, .step_grad = a.nesterov ? 1 - a.beta1 : 0};
}

// in: param, m, v, grad, lr.
AdamCoefficients adam_weight_decay_coefficients(const Attrs& attrs, Span<const Buffer> in) {
  const auto& a = attrs.as<AdamWeightDecayAttrs>();
  return {.lr = load_element(in[4], 0), .l2 = 0, .decay = a.weight_decay, .grad_scale = a.grad_scale, .beta1 = a.beta1, .beta2 = a.beta2, .eps = a.eps,
          .step_m = 1, .step_grad = 0};
}

}  // namespace sindri::ops
