// See update_op.h.
#include "ops/optimizer/update_op.h"

#include "src/op/element.h"

namespace sindri::ops {

std::vector<TensorMeta> infer_update(const UpdateOp& u, const Attrs& attrs, Span<const TensorMeta> in) {
  const size_t states = count_names(u.states), scalars = count_names(u.scalars);
  check_arity_with_controls(u.name, in, states + 2 + scalars);
  check_state(u.name, in, {});
  for (size_t s = 0; s < states; ++s) check_state(u.name, in, {{s + 1, u.states[s]}});
  check_grad(u.name, in[0], in[states + 1]);
  for (size_t s = 0; s < scalars; ++s) check_scalar(u.name, in[states + 2 + s], u.scalars[s]);
  if (u.check != nullptr) u.check(attrs);
  return {in.begin(), in.begin() + static_cast<ptrdiff_t>(states + 1)};
}

UpdateDescription describe_update(const UpdateOp& u, double weight_decay, double grad_scale, const Attrs& attrs) {
  UpdateDescription d{.rule = u.rule, .states = count_names(u.states), .use = u.use, .scalars = count_names(u.scalars)};
  d.numbers[0] = grad_scale;
  d.numbers[1] = u.decoupled ? 0 : weight_decay;
  u.numbers(attrs, d.numbers.data());
  return d;
}

namespace {

template <class Rule> void reference_loop(const PreparedUpdate& u) {
  const Rule rule(u.numbers.data());
  for (int64_t i = 0; i < u.numel; ++i) {
    double p = load_element(u.in[0], i);
    const double g = load_element(u.in[Rule::kStates + 1], i) * u.numbers[0] + u.numbers[1] * p;
    std::array<double, kMaxRuleStates> s{};
    for (size_t k = 0; k < Rule::kStates; ++k) s[k] = load_element(u.in[k + 1], i);
    rule(p, s[0], s[1], s[2], g);
    store_element(u.out[0], i, p);
    for (size_t k = 0; k < Rule::kStates; ++k) store_element(u.out[k + 1], i, s[k]);
  }
}

void reference_update(const KernelQuery& q, Span<const Buffer> in, Span<const Buffer> out) {
  const PreparedUpdate u = prepare_update(find_update(q.op)(q.attrs), in, out);
  if (u.numel == 0) return;
  switch (u.rule) {
#define SINDRI_UPDATE_RULE_CASE(name) \
  case UpdateRuleId::k##name: return reference_loop<update_rules::name<double>>(u);
    SINDRI_UPDATE_RULES(SINDRI_UPDATE_RULE_CASE)
#undef SINDRI_UPDATE_RULE_CASE
  }
}

}  // namespace

void register_update_kernels(const UpdateOp& u, DescribeUpdate describe) {
  add_update(u.name, describe);
  register_update_loops(u.name);
  register_kernel({.op = u.name, .name = "reference", .priority = kReferencePriority, .simple = reference_update});
}

}  // namespace sindri::ops
