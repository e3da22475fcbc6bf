// gather_elements (one element per position along an axis) and its gradient.
#include <fmt/format.h>

#include "ops/shape/shape_ops.h"
#include "sindri/core/error.h"
#include "sindri/op/bind.h"
#include "sindri/ops/shape.h"
#include "src/op/quick_call.h"

namespace sindri {
namespace {

using namespace shape_ops;

Tensor gather_elements_grad(const Tensor& dy, const Tensor& indices, const Shape& shape, int64_t axis);

// Checks indices against the tensor they index and returns the axis.
int check_elements(const char* op, const Shape& x, const TensorMeta& indices, int64_t axis_attr) {
  check_indices(op, indices);
  if (x.rank() == 0) throw ShapeError(fmt::format("{}: the input must have at least one dimension, got a scalar", op));
  if (indices.shape.rank() != x.rank())
    throw ShapeError(fmt::format("{}: indices {} must have as many dimensions as the input {}", op, indices.str(), x.str()));
  const int axis = normalize_axis(axis_attr, x.rank(), op);
  for (int d = 0; d < x.rank(); ++d) {
    if (d != axis && indices.shape[d] > x[d])
      throw ShapeError(fmt::format("{}: dimension {} of indices {} is larger than that of the input {}", op, d, indices.str(), x.str()), "",
                       fmt::format("only dimension {} may be", axis));
  }
  return axis;
}

const OpDef& kGatherElements = register_op({
    .name = "gather_elements",
    .doc = "y[i][j][k] = x[i][indices[i][j][k]][k] for axis 1 (torch.gather); indices have x's rank, negative ones count from the end. "
           "Throws ValueError for an index out of range.",
    .attrs = attrs_type<AxisAttrs>(),
    .traits = {.layout = LayoutRule::kContiguousOnly, .saves_in = saves(1)},
    .infer = [](const Attrs& attrs, Span<const TensorMeta> in) -> std::vector<TensorMeta> {
      check_arity("gather_elements", in, 2);
      check_elements("gather_elements", in[0].shape, in[1], attrs.as<AxisAttrs>().axis);
      check_shape("gather_elements", in[1].shape, in[0].dtype);
      return {{in[1].shape, in[0].dtype, Layout::kContiguous, in[0].device}};
    },
    .vjp = [](const VjpContext& c) -> std::vector<Tensor> {
      return {c.needs[0] ? gather_elements_grad(c.dout[0], c.in[1], c.in[0].shape(), c.attrs.as<AxisAttrs>().axis) : Tensor{}, Tensor{}};
    },
});

const OpDef& kGatherElementsGrad = register_op({
    .name = "gather_elements_grad",
    .doc = "Gradient of gather_elements: zeros of `shape` with every element of dy added at the position it was read from, in row-major order.",
    .attrs = attrs_type<GatherElementsGradAttrs>(),
    .traits = {.layout = LayoutRule::kContiguousOnly, .saves_in = saves(1)},
    .infer = [](const Attrs& attrs, Span<const TensorMeta> in) -> std::vector<TensorMeta> {
      check_arity("gather_elements_grad", in, 2);
      check_floating("gather_elements_grad", in[0], "dy");
      const auto& a = attrs.as<GatherElementsGradAttrs>();
      check_shape("gather_elements_grad", a.shape, in[0].dtype);
      check_elements("gather_elements_grad", a.shape, in[1], a.axis);
      if (in[0].shape != in[1].shape) throw ShapeError(fmt::format("gather_elements_grad: dy {} must have the shape of indices {}", in[0].str(), in[1].str()));
      return {{a.shape, in[0].dtype, Layout::kContiguous, in[0].device}};
    },
    .vjp = [](const VjpContext& c) -> std::vector<Tensor> {
      return {c.needs[0] ? ops::gather_elements(c.dout[0], c.in[1], c.attrs.as<GatherElementsGradAttrs>().axis) : Tensor{}, Tensor{}};
    },
});

Tensor gather_elements_grad(const Tensor& dy, const Tensor& indices, const Shape& shape, int64_t axis) {
  return bind_one(kGatherElementsGrad, Attrs::of(GatherElementsGradAttrs{shape, axis}), {dy, indices});
}

}  // namespace

Tensor ops::gather_elements(const Tensor& x, const Tensor& indices, int64_t axis) {
  return bind_one(kGatherElements, recent_attrs(AxisAttrs{axis}), {&x, &indices});
}

}  // namespace sindri
