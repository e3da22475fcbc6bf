// What Optimizer keeps, and helpers of the rules in this folder.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "sindri/optim/optimizer.h"

namespace sindri::optim {

/// A gradient times `scale` and, where it is defined, the scalar inv_scale.
Tensor unscaled(Tensor grad, double scale, const Tensor& inv_scale);
/// Throws ValueError for betas outside (0, 1) or eps <= 0.
void check_betas(const std::string& optimizer, double beta1, double beta2, double eps);

/// The rate of one group: a number or table held in a Parameter (so that both can change without a new graph), or a schedule.
struct Rate {
  std::unique_ptr<Parameter> slot;
  std::shared_ptr<LearningRateSchedule> schedule;
  bool dynamic() const { return schedule != nullptr || slot->shape().rank() == 1; }
};

struct Optimizer::Impl {
  struct Group {
    size_t rate = 0;  // index into rates
    WeightDecay weight_decay;
    bool centralize = false;
  };
  OptimizerOptions options;
  DType scalar = DType::kFloat32;
  bool grouped = false, group_lr = false;
  bool counts_every_update = true;
  bool handed_over = false;  // decay and unscaling are done before gradients come here
  std::vector<Rate> rates;  // [0] is the optimizer's own
  std::vector<Group> groups;
  std::vector<size_t> group_of;  // per parameter, in update order
  std::vector<std::vector<Parameter*>> state_of;
  std::vector<std::unique_ptr<Parameter>> slots, shared;
};

}  // namespace sindri::optim
