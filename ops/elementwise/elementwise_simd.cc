// Tile loops of the ops in unary.def and binary.def.
#include "ops/elementwise/elementwise_simd.h"

#include "ops/elementwise/elementwise_types_simd.h"

namespace sindri::SINDRI_SIMD_NS {
namespace {

using elementwise::BinaryId, elementwise::TileFn, elementwise::UnaryId;
using simd_math::abs, simd_math::ceil, simd_math::cos, simd_math::erf, simd_math::exp, simd_math::expm1, simd_math::floor, simd_math::log, simd_math::log1p,
    simd_math::rint;
using simd_math::sigmoid, simd_math::sin, simd_math::sqrt, simd_math::tanh;

// Functions of the expressions that are no elementary functions. T is float or double.
template <class T> SINDRI_SIMD_INLINE T hsigmoid(T x) { return x <= T(-3) ? T(0) : x >= T(3) ? T(1) : (x + T(3)) / T(6); }
template <class T> SINDRI_SIMD_INLINE T silu_slope(T x) {
  const T s = sigmoid(x);
  return s * (T(1) + x * (T(1) - s));
}

// (1 + tanh u) / 2 = sigmoid(2u) with u = k(x + c x^3): no cancellation for negative x.
template <class T> SINDRI_SIMD_INLINE T gelu_gate(T x) { return sigmoid(x * (T(1.5957691216057308) + T(1.5957691216057308 * 0.044715) * (x * x))); }
template <class T> SINDRI_SIMD_INLINE T gelu_tanh(T x) { return x * gelu_gate(x); }
template <class T> SINDRI_SIMD_INLINE T gelu_tanh_slope(T x) {
  const T s = gelu_gate(x);
  return s + x * (s * (T(1) - s)) * (T(1.5957691216057308) + T(3 * 1.5957691216057308 * 0.044715) * (x * x));
}
template <class T> SINDRI_SIMD_INLINE T gelu_erf(T x) { return T(0.5) * x * (T(1) + erf(x * T(0.70710678118654752))); }
template <class T> SINDRI_SIMD_INLINE T gelu_erf_slope(T x) {
  return T(0.5) * (T(1) + erf(x * T(0.70710678118654752))) + x * T(0.39894228040143268) * exp(T(-0.5) * x * x);
}

// Python's float % and //, as in reference_math.h, in double.
template <class T> SINDRI_SIMD_INLINE T mod(T a, T b) {
  const double r = __builtin_fmod(a, b);
  return static_cast<T>(r != 0 && (r < 0) != (b < 0) ? r + static_cast<double>(b) : r);
}
template <class T> SINDRI_SIMD_INLINE T floor_div(T a, T b) {
  if (b == T(0)) return a / b;
  const double da = a, db = b, r = __builtin_fmod(da, db);
  const double q = (da - r) / db - (r != 0 && (r < 0) != (db < 0) ? 1.0 : 0.0);
  const double f = __builtin_floor(q);
  return static_cast<T>(q == 0 ? __builtin_copysign(0.0, da / db) : q - f > 0.5 ? f + 1 : f);
}
SINDRI_SIMD_INLINE double pow(double a, double b) { return __builtin_pow(a, b); }
SINDRI_SIMD_INLINE float pow(float a, float b) { return static_cast<float>(__builtin_pow(a, b)); }

template <class E, bool predicate> struct ResultOf { using type = E; };
template <class E> struct ResultOf<E, true> { using type = Bool; };

// The loops are compiled once more for an attribute p0 of 0 and of 1 where there are attributes, so that a choice between two
// formulas (gelu) is made outside the loop.
template <class Functor, class E> struct UnaryLoop {
  using Out = typename ResultOf<E, Functor::kDomain == kPredicate>::type;
  static SINDRI_SIMD_MEMBER void loop(const E* x, Out* y, int64_t n, double p0, double p1) {
    SINDRI_SIMD_INDEPENDENT
    for (int64_t i = 0; i < n; ++i) store(Functor::eval(load(x[i]), p0, p1), y + i);
  }
  static void run(const void* const* in, void* out, int64_t n, const double* p) {
    const E* x = static_cast<const E*>(in[0]);
    Out* y = static_cast<Out*>(out);
    if (Functor::kHasAttrs && p[0] == 0) loop(x, y, n, 0, p[1]);
    else if (Functor::kHasAttrs && p[0] == 1) loop(x, y, n, 1, p[1]);
    else loop(x, y, n, p[0], p[1]);
  }
};
template <class Functor, class E> struct BinaryLoop {
  using Out = typename ResultOf<E, Functor::kDomain == kPredicate>::type;
  static SINDRI_SIMD_MEMBER void loop(const E* a, const E* b, Out* y, int64_t n, double p0, double p1) {
    SINDRI_SIMD_INDEPENDENT
    for (int64_t i = 0; i < n; ++i) store(Functor::eval(load(a[i]), load(b[i]), p0, p1), y + i);
  }
  static void run(const void* const* in, void* out, int64_t n, const double* p) {
    const E *a = static_cast<const E*>(in[0]), *b = static_cast<const E*>(in[1]);
    Out* y = static_cast<Out*>(out);
    if (Functor::kHasAttrs && p[0] == 0) loop(a, b, y, n, 0, p[1]);
    else if (Functor::kHasAttrs && p[0] == 1) loop(a, b, y, n, 1, p[1]);
    else loop(a, b, y, n, p[0], p[1]);
  }
};
template <template <class, class> class Loop, class Functor, class E> constexpr TileFn entry() {
  if constexpr (in_domain<E>(Functor::kDomain)) return &Loop<Functor, E>::run;
  else return nullptr;
}

// clang-format off
#define UNARY_LOOP(id, has_attrs, domain, saved, expression, ...)                                                \
  struct Unary_##id {                                                                                            \
    static constexpr Domain kDomain = domain;                                                                    \
    static constexpr bool kHasAttrs = has_attrs;                                                                 \
    template <class T> static SINDRI_SIMD_MEMBER auto eval(T x, [[maybe_unused]] double p0, [[maybe_unused]] double p1) { return expression; } \
  };
#define UNARY(id, ...) UNARY_LOOP(id, false, __VA_ARGS__)
#define UNARY_WITH(id, AttrsT, ...) UNARY_LOOP(id, true, __VA_ARGS__)
#include "ops/elementwise/unary.def"
#undef UNARY
#undef UNARY_WITH

#define BINARY_LOOP(id, has_attrs, domain, expression, ...)                                                      \
  struct Binary_##id {                                                                                           \
    static constexpr Domain kDomain = domain;                                                                    \
    static constexpr bool kHasAttrs = has_attrs;                                                                 \
    template <class T> static SINDRI_SIMD_MEMBER auto eval(T a, T b, [[maybe_unused]] double p0, [[maybe_unused]] double p1) { return expression; } \
  };
#define BINARY(id, domain, saves_in, saves_out, ...) BINARY_LOOP(id, false, domain, __VA_ARGS__)
#define BINARY_WITH(id, AttrsT, domain, saves_in, saves_out, ...) BINARY_LOOP(id, true, domain, __VA_ARGS__)
#define BINARY_FLAT(id, ...) BINARY_LOOP(id, false, __VA_ARGS__)
#include "ops/elementwise/binary.def"
#undef BINARY
#undef BINARY_WITH
#undef BINARY_FLAT
// clang-format on

}  // namespace

// Rows are in the order of the ids, columns in the order of DType.
#define ROW(Loop, F) \
  {entry<Loop, F, Bool>(), entry<Loop, F, uint8_t>(), entry<Loop, F, int32_t>(), entry<Loop, F, int64_t>(), \
   entry<Loop, F, F16>(),  entry<Loop, F, Bf16>(),    entry<Loop, F, float>(),   entry<Loop, F, double>()},

TileFn unary_tile(UnaryId id, int dtype) {
  static constexpr TileFn table[][kNumDTypes] = {
#define UNARY(op, ...) ROW(UnaryLoop, Unary_##op)
#define UNARY_WITH(op, ...) ROW(UnaryLoop, Unary_##op)
#include "ops/elementwise/unary.def"
  };
  return table[static_cast<int>(id)][dtype];
}

TileFn binary_tile(BinaryId id, int dtype) {
  static constexpr TileFn table[][kNumDTypes] = {
#define BINARY(op, ...) ROW(BinaryLoop, Binary_##op)
#define BINARY_WITH(op, ...) ROW(BinaryLoop, Binary_##op)
#define BINARY_FLAT(op, ...) ROW(BinaryLoop, Binary_##op)
#include "ops/elementwise/binary.def"
  };
  return table[static_cast<int>(id)][dtype];
}

}  // namespace sindri::SINDRI_SIMD_NS
