// Maximum pooling. The forward op stores the position of each maximum in its window (one byte each for windows of up to 256
// elements), so the gradient reads neither x nor y. Scattering dy to those positions (max_pool2d_grad) and gathering values
// from them (max_pool2d_take) are each other's transposes, hence each other's gradients.
#include <fmt/format.h>

#include "ops/pool/pool_common.h"
#include "sindri/core/error.h"
#include "sindri/op/bind.h"
#include "src/op/quick_call.h"

namespace sindri::ops {
namespace {

std::vector<TensorMeta> infer_forward(const Attrs& attrs, Span<const TensorMeta> in) {
  check_arity("max_pool2d", in, 1);
  const auto& a = attrs.as<Pool2dAttrs>();
  TensorMeta y = infer_pooled("max_pool2d", a, in[0]), argmax = y;
  argmax.dtype = argmax_dtype(a);
  return {y, argmax};
}

void check_argmax(const char* op, const Pool2dAttrs& a, const Shape& pooled, const TensorMeta& argmax) {
  if (argmax.shape != pooled || argmax.dtype != argmax_dtype(a))
    throw ShapeError(fmt::format("{}: argmax must be {} {}, got {}", op, dtype_name(argmax_dtype(a)), pooled.str(), argmax.str()));
}

std::vector<TensorMeta> infer_grad(const Attrs& attrs, Span<const TensorMeta> in) {
  if (in.size() != 3) check_arity("max_pool2d_grad", in, 2);
  if (in.size() == 3 && (in[2].shape != in[0].shape || in[2].dtype != in[0].dtype))
    throw ShapeError(fmt::format("max_pool2d_grad: dy2 {} must be like dy {}", in[2].str(), in[0].str()));
  const auto& a = attrs.as<Pool2dGradAttrs>();
  const TensorMeta dx = infer_unpooled("max_pool2d_grad", a, in[0]);
  check_argmax("max_pool2d_grad", a.forward(), in[0].shape, in[1]);
  return {dx};
}

std::vector<TensorMeta> infer_take(const Attrs& attrs, Span<const TensorMeta> in) {
  check_arity("max_pool2d_take", in, 2);
  const auto& a = attrs.as<Pool2dAttrs>();
  const TensorMeta y = infer_pooled("max_pool2d_take", a, in[0]);
  check_argmax("max_pool2d_take", a, y.shape, in[1]);
  return {y};
}

Tensor scatter(const Tensor& dy, const Tensor& argmax, const Pool2dAttrs& a, const Shape& x);
Tensor take(const Tensor& x, const Tensor& argmax, const Pool2dAttrs& a);

const OpDef& kForward = register_op({
    .name = "max_pool2d",
    .doc = "x [N, C, H, W] -> maximum of each window [N, C, OH, OW] and its place in the window. Padding is -inf; NaN wins; the first of equal values counts.",
    .attrs = attrs_type<Pool2dAttrs>(),
    .traits = {.layout = LayoutRule::kFollowInput0, .saves_in = kSavesNone, .saves_out = saves(1)},
    .infer = infer_forward,
    .vjp = [](const VjpContext& c) -> std::vector<Tensor> {
      if (!c.dout[0].defined()) return {Tensor()};
      return {scatter(c.dout[0], c.out[1], c.attrs.as<Pool2dAttrs>(), c.in[0].shape())};
    },
});

const OpDef& kGrad = register_op({
    .name = "max_pool2d_grad",
    .doc = "dy and argmax [N, C, OH, OW] of max_pool2d -> dx [N, C, H, W]: each dy added where its maximum came from. With a third input dy2 as dy, added by "
           "the graph compiler, dy + dy2 rounded to their type in place of dy.",
    .attrs = attrs_type<Pool2dGradAttrs>(),
    .traits = {.layout = LayoutRule::kFollowInput0, .saves_in = saves(1), .layout_lead = 1},  // dx has the layout of x
    .infer = infer_grad,
    .vjp = [](const VjpContext& c) -> std::vector<Tensor> {
      const Tensor d = take(c.dout[0], c.in[1], c.attrs.as<Pool2dGradAttrs>().forward());
      return c.in.size() > 2 ? std::vector<Tensor>{d, Tensor(), d} : std::vector<Tensor>{d, Tensor()};
    },
});

const OpDef& kTake = register_op({
    .name = "max_pool2d_take",
    .doc = "x [N, C, H, W] and the argmax of a max_pool2d of that size -> x at those places [N, C, OH, OW].",
    .attrs = attrs_type<Pool2dAttrs>(),
    .traits = {.layout = LayoutRule::kFollowInput0, .saves_in = saves(1)},
    .infer = infer_take,
    .vjp = [](const VjpContext& c) -> std::vector<Tensor> {
      return {scatter(c.dout[0], c.in[1], c.attrs.as<Pool2dAttrs>(), c.in[0].shape()), Tensor()};
    },
});

Tensor scatter(const Tensor& dy, const Tensor& argmax, const Pool2dAttrs& a, const Shape& x) {
  return bind_one(kGrad, recent_attrs(with_input_size(a, x)), {&dy, &argmax});
}
Tensor take(const Tensor& x, const Tensor& argmax, const Pool2dAttrs& a) { return bind_one(kTake, recent_attrs(a), {&x, &argmax}); }

}  // namespace

Tensor max_pool2d(const Tensor& x, const Pool2dAttrs& attrs) { return bind_one(kForward, recent_attrs(attrs), {&x}); }

}  // namespace sindri::ops
