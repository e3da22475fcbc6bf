// What the host allocator holds. Blocks that are freed stay with it for reuse.
#pragma once
#include <cstdint>

#include "sindri/export.h"

namespace sindri {

/// Bytes of the host's memory that tensors hold.
struct HostMemoryStats {
  int64_t in_use = 0;  ///< bytes handed out now
  int64_t peak = 0;  ///< largest in_use so far
  int64_t cached = 0;  ///< freed blocks kept for reuse
  int64_t peak_reserved = 0;  ///< largest in_use and cached together so far
};
SINDRI_API HostMemoryStats host_memory_stats();
/// Peaks begin anew at what there is now: that of in_use, that of in_use and cached together.
SINDRI_API void reset_host_memory_peaks(bool in_use = true, bool reserved = true);
/// Gives the kept blocks back to the system.
SINDRI_API void release_cached_host_memory();

}  // namespace sindri
