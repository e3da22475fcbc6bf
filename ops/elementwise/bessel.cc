// Records of the Bessel functions of bessel.def. Gradients are computed in float64: for large x they are differences of nearly equal values.
#include "sindri/ops/bessel.h"

#include "sindri/op/bind.h"
#include "sindri/op/op_def.h"
#include "sindri/ops/elementwise.h"
#include "src/op/quick_call.h"

namespace sindri {
namespace {

std::vector<TensorMeta> infer_bessel(const char* op, Span<const TensorMeta> in) {
  check_arity(op, in, 1);
  check_floating(op, in[0], "the input");
  TensorMeta out = in[0];
  out.layout = Layout::kContiguous;
  return {out};
}

// f/x, and its limit 1/2 at 0 for the functions of order 1.
Tensor over_x(const Tensor& f, const Tensor& x) {
  const Tensor none = ops::equal(x, ops::scalar_like(x, 0));
  return ops::where(none, ops::scalar_like(x, 0.5), f / ops::where(none, ops::scalar_like(x, 1), x));
}

Tensor apply(const OpDef& op, const Tensor& x) {
  if (is_floating(x.dtype())) return bind_one(op, Attrs(), {&x});
  const Tensor cast = ops::cast(x, DType::kFloat32);
  return bind_one(op, Attrs(), {&cast});
}

// clang-format off
#define BESSEL(id, slope, text)                                                                                                  \
  const OpDef& k_##id = register_op({                                                                                            \
      .name = "bessel_" #id,                                                                                                     \
      .doc = text,                                                                                                               \
      .traits = {.layout = LayoutRule::kAgnostic, .saves_in = saves(0), .inplace_input = 0},                                     \
      .infer = [](const Attrs&, Span<const TensorMeta> in) { return infer_bessel("bessel_" #id, in); },                          \
      .vjp = [](const VjpContext& c) -> std::vector<Tensor> {                                                                    \
        const Tensor x = ops::cast(c.in[0], DType::kFloat64), dy = ops::cast(c.dout[0], DType::kFloat64);                        \
        [[maybe_unused]] const auto ratio = [&](const Tensor& f) { return over_x(f, x); };                                       \
        return {ops::cast(dy * (slope), c.in[0].dtype())};                                                                       \
      },                                                                                                                         \
  });
#include "ops/elementwise/bessel.def"
#undef BESSEL

}  // namespace

namespace ops {

#define BESSEL(id, ...) Tensor bessel_##id(const Tensor& x) { return apply(k_##id, x); }
#include "ops/elementwise/bessel.def"
#undef BESSEL
// clang-format on

}  // namespace ops
}  // namespace sindri
