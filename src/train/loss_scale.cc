// The rules of the loss scales, written with ops.
#include "sindri/train/loss_scale.h"

#include <fmt/format.h>

#include "sindri/core/error.h"
#include "sindri/ops/elementwise.h"
#include "sindri/ops/shape.h"

namespace sindri::train {

namespace {

constexpr double kLargest = 0x1p126;  // its inverse is the smallest normal float32

void check_scale(const char* who, const char* which, double v, double least) {
  if (!(v >= least && v <= kLargest)) throw ValueError(fmt::format("{}: {} must lie in [{:g}, 2^126], got {}", who, which, least, v));
}

}  // namespace

FixedLossScaleManager::FixedLossScaleManager(double loss_scale, bool drop_overflow_update) : loss_scale_(loss_scale), drop_(drop_overflow_update) {
  check_scale("FixedLossScaleManager", "loss_scale", loss_scale, 1 / kLargest);
}

Tensor FixedLossScaleManager::scale() const { return ops::full({}, loss_scale_, DType::kFloat32); }

DynamicLossScaleManager::DynamicLossScaleManager(double init_loss_scale, double scale_factor, int64_t scale_window)
    : factor_(scale_factor),
      window_(scale_window),
      scale_(Tensor::scalar(init_loss_scale, DType::kFloat32), "scale_sense", false),
      current_(Tensor::scalar(1, DType::kInt32), "current_iterator_step", false),
      last_(Tensor::scalar(0, DType::kInt32), "last_overflow_iterator_step", false) {
  check_scale("DynamicLossScaleManager", "init_loss_scale", init_loss_scale, 1);
  if (!(scale_factor > 1 && scale_factor <= kLargest))
    throw ValueError(fmt::format("DynamicLossScaleManager: scale_factor must be larger than 1, got {}", scale_factor));
  if (scale_window < 1 || scale_window > INT32_MAX)
    throw ValueError(fmt::format("DynamicLossScaleManager: scale_window must be at least 1, got {}", scale_window));
}

void DynamicLossScaleManager::update(const Tensor& finite) {
  const auto float32 = [](double v) { return ops::full({}, v, DType::kFloat32); };
  const auto int32 = [](int64_t v) { return ops::full({}, static_cast<double>(v), DType::kInt32); };
  const Tensor scale = scale_.value(), current = current_.value(), last = last_.value();
  const Tensor smaller = ops::maximum(ops::div(scale, float32(factor_)), float32(1));
  const Tensor larger = ops::minimum(ops::mul(scale, float32(factor_)), float32(kLargest));
  const Tensor grows = ops::greater_equal(ops::sub(current, last), int32(window_));
  scale_.assign(ops::where(finite, ops::where(grows, larger, scale), smaller));
  last_.assign(ops::where(ops::logical_and(finite, ops::logical_not(grows)), last, current));
  current_.assign(ops::add(current, int32(1)));
}

}  // namespace sindri::train
