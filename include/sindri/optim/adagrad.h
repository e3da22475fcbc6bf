// Adagrad and Adadelta.
#pragma once
#include "sindri/optim/optimizer.h"

namespace sindri::optim {

/// Options of Adagrad, with MindSpore's defaults.
struct AdagradOptions {
  double accum = 0.1;  ///< what the sum of squares starts from
  LearningRate learning_rate = 1e-3;
  bool update_slots = true;  ///< false: the sum stays what it was
  double loss_scale = 1;
  WeightDecay weight_decay = 0;
  GradClip grad_clip = {};
};

/// a += g²; p -= lr·g/sqrt(a) (Duchi et al. 2011). State: `accum.<param>`.
class SINDRI_API Adagrad final : public Optimizer {
 public:
  using Options = AdagradOptions;
  /// Throws ValueError for a negative accum, and as Optimizer.
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
  double rho = 0.9, epsilon = 1e-6;
  double loss_scale = 1;
  WeightDecay weight_decay = 0;
  GradClip grad_clip = {};
};

/// a = rho·a + (1-rho)·g²; u = sqrt(d + epsilon)/sqrt(a + epsilon)·g; d = rho·d + (1-rho)·u²; p -= lr·u (Zeiler 2012).
/// State: `accum.<param>` (a), `accum_update.<param>` (d).
class SINDRI_API Adadelta final : public Optimizer {
 public:
  using Options = AdadeltaOptions;
  /// Throws ValueError for rho outside [0, 1] or a negative epsilon, and as Optimizer.
  Adadelta(Params params, const Options& o);

 protected:
  std::vector<Slot> slots() const override { return {{.prefix = "accum"}, {.prefix = "accum_update"}}; }
  Tensor update(const Parameter& p, const Tensor& grad, const Tensor& lr, double weight_decay, const UpdateControl& control,
                const std::vector<Parameter*>& state) override;

 private:
  double rho_, epsilon_;
};

}  // namespace sindri::optim
