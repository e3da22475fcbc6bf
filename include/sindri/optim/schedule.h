// Learning rates: a number, a table indexed by global step, or a schedule computed from it; and MindSpore's list-making functions.
#pragma once
#include <memory>
#include <vector>

#include "sindri/core/tensor.h"
#include "sindri/export.h"

namespace sindri::optim {

/// A learning rate as a function of the global step, written with ops (MindSpore: nn.LearningRateSchedule).
class SINDRI_API LearningRateSchedule {
 public:
  virtual ~LearningRateSchedule() = default;
  /// global_step: int32 scalar -> float32 scalar.
  virtual Tensor construct(const Tensor& global_step) const = 0;
};

/// What optimizers take as learning rate.
class SINDRI_API LearningRate {
 public:
  LearningRate(double constant = 0.1) : constant_(constant) {}                                              // NOLINT(google-explicit-constructor)
  LearningRate(std::vector<float> per_step) : per_step_(std::move(per_step)) {}                             // NOLINT
  LearningRate(std::shared_ptr<LearningRateSchedule> schedule) : schedule_(std::move(schedule)) {}          // NOLINT
  bool dynamic() const { return !per_step_.empty() || schedule_ != nullptr; }
  double constant() const { return constant_; }
  const std::vector<float>& per_step() const { return per_step_; }
  const std::shared_ptr<LearningRateSchedule>& schedule() const { return schedule_; }

 private:
  double constant_ = 0.1;
  std::vector<float> per_step_;      ///< beyond its end the last value holds
  std::shared_ptr<LearningRateSchedule> schedule_;
};

}  // namespace sindri::optim
