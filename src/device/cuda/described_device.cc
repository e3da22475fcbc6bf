// See described_device.h.
#include "src/device/cuda/described_device.h"

#include <nlohmann/json.hpp>

namespace sindri::cuda {

// SXM modules. An H200 is an H100 with different memory.
DeviceFacts h100_facts() { return {.name = "NVIDIA H100 80GB HBM3", .memory = 85'045'870'592, .l2_bytes = 52'428'800, .memory_clock_khz = 2'619'000}; }
DeviceFacts h200_facts() { return {.name = "NVIDIA H200", .memory = 150'109'880'320, .l2_bytes = 62'914'560, .memory_clock_khz = 3'201'000}; }

std::string device_json(const DeviceFacts& f) {
  return nlohmann::json{{"cudaDeviceId", 0},
                        {"deviceVer", f.compute_capability * 10},
                        {"driverVer", f.driver},
                        {"totalGlobalMem", f.memory},
                        {"maxGridSize", {2147483647, 65535, 65535}},
                        {"maxBlockSize", {1024, 1024, 64}},
                        {"regsPerBlock", f.registers},
                        {"multiProcessorCount", f.multiprocessors},
                        {"warpSize", 32},
                        {"maxSharedMemoryPerBlock", f.shared_per_block},
                        {"maxSharedMemoryPerBlockOptin", f.shared_per_block_optin},
                        {"reservedSharedMemoryPerBlock", f.shared_reserved},
                        {"maxRegistersPerSM", f.registers},
                        {"maxCtasPerSM", f.blocks_per_multiprocessor},
                        {"maxThreadsPerBlock", 1024},
                        {"maxThreadsPerSM", f.threads_per_multiprocessor},
                        {"pciDeviceId", 0},
                        {"isTccDriver", 0},
                        {"supportCoopLaunch", 1},
                        {"smClockRateKHz", f.clock_khz},
                        {"memClockRateKHz", f.memory_clock_khz},
                        {"l2CacheSize", f.l2_bytes},
                        {"deviceName", f.name}}
      .dump();
}

}  // namespace sindri::cuda
