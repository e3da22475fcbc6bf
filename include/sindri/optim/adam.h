// Adam, its variants with decoupled weight decay and with the largest gradient, and LazyAdam.
#pragma once
#include <string>

#include "sindri/optim/optimizer.h"

namespace sindri::optim {

/// Options of Adam, with MindSpore's defaults.
struct AdamOptions {
  LearningRate learning_rate = 1e-3;
  double beta1 = 0.9, beta2 = 0.999, eps = 1e-8;
  WeightDecay weight_decay = 0;  ///< added to the gradient
  double loss_scale = 1;
  bool use_nesterov = false;
  bool use_amsgrad = false;  ///< the largest second moment so far in the root (Reddi et al. 2018); not beside use_nesterov
  GradClip grad_clip = {};
};

/// Adam with bias correction (Kingma & Ba 2015): p -= lr·sqrt(1 - beta2^t)/(1 - beta1^t)·m/(sqrt(v) + eps).
/// State: `moment1.<param>`, `moment2.<param>`, with use_amsgrad `vhat.<param>`; beta1_power, beta2_power.
class SINDRI_API Adam : public Optimizer {
 public:
  using Options = AdamOptions;
  /// Throws ValueError for betas outside (0, 1), eps <= 0 or use_amsgrad with use_nesterov, and as Optimizer.
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

/// Adam, with powers of shape [1]. MindSpore's leaves moments alone that a sparse gradient does not name; gradients here hold every row.
class SINDRI_API LazyAdam final : public Adam {
 public:
  LazyAdam(Params params, const Options& o) : Adam("LazyAdam", std::move(params), o, {1}) {}
};

/// Options of AdamWeightDecay, with MindSpore's defaults.
struct AdamWeightDecayOptions {
  LearningRate learning_rate = 1e-3;
  double beta1 = 0.9, beta2 = 0.999, eps = 1e-6;
  WeightDecay weight_decay = 0;  ///< decoupled: part of the step, not of the gradient
  GradClip grad_clip = {};
};

/// p -= lr·(m/(sqrt(v) + eps) + weight_decay·p), without bias correction. State: `adam_m.<param>`, `adam_v.<param>`.
class SINDRI_API AdamWeightDecay final : public Optimizer {
 public:
  using Options = AdamWeightDecayOptions;
  /// Throws ValueError for betas outside (0, 1) or eps <= 0, and as Optimizer.
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
  double beta1 = 0.9, beta2 = 0.999, eps = 1e-8;
  WeightDecay weight_decay = 0;  ///< added to the gradient
  double loss_scale = 1;
  GradClip grad_clip = {};
};

/// v = max(beta2·v, |g|); p -= lr/(1 - beta1^t)·m/(v + eps) (Kingma & Ba 2015, algorithm 2).
/// State: `moment1.<param>`, `moment2.<param>`, beta1_power.
class SINDRI_API AdaMax final : public Optimizer {
 public:
  using Options = AdaMaxOptions;
  /// Throws ValueError for betas outside (0, 1) or eps <= 0, and as Optimizer.
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
