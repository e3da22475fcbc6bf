// Definitions of the elementwise ops with one and two inputs: records, gradient rules and public functions, from unary.def and binary.def.
#include <fmt/format.h>

#include <cmath>

#include "ops/elementwise/elementwise_impl.h"
#include "ops/elementwise/grad_ops.h"
#include "sindri/core/error.h"
#include "sindri/op/bind.h"
#include "sindri/op/op_def.h"
#include "sindri/ops/elementwise.h"
#include "sindri/ops/power.h"
#include "sindri/ops/shape.h"
#include "src/op/quick_call.h"

namespace sindri {
namespace {

using namespace elementwise;

enum Saves { kSavesNothing, kSavesX, kSavesY, kFlat, kNoGradient };

void check_domain(const char* op, Domain domain, const TensorMeta& m) {
  if (domain == kFloating) check_floating(op, m, "the input");
  if (domain == kNumeric && m.dtype == DType::kBool)
    throw DTypeError(fmt::format("{}: not defined for bool, got {}", op, m.str()), "", "use a logical op, or convert with ops::cast");
  if (domain == kIntegral && is_floating(m.dtype))
    throw DTypeError(fmt::format("{}: defined for integers and bool, got {}", op, m.str()), "", "convert with ops::cast");
}

TensorMeta result_meta(const Shape& shape, Domain domain, const TensorMeta& in) {
  TensorMeta out = in;
  out.shape = shape;
  out.layout = Layout::kContiguous;
  if (domain == kPredicate) out.dtype = DType::kBool;
  return out;
}

std::vector<TensorMeta> infer_unary(const char* op, Domain domain, Span<const TensorMeta> in) {
  check_arity(op, in, 1);
  check_domain(op, domain, in[0]);
  return {result_meta(in[0].shape, domain, in[0])};
}

std::vector<TensorMeta> infer_binary(const char* op, Domain domain, Span<const TensorMeta> in) {
  check_arity(op, in, 2);
  check_same_dtype(op, in);
  check_domain(op, domain, in[0]);
  return {result_meta(broadcast_shapes(in[0].shape, in[1].shape, op), domain, in[0])};
}

// The lists of ops have no field for the roles of these few ops in graphs.
constexpr OpRole role_of(std::string_view op) {
  return op == "add" ? OpRole::kAdd : op == "relu" ? OpRole::kRelu : op == "relu_grad" ? OpRole::kReluGrad : OpRole::kNone;
}

constexpr OpTraits unary_traits(std::string_view op, Domain domain, Saves saved) {
  return {.layout = LayoutRule::kAgnostic,
          .saves_in = saved == kSavesX ? saves(0) : kSavesNone,
          .saves_out = saved == kSavesY ? saves(0) : kSavesNone,
          .inplace_input = domain == kPredicate ? -1 : 0,
          .elementwise = true,
          .role = role_of(op)};
}
constexpr OpTraits binary_traits(std::string_view op, Domain domain, uint32_t in, uint32_t out) {
  return {.layout = LayoutRule::kAgnostic,
          .saves_in = in,
          .saves_out = out,
          .inplace_input = domain == kPredicate ? -1 : 0,
          .elementwise = true,
          .role = role_of(op)};
}

// The gradient rule of ops whose derivative is 0 wherever it exists. With it, results that depend on such ops can be differentiated again. Ops whose results
// are never floats need no rule.
std::vector<Tensor> no_gradients(const VjpContext& c) { return std::vector<Tensor>(c.in.size()); }
constexpr bool makes_floats(Domain domain) { return domain != kPredicate && domain != kIntegral; }

// Converts integers to float32 for ops with floating results.
Tensor as_domain(const Tensor& x, Domain domain) { return domain == kFloating && !is_floating(x.dtype()) ? ops::cast(x, DType::kFloat32) : x; }

Tensor apply_unary(const OpDef& op, Domain domain, const Attrs& attrs, const Tensor& x) {
  if (domain != kFloating || is_floating(x.dtype())) return bind_one(op, attrs, {&x});
  const Tensor cast = as_domain(x, domain);
  return bind_one(op, attrs, {&cast});
}

Tensor apply_binary(const OpDef& op, Domain domain, const Attrs& attrs, const Tensor& a, const Tensor& b) {
  const DType own = a.dtype();
  if (own == b.dtype() && (domain != kFloating || is_floating(own))) return bind_one(op, attrs, {&a, &b});
  DType t = promote_types(own, b.dtype());
  if (domain == kFloating && !is_floating(t)) t = DType::kFloat32;
  const Tensor left = ops::cast(a, t), right = ops::cast(b, t);
  return bind_one(op, attrs, {&left, &right});
}

const Attrs& no_attrs() {
  static const Attrs none;
  return none;
}

// d/da a^b = b a^(b-1), and 0 for b = 0 whatever a is.
Tensor pow_base_gradient(const Tensor& dy, const Tensor& a, const Tensor& b) {
  const Tensor zero = ops::scalar_like(b, 0);
  return ops::where(ops::equal(b, zero), zero, dy * (b * ops::pow(a, b - 1.0)));
}
// d/db a^b = a^b log a, and its limit 0 for a = 0, b >= 0.
Tensor pow_exponent_gradient(const Tensor& dy, const Tensor& a, const Tensor& b, const Tensor& y) {
  const Tensor zero = ops::scalar_like(a, 0);
  const Tensor at_zero = ops::logical_and(ops::equal(a, zero), ops::greater_equal(b, zero));
  return ops::where(at_zero, zero, dy * (y * ops::log(a)));
}

// The gradient of a in maximum(a, b). The smaller element has gradient 0, even if dy is infinite or NaN.
Tensor share_of_larger(const Tensor& dy, const Tensor& a, const Tensor& b) {
  return ops::where(ops::less(a, b), ops::scalar_like(dy, 0), dy * ops::larger_share(a, b));
}

// Second derivative of gelu. Tanh form with u = k(x + c x^3), t = tanh(u):
//   (1 - t^2)u' + x/2 (1 - t^2)(u'' - 2t u'^2);   exact form: pdf(x)(2 - x^2).
Tensor gelu_curvature(const Tensor& x, bool approximate) {
  const Tensor x2 = ops::square(x);
  if (!approximate) return ops::exp(x2 * -0.5) * ((2.0 - x2) * 0.39894228040143268);
  constexpr double k = 0.79788456080286536, c = 0.044715;
  const Tensor t = ops::tanh(x * (x2 * (k * c) + k)), sech2 = 1.0 - ops::square(t);
  const Tensor u1 = x2 * (3 * k * c) + k, u2 = x * (6 * k * c);
  return sech2 * (u1 + x * 0.5 * (u2 - t * ops::square(u1) * 2.0));
}

// s(1 - s)(2 + x(1 - 2s)) with s = sigmoid(x).
Tensor silu_curvature(const Tensor& x) {
  const Tensor s = ops::sigmoid(x);
  return s * (1.0 - s) * (x * (1.0 - s * 2.0) + 2.0);
}

// clang-format off
#define UNARY_WITH(op, AttrsT, domain, saved, expression, rule, text)                                                    \
  const OpDef& k_##op = register_op({                                                                                    \
      .name = #op,                                                                                                       \
      .doc = text,                                                                                                       \
      .attrs = attrs_type<AttrsT>(),                                                                                     \
      .traits = unary_traits(#op, domain, saved),                                                                             \
      .infer = [](const Attrs&, Span<const TensorMeta> in) { return infer_unary(#op, domain, in); },                     \
      .vjp = (saved) == kNoGradient ? nullptr : +[](const VjpContext& c) -> std::vector<Tensor> {                        \
        [[maybe_unused]] const auto [p0, p1] = numbers_of(c.attrs);                                                      \
        [[maybe_unused]] const Tensor &x = c.in[0], &y = c.out[0], &dy = c.dout[0];                                      \
        return {rule};                                                                                                   \
      },                                                                                                                 \
      .expr = #expression,                                                                                               \
  });
#define UNARY(op, ...) UNARY_WITH(op, NoAttrs, __VA_ARGS__)
#include "ops/elementwise/unary.def"
#undef UNARY
#undef UNARY_WITH

#define BINARY_RECORD(op, AttrsT, domain, in_mask, out_mask, expression, rule, text)                                     \
  const OpDef& k_##op = register_op({                                                                                    \
      .name = #op,                                                                                                       \
      .doc = text,                                                                                                       \
      .attrs = attrs_type<AttrsT>(),                                                                                     \
      .traits = binary_traits(#op, domain, in_mask, out_mask),                                                                \
      .infer = [](const Attrs&, Span<const TensorMeta> in) { return infer_binary(#op, domain, in); },                    \
      .vjp = rule,                                                                                                       \
      .expr = #expression,                                                                                               \
  });
#define BINARY_WITH(op, AttrsT, domain, in_mask, out_mask, expression, rule_a, rule_b, text)                             \
  std::vector<Tensor> vjp_##op(const VjpContext& c) {                                                                    \
    [[maybe_unused]] const auto [p0, p1] = numbers_of(c.attrs);                                                          \
    [[maybe_unused]] const Tensor &a = c.in[0], &b = c.in[1], &y = c.out[0], &dy = c.dout[0];                            \
    Tensor da, db;                                                                                                       \
    if (c.needs[0]) da = rule_a;                                                                                         \
    if (c.needs[1]) db = rule_b;                                                                                         \
    return {da.defined() ? ops::sum_to(da, a.shape()) : da, db.defined() ? ops::sum_to(db, b.shape()) : db};             \
  }                                                                                                                      \
  BINARY_RECORD(op, AttrsT, domain, in_mask, out_mask, expression, vjp_##op, text)
#define BINARY(op, ...) BINARY_WITH(op, NoAttrs, __VA_ARGS__)
#define BINARY_FLAT(op, domain, expression, text) BINARY_RECORD(op, NoAttrs, domain, kSavesNone, kSavesNone, expression, makes_floats(domain) ? no_gradients : nullptr, text)
#include "ops/elementwise/binary.def"
#undef BINARY
#undef BINARY_FLAT
#undef BINARY_WITH
#undef BINARY_RECORD

}  // namespace

namespace ops {

#define UNARY(op, domain, ...) Tensor op(const Tensor& x) { return apply_unary(k_##op, domain, no_attrs(), x); }
#define UNARY_WITH(...)
#include "ops/elementwise/unary.def"
#undef UNARY
#undef UNARY_WITH

#define BINARY(op, domain, ...) Tensor op(const Tensor& a, const Tensor& b) { return apply_binary(k_##op, domain, no_attrs(), a, b); }
#define BINARY_FLAT(op, domain, ...) Tensor op(const Tensor& a, const Tensor& b) { return apply_binary(k_##op, domain, no_attrs(), a, b); }
#define BINARY_WITH(...)
#include "ops/elementwise/binary.def"
#undef BINARY
#undef BINARY_FLAT
#undef BINARY_WITH
// clang-format on

Tensor leaky_relu(const Tensor& x, double alpha) { return apply_unary(k_leaky_relu, kFloating, Attrs::of(LeakyReluAttrs{alpha}), x); }
Tensor elu(const Tensor& x, double alpha) { return apply_unary(k_elu, kFloating, Attrs::of(EluAttrs{alpha}), x); }
Tensor gelu(const Tensor& x, bool approximate) { return apply_unary(k_gelu, kFloating, recent_attrs(GeluAttrs{approximate}), x); }
Tensor leaky_relu_grad(const Tensor& dy, const Tensor& x, double alpha) {
  return apply_binary(k_leaky_relu_grad, kFloating, Attrs::of(LeakyReluAttrs{alpha}), dy, x);
}
Tensor elu_grad(const Tensor& dy, const Tensor& x, double alpha) { return apply_binary(k_elu_grad, kFloating, Attrs::of(EluAttrs{alpha}), dy, x); }
Tensor gelu_grad(const Tensor& dy, const Tensor& x, bool approximate) {
  return apply_binary(k_gelu_grad, kFloating, recent_attrs(GeluAttrs{approximate}), dy, x);
}
Tensor clamp_grad(const Tensor& dy, const Tensor& x, double lo, double hi) {
  return apply_binary(k_clamp_grad, kFloating, Attrs::of(ClampAttrs{lo, hi}), dy, x);
}

Tensor clamp(const Tensor& x, double lo, double hi) {
  if (std::isnan(lo) || std::isnan(hi)) throw ValueError(fmt::format("clamp: bounds must be numbers, got [{}, {}]", lo, hi));
  const bool fraction = std::floor(lo) != lo || std::floor(hi) != hi;
  return apply_unary(k_clamp, fraction ? kFloating : kNumeric, Attrs::of(ClampAttrs{lo, hi}), x);
}

Tensor power_or_zero(const Tensor& x, double exponent) {
  const Tensor base = as_domain(x, kFloating), zero = scalar_like(base, 0), none = equal(base, zero), safe = where(none, scalar_like(base, 1), base);
  return where(none, zero, exponent == 0.5 ? sqrt(safe) : exponent == 1 ? safe : pow(safe, exponent));
}

Tensor scalar_like(const Tensor& x, double value) {
  DType t = x.dtype();
  if (!is_floating(t)) {
    if (std::floor(value) != value || std::isinf(value)) t = DType::kFloat32;
    else if (t == DType::kBool) t = DType::kInt64;
    const bool fits = t == DType::kUInt8 ? value >= 0 && value <= 255
        : t == DType::kInt32             ? std::fabs(value) < 0x1p31
                                         : t != DType::kInt64 || std::fabs(value) < 0x1p63;
    if (!fits)
      throw ValueError(fmt::format("the scalar {} does not fit the tensor's type {}", value, dtype_name(t)), "", "convert the tensor with ops::cast first");
  }
  return full({}, value, t);
}

}  // namespace ops
}  // namespace sindri
