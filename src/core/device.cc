// The current device of each thread, and a pointer through which tensors reach the device layer: core knows no backend.
#include "sindri/core/device.h"

#include <atomic>

#include "sindri/core/error.h"
#include "src/core/runtime_state.h"
#include "src/core/tensor_impl.h"

namespace sindri {

namespace {

thread_local int t_host_tensors = 0;
std::atomic<DeviceMemory*> g_memory{nullptr};

}  // namespace

void set_device_memory(DeviceMemory* memory) { g_memory = memory; }
DeviceMemory& device_memory() {
  DeviceMemory* const memory = g_memory.load(std::memory_order_acquire);
  if (memory == nullptr) throw InternalError("device memory is used without the device layer");
  return *memory;
}

std::string Device::str() const { return kind == kCpu ? "cpu" : device_memory().name(*this); }

Device current_device() {
  if (t_place.device != nullptr) return *t_place.device;
  const uint64_t packed = t_place.runtime->device.load(std::memory_order_relaxed);
  return {static_cast<Device::Kind>(packed & 0xff), static_cast<int>(packed >> 8)};
}

void set_current_device(Device device) {
  if (!device.is_cpu()) device_memory().check(device);
  t_place.runtime->device = static_cast<uint64_t>(device.kind) | static_cast<uint64_t>(device.index) << 8;
}

DeviceScope::DeviceScope(Device device) : device_(device), previous_(t_place.device) {
  if (!device.is_cpu()) device_memory().check(device);
  t_place.device = &device_;
}
DeviceScope::~DeviceScope() { t_place.device = previous_; }

HostTensors::HostTensors() { ++t_host_tensors; }
HostTensors::~HostTensors() { --t_host_tensors; }
HostTensors::Suspend::Suspend() : depth_(t_host_tensors) { t_host_tensors = 0; }
HostTensors::Suspend::~Suspend() { t_host_tensors = depth_; }
Device creation_device() { return t_host_tensors > 0 ? Device{} : current_device(); }

}  // namespace sindri
