// Definitions of norm, logsumexp and prod: reductions whose gradient needs more than a sum.
#include <fmt/format.h>

#include <cmath>

#include "ops/reduce/reduce_impl.h"
#include "sindri/core/error.h"
#include "sindri/op/bind.h"
#include "sindri/op/op_def.h"
#include "sindri/ops/elementwise.h"
#include "sindri/ops/reduce.h"
#include "sindri/ops/shape.h"
#include "src/op/quick_call.h"

namespace sindri {
namespace {

using namespace reduce;

TensorMeta reduced_meta(const char* op, const TensorMeta& in, const std::vector<int64_t>& axes, bool keep_dims) {
  TensorMeta out = in;
  out.shape = reduced_shape(in.shape, reduced_dims(op, axes, in.shape.rank()), keep_dims);
  out.layout = Layout::kContiguous;
  return out;
}

Tensor with_kept_dims(const Tensor& t, const Tensor& x, const std::vector<int64_t>& axes) {
  const Shape kept = reduced_shape(x.shape(), reduced_dims("reduce", axes, x.rank()), true);
  return t.shape() == kept ? t : ops::reshape(t, kept);
}

std::vector<TensorMeta> infer_norm(const Attrs& attrs, Span<const TensorMeta> in) {
  check_arity("norm", in, 1);
  check_floating("norm", in[0], "the input");
  const auto& a = attrs.as<NormAttrs>();
  if (a.p != 1 && a.p != 2 && a.p != std::numeric_limits<double>::infinity())
    throw ValueError(fmt::format("norm: p = {}", a.p), "", "p must be 1, 2 or infinity");
  return {reduced_meta("norm", in[0], a.axes, a.keep_dims)};
}

// p = 1: sign(x). p = 2: x / |x|, 0 for a vector of zeros. Infinity: sign(x) at the largest |x|, shared by ties.
std::vector<Tensor> norm_vjp(const VjpContext& c) {
  const auto& a = c.attrs.as<NormAttrs>();
  const Tensor& x = c.in[0];
  const Tensor dy = with_kept_dims(c.dout[0], x, a.axes);
  if (a.p == 1) return {dy * ops::sign(x)};
  const Tensor y = with_kept_dims(c.out[0], x, a.axes);
  if (a.p == 2) {
    const Tensor zero = ops::scalar_like(y, 0), at_zero = ops::equal(y, zero);
    return {x * ops::where(at_zero, zero, dy / ops::where(at_zero, ops::scalar_like(y, 1), y))};
  }
  const Tensor hit = ops::equal(ops::abs(x), y);
  const DType wide = count_type(x.dtype());
  const Tensor share = ops::cast(ops::cast(dy, wide) / ops::sum(ops::cast(hit, wide), a.axes, true), x.dtype());
  return {ops::where(hit, ops::sign(x) * share, ops::scalar_like(x, 0))};
}

const OpDef& kNorm = register_op({
    .name = "norm",
    .doc = "p-norm over axes (empty: all), p = 1, 2 or infinity. Gradient 0 at 0 for p = 2.",
    .attrs = attrs_type<NormAttrs>(),
    .traits = {.amp = AmpClass::kFp32, .layout = LayoutRule::kFollowInput0, .saves_in = saves(0), .saves_out = saves(0)},
    .infer = infer_norm,
    .vjp = norm_vjp,
});

const OpDef& kLogsumexp = register_op({
    .name = "logsumexp",
    .doc = "log(sum(e^x)) over axes (empty: all), computed relative to the largest element; -inf for no elements.",
    .attrs = attrs_type<ReduceAttrs>(),
    .traits = {.amp = AmpClass::kFp32, .saves_in = saves(0), .saves_out = saves(0)},
    .infer =
        [](const Attrs& attrs, Span<const TensorMeta> in) {
          check_arity("logsumexp", in, 1);
          check_floating("logsumexp", in[0], "the input");
          const auto& a = attrs.as<ReduceAttrs>();
          return std::vector{reduced_meta("logsumexp", in[0], a.axes, a.keep_dims)};
        },
    .vjp = [](const VjpContext& c) -> std::vector<Tensor> {
      const auto& axes = c.attrs.as<ReduceAttrs>().axes;
      return {with_kept_dims(c.dout[0], c.in[0], axes) * ops::exp(c.in[0] - with_kept_dims(c.out[0], c.in[0], axes))};
    },
});

std::vector<TensorMeta> infer_prod(const Attrs& attrs, Span<const TensorMeta> in) {
  check_arity("prod", in, 1);
  const auto& a = attrs.as<ReduceAttrs>();
  TensorMeta out = reduced_meta("prod", in[0], a.axes, a.keep_dims);
  if (out.dtype == DType::kBool || out.dtype == DType::kUInt8) out.dtype = DType::kInt64;
  return {out};
}

// The product of the other elements: the product of those before each times the product of those after it. There is no division, so zeros need no
// special case in this derivative or the next ones. Computed in float64, in which partial products neither overflow nor underflow before the
// whole one.
std::vector<Tensor> prod_vjp(const VjpContext& c) {
  const auto& axes = c.attrs.as<ReduceAttrs>().axes;
  const Tensor& x = c.in[0];
  const AxisSet reduced = reduced_dims("prod", axes, x.rank());
  std::vector<int64_t> perm, back(static_cast<size_t>(x.rank()));
  for (const bool last : {false, true})
    for (int d = 0; d < x.rank(); ++d)
      if (reduced[static_cast<size_t>(d)] == last) perm.push_back(d);
  for (size_t i = 0; i < perm.size(); ++i) back[static_cast<size_t>(perm[i])] = static_cast<int64_t>(i);
  Shape rows = reduced_shape(x.shape(), reduced, false);
  rows.push_back(reduced_count(x.shape(), reduced));
  const Tensor moved = ops::transpose(ops::cast(x, DType::kFloat64), perm), t = ops::reshape(moved, rows);
  const auto products = [&](bool reverse) { return visited_before(bind_one(find_op("cumprod"), Attrs::of(CumprodAttrs{-1, reverse}), {&t}), -1, reverse, 1); };
  const Tensor others = ops::transpose(ops::reshape(products(false) * products(true), moved.shape()), back);
  return {ops::cast(others, x.dtype()) * with_kept_dims(c.dout[0], x, axes)};
}

const OpDef& kProd = register_op({
    .name = "prod",
    .doc = "Product over axes (empty: all); bool and uint8 give int64; 1 for no elements. The gradient is exact even if elements are 0.",
    .attrs = attrs_type<ReduceAttrs>(),
    .traits = {.saves_in = saves(0)},
    .infer = infer_prod,
    .vjp = prod_vjp,
});

Tensor as_floating(const Tensor& x) { return is_floating(x.dtype()) ? x : ops::cast(x, DType::kFloat32); }

}  // namespace

namespace ops {

Tensor norm(const Tensor& x, double p, const Axes& axes, bool keep_dims) { return bind_one(kNorm, Attrs::of(NormAttrs{p, axes, keep_dims}), {as_floating(x)}); }
Tensor logsumexp(const Tensor& x, const Axes& axes, bool keep_dims) { return bind_one(kLogsumexp, Attrs::of(ReduceAttrs{axes, keep_dims}), {as_floating(x)}); }
Tensor prod(const Tensor& x, const Axes& axes, bool keep_dims) { return bind_one(kProd, recent_attrs(ReduceAttrs{axes, keep_dims}), {&x}); }

}  // namespace ops
}  // namespace sindri
