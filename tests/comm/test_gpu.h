// GPUs for the tests of the nccl backend: devices whose memory is the host's and whose streams are threads. The stand-in for NCCL (tests/preload/fake_nccl.h)
// gets the streams by native_handle().
#pragma once

#include <atomic>
#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>

#include "sindri/device/device.h"
#include "tests/preload/fake_nccl.h"

namespace sindri::test_gpu {

class Backend final : public sindri::Backend {
 public:
  /// The instance of this process, registered as CUDA's at the first call.
  static Backend& get();
  std::atomic<int> devices{8};
  std::atomic<bool> handles{true};  ///< whether streams have native ones
  static int current();  ///< the current device of this thread, as set by make_current; -1 before
  static void forget_current();

  const char* name() const override { return "cuda"; }
  const char* target() const override { return "GPU"; }
  int count() override { return devices; }
  std::vector<MissingPart> missing() override { return {{"GPU", "there is no driver for the GPUs of the tests", "set devices"}}; }
  DeviceInfo info(int) override { return {"GPU of the tests", 1 << 30, 1 << 30}; }
  void* allocate(int index, int64_t bytes) override;
  void release(int index, void* p, int64_t bytes) noexcept override;
  void* allocate_pinned(int64_t bytes) override { return allocate(0, bytes); }
  void release_pinned(void* p, int64_t bytes) noexcept override { release(0, p, bytes); }
  std::unique_ptr<Stream> make_stream(Device device, Lane lane) override;
  void make_current(int index) override;
};

}  // namespace sindri::test_gpu
