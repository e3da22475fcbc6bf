// Interface of a backend: devices, their memory, in-order queues of work, and copies. Kernels are registered separately
// (sindri/op/kernel.h). docs/design/devices.md is the guide for authors; tests/device/simulator.h is an example.
//
// The host runs ahead: kernels and copies are queued on a Stream and run later, in order. Guarantees for host threads:
//   - Work of one stream runs in order. An Event orders work between streams (record on one, wait on the other).
//   - Memory returns to its allocator when its last handle is released, while work that uses it may still be queued. The allocator reuses it for later
//     work of the same stream only, or for another stream after an event (src/device/caching_pool.h).
//   - The host sees a value only after a wait: Stream::synchronize, Event::synchronize.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "sindri/core/device.h"
#include "sindri/export.h"

namespace sindri {

/// "compute", "comm" or "copy".
SINDRI_API const char* lane_name(Lane lane);

/// A point in a stream, after all work that was queued before it.
class SINDRI_API Event {
 public:
  virtual ~Event();
  /// Whether the work before the event has finished; does not wait.
  virtual bool done() = 0;
  /// Blocks the host until the work before the event has finished. Throws the error of that work, if it failed.
  virtual void synchronize() = 0;
};

/// Recorded work that can be replayed without being launched step by step. It keeps the addresses that it was recorded with.
class SINDRI_API Recording {
 public:
  virtual ~Recording();
};

/// Direction of a copy: host to device, device to host, within the device.
enum class CopyKind : uint8_t { kToDevice, kToHost, kWithin };

/// An in-order queue of work. A backend derives a class that also holds the resources of one queue (library handles). Its kernels
/// receive the object in ExecContext::stream. Functions may be called from any thread. Each throws DeviceError (kDeviceFailed) if
/// earlier work failed or the device is lost. Kernels that find invalid operands report the same errors as on the CPU; the host
/// receives them at its next wait.
class SINDRI_API Stream {
 public:
  Stream(Device device, Lane lane) : device_(device), lane_(lane) {}
  virtual ~Stream();
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  Device device() const { return device_; }
  Lane lane() const { return lane_; }

  /// Returns an event that follows all work queued so far.
  virtual std::shared_ptr<Event> record() = 0;
  /// Makes later work of this stream wait for the event; the host does not wait.
  virtual void wait(const std::shared_ptr<Event>& event) = 0;
  /// Queues a copy. `to` and `from` stay valid until it is done; host memory comes from Backend::allocate_pinned.
  virtual void copy(void* to, const void* from, int64_t bytes, CopyKind kind) = 0;
  /// Blocks the host until all queued work has finished.
  virtual void synchronize() = 0;
  /// The queue's handle in the device's libraries (CUDA: its cudaStream_t). Null: libraries cannot queue work on it.
  virtual void* native_handle() { return nullptr; }

  /// Whether begin_recording is supported.
  virtual bool records() const { return false; }
  /// Starts recording: until end_recording, work that this thread queues on the device's streams is recorded, not run. Other
  /// streams must fork from this one and join it again, by events, before end_recording.
  virtual void begin_recording();
  /// Ends recording and returns the recorded work.
  virtual std::unique_ptr<Recording> end_recording();
  /// Queues recorded work to run once.
  virtual void replay(Recording& recording);
  /// Whether work that this thread queues now is recorded, not run. If so, an event recorded now is meaningless.
  virtual bool recording() const { return false; }

 private:
  Device device_;
  Lane lane_;
};

/// Description of a device.
struct DeviceInfo {
  std::string name;  ///< name of the hardware, for display
  int64_t memory = 0;  ///< total bytes
  int64_t free = 0;  ///< bytes not in use by any program
};

/// A missing driver, library or backend, and how to get it.
struct MissingPart {
  std::string target;  ///< the target it belongs to: "GPU"
  std::string what;  ///< "there is no driver for CUDA"
  std::string fix;  ///< how to get it
};

/// A third-party library that a backend opens at run time, as `sindri doctor` lists it.
struct BackendLibrary {
  std::string name;  ///< "cuDNN"
  std::string path;  ///< path of the opened file; empty if none was opened
  std::string version;  ///< version of that file; empty if unknown
  std::string error;  ///< why it cannot be used; empty if it can
  std::string lost;  ///< what is not available without it
  std::string fix;  ///< how to get it
};

/// One kind of device. Functions may be called from any thread.
class SINDRI_API Backend {
 public:
  virtual ~Backend();
  /// Name of its devices: "cuda".
  virtual const char* name() const = 0;
  /// Name for set_context(device_target=…) and --device: "GPU".
  virtual const char* target() const = 0;
  /// Number of devices; 0 if the driver or the hardware is missing.
  virtual int count() = 0;
  /// Description of a device.
  virtual DeviceInfo info(int index) = 0;
  /// Why count() is 0, or what the devices lack. `sindri doctor` and errors about devices report it.
  virtual std::vector<MissingPart> missing() { return {}; }
  /// Libraries that its kernels use. Opens those not yet in use.
  virtual std::vector<BackendLibrary> libraries() { return {}; }
  /// Allocates device memory, 256-byte aligned; null if none is left.
  virtual void* allocate(int index, int64_t bytes) = 0;
  /// Releases memory from allocate().
  virtual void release(int index, void* p, int64_t bytes) noexcept = 0;
  /// Allocates host memory that the device can copy to and from directly; null if none is left.
  virtual void* allocate_pinned(int64_t bytes) = 0;
  /// Releases memory from allocate_pinned().
  virtual void release_pinned(void* p, int64_t bytes) noexcept = 0;
  /// Makes a queue for a lane of a device.
  virtual std::unique_ptr<Stream> make_stream(Device device, Lane lane) = 0;
  /// Makes a device current on this thread for libraries that work on the thread's current device (CUDA: cudaSetDevice). Does
  /// nothing by default.
  virtual void make_current(int index) { (void)index; }
};

/// Registers a backend at start-up, before any other thread uses devices. Throws InternalError if the kind already has one.
SINDRI_API void register_backend(Device::Kind kind, std::unique_ptr<Backend> backend);

}  // namespace sindri
