// Optimizer updates on the CPU: one vectorised pass over parameter, states and gradient, split over threads.
#include "ops/optimizer/optimizer_common.h"
#include "ops/optimizer/optimizer_simd.h"
#include "ops/optimizer/prepared_update.h"
#include "src/device/cpu/parallel.h"
#include "src/op/element.h"

namespace sindri::ops {
namespace {

const void* at(const Buffer& b, int64_t i) { return static_cast<const char*>(b.data) + i * static_cast<int64_t>(dtype_size(b.meta->dtype)); }
void* at_mutable(const Buffer& b, int64_t i) { return static_cast<char*>(b.data) + i * static_cast<int64_t>(dtype_size(b.meta->dtype)); }

void run_update(const KernelQuery& q, Span<const Buffer> in, Span<const Buffer> out) {
  const PreparedUpdate u = prepare_update(find_update(q.op)(q.attrs), in, out);
  parallel_for(u.numel, kUpdateGrain, [&](int64_t b, int64_t e) { u.run(b, e); });
}

const bool kMomentum = register_update_loops("momentum_update");
const bool kSgd = register_update_loops("sgd_update");
const bool kAdam = register_update_loops("adam_update");
const bool kAdamWeightDecay = register_update_loops("adam_weight_decay_update");

}  // namespace

bool register_update_loops(const char* op) {
  return register_kernel({.op = op, .name = "simd", .reject = [](const KernelQuery& q) { return reject_update(q.op, q.in); }, .simple = run_update});
}

PreparedUpdate prepare_update(const UpdateDescription& d, Span<const Buffer> in, Span<const Buffer> out) {
  const UpdateControls controls = update_controls(in, d.fixed_inputs());
  if (controls.skip) {
    keep_states(in, out);
    return {};
  }
  PreparedUpdate p{.numel = in[0].meta->numel(), .rule = d.rule, .numbers = d.numbers};
  std::array<double, kMaxRuleScalars> scalars{};
  for (size_t s = 0; s < d.scalars; ++s) scalars[s] = load_element(in[d.grad() + 1 + s], 0);
  p.numbers[0] *= controls.inv_scale;
  update_rules::put_scalars(d.use, scalars.data(), p.numbers.data());
  if (d.stat) {
    const Buffer& stat = in[d.states + 1];
    if (stat.meta->numel() > 0 && load_element(stat, 0) > 0) p.rule = d.first;
    store_stat(d.rule == UpdateRuleId::kGradientDescent, stat, out[d.states + 1]);
  }
  for (size_t i = 0; i <= d.states; ++i) p.in[i] = in[i], p.out[i] = out[i];
  p.in[d.states + 1] = in[d.grad()];
  return p;
}

void PreparedUpdate::run(int64_t begin, int64_t end) const {
  std::array<const void*, kMaxRuleStates + 2> from{};
  std::array<void*, kMaxRuleStates + 1> to{};
  size_t grad = 0;
  for (size_t i = 0; i < in.size() && in[i].meta != nullptr; ++i) from[grad = i] = at(in[i], begin);
  for (size_t i = 0; i < grad; ++i) to[i] = at_mutable(out[i], begin);
  SINDRI_SIMD_CALL(rule_run)(rule, in[0].meta->dtype, in[grad].meta->dtype, numbers.data(), end - begin, from.data(), to.data());
}

std::string reject_update(const OpDef& op, Span<const TensorMeta> in) {
  const TensorMeta& grad = in[op.traits.update_inputs - 1];
  return (in[0].dtype == DType::kFloat64) == (grad.dtype == DType::kFloat64) ? "" : "only one of param and grad is float64";
}

}  // namespace sindri::ops
