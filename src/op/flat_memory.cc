// See flat_memory.h.
#include "src/op/flat_memory.h"

#include <cstring>
#include <utility>
#include <vector>

namespace sindri {

namespace {
// Filled before main by each library.
std::vector<std::pair<const char*, FlatMemorySource>>& sources() {
  static auto& all = *new std::vector<std::pair<const char*, FlatMemorySource>>;
  return all;
}
}  // namespace

bool register_flat_memory(const char* op, FlatMemorySource source) {
  sources().emplace_back(op, source);
  return true;
}

const FlatMemorySource* flat_memory_of(const OpDef& op) {
  for (const auto& [name, source] : sources())
    if (std::strcmp(name, op.name) == 0) return &source;
  return nullptr;
}

}  // namespace sindri
