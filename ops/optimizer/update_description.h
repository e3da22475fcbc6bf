// An update op with its attributes in the form that kernels use: its rule, the positions of its scalars, and the roles of its inputs. Kernels of
// devices, which cannot read scalars on the host, need nothing else.
#pragma once

#include <array>

#include "ops/optimizer/update_rules.h"
#include "sindri/export.h"
#include "sindri/op/op_def.h"

namespace sindri::ops {

/// Inputs: param, `states` states, [stat], grad, `scalars` scalars, [inv_scale], [skip]; outputs: param, states, [stat].
struct UpdateDescription {
  UpdateRuleId rule{};
  UpdateRuleId first{};  ///< replaces `rule` if stat is above 0
  size_t states = 1;
  bool stat = false;  ///< sgd_update's, which `rule` leaves unchanged if it is kGradientDescent, and sets to 0 otherwise
  ScalarUse use = ScalarUse::kLr;
  size_t scalars = 1;
  std::array<double, kMaxRuleNumbers> numbers{};  ///< the numbers that attributes determine (update_rules.h); put_scalars and inv_scale add the others

  size_t grad() const { return states + (stat ? 2 : 1); }
  size_t fixed_inputs() const { return grad() + 1 + scalars; }
};
using DescribeUpdate = UpdateDescription (*)(const Attrs& attrs);

/// The description of an update op; null if `op` is not an update op.
SINDRI_API DescribeUpdate find_update(const OpDef& op);
/// Called at start-up by the files that define update ops.
bool add_update(const char* op, DescribeUpdate describe);

}  // namespace sindri::ops
