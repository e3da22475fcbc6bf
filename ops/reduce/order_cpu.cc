// Reference kernels of argmax, argmin, topk, topk_grad and cumsum.
#include <algorithm>
#include <cstring>
#include <numeric>
#include <vector>

#include "ops/reduce/reduce_impl.h"
#include "ops/reduce/scalar.h"
#include "sindri/op/kernel.h"

namespace sindri {
namespace {

using namespace reduce;

template <bool kMax> void run_arg(const KernelQuery& q, Span<const Buffer> in, Span<const Buffer> out) {
  const AxisView v = view_along(q.op.name, q.in[0].shape, q.attrs.as<AxisAttrs>().axis);
  dispatch_dtype(q.in[0].dtype, [&]<class E>() {
    const E* x = in[0].as<E>();
    for (int64_t o = 0; o < v.outer; ++o) {
      for (int64_t k = 0; k < v.inner; ++k) {
        const E* row = x + o * v.size * v.inner + k;
        int64_t best = 0;
        for (int64_t i = 1; i < v.size; ++i) {
          if (ranks_before<kMax>(widen(row[i * v.inner]), widen(row[best * v.inner]))) best = i;
        }
        out[0].as<int64_t>()[o * v.inner + k] = best;
      }
    }
  });
}

// NaN sorts as the largest value, for both ends, as in PyTorch's sort order.
template <class W> bool goes_first(bool largest, W a, W b) {
  const bool nan_a = a != a, nan_b = b != b;
  if (nan_a || nan_b) return largest ? nan_a && !nan_b : nan_b && !nan_a;
  return largest ? a > b : a < b;
}

void run_topk(const KernelQuery& q, Span<const Buffer> in, Span<const Buffer> out) {
  const auto& a = q.attrs.as<TopkAttrs>();
  const AxisView v = view_along("topk", q.in[0].shape, a.axis);
  std::vector<int64_t> order(static_cast<size_t>(v.size));
  dispatch_dtype(q.in[0].dtype, [&]<class E>() {
    for (int64_t o = 0; o < v.outer; ++o) {
      for (int64_t k = 0; k < v.inner; ++k) {
        const E* row = in[0].as<E>() + o * v.size * v.inner + k;
        std::iota(order.begin(), order.end(), 0);
        std::partial_sort(order.begin(), order.begin() + a.k, order.end(), [&](int64_t i, int64_t j) {
          const auto x = widen(row[i * v.inner]), y = widen(row[j * v.inner]);
          return goes_first(a.largest, x, y) || (!goes_first(a.largest, y, x) && i < j);
        });
        for (int64_t i = 0; i < a.k; ++i) {
          const int64_t to = (o * a.k + i) * v.inner + k;
          out[0].as<E>()[to] = row[order[static_cast<size_t>(i)] * v.inner];
          out[1].as<int64_t>()[to] = order[static_cast<size_t>(i)];
        }
      }
    }
  });
}

void run_topk_grad(const KernelQuery& q, Span<const Buffer> in, Span<const Buffer> out) {
  const AxisView from = view_along("topk_grad", q.in[0].shape, q.attrs.as<TopkGradAttrs>().axis);
  const int64_t size = q.attrs.as<TopkGradAttrs>().size;
  if (q.out[0].numel() > 0) std::memset(out[0].data, 0, static_cast<size_t>(q.out[0].nbytes()));
  dispatch_dtype(q.in[0].dtype, [&]<class E>() {
    for (int64_t o = 0; o < from.outer; ++o) {
      for (int64_t i = 0; i < from.size; ++i) {
        for (int64_t k = 0; k < from.inner; ++k) {
          const int64_t at = (o * from.size + i) * from.inner + k, index = in[1].as<int64_t>()[at];
          if (index >= 0 && index < size) out[0].as<E>()[(o * size + index) * from.inner + k] = in[0].as<E>()[at];
        }
      }
    }
  });
}

void run_cumsum(const KernelQuery& q, Span<const Buffer> in, Span<const Buffer> out) {
  const auto& a = q.attrs.as<CumsumAttrs>();
  const AxisView v = view_along("cumsum", q.in[0].shape, a.axis);
  dispatch_dtype(q.in[0].dtype, [&]<class E>() {
    using Out = SumType<E>;
    for (int64_t o = 0; o < v.outer; ++o) {
      for (int64_t k = 0; k < v.inner; ++k) {
        Accumulator<E> sum{};
        for (int64_t i = 0; i < v.size; ++i) {
          const int64_t at = (o * v.size + (a.reverse ? v.size - 1 - i : i)) * v.inner + k;
          sum += static_cast<Accumulator<E>>(widen(in[0].as<E>()[at]));
          out[0].as<Out>()[at] = narrow<Out>(sum);
        }
      }
    }
  });
}

const bool kArgmax = register_kernel({.op = "argmax", .name = "reference", .priority = kReferencePriority, .simple = run_arg<true>});
const bool kArgmin = register_kernel({.op = "argmin", .name = "reference", .priority = kReferencePriority, .simple = run_arg<false>});
const bool kTopk = register_kernel({.op = "topk", .name = "reference", .priority = kReferencePriority, .simple = run_topk});
const bool kTopkGrad = register_kernel({.op = "topk_grad", .name = "reference", .priority = kReferencePriority, .simple = run_topk_grad});
const bool kCumsum = register_kernel({.op = "cumsum", .name = "reference", .priority = kReferencePriority, .simple = run_cumsum});

}  // namespace
}  // namespace sindri
