// A CUDA stream as Sindri's queue of work, and errors of the CUDA runtime as Sindri's errors.
#pragma once

#include <cuda_runtime_api.h>

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <typeindex>

#include "sindri/device/backend.h"

namespace sindri::cuda {

/// Throws DeviceError saying what failed while `doing` on `device`: kDeviceFailed for lost devices and failed work, with a fix.
[[noreturn]] void throw_error(cudaError_t error, const char* doing, Device device);
inline void check(cudaError_t error, const char* doing, Device device) {
  if (error != cudaSuccess) throw_error(error, doing, device);
}

/// An error that a kernel reported (errors.h).
struct ErrorFound {
  static constexpr int kKnown = 4;
  const char* op;
  int64_t known[kKnown];  ///< values that the host passed at the launch
  int64_t found[2];  ///< the value that the kernel found, and its position
};
using ErrorThrower = void (*)(const ErrorFound&);
/// Pinned memory that kernels of a device write: one error at a time.
struct ErrorRecord {
  static constexpr unsigned kFree = 0, kTaken = 1, kWritten = 2;
  unsigned state, unused;
  uint64_t op, thrower;  // host addresses
  int64_t known[ErrorFound::kKnown], found[2];
};
/// Returns the record of a device, created on first use.
ErrorRecord* error_record(Device device);
/// Throws the error that a kernel of this device has reported, if any, and frees the record. Streams and events call it
/// after the host has waited.
void throw_reported(Device device);

/// Makes a device the thread's current one during its life, and restores the previous one.
class OnDevice {
 public:
  explicit OnDevice(int index);
  ~OnDevice();
  OnDevice(const OnDevice&) = delete;
  OnDevice& operator=(const OnDevice&) = delete;

 private:
  int before_ = 0;
};

/// During its life this thread may make calls that a capture in progress would otherwise forbid (memory, events); they are not part of the captured graph.
class NotCaptured {
 public:
  NotCaptured() { (void)cudaThreadExchangeStreamCaptureMode(&mode_); }
  ~NotCaptured() { (void)cudaThreadExchangeStreamCaptureMode(&mode_); }
  NotCaptured(const NotCaptured&) = delete;
  NotCaptured& operator=(const NotCaptured&) = delete;

 private:
  cudaStreamCaptureMode mode_ = cudaStreamCaptureModeRelaxed;
};

class CudaStream final : public Stream {
 public:
  CudaStream(Device device, Lane lane);
  ~CudaStream() override;
  cudaStream_t handle() const { return stream_; }

  std::shared_ptr<Event> record() override;
  void wait(const std::shared_ptr<Event>& event) override;
  void copy(void* to, const void* from, int64_t bytes, CopyKind kind) override;
  void synchronize() override;
  void* native_handle() override { return stream_; }
  bool records() const override;
  void begin_recording() override;
  std::unique_ptr<Recording> end_recording() override;
  void replay(Recording& recording) override;
  bool recording() const override;

  /// Number of launches enqueued here so far by Kernels: kernels, copies, fills, and calls of libraries. To compare with Kernel::cost.
  int64_t launches() const { return launches_.load(std::memory_order_relaxed); }
  void count_launch() { launches_.fetch_add(1, std::memory_order_relaxed); }

  /// Returns the T of this stream (a library's handle), made as T(handle()) at first use and destroyed with the stream.
  /// May be called from any thread.
  template <class T> T& kept() {
    const std::lock_guard lock(kept_mutex_);
    std::shared_ptr<void>& at = kept_[typeid(T)];
    if (at == nullptr) {
      const NotCaptured outside;
      at = std::make_shared<T>(stream_);
    }
    return *static_cast<T*>(at.get());
  }

 private:
  cudaStream_t stream_ = nullptr;
  std::atomic<int64_t> launches_{0};
  std::mutex kept_mutex_;
  std::map<std::type_index, std::shared_ptr<void>> kept_;
};

}  // namespace sindri::cuda
