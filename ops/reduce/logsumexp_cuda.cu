// logsumexp on CUDA devices: m + log(sum(e^(x - m))), where m is the largest element if that is finite, else 0, so that infinities are preserved. Memory
// traffic: the input once and the output once, since m and the sum are computed in one pass (rows.h).
#include "ops/reduce/reduce_impl.h"
#include "src/device/cuda/fold.h"
#include "src/device/cuda/rows.h"

namespace sindri::cuda {
namespace {

using namespace reduce;

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
  with_logsumexp(call.query, call.in[0].data, call.out[0].data, [&](const auto& policy, const FoldPlan& plan) {
    run_fold(call, plan, policy, aligned_for_vectors<typename std::decay_t<decltype(policy)>::Element>(policy.x), call.workspace);
  });
}

const bool kLogsumexp = register_cuda_kernel({.op = "logsumexp", .run = run_logsumexp, .workspace = logsumexp_workspace});

}  // namespace
}  // namespace sindri::cuda
