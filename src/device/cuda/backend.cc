// The CUDA backend: devices, their memory, and pinned memory of the host. Registered by plugin.cc.
#include "src/device/cuda/backend.h"

#include <fmt/format.h>

#include <cstdlib>

#include "sindri/core/error.h"
#include "src/device/cuda/libraries.h"
#include "src/device/cuda/stream.h"
#include "src/device/cuda/trial.h"
#include "src/device/device_timer.h"

namespace sindri::cuda {

namespace {

constexpr const char* kTarget = "GPU";

std::string version_text(int v) { return fmt::format("{}.{}", v / 1000, v % 1000 / 10); }

class CudaBackend final : public Backend {
 public:
  const char* name() const override { return "cuda"; }
  const char* target() const override { return kTarget; }

  int count() override {
    ask();
    return count_;
  }

  DeviceInfo info(int index) override {
    const OnDevice on(index);
    const Device device{Device::kCuda, index};
    cudaDeviceProp p{};
    check(cudaGetDeviceProperties(&p, index), "asking for a device's properties", device);
    size_t free = 0, all = 0;
    check(cudaMemGetInfo(&free, &all), "asking for a device's memory", device);
    return {fmt::format("{} (compute capability {}.{})", p.name, p.major, p.minor), static_cast<int64_t>(all), static_cast<int64_t>(free)};
  }

  std::vector<MissingPart> missing() override {
    ask();
    if (count_ > 0) return {};
    int driver = 0;
    if (cudaDriverGetVersion(&driver) != cudaSuccess) driver = 0;
    if (error_ == cudaErrorInsufficientDriver && driver == 0)
      return {{kTarget, "there is no NVIDIA driver (libcuda.so.1)",
               "install the driver of the GPU, version 580 or later, and run nvidia-smi to see that it works"}};
    if (error_ == cudaErrorInsufficientDriver)
      return {{kTarget,
               fmt::format("the NVIDIA driver is too old: it supports CUDA {}, this build needs {}", version_text(driver), version_text(CUDART_VERSION)),
               "install driver version 580 or later"}};
    if (error_ == cudaErrorNoDevice || error_ == cudaSuccess)
      return {{kTarget, "the NVIDIA driver finds no GPU", "run nvidia-smi; CUDA_VISIBLE_DEVICES may hide GPUs, a container needs --gpus all"}};
    return {{kTarget, fmt::format("CUDA does not start: {} ({})", cudaGetErrorString(error_), cudaGetErrorName(error_)),
             "run nvidia-smi, and restart the machine if it fails as well"}};
  }

  std::vector<BackendLibrary> libraries() override {
    std::vector<BackendLibrary> all;
    for (const LibraryState& l : library_states()) all.push_back({l.name, l.path, l.version, l.error, l.lost, l.fix});
    return all;
  }

  void* allocate(int index, int64_t bytes) override {
    const NotCaptured outside;
    const OnDevice on(index);
    void* p = nullptr;
    const cudaError_t e = cudaMalloc(&p, static_cast<size_t>(bytes));
    if (e == cudaErrorMemoryAllocation) {
      (void)cudaGetLastError();
      return nullptr;
    }
    check(e, "allocating memory", {Device::kCuda, index});
    return p;
  }
  void release(int index, void* p, int64_t) noexcept override {
    const NotCaptured outside;
    try {
      const OnDevice on(index);
      (void)cudaFree(p);
    } catch (const DeviceError&) {
      return;  // a lost device has lost its memory
    }
  }
  void* allocate_pinned(int64_t bytes) override {
    const NotCaptured outside;
    void* p = nullptr;
    if (cudaHostAlloc(&p, static_cast<size_t>(bytes), cudaHostAllocPortable) == cudaSuccess) return p;
    (void)cudaGetLastError();
    return nullptr;
  }
  void release_pinned(void* p, int64_t) noexcept override {
    const NotCaptured outside;
    (void)cudaFreeHost(p);
  }
  std::unique_ptr<Stream> make_stream(Device device, Lane lane) override { return std::make_unique<CudaStream>(device, lane); }
  void make_current(int index) override { check(cudaSetDevice(index), "choosing the device", {Device::kCuda, index}); }

 private:
  // Only once: a driver does not appear while a program runs, and asking again costs milliseconds.
  void ask() {
    once_.call([this] {
      error_ = cudaGetDeviceCount(&count_);
      if (error_ == cudaSuccess) return;
      count_ = 0;
      (void)cudaGetLastError();
    });
  }
  Once once_;
  int count_ = 0;
  cudaError_t error_ = cudaSuccess;
};

}  // namespace

std::unique_ptr<Backend> make_backend() {
  set_device_timer(Device::kCuda, seconds_by_events);
  return std::make_unique<CudaBackend>();
}

}  // namespace sindri::cuda
