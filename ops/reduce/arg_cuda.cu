// argmax and argmin on CUDA devices. Memory traffic: the input once and the output once.
#include <string_view>

#include "ops/reduce/reduce_impl.h"
#include "src/device/cuda/fold.h"

namespace sindri::cuda {
namespace {

using namespace reduce;

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
    // A thread reads its elements in rising order, so an equal one never replaces the best.
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
  // bool is compared as its byte, which is 0 or 1.
  return dispatch_element(q.in[0].dtype == DType::kBool ? DType::kUInt8 : q.in[0].dtype, [&]<class E>() {
    const Arg<E> policy{{static_cast<const E*>(x)}, static_cast<int64_t*>(out), largest};
    return f(policy, plan_fold(q.in[0], q.out[0], reduced, kVector<E>));
  });
}
int64_t arg_workspace(const KernelQuery& q) {
  return with_arg(q, nullptr, nullptr, [](const auto& policy, const FoldPlan& plan) { return fold_workspace(policy, plan); });
}
void run_arg(const Call& call) {
  with_arg(call.query, call.in[0].data, call.out[0].data, [&](const auto& policy, const FoldPlan& plan) {
    run_fold(call, plan, policy, aligned_for_vectors<typename std::decay_t<decltype(policy)>::Element>(policy.x), call.workspace);
  });
}

const bool kArgmax = register_cuda_kernel({.op = "argmax", .run = run_arg, .workspace = arg_workspace});
const bool kArgmin = register_cuda_kernel({.op = "argmin", .run = run_arg, .workspace = arg_workspace});

}  // namespace
}  // namespace sindri::cuda
