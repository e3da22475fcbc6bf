// argmax, argmin, logsumexp and searchsorted on CUDA devices. Bytes: the input once and the output once.
#include <string_view>

#include "ops/reduce/reduce_impl.h"
#include "src/device/cuda/fold.h"
#include "src/device/cuda/rows.h"

namespace sindri::cuda {
namespace {

using namespace reduce;

// ----- argmax, argmin -----

template <class E> struct Arg : FoldOf<E, Indexed<Number<E>>> {
  using T = Number<E>;
  using Found = Indexed<T>;
  int64_t* out;
  bool largest;

  SINDRI_DEVICE Found nothing() const { return {-1, T(0)}; }
  SINDRI_DEVICE Found identity() const { return nothing(); }
  SINDRI_DEVICE Found combine(const Found& a, const Found& b) const { return largest ? FirstOf<true>()(a, b) : FirstOf<false>()(a, b); }
  template <int V, int F>
  SINDRI_DEVICE void add(Found (&best)[V], const typename FoldOf<E, Found>::Fixed (&)[F], const ElementVector<E, V>& e, int64_t r, int64_t step) const {
    // A thread sees its elements in rising order, so an equal one never replaces the best.
    for (int j = 0; j < V; ++j) {
      const T v = load(e.e[j]), b = best[j].value;
      const bool better = b == b && (v != v || (largest ? v > b : v < b));
      if (better || best[j].index < 0) best[j] = {r + j * step, v};
    }
  }
  SINDRI_DEVICE void store(const Found& f, int64_t, int64_t at) const { out[at] = f.index; }
};

template <class F> decltype(auto) with_arg(const KernelQuery& q, const void* x, void* out, F&& f) {
  const AxisSet reduced = reduced_dims(q.op.name, {q.attrs.as<AxisAttrs>().axis}, q.in[0].shape.rank());
  const bool largest = std::string_view(q.op.name) == "argmax";
  // bool as its byte, which is 0 or 1.
  return dispatch_element(q.in[0].dtype == DType::kBool ? DType::kUInt8 : q.in[0].dtype, [&]<class E>() {
    const Arg<E> policy{{static_cast<const E*>(x)}, static_cast<int64_t*>(out), largest};
    return f(policy, plan_fold(q.in[0], q.out[0], reduced, kVector<E>));
  });
}
int64_t arg_workspace(const KernelQuery& q) {
  return with_arg(q, nullptr, nullptr, [](const auto& policy, const FoldPlan& plan) { return fold_workspace(policy, plan); });
}
template <class Policy> void run_policy(const Call& call, const Policy& policy, const FoldPlan& plan) {
  run_fold(call, plan, policy, aligned_for_vectors<typename Policy::Element>(policy.x), call.workspace);
}
void run_arg(const Call& call) {
  with_arg(call.query, call.in[0].data, call.out[0].data, [&](const auto& policy, const FoldPlan& plan) { run_policy(call, policy, plan); });
}

// ----- logsumexp: m + log(sum(e^(x - m))) with m the largest element where that is finite, else 0, so that infinities stay what they are -----

template <class E> struct LogSumExp : FoldOf<E, RowStats<Number<E>>> {
  using T = Number<E>;
  using Stats = RowStats<T>;
  E* out;

  SINDRI_DEVICE Stats nothing() const { return no_stats<T>(); }
  SINDRI_DEVICE Stats identity() const { return nothing(); }
  SINDRI_DEVICE Stats combine(const Stats& a, const Stats& b) const { return MergeStats()(a, b); }
  template <int V, int F>
  SINDRI_DEVICE void add(Stats (&s)[V], const typename FoldOf<E, Stats>::Fixed (&)[F], const ElementVector<E, V>& e, int64_t, int64_t step) const {
    if (step == 0) {  // V outputs
      for (int j = 0; j < V; ++j) {
        const T v[1] = {load(e.e[j])};
        take_elements(&s[j], v);
      }
    } else {
      T v[V];
      for (int j = 0; j < V; ++j) v[j] = load(e.e[j]);
      take_elements(&s[0], v);
    }
  }
  SINDRI_DEVICE void store(const Stats& s, int64_t, int64_t at) const { out[at] = store_as<E>(row_shift(s.max) + log(s.sum)); }
};

template <class F> void with_logsumexp(const KernelQuery& q, const void* x, void* out, F&& f) {
  const AxisSet reduced = reduced_dims(q.op.name, q.attrs.as<ReduceAttrs>().axes, q.in[0].shape.rank());
  dispatch_floating_element(q.in[0].dtype, [&]<class E>() {
    const LogSumExp<E> policy{{static_cast<const E*>(x)}, static_cast<E*>(out)};
    f(policy, plan_fold(q.in[0], q.out[0], reduced, kVector<E>));
  });
}
int64_t logsumexp_workspace(const KernelQuery& q) {
  int64_t bytes = 0;
  with_logsumexp(q, nullptr, nullptr, [&](const auto& policy, const FoldPlan& plan) { bytes = fold_workspace(policy, plan); });
  return bytes;
}
void run_logsumexp(const Call& call) {
  with_logsumexp(call.query, call.in[0].data, call.out[0].data, [&](const auto& policy, const FoldPlan& plan) { run_policy(call, policy, plan); });
}

// ----- searchsorted: a binary search for each value -----

template <class E> __global__ void search(const E* sorted, const E* values, int64_t* places, int64_t total, Divisor per_row, int64_t n, bool right) {
  for (int64_t i = global_thread(); i < total; i += global_threads()) {
    const E* const row = sorted + per_row.quotient(i) * n;
    const Number<E> v = load(values[i]);
    int64_t low = 0, high = n;  // elements before `low` lie below v, those from `high` on do not
    while (low < high) {
      const int64_t middle = low + (high - low) / 2;
      const Number<E> e = load(row[middle]);
      if (right ? e <= v : e < v) low = middle + 1;
      else high = middle;
    }
    places[i] = low;
  }
}
void run_search(const Call& call) {
  const KernelQuery& q = call.query;
  const Shape& rows = q.in[0].shape;
  const int64_t n = rows[rows.rank() - 1], total = q.in[1].numel();
  if (total == 0) return;
  // Values that share a row: all of them, or those of the last dimension.
  const int64_t per_row = rows.rank() == 1 ? total : q.in[1].shape[q.in[1].shape.rank() - 1];
  dispatch_element(q.in[0].dtype, [&]<class E>() {
    launch(call, grid_for(total), search<E>, call.input<E>(0), call.input<E>(1), call.output<int64_t>(0), total, Divisor(per_row, total), n,
           q.attrs.as<SearchsortedAttrs>().right);
  });
}

const bool kArgmax = register_cuda_kernel({.op = "argmax", .run = run_arg, .workspace = arg_workspace});
const bool kArgmin = register_cuda_kernel({.op = "argmin", .run = run_arg, .workspace = arg_workspace});
const bool kLogsumexp = register_cuda_kernel({.op = "logsumexp", .run = run_logsumexp, .workspace = logsumexp_workspace});
const bool kSearchsorted = register_cuda_kernel({.op = "searchsorted", .run = run_search});

}  // namespace
}  // namespace sindri::cuda
