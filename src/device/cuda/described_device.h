// Device descriptions of GPUs, for plans without a GPU: planning, the table of graphs that cuDNN supports, golden values.
#pragma once

#include <cstdint>
#include <string>

namespace sindri::cuda {

/// The properties that cuDNN reads before it chooses and builds engines. Defaults are those shared by an H100 and an H200.
struct DeviceFacts {
  std::string name;
  int compute_capability = 90;  ///< 90 is 9.0
  int multiprocessors = 132;
  int64_t memory = 0;  ///< bytes
  int64_t l2_bytes = 0;
  int clock_khz = 1980000, memory_clock_khz = 0;
  int shared_per_block = 49152, shared_per_block_optin = 232448, shared_reserved = 1024;
  int registers = 65536;  ///< per block and per multiprocessor
  int threads_per_multiprocessor = 2048, blocks_per_multiprocessor = 32;
  int driver = 13000;  ///< 13.0
};

DeviceFacts h100_facts();
DeviceFacts h200_facts();

/// Returns the text that CudnnDevice::described expects (keys of CUDNN_ATTR_DEVICEPROP_JSON_REPRESENTATION).
std::string device_json(const DeviceFacts& facts);

}  // namespace sindri::cuda
