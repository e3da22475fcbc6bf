// softmax and log_softmax along one axis, and their gradients from the output alone.
#include <fmt/format.h>

#include "ops/loss/loss_common.h"
#include "sindri/core/error.h"
#include "sindri/op/bind.h"
#include "sindri/ops/elementwise.h"
#include "sindri/ops/loss.h"
#include "sindri/ops/reduce.h"
#include "src/op/quick_call.h"

namespace sindri::ops {

AxisView axis_view(const Shape& shape, int64_t axis, const char* op) {
  AxisView v;
  if (shape.rank() == 0) return v;
  const int a = normalize_axis(axis, shape.rank(), op);
  for (int i = 0; i < shape.rank(); ++i) (i < a ? v.outer : i == a ? v.width : v.inner) *= shape[i];
  return v;
}

namespace {

std::vector<TensorMeta> infer_forward(const char* op, const Attrs& attrs, Span<const TensorMeta> in) {
  check_arity(op, in, 1);
  check_floating(op, in[0], "x");
  normalize_axis(attrs.as<SoftmaxAttrs>().axis, in[0].shape.rank(), op);
  return {in[0]};
}

std::vector<TensorMeta> infer_grad(const char* op, const Attrs& attrs, Span<const TensorMeta> in) {
  check_arity(op, in, 2);
  check_floating(op, in[0], "dy");
  if (in[0].shape != in[1].shape || in[0].dtype != in[1].dtype)
    throw ShapeError(fmt::format("{}: dy {} and y {} must have one shape and type", op, in[0].str(), in[1].str()));
  normalize_axis(attrs.as<SoftmaxAttrs>().axis, in[0].shape.rank(), op);
  return {in[0]};
}

Tensor bind_softmax(const OpDef& op, int64_t axis, std::initializer_list<Tensor> in) { return bind_one(op, Attrs::of(SoftmaxAttrs{axis}), in); }
Tensor sum_axis(const Tensor& t, const Attrs& attrs) { return t.rank() == 0 ? t : sum(t, {attrs.as<SoftmaxAttrs>().axis}, true); }

// dx = y·(dy - sum(dy·y)). Its derivative with cotangent a: with respect to dy, y·(a - sum(a·y)); to y, a·(dy - sum(dy·y)) - dy·sum(a·y).
const OpDef& kSoftmaxGrad = register_op({
    .name = "softmax_grad",
    .doc = "dy, y of softmax -> dx = y·(dy - sum(dy·y)) along axis.",
    .attrs = attrs_type<SoftmaxAttrs>(),
    .traits = {.amp = AmpClass::kFp32},
    .infer = [](const Attrs& a, Span<const TensorMeta> in) { return infer_grad("softmax_grad", a, in); },
    .vjp = [](const VjpContext& c) -> std::vector<Tensor> {
      const Tensor &a = c.dout[0], &dy = c.in[0], &y = c.in[1];
      std::vector<Tensor> d(2);
      if (c.needs[0]) d[0] = bind_one(find_op("softmax_grad"), c.attrs, {a, y});
      if (c.needs[1]) d[1] = a * (dy - sum_axis(dy * y, c.attrs)) - dy * sum_axis(a * y, c.attrs);
      return d;
    },
});

const OpDef& kSoftmax = register_op({
    .name = "softmax",
    .doc = "exp(x - max) / sum(exp(x - max)) along axis.",
    .attrs = attrs_type<SoftmaxAttrs>(),
    .traits = {.amp = AmpClass::kFp32, .saves_in = kSavesNone, .saves_out = saves(0), .inplace_input = 0},
    .infer = [](const Attrs& a, Span<const TensorMeta> in) { return infer_forward("softmax", a, in); },
    .vjp = [](const VjpContext& c) -> std::vector<Tensor> {
      return {bind_one(kSoftmaxGrad, c.attrs, {&c.dout[0], &c.out[0]})};
    },
});

// dx = dy - exp(y)·sum(dy). Its derivative with cotangent a: with respect to dy, a - sum(a·exp(y)); to y, -a·exp(y)·sum(dy).
const OpDef& kLogSoftmaxGrad = register_op({
    .name = "log_softmax_grad",
    .doc = "dy, y of log_softmax -> dx = dy - exp(y)·sum(dy) along axis.",
    .attrs = attrs_type<SoftmaxAttrs>(),
    .traits = {.amp = AmpClass::kFp32},
    .infer = [](const Attrs& a, Span<const TensorMeta> in) { return infer_grad("log_softmax_grad", a, in); },
    .vjp = [](const VjpContext& c) -> std::vector<Tensor> {
      const Tensor &a = c.dout[0], &dy = c.in[0], p = exp(c.in[1]);
      std::vector<Tensor> d(2);
      if (c.needs[0]) d[0] = a - sum_axis(a * p, c.attrs);
      if (c.needs[1]) d[1] = neg(a * p * sum_axis(dy, c.attrs));
      return d;
    },
});

const OpDef& kLogSoftmax = register_op({
    .name = "log_softmax",
    .doc = "x - max - log(sum(exp(x - max))) along axis.",
    .attrs = attrs_type<SoftmaxAttrs>(),
    .traits = {.amp = AmpClass::kFp32, .saves_in = kSavesNone, .saves_out = saves(0), .inplace_input = 0},
    .infer = [](const Attrs& a, Span<const TensorMeta> in) { return infer_forward("log_softmax", a, in); },
    .vjp = [](const VjpContext& c) -> std::vector<Tensor> {
      return {bind_one(kLogSoftmaxGrad, c.attrs, {&c.dout[0], &c.out[0]})};
    },
});

}  // namespace

Tensor softmax(const Tensor& x, int64_t axis) { return bind_softmax(kSoftmax, axis, {x}); }
Tensor log_softmax(const Tensor& x, int64_t axis) { return bind_softmax(kLogSoftmax, axis, {x}); }

}  // namespace sindri::ops
