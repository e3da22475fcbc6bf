// The host allocator's statistics. The allocator keeps freed blocks for reuse.
#pragma once
#include <cstdint>

#include "sindri/export.h"

namespace sindri {

/// Host memory held by tensors and by the allocator, in bytes.
struct HostMemoryStats {
  int64_t in_use = 0;  ///< bytes in use now
  int64_t peak = 0;  ///< largest in_use so far
  int64_t cached = 0;  ///< bytes of freed blocks kept for reuse
  int64_t peak_reserved = 0;  ///< largest sum of in_use and cached so far
};
/// The process's current host memory statistics.
SINDRI_API HostMemoryStats host_memory_stats();
/// Resets the chosen peaks to the current values: `in_use` resets peak, `reserved` resets peak_reserved.
SINDRI_API void reset_host_memory_peaks(bool in_use = true, bool reserved = true);
/// Returns the cached blocks to the system.
SINDRI_API void release_cached_host_memory();

}  // namespace sindri
