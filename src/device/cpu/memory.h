// What the host allocator holds.
#pragma once
#include <cstdint>

namespace sindri {

struct HostMemoryStats {
  int64_t in_use = 0;  // bytes handed out now
  int64_t peak = 0;  // largest in_use so far
  int64_t cached = 0;  // freed blocks kept for reuse
};
HostMemoryStats host_memory_stats();
void release_cached_host_memory();

}  // namespace sindri
