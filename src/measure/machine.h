// What this machine's memory and arithmetic units give, measured on the spot: the limits a profile compares kernels with.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sindri/core/device.h"

namespace sindri::measure {

/// Speed of copying `bytes / 2` bytes, all threads together; `bytes` are those read and those written.
struct CopySpeed {
  int64_t bytes;
  double bytes_per_second;
};

struct MachineLimits {
  std::vector<CopySpeed> copy;  // rising sizes, from the caches to memory
  double flops_per_second = 0;  // of a large matmul in the given element type
  /// Of a copy that moves about as much.
  double copy_speed(int64_t bytes) const;
};

/// Takes about a second. `precision`: f32, bf16 or f16.
MachineLimits measure_limits(int threads, const std::string& precision);
/// Of another device than the CPU: copies within its memory of 1 MiB to 1 GiB and square products up to 8192, smaller ones where these take long, by its clock.
MachineLimits measure_device_limits(Device device, const std::string& precision);

}  // namespace sindri::measure
