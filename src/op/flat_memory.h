// Memory in which an op likes its operands to lie: where a communicator reduces without a copy of its own. A graph computes them there.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "sindri/op/op_def.h"

namespace sindri {

/// A piece of it. The graphs of a runtime run one after the other, so those that ask for one size and key share it.
struct FlatMemory {
  std::shared_ptr<void> data;
  std::weak_ptr<void> owner;  ///< what it is part of; it must not be used behind that
};

struct FlatMemorySource {
  /// What kind of memory helps there, in the current runtime; empty: none.
  std::string (*key)(const Attrs& attrs);
  /// Gives *memory, unless it is there and good still. Collective: called at the same place by all ranks.
  void (*take)(const Attrs& attrs, int64_t bytes, std::shared_ptr<FlatMemory>* memory);
};

/// At start-up, by the op's kernels.
bool register_flat_memory(const char* op, FlatMemorySource source);
/// Null for most ops.
const FlatMemorySource* flat_memory_of(const OpDef& op);

}  // namespace sindri
