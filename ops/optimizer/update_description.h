// An update op with its attributes as kernels take it: its rule, where its scalars go, and which inputs are what. Kernels of devices, which cannot read
// scalars on the host, need no more.
#pragma once

#include <array>

#include "ops/optimizer/update_rules.h"
#include "sindri/export.h"
#include "sindri/op/op_def.h"

namespace sindri::ops {

/// Inputs: param, `states` states, [stat], grad, `scalars` scalars, [inv_scale], [skip]; outputs: param, states, [stat].
struct UpdateDescription {
  UpdateRuleId rule{};
  UpdateRuleId first{};  ///< in place of `rule` where stat is above 0
  size_t states = 1;
  bool stat = false;  ///< sgd_update's, which `rule` leaves as it is if it is kGradientDescent, and makes 0 otherwise
  ScalarUse use = ScalarUse::kLr;
  size_t scalars = 1;
  std::array<double, kMaxRuleNumbers> numbers{};  ///< what attributes give of them (update_rules.h); put_scalars and inv_scale add the rest

  size_t grad() const { return states + (stat ? 2 : 1); }
  size_t fixed_inputs() const { return grad() + 1 + scalars; }
};
using DescribeUpdate = UpdateDescription (*)(const Attrs& attrs);

/// How the update op of that name is described; null for an op that is none.
SINDRI_API DescribeUpdate find_update(const OpDef& op);
/// At start-up, by the files that define update ops.
bool add_update(const char* op, DescribeUpdate describe);

}  // namespace sindri::ops
