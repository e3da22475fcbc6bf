// What a backend gives: devices, their memory, in-order queues of work, and copies. Kernels are registered beside it (sindri/op/kernel.h).
// docs/design/devices.md leads an author through it; tests/device/simulator.h is one.
//
// The host runs ahead: kernels and copies are put on a Stream and run later, in the order they were put there. What a host thread may rely on:
//   - work of one stream runs in order; between streams an Event orders it (record on one, wait on the other);
//   - memory goes back to its allocator as soon as the last handle is gone, while work that uses it may still wait in the stream. The allocator
//     gives it to later work of the same stream only, or to another stream behind an event (src/device/caching_pool.h);
//   - the host sees a value only behind a wait: Stream::synchronize, Event::synchronize.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "sindri/core/device.h"
#include "sindri/export.h"

namespace sindri {

SINDRI_API const char* lane_name(Lane lane);

/// A point in a stream: everything put there before.
class SINDRI_API Event {
 public:
  virtual ~Event();
  /// Whether the work before it is finished; does not wait.
  virtual bool done() = 0;
  /// The host waits for it. Throws what that work failed with.
  virtual void synchronize() = 0;
};

/// Work that was recorded once and can be run again without being put together anew: it keeps the addresses it was recorded with.
class SINDRI_API Recording {
 public:
  virtual ~Recording();
};

enum class CopyKind : uint8_t { kToDevice, kToHost, kWithin };

/// An in-order queue of work. Backends derive theirs and keep in it what belongs to one queue (library handles); kernels of the backend get
/// it in ExecContext::stream. Calls come from any thread. Each throws DeviceError (kDeviceFailed) when earlier work failed or the device is lost; kernels
/// that find something wrong with their operands throw what they throw on the CPU, and the host hears of it at its next wait.
class SINDRI_API Stream {
 public:
  Stream(Device device, Lane lane) : device_(device), lane_(lane) {}
  virtual ~Stream();
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  Device device() const { return device_; }
  Lane lane() const { return lane_; }

  virtual std::shared_ptr<Event> record() = 0;
  /// Later work of this stream starts behind the event; the host goes on.
  virtual void wait(const std::shared_ptr<Event>& event) = 0;
  /// `to` and `from` stay valid until the copy is done; host memory is of Backend::allocate_pinned.
  virtual void copy(void* to, const void* from, int64_t bytes, CopyKind kind) = 0;
  /// The host waits for all that was put here.
  virtual void synchronize() = 0;
  /// What libraries of the device know this queue by (CUDA: its cudaStream_t). Null where there is none: no library can be given work for it.
  virtual void* native_handle() { return nullptr; }

  /// Whether begin_recording works.
  virtual bool records() const { return false; }
  /// From here to end_recording the work that this thread puts on the device's streams is noted, not run. Other streams must fork from this one
  /// and join it again by events meanwhile.
  virtual void begin_recording();
  virtual std::unique_ptr<Recording> end_recording();
  virtual void replay(Recording& recording);
  /// Whether what this thread puts here now is noted, not run. An event of now tells nothing then.
  virtual bool recording() const { return false; }

 private:
  Device device_;
  Lane lane_;
};

/// What a backend says of one of its devices.
struct DeviceInfo {
  std::string name;  ///< of the hardware, for people
  int64_t memory = 0;  ///< bytes in all
  int64_t free = 0;  ///< bytes that no program has taken
};

/// Something that is not there, and how to get it: a driver, a library, a whole backend.
struct MissingPart {
  std::string target;  ///< whose it is: "GPU"
  std::string what;  ///< "there is no driver for CUDA"
  std::string fix;
};

/// A library of another maker that a backend opens at run time, as `sindri doctor` tells of it.
struct BackendLibrary {
  std::string name;  ///< "cuDNN"
  std::string path;  ///< of the file that was opened; empty if none was
  std::string version;  ///< of that file; empty if it did not tell
  std::string error;  ///< why it cannot be used; empty if it can
  std::string lost;  ///< what cannot be done without it
  std::string fix;  ///< how to get it
};

/// One kind of device. Calls come from any thread.
class SINDRI_API Backend {
 public:
  virtual ~Backend();
  /// As devices are named: "cuda".
  virtual const char* name() const = 0;
  /// What set_context(device_target=…) and --device call it: "GPU".
  virtual const char* target() const = 0;
  /// Devices there are; 0 where the driver or the hardware is missing.
  virtual int count() = 0;
  virtual DeviceInfo info(int index) = 0;
  /// Why count() is 0, and what its devices do without. `sindri doctor` and errors about devices tell of it.
  virtual std::vector<MissingPart> missing() { return {}; }
  /// Libraries its kernels use. Opens those that nothing has used yet.
  virtual std::vector<BackendLibrary> libraries() { return {}; }
  /// 256-byte aligned memory of the device; null when there is none left.
  virtual void* allocate(int index, int64_t bytes) = 0;
  virtual void release(int index, void* p, int64_t bytes) noexcept = 0;
  /// Host memory that the device copies to and from by itself; null when there is none left.
  virtual void* allocate_pinned(int64_t bytes) = 0;
  virtual void release_pinned(void* p, int64_t bytes) noexcept = 0;
  virtual std::unique_ptr<Stream> make_stream(Device device, Lane lane) = 0;
  /// For libraries that work on the thread's current device (CUDA: cudaSetDevice). Nothing to do where there is no such thing.
  virtual void make_current(int index) { (void)index; }
};

/// At start-up, before any other thread uses devices. Throws InternalError when the kind has a backend.
SINDRI_API void register_backend(Device::Kind kind, std::unique_ptr<Backend> backend);

}  // namespace sindri
