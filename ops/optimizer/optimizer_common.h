// What the optimizer update ops share: attribute structs, and the coefficients that reference and vectorised kernels read
// their scalars into. A kernel's outputs may be the very memory of the states they replace (graphs donate it), so each
// kernel reads its scalars first and then element i of every input before it writes element i of any output.
#pragma once

#include "sindri/op/attrs.h"
#include "sindri/op/kernel.h"
#include "sindri/op/op_def.h"

namespace sindri::ops {

struct MomentumAttrs {
  double weight_decay = 0;
  double grad_scale = 1;
  bool nesterov = false;
  SINDRI_ATTRS(MomentumAttrs, weight_decay, grad_scale, nesterov)
};

struct SgdAttrs {
  double momentum = 0;
  double dampening = 0;
  double weight_decay = 0;
  double grad_scale = 1;
  bool nesterov = false;
  SINDRI_ATTRS(SgdAttrs, momentum, dampening, weight_decay, grad_scale, nesterov)
};

struct AdamAttrs {
  double beta1 = 0.9;
  double beta2 = 0.999;
  double eps = 1e-8;
  double weight_decay = 0;
  double grad_scale = 1;
  bool nesterov = false;
  SINDRI_ATTRS(AdamAttrs, beta1, beta2, eps, weight_decay, grad_scale, nesterov)
};

struct AdamWeightDecayAttrs {
  double beta1 = 0.9;
  double beta2 = 0.999;
  double eps = 1e-6;
  double weight_decay = 0;
  double grad_scale = 1;
  SINDRI_ATTRS(AdamWeightDecayAttrs, beta1, beta2, eps, weight_decay, grad_scale)
};

/// g = grad·grad_scale + weight_decay·p; v' = velocity_keep·v + velocity_gain·g; p' = p - lr·(step_grad·g + step_velocity·v').
/// Covers Momentum and SGD: plain, with Nesterov's step, and the first step of SGD (v' = g).
struct MomentumCoefficients { double lr, weight_decay, grad_scale, velocity_keep, velocity_gain, step_grad, step_velocity; };
MomentumCoefficients momentum_coefficients(const Attrs& attrs, Span<const Buffer> in);
/// As above; keep_velocity: without momentum SGD leaves its state alone.
MomentumCoefficients sgd_coefficients(const Attrs& attrs, Span<const Buffer> in, bool* keep_velocity);

/// g = grad·grad_scale + l2·p; m' = beta1·m + (1-beta1)·g; v' = beta2·v + (1-beta2)·g²;
/// p' = p - lr·((step_m·m' + step_grad·g) / (sqrt(v') + eps) + decay·p).
/// Covers Adam (lr holds the bias correction; weight decay is l2) and AdamWeightDecay (decay).
struct AdamCoefficients { double lr, l2, decay, grad_scale, beta1, beta2, eps, step_m, step_grad; };
AdamCoefficients adam_coefficients(const Attrs& attrs, Span<const Buffer> in);
AdamCoefficients adam_weight_decay_coefficients(const Attrs& attrs, Span<const Buffer> in);

}  // namespace sindri::ops
