// Shared by the ops of update_rules.h: a rule's op consists of its attributes, its scalars and the numbers it computes from both.
// Checks and kernels are derived from that.
#pragma once

#include "ops/optimizer/optimizer_checks.h"
#include "ops/optimizer/optimizer_common.h"
#include "ops/optimizer/prepared_update.h"
#include "ops/optimizer/update_rules.h"

namespace sindri::ops {

/// Inputs: param, `states`, grad, `scalars`, [inv_scale], [skip]; outputs: param, states. Attributes hold weight_decay and grad_scale.
struct UpdateOp {
  const char* name;
  UpdateRuleId rule;
  std::array<const char*, kMaxRuleStates> states;  ///< null after the last
  std::array<const char*, 3> scalars;  ///< lr and others
  void (*check)(const Attrs&);  ///< checks the attributes; throws ValueError
  /// Writes the numbers of the rule (see update_rules.h) that attributes determine. k[0] and k[1] are set already; `use` adds the scalars.
  void (*numbers)(const Attrs&, double* k);
  ScalarUse use = ScalarUse::kLr;
  bool decoupled = false;  ///< weight decay is part of the rule, not of the gradient
  bool makes_param = true;  ///< output 0 is the new param, which may take the memory of the old one
};

constexpr size_t count_names(Span<const char* const> names) {
  size_t n = 0;
  while (n < names.size() && names[n] != nullptr) ++n;
  return n;
}

std::vector<TensorMeta> infer_update(const UpdateOp& u, const Attrs& attrs, Span<const TensorMeta> in);
UpdateDescription describe_update(const UpdateOp& u, double weight_decay, double grad_scale, const Attrs& attrs);
/// Adds the op to those that find_update knows, and registers its kernels.
void register_update_kernels(const UpdateOp& u, DescribeUpdate describe);

/// Registers the op with its kernels: `const OpDef& kAdagrad = register_update<AdagradAttrs, kRule>("doc");`
template <class A, const UpdateOp& kUpdate> const OpDef& register_update(const char* doc) {
  register_update_kernels(kUpdate, [](const Attrs& attrs) {
    const auto& a = attrs.as<A>();
    return describe_update(kUpdate, a.weight_decay, a.grad_scale, attrs);
  });
  const size_t states = count_names(kUpdate.states);
  return register_op({
      .name = kUpdate.name,
      .doc = doc,
      .attrs = attrs_type<A>(),
      .traits = {.amp = AmpClass::kFp32,
                 .layout = LayoutRule::kFollowInput0,
                 .saves_in = kSavesNone,
                 .inplace_pairs = ((2u << states) - 1) & (kUpdate.makes_param ? ~0u : ~1u),
                 .update_inputs = static_cast<uint32_t>(states + 2)},
      .infer =
          [](const Attrs& attrs, Span<const TensorMeta> in) {
            const auto& a = attrs.as<A>();
            check_not_negative(kUpdate.name, a.weight_decay, "weight_decay");
            return infer_update(kUpdate, attrs, in);
          },
  });
}

}  // namespace sindri::ops
