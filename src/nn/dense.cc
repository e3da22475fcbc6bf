// Dense: a matrix product over the last dimension.
#include "sindri/nn/dense.h"

#include <fmt/format.h>

#include "sindri/amp/amp.h"
#include "sindri/core/error.h"
#include "sindri/nn/activation.h"
#include "sindri/ops/elementwise.h"
#include "sindri/ops/matmul.h"
#include "sindri/ops/reduce.h"
#include "sindri/ops/shape.h"

namespace sindri::nn {

Dense::Dense(Options o) : Cell("Dense"), options_(std::move(o)) {
  if (options_.in_channels < 1) throw ValueError(fmt::format("Dense: in_channels must be given and at least 1, got {}", options_.in_channels));
  if (options_.out_channels < 1) throw ValueError(fmt::format("Dense: out_channels must be given and at least 1, got {}", options_.out_channels));
  weight_ = &param("weight", initializer(options_.weight_init, {options_.out_channels, options_.in_channels}));
  if (options_.has_bias) bias_ = &param("bias", initializer(options_.bias_init, {options_.out_channels}));
  activation_ = get_activation(options_.activation);
  if (activation_ != nullptr) add_child("activation", activation_);
}

void Dense::normalize(double multiplier) {
  if (multiplier_ != nullptr) return;
  if (bias_ != nullptr) drop_param("bias");
  bias_ = nullptr;
  options_.has_bias = false;
  multiplier_ = &param("multiplier", Tensor::from_values({1}, {multiplier}, weight_->dtype()));
}

namespace {

// In float32, whose range covers the squares of all values of a half type.
Tensor unit_rows(const Tensor& x) {
  const amp::FullPrecisionScope full_precision;
  const Tensor wide = is_half(x.dtype()) ? ops::cast(x, DType::kFloat32) : x;
  const Tensor squares = ops::sum(ops::mul(wide, wide), {1}, true);
  return ops::cast(ops::div(wide, ops::sqrt(ops::maximum(squares, ops::scalar_like(squares, 1e-4)))), x.dtype());
}

}  // namespace

Tensor Dense::construct(const Tensor& x) {
  if (x.rank() < 1 || x.dim(-1) != options_.in_channels)
    throw ShapeError(fmt::format("Dense: the input's last dimension must be in_channels={}, got {}", options_.in_channels, x.meta().str()), "",
                     x.rank() == 4 ? "flatten the input first (nn::Flatten), or set in_channels" : "");
  const Tensor rows = x.rank() == 2 ? x : ops::reshape(x, {-1, options_.in_channels});
  Tensor y = multiplier_ == nullptr ? ops::matmul(rows, weight_->value(), false, true)
                                    : ops::mul(ops::matmul(unit_rows(rows), unit_rows(weight_->value()), false, true), multiplier_->value());
  if (bias_ != nullptr) y = ops::add(y, bias_->value());
  if (x.rank() != 2) {
    Shape shape = x.shape();
    shape[shape.rank() - 1] = options_.out_channels;
    y = ops::reshape(y, shape);
  }
  return activation_ != nullptr ? (*activation_)(y) : y;
}

std::string Dense::describe() const { return fmt::format("Dense({}, {}, has_bias={})", options_.in_channels, options_.out_channels, options_.has_bias); }

}  // namespace sindri::nn
