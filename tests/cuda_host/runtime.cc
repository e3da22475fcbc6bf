// See runtime.h. Functions of the CUDA runtime over the simulated accelerator.
#include "cuda_host/runtime.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <map>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "cuda_host/fibers.h"
#include "sindri/core/error.h"

namespace {

using namespace sindri;
using sim::Simulator;

using Clock = std::map<const Stream*, int64_t>;  // for each stream, the number of its captured operations that are known to come before

thread_local cudaError_t t_last = cudaSuccess;
thread_local int t_device = 0;
thread_local cudaStreamCaptureMode t_mode = cudaStreamCaptureModeGlobal;
std::atomic<cudaError_t> g_driver{cudaSuccess};
std::atomic<int> g_driver_version{CUDART_VERSION};
std::atomic<int> g_devices{Simulator::kOffered};
std::atomic<uint64_t> g_seed{1};
std::atomic<int64_t> g_launches{0};
std::atomic<int> g_library_delay{0};

// A call returns its error, and cudaGetLastError returns it once more until it is read.
cudaError_t say(cudaError_t e) {
  if (e != cudaSuccess) t_last = e;
  return e;
}

// Converts an exception of simulated work to CUDA's error.
template <class F> cudaError_t guarded(F&& f) {
  try {
    f();
    return cudaSuccess;
  } catch (const DeviceError& e) {
    const std::string text = e.what();
    fmt::print(stderr, "{}\n", text);
    return say(text.find("is lost") != std::string::npos ? cudaErrorECCUncorrectable : cudaErrorLaunchFailure);
  } catch (const std::exception& e) {
    fmt::print(stderr, "{}\n", e.what());
    return say(cudaErrorLaunchFailure);
  }
}

// A capture in progress, or one that has been invalidated.
struct Capture {
  Stream* origin;
  std::map<const Stream*, Clock> knows;  // for each participating stream
  std::map<const Stream*, int64_t> position;
  bool broken = false;
};
thread_local Capture* t_capture = nullptr;

}  // namespace

// CUDA's handles.
struct CUstream_st {
  std::unique_ptr<Stream> stream;
  int device;
};
struct CUevent_st {
  int device;
  std::shared_ptr<Event> event;
  Clock clock;  // the position of the event in the capture
  const Capture* capture = nullptr;
  bool timed = false;
  std::shared_ptr<std::atomic<int64_t>> reached;  // for timed events: when the stream reached it, in ns
};
struct CUgraph_st {
  std::shared_ptr<Recording> recording;
};
struct CUgraphExec_st {
  std::shared_ptr<Recording> recording;
};

namespace {

// cudaFree does not get the size.
struct Allocations {
  std::mutex mutex;
  std::map<void*, std::pair<int, int64_t>> sizes;  // device, bytes
};
Allocations& allocations() {
  static Allocations* const a = new Allocations;
  return *a;
}

bool captures(cudaStream_t s) { return t_capture != nullptr && t_capture->knows.contains(s->stream.get()); }
void advance(cudaStream_t s) {
  if (captures(s)) ++t_capture->position[s->stream.get()];
}
// Calls that CUDA refuses while the thread captures, unless the capture is in relaxed mode.
bool breaks_capture() {
  if (t_capture == nullptr || t_mode == cudaStreamCaptureModeRelaxed) return false;
  t_capture->broken = true;
  return true;
}

}  // namespace

namespace sindri::cuda_host {

Simulator& machine() { return Simulator::machine(); }
void set_seed(uint64_t seed) { g_seed = seed; }
int64_t launches() { return g_launches; }
void set_driver(cudaError_t state, int version) {
  g_driver = state;
  g_driver_version = version;
}
void set_library_delay(int us) { g_library_delay = us; }
void delay_library(int64_t number) {
  const int64_t before = std::max<int64_t>(0, 6 - number), us = g_library_delay * before * before;
  if (us > 0) std::this_thread::sleep_for(std::chrono::microseconds(us));
}
void set_devices(int count) { g_devices = std::clamp(count, 1, Simulator::kDevices); }
void* inside(const void* address) { return machine().inside(address, "a kernel"); }
uintptr_t translated_word(uintptr_t word, bool must_be_device) {
  const auto* const p = reinterpret_cast<const void*>(word);  // NOLINT(performance-no-int-to-ptr)
  if (word == 0 || machine().is_shadow(p)) return word;
  if (!machine().is_inside(p)) {
    if (must_be_device) throw DeviceError(fmt::format("a kernel was given memory of the host ({})", p));
    return word;
  }
  return reinterpret_cast<uintptr_t>(machine().inside(p, "a kernel"));
}

cudaError_t run_library(cudaStream_t stream, const char* name, std::function<void()> work) {
  if (stream->device != t_device) return say(cudaErrorInvalidResourceHandle);
  return guarded([&] {
    advance(stream);
    sim::run_on(*stream->stream, name, std::move(work));
  });
}

cudaError_t launch(cudaStream_t stream, const char* name, const Dims& dims, std::function<void()> body) {
  if (stream->device != t_device) return say(cudaErrorInvalidResourceHandle);
  const uint64_t threads = uint64_t{dims.threads.x} * dims.threads.y * dims.threads.z, blocks = uint64_t{dims.blocks.x} * dims.blocks.y * dims.blocks.z;
  const bool fits =
      threads >= 1 && threads <= 1024 && dims.threads.z <= 64 && blocks >= 1 && dims.blocks.x <= 0x7fffffff && dims.blocks.y <= 65535 && dims.blocks.z <= 65535;
  if (!fits || dims.shared > 227 * 1024) return say(cudaErrorInvalidConfiguration);
  if (dims.cooperative && blocks > kCoresidentBlocks) return say(cudaErrorCooperativeLaunchTooLarge);
  return guarded([&] {
    advance(stream);
    const uint64_t seed = g_seed + static_cast<uint64_t>(++g_launches);
    sim::run_on(*stream->stream, name, [name = std::string(name), dims, body = std::move(body), seed] { run_grid(name, dims, body, seed); });
  });
}

}  // namespace sindri::cuda_host

extern "C" {

// ----- devices -----

cudaError_t cudaGetDeviceCount(int* count) {
  *count = g_driver == cudaSuccess ? g_devices.load() : 0;
  return say(g_driver);
}
cudaError_t cudaDriverGetVersion(int* version) {
  *version = g_driver_version;
  return cudaSuccess;
}
cudaError_t cudaRuntimeGetVersion(int* version) {
  *version = CUDART_VERSION;
  return cudaSuccess;
}
cudaError_t cudaGetDevice(int* device) {
  *device = t_device;
  return cudaSuccess;
}
cudaError_t cudaSetDevice(int device) {
  if (device < 0 || device >= g_devices) return say(cudaErrorInvalidDevice);
  t_device = device;
  return cudaSuccess;
}
cudaError_t cudaGetDeviceProperties(cudaDeviceProp* p, int device) {
  if (device < 0 || device >= g_devices) return say(cudaErrorInvalidDevice);
  *p = {};
  std::snprintf(p->name, sizeof p->name, "host run %d", device);
  p->major = 9;
  p->multiProcessorCount = 132;
  p->totalGlobalMem = static_cast<size_t>(Simulator::kMemory);
  p->sharedMemPerBlockOptin = 227 * 1024;
  p->warpSize = 32;
  return cudaSuccess;
}
cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int device) {
  cudaDeviceProp p{};
  if (const cudaError_t e = cudaGetDeviceProperties(&p, device); e != cudaSuccess) return e;
  switch (attribute) {
    case cudaDevAttrComputeCapabilityMajor: *value = p.major; return cudaSuccess;
    case cudaDevAttrComputeCapabilityMinor: *value = p.minor; return cudaSuccess;
    case cudaDevAttrMultiProcessorCount: *value = p.multiProcessorCount; return cudaSuccess;
    case cudaDevAttrL2CacheSize: *value = 1 << 20; return cudaSuccess;
    case cudaDevAttrMaxSharedMemoryPerBlockOptin: *value = static_cast<int>(p.sharedMemPerBlockOptin); return cudaSuccess;
    default: return say(cudaErrorInvalidValue);
  }
}
cudaError_t cudaMemGetInfo(size_t* free, size_t* total) {
  const DeviceInfo info = Simulator::machine().info(t_device);
  *free = static_cast<size_t>(info.free);
  *total = static_cast<size_t>(info.memory);
  return cudaSuccess;
}
cudaError_t cudaDeviceGetStreamPriorityRange(int* lowest, int* highest) {
  *lowest = 0;
  *highest = -5;
  return cudaSuccess;
}
cudaError_t cudaThreadExchangeStreamCaptureMode(cudaStreamCaptureMode* mode) {
  std::swap(*mode, t_mode);
  return cudaSuccess;
}

// ----- errors -----

cudaError_t cudaGetLastError() { return std::exchange(t_last, cudaSuccess); }
cudaError_t cudaPeekAtLastError() { return t_last; }
const char* cudaGetErrorName(cudaError_t e) {
  switch (e) {
    case cudaSuccess: return "cudaSuccess";
    case cudaErrorMemoryAllocation: return "cudaErrorMemoryAllocation";
    case cudaErrorInvalidValue: return "cudaErrorInvalidValue";
    case cudaErrorInvalidConfiguration: return "cudaErrorInvalidConfiguration";
    case cudaErrorInvalidResourceHandle: return "cudaErrorInvalidResourceHandle";
    case cudaErrorLaunchFailure: return "cudaErrorLaunchFailure";
    case cudaErrorECCUncorrectable: return "cudaErrorECCUncorrectable";
    case cudaErrorNoDevice: return "cudaErrorNoDevice";
    case cudaErrorInsufficientDriver: return "cudaErrorInsufficientDriver";
    case cudaErrorStreamCaptureInvalidated: return "cudaErrorStreamCaptureInvalidated";
    case cudaErrorStreamCaptureUnjoined: return "cudaErrorStreamCaptureUnjoined";
    case cudaErrorStreamCaptureUnsupported: return "cudaErrorStreamCaptureUnsupported";
    case cudaErrorStreamCaptureIsolation: return "cudaErrorStreamCaptureIsolation";
    case cudaErrorCapturedEvent: return "cudaErrorCapturedEvent";
    default: return "an error of the stand-in runtime";
  }
}
const char* cudaGetErrorString(cudaError_t e) { return cudaGetErrorName(e); }

// ----- memory -----

cudaError_t cudaMalloc(void** p, size_t bytes) {
  if (breaks_capture()) return say(cudaErrorStreamCaptureUnsupported);
  *p = Simulator::machine().allocate(t_device, static_cast<int64_t>(bytes));
  if (*p == nullptr) return say(cudaErrorMemoryAllocation);
  const std::lock_guard lock(allocations().mutex);
  allocations().sizes[*p] = {t_device, static_cast<int64_t>(bytes)};
  return cudaSuccess;
}
cudaError_t cudaHostAlloc(void** p, size_t bytes, unsigned) {
  if (breaks_capture()) return say(cudaErrorStreamCaptureUnsupported);
  *p = Simulator::machine().allocate_pinned(static_cast<int64_t>(bytes));
  return *p != nullptr ? cudaSuccess : say(cudaErrorMemoryAllocation);
}
cudaError_t cudaFreeHost(void* p) {
  Simulator::machine().release_pinned(p, 0);
  return cudaSuccess;
}
cudaError_t cudaFree(void* p) {
  if (p == nullptr) return cudaSuccess;
  if (breaks_capture()) return say(cudaErrorStreamCaptureUnsupported);
  std::pair<int, int64_t> what;
  {
    const std::lock_guard lock(allocations().mutex);
    const auto at = allocations().sizes.find(p);
    if (at == allocations().sizes.end()) return say(cudaErrorInvalidValue);
    what = at->second;
    allocations().sizes.erase(at);
  }
  Simulator::machine().release(what.first, p, what.second);
  return cudaSuccess;
}
cudaError_t cudaMemcpyAsync(void* to, const void* from, size_t bytes, cudaMemcpyKind kind, cudaStream_t stream) {
  return guarded([&] {
    advance(stream);
    const CopyKind k = kind == cudaMemcpyHostToDevice ? CopyKind::kToDevice : kind == cudaMemcpyDeviceToHost ? CopyKind::kToHost : CopyKind::kWithin;
    stream->stream->copy(to, from, static_cast<int64_t>(bytes), k);
  });
}
cudaError_t cudaMemsetAsync(void* to, int value, size_t bytes, cudaStream_t stream) {
  return guarded([&] {
    advance(stream);
    void* const at = Simulator::machine().inside(to, "cudaMemsetAsync");
    sim::run_on(*stream->stream, "cudaMemsetAsync", [=] { std::memset(at, value, bytes); });
  });
}

// ----- streams and events -----

cudaError_t cudaStreamCreateWithPriority(cudaStream_t* stream, unsigned, int priority) {
  const Lane lane = priority < 0 ? Lane::kComm : Lane::kCompute;
  *stream = new CUstream_st{Simulator::machine().make_stream({Device::kOther, t_device}, lane), t_device};
  return cudaSuccess;
}
cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  delete stream;
  return cudaSuccess;
}
cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
  if (captures(stream)) {
    t_capture->broken = true;
    return say(cudaErrorStreamCaptureUnsupported);
  }
  if (breaks_capture()) return say(cudaErrorStreamCaptureUnsupported);
  return guarded([&] { stream->stream->synchronize(); });
}
cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned flags) {
  *event = new CUevent_st{t_device, nullptr, {}, nullptr, (flags & cudaEventDisableTiming) == 0, nullptr};
  return cudaSuccess;
}
cudaError_t cudaEventElapsedTime(float* ms, cudaEvent_t begin, cudaEvent_t end) {
  for (const cudaEvent_t e : {begin, end}) {
    if (!e->timed || e->reached == nullptr) return say(cudaErrorInvalidResourceHandle);
    if (*e->reached == 0) return say(cudaErrorNotReady);
  }
  *ms = static_cast<float>(*end->reached - *begin->reached) / 1e6f;
  return cudaSuccess;
}
cudaError_t cudaEventDestroy(cudaEvent_t event) {
  delete event;
  return cudaSuccess;
}
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  if (event->device != stream->device) return say(cudaErrorInvalidResourceHandle);
  return guarded([&] {
    if (event->timed && !captures(stream)) {
      event->reached = std::make_shared<std::atomic<int64_t>>(0);
      sim::run_on(*stream->stream, "a timed event", [at = event->reached] { *at = std::chrono::steady_clock::now().time_since_epoch().count(); });
    }
    event->event = stream->stream->record();
    event->capture = captures(stream) ? t_capture : nullptr;
    if (event->capture == nullptr) return;
    event->clock = t_capture->knows[stream->stream.get()];
    event->clock[stream->stream.get()] = t_capture->position[stream->stream.get()];
  });
}
cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned) {
  if (event->event == nullptr) return cudaSuccess;  // never recorded
  if (event->capture != nullptr) {
    if (event->capture != t_capture) return say(cudaErrorStreamCaptureIsolation);
    // From here on the stream is part of the capture.
    sim::note_only(*stream->stream);
    Clock& knows = t_capture->knows[stream->stream.get()];
    for (const auto& [s, position] : event->clock) knows[s] = std::max(knows[s], position);
  } else if (captures(stream)) {
    t_capture->broken = true;  // an event from outside the capture
    return say(cudaErrorStreamCaptureIsolation);
  }
  return guarded([&] { stream->stream->wait(event->event); });
}
// An event last recorded into a capture cannot be queried, during the capture or later, from any thread.
static bool was_captured(cudaEvent_t event) {
  if (event->capture == nullptr) return false;
  if (event->capture == t_capture) t_capture->broken = true;
  return true;
}
cudaError_t cudaEventQuery(cudaEvent_t event) {
  if (was_captured(event)) return say(cudaErrorCapturedEvent);
  if (breaks_capture()) return say(cudaErrorStreamCaptureUnsupported);
  return event->event == nullptr || event->event->done() ? cudaSuccess : say(cudaErrorNotReady);
}
cudaError_t cudaEventSynchronize(cudaEvent_t event) {
  if (was_captured(event)) return say(cudaErrorCapturedEvent);
  if (breaks_capture()) return say(cudaErrorStreamCaptureUnsupported);
  return event->event == nullptr ? cudaSuccess : guarded([&] { event->event->synchronize(); });
}

// ----- graphs -----

cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode mode) {
  if (t_capture != nullptr) return say(cudaErrorIllegalState);
  t_mode = mode;
  t_capture = new Capture{stream->stream.get(), {}, {}};
  t_capture->knows[stream->stream.get()] = {};
  return guarded([&] {
    stream->stream->begin_recording();
    sim::note_only(*stream->stream);
  });
}
cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t* graph) {
  *graph = nullptr;
  if (t_capture == nullptr || t_capture->origin != stream->stream.get()) return say(cudaErrorIllegalState);
  const std::unique_ptr<Capture> capture(std::exchange(t_capture, nullptr));
  t_mode = cudaStreamCaptureModeGlobal;
  std::unique_ptr<Recording> recording = stream->stream->end_recording();
  if (capture->broken) return say(cudaErrorStreamCaptureInvalidated);
  const Clock& knows = capture->knows[capture->origin];
  for (const auto& [s, position] : capture->position) {
    if (s == capture->origin || position == 0) continue;
    const auto at = knows.find(s);
    if (at == knows.end() || at->second < position) return say(cudaErrorStreamCaptureUnjoined);
  }
  *graph = new CUgraph_st{std::move(recording)};
  return cudaSuccess;
}
cudaError_t cudaStreamIsCapturing(cudaStream_t stream, cudaStreamCaptureStatus* status) {
  *status = captures(stream) ? cudaStreamCaptureStatusActive : cudaStreamCaptureStatusNone;
  return cudaSuccess;
}
cudaError_t cudaGraphInstantiate(cudaGraphExec_t* exec, cudaGraph_t graph, unsigned long long) {
  *exec = new CUgraphExec_st{graph->recording};
  return cudaSuccess;
}
cudaError_t cudaGraphUpload(cudaGraphExec_t, cudaStream_t) { return cudaSuccess; }
cudaError_t cudaGraphLaunch(cudaGraphExec_t exec, cudaStream_t stream) {
  if (captures(stream)) return say(cudaErrorStreamCaptureUnsupported);
  return guarded([&] { stream->stream->replay(*exec->recording); });
}
cudaError_t cudaGraphExecDestroy(cudaGraphExec_t exec) {
  delete exec;
  return cudaSuccess;
}
cudaError_t cudaGraphDestroy(cudaGraph_t graph) {
  delete graph;
  return cudaSuccess;
}

}  // extern "C"
