// Average pooling with fixed windows, adaptive windows, and over the whole image. All are linear, so each gradient op's gradient is the forward op.
#include <fmt/format.h>

#include "ops/pool/pool_common.h"
#include "sindri/core/error.h"
#include "sindri/op/bind.h"
#include "sindri/ops/elementwise.h"
#include "sindri/ops/reduce.h"
#include "src/op/quick_call.h"

namespace sindri::ops {
namespace {

std::vector<TensorMeta> infer_avg(const Attrs& attrs, Span<const TensorMeta> in) {
  check_arity("avg_pool2d", in, 1);
  return {infer_pooled("avg_pool2d", attrs.as<Pool2dAttrs>(), in[0])};
}

std::vector<TensorMeta> infer_avg_grad(const Attrs& attrs, Span<const TensorMeta> in) {
  check_arity("avg_pool2d_grad", in, 1);
  return {infer_unpooled("avg_pool2d_grad", attrs.as<Pool2dGradAttrs>(), in[0])};
}

TensorMeta resized(const char* op, const TensorMeta& x, int64_t h, int64_t w) {
  check_floating(op, x, "its input");
  check_rank(op, x, "its input", 4);
  if (x.shape[2] < 1 || x.shape[3] < 1) throw ShapeError(fmt::format("{}: height and width must be at least 1, got {}", op, x.str()));
  if (h < 1 || w < 1) throw ValueError(fmt::format("{}: cannot give a height of {} and a width of {}: both must be at least 1", op, h, w));
  TensorMeta y = x;
  y.shape[2] = h;
  y.shape[3] = w;
  return y;
}

std::vector<TensorMeta> infer_adaptive(const Attrs& attrs, Span<const TensorMeta> in) {
  check_arity("adaptive_avg_pool2d", in, 1);
  const auto& a = attrs.as<AdaptivePool2dAttrs>();
  return {resized("adaptive_avg_pool2d", in[0], a.oh, a.ow)};
}

std::vector<TensorMeta> infer_adaptive_grad(const Attrs& attrs, Span<const TensorMeta> in) {
  const char* op = "adaptive_avg_pool2d_grad";
  if (in.size() != 2 && in.size() != 3) check_arity(op, in, 1);
  const auto& a = attrs.as<AdaptivePool2dGradAttrs>();
  const TensorMeta dx = resized(op, in[0], a.h, a.w);
  if (in.size() > 1 && (in[1].shape != dx.shape || in[1].dtype != dx.dtype))
    throw ShapeError(fmt::format("{}: addend must be {}, got {}", op, dx.str(), in[1].str()));
  if (in.size() > 2 && (in[2].shape != Shape{dx.shape[0], dx.shape[1], 1, 1} || in[2].shape != in[0].shape || in[2].dtype != dx.dtype))
    throw ShapeError(fmt::format("{}: scale {} must be like dy {}, both [N, C, 1, 1]", op, in[2].str(), in[0].str()));
  return {dx};
}

Tensor avg_grad(const Tensor& dy, const Pool2dAttrs& a, const Shape& x);
Tensor adaptive_grad(const Tensor& dy, const Shape& x);

constexpr OpTraits kLinear = {.layout = LayoutRule::kFollowInput0, .saves_in = kSavesNone};

const OpDef& kAvg = register_op({
    .name = "avg_pool2d",
    .doc = "x [N, C, H, W] -> mean of each window [N, C, OH, OW]; padding counts in the divisor only with count_include_pad.",
    .attrs = attrs_type<Pool2dAttrs>(),
    .traits = kLinear,
    .infer = infer_avg,
    .vjp = [](const VjpContext& c) -> std::vector<Tensor> { return {avg_grad(c.dout[0], c.attrs.as<Pool2dAttrs>(), c.in[0].shape())}; },
});

const OpDef& kAvgGrad = register_op({
    .name = "avg_pool2d_grad",
    .doc = "dy [N, C, OH, OW] of avg_pool2d -> dx [N, C, H, W].",
    .attrs = attrs_type<Pool2dGradAttrs>(),
    .traits = kLinear,
    .infer = infer_avg_grad,
    .vjp = [](const VjpContext& c) -> std::vector<Tensor> { return {avg_pool2d(c.dout[0], c.attrs.as<Pool2dGradAttrs>().forward())}; },
});

const OpDef& kAdaptive = register_op({
    .name = "adaptive_avg_pool2d",
    .doc = "x [N, C, H, W] -> [N, C, oh, ow], mean over the windows [floor(i·H/oh), ceil((i+1)·H/oh)).",
    .attrs = attrs_type<AdaptivePool2dAttrs>(),
    .traits = kLinear,
    .infer = infer_adaptive,
    .vjp = [](const VjpContext& c) -> std::vector<Tensor> { return {adaptive_grad(c.dout[0], c.in[0].shape())}; },
});

const OpDef& kAdaptiveGrad = register_op({
    .name = "adaptive_avg_pool2d_grad",
    .doc = "dy [N, C, oh, ow] of adaptive_avg_pool2d -> dx [N, C, H, W]. With an addend as dx, and optionally a scale [N, C, 1, 1] for a dy of that shape, "
           "both added by the graph compiler: addend·scale + dx, each step rounded to their type.",
    .attrs = attrs_type<AdaptivePool2dGradAttrs>(),
    .traits = {.layout = LayoutRule::kFollowInput0,
               .saves_in = saves(1, 2),
               .may_overwrite = [](const Attrs&, size_t, size_t out, size_t in) { return out == 0 && in == 1; }},
    .infer = infer_adaptive_grad,
    .vjp = [](const VjpContext& c) -> std::vector<Tensor> {
      std::vector<Tensor> d = {adaptive_avg_pool2d(c.dout[0], c.in[0].shape()[2], c.in[0].shape()[3])};
      if (c.in.size() > 1) d.push_back(c.in.size() > 2 ? c.dout[0] * c.in[2] : c.dout[0]);
      if (c.in.size() > 2) d.push_back(sum(c.dout[0] * c.in[1], {2, 3}, true));
      return d;
    },
});

Tensor avg_grad(const Tensor& dy, const Pool2dAttrs& a, const Shape& x) { return bind_one(kAvgGrad, recent_attrs(with_input_size(a, x)), {&dy}); }
Tensor adaptive_grad(const Tensor& dy, const Shape& x) { return bind_one(kAdaptiveGrad, Attrs::of(AdaptivePool2dGradAttrs{x[2], x[3]}), {dy}); }

}  // namespace

Tensor avg_pool2d(const Tensor& x, const Pool2dAttrs& attrs) { return bind_one(kAvg, recent_attrs(attrs), {&x}); }
Tensor adaptive_avg_pool2d(const Tensor& x, int64_t oh, int64_t ow) { return bind_one(kAdaptive, Attrs::of(AdaptivePool2dAttrs{oh, ow}), {x}); }
Tensor global_avg_pool2d(const Tensor& x) { return adaptive_avg_pool2d(x, 1, 1); }

}  // namespace sindri::ops
