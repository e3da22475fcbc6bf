// Where a tensor's memory is, and where new tensors are created.
#pragma once
#include <cstdint>
#include <string>

#include "sindri/export.h"

namespace sindri {

/// A place for memory and kernels: a kind of device and a number.
struct SINDRI_API Device {
  /// Kinds of device. kOther is a backend from outside the library (docs/design/devices.md); a process has at most one.
  enum Kind : uint8_t { kCpu, kCuda, kOther };
  Kind kind = kCpu;  ///< kind of device
  int index = 0;  ///< number among the devices of this kind
  bool operator==(const Device&) const = default;
  bool is_cpu() const { return kind == kCpu; }
  /// "cpu", "cuda:0"; another backend uses its own name.
  std::string str() const;
};

/// Queues of a device: kernels, collective communication, and copies to and from the host.
enum class Lane : uint8_t { kCompute, kComm, kCopy };
inline constexpr int kLanes = 3;  ///< number of lanes

/// The device for new tensors and Parameters made from values (Tensor::zeros, full, from_data, …), and for ops without inputs. It
/// is the device of the innermost DeviceScope on this thread, else the one passed to set_current_device in this runtime.
SINDRI_API Device current_device();
/// Sets this runtime's current device. Throws DeviceError, with the devices found, if the device does not exist.
SINDRI_API void set_current_device(Device device);

/// Makes a device current on this thread for the life of the scope. Scopes must nest.
class SINDRI_API DeviceScope {
 public:
  /// Throws DeviceError if the device does not exist.
  explicit DeviceScope(Device device);
  ~DeviceScope();
  DeviceScope(const DeviceScope&) = delete;
  DeviceScope& operator=(const DeviceScope&) = delete;

 private:
  Device device_;
  const Device* previous_;
};

}  // namespace sindri
