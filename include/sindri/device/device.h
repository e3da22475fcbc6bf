// Devices of this process: list, memory, queues, and waits of the host for a device.
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

/// A device of this machine.
struct DeviceListing {
  Device device;  ///< for set_current_device and Tensor::to
  std::string target;  ///< "CPU", "GPU", …
  DeviceInfo info;  ///< name and memory
};
/// All devices, the CPU first.
SINDRI_API std::vector<DeviceListing> devices();
/// Returns the device of a target and a number, or the device with its own name ("cpu", "cuda:1"). Targets may be in lower case.
/// Throws DeviceError with what was found and how to get what is missing.
SINDRI_API Device find_device(const std::string& target, int index = 0);
/// What backends lack, and MindSpore's targets without a backend.
SINDRI_API std::vector<MissingPart> missing_parts();

/// The libraries that loaded backends open at run time: where each was found, or which features are unavailable without it. Opens
/// them, even on a machine without a device.
SINDRI_API std::vector<BackendLibrary> backend_libraries();

/// The names that set_device_target accepts: MindSpore's (CPU, GPU, Ascend, Davinci), and the backends' targets and names.
SINDRI_API std::vector<std::string> device_targets();
/// Makes a script's device target current and returns the device (MindSpore: set_context(device_target=…, device_id=…)).
/// context() keeps target and id as given, except that Davinci becomes Ascend. If there is no device for GPU or Ascend, the CPU
/// computes, since scripts name these targets on any machine; a warning says so once per process. With SINDRI_STRICT_TARGET=1
/// find_device's error is thrown instead. Throws ValueError for another name (case matters) or an id outside 0 … 4095, and
/// DeviceError for an id that the target's devices do not have.
SINDRI_API Device set_device_target(const std::string& target, int id = 0);
/// A line for run records if the CPU computes instead of the requested device_target; otherwise empty.
SINDRI_API std::string target_substitution();

/// A device's memory, in bytes.
struct DeviceMemoryStats {
  int64_t in_use = 0;  ///< bytes in use now
  int64_t peak = 0;  ///< largest in_use so far
  int64_t cached = 0;  ///< freed blocks kept for reuse
  int64_t limit = 0;  ///< upper bound of in_use + cached; 0: only the device's own limit
  int64_t peak_reserved = 0;  ///< largest sum of in_use and cached so far
};
/// The device's memory statistics; for the CPU, the same as host_memory_stats().
SINDRI_API DeviceMemoryStats device_memory_stats(Device device);
/// Resets the chosen peaks to the current values: `in_use` resets peak, `reserved` resets peak_reserved.
SINDRI_API void reset_device_memory_peaks(Device device, bool in_use = true, bool reserved = true);
/// Sets DeviceMemoryStats::limit. Throws ValueError for a negative limit and for the CPU, which has none.
SINDRI_API void set_device_memory_limit(Device device, int64_t bytes);
/// Returns the cached blocks to the device.
SINDRI_API void release_cached_device_memory(Device device);

/// The device's queue for a kind of work. Throws DeviceError for the CPU, which has no queues.
SINDRI_API Stream& device_stream(Device device, Lane lane);
/// The stream of this thread's ops on the device: the compute lane, unless a StreamScope selects another.
SINDRI_API Stream& current_stream(Device device);
/// Makes a device current for its libraries on this thread (Backend::make_current).
SINDRI_API void make_current_for_libraries(Device device);
/// Puts this thread's work on another stream of the device for the life of the scope.
class SINDRI_API StreamScope {
 public:
  explicit StreamScope(Stream& stream);
  ~StreamScope();
  StreamScope(const StreamScope&) = delete;
  StreamScope& operator=(const StreamScope&) = delete;

 private:
  Stream* previous_;
};
/// Informs the allocator that `stream`, which did not make the tensor, uses it. The tensor's memory is not reused before that
/// stream's work is done.
SINDRI_API void use_on(const Tensor& t, Stream& stream);

/// Copies of the tensors on `device`; tensors already there and undefined tensors are returned as they are. Host tensors travel
/// on the copy lane through pinned memory, concurrently with the current stream's work. Later work of that stream waits for the
/// copies; the host does not. The host tensors have been read when the function returns.
SINDRI_API std::vector<Tensor> copy_ahead(std::span<const Tensor> tensors, Device device);

/// Values being copied to the host: those that the tensors have after all work queued on their streams so far.
class SINDRI_API PendingValues {
 public:
  PendingValues() = default;  ///< no tensors
  /// Queues the copies. Undefined tensors have no elements.
  explicit PendingValues(std::span<const Tensor> tensors);
  /// Whether get() would return without waiting.
  bool done() const;
  /// All elements of the tensors, concatenated. Waits for the copies if necessary; the timeline shows the wait as `what`. Throws
  /// the error of work that failed.
  std::vector<double> get(const char* what = "read") const;

 private:
  struct Pieces;
  std::shared_ptr<Pieces> pieces_;
};

/// Blocks the host until all work of the device has finished; does nothing for the CPU. Throws the error of work that failed.
SINDRI_API void synchronize(Device device);
/// Number of waits of host threads for a device in this runtime: reads, synchronize, and waits for memory.
SINDRI_API int64_t host_waits();

/// Receives each host wait.
class SINDRI_API WaitObserver {
 public:
  virtual ~WaitObserver();
  /// Called on the thread that waited; times in ns of std::chrono::steady_clock. Must not throw.
  virtual void on_wait(const char* what, int64_t begin_ns, int64_t end_ns) = 0;
};
/// Sets the observer; null: none. Returns the previous one.
SINDRI_API WaitObserver* set_wait_observer(WaitObserver* observer);

}  // namespace sindri
