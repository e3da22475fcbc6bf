// Loss scale: the seed of the backward pass is multiplied by it and gradients are divided by it afterwards, so that small
// gradients survive in a half type of narrow range. The scale and its counters are state inside the step; no step waits for the
// host to read them. (MindSpore: mindspore.train.loss_scale_manager)
#pragma once
#include <memory>
#include <vector>

#include "sindri/core/tensor.h"
#include "sindri/export.h"
#include "sindri/op/parameter.h"
#include "sindri/op/tensor_fn.h"

namespace sindri::train {

// The rules, shared by C++ and Python. MindSpore has three rules that adapt a scale. They agree on when a scale changes, but not
// on what they count: the cell in the step and the manager differ in what growth does to `last`, and the scaler counts only steps
// without overflow.

/// 1/scale for these gradients: float32, or float64 if one of them is.
SINDRI_API Tensor inverse_scale(const Tensor& scale, const TensorList& gradients);

/// State of MindSpore's DynamicLossScaleUpdateCell, written with ops. scale: float32 scalar. current: number of the step, from 1.
/// last: number of the step of the last overflow or growth. Both are int32.
struct LossScaleState {
  Tensor scale, current, last;
};
/// The state after a step. overflow (bool scalar): divides the scale by `factor`, but not below 1. After `window` consecutive
/// steps without overflow the scale is multiplied by `factor`, but not above 2^126.
SINDRI_API LossScaleState next_loss_scale(const LossScaleState& s, const Tensor& overflow, double factor, int64_t window);

/// State of MindSpore's amp.DynamicLossScaler, written with ops. counter (int32): clean steps since the scale changed.
struct LossScalerState {
  Tensor scale, counter;
};
/// The state after a step; `finite` (bool scalar) says whether its gradients were finite. Follows the rule of next_loss_scale,
/// except that the scale does not grow if the product would not be finite.
SINDRI_API LossScalerState next_loss_scaler(const LossScalerState& s, const Tensor& finite, double factor, int64_t window);

/// State of MindSpore's DynamicLossScaleManager as its callers drive it, on the host. last_overflow: step of the last overflow,
/// not counting growth; overflows: number of consecutive overflows. An overflow multiplies the scale by `decrease`, growth by
/// `increase`.
struct SINDRI_API LossScaleCount {
  double scale;
  int64_t current = 1, last_overflow = 0, overflows = 0;
  void next(bool overflow, double increase, double decrease, int64_t window);  ///< adapts the scale after a step
};

/// The loss scale of a run and the rule that adapts it (MindSpore: LossScaleManager).
class SINDRI_API LossScaleManager {
 public:
  LossScaleManager() = default;
  virtual ~LossScaleManager() = default;
  LossScaleManager(const LossScaleManager&) = delete;
  LossScaleManager& operator=(const LossScaleManager&) = delete;

  /// The scale of the next step.
  virtual double get_loss_scale() const = 0;
  /// Whether a step whose gradients overflow is skipped. If not, gradients are not checked, and the optimizer must have the same
  /// loss_scale, by which it divides.
  virtual bool get_drop_overflow_update() const = 0;
  /// The scale as a float32 scalar, for the step being run or traced.
  virtual Tensor scale() const = 0;
  /// Adapts the scale after a step; `finite` (bool scalar) says whether its gradients were finite. Written with ops, so it is
  /// part of the step.
  virtual void update(const Tensor& finite) = 0;
  /// The same as update, called from the host (MindSpore's name).
  void update_loss_scale(bool overflow) { update(Tensor::scalar(overflow ? 0 : 1, DType::kBool)); }
  /// State that checkpoints hold; empty if the scale is fixed.
  virtual std::vector<Parameter*> state() { return {}; }
};

/// A constant scale (MindSpore: FixedLossScaleManager).
class SINDRI_API FixedLossScaleManager final : public LossScaleManager {
 public:
  /// Throws ValueError unless loss_scale is positive and both it and its inverse are normal float32 numbers.
  explicit FixedLossScaleManager(double loss_scale = 128.0, bool drop_overflow_update = true);
  double get_loss_scale() const override { return loss_scale_; }
  bool get_drop_overflow_update() const override { return drop_; }
  Tensor scale() const override;
  void update(const Tensor&) override {}

 private:
  double loss_scale_;
  bool drop_;
};

/// A scale that follows next_loss_scale and skips steps that overflow (MindSpore: DynamicLossScaleManager). State: scale_sense,
/// current_iterator_step, last_overflow_iterator_step.
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
  Parameter scale_, current_, last_;
};

}  // namespace sindri::train
