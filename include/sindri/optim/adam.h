// Adam, its variants with decoupled weight decay and with the maximum norm, and LazyAdam.
#pragma once
#include <string>

#include "sindri/optim/optimizer.h"

namespace sindri::optim {

/// Options of Adam, with MindSpore's defaults.
struct AdamOptions {
  LearningRate learning_rate = 1e-3;
  double beta1 = 0.9, beta2 = 0.999, eps = 1e-8;  ///< decay rates of the moments; eps: added to the divisor
  WeightDecay weight_decay = 0;  ///< added to the gradient
  double loss_scale = 1;  ///< gradients are divided by it
  bool use_nesterov = false;  ///< Nesterov momentum in the first moment
  bool use_amsgrad = false;  ///< the largest second moment so far under the root (Reddi et al. 2018); not with use_nesterov
  GradClip grad_clip = {};
};

/// Adam with bias correction (Kingma & Ba 2015; MindSpore: nn.Adam): p -= lr·sqrt(1 - beta2^t)/(1 - beta1^t)·m/(sqrt(v)
/// + eps). State: `moment1.<param>` (m), `moment2.<param>` (v), with use_amsgrad `vhat.<param>`; beta1_power,
/// beta2_power.
class SINDRI_API Adam : public Optimizer {
 public:
  using Options = AdamOptions;
  /// Throws ValueError for betas outside (0, 1), eps <= 0 or use_amsgrad with use_nesterov, and the same errors as
  /// Optimizer.
  Adam(Params params, const Options& o) : Adam("Adam", std::move(params), o, {}) {}

 protected:
  Adam(std::string name, Params params, const Options& o, const Shape& power_shape);
  std::vector<Slot> slots() const override;
  void begin_update() override;
  Tensor update(const Parameter& p, const Tensor& grad, const Tensor& lr, double weight_decay, const UpdateControl& control,
                const std::vector<Parameter*>& state) override;

 private:
  double beta1_, beta2_, eps_;
  bool nesterov_, amsgrad_;
  Parameter *beta1_power_, *beta2_power_;
};

/// Adam whose states beta1_power and beta2_power have shape [1] (MindSpore: nn.LazyAdam). MindSpore's LazyAdam skips
/// moments of rows that a sparse gradient does not contain; here gradients contain every row.
class SINDRI_API LazyAdam final : public Adam {
 public:
  /// Throws the same errors as Adam.
  LazyAdam(Params params, const Options& o) : Adam("LazyAdam", std::move(params), o, {1}) {}
};

/// Options of AdamWeightDecay, with MindSpore's defaults.
struct AdamWeightDecayOptions {
  LearningRate learning_rate = 1e-3;
  double beta1 = 0.9, beta2 = 0.999, eps = 1e-6;  ///< decay rates of the moments; eps: added to the divisor
  WeightDecay weight_decay = 0;  ///< decoupled: part of the step, not of the gradient
  GradClip grad_clip = {};
};

/// Adam with decoupled weight decay and without bias correction (MindSpore: nn.AdamWeightDecay): p -= lr·(m/(sqrt(v) +
/// eps) + weight_decay·p). State: `adam_m.<param>` (m), `adam_v.<param>` (v).
class SINDRI_API AdamWeightDecay final : public Optimizer {
 public:
  using Options = AdamWeightDecayOptions;
  /// Throws ValueError for betas outside (0, 1) or eps <= 0, and the same errors as Optimizer.
  AdamWeightDecay(Params params, const Options& o);
  bool decays_gradient() const override { return false; }

 protected:
  std::vector<Slot> slots() const override { return {{.prefix = "adam_m"}, {.prefix = "adam_v"}}; }
  Tensor update(const Parameter& p, const Tensor& grad, const Tensor& lr, double weight_decay, const UpdateControl& control,
                const std::vector<Parameter*>& state) override;

 private:
  double beta1_, beta2_, eps_;
};

/// Options of AdaMax, with MindSpore's defaults.
struct AdaMaxOptions {
  LearningRate learning_rate = 1e-3;
  double beta1 = 0.9, beta2 = 0.999, eps = 1e-8;  ///< decay rates of the moments; eps: added to the divisor
  WeightDecay weight_decay = 0;  ///< added to the gradient
  double loss_scale = 1;  ///< gradients are divided by it
  GradClip grad_clip = {};
};

/// AdaMax (Kingma & Ba 2015, algorithm 2; MindSpore: nn.AdaMax): v = max(beta2·v, |g|); p -= lr/(1 - beta1^t)·m/(v +
/// eps). State: `moment1.<param>` (m), `moment2.<param>` (v), beta1_power.
class SINDRI_API AdaMax final : public Optimizer {
 public:
  using Options = AdaMaxOptions;
  /// Throws ValueError for betas outside (0, 1) or eps <= 0, and the same errors as Optimizer.
  AdaMax(Params params, const Options& o);

 protected:
  std::vector<Slot> slots() const override { return {{.prefix = "moment1"}, {.prefix = "moment2"}}; }
  void begin_update() override;
  Tensor update(const Parameter& p, const Tensor& grad, const Tensor& lr, double weight_decay, const UpdateControl& control,
                const std::vector<Parameter*>& state) override;

 private:
  double beta1_, beta2_, eps_;
  Parameter* beta1_power_;
};

}  // namespace sindri::optim
