// See trial.h.
#include "src/device/cuda/trial.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <random>
#include <utility>

#include "sindri/core/error.h"
#include "sindri/core/log.h"
#include "sindri/device/device.h"

namespace sindri::cuda {

namespace {

constexpr int kWarmUps = 2, kRuns = 5;
constexpr int64_t kMostSets = 8, kAlign = 256;

int64_t aligned(int64_t bytes) { return (bytes + kAlign - 1) / kAlign * kAlign; }

int64_t l2_bytes(int device) {
  int bytes = 0;
  if (cudaDeviceGetAttribute(&bytes, cudaDevAttrL2CacheSize, device) == cudaSuccess) return bytes;
  (void)cudaGetLastError();
  return int64_t{64} << 20;
}

// Memory of the driver, not of the caching pool: it must not count as the program's memory, and is freed at once.
class DeviceBlock {
 public:
  DeviceBlock(int64_t bytes, Device device, std::string* why) {
    const DeviceMemoryStats stats = device_memory_stats(device);
    if (stats.limit > 0 && stats.in_use + stats.cached + bytes > stats.limit) {
      *why = fmt::format("{} bytes would exceed the limit of {}'s memory", bytes, device.str());
      return;
    }
    const cudaError_t e = cudaMalloc(&data_, static_cast<size_t>(bytes));
    if (e == cudaSuccess) return;
    data_ = nullptr;
    if (e != cudaErrorMemoryAllocation) check(e, "allocating memory to time candidates", device);
    (void)cudaGetLastError();
    *why = fmt::format("{} bytes of {}'s memory are not free", bytes, device.str());
  }
  ~DeviceBlock() { (void)cudaFree(data_); }
  DeviceBlock(const DeviceBlock&) = delete;
  DeviceBlock& operator=(const DeviceBlock&) = delete;
  char* data() const { return static_cast<char*>(data_); }

 private:
  void* data_ = nullptr;
};

class TimedEvent {
 public:
  explicit TimedEvent(Device device) : device_(device) { check(cudaEventCreateWithFlags(&event_, cudaEventDefault), "making an event", device); }
  TimedEvent(TimedEvent&& other) noexcept : device_(other.device_), event_(std::exchange(other.event_, nullptr)) {}
  TimedEvent(const TimedEvent&) = delete;
  TimedEvent& operator=(const TimedEvent&) = delete;
  TimedEvent& operator=(TimedEvent&&) = delete;
  ~TimedEvent() {
    if (event_ != nullptr) (void)cudaEventDestroy(event_);
  }
  void record(CudaStream& stream) { check(cudaEventRecord(event_, stream.handle()), "recording an event", device_); }
  double us_after(const TimedEvent& before) const {
    float ms = 0;
    check(cudaEventElapsedTime(&ms, before.event_, event_), "reading a time", device_);
    return static_cast<double>(ms) * 1e3;
  }

 private:
  const Device device_;
  cudaEvent_t event_ = nullptr;
};

// 1 MiB of random values of a type, in pinned memory.
class Values {
 public:
  Values(DType dtype, Device device) {
    check(cudaHostAlloc(&data_, static_cast<size_t>(kBytes), cudaHostAllocDefault), "allocating memory for random values", device);
    const int64_t size = is_floating(dtype) ? static_cast<int64_t>(dtype_size(dtype)) : 1;
    std::minstd_rand random(1);
    for (int64_t i = 0; i < kBytes / size; ++i) {
      const float v = static_cast<float>(random()) / 1073741824.0f - 1.0f;
      const auto store = [&](auto value) { std::memcpy(static_cast<char*>(data_) + i * size, &value, sizeof value); };
      switch (dtype) {
        case DType::kFloat16: store(float16(v)); break;
        case DType::kBFloat16: store(bfloat16(v)); break;
        case DType::kFloat32: store(v); break;
        case DType::kFloat64: store(static_cast<double>(v)); break;
        default: store(static_cast<char>(random() >> 8));
      }
    }
  }
  ~Values() { (void)cudaFreeHost(data_); }
  Values(const Values&) = delete;
  Values& operator=(const Values&) = delete;

  // The first piece comes from here; the rest is filled by copies that double it.
  void fill(char* to, int64_t bytes, CudaStream& stream) const {
    int64_t done = std::min(bytes, kBytes);
    if (done > 0) stream.copy(to, data_, done, CopyKind::kToDevice);
    while (done < bytes) {
      const int64_t n = std::min(done, bytes - done);
      stream.copy(to + done, to, n, CopyKind::kWithin);
      done += n;
    }
  }

 private:
  static constexpr int64_t kBytes = 1 << 20;
  void* data_ = nullptr;
};

}  // namespace

std::vector<double> time_candidates(int index, std::span<const TrialOperand> operands, std::span<const std::shared_ptr<const Candidate>> candidates,
                                    std::string* why) {
  const NotCaptured outside;
  const OnDevice on(index);
  const Device device{Device::kCuda, index};
  int64_t one_set = 0, workspace = 0;
  for (const TrialOperand& o : operands) one_set += aligned(o.bytes);
  for (const auto& c : candidates) workspace = std::max(workspace, c->workspace());
  const int64_t sets = std::clamp(2 * l2_bytes(index) / std::max<int64_t>(one_set, 1) + 1, int64_t{1}, kMostSets);
  const DeviceBlock block(std::max(sets * one_set + workspace, kAlign), device, why);
  if (block.data() == nullptr) return {};
  auto& stream = static_cast<CudaStream&>(current_stream(device));
  std::vector<std::vector<void*>> addresses(static_cast<size_t>(sets));
  char* at = block.data();
  std::map<DType, Values> values;
  for (auto& set : addresses)
    for (const TrialOperand& o : operands) {
      values.try_emplace(o.dtype, o.dtype, device).first->second.fill(at, o.bytes, stream);
      set.push_back(at);
      at += aligned(o.bytes);
    }
  void* const space = at;
  std::vector<std::vector<std::pair<TimedEvent, TimedEvent>>> events(candidates.size());
  std::vector<bool> failed(candidates.size(), false);
  size_t set = 0;
  for (int round = -kWarmUps; round < kRuns; ++round)
    for (size_t i = 0; i < candidates.size(); ++i) {
      if (failed[i]) continue;
      const std::vector<void*>& here = addresses[set++ % addresses.size()];
      std::pair<TimedEvent, TimedEvent> pair{TimedEvent(device), TimedEvent(device)};
      pair.first.record(stream);
      try {
        candidates[i]->run(stream, here, space);
      } catch (const DeviceError& e) {
        stream.synchronize();  // throws again if the device failed
        failed[i] = true;
        log::info("dispatch", fmt::format("'{}' cannot be timed: {}", candidates[i]->choice(), e.what()));
        continue;
      }
      pair.second.record(stream);
      if (round >= 0) events[i].push_back(std::move(pair));
    }
  stream.synchronize();
  std::vector<double> us(candidates.size(), kFailed);
  for (size_t i = 0; i < candidates.size(); ++i) {
    if (failed[i]) continue;
    std::array<double, kRuns> runs{};
    for (size_t k = 0; k < runs.size(); ++k) runs[k] = events[i][k].second.us_after(events[i][k].first);
    std::nth_element(runs.begin(), runs.begin() + kRuns / 2, runs.end());
    us[i] = runs[kRuns / 2];
  }
  return us;
}

namespace {

// Per stream: the memory that is filled before work is timed.
struct Filler {
  explicit Filler(cudaStream_t) {
    int index = 0;
    check(cudaGetDevice(&index), "asking for the device", {});
    bytes = l2_bytes(index);
    check(cudaMalloc(&data, static_cast<size_t>(bytes)), "allocating memory to empty the cache with", {Device::kCuda, index});
  }
  ~Filler() { (void)cudaFree(data); }
  Filler(const Filler&) = delete;
  Filler& operator=(const Filler&) = delete;
  void* data = nullptr;
  int64_t bytes = 0;
};

}  // namespace

double seconds_by_events(Stream& any, const std::function<void()>& work) {
  auto& stream = static_cast<CudaStream&>(any);
  const OnDevice on(stream.device().index);
  const Filler& filler = stream.kept<Filler>();
  TimedEvent begin(stream.device()), end(stream.device());
  check(cudaMemsetAsync(filler.data, 0, static_cast<size_t>(filler.bytes), stream.handle()), "emptying the cache", stream.device());
  begin.record(stream);
  work();
  end.record(stream);
  stream.synchronize();
  return end.us_after(begin) * 1e-6;
}

}  // namespace sindri::cuda
