// Reference kernels of the elementwise ops: element by element in logical order, floats in double.
#include "ops/elementwise/elementwise_impl.h"
#include "ops/elementwise/reference_math.h"
#include "sindri/op/kernel.h"

namespace sindri {
namespace {

using namespace elementwise;
using namespace reference;

// One element: reads *in[k], writes *out. Loops call it through a pointer, so that they are compiled once, not per op and type.
using ElementFn = void (*)(const char* const* in, char* out, const double* p);

// Calls f for every element of out in logical order; operands are repeated as their shapes require.
void for_each_broadcast(ElementFn f, Span<const Buffer> in, const Buffer& out, const double* p) {
  constexpr size_t kMost = 3;
  const TensorMeta& meta = *out.meta;
  std::array<Shape, kMost> strides;
  for (size_t k = 0; k < in.size(); ++k) strides[k] = operand_strides(*in[k].meta, meta.shape);
  const Shape steps = contiguous_strides(meta.shape);
  for_each_element(meta, [&](int64_t logical, int64_t physical) {
    std::array<int64_t, kMost> at{};
    for (int d = 0; d < meta.shape.rank(); ++d) {
      const int64_t index = logical / steps[d] % meta.shape[d];
      for (size_t k = 0; k < in.size(); ++k) at[k] += index * strides[k][d];
    }
    std::array<const char*, kMost> from{};
    for (size_t k = 0; k < in.size(); ++k) from[k] = in[k].as<const char>() + at[k] * static_cast<int64_t>(dtype_size(in[k].meta->dtype));
    f(from.data(), out.as<char>() + physical * static_cast<int64_t>(dtype_size(meta.dtype)), p);
  });
}

template <class E> const E& element(const char* p) { return *reinterpret_cast<const E*>(p); }
template <class E> E& element(char* p) { return *reinterpret_cast<E*>(p); }

// Calls f.template operator()<E>() for the element types of a domain; infer has rejected the others.
template <Domain domain, class F> void dispatch_domain(DType t, F&& f) {
  dispatch_dtype(t, [&]<class E>() {
    constexpr bool floating = !std::is_integral_v<E>;
    if constexpr (domain == kFloating ? floating : domain == kNumeric ? !std::is_same_v<E, bool> : domain == kIntegral ? !floating : true)
      f.template operator()<E>();
  });
}

template <class Functor, class E, class V> void put(char* to, V value) {
  if constexpr (Functor::kDomain == kPredicate) element<bool>(to) = static_cast<bool>(value);
  else element<E>(to) = store<E>(value);
}

template <class Functor> void run_unary(const KernelQuery& q, Span<const Buffer> in, Span<const Buffer> out) {
  ElementFn f = nullptr;
  dispatch_domain<Functor::kDomain>(q.in[0].dtype, [&]<class E>() {
    f = [](const char* const* x, char* y, const double* p) { put<Functor, E>(y, Functor::eval(load(element<E>(x[0])), p[0], p[1])); };
  });
  for_each_broadcast(f, in, out[0], numbers_of(q.attrs).data());
}

template <class Functor> void run_binary(const KernelQuery& q, Span<const Buffer> in, Span<const Buffer> out) {
  ElementFn f = nullptr;
  dispatch_domain<Functor::kDomain>(q.in[0].dtype, [&]<class E>() {
    f = [](const char* const* x, char* y, const double* p) { put<Functor, E>(y, Functor::eval(load(element<E>(x[0])), load(element<E>(x[1])), p[0], p[1])); };
  });
  for_each_broadcast(f, in, out[0], numbers_of(q.attrs).data());
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
  ElementFn f = nullptr;
  dispatch_dtype(q.out[0].dtype, [&]<class E>() {
    f = [](const char* const* x, char* y, const double*) { element<E>(y) = element<bool>(x[0]) ? element<E>(x[1]) : element<E>(x[2]); };
  });
  for_each_broadcast(f, in, out[0], nullptr);
}

void run_cast(const KernelQuery& q, Span<const Buffer> in, Span<const Buffer> out) {
  ElementFn f = nullptr;
  dispatch_dtype(q.in[0].dtype, [&]<class From>() {
    dispatch_dtype(q.out[0].dtype,
                   [&]<class To>() { f = [](const char* const* x, char* y, const double*) { element<To>(y) = store<To>(load(element<From>(x[0]))); }; });
  });
  for_each_broadcast(f, in, out[0], nullptr);
}

const bool kWhere = register_kernel({.op = "where", .name = "reference", .priority = kReferencePriority, .simple = run_where});
const bool kCast = register_kernel({.op = "cast", .name = "reference", .priority = kReferencePriority, .simple = run_cast});

}  // namespace
}  // namespace sindri
