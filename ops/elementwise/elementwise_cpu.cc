// Reference kernels of the elementwise ops: one element after the other in logical order, floats in double.
#include "ops/elementwise/elementwise_impl.h"
#include "ops/elementwise/reference_math.h"
#include "sindri/op/kernel.h"

namespace sindri {
namespace {

using namespace elementwise;
using namespace reference;

// Physical offsets in the memory of each operand as the output is walked in logical order.
template <size_t N, class F> void for_each_broadcast(Span<const TensorMeta> in, const TensorMeta& out, F&& f) {
  std::array<Shape, N> strides;
  for (size_t k = 0; k < N; ++k) strides[k] = operand_strides(in[k], out.shape);
  const Shape steps = contiguous_strides(out.shape);
  for_each_element(out, [&](int64_t logical, int64_t physical) {
    std::array<int64_t, N> at{};
    for (int d = 0; d < out.shape.rank(); ++d) {
      const int64_t index = logical / steps[d] % out.shape[d];
      for (size_t k = 0; k < N; ++k) at[k] += index * strides[k][d];
    }
    f(at, physical);
  });
}

// Calls f.template operator()<E>() for the element types of a domain; infer has refused the others.
template <Domain domain, class F> void dispatch_domain(DType t, F&& f) {
  dispatch_dtype(t, [&]<class E>() {
    constexpr bool floating = !std::is_integral_v<E>;
    if constexpr (domain == kFloating ? floating : domain == kNumeric ? !std::is_same_v<E, bool> : true) f.template operator()<E>();
  });
}

template <class Functor> void run_unary(const KernelQuery& q, Span<const Buffer> in, Span<const Buffer> out) {
  const auto p = numbers_of(q.attrs);
  dispatch_domain<Functor::kDomain>(q.in[0].dtype, [&]<class E>() {
    using R = std::conditional_t<Functor::kDomain == kPredicate, bool, E>;
    for_each_broadcast<1>(q.in, q.out[0], [&](const auto& at, int64_t o) {
      const auto y = Functor::eval(load(in[0].as<E>()[at[0]]), p[0], p[1]);
      if constexpr (Functor::kDomain == kPredicate) out[0].as<R>()[o] = static_cast<bool>(y);
      else out[0].as<R>()[o] = store<R>(y);
    });
  });
}

template <class Functor> void run_binary(const KernelQuery& q, Span<const Buffer> in, Span<const Buffer> out) {
  const auto p = numbers_of(q.attrs);
  dispatch_domain<Functor::kDomain>(q.in[0].dtype, [&]<class E>() {
    using R = std::conditional_t<Functor::kDomain == kPredicate, bool, E>;
    for_each_broadcast<2>(q.in, q.out[0], [&](const auto& at, int64_t o) {
      const auto y = Functor::eval(load(in[0].as<E>()[at[0]]), load(in[1].as<E>()[at[1]]), p[0], p[1]);
      if constexpr (Functor::kDomain == kPredicate) out[0].as<R>()[o] = static_cast<bool>(y);
      else out[0].as<R>()[o] = store<R>(y);
    });
  });
}

// clang-format off
#define UNARY_WITH(id, AttrsT, domain, saved, expression, ...)                                                        \
  struct id##_functor {                                                                                               \
    static constexpr Domain kDomain = domain;                                                                         \
    template <class T> static auto eval(T x, [[maybe_unused]] double p0, [[maybe_unused]] double p1) { return expression; } \
  };                                                                                                                  \
  const bool k_##id = register_kernel({.op = #id, .name = "reference", .priority = kReferencePriority, .simple = run_unary<id##_functor>});
#define UNARY(id, ...) UNARY_WITH(id, NoAttrs, __VA_ARGS__)
#include "ops/elementwise/unary.def"
#undef UNARY
#undef UNARY_WITH

#define BINARY_FLAT(id, domain, expression, ...)                                                                      \
  struct id##_functor {                                                                                               \
    static constexpr Domain kDomain = domain;                                                                         \
    template <class T> static auto eval(T a, T b, [[maybe_unused]] double p0, [[maybe_unused]] double p1) { return expression; } \
  };                                                                                                                  \
  const bool k_##id = register_kernel({.op = #id, .name = "reference", .priority = kReferencePriority, .simple = run_binary<id##_functor>});
#define BINARY_WITH(id, AttrsT, domain, saves_in, saves_out, ...) BINARY_FLAT(id, domain, __VA_ARGS__)
#define BINARY(id, ...) BINARY_WITH(id, NoAttrs, __VA_ARGS__)
#include "ops/elementwise/binary.def"
#undef BINARY
#undef BINARY_WITH
#undef BINARY_FLAT
// clang-format on

void run_where(const KernelQuery& q, Span<const Buffer> in, Span<const Buffer> out) {
  dispatch_dtype(q.out[0].dtype, [&]<class E>() {
    for_each_broadcast<3>(q.in, q.out[0],
                          [&](const auto& at, int64_t o) { out[0].as<E>()[o] = in[0].as<bool>()[at[0]] ? in[1].as<E>()[at[1]] : in[2].as<E>()[at[2]]; });
  });
}

void run_cast(const KernelQuery& q, Span<const Buffer> in, Span<const Buffer> out) {
  dispatch_dtype(q.in[0].dtype, [&]<class From>() {
    dispatch_dtype(q.out[0].dtype, [&]<class To>() {
      for_each_broadcast<1>(q.in, q.out[0], [&](const auto& at, int64_t o) { out[0].as<To>()[o] = store<To>(load(in[0].as<From>()[at[0]])); });
    });
  });
}

const bool kWhere = register_kernel({.op = "where", .name = "reference", .priority = kReferencePriority, .simple = run_where});
const bool kCast = register_kernel({.op = "cast", .name = "reference", .priority = kReferencePriority, .simple = run_cast});

}  // namespace
}  // namespace sindri
