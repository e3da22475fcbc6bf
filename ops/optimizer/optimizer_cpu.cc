// Optimizer updates on the CPU: one vectorised pass over parameter, states and gradient, split over threads.
#include "ops/optimizer/optimizer_common.h"
#include "ops/optimizer/optimizer_simd.h"
#include "src/device/cpu/parallel.h"
#include "src/op/element.h"

namespace sindri::ops {
namespace {

constexpr int64_t kGrain = 16384;  // elements worth a thread

const void* at(const Buffer& b, int64_t i) { return static_cast<const char*>(b.data) + i * static_cast<int64_t>(dtype_size(b.meta->dtype)); }
void* at_mutable(const Buffer& b, int64_t i) { return static_cast<char*>(b.data) + i * static_cast<int64_t>(dtype_size(b.meta->dtype)); }

void update_momentum(const MomentumCoefficients& k, const Buffer& p, const Buffer& v, const Buffer& g, const Buffer& new_p, const Buffer& new_v) {
  const MomentumScalars s{static_cast<int>(k.velocity), k.lr, k.weight_decay, k.grad_scale, k.momentum, k.gain};
  parallel_for(p.meta->numel(), kGrain, [&](int64_t b, int64_t e) {
    SINDRI_SIMD_CALL(momentum_run)(p.meta->dtype, g.meta->dtype, s, e - b, at(p, b), at(v, b), at(g, b), at_mutable(new_p, b), at_mutable(new_v, b));
  });
}

void momentum(const KernelQuery& q, Span<const Buffer> in, Span<const Buffer> out) {
  if (update_controls(in, 5).skip) return keep_states(in, out);
  update_momentum(momentum_coefficients(q.attrs, in), in[0], in[1], in[2], out[0], out[1]);
}

void sgd(const KernelQuery& q, Span<const Buffer> in, Span<const Buffer> out) {
  if (update_controls(in, 5).skip) return keep_states(in, out);
  const MomentumCoefficients k = sgd_coefficients(q.attrs, in);
  const double stat = load_element(in[2], 0);
  update_momentum(k, in[0], in[1], in[3], out[0], out[1]);
  store_element(out[2], 0, k.velocity == Velocity::kUnused ? stat : 0);
}

void update_adam(const AdamCoefficients& k, Span<const Buffer> in, Span<const Buffer> out) {
  const AdamScalars s{k.lr, k.l2, k.decay, k.grad_scale, k.beta1, k.beta2, k.eps, k.nesterov};
  parallel_for(in[0].meta->numel(), kGrain, [&](int64_t b, int64_t e) {
    SINDRI_SIMD_CALL(adam_run)
    (in[0].meta->dtype, in[3].meta->dtype, s, e - b, at(in[0], b), at(in[1], b), at(in[2], b), at(in[3], b), at_mutable(out[0], b), at_mutable(out[1], b),
     at_mutable(out[2], b));
  });
}

void adam(const KernelQuery& q, Span<const Buffer> in, Span<const Buffer> out) {
  if (update_controls(in, 7).skip) return keep_states(in, out);
  update_adam(adam_coefficients(q.attrs, in), in, out);
}
void adam_weight_decay(const KernelQuery& q, Span<const Buffer> in, Span<const Buffer> out) {
  if (update_controls(in, 5).skip) return keep_states(in, out);
  update_adam(adam_weight_decay_coefficients(q.attrs, in), in, out);
}

template <size_t kGrad> std::string reject(const KernelQuery& q) {
  return (q.in[0].dtype == DType::kFloat64) == (q.in[kGrad].dtype == DType::kFloat64) ? "" : "only one of param and grad is float64";
}

const bool kMomentum = register_kernel({.op = "momentum_update", .name = "simd", .reject = reject<2>, .simple = momentum});
const bool kSgd = register_kernel({.op = "sgd_update", .name = "simd", .reject = reject<3>, .simple = sgd});
const bool kAdam = register_kernel({.op = "adam_update", .name = "simd", .reject = reject<3>, .simple = adam});
const bool kAdamWeightDecay = register_kernel({.op = "adam_weight_decay_update", .name = "simd", .reject = reject<3>, .simple = adam_weight_decay});

}  // namespace
}  // namespace sindri::ops
