// The data of a Tensor handle. Three kinds: stored (host or device memory), symbolic (a value of a graph being traced),
// and meta-only (a tape record that does not keep the data).
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "sindri/core/tensor.h"

namespace sindri {

/// Aligned memory of a device; freed with the last handle.
class Storage {
 public:
  explicit Storage(int64_t bytes, Device device = {});
  /// Wraps memory owned by `keep_alive` (a slice of an arena).
  Storage(void* data, int64_t bytes, std::shared_ptr<void> keep_alive) : data_(data), bytes_(bytes), owner_(std::move(keep_alive)) {}
  ~Storage();
  Storage(const Storage&) = delete;
  Storage& operator=(const Storage&) = delete;
  /// An address on the device: only kernels and copies of that device may dereference it.
  void* data() const { return data_; }
  int64_t bytes() const { return bytes_; }
  Device device() const { return device_; }
  /// False for a wrapper: others may hold the same memory through a different owner.
  bool owned() const { return owned_; }

  /// Announces that others may write to the memory without the library's knowledge, until end_view.
  void begin_view() { ++views_; }
  void end_view() {
    ++version_;
    --views_;
  }
  /// Returns a number that changes with such writes: a reader compares two results to detect writes in between.
  /// nullopt: such a view exists now, or the memory belongs to others.
  std::optional<uint64_t> version() const {
    if (!owned_ || views_ > 0) return std::nullopt;
    return version_;
  }

 private:
  void* data_ = nullptr;
  int64_t bytes_ = 0;
  Device device_;
  bool owned_ = false;
  std::shared_ptr<void> owner_;
  std::atomic<int32_t> views_{0};
  std::atomic<uint64_t> version_{0};
};

struct TensorImpl {
  TensorMeta meta;
  std::shared_ptr<Storage> storage;  // null: symbolic or meta-only
  const void* graph = nullptr;  // the trace a symbolic value belongs to (opaque to core)
  int32_t value = -1;  // its value id in that trace
  uint64_t id = next_id();

  static uint64_t next_id();
};

/// Registers each symbolic tensor that this thread makes during its life, including copies with another identity.
class SymbolKeeper {
 public:
  SymbolKeeper();
  virtual ~SymbolKeeper();
  SymbolKeeper(const SymbolKeeper&) = delete;
  SymbolKeeper& operator=(const SymbolKeeper&) = delete;
  virtual void add(const std::shared_ptr<TensorImpl>& symbol) = 0;

 private:
  SymbolKeeper* previous_;
};

/// Allocates host memory. The device layer installs a caching allocator at start.
class HostAllocator {
 public:
  virtual ~HostAllocator() = default;
  virtual void* allocate(int64_t bytes) = 0;  // 64-byte aligned; throws DeviceError(kMemory)
  virtual void release(void* p, int64_t bytes) noexcept = 0;
};
void set_host_allocator(HostAllocator* allocator);
HostAllocator& host_allocator();

/// The tensors' interface to the device layer: memory other than the host's. Work on it is ordered by the device's current stream.
class DeviceMemory {
 public:
  struct Read {
    void* to;  ///< host memory
    const void* from;
    Device device;  ///< of `from`
    int64_t bytes;
  };
  virtual ~DeviceMemory() = default;
  virtual std::string name(Device device) = 0;
  /// Throws DeviceError if the device does not exist.
  virtual void check(Device device) = 0;
  virtual void* allocate(Device device, int64_t bytes) = 0;  ///< 256-byte aligned; throws DeviceError(kMemory)
  virtual void release(Device device, void* p, int64_t bytes) noexcept = 0;
  /// On return the host memory has been read; the device receives the bytes in stream order.
  virtual void write(Device device, void* to, const void* from, int64_t bytes) = 0;
  /// Performs all reads with a single synchronisation. `what` names the wait in the timeline.
  virtual void read(std::span<const Read> reads, const char* what) = 0;
  /// Copies within or between devices other than the CPU. Does not wait.
  virtual void copy(Device to_device, void* to, Device from_device, const void* from, int64_t bytes) = 0;
};
void set_device_memory(DeviceMemory* memory);
DeviceMemory& device_memory();

/// Returns where a tensor made from values is placed: current_device(), or the host while a HostTensors exists on this
/// thread. A graph that is being traced uses such host tensors as constants and moves them to its device.
Device creation_device();
class HostTensors {
 public:
  HostTensors();
  ~HostTensors();
  HostTensors(const HostTensors&) = delete;
  HostTensors& operator=(const HostTensors&) = delete;
  /// Ignores all HostTensors during its life.
  class Suspend {
   public:
    Suspend();
    ~Suspend();
    Suspend(const Suspend&) = delete;
    Suspend& operator=(const Suspend&) = delete;

   private:
    int depth_;
  };
};

Tensor make_tensor(const TensorMeta& meta, std::shared_ptr<Storage> storage);
Tensor make_symbolic(const TensorMeta& meta, const void* graph, int32_t value);
/// Returns the same value with a new identity.
Tensor make_alias(const Tensor& t);
/// Keeps id and meta, drops the data.
Tensor make_meta_only(const Tensor& t);

/// Calls f(logical_index, physical_index) in logical order. The only place that knows the physical order of a layout.
template <class F> void for_each_element(const TensorMeta& m, F&& f) {
  const int64_t n = m.numel();
  if (m.layout != Layout::kChannelsLast) {
    for (int64_t i = 0; i < n; ++i) f(i, i);
    return;
  }
  const int64_t N = m.shape[0], C = m.shape[1], H = m.shape[2], W = m.shape[3];
  int64_t i = 0;
  for (int64_t a = 0; a < N; ++a)
    for (int64_t c = 0; c < C; ++c)
      for (int64_t h = 0; h < H; ++h)
        for (int64_t w = 0; w < W; ++w, ++i) f(i, ((a * H + h) * W + w) * C + c);
}

}  // namespace sindri
