// Optimizer updates on the CPU: one vectorised pass over parameter, states and gradient, split over threads.
#include <string_view>

#include "ops/optimizer/optimizer_common.h"
#include "ops/optimizer/prepared_update.h"
#include "ops/optimizer/update_op.h"
#include "src/device/cpu/parallel.h"
#include "src/op/element.h"

namespace sindri::ops {
namespace {

const void* at(const Buffer& b, int64_t i) { return static_cast<const char*>(b.data) + i * static_cast<int64_t>(dtype_size(b.meta->dtype)); }
void* at_mutable(const Buffer& b, int64_t i) { return static_cast<char*>(b.data) + i * static_cast<int64_t>(dtype_size(b.meta->dtype)); }

PreparedUpdate nothing_but_old_values(Span<const Buffer> in, Span<const Buffer> out) {
  keep_states(in, out);
  return {};
}

// in: param, velocity, grad; out: param, velocity.
void momentum_range(const PreparedUpdate& u, int64_t b, int64_t e) {
  SINDRI_SIMD_CALL(momentum_run)
  (u.in[0].meta->dtype, u.in[2].meta->dtype, u.momentum, e - b, at(u.in[0], b), at(u.in[1], b), at(u.in[2], b), at_mutable(u.out[0], b),
   at_mutable(u.out[1], b));
}

PreparedUpdate momentum_update(const MomentumCoefficients& k, const Buffer& p, const Buffer& v, const Buffer& g, const Buffer& new_p, const Buffer& new_v) {
  return {.range = momentum_range,
          .numel = p.meta->numel(),
          .momentum = {static_cast<int>(k.velocity), k.lr, k.weight_decay, k.grad_scale, k.momentum, k.gain},
          .in = {p, v, g},
          .out = {new_p, new_v}};
}

PreparedUpdate prepare_momentum(const Attrs& attrs, Span<const Buffer> in, Span<const Buffer> out) {
  if (update_controls(in, 5).skip) return nothing_but_old_values(in, out);
  return momentum_update(momentum_coefficients(attrs, in), in[0], in[1], in[2], out[0], out[1]);
}

PreparedUpdate prepare_sgd(const Attrs& attrs, Span<const Buffer> in, Span<const Buffer> out) {
  if (update_controls(in, 5).skip) return nothing_but_old_values(in, out);
  const MomentumCoefficients k = sgd_coefficients(attrs, in);
  store_stat(k, in[2], out[2]);
  return momentum_update(k, in[0], in[1], in[3], out[0], out[1]);
}

// in: param, m, v, grad; out: param, m, v.
void adam_range(const PreparedUpdate& u, int64_t b, int64_t e) {
  SINDRI_SIMD_CALL(adam_run)
  (u.in[0].meta->dtype, u.in[3].meta->dtype, u.adam, e - b, at(u.in[0], b), at(u.in[1], b), at(u.in[2], b), at(u.in[3], b), at_mutable(u.out[0], b),
   at_mutable(u.out[1], b), at_mutable(u.out[2], b));
}

PreparedUpdate adam_update(const AdamCoefficients& k, Span<const Buffer> in, Span<const Buffer> out) {
  return {.range = adam_range,
          .numel = in[0].meta->numel(),
          .adam = {k.lr, k.l2, k.decay, k.grad_scale, k.beta1, k.beta2, k.eps, k.nesterov},
          .in = {in[0], in[1], in[2], in[3]},
          .out = {out[0], out[1], out[2]}};
}

PreparedUpdate prepare_adam(const Attrs& attrs, Span<const Buffer> in, Span<const Buffer> out) {
  if (update_controls(in, 7).skip) return nothing_but_old_values(in, out);
  return adam_update(adam_coefficients(attrs, in), in, out);
}

PreparedUpdate prepare_adam_weight_decay(const Attrs& attrs, Span<const Buffer> in, Span<const Buffer> out) {
  if (update_controls(in, 5).skip) return nothing_but_old_values(in, out);
  return adam_update(adam_weight_decay_coefficients(attrs, in), in, out);
}

struct Update {
  const char* op;
  PrepareUpdate prepare;
};

std::vector<Update>& updates() {
  static std::vector<Update> list;
  return list;
}

void run_update(const KernelQuery& q, Span<const Buffer> in, Span<const Buffer> out) {
  const PreparedUpdate u = find_prepare(q.op)(q.attrs, in, out);
  parallel_for(u.numel, kUpdateGrain, [&](int64_t b, int64_t e) { u.range(u, b, e); });
}

bool register_simd(const char* op, PrepareUpdate prepare) {
  updates().push_back({op, prepare});
  return register_kernel({.op = op, .name = "simd", .reject = [](const KernelQuery& q) { return reject_update(q.op, q.in); }, .simple = run_update});
}

const bool kMomentum = register_simd("momentum_update", prepare_momentum);
const bool kSgd = register_simd("sgd_update", prepare_sgd);
const bool kAdam = register_simd("adam_update", prepare_adam);
const bool kAdamWeightDecay = register_simd("adam_weight_decay_update", prepare_adam_weight_decay);

}  // namespace

void register_update_kernels(const UpdateOp& u, PrepareUpdate prepare, SimpleKernelFn reference) {
  register_simd(u.name, prepare);
  register_kernel({.op = u.name, .name = "reference", .priority = kReferencePriority, .simple = reference});
}

void rule_range(const PreparedUpdate& u, int64_t b, int64_t e) {
  std::array<const void*, kMaxRuleStates + 2> in{};
  std::array<void*, kMaxRuleStates + 1> out{};
  size_t grad = 0;
  for (size_t i = 0; i < u.in.size() && u.in[i].meta != nullptr; ++i) in[grad = i] = at(u.in[i], b);
  for (size_t i = 0; i < grad; ++i) out[i] = at_mutable(u.out[i], b);
  SINDRI_SIMD_CALL(rule_run)(u.rule, u.in[0].meta->dtype, u.in[grad].meta->dtype, u.numbers.data(), e - b, in.data(), out.data());
}

PrepareUpdate find_prepare(const OpDef& op) {
  for (const Update& u : updates()) {
    if (std::string_view(u.op) == op.name) return u.prepare;
  }
  return nullptr;
}

std::string reject_update(const OpDef& op, Span<const TensorMeta> in) {
  const TensorMeta& grad = in[op.traits.update_inputs - 1];
  return (in[0].dtype == DType::kFloat64) == (grad.dtype == DType::kFloat64) ? "" : "only one of param and grad is float64";
}

}  // namespace sindri::ops
