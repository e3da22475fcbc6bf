// SGD.
#pragma once
#include <string>

#include "sindri/optim/optimizer.h"

namespace sindri::optim {

/// Options of SGD, with MindSpore's defaults.
struct SGDOptions {
  LearningRate learning_rate = 0.1;
  double momentum = 0;  ///< factor of the velocity
  double dampening = 0;  ///< share by which the velocity reduces the gradient after the first step
  WeightDecay weight_decay = 0;  ///< added to the gradient
  bool decay_all = false;  ///< without groups, decays beta and gamma too, as MindSpore 1 does
  bool nesterov = false;  ///< p -= lr·(g + momentum·v); needs momentum > 0 and dampening 0
  double loss_scale = 1;  ///< gradients are divided by it
  GradClip grad_clip = {};
};

/// PyTorch's SGD (MindSpore: nn.SGD): v = g on the first step, then momentum·v + (1 - dampening)·g; p -= lr·v, with
/// Nesterov p -= lr·(g + momentum·v). State: `accum.<param>` (v), `stat.<param>` of the parameter's shape (1 before the
/// first step with momentum, then 0).
class SINDRI_API SGD final : public Optimizer {
 public:
  using Options = SGDOptions;
  /// Throws ValueError for negative values and for Nesterov without momentum or with dampening, and the same errors as
  /// Optimizer.
  SGD(Params params, const Options& o);

 protected:
  std::vector<Slot> slots() const override { return {{.prefix = "accum"}, {.prefix = "stat", .init = 1}}; }
  Tensor update(const Parameter& p, const Tensor& grad, const Tensor& lr, double weight_decay, const UpdateControl& control,
                const std::vector<Parameter*>& state) override;
  bool filters_decay() const override { return !decay_all_; }

 private:
  double momentum_, dampening_;
  bool nesterov_, decay_all_;
};

}  // namespace sindri::optim
