// Optimizer update ops. Each updates one parameter and returns the new values. lr is a scalar tensor, so that a
// schedule needs no recompilation. The gradient is first multiplied by grad_scale (1/loss_scale), then
// weight_decay·param is added. The last two inputs may be undefined: inv_scale, a float scalar, multiplies the gradient
// as well (a loss scale that is state); skip, a bool scalar, keeps the old values if it is true, whatever the gradient
// holds. In the formulas p is the parameter and g the gradient.
#pragma once
#include <vector>

#include "sindri/core/tensor.h"
#include "sindri/export.h"

namespace sindri::ops {

/// Momentum (MindSpore nn.Momentum): v = momentum·v + g; p -= lr·v, or with nesterov p -= lr·(g + momentum·v). Returns
/// {p, v}.
SINDRI_API std::vector<Tensor> momentum_update(const Tensor& param, const Tensor& velocity, const Tensor& grad, const Tensor& lr, const Tensor& momentum,
                                               double weight_decay = 0, double grad_scale = 1, bool nesterov = false, const Tensor& inv_scale = {},
                                               const Tensor& skip = {});
/// PyTorch's SGD (MindSpore nn.SGD): v = g on the first step (stat > 0), then momentum·v + (1 - dampening)·g. stat is a
/// scalar that holds 1 before the first step and 0 afterwards. Throws ValueError for nesterov without momentum or with
/// dampening. Returns {p, v, stat}.
SINDRI_API std::vector<Tensor> sgd_update(const Tensor& param, const Tensor& accum, const Tensor& stat, const Tensor& grad, const Tensor& lr, double momentum,
                                          double dampening = 0, double weight_decay = 0, double grad_scale = 1, bool nesterov = false,
                                          const Tensor& inv_scale = {}, const Tensor& skip = {});
/// Adam with bias correction (Kingma & Ba 2015; MindSpore nn.Adam): p -= lr·sqrt(1-b2^t)/(1-b1^t)·m/(sqrt(v)+eps).
/// beta1_power and beta2_power are the scalars b1^t and b2^t, already multiplied for this step. Returns {p, m, v}.
SINDRI_API std::vector<Tensor> adam_update(const Tensor& param, const Tensor& m, const Tensor& v, const Tensor& grad, const Tensor& lr,
                                           const Tensor& beta1_power, const Tensor& beta2_power, double beta1 = 0.9, double beta2 = 0.999, double eps = 1e-8,
                                           double weight_decay = 0, double grad_scale = 1, bool nesterov = false, const Tensor& inv_scale = {},
                                           const Tensor& skip = {});
/// Adam with decoupled weight decay and without bias correction (MindSpore nn.AdamWeightDecay): p -=
/// lr·(m/(sqrt(v)+eps) + weight_decay·p). Returns {p, m, v}.
SINDRI_API std::vector<Tensor> adam_weight_decay_update(const Tensor& param, const Tensor& m, const Tensor& v, const Tensor& grad, const Tensor& lr,
                                                        double beta1 = 0.9, double beta2 = 0.999, double eps = 1e-6, double weight_decay = 0,
                                                        double grad_scale = 1, const Tensor& inv_scale = {}, const Tensor& skip = {});

/// Adagrad (MindSpore nn.Adagrad): a += g² unless update_slots is false; p -= lr·g/sqrt(a). Returns {p, a}.
SINDRI_API std::vector<Tensor> adagrad_update(const Tensor& param, const Tensor& accum, const Tensor& grad, const Tensor& lr, bool update_slots = true,
                                              double weight_decay = 0, double grad_scale = 1, const Tensor& inv_scale = {}, const Tensor& skip = {});
/// Adadelta (MindSpore nn.Adadelta): a = rho·a + (1-rho)·g²; u = sqrt(d + eps)/sqrt(a + eps)·g; d = rho·d + (1-rho)·u²;
/// p -= lr·u. Returns {p, a, d}.
SINDRI_API std::vector<Tensor> adadelta_update(const Tensor& param, const Tensor& accum, const Tensor& accum_update, const Tensor& grad, const Tensor& lr,
                                               double rho = 0.9, double eps = 1e-6, double weight_decay = 0, double grad_scale = 1,
                                               const Tensor& inv_scale = {}, const Tensor& skip = {});
/// RMSProp (MindSpore nn.RMSProp): s = decay·s + (1-decay)·g²; v = momentum·v + lr·g/sqrt(s + eps); p -= v. Returns {p,
/// s, v}.
SINDRI_API std::vector<Tensor> rmsprop_update(const Tensor& param, const Tensor& mean_square, const Tensor& moment, const Tensor& grad, const Tensor& lr,
                                              double decay = 0.9, double momentum = 0, double eps = 1e-10, double weight_decay = 0, double grad_scale = 1,
                                              const Tensor& inv_scale = {}, const Tensor& skip = {});
/// Centered RMSProp: rmsprop_update with s - c² + eps under the root, c = decay·c + (1-decay)·g. Returns {p, s, v, c}.
SINDRI_API std::vector<Tensor> rmsprop_centered_update(const Tensor& param, const Tensor& mean_square, const Tensor& moment, const Tensor& mean_grad,
                                                       const Tensor& grad, const Tensor& lr, double decay = 0.9, double momentum = 0, double eps = 1e-10,
                                                       double weight_decay = 0, double grad_scale = 1, const Tensor& inv_scale = {}, const Tensor& skip = {});
/// FTRL (MindSpore nn.FTRL): n' = n + g²; z += g - (n'^-lr_power - n^-lr_power)/lr·p; p = 0 if |z| <= l1, else
/// (sign(z)·l1 - z)/(n'^-lr_power/lr + 2·l2). Throws ValueError for lr_power above 0. Returns {p, n, z}.
SINDRI_API std::vector<Tensor> ftrl_update(const Tensor& param, const Tensor& accum, const Tensor& linear, const Tensor& grad, const Tensor& lr,
                                           double lr_power = -0.5, double l1 = 0, double l2 = 0, double weight_decay = 0, double grad_scale = 1,
                                           const Tensor& inv_scale = {}, const Tensor& skip = {});
/// AdaMax (MindSpore nn.AdaMax): v = max(beta2·v, |g|); p -= lr/(1-b1^t)·m/(v + eps). Returns {p, m, v}.
SINDRI_API std::vector<Tensor> adamax_update(const Tensor& param, const Tensor& m, const Tensor& v, const Tensor& grad, const Tensor& lr,
                                             const Tensor& beta1_power, double beta1 = 0.9, double beta2 = 0.999, double eps = 1e-8, double weight_decay = 0,
                                             double grad_scale = 1, const Tensor& inv_scale = {}, const Tensor& skip = {});
/// adam_update with the largest v so far, vhat, under the root (MindSpore nn.Adam with use_amsgrad). Returns {p, m, v,
/// vhat}.
SINDRI_API std::vector<Tensor> amsgrad_update(const Tensor& param, const Tensor& m, const Tensor& v, const Tensor& vhat, const Tensor& grad, const Tensor& lr,
                                              const Tensor& beta1_power, const Tensor& beta2_power, double beta1 = 0.9, double beta2 = 0.999, double eps = 1e-8,
                                              double weight_decay = 0, double grad_scale = 1, const Tensor& inv_scale = {}, const Tensor& skip = {});
/// Direction of Lamb (MindSpore nn.Lamb), which Lamb then scales by |p|/|direction|: m/(1-b1^t)/(sqrt(v/(1-b2^t)) +
/// eps) + weight_decay·p. Returns {direction, m, v}.
SINDRI_API std::vector<Tensor> lamb_direction(const Tensor& param, const Tensor& m, const Tensor& v, const Tensor& grad, const Tensor& beta1_power,
                                              const Tensor& beta2_power, double beta1 = 0.9, double beta2 = 0.999, double eps = 1e-8, double weight_decay = 0,
                                              double grad_scale = 1, const Tensor& inv_scale = {}, const Tensor& skip = {});

}  // namespace sindri::ops
