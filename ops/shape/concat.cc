// concat, stack and split: each other's gradients.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "ops/shape/shape_ops.h"
#include "sindri/core/error.h"
#include "sindri/op/bind.h"
#include "sindri/ops/shape.h"

namespace sindri {
namespace {

using namespace shape_ops;

std::vector<TensorMeta> infer_concat(const Attrs& attrs, Span<const TensorMeta> in) {
  if (in.empty()) throw ValueError("concat: expected at least one tensor, got none");
  check_same_dtype("concat", in);
  if (in[0].shape.rank() == 0) throw ShapeError("concat: scalars cannot be joined", "", "use ops::stack");
  const int axis = normalize_axis(attrs.as<AxisAttrs>().axis, in[0].shape.rank(), "concat");
  TensorMeta out = in[0];
  for (size_t i = 1; i < in.size(); ++i) {
    Shape expected = in[0].shape;
    if (in[i].shape.rank() == expected.rank()) expected[axis] = in[i].shape[axis];
    if (in[i].shape != expected)
      throw ShapeError(fmt::format("concat: input {} has shape {}, input 0 {}; only dimension {} may differ", i, in[i].shape.str(), in[0].shape.str(), axis));
    if (__builtin_add_overflow(out.shape[axis], in[i].shape[axis], &out.shape[axis])) throw ValueError("concat: the sizes overflow");
  }
  check_shape("concat", out.shape, out.dtype);
  return {out};
}

// The part [begin, begin + size) of dimension `axis`.
Tensor narrow(const Tensor& x, int axis, int64_t begin, int64_t size) {
  std::vector<int64_t> b(static_cast<size_t>(axis), 0), e = x.shape().vec();
  e.resize(static_cast<size_t>(axis) + 1);
  b.push_back(begin);
  e.back() = begin + size;
  return ops::slice(x, b, e);
}

std::vector<Tensor> concat_vjp(const VjpContext& c) {
  const int axis = normalize_axis(c.attrs.as<AxisAttrs>().axis, c.in[0].rank(), "concat");
  std::vector<Tensor> din;
  int64_t begin = 0;
  for (size_t i = 0; i < c.in.size(); ++i) {
    const int64_t size = c.in[i].shape()[axis];
    din.push_back(c.needs[i] ? narrow(c.dout[0], axis, begin, size) : Tensor{});
    begin += size;
  }
  return din;
}

std::vector<TensorMeta> infer_split(const Attrs& attrs, Span<const TensorMeta> in) {
  check_arity("split", in, 1);
  const auto& a = attrs.as<SplitAttrs>();
  if (in[0].shape.rank() == 0) throw ShapeError("split: a scalar has no dimension to split");
  const int axis = normalize_axis(a.axis, in[0].shape.rank(), "split");
  if (a.sizes.empty()) throw ValueError("split: expected at least one size, got none");
  std::vector<TensorMeta> out;
  int64_t total = 0;
  for (int64_t size : a.sizes) {
    if (size < 0) throw ValueError(fmt::format("split: sizes [{}] contain a negative one", fmt::join(a.sizes, ", ")));
    if (__builtin_add_overflow(total, size, &total)) throw ValueError(fmt::format("split: sizes [{}] overflow", fmt::join(a.sizes, ", ")));
    out.push_back(in[0]);
    out.back().shape[axis] = size;
  }
  if (total != in[0].shape[axis])
    throw ShapeError(
        fmt::format("split: sizes [{}] add up to {}, dimension {} of {} has {}", fmt::join(a.sizes, ", "), total, axis, in[0].shape.str(), in[0].shape[axis]));
  return out;
}

std::vector<Tensor> split_vjp(const VjpContext& c) {
  const auto& a = c.attrs.as<SplitAttrs>();
  std::vector<Tensor> pieces;
  for (size_t i = 0; i < c.dout.size(); ++i) pieces.push_back(c.dout[i].defined() ? c.dout[i] : ops::full(c.out[i].shape(), 0, c.out[i].dtype()));
  return {ops::concat(pieces, a.axis)};
}

const OpDef& kConcat = register_op({
    .name = "concat",
    .doc = "Joins tensors of one type along `axis`; the other dimensions must be equal.",
    .attrs = attrs_type<AxisAttrs>(),
    .traits = {.layout = LayoutRule::kFollowInput0, .saves_in = kSavesNone},
    .infer = infer_concat,
    .vjp = concat_vjp,
});
const OpDef& kSplit = register_op({
    .name = "split",
    .doc = "Pieces of the given sizes along `axis`, one output each; sizes must add up to the dimension.",
    .attrs = attrs_type<SplitAttrs>(),
    .traits = {.layout = LayoutRule::kFollowInput0, .saves_in = kSavesNone},
    .infer = infer_split,
    .vjp = split_vjp,
});

}  // namespace

namespace ops {

Tensor concat(const std::vector<Tensor>& xs, int64_t axis) { return bind(kConcat, Attrs::of(AxisAttrs{axis}), Span<const Tensor>(xs))[0]; }

Tensor stack(const std::vector<Tensor>& xs, int64_t axis) {
  if (xs.empty()) throw ValueError("stack: expected at least one tensor, got none");
  std::vector<Tensor> expanded;
  for (size_t i = 0; i < xs.size(); ++i) {
    if (xs[i].shape() != xs[0].shape()) throw ShapeError(fmt::format("stack: input {} has shape {}, input 0 {}", i, xs[i].shape().str(), xs[0].shape().str()));
    expanded.push_back(expand_dims(xs[i], axis));
  }
  return concat(expanded, normalize_axis(axis, xs[0].rank() + 1, "stack"));
}

std::vector<Tensor> split(const Tensor& x, const std::vector<int64_t>& sizes, int64_t axis) { return bind(kSplit, Attrs::of(SplitAttrs{sizes, axis}), {x}); }

}  // namespace ops
}  // namespace sindri
