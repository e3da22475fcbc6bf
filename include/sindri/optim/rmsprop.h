// RMSProp.
#pragma once
#include "sindri/optim/optimizer.h"

namespace sindri::optim {

/// Options of RMSProp, with MindSpore's defaults.
struct RMSPropOptions {
  LearningRate learning_rate = 0.1;
  double decay = 0.9, momentum = 0, epsilon = 1e-10;  ///< decay of the averages; momentum of the step; epsilon: added under the root
  bool centered = false;  ///< divides by the root of the variance instead of the mean square
  double loss_scale = 1;  ///< gradients are divided by it
  WeightDecay weight_decay = 0;  ///< added to the gradient
  GradClip grad_clip = {};
};

/// RMSProp (Tieleman & Hinton 2012; MindSpore: nn.RMSProp): s = decay·s + (1-decay)·g²; v = momentum·v + lr·g/sqrt(s +
/// epsilon); p -= v. centered (Graves 2013): c = decay·c + (1-decay)·g, and s - c² replaces s under the root. State:
/// `mean_square.<param>` (s, from 1), `moment.<param>` (v), with centered `mean_grad.<param>` (c).
class SINDRI_API RMSProp final : public Optimizer {
 public:
  using Options = RMSPropOptions;
  /// Throws ValueError for a negative decay or momentum and for epsilon <= 0, and the same errors as Optimizer.
  RMSProp(Params params, const Options& o);

 protected:
  std::vector<Slot> slots() const override;
  Tensor update(const Parameter& p, const Tensor& grad, const Tensor& lr, double weight_decay, const UpdateControl& control,
                const std::vector<Parameter*>& state) override;

 private:
  double decay_, momentum_, epsilon_;
  bool centered_;
};

}  // namespace sindri::optim
