// One parameter's update with its scalars read, which the kernels of the update ops and of group_update run over ranges of elements.
#pragma once

#include <array>
#include <string>

#include "ops/optimizer/update_description.h"
#include "sindri/op/kernel.h"

namespace sindri::ops {

struct PreparedUpdate {
  int64_t numel = 0;  ///< 0 also for a skipped update: its old values are in place already
  UpdateRuleId rule{};
  std::array<double, kMaxRuleNumbers> numbers{};  // of the rule, see update_rules.h
  std::array<Buffer, kMaxRuleStates + 2> in{};  // param, states, grad
  std::array<Buffer, kMaxRuleStates + 1> out{};  // param, states

  /// Computes elements [begin, end) of every output; ranges may run in any order and in parallel.
  void run(int64_t begin, int64_t end) const;
};

/// Reads the scalars of a call of an update op and writes its scalar results. Inputs and outputs are those of the op.
PreparedUpdate prepare_update(const UpdateDescription& d, Span<const Buffer> in, Span<const Buffer> out);
/// Returns why the vectorised loops do not support these inputs of an update op; empty if they do.
std::string reject_update(const OpDef& op, Span<const TensorMeta> in);
/// Registers the loops for an update op that find_update knows.
bool register_update_loops(const char* op);

inline constexpr int64_t kUpdateGrain = 16384;  // minimum elements per thread

}  // namespace sindri::ops
