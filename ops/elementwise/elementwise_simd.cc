// Tile loops of the ops in unary.def and binary.def.
#include "ops/elementwise/elementwise_simd.h"

#include <math.h>

#include "ops/elementwise/elementwise_types_simd.h"

namespace sindri::SINDRI_SIMD_NS {
namespace {

using elementwise::BinaryId, elementwise::TileFn, elementwise::UnaryId;
using simd_math::abs, simd_math::ceil, simd_math::cos, simd_math::erf, simd_math::exp, simd_math::expm1, simd_math::floor, simd_math::log, simd_math::log1p,
    simd_math::rint;
using simd_math::sigmoid, simd_math::sin, simd_math::sqrt, simd_math::tanh;

#define SINDRI_EXPRESSION_INLINE SINDRI_SIMD_INLINE
#include "ops/elementwise/expression_functions.def"
#undef SINDRI_EXPRESSION_INLINE

template <class E, bool predicate> struct ResultOf { using type = E; };
template <class E> struct ResultOf<E, true> { using type = Bool; };

// For ops with attributes the loops are also compiled for p0 = 0 and p0 = 1, so that a choice between two formulas (gelu) is made outside the loop.
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
