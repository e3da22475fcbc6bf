// Batch and layer normalisation layers: keep the moving statistics and check the options.
#include "sindri/nn/norm.h"

#include <fmt/format.h>

#include <algorithm>
#include <type_traits>

#include "sindri/amp/amp.h"
#include "sindri/comm/communicator.h"
#include "sindri/core/error.h"
#include "sindri/ops/comm.h"
#include "sindri/ops/elementwise.h"
#include "sindri/ops/norm.h"
#include "sindri/ops/reduce.h"
#include "sindri/ops/shape.h"

namespace sindri::nn {

BatchNorm::BatchNorm(std::string class_name, int min_rank, int max_rank, Options o)
    : Cell(std::move(class_name)), options_(std::move(o)), min_rank_(min_rank), max_rank_(max_rank) {
  const auto fail = [&](const std::string& what) { throw ValueError(fmt::format("{}: {}", this->class_name(), what)); };
  if (options_.num_features < 1) fail(fmt::format("num_features must be given and at least 1, got {}", options_.num_features));
  if (!(options_.momentum >= 0 && options_.momentum <= 1)) fail(fmt::format("momentum must be from 0 to 1, got {}", options_.momentum));
  if (!(options_.eps > 0)) fail(fmt::format("eps must be positive, got {}", options_.eps));
  const Shape shape = {options_.num_features};
  gamma_ = &param("gamma", initializer(options_.gamma_init, shape), options_.affine);
  beta_ = &param("beta", initializer(options_.beta_init, shape), options_.affine);
  moving_mean_ = &buffer("moving_mean", initializer(options_.moving_mean_init, shape));
  moving_variance_ = &buffer("moving_variance", initializer(options_.moving_var_init, shape));
}

void BatchNorm::bypass() {
  if (bypassed()) return;
  for (const char* name : {"gamma", "beta", "moving_mean", "moving_variance"}) drop_param(name);
  gamma_ = beta_ = moving_mean_ = moving_variance_ = nullptr;
}

Tensor BatchNorm::construct(const Tensor& x) {
  if (bypassed()) return x;
  if (x.rank() < min_rank_ || x.rank() > max_rank_) {
    const std::string want = min_rank_ == max_rank_ ? fmt::format("{}", min_rank_) : fmt::format("{} or {}", min_rank_, max_rank_);
    throw ShapeError(fmt::format("{}: the input must have {} dimensions, got {}", class_name(), want, x.meta().str()));
  }
  if (x.dim(1) != options_.num_features)
    throw ShapeError(fmt::format("{}: num_features is {}, the input {} has {} channels", class_name(), options_.num_features, x.meta().str(), x.dim(1)));
  if (!options_.use_batch_statistics.value_or(training()))
    return ops::batch_norm_infer(x, gamma_->value(), beta_->value(), moving_mean_->value(), moving_variance_->value(), options_.eps);
  if (!sync_group_.empty() && comm::find_group(sync_group_).size() > 1) return over_group(x);
  const ops::BatchNormOut out = ops::batch_norm_train(x, gamma_->value(), beta_->value(), options_.eps);
  const int64_t count = x.numel() / std::max<int64_t>(1, options_.num_features);
  if (count > 0) update_moving(out.mean, out.var, static_cast<double>(count) / static_cast<double>(std::max<int64_t>(1, count - 1)));
  return out.y;  // an empty batch has no statistics
}

// Uses two all-reduces: the first of counts and sums, the second of squared deviations from the mean. A sum of squares
// about zero would lose digits. Gradients follow from the ops' own rules, so they include how other ranks' losses
// depend on this rank's input through the statistics.
Tensor BatchNorm::over_group(const Tensor& input) {
  const amp::FullPrecisionScope full_precision;
  const Tensor x = is_half(input.dtype()) ? ops::cast(input, DType::kFloat32) : input;
  std::vector<int64_t> axes, per_channel(static_cast<size_t>(x.rank()), 1);
  for (int d = 0; d < x.rank(); ++d)
    if (d != 1) axes.push_back(d);
  per_channel[1] = options_.num_features;
  const auto spread = [&](const Tensor& of_channels) { return ops::reshape(ops::cast(of_channels, x.dtype()), Shape(per_channel)); };
  const auto reduce = [&](const std::vector<Tensor>& xs) { return ops::all_reduce(xs, {.group = sync_group_, .what = "batch norm"}); };
  const double rows = static_cast<double>(x.numel()) / static_cast<double>(options_.num_features);
  const std::vector<Tensor> sums = reduce({ops::full({1}, rows, x.dtype()), ops::sum(x, axes)});
  const Tensor count = sums[0], mean = ops::div(sums[1], count), centred = ops::sub(x, spread(mean));
  const Tensor var = ops::div(reduce({ops::sum(ops::mul(centred, centred), axes)})[0], count);
  const Tensor scale = ops::mul(ops::rsqrt(ops::add(var, options_.eps)), ops::cast(gamma_->value(), x.dtype()));
  const Tensor y = ops::add(ops::mul(centred, spread(scale)), spread(beta_->value()));
  const Tensor one = ops::full({1}, 1, x.dtype());
  update_moving(mean, var, ops::div(count, ops::maximum(one, ops::sub(count, one))));
  return input.dtype() == y.dtype() ? y : ops::cast(y, input.dtype());
}

// `unbias`: count / (count - 1).
template <class Factor> void BatchNorm::update_moving(const Tensor& mean, const Tensor& var, const Factor& unbias) {
  const amp::FullPrecisionScope float32;  // a moving mean changes by less than a half type can resolve
  const double keep = options_.momentum;
  const auto blend = [&](Parameter& p, const Tensor& batch) {
    const Tensor v = ops::add(ops::mul(p.value(), keep), batch);
    p.assign(v.dtype() == p.dtype() ? v : ops::cast(v, p.dtype()));
  };
  blend(*moving_mean_, ops::mul(mean, 1 - keep));
  if constexpr (std::is_same_v<Factor, double>) blend(*moving_variance_, ops::mul(var, (1 - keep) * unbias));
  else blend(*moving_variance_, ops::mul(ops::mul(var, unbias), 1 - keep));
}

std::string BatchNorm::describe() const {
  return fmt::format("{}({}, eps={}, momentum={}{})", class_name(), options_.num_features, options_.eps, options_.momentum,
                     options_.affine ? "" : ", affine=false");
}

LayerNorm::LayerNorm(Options o) : Cell("LayerNorm"), options_(std::move(o)) {
  if (options_.normalized_shape.rank() == 0) throw ValueError("LayerNorm: normalized_shape is not given");
  if (!(options_.epsilon > 0)) throw ValueError(fmt::format("LayerNorm: epsilon must be positive, got {}", options_.epsilon));
  gamma_ = &param("gamma", initializer(options_.gamma_init, options_.normalized_shape));
  beta_ = &param("beta", initializer(options_.beta_init, options_.normalized_shape));
}

Tensor LayerNorm::construct(const Tensor& x) {
  const int norm_axis = normalize_axis(options_.begin_norm_axis, x.rank(), "LayerNorm"),
            params_axis = normalize_axis(options_.begin_params_axis, x.rank(), "LayerNorm");
  const Shape params(std::span<const int64_t>(x.shape().begin() + params_axis, x.shape().end()));
  if (params != options_.normalized_shape)
    throw ShapeError(fmt::format("LayerNorm: normalized_shape is {}, the input {} has {} from axis {} on", options_.normalized_shape.str(), x.meta().str(),
                                 params.str(), params_axis));
  if (norm_axis == params_axis) return ops::layer_norm(x, gamma_->value(), beta_->value(), norm_axis, options_.epsilon);
  // The statistics are over other dimensions than the parameters have: normalise without the parameters, then scale.
  const Shape normalized(std::span<const int64_t>(x.shape().begin() + norm_axis, x.shape().end()));
  const Tensor plain = ops::layer_norm(x, ops::full(normalized, 1, gamma_->dtype()), ops::full(normalized, 0, gamma_->dtype()), norm_axis, options_.epsilon);
  return ops::add(ops::mul(plain, gamma_->value()), beta_->value());
}

std::string LayerNorm::describe() const { return fmt::format("LayerNorm({}, epsilon={})", options_.normalized_shape.str(), options_.epsilon); }

}  // namespace sindri::nn
