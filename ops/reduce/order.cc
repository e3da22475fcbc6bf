// Definitions of the ops along one axis: argmax, argmin, topk and its gradient, cumsum.
#include <fmt/format.h>

#include "ops/reduce/reduce_impl.h"
#include "sindri/core/error.h"
#include "sindri/op/bind.h"
#include "sindri/op/op_def.h"
#include "sindri/ops/reduce.h"
#include "sindri/ops/shape.h"
#include "src/op/quick_call.h"

namespace sindri {
namespace {

using namespace reduce;

std::vector<TensorMeta> infer_arg(const char* op, const Attrs& attrs, Span<const TensorMeta> in) {
  check_arity(op, in, 1);
  const auto& a = attrs.as<AxisAttrs>();
  const AxisSet reduced = reduced_dims(op, {a.axis}, in[0].shape.rank());
  if (reduced_count(in[0].shape, reduced) == 0) throw ValueError(fmt::format("{}: axis {} of {} is empty", op, a.axis, in[0].str()));
  TensorMeta out = in[0];
  out.shape = reduced_shape(in[0].shape, reduced, a.keep_dims);
  out.dtype = DType::kInt64;
  out.layout = Layout::kContiguous;
  return {out};
}

const OpDef& kArgmax = register_op({
    .name = "argmax",
    .doc = "Index (int64) of the first largest element along `axis`; the first NaN if there is one.",
    .attrs = attrs_type<AxisAttrs>(),
    .infer = [](const Attrs& a, Span<const TensorMeta> in) { return infer_arg("argmax", a, in); },
});
const OpDef& kArgmin = register_op({
    .name = "argmin",
    .doc = "Index (int64) of the first smallest element along `axis`; the first NaN if there is one.",
    .attrs = attrs_type<AxisAttrs>(),
    .infer = [](const Attrs& a, Span<const TensorMeta> in) { return infer_arg("argmin", a, in); },
});

std::vector<TensorMeta> infer_topk(const Attrs& attrs, Span<const TensorMeta> in) {
  check_arity("topk", in, 1);
  const auto& a = attrs.as<TopkAttrs>();
  TensorMeta values = in[0];
  values.layout = Layout::kContiguous;
  const int axis = normalize_axis(a.axis, in[0].shape.rank(), "topk");
  const int64_t size = in[0].shape.rank() == 0 ? 1 : in[0].shape[axis];
  if (a.k < 0 || a.k > size)
    throw ValueError(fmt::format("topk: k = {} of axis {} with {} elements in {}", a.k, a.axis, size, in[0].str()), "",
                     "k must be between 0 and the size of the axis");
  if (in[0].shape.rank() > 0) values.shape[axis] = a.k;
  else if (a.k == 0) throw ShapeError("topk: k = 0 of a scalar");
  TensorMeta indices = values;
  indices.dtype = DType::kInt64;
  return {values, indices};
}

Tensor topk_grad(const Tensor& dy, const Tensor& indices, int64_t size, int64_t axis);

const OpDef& kTopk = register_op({
    .name = "topk",
    .doc =
        "The k largest (or smallest) elements along `axis`, sorted: values and int64 indices. Equal values keep the lower index first; NaN counts as largest.",
    .attrs = attrs_type<TopkAttrs>(),
    .traits = {.saves_in = kSavesNone, .saves_out = saves(1)},
    .infer = infer_topk,
    .vjp = [](const VjpContext& c) -> std::vector<Tensor> {
      const Tensor& x = c.in[0];
      if (!c.dout[0].defined()) return {Tensor()};
      const int64_t axis = c.attrs.as<TopkAttrs>().axis;
      return {topk_grad(c.dout[0], c.out[1], x.rank() == 0 ? 1 : x.dim(axis), axis)};
    },
});

std::vector<TensorMeta> infer_topk_grad(const Attrs& attrs, Span<const TensorMeta> in) {
  check_arity("topk_grad", in, 2);
  const auto& a = attrs.as<TopkGradAttrs>();
  if (in[0].shape != in[1].shape) throw ShapeError(fmt::format("topk_grad: gradient {} and indices {} differ in shape", in[0].str(), in[1].str()));
  if (in[1].dtype != DType::kInt64) throw DTypeError(fmt::format("topk_grad: indices must be int64, got {}", in[1].str()));
  if (a.size < 0) throw ValueError(fmt::format("topk_grad: size {}", a.size));
  const int axis = normalize_axis(a.axis, in[0].shape.rank(), "topk_grad");
  TensorMeta out = in[0];
  out.layout = Layout::kContiguous;
  if (out.shape.rank() > 0) out.shape[axis] = a.size;
  return {out};
}

const OpDef& kTopkGrad = register_op({
    .name = "topk_grad",
    .doc = "Gradient of topk: zeros of extent `size` along `axis` with dy written at `indices`, which are distinct along it.",
    .attrs = attrs_type<TopkGradAttrs>(),
    .traits = {.saves_in = saves(1)},
    .infer = infer_topk_grad,
    .vjp = [](const VjpContext& c) -> std::vector<Tensor> {
      if (c.in[0].rank() == 0) return {c.dout[0], Tensor()};
      return {ops::gather_elements(c.dout[0], c.in[1], c.attrs.as<TopkGradAttrs>().axis), Tensor()};
    },
});

Tensor topk_grad(const Tensor& dy, const Tensor& indices, int64_t size, int64_t axis) {
  return bind_one(kTopkGrad, Attrs::of(TopkGradAttrs{size, axis}), {dy, indices});
}

std::vector<TensorMeta> infer_cumsum(const Attrs& attrs, Span<const TensorMeta> in) {
  check_arity("cumsum", in, 1);
  normalize_axis(attrs.as<CumsumAttrs>().axis, in[0].shape.rank(), "cumsum");
  TensorMeta out = in[0];
  out.layout = Layout::kContiguous;
  if (out.dtype == DType::kBool || out.dtype == DType::kUInt8) out.dtype = DType::kInt64;
  return {out};
}

const OpDef& kCumsum = register_op({
    .name = "cumsum",
    .doc = "Sums of the elements up to and including each along `axis`; reverse: from each to the end. bool and uint8 give int64.",
    .attrs = attrs_type<CumsumAttrs>(),
    .traits = {.saves_in = kSavesNone},
    .infer = infer_cumsum,
    .vjp = [](const VjpContext& c) -> std::vector<Tensor> {
      const auto& a = c.attrs.as<CumsumAttrs>();
      return {bind_one(find_op("cumsum"), Attrs::of(CumsumAttrs{a.axis, !a.reverse}), {c.dout[0]})};
    },
});

}  // namespace

namespace ops {

Tensor argmax(const Tensor& x, int64_t axis, bool keep_dims) { return bind_one(kArgmax, recent_attrs(AxisAttrs{axis, keep_dims}), {&x}); }
Tensor argmin(const Tensor& x, int64_t axis, bool keep_dims) { return bind_one(kArgmin, recent_attrs(AxisAttrs{axis, keep_dims}), {&x}); }
Tensor cumsum(const Tensor& x, int64_t axis) { return bind_one(kCumsum, Attrs::of(CumsumAttrs{axis, false}), {x}); }
std::pair<Tensor, Tensor> topk(const Tensor& x, int64_t k, int64_t axis, bool largest) {
  const std::vector<Tensor> out = bind(kTopk, Attrs::of(TopkAttrs{k, axis, largest}), {x});
  return {out[0], out[1]};
}

}  // namespace ops
}  // namespace sindri
