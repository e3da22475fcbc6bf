// Reference kernels of the optimizer updates: element by element, in double.
#include <cmath>

#include "ops/optimizer/optimizer_common.h"
#include "src/op/element.h"

namespace sindri::ops {
namespace {

struct Step {
  double velocity, direction;
};

Step momentum_step(const MomentumCoefficients& k, double v, double g) {
  const double updated = k.momentum * v + k.gain * g;
  switch (k.velocity) {
    case Velocity::kUpdate: return {updated, updated};
    case Velocity::kNesterov: return {updated, g + k.momentum * updated};
    case Velocity::kFirst: return {g, g};
    case Velocity::kFirstNesterov: return {g, g + k.momentum * g};
    default: return {v, g};
  }
}

void momentum_loop(const MomentumCoefficients& k, const Buffer& param, const Buffer& velocity, const Buffer& grad, const Buffer& new_param,
                   const Buffer& new_velocity) {
  for (int64_t i = 0; i < param.meta->numel(); ++i) {
    const double p = load_element(param, i), g = load_element(grad, i) * k.grad_scale + k.weight_decay * p;
    const Step s = momentum_step(k, load_element(velocity, i), g);
    store_element(new_param, i, p - k.lr * s.direction);
    store_element(new_velocity, i, s.velocity);
  }
}

void momentum(const KernelQuery& q, Span<const Buffer> in, Span<const Buffer> out) {
  if (update_controls(in, 5).skip) return keep_states(in, out);
  momentum_loop(momentum_coefficients(q.attrs, in), in[0], in[1], in[2], out[0], out[1]);
}

void sgd(const KernelQuery& q, Span<const Buffer> in, Span<const Buffer> out) {
  if (update_controls(in, 5).skip) return keep_states(in, out);
  const MomentumCoefficients k = sgd_coefficients(q.attrs, in);
  momentum_loop(k, in[0], in[1], in[3], out[0], out[1]);
  store_stat(k.velocity == Velocity::kUnused, in[2], out[2]);
}

void adam_loop(const AdamCoefficients& k, Span<const Buffer> in, Span<const Buffer> out) {
  for (int64_t i = 0; i < in[0].meta->numel(); ++i) {
    const double p = load_element(in[0], i), g = load_element(in[3], i) * k.grad_scale + k.l2 * p;
    const double m = k.beta1 * load_element(in[1], i) + (1 - k.beta1) * g, v = k.beta2 * load_element(in[2], i) + (1 - k.beta2) * g * g;
    const double direction = k.nesterov ? k.beta1 * m + (1 - k.beta1) * g : m;
    const double step = direction == 0 ? 0 : direction / (std::sqrt(v) + k.eps);  // 0/0 if nothing has moved yet and eps is 0
    store_element(out[0], i, p - k.lr * (step + k.decay * p));
    store_element(out[1], i, m);
    store_element(out[2], i, v);
  }
}

void adam(const KernelQuery& q, Span<const Buffer> in, Span<const Buffer> out) {
  if (update_controls(in, 7).skip) return keep_states(in, out);
  adam_loop(adam_coefficients(q.attrs, in), in, out);
}
void adam_weight_decay(const KernelQuery& q, Span<const Buffer> in, Span<const Buffer> out) {
  if (update_controls(in, 5).skip) return keep_states(in, out);
  adam_loop(adam_weight_decay_coefficients(q.attrs, in), in, out);
}

bool reference(const char* op, SimpleKernelFn fn) { return register_kernel({.op = op, .name = "reference", .priority = kReferencePriority, .simple = fn}); }
const bool kMomentum = reference("momentum_update", momentum);
const bool kSgd = reference("sgd_update", sgd);
const bool kAdam = reference("adam_update", adam);
const bool kAdamWeightDecay = reference("adam_weight_decay_update", adam_weight_decay);

}  // namespace
}  // namespace sindri::ops
