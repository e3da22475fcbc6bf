// Physical order of a tensor's elements. The logical shape never changes with it.
#pragma once
#include <cstdint>

namespace sindri {

/// kContiguous: row-major of the logical shape. kChannelsLast: rank 4 [N, C, H, W] stored as N, H, W, C.
/// kOpaque: bytes only kernels that share its tag can read (a packed weight).
enum class Layout : uint8_t { kContiguous, kChannelsLast, kOpaque };

inline const char* layout_name(Layout l) { return l == Layout::kContiguous ? "contiguous" : l == Layout::kChannelsLast ? "channels_last" : "opaque"; }

}  // namespace sindri
