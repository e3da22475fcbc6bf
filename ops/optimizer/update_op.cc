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

PreparedUpdate prepare_update(const UpdateOp& u, double weight_decay, double grad_scale, const Attrs& attrs, Span<const Buffer> in, Span<const Buffer> out) {
  const size_t states = count_names(u.states), scalars = count_names(u.scalars);
  const UpdateControls controls = update_controls(in, states + 2 + scalars);
  if (controls.skip) {
    keep_states(in, out);
    return {};
  }
  PreparedUpdate p{.range = rule_range, .numel = in[0].meta->numel(), .rule = u.rule};
  std::array<double, 3> values{};
  for (size_t s = 0; s < scalars; ++s) values[s] = load_element(in[states + 2 + s], 0);
  p.numbers[0] = grad_scale * controls.inv_scale;
  p.numbers[1] = u.decoupled ? 0 : weight_decay;
  u.numbers(attrs, values.data(), p.numbers.data());
  for (size_t i = 0; i < states + 2; ++i) p.in[i] = in[i];
  for (size_t i = 0; i < states + 1; ++i) p.out[i] = out[i];
  return p;
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

}  // namespace

void reference_update(const PreparedUpdate& u) {
  if (u.numel == 0) return;
  switch (u.rule) {
#define SINDRI_UPDATE_RULE_CASE(name) \
  case UpdateRuleId::k##name: return reference_loop<update_rules::name<double>>(u);
    SINDRI_UPDATE_RULES(SINDRI_UPDATE_RULE_CASE)
#undef SINDRI_UPDATE_RULE_CASE
  }
}

}  // namespace sindri::ops
