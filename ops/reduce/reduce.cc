// Definitions of the reductions sum, mean, prod, max, min, any and all.
#include <fmt/format.h>

#include "ops/reduce/reduce_impl.h"
#include "sindri/core/error.h"
#include "sindri/op/bind.h"
#include "sindri/op/op_def.h"
#include "sindri/ops/elementwise.h"
#include "sindri/ops/reduce.h"
#include "sindri/ops/shape.h"
#include "src/op/quick_call.h"

namespace sindri {

namespace reduce {

AxisSet reduced_dims(const char* op, const std::vector<int64_t>& axes, int rank) {
  AxisSet reduced{};
  if (axes.empty()) reduced.fill(true);
  for (int64_t a : axes) {
    const auto d = static_cast<size_t>(normalize_axis(a, rank, op));
    if (reduced[d]) throw ValueError(fmt::format("{}: axis {} is named twice in [{}]", op, a, fmt::join(axes, ", ")));
    reduced[d] = true;
  }
  return reduced;
}

Shape reduced_shape(const Shape& in, const AxisSet& reduced, bool keep_dims) {
  Shape out;
  for (int d = 0; d < in.rank(); ++d) {
    if (!reduced[static_cast<size_t>(d)]) out.push_back(in[d]);
    else if (keep_dims) out.push_back(1);
  }
  return out;
}

int64_t reduced_count(const Shape& in, const AxisSet& reduced) {
  int64_t n = 1;
  for (int d = 0; d < in.rank(); ++d) n *= reduced[static_cast<size_t>(d)] ? in[d] : 1;
  return n;
}

}  // namespace reduce

namespace {

using namespace reduce;

TensorMeta infer_reduce(const char* op, const Attrs& attrs, Span<const TensorMeta> in) {
  check_arity(op, in, 1);
  const auto& a = attrs.as<ReduceAttrs>();
  TensorMeta out = in[0];
  out.shape = reduced_shape(in[0].shape, reduced_dims(op, a.axes, in[0].shape.rank()), a.keep_dims);
  out.layout = Layout::kContiguous;
  return out;
}

TensorMeta infer_accumulate(const char* op, const Attrs& attrs, Span<const TensorMeta> in) {
  TensorMeta out = infer_reduce(op, attrs, in);
  if (out.dtype == DType::kBool || out.dtype == DType::kUInt8) out.dtype = DType::kInt64;
  return out;
}

TensorMeta infer_extremum(const char* op, const Attrs& attrs, Span<const TensorMeta> in) {
  const TensorMeta out = infer_reduce(op, attrs, in);
  const auto& a = attrs.as<ReduceAttrs>();
  if (out.shape.numel() > 0 && reduced_count(in[0].shape, reduced_dims(op, a.axes, in[0].shape.rank())) == 0)
    throw ValueError(fmt::format("{}: no elements for {} over axes [{}] of {}", op, op, fmt::join(a.axes, ", "), in[0].str()), "",
                     "the reduced extent must not be empty");
  return out;
}

TensorMeta infer_predicate(const char* op, const Attrs& attrs, Span<const TensorMeta> in) {
  TensorMeta out = infer_reduce(op, attrs, in);
  out.dtype = DType::kBool;
  return out;
}

// `t`, an output of a reduction of x, with the reduced dimensions restored as 1.
Tensor with_kept_dims(const Tensor& t, const Tensor& x, const Attrs& attrs) {
  const Shape kept = reduced_shape(x.shape(), reduced_dims("reduce", attrs.as<ReduceAttrs>().axes, x.rank()), true);
  return t.shape() == kept ? t : ops::reshape(t, kept);
}

std::vector<Tensor> sum_vjp(const VjpContext& c) { return {ops::broadcast_to(with_kept_dims(c.dout[0], c.in[0], c.attrs), c.in[0].shape())}; }

std::vector<Tensor> mean_vjp(const VjpContext& c) {
  const Tensor& x = c.in[0];
  const auto n = static_cast<double>(reduced_count(x.shape(), reduced_dims("mean", c.attrs.as<ReduceAttrs>().axes, x.rank())));
  const Tensor share = ops::cast(with_kept_dims(c.dout[0], x, c.attrs), count_type(x.dtype())) / n;
  return {ops::broadcast_to(ops::cast(share, x.dtype()), x.shape())};
}

// Equal extrema share the gradient.
std::vector<Tensor> extremum_vjp(const VjpContext& c) {
  const Tensor& x = c.in[0];
  const Tensor hit = ops::equal(x, with_kept_dims(c.out[0], x, c.attrs));
  const DType wide = count_type(x.dtype());
  const Tensor hits = ops::sum(ops::cast(hit, wide), c.attrs.as<ReduceAttrs>().axes, true);
  // Selected, not multiplied: other elements have no part in a gradient that is infinite or NaN. If all are NaN, none equals the extremum.
  const Tensor share = ops::cast(ops::cast(with_kept_dims(c.dout[0], x, c.attrs), wide) / hits, x.dtype());
  return {ops::where(hit, share, ops::scalar_like(x, 0))};
}

constexpr OpTraits kReadsNothing = {.layout = LayoutRule::kFollowInput0, .saves_in = kSavesNone};
constexpr OpTraits kReadsBoth = {.layout = LayoutRule::kFollowInput0, .saves_in = saves(0), .saves_out = saves(0)};

const OpDef& kSum = register_op({
    .name = "sum",
    .doc = "Sum over axes (empty: all); bool and uint8 give int64; 0 for no elements.",
    .attrs = attrs_type<ReduceAttrs>(),
    .traits = kReadsNothing,
    .infer = [](const Attrs& a, Span<const TensorMeta> in) { return std::vector{infer_accumulate("sum", a, in)}; },
    .vjp = sum_vjp,
});
const OpDef& kMean = register_op({
    .name = "mean",
    .doc = "Mean over axes (empty: all) of a floating tensor; NaN for no elements. The function casts integers to float32.",
    .attrs = attrs_type<ReduceAttrs>(),
    .traits = kReadsNothing,
    .infer =
        [](const Attrs& a, Span<const TensorMeta> in) {
          const TensorMeta out = infer_reduce("mean", a, in);
          check_floating("mean", in[0], "the input");
          return std::vector{out};
        },
    .vjp = mean_vjp,
});
const OpDef& kMax = register_op({
    .name = "max",
    .doc = "Largest element over axes (empty: all); NaN wins; ties share the gradient. Throws ValueError over an empty extent.",
    .attrs = attrs_type<ReduceAttrs>(),
    .traits = kReadsBoth,
    .infer = [](const Attrs& a, Span<const TensorMeta> in) { return std::vector{infer_extremum("max", a, in)}; },
    .vjp = extremum_vjp,
});
const OpDef& kMin = register_op({
    .name = "min",
    .doc = "Smallest element over axes (empty: all); NaN wins; ties share the gradient. Throws ValueError over an empty extent.",
    .attrs = attrs_type<ReduceAttrs>(),
    .traits = kReadsBoth,
    .infer = [](const Attrs& a, Span<const TensorMeta> in) { return std::vector{infer_extremum("min", a, in)}; },
    .vjp = extremum_vjp,
});
const OpDef& kAny = register_op({
    .name = "any",
    .doc = "True if any element over axes is nonzero; false for no elements.",
    .attrs = attrs_type<ReduceAttrs>(),
    .infer = [](const Attrs& a, Span<const TensorMeta> in) { return std::vector{infer_predicate("any", a, in)}; },
});
const OpDef& kAll = register_op({
    .name = "all",
    .doc = "True if all elements over axes are nonzero; true for no elements.",
    .attrs = attrs_type<ReduceAttrs>(),
    .infer = [](const Attrs& a, Span<const TensorMeta> in) { return std::vector{infer_predicate("all", a, in)}; },
});

Tensor reduce_with(const OpDef& op, const Tensor& x, const ops::Axes& axes, bool keep_dims) {
  return bind_one(op, recent_attrs(ReduceAttrs{axes, keep_dims}), {&x});
}

}  // namespace

namespace ops {

Tensor sum(const Tensor& x, const Axes& axes, bool keep_dims) { return reduce_with(kSum, x, axes, keep_dims); }
Tensor mean(const Tensor& x, const Axes& axes, bool keep_dims) {
  return reduce_with(kMean, is_floating(x.dtype()) ? x : cast(x, DType::kFloat32), axes, keep_dims);
}
Tensor max(const Tensor& x, const Axes& axes, bool keep_dims) { return reduce_with(kMax, x, axes, keep_dims); }
Tensor min(const Tensor& x, const Axes& axes, bool keep_dims) { return reduce_with(kMin, x, axes, keep_dims); }
Tensor any(const Tensor& x, const Axes& axes, bool keep_dims) { return reduce_with(kAny, x, axes, keep_dims); }
Tensor all(const Tensor& x, const Axes& axes, bool keep_dims) { return reduce_with(kAll, x, axes, keep_dims); }

}  // namespace ops
}  // namespace sindri
