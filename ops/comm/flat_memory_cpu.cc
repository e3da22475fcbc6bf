// Gradients that are reduced in place are computed in the communicator's shared memory if it has any, which is the case for ranks of one host under MPI.
#include <algorithm>
#include <string_view>
#include <vector>

#include "ops/comm/comm_ops.h"
#include "sindri/core/runtime.h"
#include "src/op/flat_memory.h"

namespace sindri {
namespace {

using namespace comm_ops;

struct Taken {
  std::string group;
  int64_t bytes;
  std::weak_ptr<FlatMemory> memory;
};
constinit RuntimeSlot<std::vector<Taken>> taken;

// Returns the group whose shared memory is used; empty if it has none. 16-bit wires are staged in any case.
std::string key(const Attrs& attrs) {
  const auto& a = attrs.as<AllReduceNodeAttrs>();
  const comm::Communicator& group = comm::find_group(a.group);
  return a.wire.empty() && group.local_size() > 1 && std::string_view(group.backend()) == "mpi" ? a.group : "";
}

// All ranks run the same graphs, so either all of them request memory from the communicator or none does.
void take(const Attrs& attrs, int64_t bytes, std::shared_ptr<FlatMemory>* memory) {
  const auto& a = attrs.as<AllReduceNodeAttrs>();
  comm::Communicator& group = comm::find_group(a.group);
  const std::shared_ptr<void> owner = group.session();
  if (*memory != nullptr && (*memory)->owner.lock() == owner) return;
  std::vector<Taken>& all = taken.get();
  std::erase_if(all, [](const Taken& t) { return t.memory.expired(); });
  for (const Taken& t : all) {
    const std::shared_ptr<FlatMemory> m = t.memory.lock();
    if (t.group != a.group || t.bytes != bytes || m->owner.lock() != owner) continue;
    *memory = m;
    return;
  }
  *memory = std::make_shared<FlatMemory>(FlatMemory{group.flat_buffer(bytes), owner});
  all.push_back({a.group, bytes, *memory});
}

const bool kFlat = register_flat_memory("all_reduce", {key, take});

}  // namespace
}  // namespace sindri
