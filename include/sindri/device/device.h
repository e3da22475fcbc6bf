// Devices of this process: which there are, their memory, their queues, and where the host waits for them.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "sindri/core/tensor.h"
#include "sindri/device/backend.h"
#include "sindri/export.h"

namespace sindri {

/// A kind of device on this machine, or why it is not there.
struct DeviceListing {
  Device device;
  std::string target;  ///< "CPU", "GPU", …
  DeviceInfo info;
};
/// Every device there is, the CPU first.
SINDRI_API std::vector<DeviceListing> devices();
/// The device of a target's name and a number, or of a device's own name ("cpu", "cuda:1"; the target may be in small letters). Throws
/// DeviceError saying what was found and how to get what is missing.
SINDRI_API Device find_device(const std::string& target, int index = 0);
/// What backends lack, and MindSpore's targets that have no backend.
SINDRI_API std::vector<MissingPart> missing_parts();

/// The libraries that loaded backends open at run time: which were found where, and what is lost without the others. Opens them, even on a machine without a device.
SINDRI_API std::vector<BackendLibrary> backend_libraries();

/// The names that set_device_target takes: MindSpore's (CPU, GPU, Ascend, Davinci), and targets and names of backends.
SINDRI_API std::vector<std::string> device_targets();
/// What a script asks for (MindSpore: set_context(device_target=…, device_id=…)): makes that device the current one, and returns it. context()
/// keeps target and id as they were given, but for Davinci, which is Ascend. Where no device of GPU or Ascend is there, the CPU computes: scripts
/// name them everywhere. The first time in a process a warning says so; with SINDRI_STRICT_TARGET=1 it is the error of find_device. Throws ValueError
/// for another name (capitals count) or an id outside 0 … 4095, DeviceError for an id that is not among the devices of a target that has some.
SINDRI_API Device set_device_target(const std::string& target, int id = 0);
/// Where the CPU computes in place of the device_target that was asked for: a line that says so, for records of a run. Empty otherwise.
SINDRI_API std::string target_substitution();

/// Bytes of a device's memory in use, kept and at the most.
struct DeviceMemoryStats {
  int64_t in_use = 0;  ///< bytes handed out now
  int64_t peak = 0;  ///< largest in_use so far
  int64_t cached = 0;  ///< freed blocks kept for reuse
  int64_t limit = 0;  ///< in_use and cached together stay below; 0: none but the device's own
  int64_t peak_reserved = 0;  ///< largest in_use and cached together so far
};
/// Of the CPU: host_memory_stats().
SINDRI_API DeviceMemoryStats device_memory_stats(Device device);
/// Peaks begin anew at what there is now: that of in_use, that of in_use and cached together.
SINDRI_API void reset_device_memory_peaks(Device device, bool in_use = true, bool reserved = true);
/// Throws ValueError for a negative limit and for the CPU, which has none.
SINDRI_API void set_device_memory_limit(Device device, int64_t bytes);
/// Gives the kept blocks back to the device.
SINDRI_API void release_cached_device_memory(Device device);

/// The device's queue for a kind of work. Throws DeviceError for the CPU, which has no queues.
SINDRI_API Stream& device_stream(Device device, Lane lane);
/// Where this thread's ops on the device go: the compute lane, unless a StreamScope names another stream.
SINDRI_API Stream& current_stream(Device device);
/// Makes a device the one that its libraries work on, on this thread (Backend::make_current).
SINDRI_API void make_current_for_libraries(Device device);
/// While it lives, work of this thread goes to another stream of the device.
class SINDRI_API StreamScope {
 public:
  explicit StreamScope(Stream& stream);
  ~StreamScope();
  StreamScope(const StreamScope&) = delete;
  StreamScope& operator=(const StreamScope&) = delete;

 private:
  Stream* previous_;
};
/// Tells the allocator that work of `stream`, which did not make the tensor, uses it: its memory is not given away before that work is done.
SINDRI_API void use_on(const Tensor& t, Stream& stream);

/// The tensors on `device`; those that are there already, and undefined ones, stay as they are. Host tensors travel on the copy lane through pinned
/// memory, beside what the current stream is busy with: its later work waits for them, the host does not. They have been read when this returns.
SINDRI_API std::vector<Tensor> copy_ahead(std::span<const Tensor> tensors, Device device);

/// Numbers on their way to the host, as they are behind the work that was put on their tensors' streams before.
class SINDRI_API PendingValues {
 public:
  PendingValues() = default;  ///< of no tensor
  /// Undefined tensors have no elements.
  explicit PendingValues(std::span<const Tensor> tensors);
  /// Whether get() would not wait.
  bool done() const;
  /// All elements, one tensor after the other. The timeline shows a wait as `what`. Throws what the work failed with.
  std::vector<double> get(const char* what = "read") const;

 private:
  struct Pieces;
  std::shared_ptr<Pieces> pieces_;
};

/// The host waits for everything that was put on the device; nothing to do for the CPU. Throws what failed.
SINDRI_API void synchronize(Device device);
/// How often host threads have waited for a device in this runtime: reads, synchronize, and waits for memory.
SINDRI_API int64_t host_waits();

/// Hears of each host wait, on the thread that waited. Must not throw.
class SINDRI_API WaitObserver {
 public:
  virtual ~WaitObserver();
  virtual void on_wait(const char* what, int64_t begin_ns, int64_t end_ns) = 0;  ///< by std::chrono::steady_clock
};
/// Null: none. Returns the one before.
SINDRI_API WaitObserver* set_wait_observer(WaitObserver* observer);

}  // namespace sindri
