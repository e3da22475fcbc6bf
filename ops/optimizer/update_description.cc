// The list of update ops, and descriptions of those that are not defined by an UpdateOp (update_op.h).
#include "ops/optimizer/update_description.h"

#include <string_view>
#include <vector>

#include "ops/optimizer/optimizer_common.h"

namespace sindri::ops {
namespace {

struct Update {
  const char* op;
  DescribeUpdate describe;
};
std::vector<Update>& updates() {
  static std::vector<Update> list;
  return list;
}

UpdateDescription describe_momentum(const Attrs& attrs) {
  const auto& a = attrs.as<MomentumAttrs>();
  return {.rule = a.nesterov ? UpdateRuleId::kMomentumNesterov : UpdateRuleId::kMomentum,
          .use = ScalarUse::kLrMomentum,
          .scalars = 2,
          .numbers = {a.grad_scale, a.weight_decay, 0, 0, 1}};
}

UpdateDescription describe_sgd(const Attrs& attrs) {
  const auto& a = attrs.as<SgdAttrs>();
  UpdateDescription d{.stat = true, .numbers = {a.grad_scale, a.weight_decay, 0, a.momentum, 1 - a.dampening}};
  if (a.momentum == 0) d.rule = d.first = UpdateRuleId::kGradientDescent;
  else if (a.nesterov) d.rule = UpdateRuleId::kMomentumNesterov, d.first = UpdateRuleId::kMomentumFirstNesterov;
  else d.rule = UpdateRuleId::kMomentum, d.first = UpdateRuleId::kMomentumFirst;
  return d;
}

UpdateDescription describe_adam(const Attrs& attrs) {
  const auto& a = attrs.as<AdamAttrs>();
  return {.rule = a.nesterov ? UpdateRuleId::kAdamNesterov : UpdateRuleId::kAdam,
          .states = 2,
          .use = ScalarUse::kAdam,
          .scalars = 3,
          .numbers = {a.grad_scale, a.weight_decay, 0, a.beta1, a.beta2, a.eps, 0}};
}

UpdateDescription describe_adam_weight_decay(const Attrs& attrs) {
  const auto& a = attrs.as<AdamWeightDecayAttrs>();
  return {.rule = UpdateRuleId::kAdam, .states = 2, .numbers = {a.grad_scale, 0, 0, a.beta1, a.beta2, a.eps, a.weight_decay}};
}

const bool kMomentumDescribed = add_update("momentum_update", describe_momentum);
const bool kSgdDescribed = add_update("sgd_update", describe_sgd);
const bool kAdamDescribed = add_update("adam_update", describe_adam);
const bool kAdamWeightDecayDescribed = add_update("adam_weight_decay_update", describe_adam_weight_decay);

}  // namespace

bool add_update(const char* op, DescribeUpdate describe) {
  updates().push_back({op, describe});
  return true;
}

DescribeUpdate find_update(const OpDef& op) {
  for (const Update& u : updates())
    if (std::string_view(u.op) == op.name) return u.describe;
  return nullptr;
}

}  // namespace sindri::ops
