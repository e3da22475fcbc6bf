// The measured limits of this machine's memory and arithmetic units, with which a profile compares kernels.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sindri/core/device.h"

namespace sindri::measure {

/// Speed of copying `bytes / 2` bytes, all threads together; `bytes` counts both reads and writes.
struct CopySpeed {
  int64_t bytes;
  double bytes_per_second;
};

struct MachineLimits {
  std::vector<CopySpeed> copy;  // increasing sizes, from the caches to memory
  double flops_per_second = 0;  // of a large matmul in the given element type
  /// Returns the speed of a copy that moves about as much.
  double copy_speed(int64_t bytes) const;
};

/// Takes about a second. `precision`: f32, bf16 or f16.
MachineLimits measure_limits(int threads, const std::string& precision);
/// The limits of a device other than the CPU, timed with the device's clock: copies of 1 MiB to 1 GiB within its memory, and square matmuls of sizes up to 8192
/// (smaller if these take long).
MachineLimits measure_device_limits(Device device, const std::string& precision);

}  // namespace sindri::measure
