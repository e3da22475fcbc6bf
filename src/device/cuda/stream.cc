// See stream.h: streams, events, recordings (CUDA graphs).
#include "src/device/cuda/stream.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <iterator>
#include <mutex>
#include <new>
#include <string>
#include <vector>

#include "sindri/core/error.h"

namespace sindri::cuda {

namespace {

// Errors that destroy the device's context: all later calls fail as well.
bool is_sticky(cudaError_t e) {
  switch (e) {
    case cudaErrorIllegalAddress:
    case cudaErrorLaunchFailure:
    case cudaErrorHardwareStackError:
    case cudaErrorIllegalInstruction:
    case cudaErrorMisalignedAddress:
    case cudaErrorInvalidAddressSpace:
    case cudaErrorInvalidPc:
    case cudaErrorAssert:
    case cudaErrorECCUncorrectable:
    case cudaErrorNvlinkUncorrectable:
    case cudaErrorContained:
    case cudaErrorUnknown: return true;
    default: return false;
  }
}

// Creating an event takes longer than recording it, so events are cached by device.
class EventPool {
 public:
  cudaEvent_t take(Device device) {
    {
      const std::lock_guard lock(mutex_);
      const auto index = static_cast<size_t>(device.index);
      if (index < kept_.size() && !kept_[index].empty()) {
        const cudaEvent_t e = kept_[index].back();
        kept_[index].pop_back();
        return e;
      }
    }
    const NotCaptured outside;
    const OnDevice on(device.index);
    cudaEvent_t e = nullptr;
    check(cudaEventCreateWithFlags(&e, cudaEventDisableTiming), "making an event", device);
    return e;
  }
  void give_back(Device device, cudaEvent_t e) {
    const std::lock_guard lock(mutex_);
    const auto index = static_cast<size_t>(device.index);
    if (kept_.size() <= index) kept_.resize(index + 1);
    kept_[index].push_back(e);
  }
  static EventPool& get() {
    static EventPool* const pool = new EventPool;  // events outlive static tensors
    return *pool;
  }

 private:
  std::mutex mutex_;
  std::vector<std::vector<cudaEvent_t>> kept_;
};

class CudaEvent final : public Event {
 public:
  explicit CudaEvent(Device device) : device_(device), event_(EventPool::get().take(device)) {}
  ~CudaEvent() override { EventPool::get().give_back(device_, event_); }
  cudaEvent_t handle() const { return event_; }
  bool done() override {
    const NotCaptured outside;
    const cudaError_t e = cudaEventQuery(event_);
    if (e == cudaErrorNotReady) {
      (void)cudaGetLastError();
      return false;
    }
    return true;  // also if work failed: synchronize() reports it
  }
  void synchronize() override {
    check(cudaEventSynchronize(event_), "waiting for work", device_);
    throw_reported(device_);
  }

 private:
  const Device device_;
  const cudaEvent_t event_;
};

class CudaRecording final : public Recording {
 public:
  CudaRecording(Device device, cudaGraph_t graph) : device_(device), graph_(graph) {}
  ~CudaRecording() override {
    if (exec != nullptr) cudaGraphExecDestroy(exec);
    cudaGraphDestroy(graph_);
  }
  void instantiate(cudaStream_t stream) {
    check(cudaGraphInstantiate(&exec, graph_, 0), "making a graph ready to run", device_);
    check(cudaGraphUpload(exec, stream), "loading a graph", device_);
  }
  cudaGraphExec_t exec = nullptr;

 private:
  const Device device_;
  const cudaGraph_t graph_;
};

}  // namespace

void throw_error(cudaError_t error, const char* doing, Device device) {
  (void)cudaGetLastError();  // errors that are not sticky are handled by this code from here on
  const std::string text = fmt::format("{}: {} ({})", doing, cudaGetErrorString(error), cudaGetErrorName(error));
  if (error == cudaErrorMemoryAllocation)
    throw DeviceError(ErrorCode::kMemory, text, device.str(), "reduce the batch size, or close other programs that use the GPU (nvidia-smi lists them)");
  if (is_sticky(error))
    throw DeviceError(ErrorCode::kDeviceFailed, fmt::format("device {} is lost: {}", device.str(), text), device.str(),
                      "restart the program; checkpoints written before are intact. `dmesg | grep Xid` tells hardware errors from wrong memory accesses");
  throw DeviceError(ErrorCode::kDeviceFailed, text, device.str(), "run `sindri doctor` to check whether the driver and the libraries match");
}

namespace {

// Records by device; they live as long as the program, as captured graphs hold their addresses.
class ErrorRecords {
 public:
  ErrorRecord* find(int index) const {
    const std::lock_guard lock(mutex_);
    const auto i = static_cast<size_t>(index);
    return i < records_.size() ? records_[i] : nullptr;
  }
  ErrorRecord* make(Device device) {
    const std::lock_guard lock(mutex_);
    const auto i = static_cast<size_t>(device.index);
    if (records_.size() <= i) records_.resize(i + 1, nullptr);
    if (records_[i] == nullptr) {
      const NotCaptured outside;
      void* p = nullptr;
      check(cudaHostAlloc(&p, sizeof(ErrorRecord), cudaHostAllocPortable), "allocating memory for errors of kernels", device);
      records_[i] = new (p) ErrorRecord{};
    }
    return records_[i];
  }
  static ErrorRecords& get() {
    static ErrorRecords* const records = new ErrorRecords;
    return *records;
  }

 private:
  mutable std::mutex mutex_;
  std::vector<ErrorRecord*> records_;
};

}  // namespace

ErrorRecord* error_record(Device device) { return ErrorRecords::get().make(device); }

void throw_reported(Device device) {
  ErrorRecord* const r = ErrorRecords::get().find(device.index);
  if (r == nullptr) return;
  const std::atomic_ref<unsigned> state(r->state);
  if (state.load(std::memory_order_acquire) != ErrorRecord::kWritten) return;
  ErrorFound found{reinterpret_cast<const char*>(r->op), {}, {r->found[0], r->found[1]}};  // NOLINT(performance-no-int-to-ptr)
  std::copy(std::begin(r->known), std::end(r->known), std::begin(found.known));
  const auto thrower = reinterpret_cast<ErrorThrower>(r->thrower);  // NOLINT(performance-no-int-to-ptr)
  // If two threads have waited, the one that frees the record throws.
  unsigned written = ErrorRecord::kWritten;
  if (state.compare_exchange_strong(written, ErrorRecord::kFree)) thrower(found);
}

OnDevice::OnDevice(int index) {
  if (cudaGetDevice(&before_) != cudaSuccess) before_ = index;
  int now = before_;
  if (now != index) check(cudaSetDevice(index), "choosing the device", {Device::kCuda, index});
}
OnDevice::~OnDevice() {
  int now = before_;
  if (cudaGetDevice(&now) == cudaSuccess && now != before_) (void)cudaSetDevice(before_);
}

CudaStream::CudaStream(Device device, Lane lane) : Stream(device, lane) {
  const NotCaptured outside;
  const OnDevice on(device.index);
  int lowest = 0, highest = 0;
  check(cudaDeviceGetStreamPriorityRange(&lowest, &highest), "asking for priorities", device);
  // Communication takes precedence over kernels that wait for room.
  check(cudaStreamCreateWithPriority(&stream_, cudaStreamNonBlocking, lane == Lane::kComm ? highest : lowest), "making a stream", device);
}
CudaStream::~CudaStream() {
  kept_.clear();
  (void)cudaStreamDestroy(stream_);
}

std::shared_ptr<Event> CudaStream::record() {
  const OnDevice on(device().index);
  auto event = std::make_shared<CudaEvent>(device());
  check(cudaEventRecord(event->handle(), stream_), "recording an event", device());
  return event;
}
void CudaStream::wait(const std::shared_ptr<Event>& event) {
  const OnDevice on(device().index);
  check(cudaStreamWaitEvent(stream_, static_cast<CudaEvent&>(*event).handle(), 0), "waiting for a stream", device());
}
void CudaStream::copy(void* to, const void* from, int64_t bytes, CopyKind kind) {
  constexpr cudaMemcpyKind kKinds[] = {cudaMemcpyHostToDevice, cudaMemcpyDeviceToHost, cudaMemcpyDeviceToDevice};
  const OnDevice on(device().index);
  check(cudaMemcpyAsync(to, from, static_cast<size_t>(bytes), kKinds[static_cast<size_t>(kind)], stream_), "copying", device());
}
void CudaStream::synchronize() {
  check(cudaStreamSynchronize(stream_), "waiting for work", device());
  throw_reported(device());
}

bool CudaStream::records() const {
  static const bool wanted = [] {
    const char* const v = std::getenv("SINDRI_CUDA_GRAPH");
    return v == nullptr || std::string(v) != "0";
  }();
  return wanted;
}
bool CudaStream::recording() const {
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  return cudaStreamIsCapturing(stream_, &status) == cudaSuccess && status != cudaStreamCaptureStatusNone;
}
void CudaStream::begin_recording() {
  const OnDevice on(device().index);
  check(cudaStreamBeginCapture(stream_, cudaStreamCaptureModeThreadLocal), "beginning a graph", device());
}
std::unique_ptr<Recording> CudaStream::end_recording() {
  const OnDevice on(device().index);
  cudaGraph_t graph = nullptr;
  check(cudaStreamEndCapture(stream_, &graph), "ending a graph", device());
  auto made = std::make_unique<CudaRecording>(device(), graph);
  made->instantiate(stream_);
  return made;
}
void CudaStream::replay(Recording& recording) {
  const OnDevice on(device().index);
  check(cudaGraphLaunch(static_cast<CudaRecording&>(recording).exec, stream_), "running a graph", device());
}

}  // namespace sindri::cuda
