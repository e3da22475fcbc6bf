// gather (rows selected by index) and scatter_add: each other's gradients.
#include <fmt/format.h>

#include "ops/shape/shape_ops.h"
#include "sindri/core/error.h"
#include "sindri/op/bind.h"
#include "sindri/ops/shape.h"
#include "src/op/quick_call.h"

namespace sindri {
namespace {

using namespace shape_ops;

std::vector<Tensor> gather_vjp(const VjpContext& c) {
  if (!c.needs[0]) return {Tensor{}, Tensor{}};
  return {ops::scatter_add(ops::full(c.in[0].shape(), 0, c.in[0].dtype()), c.in[1], c.dout[0], c.attrs.as<AxisAttrs>().axis), Tensor{}};
}

const OpDef& kGather = register_op({
    .name = "gather",
    .doc = "Rows of x along `axis` picked by int32 or int64 indices of any shape (NumPy take); negative indices count from the end. "
           "Throws ValueError for an index out of range.",
    .attrs = attrs_type<AxisAttrs>(),
    .traits = {.layout = LayoutRule::kContiguousOnly, .saves_in = saves(1)},
    .infer = [](const Attrs& attrs, Span<const TensorMeta> in) -> std::vector<TensorMeta> {
      check_arity("gather", in, 2);
      check_indices("gather", in[1]);
      const int axis = normalize_axis(attrs.as<AxisAttrs>().axis, in[0].shape.rank(), "gather");
      const Shape out = gather_shape("gather", in[0].shape, in[1].shape, axis);
      check_shape("gather", out, in[0].dtype);
      return {{out, in[0].dtype, Layout::kContiguous, in[0].device}};
    },
    .vjp = gather_vjp,
});

std::vector<TensorMeta> infer_scatter_add(const Attrs& attrs, Span<const TensorMeta> in) {
  check_arity("scatter_add", in, 3);
  check_indices("scatter_add", in[1]);
  const int axis = normalize_axis(attrs.as<AxisAttrs>().axis, in[0].shape.rank(), "scatter_add");
  const Shape expected = gather_shape("scatter_add", in[0].shape, in[1].shape, axis);
  if (in[2].shape != expected)
    throw ShapeError(fmt::format("scatter_add: expected updates of shape {} for x {}, indices {} and axis {}, got {}", expected.str(), in[0].str(), in[1].str(),
                                 axis, in[2].str()));
  if (in[2].dtype != in[0].dtype || in[0].dtype == DType::kBool)
    throw DTypeError(fmt::format("scatter_add: x {} and updates {} must have one type that can be added", in[0].str(), in[2].str()), "",
                     "convert with ops::cast");
  return {{in[0].shape, in[0].dtype, Layout::kContiguous, in[0].device}};
}

const OpDef& kScatterAdd = register_op({
    .name = "scatter_add",
    .doc = "x with updates[i] added to row indices[i] of dimension `axis`, in index order. Throws ValueError for an index out of range.",
    .attrs = attrs_type<AxisAttrs>(),
    .traits = {.layout = LayoutRule::kContiguousOnly, .saves_in = saves(1), .inplace_input = 0},
    .infer = infer_scatter_add,
    .vjp = [](const VjpContext& c) -> std::vector<Tensor> {
      return {c.dout[0], Tensor{}, c.needs[2] ? ops::gather(c.dout[0], c.in[1], c.attrs.as<AxisAttrs>().axis) : Tensor{}};
    },
});

}  // namespace

Tensor ops::gather(const Tensor& x, const Tensor& indices, int64_t axis) { return bind_one(kGather, recent_attrs(AxisAttrs{axis}), {&x, &indices}); }
Tensor ops::scatter_add(const Tensor& x, const Tensor& indices, const Tensor& updates, int64_t axis) {
  return bind_one(kScatterAdd, recent_attrs(AxisAttrs{axis}), {&x, &indices, &updates});
}

}  // namespace sindri
