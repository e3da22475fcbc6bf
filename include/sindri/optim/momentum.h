// Momentum.
#pragma once
#include <string>

#include "sindri/optim/optimizer.h"

namespace sindri::optim {

/// Options of Momentum, with MindSpore's defaults.
struct MomentumOptions {
  LearningRate learning_rate = 0.1;
  double momentum = 0.9;
  WeightDecay weight_decay = 0;  ///< added to the gradient
  double loss_scale = 1;  ///< gradients are divided by it
  bool use_nesterov = false;  ///< p -= lr·(g + momentum·v)
  GradClip grad_clip = {};
};

/// Momentum (Polyak 1964, Sutskever et al. 2013; MindSpore: nn.Momentum; PyTorch's SGD with dampening 0): v =
/// momentum·v + g; p -= lr·v, with Nesterov p -= lr·(g + momentum·v). State: `moments.<param>` (v), momentum.
class SINDRI_API Momentum final : public Optimizer {
 public:
  using Options = MomentumOptions;
  /// Throws ValueError for a negative momentum, and the same errors as Optimizer.
  Momentum(Params params, const Options& o);

 protected:
  std::vector<Slot> slots() const override { return {{.prefix = "moments"}}; }
  Tensor update(const Parameter& p, const Tensor& grad, const Tensor& lr, double weight_decay, const UpdateControl& control,
                const std::vector<Parameter*>& state) override;

 private:
  bool nesterov_;
  Parameter* momentum_;
};

}  // namespace sindri::optim
