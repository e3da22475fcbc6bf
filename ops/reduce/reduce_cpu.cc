// Reference kernels of the reductions: elements in row-major order into one accumulator per output, floats in double, integers in int64.
#include <limits>
#include <vector>

#include "ops/reduce/reduce_impl.h"
#include "sindri/op/kernel.h"
#include "src/core/tensor_impl.h"

namespace sindri {
namespace {

using namespace reduce;

template <class T> double to_double(T v) {
  if constexpr (std::is_integral_v<T>) return static_cast<double>(v);
  else return static_cast<double>(static_cast<std::conditional_t<sizeof(T) == 2, float, T>>(v));
}
template <class T> T from_double(double v) {
  if constexpr (sizeof(T) == 2) return T(static_cast<float>(v));
  else return static_cast<T>(v);
}

// Position in the output of every element of the input, in row-major order.
template <class F> void for_each_reduced(const KernelQuery& q, F&& f) {
  const Shape& shape = q.in[0].shape;
  const AxisSet reduced = reduced_dims(q.op.name, q.attrs.as<ReduceAttrs>().axes, shape.rank());
  const Shape steps = contiguous_strides(shape), kept = contiguous_strides(reduced_shape(shape, reduced, true));
  for (int64_t i = 0, n = shape.numel(); i < n; ++i) {
    int64_t o = 0;
    for (int d = 0; d < shape.rank(); ++d) o += reduced[static_cast<size_t>(d)] ? 0 : i / steps[d] % shape[d] * kept[d];
    f(i, o);
  }
}

// Folds elements E converted to Acc; finish(acc) gives the output element.
template <class E, class Acc, class Out, class Fold, class Finish>
void fold(const KernelQuery& q, Span<const Buffer> in, Span<const Buffer> out, Acc init, Fold fold_one, Finish finish) {
  std::vector<Acc> acc(static_cast<size_t>(q.out[0].numel()), init);
  const E* x = in[0].as<E>();
  for_each_reduced(q, [&](int64_t i, int64_t o) { acc[static_cast<size_t>(o)] = fold_one(acc[static_cast<size_t>(o)], x[i]); });
  for (size_t o = 0; o < acc.size(); ++o) out[0].as<Out>()[o] = finish(acc[o]);
}

// Sums of integers wrap at 64 bits.
void run_sum(const KernelQuery& q, Span<const Buffer> in, Span<const Buffer> out) {
  dispatch_dtype(q.in[0].dtype, [&]<class E>() {
    if constexpr (std::is_integral_v<E>) {
      using Out = std::conditional_t<std::is_same_v<E, int32_t>, int32_t, int64_t>;
      fold<E, uint64_t, Out>(q, in, out, uint64_t{0}, [](uint64_t a, E v) { return a + static_cast<uint64_t>(static_cast<int64_t>(v)); }, [](uint64_t a) { return static_cast<Out>(a); });
    } else {
      fold<E, double, E>(q, in, out, 0.0, [](double a, E v) { return a + to_double(v); }, from_double<E>);
    }
  });
}

void run_mean(const KernelQuery& q, Span<const Buffer> in, Span<const Buffer> out) {
  const auto n = static_cast<double>(reduced_count(q.in[0].shape, reduced_dims("mean", q.attrs.as<ReduceAttrs>().axes, q.in[0].shape.rank())));
  dispatch_dtype(q.in[0].dtype, [&]<class E>() {
    if constexpr (!std::is_integral_v<E>) fold<E, double, E>(q, in, out, 0.0, [](double a, E v) { return a + to_double(v); }, [n](double a) { return from_double<E>(a / n); });
  });
}

template <bool kMax> void run_extremum(const KernelQuery& q, Span<const Buffer> in, Span<const Buffer> out) {
  dispatch_dtype(q.in[0].dtype, [&]<class E>() {
    if constexpr (std::is_integral_v<E>) {
      const int64_t worst = kMax ? INT64_MIN : INT64_MAX;
      fold<E, int64_t, E>(q, in, out, worst, [](int64_t a, E e) { const auto v = static_cast<int64_t>(e); return (kMax ? v > a : v < a) ? v : a; }, [](int64_t a) { return static_cast<E>(a); });
    } else {
      const double worst = kMax ? -std::numeric_limits<double>::infinity() : std::numeric_limits<double>::infinity();
      fold<E, double, E>(q, in, out, worst, [](double a, E e) { const double v = to_double(e); return v != v || (kMax ? v > a : v < a) ? v : a; }, from_double<E>);
    }
  });
}

template <bool kAny> void run_predicate(const KernelQuery& q, Span<const Buffer> in, Span<const Buffer> out) {
  dispatch_dtype(q.in[0].dtype, [&]<class E>() {
    fold<E, uint8_t, bool>(q, in, out, kAny ? 0 : 1, [](uint8_t a, E e) -> uint8_t { const bool set = to_double(e) != 0; return kAny ? a | set : a & set; }, [](uint8_t a) { return a != 0; });
  });
}

const bool kSum = register_kernel({.op = "sum", .name = "reference", .priority = kReferencePriority, .simple = run_sum});
const bool kMean = register_kernel({.op = "mean", .name = "reference", .priority = kReferencePriority, .simple = run_mean});
const bool kMax = register_kernel({.op = "max", .name = "reference", .priority = kReferencePriority, .simple = run_extremum<true>});
const bool kMin = register_kernel({.op = "min", .name = "reference", .priority = kReferencePriority, .simple = run_extremum<false>});
const bool kAny = register_kernel({.op = "any", .name = "reference", .priority = kReferencePriority, .simple = run_predicate<true>});
const bool kAll = register_kernel({.op = "all", .name = "reference", .priority = kReferencePriority, .simple = run_predicate<false>});

}  // namespace
}  // namespace sindri
