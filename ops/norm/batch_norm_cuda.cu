// Batch normalisation forward, with and without relu and residual, on CUDA devices. Memory traffic: x twice, the residual once, y
// once.
#include "ops/norm/batch_norm_cuda.h"

namespace sindri::cuda {
namespace {

using ops::BatchNormAttrs;

// y = (x - mean)·scale + beta, with relu max(y + residual, 0). Each step is rounded to E as in the separate ops.
template <class E> struct Apply {
  using Element = E;
  using T = Number<E>;
  struct Fixed {
    T mean, scale, beta;
  };
  const E *x, *residual;  // null: none
  E* y;
  bool relu;
  const T* factors;  // null: from gamma, beta, mean and var
  Floating gamma, beta, mean, var;
  double eps;
  uint8_t* mask;  // null: none

  SINDRI_DEVICE Fixed fixed(int64_t c) const {
    if (factors != nullptr) return {factors[c * 3], factors[c * 3 + 1], factors[c * 3 + 2]};
    return {mean.read<T>(c), static_cast<T>(gamma.read<double>(c) / sqrt(var.read<double>(c) + eps)), beta.read<T>(c)};
  }
  template <int V, int F> SINDRI_DEVICE void apply(int64_t at, const Fixed (&fixed)[F]) const {
    auto e = load_vector<V>(x + at);
    ElementVector<E, V> r = e;
    uint32_t bits = 0;
    if (residual != nullptr) r = load_vector<V>(residual + at);
    for (int j = 0; j < V; ++j) {
      const Fixed& f = fixed[F == 1 ? 0 : j];
      T v = normalise(load(e.e[j]), f.mean, f.scale, f.beta);
      if (residual != nullptr) v = rounded<E>(v) + load(r.e[j]);
      if (relu) v = rounded<E>(v) < T(0) ? T(0) : v;  // NaN propagates, as in the op relu
      e.e[j] = store_as<E>(v);
      if (!(rounded<E>(v) <= T(0))) bits |= 1u << j;
    }
    store_vector(y + at, e);
    if constexpr (V == 8)
      if (mask != nullptr) mask[at / 8] = static_cast<uint8_t>(bits);
  }
};

// Writes the mask if the pass above did not write whole bytes.
template <class E> __global__ void pack_mask(const E* y, uint8_t* mask, int64_t n) {
  for (int64_t b = global_thread(); b * 8 < n; b += global_threads()) {
    uint32_t bits = 0;
    for (int64_t i = b * 8; i < n && i < b * 8 + 8; ++i)
      if (!(load(y[i]) <= Number<E>(0))) bits |= 1u << (i % 8);
    mask[b] = static_cast<uint8_t>(bits);
  }
}

template <class E> FoldPlan plan_of(const KernelQuery& q) { return plan_fold(q.in[0], q.out[1], all_but_channels(), kVector<E>); }

int64_t train_workspace(const KernelQuery& q) {
  int64_t bytes = 0;
  dispatch_floating_element(q.in[0].dtype, [&]<class E>() { bytes = factor_bytes<E>(q.in[0]) + fold_workspace(Stats<E>{}, plan_of<E>(q)); });
  return bytes;
}
// in: x, gamma, beta [, residual]; out: y, mean, var [, mask].
template <bool kRelu> void run_train(const Call& call) {
  const KernelQuery& q = call.query;
  double eps = 0;
  if constexpr (kRelu) eps = q.attrs.as<ops::BatchNormReluAttrs>().eps;
  else eps = q.attrs.as<BatchNormAttrs>().eps;
  const ops::ChannelView v = ops::channel_view(q.in[0]);
  if (v.c == 0) return;
  dispatch_floating_element(q.in[0].dtype, [&]<class E>() {
    const E *const x = call.input<E>(0), *const residual = call.in.size() > 3 ? call.input<E>(3) : nullptr;
    E* const y = call.output<E>(0);
    auto* const factors = static_cast<Number<E>*>(call.workspace);
    const Floating gamma = floating(call.in[1]), beta = floating(call.in[2]), mean = floating(call.out[1]), var = floating(call.out[2]);
    const Stats<E> stats{x, v.stride_c, v.count(), eps, gamma, beta, mean, var, factors};
    uint8_t* const mask = call.out.size() > 3 ? call.output<uint8_t>(3) : nullptr;
    const Apply<E> apply{x, residual, y, kRelu, factors, gamma, beta, mean, var, eps, mask};
    const bool aligned = aligned_for_vectors<E>(x, y, residual);
    run_fold_then_channels(call, q.in[0], plan_of<E>(q), stats, aligned_for_vectors<E>(x), apply, aligned,
                           static_cast<char*>(call.workspace) + factor_bytes<E>(q.in[0]));
    const bool whole_bytes = kVector<E> == 8 && aligned && (v.planar ? v.s : v.c) % 8 == 0;
    if (mask != nullptr && !whole_bytes && q.in[0].numel() > 0)
      launch(call, grid_for(ceil_div(q.in[0].numel(), 8)), pack_mask<E>, static_cast<const E*>(y), mask, q.in[0].numel());
  });
}
// x is read twice.
KernelCost train_cost(const KernelQuery& q) {
  KernelCost cost{.extra_bytes = q.in[0].nbytes()};
  const ops::ChannelView v = ops::channel_view(q.in[0]);
  dispatch_floating_element(q.in[0].dtype, [&]<class E>() {
    cost.launches = fold_then_channels_launches(q.in[0], plan_of<E>(q));
    if (q.out.size() > 3 && !(kVector<E> == 8 && (v.planar ? v.s : v.c) % 8 == 0)) ++cost.launches;
  });
  return cost;
}
// in: x, gamma, beta, mean, var; out: y.
void run_infer(const Call& call) {
  const KernelQuery& q = call.query;
  dispatch_floating_element(q.in[0].dtype, [&]<class E>() {
    const E* const x = call.input<E>(0);
    E* const y = call.output<E>(0);
    const Apply<E> apply{x,
                         nullptr,
                         y,
                         false,
                         nullptr,
                         floating(call.in[1]),
                         floating(call.in[2]),
                         floating(call.in[3]),
                         floating(call.in[4]),
                         q.attrs.as<BatchNormAttrs>().eps,
                         nullptr};
    run_channels(call, q.in[0], apply, aligned_for_vectors<E>(x, y));
  });
}

const bool kTrain = register_cuda_kernel({.op = "batch_norm_train", .run = run_train<false>, .workspace = train_workspace, .cost = train_cost});
const bool kTrainRelu = register_cuda_kernel({.op = "batch_norm_relu", .run = run_train<true>, .workspace = train_workspace, .cost = train_cost});
const bool kInfer = register_cuda_kernel({.op = "batch_norm_infer", .run = run_infer});

}  // namespace
}  // namespace sindri::cuda
