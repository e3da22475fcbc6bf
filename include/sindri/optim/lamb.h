// Lamb, and LARS around another optimizer: the length of a step is proportional to the norm of the parameter.
#pragma once
#include <memory>
#include <utility>
#include <vector>

#include "sindri/optim/optimizer.h"

namespace sindri::optim {

/// Options of Lamb, with MindSpore's defaults.
struct LambOptions {
  LearningRate learning_rate = 1e-3;
  double beta1 = 0.9, beta2 = 0.999, eps = 1e-6;  ///< decay rates of the moments; eps: added to the divisor
  WeightDecay weight_decay = 0;  ///< decoupled: part of the direction
  GradClip grad_clip = {};
};

/// Lamb (You et al. 2020; MindSpore: nn.Lamb): u = m̂/(sqrt(v̂) + eps) + weight_decay·p with Adam's moments and bias
/// corrections; p -= lr·|p|/|u|·u, with a ratio of 1 if a norm is 0. State: `lamb_m.<param>`, `lamb_v.<param>`; the
/// corrections use global_step.
class SINDRI_API Lamb final : public Optimizer {
 public:
  using Options = LambOptions;
  /// Throws ValueError for betas outside (0, 1) or eps <= 0, and the same errors as Optimizer.
  Lamb(Params params, const Options& o);
  bool decays_gradient() const override { return false; }
  bool needs_step_count() const override { return true; }

 protected:
  std::vector<Slot> slots() const override { return {{.prefix = "lamb_m"}, {.prefix = "lamb_v"}}; }
  void begin_update() override;
  Tensor update(const Parameter& p, const Tensor& grad, const Tensor& lr, double weight_decay, const UpdateControl& control,
                const std::vector<Parameter*>& state) override;
  bool two_passes() const override { return true; }
  Tensor finish(const Parameter& p, const Tensor& direction, const Tensor& lr, const UpdateControl& control) override;

 private:
  double beta1_, beta2_, eps_;
  Tensor power1_, power2_;  // of the current update
};

/// Options of LARS, with MindSpore's defaults.
struct LARSOptions {
  double epsilon = 1e-5, coefficient = 0.001;  ///< epsilon: added to the divisor; coefficient: factor of the ratio of norms
  bool use_clip = false;  ///< the factor is min(factor/lr, 1) with the wrapped optimizer's learning rate lr
  /// Selects the parameters whose gradients are rescaled. Unset: those whose names contain neither "LayerNorm" nor
  /// "bias".
  std::function<bool(const Parameter&)> lars_filter = {};
};

/// Gradient rescaled by the rule of LARS (You et al. 2017): coefficient·|p|/(|g| + wd·|p| + epsilon)·(g + wd·p), with a
/// factor of 1 if a norm is 0. If lr, a scalar, is defined, the factor is min(factor/lr, 1). weight_decay is a scalar;
/// undefined: none.
SINDRI_API Tensor lars_gradient(const Tensor& param, const Tensor& grad, const Tensor& weight_decay, const Tensor& lr, double coefficient, double epsilon);

/// Rescales the gradients of another optimizer with lars_gradient (MindSpore: nn.LARS). LARS divides by the loss scale,
/// clips and applies weight decay, in this order; the wrapped optimizer no longer does. Parameters that lars_filter
/// rejects get the unscaled and clipped gradient without decay. parameters(), rates, decays, state, rule and treatment
/// of a step's gradients are those of the wrapped optimizer.
class SINDRI_API LARS final : public Optimizer {
 public:
  using Options = LARSOptions;
  /// Throws ValueError for an optimizer that is null or a LARS, for a negative epsilon or coefficient, and for use_clip
  /// with rates that both depend on the step and differ by group.
  LARS(std::shared_ptr<Optimizer> optimizer, const Options& o);
  std::vector<Parameter*> state() override { return inner_->state(); }
  Parameter& global_step() override { return inner_->global_step(); }
  TensorList get_lr() override { return inner_->get_lr(); }
  bool dynamic_lr() const override { return inner_->dynamic_lr(); }
  void set_lr(double lr) override { inner_->set_lr(lr); }
  bool dynamic() const override { return inner_->dynamic(); }
  double weight_decay(size_t i) const override { return inner_->weight_decay(i); }
  bool decays_gradient() const override { return inner_->decays_gradient(); }
  bool needs_step_count() const override { return inner_->needs_step_count(); }
  void count_every_update(bool on) override { inner_->count_every_update(on); }
  const OptimizerOptions& base_options() const override { return inner_->base_options(); }
  const std::vector<Parameter*>& state_of(size_t i) const override { return inner_->state_of(i); }
  std::vector<Parameter*> shared_states() const override { return inner_->shared_states(); }
  Parameter* rate_slot(size_t i) const override { return inner_->rate_slot(i); }
  /// Applies the wrapped optimizer's rule; the gradients are rescaled already.
  void apply_rule(const TensorList& grads, const TensorList& rates, const TensorList& decays = {}, const Tensor& skip = {}, bool advance = true) override {
    inner_->apply_rule(grads, rates, decays, skip, advance);
  }
  bool wants_uses() const override { return inner_->wants_uses(); }
  Gradients precondition(Gradients g) override { return inner_->precondition(std::move(g)); }
  int variant(int64_t step) const override { return inner_->variant(step); }
  /// The wrapped optimizer.
  Optimizer& wrapped() { return *inner_; }
  /// Returns the gradients that the wrapped optimizer's rule receives for `grads`. Throws the same errors as apply.
  TensorList rescale(const TensorList& grads, const Tensor& inv_scale = {});

 protected:
  std::vector<Slot> slots() const override { return {}; }
  Tensor update(const Parameter& p, const Tensor& grad, const Tensor& lr, double weight_decay, const UpdateControl& control,
                const std::vector<Parameter*>& state) override;
  void run(const TensorList& grads, const Tensor& inv_scale, const Tensor& skip, const Emit& emit) override;

 private:
  std::shared_ptr<Optimizer> inner_;
  double epsilon_, coefficient_;
  bool use_clip_;
  std::vector<bool> filtered_;
};

}  // namespace sindri::optim
