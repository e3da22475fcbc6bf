// slice and its gradient, which writes the slice into zeros.
#include <fmt/format.h>

#include "ops/shape/shape_ops.h"
#include "sindri/core/error.h"
#include "sindri/op/bind.h"
#include "sindri/ops/shape.h"
#include "src/op/quick_call.h"

namespace sindri {
namespace {

using namespace shape_ops;

Tensor slice_grad(const Tensor& dy, const Shape& shape, const SliceAttrs& a);

const OpDef& kSlice = register_op({
    .name = "slice",
    .doc = "NumPy slicing x[begin:end:stride] per dimension; negative begin and end count from the end, strides may be negative.",
    .attrs = attrs_type<SliceAttrs>(),
    .traits = {.layout = LayoutRule::kFollowInput0, .saves_in = kSavesNone},
    .infer = [](const Attrs& attrs, Span<const TensorMeta> in) -> std::vector<TensorMeta> {
      check_arity("slice", in, 1);
      const auto& a = attrs.as<SliceAttrs>();
      TensorMeta out = in[0];
      out.shape = resolve_slice("slice", in[0].shape, a.begin, a.end, a.stride).count;
      return {out};
    },
    .vjp = [](const VjpContext& c) -> std::vector<Tensor> { return {slice_grad(c.dout[0], c.in[0].shape(), c.attrs.as<SliceAttrs>())}; },
});

const OpDef& kSliceGrad = register_op({
    .name = "slice_grad",
    .doc = "Zeros of `shape` with dy at x[begin:end:stride]: the gradient of slice.",
    .attrs = attrs_type<SliceGradAttrs>(),
    .traits = {.layout = LayoutRule::kFollowInput0, .saves_in = kSavesNone},
    .infer = [](const Attrs& attrs, Span<const TensorMeta> in) -> std::vector<TensorMeta> {
      check_arity("slice_grad", in, 1);
      const auto& a = attrs.as<SliceGradAttrs>();
      check_shape("slice_grad", a.shape, in[0].dtype);
      const Shape expected = resolve_slice("slice_grad", a.shape, a.begin, a.end, a.stride).count;
      if (in[0].shape != expected) throw ShapeError(fmt::format("slice_grad: expected dy of shape {}, got {}", expected.str(), in[0].str()));
      TensorMeta out = in[0];
      out.shape = a.shape;
      return {out};
    },
    .vjp = [](const VjpContext& c) -> std::vector<Tensor> {
      const auto& a = c.attrs.as<SliceGradAttrs>();
      return {ops::slice(c.dout[0], a.begin, a.end, a.stride)};
    },
});

Tensor slice_grad(const Tensor& dy, const Shape& shape, const SliceAttrs& a) {
  return bind_one(kSliceGrad, Attrs::of(SliceGradAttrs{shape, a.begin, a.end, a.stride}), {dy});
}

}  // namespace

Tensor ops::slice(const Tensor& x, const std::vector<int64_t>& begin, const std::vector<int64_t>& end, const std::vector<int64_t>& stride) {
  return bind_one(kSlice, recent_attrs(SliceAttrs{begin, end, stride}), {&x});
}

}  // namespace sindri
