// Loss scale: the seed of backward is multiplied by it and gradients are divided by it again, so that small gradients survive a
// half type of narrow range. The scale and its counters are state inside the step; no step waits for the host to look at it.
// (MindSpore: mindspore.train.loss_scale_manager)
#pragma once
#include <memory>
#include <vector>

#include "sindri/core/tensor.h"
#include "sindri/export.h"
#include "sindri/op/parameter.h"

namespace sindri::train {

class SINDRI_API LossScaleManager {
 public:
  LossScaleManager() = default;
  virtual ~LossScaleManager() = default;
  LossScaleManager(const LossScaleManager&) = delete;
  LossScaleManager& operator=(const LossScaleManager&) = delete;

  /// The scale of the next step.
  virtual double get_loss_scale() const = 0;
  /// Whether a step whose gradients overflow is left out. Otherwise gradients are not looked at, and the optimizer must have been
  /// given the same loss_scale, by which it divides.
  virtual bool get_drop_overflow_update() const = 0;
  /// float32 scalar, for the step being run or traced.
  virtual Tensor scale() const = 0;
  /// After a step: `finite` (bool scalar) says whether its gradients were. Written with ops, so it is part of the step.
  virtual void update(const Tensor& finite) = 0;
  /// As update, from the host (MindSpore's name).
  void update_loss_scale(bool overflow) { update(Tensor::scalar(overflow ? 0 : 1, DType::kBool)); }
  /// What a checkpoint must carry; empty when nothing changes.
  virtual std::vector<Parameter*> state() { return {}; }
};

/// One scale for the whole training.
class SINDRI_API FixedLossScaleManager final : public LossScaleManager {
 public:
  /// Throws ValueError unless loss_scale is positive and, as its inverse, a normal float32.
  explicit FixedLossScaleManager(double loss_scale = 128.0, bool drop_overflow_update = true);
  double get_loss_scale() const override { return loss_scale_; }
  bool get_drop_overflow_update() const override { return drop_; }
  Tensor scale() const override;
  void update(const Tensor&) override {}

 private:
  double loss_scale_;
  bool drop_;
};

/// Overflow: the step is left out and the scale divided by scale_factor, not below 1. After scale_window steps in a row without,
/// it is multiplied by scale_factor, not above 2^126. State: scale_sense, current_iterator_step, last_overflow_iterator_step.
class SINDRI_API DynamicLossScaleManager final : public LossScaleManager {
 public:
  /// Throws ValueError for init_loss_scale outside [1, 2^126], scale_factor <= 1 or scale_window < 1.
  explicit DynamicLossScaleManager(double init_loss_scale = 16777216.0, double scale_factor = 2, int64_t scale_window = 2000);
  double get_loss_scale() const override { return scale_.stored().item(); }
  bool get_drop_overflow_update() const override { return true; }
  Tensor scale() const override { return scale_.value(); }
  void update(const Tensor& finite) override;
  std::vector<Parameter*> state() override { return {&scale_, &current_, &last_}; }

 private:
  double factor_;
  int64_t window_;
  Parameter scale_, current_, last_;  // last_: the step of the last overflow or growth
};

}  // namespace sindri::train
