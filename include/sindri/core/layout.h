// Physical order of a tensor's elements. The logical shape does not depend on it.
#pragma once
#include <cstdint>

namespace sindri {

/// kContiguous: row-major order of the logical shape. kChannelsLast: a rank-4 tensor [N, C, H, W] stored as N, H, W, C. kOpaque:
/// bytes that only kernels with the same tag can read (a packed weight).
enum class Layout : uint8_t { kContiguous, kChannelsLast, kOpaque };

/// "contiguous", "channels_last" or "opaque".
inline const char* layout_name(Layout l) { return l == Layout::kContiguous ? "contiguous" : l == Layout::kChannelsLast ? "channels_last" : "opaque"; }

}  // namespace sindri
