// The elementwise ops that unary.def and binary.def cannot describe: where (three inputs) and cast (the type changes).
#include <fmt/format.h>

#include "ops/elementwise/elementwise_impl.h"
#include "sindri/core/error.h"
#include "sindri/op/bind.h"
#include "sindri/op/op_def.h"
#include "sindri/ops/elementwise.h"
#include "sindri/ops/shape.h"
#include "src/op/quick_call.h"

namespace sindri {
namespace {

using elementwise::CastAttrs;

std::vector<TensorMeta> infer_where(const Attrs&, Span<const TensorMeta> in) {
  check_arity("where", in, 3);
  if (in[0].dtype != DType::kBool)
    throw DTypeError(fmt::format("where: the condition must be bool, got {}", in[0].str()), "", "compare with 0: ops::not_equal");
  check_same_dtype("where", in.subspan(1));
  TensorMeta out = in[1];
  out.shape = broadcast_shapes(in[0].shape, broadcast_shapes(in[1].shape, in[2].shape, "where"), "where");
  out.layout = Layout::kContiguous;
  return {out};
}

const OpDef& kWhere = register_op({
    .name = "where",
    .doc = "Elements of a where cond (bool), else of b; all three broadcast.",
    .traits = {.layout = LayoutRule::kAgnostic, .saves_in = saves(0), .inplace_input = 1, .elementwise = true},
    .infer = infer_where,
    .vjp = [](const VjpContext& c) -> std::vector<Tensor> {
      const Tensor &cond = c.in[0], &dy = c.dout[0], zero = ops::scalar_like(dy, 0);
      Tensor da, db;
      if (c.needs[1]) da = ops::sum_to(ops::where(cond, dy, zero), c.in[1].shape());
      if (c.needs[2]) db = ops::sum_to(ops::where(cond, zero, dy), c.in[2].shape());
      return {Tensor(), da, db};
    },
    .expr = "a ? b : c",
});

std::vector<TensorMeta> infer_cast(const Attrs& attrs, Span<const TensorMeta> in) {
  check_arity("cast", in, 1);
  TensorMeta out = in[0];
  out.dtype = attrs.as<CastAttrs>().dtype;
  out.layout = Layout::kContiguous;
  return {out};
}

const OpDef& kCast = register_op({
    .name = "cast",
    .doc = "Conversion of the element type. Floats round to nearest even; float to integer truncates; NaN and values out "
           "of range give the smallest int32 or int64, for uint8 the low bits of the int32, as in MindSpore on x86-64; to bool: != 0.",
    .attrs = attrs_type<CastAttrs>(),
    .traits = {.layout = LayoutRule::kAgnostic, .saves_in = kSavesNone, .elementwise = true, .rearranges = true, .role = OpRole::kCast},
    .infer = infer_cast,
    .vjp = [](const VjpContext& c) -> std::vector<Tensor> { return {ops::cast(c.dout[0], c.in[0].dtype())}; },
    .expr = "x",
});

}  // namespace

namespace ops {

Tensor where(const Tensor& cond, const Tensor& a, const Tensor& b) {
  const DType t = promote_types(a.dtype(), b.dtype());
  return bind_one(kWhere, {}, {cond, cast(a, t), cast(b, t)});
}

Tensor cast(const Tensor& x, DType dtype) { return x.dtype() == dtype ? x : bind_one(kCast, recent_attrs(CastAttrs{dtype}), {&x}); }

}  // namespace ops
}  // namespace sindri
