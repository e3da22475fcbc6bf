// FTRL.
#pragma once
#include "sindri/optim/optimizer.h"

namespace sindri::optim {

/// Options of FTRL, with MindSpore's defaults.
struct FTRLOptions {
  double initial_accum = 0.1;  ///< initial value of n
  double learning_rate = 1e-3;
  double lr_power = -0.5, l1 = 0, l2 = 0;  ///< lr_power: exponent of the learning rate, at most 0; l1, l2: strengths of the L1 and L2 penalties
  double loss_scale = 1;  ///< gradients are divided by it
  WeightDecay weight_decay = 0;  ///< applies to every parameter, beta and gamma included; added to the gradient
  GradClip grad_clip = {};
};

/// Follow the regularised leader (McMahan et al. 2013; MindSpore: nn.FTRL): z += g - (n'^-lr_power - n^-lr_power)/lr·p
/// with n' = n + g²; then p is 0 if |z| <= l1, else (sign(z)·l1 - z)/(n'^-lr_power/lr + 2·l2). State: `moments.<param>`
/// (n, from initial_accum), `linear.<param>` (z).
class SINDRI_API FTRL final : public Optimizer {
 public:
  using Options = FTRLOptions;
  /// Throws ValueError for negative initial_accum, l1 or l2, a learning rate that is not positive, lr_power above 0 and
  /// groups with separate learning rates, and the same errors as Optimizer.
  FTRL(Params params, const Options& o);

 protected:
  std::vector<Slot> slots() const override { return {{.prefix = "moments", .init = initial_accum_}, {.prefix = "linear"}}; }
  Tensor update(const Parameter& p, const Tensor& grad, const Tensor& lr, double weight_decay, const UpdateControl& control,
                const std::vector<Parameter*>& state) override;
  bool filters_decay() const override { return false; }

 private:
  double initial_accum_, lr_power_, l1_, l2_;
};

}  // namespace sindri::optim
