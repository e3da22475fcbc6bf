// Where a tensor's bytes live, and where new ones are made.
#pragma once
#include <cstdint>
#include <string>

#include "sindri/export.h"

namespace sindri {

/// Where memory lies and kernels run: a kind and a number.
struct SINDRI_API Device {
  /// kOther: a backend from outside the library (docs/design/devices.md), of which a process has at most one.
  enum Kind : uint8_t { kCpu, kCuda, kOther };
  Kind kind = kCpu;
  int index = 0;
  bool operator==(const Device&) const = default;
  bool is_cpu() const { return kind == kCpu; }
  /// "cpu", "cuda:0"; another backend by its own name.
  std::string str() const;
};

/// Queues of a device: kernels, collective communication, copies to and from the host.
enum class Lane : uint8_t { kCompute, kComm, kCopy };
inline constexpr int kLanes = 3;

/// The device that functions which make tensors from values (Tensor::zeros, full, from_data, …) and Parameters put them on, and that ops without
/// inputs run on: that of the innermost DeviceScope on this thread, else the one set_current_device named in this runtime.
SINDRI_API Device current_device();
/// Throws DeviceError when there is no such device, saying what was found.
SINDRI_API void set_current_device(Device device);

/// Another current device for the life of the scope, on this thread. Scopes must nest.
class SINDRI_API DeviceScope {
 public:
  explicit DeviceScope(Device device);
  ~DeviceScope();
  DeviceScope(const DeviceScope&) = delete;
  DeviceScope& operator=(const DeviceScope&) = delete;

 private:
  Device device_;
  const Device* previous_;
};

}  // namespace sindri
