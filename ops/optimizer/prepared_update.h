// One parameter's update with its scalars read: what the kernels of the update ops and of group_update run over ranges of elements.
#pragma once

#include <array>

#include "ops/optimizer/optimizer_simd.h"
#include "ops/optimizer/update_rules.h"
#include "sindri/op/kernel.h"

namespace sindri::ops {

struct PreparedUpdate {
  /// Elements [begin, end) of every output; ranges may run in any order and at once.
  void (*range)(const PreparedUpdate& u, int64_t begin, int64_t end) = nullptr;
  int64_t numel = 0;  ///< 0 for an update that is skipped, too: its old values are in place already
  MomentumScalars momentum{};
  AdamScalars adam{};
  UpdateRuleId rule{};
  std::array<double, kMaxRuleNumbers> numbers{};  // of the rule, see update_rules.h
  std::array<Buffer, kMaxRuleStates + 2> in{};  // param, states, grad
  std::array<Buffer, kMaxRuleStates + 1> out{};  // param, states
};

/// Reads the scalars of a call of an update op and writes its scalar results. Inputs and outputs are those of the op.
using PrepareUpdate = PreparedUpdate (*)(const Attrs& attrs, Span<const Buffer> in, Span<const Buffer> out);
/// For the update op of that name; null when it has no vectorised kernel.
PrepareUpdate find_prepare(const OpDef& op);
/// Why the vectorised loops cannot serve these inputs of an update op; empty when they can.
std::string reject_update(const OpDef& op, Span<const TensorMeta> in);

/// PreparedUpdate::range of the rules of update_rules.h.
void rule_range(const PreparedUpdate& u, int64_t begin, int64_t end);

inline constexpr int64_t kUpdateGrain = 16384;  // elements worth a thread

}  // namespace sindri::ops
