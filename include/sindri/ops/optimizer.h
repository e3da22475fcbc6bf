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

/// a += g² unless update_slots is false; p -= lr·g/sqrt(a) (MindSpore nn.Adagrad). -> {p, a}
SINDRI_API std::vector<Tensor> adagrad_update(const Tensor& param, const Tensor& accum, const Tensor& grad, const Tensor& lr, bool update_slots = true,
                                              double weight_decay = 0, double grad_scale = 1, const Tensor& inv_scale = {}, const Tensor& skip = {});
/// a = rho·a + (1-rho)·g²; u = sqrt(d + eps)/sqrt(a + eps)·g; d = rho·d + (1-rho)·u²; p -= lr·u (MindSpore nn.Adadelta). -> {p, a, d}
SINDRI_API std::vector<Tensor> adadelta_update(const Tensor& param, const Tensor& accum, const Tensor& accum_update, const Tensor& grad, const Tensor& lr,
                                               double rho = 0.9, double eps = 1e-6, double weight_decay = 0, double grad_scale = 1,
                                               const Tensor& inv_scale = {}, const Tensor& skip = {});
/// s = decay·s + (1-decay)·g²; v = momentum·v + lr·g/sqrt(s + eps); p -= v (MindSpore nn.RMSProp). -> {p, s, v}
SINDRI_API std::vector<Tensor> rmsprop_update(const Tensor& param, const Tensor& mean_square, const Tensor& moment, const Tensor& grad, const Tensor& lr,
                                              double decay = 0.9, double momentum = 0, double eps = 1e-10, double weight_decay = 0, double grad_scale = 1,
                                              const Tensor& inv_scale = {}, const Tensor& skip = {});
/// The same with s - c² + eps in the root, c = decay·c + (1-decay)·g. -> {p, s, v, c}
SINDRI_API std::vector<Tensor> rmsprop_centered_update(const Tensor& param, const Tensor& mean_square, const Tensor& moment, const Tensor& mean_grad,
                                                       const Tensor& grad, const Tensor& lr, double decay = 0.9, double momentum = 0, double eps = 1e-10,
                                                       double weight_decay = 0, double grad_scale = 1, const Tensor& inv_scale = {}, const Tensor& skip = {});
/// n' = n + g²; z += g - (n'^-lr_power - n^-lr_power)/lr·p; p = 0 where |z| <= l1, else (sign(z)·l1 - z)/(n'^-lr_power/lr + 2·l2)
/// (MindSpore nn.FTRL). -> {p, n, z}
SINDRI_API std::vector<Tensor> ftrl_update(const Tensor& param, const Tensor& accum, const Tensor& linear, const Tensor& grad, const Tensor& lr,
                                           double lr_power = -0.5, double l1 = 0, double l2 = 0, double weight_decay = 0, double grad_scale = 1,
                                           const Tensor& inv_scale = {}, const Tensor& skip = {});
/// v = max(beta2·v, |g|); p -= lr/(1-b1^t)·m/(v + eps) (MindSpore nn.AdaMax). -> {p, m, v}
SINDRI_API std::vector<Tensor> adamax_update(const Tensor& param, const Tensor& m, const Tensor& v, const Tensor& grad, const Tensor& lr,
                                             const Tensor& beta1_power, double beta1 = 0.9, double beta2 = 0.999, double eps = 1e-8, double weight_decay = 0,
                                             double grad_scale = 1, const Tensor& inv_scale = {}, const Tensor& skip = {});
/// adam_update with the largest v so far, vhat, in the root (MindSpore nn.Adam with use_amsgrad). -> {p, m, v, vhat}
SINDRI_API std::vector<Tensor> amsgrad_update(const Tensor& param, const Tensor& m, const Tensor& v, const Tensor& vhat, const Tensor& grad, const Tensor& lr,
                                              const Tensor& beta1_power, const Tensor& beta2_power, double beta1 = 0.9, double beta2 = 0.999, double eps = 1e-8,
                                              double weight_decay = 0, double grad_scale = 1, const Tensor& inv_scale = {}, const Tensor& skip = {});
/// m/(1-b1^t)/(sqrt(v/(1-b2^t)) + eps) + weight_decay·p, which Lamb scales by |p|/|direction| (MindSpore nn.Lamb). -> {direction, m, v}
SINDRI_API std::vector<Tensor> lamb_direction(const Tensor& param, const Tensor& m, const Tensor& v, const Tensor& grad, const Tensor& beta1_power,
                                              const Tensor& beta2_power, double beta1 = 0.9, double beta2 = 0.999, double eps = 1e-8, double weight_decay = 0,
                                              double grad_scale = 1, const Tensor& inv_scale = {}, const Tensor& skip = {});

}  // namespace sindri::ops
