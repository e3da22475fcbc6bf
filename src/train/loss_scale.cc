// The loss scales' rules, written with ops.
#include "sindri/train/loss_scale.h"

#include <fmt/format.h>

#include <algorithm>

#include "sindri/core/error.h"
#include "sindri/ops/elementwise.h"
#include "sindri/ops/shape.h"

namespace sindri::train {

namespace {

constexpr double kLargest = 0x1p126;  // its inverse is the smallest normal float32

void check_scale(const char* who, const char* which, double v, double least) {
  if (!(v >= least && v <= kLargest)) throw ValueError(fmt::format("{}: {} must lie in [{:g}, 2^126], got {}", who, which, least, v));
}

Tensor like(const Tensor& t, double v) { return ops::full({}, v, t.dtype()); }

}  // namespace

Tensor inverse_scale(const Tensor& scale, const TensorList& gradients) {
  const bool wide = std::any_of(gradients.begin(), gradients.end(), [](const Tensor& g) { return g.defined() && g.dtype() == DType::kFloat64; });
  return ops::reciprocal(ops::cast(scale, wide ? DType::kFloat64 : DType::kFloat32));
}

LossScaleState next_loss_scale(const LossScaleState& s, const Tensor& overflow, double factor, int64_t window) {
  const Tensor smaller = ops::maximum(ops::mul(s.scale, 1 / factor), like(s.scale, 1)),
               larger = ops::minimum(ops::mul(s.scale, factor), like(s.scale, kLargest));
  const Tensor grows = ops::greater_equal(ops::sub(s.current, s.last), like(s.current, static_cast<double>(window)));
  return {.scale = ops::where(overflow, smaller, ops::where(grows, larger, s.scale)),
          .current = ops::add(s.current, like(s.current, 1)),
          .last = ops::where(ops::logical_or(overflow, grows), s.current, s.last)};
}

LossScalerState next_loss_scaler(const LossScalerState& s, const Tensor& finite, double factor, int64_t window) {
  const Tensor smaller = ops::maximum(ops::div(s.scale, factor), like(s.scale, 1)), product = ops::mul(s.scale, factor);
  const Tensor larger = ops::where(ops::isfinite(product), product, s.scale);
  const Tensor grows = ops::equal(s.counter, like(s.counter, static_cast<double>(window - 1)));
  const Tensor counted = ops::mod(ops::add(s.counter, like(s.counter, 1)), like(s.counter, static_cast<double>(window)));
  return {.scale = ops::where(finite, ops::where(grows, larger, s.scale), smaller), .counter = ops::where(finite, counted, like(s.counter, 0))};
}

void LossScaleCount::next(bool overflow, double increase, double decrease, int64_t window) {
  overflows = overflow ? overflows + 1 : 0;
  if (overflow) {
    scale = std::max(scale * decrease, 1.0);
    last_overflow = current;
  } else if ((current - last_overflow) % window == 0) {
    scale = std::min(scale * increase, kLargest);
  }
  ++current;
}

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
  const LossScaleState next = next_loss_scale({scale_.value(), current_.value(), last_.value()}, ops::logical_not(finite), factor_, window_);
  scale_.assign(next.scale);
  last_.assign(next.last);
  current_.assign(next.current);
}

}  // namespace sindri::train
