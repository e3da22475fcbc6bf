// pad in four modes, and the gradient of the three that repeat elements.
#include <fmt/format.h>

#include "ops/shape/shape_ops.h"
#include "sindri/core/error.h"
#include "sindri/op/bind.h"
#include "sindri/ops/shape.h"

namespace sindri {
namespace {

using namespace shape_ops;

Tensor pad_grad(const Tensor& dy, const Shape& shape, const PadAttrs& a);

const OpDef& kPad = register_op({
    .name = "pad",
    .doc = "x with pads[2d] elements before and pads[2d + 1] after dimension d. mode constant (value), reflect (without the border "
           "element), symmetric (with it) or edge, as numpy.pad.",
    .attrs = attrs_type<PadAttrs>(),
    .traits = {.layout = LayoutRule::kFollowInput0, .saves_in = kSavesNone},
    .infer = [](const Attrs& attrs, Span<const TensorMeta> in) -> std::vector<TensorMeta> {
      check_arity("pad", in, 1);
      const auto& a = attrs.as<PadAttrs>();
      TensorMeta out = in[0];
      out.shape = resolve_pad("pad", in[0].shape, a.pads, a.mode).out;
      check_shape("pad", out.shape, out.dtype);
      check_value("pad", a.value, out.dtype);
      return {out};
    },
    .vjp = [](const VjpContext& c) -> std::vector<Tensor> { return {pad_grad(c.dout[0], c.in[0].shape(), c.attrs.as<PadAttrs>())}; },
});

const OpDef& kPadGrad = register_op({
    .name = "pad_grad",
    .doc = "Gradient of pad in the modes reflect, symmetric and edge: every element of dy added to the element of x it was copied from.",
    .attrs = attrs_type<PadGradAttrs>(),
    .traits = {.layout = LayoutRule::kFollowInput0, .saves_in = kSavesNone},
    .infer = [](const Attrs& attrs, Span<const TensorMeta> in) -> std::vector<TensorMeta> {
      check_arity("pad_grad", in, 1);
      check_floating("pad_grad", in[0], "dy");
      const auto& a = attrs.as<PadGradAttrs>();
      check_shape("pad_grad", a.shape, in[0].dtype);
      const Shape expected = resolve_pad("pad_grad", a.shape, a.pads, a.mode).out;
      if (in[0].shape != expected) throw ShapeError(fmt::format("pad_grad: expected dy of shape {}, got {}", expected.str(), in[0].str()));
      TensorMeta out = in[0];
      out.shape = a.shape;
      return {out};
    },
    .vjp = [](const VjpContext& c) -> std::vector<Tensor> {
      const auto& a = c.attrs.as<PadGradAttrs>();
      return {ops::pad(c.dout[0], a.pads, 0, a.mode)};
    },
});

Tensor pad_grad(const Tensor& dy, const Shape& shape, const PadAttrs& a) {
  const PadSpec spec = resolve_pad("pad", shape, a.pads, a.mode);
  if (spec.mode != PadMode::kConstant) return bind_one(kPadGrad, Attrs::of(PadGradAttrs{shape, a.pads, a.mode}), {dy});
  std::vector<int64_t> end = spec.before.vec();
  for (int d = 0; d < shape.rank(); ++d) end[static_cast<size_t>(d)] += shape[d];
  return ops::slice(dy, spec.before.vec(), end);
}

}  // namespace

Tensor ops::pad(const Tensor& x, const std::vector<int64_t>& pads, double value, const std::string& mode) {
  return bind_one(kPad, Attrs::of(PadAttrs{pads, value, mode}), {x});
}

}  // namespace sindri
