// Batch normalisation (Ioffe & Szegedy 2015): training form, inference form and the gradient of the training form.
//
// With M values per channel, r = rsqrt(var + eps), xh = (x - mean)·r and P(u) = u - mean(u) - xh·mean(u·xh):
//   dx = gamma·r·P(dy)     dgamma = sum(dy·xh)     dbeta = sum(dy)
#include <fmt/format.h>

#include <algorithm>

#include "ops/norm/norm_common.h"
#include "sindri/core/error.h"
#include "sindri/op/bind.h"
#include "sindri/ops/elementwise.h"
#include "sindri/ops/norm.h"
#include "sindri/ops/reduce.h"
#include "sindri/ops/shape.h"
#include "src/op/quick_call.h"

namespace sindri::ops {
void check_batch_norm_input(const char* op, const TensorMeta& x, double eps) {
  check_floating(op, x, "x");
  if (x.shape.rank() < 2 || x.shape.rank() > 5) throw ShapeError(fmt::format("{}: x must have 2 to 5 dimensions [N, C, ...], got {}", op, x.str()));
  if (!(eps >= 0)) throw ValueError(fmt::format("{}: eps must be at least 0, got {}", op, eps));
}

void check_channels(const char* op, const TensorMeta& x, const TensorMeta& m, const char* which) {
  if (m.shape != Shape{x.shape[1]})
    throw ShapeError(fmt::format("{}: x {} has {} channels, {} must be [{}], got {}", op, x.str(), x.shape[1], which, x.shape[1], m.str()));
  if (m.dtype != x.dtype && m.dtype != stats_dtype(x.dtype))
    throw DTypeError(
        fmt::format("{}: {} must be {} (or {}) for x {}, got {}", op, which, dtype_name(stats_dtype(x.dtype)), dtype_name(x.dtype), x.str(), m.str()), "",
        "convert it with ops::cast");
}

TensorMeta per_channel(const TensorMeta& x) {
  return {.shape = {x.shape[1]}, .dtype = stats_dtype(x.dtype), .layout = Layout::kContiguous, .device = x.device};
}

TensorMeta mask_of(const TensorMeta& x) { return {.shape = {(x.numel() + 7) / 8}, .dtype = DType::kUInt8, .layout = Layout::kContiguous, .device = x.device}; }

namespace {

std::vector<TensorMeta> infer_train(const Attrs& attrs, Span<const TensorMeta> in) {
  check_arity("batch_norm_train", in, 3);
  check_batch_norm_input("batch_norm_train", in[0], attrs.as<BatchNormAttrs>().eps);
  check_channels("batch_norm_train", in[0], in[1], "gamma");
  check_channels("batch_norm_train", in[0], in[2], "beta");
  return {in[0], per_channel(in[0]), per_channel(in[0])};
}

std::vector<TensorMeta> infer_infer(const Attrs& attrs, Span<const TensorMeta> in) {
  check_arity("batch_norm_infer", in, 5);
  check_batch_norm_input("batch_norm_infer", in[0], attrs.as<BatchNormAttrs>().eps);
  const char* names[] = {"x", "gamma", "beta", "mean", "var"};
  for (size_t i = 1; i < 5; ++i) check_channels("batch_norm_infer", in[0], in[i], names[i]);
  return {in[0]};
}

std::vector<TensorMeta> infer_batch_grad(const Attrs& attrs, Span<const TensorMeta> in) {
  check_arity("batch_norm_grad", in, 5);
  check_batch_norm_input("batch_norm_grad", in[0], attrs.as<BatchNormAttrs>().eps);
  if (in[0].shape != in[1].shape || in[0].dtype != in[1].dtype)
    throw ShapeError(fmt::format("batch_norm_grad: dy {} and x {} must have one shape and type", in[0].str(), in[1].str()));
  const char* names[] = {"dy", "x", "gamma", "mean", "var"};
  for (size_t i = 2; i < 5; ++i) check_channels("batch_norm_grad", in[1], in[i], names[i]);
  TensorMeta param = in[2];
  return {in[1], param, param};
}

// [C] as [1, C, 1, ...] so that it broadcasts over x.
Tensor along_channels(const Tensor& t, const Shape& x) {
  Shape s = Shape::filled(x.rank(), 1);
  s[1] = x[1];
  return reshape(t, s);
}

Axes all_but_channels(const Shape& x) {
  Axes axes = {0};
  for (int i = 2; i < x.rank(); ++i) axes.push_back(i);
  return axes;
}

std::vector<Tensor> batch_norm_grad(const Tensor& dy, const Tensor& x, const Tensor& gamma, const Tensor& mean, const Tensor& var, double eps);

double values_per_channel(const Shape& x) { return static_cast<double>(x.numel()) / static_cast<double>(std::max<int64_t>(1, x[1])); }

std::vector<Tensor> vjp_train(const VjpContext& c) {
  const Tensor& x = c.in[0];
  std::vector<Tensor> d(3);
  if (c.dout[0].defined()) d = batch_norm_grad(c.dout[0], x, c.in[1], c.out[1], c.out[2], c.attrs.as<BatchNormAttrs>().eps);
  // For a loss that reads the statistics: dx += dmean/M + dvar·2(x - mean)/M.
  const double count = values_per_channel(x.shape());
  const auto add_dx = [&](const Tensor& t) { d[0] = d[0].defined() ? d[0] + to_dtype(t, x.dtype()) : to_dtype(t, x.dtype()); };
  if (c.dout[1].defined()) add_dx(broadcast_to(along_channels(c.dout[1] / count, x.shape()), x.shape()));
  if (c.dout[2].defined()) {
    const Tensor wide = to_dtype(x, stats_dtype(x.dtype()));
    add_dx((wide - ops::mean(wide, all_but_channels(x.shape()), true)) * along_channels(c.dout[2] * (2 / count), x.shape()));
  }
  return d;
}

std::vector<Tensor> vjp_infer(const VjpContext& c) {
  const Tensor &dy = c.dout[0], &x = c.in[0], &gamma = c.in[1];
  const Shape& shape = x.shape();
  const Axes axes = all_but_channels(shape);
  const DType wide = stats_dtype(x.dtype());
  const Tensor inv_std = along_channels(rsqrt(to_dtype(c.in[4], wide) + c.attrs.as<BatchNormAttrs>().eps), shape);
  const Tensor dy_wide = to_dtype(dy, wide);
  std::vector<Tensor> d(5);
  if (c.needs[0]) d[0] = to_dtype(dy_wide * (along_channels(to_dtype(gamma, wide), shape) * inv_std), x.dtype());
  if (c.needs[1]) d[1] = to_dtype(sum(dy_wide * ((to_dtype(x, wide) - along_channels(to_dtype(c.in[3], wide), shape)) * inv_std), axes), gamma.dtype());
  if (c.needs[2]) d[2] = to_dtype(sum(dy_wide, axes), c.in[2].dtype());
  return d;
}

// Differentiates L = <a, dx> + <b, dgamma> + <c, dbeta>. P is self-adjoint, so with A2 = mean(a·xh), S2 = mean(dy·xh):
//   dL/ddy    = gamma·r·P(a) + b·xh + c
//   dL/dgamma = sum(a·r·P(dy))
//   dL/dxh    = -gamma·r·(a·S2 + A2·dy) + b·dy =: g
//   dL/dx     = r·P(g) - gamma·r·xh·(dL/dgamma)/M
// r·P(u) is batch_norm_grad with gamma = 1, so the rule can be differentiated again. Statistics are recomputed from x
// with ops that carry gradients.
std::vector<Tensor> vjp_batch_grad(const VjpContext& ctx) {
  const Tensor &dy_in = ctx.in[0], &x_in = ctx.in[1], &gamma_in = ctx.in[2];
  const double eps = ctx.attrs.as<BatchNormAttrs>().eps;
  const Shape& shape = x_in.shape();
  const Axes axes = all_but_channels(shape);
  const DType wide = stats_dtype(x_in.dtype());
  const auto channels = [&](const Tensor& t) { return along_channels(to_dtype(t, wide), shape); };
  const auto cotangent = [&](size_t i) {
    return ctx.dout[i].defined() ? to_dtype(ctx.dout[i], wide) : zeros_like(i == 0 ? to_dtype(x_in, wide) : to_dtype(gamma_in, wide));
  };

  const Tensor dy = to_dtype(dy_in, wide), x = to_dtype(x_in, wide), gamma = channels(gamma_in);
  const Tensor a = cotangent(0), b = channels(cotangent(1)), c = channels(cotangent(2));
  const Tensor centred = x - ops::mean(x, axes, true);
  const Tensor r = rsqrt(ops::mean(square(centred), axes, true) + eps);
  const Tensor xh = centred * r;
  const Tensor mean = to_dtype(ctx.in[3], wide), var = to_dtype(ctx.in[4], wide), one = ones_like(to_dtype(gamma_in, wide));
  const auto r_p = [&](const Tensor& u) { return batch_norm_grad(u, x, one, mean, var, eps)[0]; };

  const Tensor dgamma = sum(a * r_p(dy), axes, true);
  std::vector<Tensor> d(5);
  if (ctx.needs[0]) d[0] = to_dtype(gamma * r_p(a) + b * xh + c, dy_in.dtype());
  if (ctx.needs[1]) {
    const Tensor s2 = ops::mean(dy * xh, axes, true), a2 = ops::mean(a * xh, axes, true);
    const Tensor g = b * dy - gamma * r * (a * s2 + a2 * dy);
    d[1] = to_dtype(r_p(g) - xh * (gamma * r * dgamma / values_per_channel(shape)), x_in.dtype());
  }
  if (ctx.needs[2]) d[2] = to_dtype(reshape(dgamma, gamma_in.shape()), gamma_in.dtype());
  return d;
}

// gamma multiplies the normalised x, in the type in which the rule computes it; beta multiplies nothing.
Tensor train_input(const Attrs& attrs, Span<const Tensor> in, size_t operand) {
  if (operand != 1) return {};
  const Tensor x = to_dtype(in[0], stats_dtype(in[0].dtype()));
  return batch_norm_train(x, full(in[1].shape(), 1, x.dtype()), full(in[2].shape(), 0, x.dtype()), attrs.as<BatchNormAttrs>().eps).y;
}
Tensor infer_input(const Attrs& attrs, Span<const Tensor> in, size_t operand) {
  if (operand != 1) return {};
  const DType wide = stats_dtype(in[0].dtype());
  return batch_norm_infer(to_dtype(in[0], wide), full(in[1].shape(), 1, wide), full(in[2].shape(), 0, wide), to_dtype(in[3], wide), to_dtype(in[4], wide),
                          attrs.as<BatchNormAttrs>().eps);
}

const OpDef& kTrain = register_op({
    .name = "batch_norm_train",
    .doc = "x [N, C, ...], gamma [C], beta [C] -> y as x, mean [C], var [C]: y = (x - mean)·rsqrt(var + eps)·gamma + beta over every dimension but 1. "
           "var is biased. mean and var are NaN when there are no values.",
    .attrs = attrs_type<BatchNormAttrs>(),
    .traits = {.amp = AmpClass::kMixed,
               .amp_wide = saves(1, 2),
               .layout = LayoutRule::kFollowInput0,
               .saves_in = saves(0, 1),
               .saves_out = saves(1, 2),
               .role = OpRole::kBatchNormTrain},
    .infer = infer_train,
    .vjp = vjp_train,
    .param_input = train_input,
});

const OpDef& kInfer = register_op({
    .name = "batch_norm_infer",
    .doc = "x [N, C, ...], gamma, beta, mean, var [C] -> (x - mean)·rsqrt(var + eps)·gamma + beta. Differentiable in x, gamma and beta.",
    .attrs = attrs_type<BatchNormAttrs>(),
    .traits = {.amp = AmpClass::kMixed,
               .amp_wide = saves(1, 2, 3, 4),
               .layout = LayoutRule::kFollowInput0,
               .saves_in = saves(0, 1, 3, 4),
               .role = OpRole::kBatchNormInfer},
    .infer = infer_infer,
    .vjp = vjp_infer,
    .param_input = infer_input,
});

const OpDef& kBatchGrad = register_op({
    .name = "batch_norm_grad",
    .doc = "dy, x [N, C, ...], gamma [C], and x's mean and var [C] -> dx, dgamma, dbeta of batch_norm_train. mean and var are those of x: the "
           "gradient with respect to x goes through them; they receive no gradient.",
    .attrs = attrs_type<BatchNormAttrs>(),
    .traits = {.amp = AmpClass::kMixed, .amp_wide = saves(2, 3, 4), .layout = LayoutRule::kFollowInput0, .role = OpRole::kBatchNormGrad},
    .infer = infer_batch_grad,
    .vjp = vjp_batch_grad,
});

std::vector<Tensor> batch_norm_grad(const Tensor& dy, const Tensor& x, const Tensor& gamma, const Tensor& mean, const Tensor& var, double eps) {
  return bind(kBatchGrad, recent_attrs(BatchNormAttrs{eps}), {dy, x, gamma, mean, var});
}

}  // namespace

BatchNormOut batch_norm_train(const Tensor& x, const Tensor& gamma, const Tensor& beta, double eps) {
  std::vector<Tensor> o = bind(kTrain, recent_attrs(BatchNormAttrs{eps}), {x, gamma, beta});
  return {o[0], o[1], o[2]};
}

Tensor batch_norm_infer(const Tensor& x, const Tensor& gamma, const Tensor& beta, const Tensor& mean, const Tensor& var, double eps) {
  return bind_one(kInfer, recent_attrs(BatchNormAttrs{eps}), {&x, &gamma, &beta, &mean, &var});
}

}  // namespace sindri::ops
