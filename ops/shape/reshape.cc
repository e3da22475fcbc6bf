// reshape and ops based on it (flatten, squeeze, expand_dims), and stop_gradient.
#include <fmt/format.h>

#include "ops/shape/shape_ops.h"
#include "sindri/core/error.h"
#include "sindri/op/bind.h"
#include "sindri/ops/shape.h"
#include "src/op/quick_call.h"

namespace sindri {
namespace {

using namespace shape_ops;

// The given shape with -1 replaced by the remaining factor of the element count.
Shape resolve_reshape(const Shape& from, Shape to) {
  int unknown = -1;
  int64_t known = 1;
  for (int d = 0; d < to.rank(); ++d) {
    if (to[d] == -1) {
      if (unknown >= 0) throw ValueError(fmt::format("reshape: shape {} has more than one -1", to.str()));
      unknown = d;
    } else if (to[d] < 0) {
      throw ValueError(fmt::format("reshape: dimension {} of shape {} is negative", d, to.str()), "", "use -1 for the one dimension to be computed");
    } else if (__builtin_mul_overflow(known, to[d], &known)) {
      throw ValueError(fmt::format("reshape: shape {} has more elements than 64 bits can count", to.str()));
    }
  }
  const int64_t n = from.numel();
  if (unknown >= 0) {
    if (known == 0) throw ShapeError(fmt::format("reshape: -1 in {} is ambiguous, the other dimensions hold no elements", to.str()));
    if (n % known == 0) to[unknown] = n / known;
  }
  if (unknown >= 0 ? n % known != 0 : n != known)
    throw ShapeError(fmt::format("reshape: {} has {} elements, shape {} {}", from.str(), n, to.str(),
                                 unknown >= 0 ? fmt::format("needs a multiple of {}", known) : fmt::format("needs {}", known)));
  return to;
}

const OpDef& kReshape = register_op({
    .name = "reshape",
    .doc = "The same elements in row-major order under another shape; one dimension may be -1. Throws ShapeError when the counts differ.",
    .attrs = attrs_type<ShapeAttrs>(),
    .traits = {.layout = LayoutRule::kContiguousOnly, .saves_in = kSavesNone, .inplace_input = 0, .rearranges = true, .role = OpRole::kReshape},
    .infer = [](const Attrs& attrs, Span<const TensorMeta> in) -> std::vector<TensorMeta> {
      check_arity("reshape", in, 1);
      return {{resolve_reshape(in[0].shape, attrs.as<ShapeAttrs>().shape), in[0].dtype, Layout::kContiguous, in[0].device}};
    },
    .vjp = [](const VjpContext& c) -> std::vector<Tensor> { return {ops::reshape(c.dout[0], c.in[0].shape())}; },
});

const OpDef& kStopGradient = register_op({
    .name = "stop_gradient",
    .doc = "Identity that passes no gradient.",
    .traits = {.layout = LayoutRule::kFollowInput0, .saves_in = kSavesNone, .inplace_input = 0},
    .infer = [](const Attrs&, Span<const TensorMeta> in) -> std::vector<TensorMeta> {
      check_arity("stop_gradient", in, 1);
      return {in[0]};
    },
    .vjp = [](const VjpContext&) -> std::vector<Tensor> { return {Tensor{}}; },
});

}  // namespace

namespace ops {

Tensor reshape(const Tensor& x, const Shape& shape) { return bind_one(kReshape, recent_attrs(ShapeAttrs{shape}), {&x}); }

Tensor flatten(const Tensor& x, int64_t start_axis, int64_t end_axis) {
  const Shape& from = x.shape();
  if (from.rank() == 0) return reshape(x, {1});
  const int start = normalize_axis(start_axis, from.rank(), "flatten"), end = normalize_axis(end_axis, from.rank(), "flatten");
  if (start > end) throw ValueError(fmt::format("flatten: start_axis {} is greater than end_axis {} of shape {}", start_axis, end_axis, from.str()));
  Shape to;
  int64_t merged = 1;
  for (int d = 0; d < from.rank(); ++d) {
    if (d < start || d > end) {
      to.push_back(from[d]);
      continue;
    }
    merged *= from[d];
    if (d == end) to.push_back(merged);
  }
  return reshape(x, to);
}

Tensor squeeze(const Tensor& x, int64_t axis) {
  Shape s = x.shape();
  const int a = normalize_axis(axis, s.rank(), "squeeze");
  if (s.rank() == 0 || s[a] != 1) throw ShapeError(fmt::format("squeeze: dimension {} of {} is not 1", axis, s.str()));
  s.erase(a);
  return reshape(x, s);
}

Tensor expand_dims(const Tensor& x, int64_t axis) {
  Shape s = x.shape();
  s.insert(normalize_axis(axis, s.rank() + 1, "expand_dims"), 1);
  return reshape(x, s);
}

Tensor stop_gradient(const Tensor& x) { return bind_one(kStopGradient, Attrs(), {&x}); }

}  // namespace ops
}  // namespace sindri
