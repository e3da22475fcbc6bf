// Kernels of cumprod and linear_scan. A line of elements along the axis is a chain of dependent operations, so several lines are processed
// together: neighbours in memory if the axis is not the last one, otherwise some lines in parallel.
#include <algorithm>

#include "ops/reduce/reduce_impl.h"
#include "ops/reduce/scalar.h"
#include "sindri/op/kernel.h"
#include "src/device/cpu/parallel.h"

namespace sindri {
namespace {

using namespace reduce;

constexpr int64_t kLines = 16;  // per group
constexpr int64_t kGrain = 1 << 14;  // minimum elements per thread

// Calls f(base, n, apart, step) for groups of n <= kLines lines: element i of line l is at base + l * apart + i * step.
template <class F> void for_line_groups(const AxisView& v, F&& f) {
  const bool last = v.inner == 1;
  const int64_t lines = last ? v.outer : v.inner, groups = (lines + kLines - 1) / kLines, all = last ? groups : v.outer * groups;
  const int64_t grain = std::max<int64_t>(1, kGrain / std::max<int64_t>(1, kLines * v.size));
  parallel_for(all, grain, [&](int64_t begin, int64_t end) {
    for (int64_t g = begin; g < end; ++g) {
      const int64_t from = g % groups * kLines, n = std::min(kLines, lines - from);
      if (last) f(from * v.size, n, v.size, int64_t{1});
      else f(g / groups * v.size * v.inner + from, n, int64_t{1}, v.inner);
    }
  });
}

void run_cumprod(const KernelQuery& q, Span<const Buffer> in, Span<const Buffer> out) {
  const auto& a = q.attrs.as<CumprodAttrs>();
  const AxisView v = view_along("cumprod", q.in[0].shape, a.axis);
  dispatch_dtype(q.in[0].dtype, [&]<class E>() {
    const E* x = in[0].as<const E>();
    E* y = out[0].as<E>();
    for_line_groups(v, [&](int64_t base, int64_t n, int64_t apart, int64_t step) {
      Accumulator<E> product[kLines];
      std::fill_n(product, n, Accumulator<E>{1});
      for (int64_t i = 0; i < v.size; ++i) {
        const int64_t at = base + (a.reverse ? v.size - 1 - i : i) * step;
        for (int64_t l = 0; l < n; ++l) {
          product[l] *= static_cast<Accumulator<E>>(widen(x[at + l * apart]));
          y[at + l * apart] = narrow<E>(product[l]);
        }
      }
    });
  });
}

void run_linear_scan(const KernelQuery& q, Span<const Buffer> in, Span<const Buffer> out) {
  const auto& attrs = q.attrs.as<LinearScanAttrs>();
  const AxisView v = view_along("linear_scan", q.in[0].shape, attrs.axis);
  dispatch_floating(q.in[0].dtype, [&]<class E>() {
    const E *a = in[0].as<const E>(), *b = in[1].as<const E>();
    E* h = out[0].as<E>();
    for_line_groups(v, [&](int64_t base, int64_t n, int64_t apart, int64_t step) {
      double state[kLines];
      const int64_t forward = attrs.reverse ? -step : step, begin = attrs.reverse ? base + (v.size - 1) * step : base;
      const int64_t late = attrs.late ? forward : 0;
      for (int64_t i = 0; i < v.size; ++i) {
        const int64_t at = begin + i * forward;
        for (int64_t l = 0; l < n; ++l) {
          const int64_t e = at + l * apart;
          state[l] = i == 0 ? widen(b[e]) : widen(a[e - late]) * state[l] + widen(b[e]);
          h[e] = narrow<E>(state[l]);
        }
      }
    });
  });
}

const bool kCumprod = register_kernel({.op = "cumprod", .name = "reference", .priority = kReferencePriority, .simple = run_cumprod});
const bool kLinearScan = register_kernel({.op = "linear_scan", .name = "reference", .priority = kReferencePriority, .simple = run_linear_scan});

}  // namespace
}  // namespace sindri
