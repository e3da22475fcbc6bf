// Memory in which a communicator reduces an op's operands without a copy. A graph computes the operands there.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "sindri/op/op_def.h"

namespace sindri {

/// A piece of that memory. The graphs of a runtime run in sequence, so those with the same size and key share it.
struct FlatMemory {
  std::shared_ptr<void> data;
  std::weak_ptr<void> owner;  ///< owner of the memory, which must not be used after it is gone
};

struct FlatMemorySource {
  /// Returns the kind of memory to use in the current runtime; empty: none.
  std::string (*key)(const Attrs& attrs);
  /// Sets *memory unless it is already set and still valid. Collective: called at the same point by all ranks.
  void (*take)(const Attrs& attrs, int64_t bytes, std::shared_ptr<FlatMemory>* memory);
};

/// Registers a source at start-up; called by the op's kernels.
bool register_flat_memory(const char* op, FlatMemorySource source);
/// Returns null for most ops.
const FlatMemorySource* flat_memory_of(const OpDef& op);

}  // namespace sindri
