// Layer normalisation (Ba et al. 2016) over the trailing dimensions, and its gradient.
//
// With K values per row, r = rsqrt(var + eps), xh = (x - mean)·r, g = dy·gamma and P(u) = u - mean(u) - xh·mean(u·xh) per row:
//   dx = r·P(g)     dgamma = sum over rows (dy·xh)     dbeta = sum over rows (dy)
#include <fmt/format.h>

#include "ops/norm/norm_common.h"
#include "sindri/core/error.h"
#include "sindri/op/bind.h"
#include "sindri/ops/elementwise.h"
#include "sindri/ops/norm.h"
#include "sindri/ops/reduce.h"
#include "sindri/ops/shape.h"
#include "src/op/quick_call.h"

namespace sindri::ops {
namespace {

int check_input(const char* op, const Attrs& attrs, const TensorMeta& x) {
  const auto& a = attrs.as<LayerNormAttrs>();
  check_floating(op, x, "x");
  if (x.shape.rank() < 1) throw ShapeError(fmt::format("{}: x must have at least one dimension, got {}", op, x.str()));
  if (!(a.eps >= 0)) throw ValueError(fmt::format("{}: eps must be at least 0, got {}", op, a.eps));
  return normalize_axis(a.begin_norm_axis, x.shape.rank(), op);
}

void check_param(const char* op, const TensorMeta& x, int axis, const TensorMeta& m, const char* which) {
  const Shape expected(x.shape.span().subspan(static_cast<size_t>(axis)));
  if (m.shape != expected)
    throw ShapeError(fmt::format("{}: x {} normalised from dimension {} on needs {} {}, got {}", op, x.str(), axis, which, expected.str(), m.str()));
  if (m.dtype != x.dtype && m.dtype != stats_dtype(x.dtype))
    throw DTypeError(
        fmt::format("{}: {} must be {} (or {}) for x {}, got {}", op, which, dtype_name(stats_dtype(x.dtype)), dtype_name(x.dtype), x.str(), m.str()), "",
        "convert it with ops::cast");
}

// Row statistics keep the rank of x, so that they broadcast: [4, 7, 16] normalised over 16 has [4, 7, 1].
TensorMeta row_stats(const TensorMeta& x, int axis) {
  TensorMeta m{.shape = x.shape, .dtype = stats_dtype(x.dtype), .layout = Layout::kContiguous, .device = x.device};
  for (int i = axis; i < x.shape.rank(); ++i) m.shape[i] = 1;
  return m;
}

std::vector<TensorMeta> infer_forward(const Attrs& attrs, Span<const TensorMeta> in) {
  check_arity("layer_norm", in, 3);
  const int axis = check_input("layer_norm", attrs, in[0]);
  check_param("layer_norm", in[0], axis, in[1], "gamma");
  check_param("layer_norm", in[0], axis, in[2], "beta");
  return {in[0], row_stats(in[0], axis), row_stats(in[0], axis)};
}

std::vector<TensorMeta> infer_layer_grad(const Attrs& attrs, Span<const TensorMeta> in) {
  check_arity("layer_norm_grad", in, 5);
  const int axis = check_input("layer_norm_grad", attrs, in[1]);
  if (in[0].shape != in[1].shape || in[0].dtype != in[1].dtype)
    throw ShapeError(fmt::format("layer_norm_grad: dy {} and x {} must have one shape and type", in[0].str(), in[1].str()));
  check_param("layer_norm_grad", in[1], axis, in[2], "gamma");
  const TensorMeta stats = row_stats(in[1], axis);
  for (size_t i = 3; i < 5; ++i) {
    if (in[i].shape != stats.shape || (in[i].dtype != stats.dtype && in[i].dtype != in[1].dtype))
      throw ShapeError(fmt::format("layer_norm_grad: row statistics must be {}, got {}", stats.str(), in[i].str()));
  }
  return {in[1], in[2], in[2]};
}

std::vector<Tensor> layer_norm_grad(const Tensor& dy, const Tensor& x, const Tensor& gamma, const Tensor& mean, const Tensor& inv_std, const Attrs& attrs);

std::vector<Tensor> vjp_forward(const VjpContext& c) {
  const Tensor& x = c.in[0];
  std::vector<Tensor> d(3);
  if (c.dout[0].defined()) d = layer_norm_grad(c.dout[0], x, c.in[1], c.out[1], c.out[2], c.attrs);
  if (!c.dout[1].defined() && !c.dout[2].defined()) return d;
  // For a rule that reads the row statistics: dx += dmean/K - dr·r³·(x - mean)/K.
  const double width = static_cast<double>(c.in[1].numel());
  const auto add_dx = [&](const Tensor& t) { d[0] = d[0].defined() ? d[0] + to_dtype(t, x.dtype()) : to_dtype(t, x.dtype()); };
  if (c.dout[1].defined()) add_dx(broadcast_to(c.dout[1] / width, x.shape()));
  if (c.dout[2].defined()) {
    const Tensor wide = to_dtype(x, stats_dtype(x.dtype())), &r = c.out[2];
    add_dx((c.out[1] - wide) * (c.dout[2] * (r * r * r) / width));
  }
  return d;
}

// Differentiates L = <a, dx> + <b, dgamma> + <c, dbeta>. P is self-adjoint, so with A2 = mean(a·xh), S2 = mean(g·xh) per row:
//   dL/dg     = r·P(a)                                   dL/ddy = gamma·dL/dg + b·xh + c
//   dL/dgamma = sum over rows (dy·dL/dg)
//   dL/dxh    = -r·(a·S2 + A2·g) + b·dy =: h
//   dL/dx     = r·P(h) - r·xh·mean(a·r·P(g))
// r·P(u) is layer_norm_grad with gamma = 1; statistics are recomputed from x with ops that carry gradients.
std::vector<Tensor> vjp_layer_grad(const VjpContext& ctx) {
  const Tensor &dy_in = ctx.in[0], &x_in = ctx.in[1], &gamma_in = ctx.in[2];
  const auto& attrs = ctx.attrs.as<LayerNormAttrs>();
  const int rank = x_in.rank(), axis = normalize_axis(attrs.begin_norm_axis, rank, "layer_norm_grad");
  Axes within, rows;
  for (int i = 0; i < rank; ++i) (i < axis ? rows : within).push_back(i);
  const DType wide = stats_dtype(x_in.dtype());
  const auto cotangent = [&](size_t i) { return ctx.dout[i].defined() ? to_dtype(ctx.dout[i], wide) : zeros_like(to_dtype(i == 0 ? x_in : gamma_in, wide)); };
  const auto over_rows = [&](const Tensor& t) { return rows.empty() ? t : sum(t, rows); };

  const Tensor dy = to_dtype(dy_in, wide), x = to_dtype(x_in, wide), gamma = to_dtype(gamma_in, wide);
  const Tensor a = cotangent(0), b = cotangent(1), c = cotangent(2), g = dy * gamma;
  const Tensor centred = x - ops::mean(x, within, true);
  const Tensor r = rsqrt(ops::mean(square(centred), within, true) + attrs.eps);
  const Tensor xh = centred * r;
  const auto r_p = [&](const Tensor& u) { return layer_norm_grad(u, x, ones_like(gamma), ctx.in[3], ctx.in[4], ctx.attrs)[0]; };

  const Tensor dg = r_p(a);
  std::vector<Tensor> d(5);
  if (ctx.needs[0]) d[0] = to_dtype(gamma * dg + b * xh + c, dy_in.dtype());
  if (ctx.needs[1]) {
    const Tensor s2 = ops::mean(g * xh, within, true), a2 = ops::mean(a * xh, within, true);
    const Tensor h = b * dy - r * (a * s2 + a2 * g);
    d[1] = to_dtype(r_p(h) - r * xh * ops::mean(a * r_p(g), within, true), x_in.dtype());
  }
  if (ctx.needs[2]) d[2] = to_dtype(over_rows(dy * dg), gamma_in.dtype());
  return d;
}

// gamma multiplies the normalised x, in the type in which the rule computes it; beta multiplies nothing.
Tensor param_input(const Attrs& attrs, Span<const Tensor> in, size_t operand) {
  if (operand != 1) return {};
  const auto& a = attrs.as<LayerNormAttrs>();
  const Tensor x = to_dtype(in[0], stats_dtype(in[0].dtype()));
  return layer_norm(x, full(in[1].shape(), 1, x.dtype()), full(in[2].shape(), 0, x.dtype()), a.begin_norm_axis, a.eps);
}

const OpDef& kForward = register_op({
    .name = "layer_norm",
    .doc = "x, gamma and beta of x's dimensions from begin_norm_axis on -> y as x, mean and rsqrt(var + eps) per row. y = (x - mean)·rsqrt(var + eps)·gamma + "
           "beta.",
    .attrs = attrs_type<LayerNormAttrs>(),
    .traits = {.amp = AmpClass::kFp32, .saves_in = saves(0, 1), .saves_out = saves(1, 2)},
    .infer = infer_forward,
    .vjp = vjp_forward,
    .param_input = param_input,
});

const OpDef& kLayerGrad = register_op({
    .name = "layer_norm_grad",
    .doc = "dy, x, gamma, and the mean and rsqrt(var + eps) of x's rows -> dx, dgamma, dbeta of layer_norm. The gradient with respect to x goes through the "
           "statistics, which receive no gradient.",
    .attrs = attrs_type<LayerNormAttrs>(),
    .traits = {.amp = AmpClass::kFp32},
    .infer = infer_layer_grad,
    .vjp = vjp_layer_grad,
});

std::vector<Tensor> layer_norm_grad(const Tensor& dy, const Tensor& x, const Tensor& gamma, const Tensor& mean, const Tensor& inv_std, const Attrs& attrs) {
  return bind(kLayerGrad, attrs, {dy, x, gamma, mean, inv_std});
}

}  // namespace

Tensor layer_norm(const Tensor& x, const Tensor& gamma, const Tensor& beta, int64_t begin_norm_axis, double eps) {
  return bind_one(kForward, recent_attrs(LayerNormAttrs{begin_norm_axis, eps}), {&x, &gamma, &beta});
}

}  // namespace sindri::ops
