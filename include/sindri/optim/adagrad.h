// Adagrad and Adadelta.
#pragma once
#include "sindri/optim/optimizer.h"

namespace sindri::optim {

/// Options of Adagrad, with MindSpore's defaults.
struct AdagradOptions {
  double accum = 0.1;  ///< initial value of the sum of squares
  LearningRate learning_rate = 1e-3;
  bool update_slots = true;  ///< false: the sum of squares keeps its value
  double loss_scale = 1;  ///< gradients are divided by it
  WeightDecay weight_decay = 0;  ///< added to the gradient
  GradClip grad_clip = {};
};

/// Adagrad (Duchi et al. 2011; MindSpore: nn.Adagrad): a += g²; p -= lr·g/sqrt(a). State: `accum.<param>` (a).
class SINDRI_API Adagrad final : public Optimizer {
 public:
  using Options = AdagradOptions;
  /// Throws ValueError for a negative accum, and the same errors as Optimizer.
  Adagrad(Params params, const Options& o);

 protected:
  std::vector<Slot> slots() const override { return {{.prefix = "accum", .init = accum_}}; }
  Tensor update(const Parameter& p, const Tensor& grad, const Tensor& lr, double weight_decay, const UpdateControl& control,
                const std::vector<Parameter*>& state) override;

 private:
  double accum_;
  bool update_slots_;
};

/// Options of Adadelta, with MindSpore's defaults.
struct AdadeltaOptions {
  LearningRate learning_rate = 1.0;
  double rho = 0.9, epsilon = 1e-6;  ///< rho: decay of the averages; epsilon: added to squares under the roots
  double loss_scale = 1;  ///< gradients are divided by it
  WeightDecay weight_decay = 0;  ///< added to the gradient
  GradClip grad_clip = {};
};

/// Adadelta (Zeiler 2012; MindSpore: nn.Adadelta): a = rho·a + (1-rho)·g²; u = sqrt(d + epsilon)/sqrt(a + epsilon)·g; d
/// = rho·d + (1-rho)·u²; p -= lr·u. State: `accum.<param>` (a), `accum_update.<param>` (d).
class SINDRI_API Adadelta final : public Optimizer {
 public:
  using Options = AdadeltaOptions;
  /// Throws ValueError for rho outside [0, 1] or a negative epsilon, and the same errors as Optimizer.
  Adadelta(Params params, const Options& o);

 protected:
  std::vector<Slot> slots() const override { return {{.prefix = "accum"}, {.prefix = "accum_update"}}; }
  Tensor update(const Parameter& p, const Tensor& grad, const Tensor& lr, double weight_decay, const UpdateControl& control,
                const std::vector<Parameter*>& state) override;

 private:
  double rho_, epsilon_;
};

}  // namespace sindri::optim
