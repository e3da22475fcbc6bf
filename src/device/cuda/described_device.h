// GPUs as text, for plans without one: planning, the table of what cuDNN supports, golden values.
#pragma once

#include <cstdint>
#include <string>

namespace sindri::cuda {

/// What cuDNN asks of a device before it chooses and builds engines. Defaults are those that an H100 and an H200 have in common.
struct DeviceFacts {
  std::string name;
  int compute_capability = 90;  ///< 90 is 9.0
  int multiprocessors = 132;
  int64_t memory = 0;  ///< bytes
  int64_t l2_bytes = 0;
  int clock_khz = 1980000, memory_clock_khz = 0;
  int shared_per_block = 49152, shared_per_block_optin = 232448, shared_reserved = 1024;
  int registers = 65536;  ///< of a block and of a multiprocessor
  int threads_per_multiprocessor = 2048, blocks_per_multiprocessor = 32;
  int driver = 13000;  ///< 13.0
};

DeviceFacts h100_facts();
DeviceFacts h200_facts();

/// The text that CudnnDevice::described takes (keys of CUDNN_ATTR_DEVICEPROP_JSON_REPRESENTATION).
std::string device_json(const DeviceFacts& facts);

}  // namespace sindri::cuda
