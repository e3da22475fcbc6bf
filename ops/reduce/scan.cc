// Definitions of running products, and of linear_scan, the recurrence of their gradient.
#include <fmt/format.h>

#include "ops/reduce/reduce_impl.h"
#include "sindri/core/error.h"
#include "sindri/op/bind.h"
#include "sindri/op/op_def.h"
#include "sindri/ops/elementwise.h"
#include "sindri/ops/reduce.h"
#include "sindri/ops/shape.h"

namespace sindri {

Tensor reduce::visited_before(const Tensor& t, int64_t axis, bool reverse, double first) {
  const int rank = t.rank();
  if (rank == 0) return ops::full({}, first, t.dtype());
  const auto d = static_cast<size_t>(normalize_axis(axis, rank, "scan"));
  const int64_t size = t.dim(axis);
  if (size == 0) return t;
  std::vector<int64_t> begin(static_cast<size_t>(rank), 0), end = t.shape().vec(), pads(2 * static_cast<size_t>(rank), 0);
  (reverse ? begin[d] : end[d]) = reverse ? 1 : size - 1;
  pads[2 * d + (reverse ? 1 : 0)] = 1;
  return ops::pad(ops::slice(t, begin, end), pads, first);
}

namespace {

using namespace reduce;

std::vector<TensorMeta> infer_cumprod(const Attrs& attrs, Span<const TensorMeta> in) {
  check_arity("cumprod", in, 1);
  normalize_axis(attrs.as<CumprodAttrs>().axis, in[0].shape.rank(), "cumprod");
  if (in[0].dtype == DType::kBool) throw DTypeError(fmt::format("cumprod: {} has no products", in[0].str()), "", "cast it to an integer type");
  TensorMeta out = in[0];
  out.layout = Layout::kContiguous;
  return {out};
}

std::vector<TensorMeta> infer_linear_scan(const Attrs& attrs, Span<const TensorMeta> in) {
  check_arity("linear_scan", in, 2);
  normalize_axis(attrs.as<LinearScanAttrs>().axis, in[0].shape.rank(), "linear_scan");
  if (!is_floating(in[0].dtype) || in[0].dtype != in[1].dtype || in[0].shape != in[1].shape)
    throw DTypeError(fmt::format("linear_scan: a and b must be of one floating type and shape, got {} and {}", in[0].str(), in[1].str()));
  TensorMeta out = in[0];
  out.layout = Layout::kContiguous;
  return {out};
}

Tensor linear_scan(const Tensor& a, const Tensor& b, const LinearScanAttrs& attrs) { return bind_one(find_op("linear_scan"), Attrs::of(attrs), {a, b}); }

// With h_i = a_i·h_{i-1} + b_i, the gradient of L with respect to b is s_i = dh_i + a_{i+1}·s_{i+1}: the same recurrence from the other end,
// with the coefficients shifted by one; and dL/da_i = s_i·h_{i-1}. There is no division, so zeros need no special case.
const OpDef& kCumprod = register_op({
    .name = "cumprod",
    .doc = "Products of the elements up to and including each along `axis`, floats rounded once; reverse: from each to the end. Integers wrap.",
    .attrs = attrs_type<CumprodAttrs>(),
    .traits = {.saves_in = saves(0), .saves_out = saves(0)},
    .infer = infer_cumprod,
    .vjp = [](const VjpContext& c) -> std::vector<Tensor> {
      const auto& at = c.attrs.as<CumprodAttrs>();
      const Tensor s = linear_scan(c.in[0], c.dout[0], {at.axis, !at.reverse, true});
      return {ops::mul(s, visited_before(c.out[0], at.axis, at.reverse, 1))};
    },
});

const OpDef& kLinearScan = register_op({
    .name = "linear_scan",
    .doc = "h_0 = b_0, h_i = a_i·h_{i-1} + b_i along `axis`, each h rounded once; late: a_{i-1}·h_{i-1}; reverse: from the end.",
    .attrs = attrs_type<LinearScanAttrs>(),
    .traits = {.saves_in = saves(0), .saves_out = saves(0)},
    .infer = infer_linear_scan,
    .vjp = [](const VjpContext& c) -> std::vector<Tensor> {
      const auto& at = c.attrs.as<LinearScanAttrs>();
      const Tensor &a = c.in[0], &h = c.out[0];
      const Tensor s = linear_scan(a, c.dout[0], {at.axis, !at.reverse, !at.late});
      const Tensor da = at.late ? ops::mul(visited_before(s, at.axis, !at.reverse, 0), h) : ops::mul(s, visited_before(h, at.axis, at.reverse, 0));
      return {da, s};
    },
});

}  // namespace

namespace ops {

Tensor cumprod(const Tensor& x, int64_t axis) { return bind_one(kCumprod, Attrs::of(CumprodAttrs{axis, false}), {x}); }

}  // namespace ops
}  // namespace sindri
