// Reference kernels of the reductions: elements in row-major order into one accumulator per output, floats in double.
#include <cmath>
#include <limits>
#include <vector>

#include "ops/reduce/reduce_impl.h"
#include "ops/reduce/scalar.h"
#include "sindri/op/kernel.h"
#include "src/core/tensor_impl.h"

namespace sindri {
namespace {

using namespace reduce;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

const std::vector<int64_t>& axes_of(const KernelQuery& q) {
  return std::string_view(q.op.name) == "norm" ? q.attrs.as<NormAttrs>().axes : q.attrs.as<ReduceAttrs>().axes;
}

// Calls f(physical position of the element, position in the output), in row-major order of the input.
template <class F> void for_each_reduced(const KernelQuery& q, F&& f) {
  const Shape& shape = q.in[0].shape;
  const AxisSet reduced = reduced_dims(q.op.name, axes_of(q), shape.rank());
  const Shape steps = contiguous_strides(shape), kept = contiguous_strides(reduced_shape(shape, reduced, true));
  for_each_element(q.in[0], [&](int64_t logical, int64_t physical) {
    int64_t o = 0;
    for (int d = 0; d < shape.rank(); ++d) o += reduced[static_cast<size_t>(d)] ? 0 : logical / steps[d] % shape[d] * kept[d];
    f(physical, o);
  });
}

// acc[o] = step(acc[o], widened element, o) over the elements of each output.
template <class E, class Acc, class Step> std::vector<Acc> fold(const KernelQuery& q, Span<const Buffer> in, Acc init, Step step) {
  std::vector<Acc> acc(static_cast<size_t>(q.out[0].numel()), init);
  const E* x = in[0].as<E>();
  for_each_reduced(q, [&](int64_t i, int64_t o) { acc[static_cast<size_t>(o)] = step(acc[static_cast<size_t>(o)], widen(x[i]), static_cast<size_t>(o)); });
  return acc;
}

template <class Out, class Acc> void write(Span<const Buffer> out, const std::vector<Acc>& acc) {
  for_each_element(*out[0].meta, [&](int64_t logical, int64_t physical) { out[0].as<Out>()[physical] = narrow<Out>(acc[static_cast<size_t>(logical)]); });
}

void run_sum(const KernelQuery& q, Span<const Buffer> in, Span<const Buffer> out) {
  dispatch_dtype(q.in[0].dtype, [&]<class E>() {
    using Acc = Accumulator<E>;
    write<SumType<E>>(out, fold<E>(q, in, Acc{0}, [](Acc a, auto v, size_t) { return a + static_cast<Acc>(v); }));
  });
}

void run_prod(const KernelQuery& q, Span<const Buffer> in, Span<const Buffer> out) {
  dispatch_dtype(q.in[0].dtype, [&]<class E>() {
    using Acc = Accumulator<E>;
    write<SumType<E>>(out, fold<E>(q, in, Acc{1}, [](Acc a, auto v, size_t) { return a * static_cast<Acc>(v); }));
  });
}

void run_mean(const KernelQuery& q, Span<const Buffer> in, Span<const Buffer> out) {
  const auto n = static_cast<double>(reduced_count(q.in[0].shape, reduced_dims("mean", axes_of(q), q.in[0].shape.rank())));
  dispatch_floating(q.in[0].dtype, [&]<class E>() {
    std::vector<double> sums = fold<E>(q, in, 0.0, [](double a, double v, size_t) { return a + v; });
    for (double& s : sums) s /= n;
    write<E>(out, sums);
  });
}

template <bool kMax> void run_extremum(const KernelQuery& q, Span<const Buffer> in, Span<const Buffer> out) {
  dispatch_dtype(q.in[0].dtype, [&]<class E>() {
    if constexpr (std::is_integral_v<E>) {
      write<E>(out, fold<E>(q, in, kMax ? INT64_MIN : INT64_MAX, [](int64_t a, int64_t v, size_t) { return ranks_before<kMax>(v, a) ? v : a; }));
    } else {
      write<E>(out, fold<E>(q, in, kMax ? -kInfinity : kInfinity, [](double a, double v, size_t) { return ranks_before<kMax>(v, a) ? v : a; }));
    }
  });
}

template <bool kAny> void run_predicate(const KernelQuery& q, Span<const Buffer> in, Span<const Buffer> out) {
  dispatch_dtype(q.in[0].dtype, [&]<class E>() {
    write<bool>(out, fold<E>(q, in, uint8_t{!kAny}, [](uint8_t a, auto v, size_t) -> uint8_t { return kAny ? (a != 0 || v != 0) : (a != 0 && v != 0); }));
  });
}

void run_norm(const KernelQuery& q, Span<const Buffer> in, Span<const Buffer> out) {
  const double p = q.attrs.as<NormAttrs>().p;
  dispatch_floating(q.in[0].dtype, [&]<class E>() {
    std::vector<double> acc;
    if (p == 1) acc = fold<E>(q, in, 0.0, [](double a, double v, size_t) { return a + std::fabs(v); });
    else if (p == 2) acc = fold<E>(q, in, 0.0, [](double a, double v, size_t) { return a + v * v; });
    else acc = fold<E>(q, in, 0.0, [](double a, double v, size_t) { return ranks_before<true>(std::fabs(v), a) ? std::fabs(v) : a; });
    if (p == 2)
      for (double& a : acc) a = std::sqrt(a);
    write<E>(out, acc);
  });
}

// m + log(sum(e^(x - m))), where m is the largest element if that is finite, else 0, so that infinities are preserved.
void run_logsumexp(const KernelQuery& q, Span<const Buffer> in, Span<const Buffer> out) {
  dispatch_floating(q.in[0].dtype, [&]<class E>() {
    std::vector<double> largest = fold<E>(q, in, -kInfinity, [](double a, double v, size_t) { return ranks_before<true>(v, a) ? v : a; });
    for (double& m : largest) m = std::isfinite(m) ? m : 0;
    std::vector<double> sums = fold<E>(q, in, 0.0, [&](double a, double v, size_t o) { return a + std::exp(v - largest[o]); });
    for (size_t o = 0; o < sums.size(); ++o) sums[o] = largest[o] + std::log(sums[o]);
    write<E>(out, sums);
  });
}

const bool kSum = register_kernel({.op = "sum", .name = "reference", .priority = kReferencePriority, .simple = run_sum});
const bool kProd = register_kernel({.op = "prod", .name = "reference", .priority = kReferencePriority, .simple = run_prod});
const bool kMean = register_kernel({.op = "mean", .name = "reference", .priority = kReferencePriority, .simple = run_mean});
const bool kMax = register_kernel({.op = "max", .name = "reference", .priority = kReferencePriority, .simple = run_extremum<true>});
const bool kMin = register_kernel({.op = "min", .name = "reference", .priority = kReferencePriority, .simple = run_extremum<false>});
const bool kAny = register_kernel({.op = "any", .name = "reference", .priority = kReferencePriority, .simple = run_predicate<true>});
const bool kAll = register_kernel({.op = "all", .name = "reference", .priority = kReferencePriority, .simple = run_predicate<false>});
const bool kNorm = register_kernel({.op = "norm", .name = "reference", .priority = kReferencePriority, .simple = run_norm});
const bool kLogsumexp = register_kernel({.op = "logsumexp", .name = "reference", .priority = kReferencePriority, .simple = run_logsumexp});

}  // namespace
}  // namespace sindri
