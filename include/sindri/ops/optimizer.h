// Optimizer update ops: one parameter each, new values as outputs. lr is a scalar tensor, so a schedule needs no recompilation.
// Each takes grad_scale: the gradient is multiplied by it first (1/loss_scale), then weight_decay·param is added. The last two inputs
// may be left undefined: inv_scale, a float scalar that multiplies the gradient as well (a loss scale that is state), and skip, a
// bool scalar: where it is true the new values are the old ones, whatever the gradient holds.
#pragma once
#include <vector>

#include "sindri/core/tensor.h"
#include "sindri/export.h"

namespace sindri::ops {

/// v = momentum·v + g; p -= lr·v, or with nesterov p -= lr·(g + momentum·v) (MindSpore nn.Momentum). -> {p, v}
SINDRI_API std::vector<Tensor> momentum_update(const Tensor& param, const Tensor& velocity, const Tensor& grad, const Tensor& lr, const Tensor& momentum,
                                               double weight_decay = 0, double grad_scale = 1, bool nesterov = false, const Tensor& inv_scale = {},
                                               const Tensor& skip = {});
/// PyTorch's SGD: v = g on the first step (stat > 0), then momentum·v + (1 - dampening)·g (MindSpore nn.SGD). stat is a scalar
/// holding 1 before the first step and 0 after. -> {p, v, stat}
SINDRI_API std::vector<Tensor> sgd_update(const Tensor& param, const Tensor& accum, const Tensor& stat, const Tensor& grad, const Tensor& lr, double momentum,
                                          double dampening = 0, double weight_decay = 0, double grad_scale = 1, bool nesterov = false,
                                          const Tensor& inv_scale = {}, const Tensor& skip = {});
/// Adam (Kingma & Ba 2015) with bias correction through beta1_power and beta2_power (scalars, already multiplied for this
/// step); MindSpore nn.Adam: p -= lr·sqrt(1-b2^t)/(1-b1^t)·m/(sqrt(v)+eps). -> {p, m, v}
SINDRI_API std::vector<Tensor> adam_update(const Tensor& param, const Tensor& m, const Tensor& v, const Tensor& grad, const Tensor& lr,
                                           const Tensor& beta1_power, const Tensor& beta2_power, double beta1 = 0.9, double beta2 = 0.999, double eps = 1e-8,
                                           double weight_decay = 0, double grad_scale = 1, bool nesterov = false, const Tensor& inv_scale = {},
                                           const Tensor& skip = {});
/// p -= lr·(m/(sqrt(v)+eps) + weight_decay·p), no bias correction (MindSpore nn.AdamWeightDecay). -> {p, m, v}
SINDRI_API std::vector<Tensor> adam_weight_decay_update(const Tensor& param, const Tensor& m, const Tensor& v, const Tensor& grad, const Tensor& lr,
                                                        double beta1 = 0.9, double beta2 = 0.999, double eps = 1e-6, double weight_decay = 0,
                                                        double grad_scale = 1, const Tensor& inv_scale = {}, const Tensor& skip = {});

}  // namespace sindri::ops
