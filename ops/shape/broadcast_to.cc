// broadcast_to and sum_to: each other's gradients.
#include <fmt/format.h>

#include "ops/shape/shape_ops.h"
#include "sindri/core/error.h"
#include "sindri/op/bind.h"
#include "sindri/ops/shape.h"
#include "src/op/quick_call.h"

namespace sindri {
namespace {

using namespace shape_ops;

void check_broadcasts(const char* op, const Shape& small, const Shape& large) {
  if (small.rank() > large.rank() || broadcast_shapes(small, large, op) != large)
    throw ShapeError(fmt::format("{}: shape {} does not broadcast to {}", op, small.str(), large.str()));
}

const OpDef& kBroadcastTo = register_op({
    .name = "broadcast_to",
    .doc = "x repeated along dimensions of size 1 (or missing at the front) up to `shape`, by NumPy's rule.",
    .attrs = attrs_type<ShapeAttrs>(),
    .traits = {.layout = LayoutRule::kFollowInput0, .saves_in = kSavesNone, .rearranges = true},
    .infer = [](const Attrs& attrs, Span<const TensorMeta> in) -> std::vector<TensorMeta> {
      check_arity("broadcast_to", in, 1);
      const Shape& shape = attrs.as<ShapeAttrs>().shape;
      check_shape("broadcast_to", shape, in[0].dtype);
      check_broadcasts("broadcast_to", in[0].shape, shape);
      return {{shape, in[0].dtype, Layout::kContiguous, in[0].device}};
    },
    .vjp = [](const VjpContext& c) -> std::vector<Tensor> { return {ops::sum_to(c.dout[0], c.in[0].shape())}; },
});

const OpDef& kSumTo = register_op({
    .name = "sum_to",
    .doc = "Inverse of broadcasting: sums over the dimensions that broadcasting `shape` to x's shape repeats. Keeps the element type; bool is refused.",
    .attrs = attrs_type<ShapeAttrs>(),
    .traits = {.layout = LayoutRule::kFollowInput0, .saves_in = kSavesNone},
    .infer = [](const Attrs& attrs, Span<const TensorMeta> in) -> std::vector<TensorMeta> {
      check_arity("sum_to", in, 1);
      const Shape& shape = attrs.as<ShapeAttrs>().shape;
      if (in[0].dtype == DType::kBool) throw DTypeError("sum_to: bool cannot be summed", "", "convert it with ops::cast");
      check_shape("sum_to", shape, in[0].dtype);
      check_broadcasts("sum_to", shape, in[0].shape);
      return {{shape, in[0].dtype, Layout::kContiguous, in[0].device}};
    },
    .vjp = [](const VjpContext& c) -> std::vector<Tensor> { return {ops::broadcast_to(c.dout[0], c.in[0].shape())}; },
});

}  // namespace

Tensor ops::broadcast_to(const Tensor& x, const Shape& shape) { return x.shape() == shape ? x : bind_one(kBroadcastTo, recent_attrs(ShapeAttrs{shape}), {&x}); }
Tensor ops::sum_to(const Tensor& x, const Shape& shape) { return x.shape() == shape ? x : bind_one(kSumTo, recent_attrs(ShapeAttrs{shape}), {&x}); }

}  // namespace sindri
