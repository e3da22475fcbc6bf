// The table of backends, and the device layer that tensors see (DeviceMemory).
#include "sindri/device/device.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstring>
#include <fstream>
#include <map>
#include <mutex>
#include <set>

#include "sindri/core/context.h"
#include "sindri/core/error.h"
#include "sindri/core/host_memory.h"
#include "sindri/core/runtime.h"
#include "src/core/tensor_impl.h"
#include "src/device/caching_pool.h"
#include "src/device/cuda_plugin.h"

namespace sindri {

Event::~Event() = default;
Recording::~Recording() = default;
Stream::~Stream() = default;
Backend::~Backend() = default;
WaitObserver::~WaitObserver() = default;
void Stream::begin_recording() { throw InternalError(device().str() + " cannot capture work"); }
std::unique_ptr<Recording> Stream::end_recording() { throw InternalError(device().str() + " cannot capture work"); }
void Stream::replay(Recording&) { throw InternalError(device().str() + " cannot capture work"); }

const char* lane_name(Lane lane) {
  static constexpr std::array<const char*, kLanes> kNames = {"compute", "comm", "copy"};
  return kNames[static_cast<size_t>(lane)];
}

namespace {

constinit RuntimeSlot<std::atomic<int64_t>> waits;
std::atomic<WaitObserver*> g_wait_observer{nullptr};
thread_local Stream* t_stream = nullptr;

template <class F> void host_wait(const char* what, F&& wait) {
  const auto now = [] { return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch()).count(); };
  ++waits.get();
  WaitObserver* const observer = g_wait_observer.load(std::memory_order_acquire);
  const int64_t begin = observer != nullptr ? now() : 0;
  wait();
  if (observer != nullptr) observer->on_wait(what, begin, now());
}

// A device in use: its memory, and its streams, which are created on request.
class OpenDevice {
 public:
  OpenDevice(Device device, Backend& backend) : device_(device), backend_(backend), memory(device, backend) {}
  Stream& stream(Lane lane) {
    const std::lock_guard lock(mutex_);
    auto& s = streams_[static_cast<size_t>(lane)];
    if (s == nullptr) s = backend_.make_stream(device_, lane);
    return *s;
  }
  void synchronize() {
    for (int l = 0; l < kLanes; ++l) {
      Stream* s = nullptr;
      {
        const std::lock_guard lock(mutex_);
        s = streams_[static_cast<size_t>(l)].get();
      }
      if (s != nullptr) s->synchronize();
    }
  }

 private:
  const Device device_;
  Backend& backend_;
  std::mutex mutex_;
  std::array<std::unique_ptr<Stream>, kLanes> streams_;

 public:
  CachingPool memory;
};

class Devices final : public DeviceMemory {
 public:
  void add(Device::Kind kind, std::unique_ptr<Backend> backend) {
    const std::lock_guard lock(mutex_);
    if (kind == Device::kCpu || !backends_.emplace(kind, Kind{std::move(backend), nullptr, {}}).second)
      throw InternalError(fmt::format("device kind {} has a backend already", static_cast<int>(kind)));
    Kind& k = backends_.at(kind);
    k.pinned = std::make_unique<PinnedPool>(*k.backend);
  }
  std::vector<std::pair<Device::Kind, Backend*>> backends() {
    const std::lock_guard lock(mutex_);
    std::vector<std::pair<Device::Kind, Backend*>> all;
    for (auto& [kind, k] : backends_) all.emplace_back(kind, k.backend.get());
    return all;
  }

  // Returns an existing device, opened on first use and never closed: streams and blocks are referred to by address.
  OpenDevice& open(Device device) {
    const std::lock_guard lock(mutex_);
    Kind& k = find(device);
    auto& d = k.open[device.index];
    if (d == nullptr) d = std::make_unique<OpenDevice>(device, *k.backend);
    return *d;
  }

  std::string name(Device device) override {
    const std::lock_guard lock(mutex_);
    const auto at = backends_.find(device.kind);
    const std::string kind = at != backends_.end() ? at->second.backend->name() : device.kind == Device::kCuda ? "cuda" : "other";
    return fmt::format("{}:{}", kind, device.index);
  }
  void check(Device device) override {
    if (device.kind == Device::kCuda) load_cuda_backend(true);
    (void)open(device);
  }
  void make_current(Device device) {
    const std::lock_guard lock(mutex_);
    find(device).backend->make_current(device.index);
  }
  void* allocate(Device device, int64_t bytes) override { return open(device).memory.allocate(bytes, current_stream(device)); }
  void release(Device device, void* p, int64_t) noexcept override { open(device).memory.release(p); }

  void write(Device device, void* to, const void* from, int64_t bytes) override {
    Stream& s = current_stream(device);
    PinnedPool& blocks = pinned(device);
    for (int64_t at = 0; at < bytes; at += kLargestPiece) {
      const int64_t n = std::min(bytes - at, kLargestPiece);
      const PinnedPool::Block block = blocks.take(n);
      std::memcpy(block.data, static_cast<const char*>(from) + at, static_cast<size_t>(n));
      s.copy(static_cast<char*>(to) + at, block.data, n, CopyKind::kToDevice);
      blocks.give_back(block, s.record());
    }
  }

  void read(std::span<const Read> reads, const char* what) override {
    std::vector<Piece> pieces;
    int64_t bytes = 0;
    for (const Read& r : reads) {
      for (int64_t at = 0; at < r.bytes; at += kLargestPiece) {
        const int64_t n = std::min(r.bytes - at, kLargestPiece);
        if (bytes + n > kReadAtOnce) fetch(&pieces, what), bytes = 0;
        pieces.push_back({static_cast<char*>(r.to) + at, static_cast<const char*>(r.from) + at, r.device, n, {}});
        bytes += n;
      }
    }
    fetch(&pieces, what);
  }

  void copy(Device to_device, void* to, Device from_device, const void* from, int64_t bytes) override {
    if (to_device == from_device) return current_stream(to_device).copy(to, from, bytes, CopyKind::kWithin);
    // Copies through the host, piece by piece. The streams wait for each other if both devices are of one kind; otherwise the host waits.
    Stream &source = current_stream(from_device), &target = current_stream(to_device);
    PinnedPool& blocks = pinned(from_device);
    for (int64_t at = 0; at < bytes; at += kLargestPiece) {
      const int64_t n = std::min(bytes - at, kLargestPiece);
      const PinnedPool::Block block = blocks.take(n);
      source.copy(block.data, static_cast<const char*>(from) + at, n, CopyKind::kToHost);
      if (to_device.kind == from_device.kind) target.wait(source.record());
      else host_wait("copy between devices", [&] { source.synchronize(); });
      target.copy(static_cast<char*>(to) + at, block.data, n, CopyKind::kToDevice);
      blocks.give_back(block, target.record());
    }
  }

  PinnedPool& pinned(Device device) {
    const std::lock_guard lock(mutex_);
    return *find(device).pinned;
  }

  static constexpr int64_t kLargestPiece = 16 << 20, kReadAtOnce = 64 << 20;  // pinned memory is scarce

 private:
  struct Kind {
    std::unique_ptr<Backend> backend;
    std::unique_ptr<PinnedPool> pinned;
    std::map<int, std::unique_ptr<OpenDevice>> open;
  };
  struct Piece {
    char* to;
    const char* from;
    Device device;
    int64_t bytes;
    PinnedPool::Block block;
  };

  // Call with the mutex held.
  Kind& find(Device device) {
    const auto at = backends_.find(device.kind);
    const int count = at != backends_.end() ? at->second.backend->count() : 0;
    if (device.index >= 0 && device.index < count) return at->second;
    std::string found = "cpu";
    for (auto& [kind, k] : backends_) {
      for (int i = 0; i < k.backend->count(); ++i) found += fmt::format(", {}:{}", k.backend->name(), i);
    }
    const std::string kind = at != backends_.end() ? at->second.backend->name() : device.kind == Device::kCuda ? "cuda" : "other";
    throw DeviceError(fmt::format("there is no device {}:{}", kind, device.index), "", "found: " + found);
  }
  // All copies are in flight before the first wait; copies from one device need a single wait. On an error, blocks are
  // returned with an event after the copies that may still write to them.
  void fetch(std::vector<Piece>* pieces, const char* what) {
    std::map<Stream*, std::shared_ptr<Event>> streams;
    const auto give_back = [&](bool finished) {
      for (const Piece& p : *pieces)
        if (p.block.data != nullptr) pinned(p.device).give_back(p.block, finished ? nullptr : streams[&current_stream(p.device)]);
    };
    try {
      for (Piece& p : *pieces) {
        Stream& s = current_stream(p.device);
        p.block = pinned(p.device).take(p.bytes);
        s.copy(p.block.data, p.from, p.bytes, CopyKind::kToHost);
        streams[&s] = nullptr;
      }
      for (auto& [s, event] : streams) event = s->record();
      for (auto& [s, event] : streams) host_wait(what, [e = event.get()] { e->synchronize(); });
    } catch (...) {
      give_back(false);
      throw;
    }
    for (const Piece& p : *pieces) std::memcpy(p.to, p.block.data, static_cast<size_t>(p.bytes));
    give_back(true);
    pieces->clear();
  }

  std::mutex mutex_;
  std::map<Device::Kind, Kind> backends_;
};

Devices& table() {
  static Devices* const d = new Devices;  // outlives static tensors
  return *d;
}
const bool kInstalled = [] {
  set_device_memory(&table());
  return true;
}();

// Returns a number of /proc/meminfo in bytes. MemAvailable includes memory that the system would free, such as cached files.
int64_t host_memory(const std::string& name) {
  std::ifstream f("/proc/meminfo");
  std::string key, unit;
  for (int64_t kib = 0; f >> key >> kib; std::getline(f, unit)) {
    if (key == name + ":") return kib * 1024;
  }
  return 0;
}

}  // namespace

void register_backend(Device::Kind kind, std::unique_ptr<Backend> backend) { table().add(kind, std::move(backend)); }

std::vector<DeviceListing> devices() {
  load_cuda_backend(false);
  std::vector<DeviceListing> all = {{Device{}, "CPU", {fmt::format("CPU, {}", cpu_isa_name(cpu_isa())), host_memory("MemTotal"), host_memory("MemAvailable")}}};
  for (const auto& [kind, backend] : table().backends()) {
    for (int i = 0; i < backend->count(); ++i) all.push_back({{kind, i}, backend->target(), backend->info(i)});
  }
  return all;
}

std::vector<MissingPart> missing_parts() {
  load_cuda_backend(true);
  std::vector<MissingPart> all;
  std::set<std::string> known;
  for (const auto& [kind, backend] : table().backends()) {
    std::vector<MissingPart> parts = backend->missing();
    if (parts.empty() && backend->count() == 0) parts = {{backend->target(), fmt::format("backend {} finds no device", backend->name()), "check its driver"}};
    known.insert(backend->target());
    all.insert(all.end(), parts.begin(), parts.end());
  }
  if (const std::optional<MissingPart> cuda = missing_cuda_backend(); cuda.has_value() && !known.contains("GPU")) all.push_back(*cuda);
  if (!known.contains("Ascend")) all.push_back({"Ascend", "there is no backend for Ascend", "use the CPU (device_target CPU)"});
  return all;
}

std::vector<BackendLibrary> backend_libraries() {
  std::vector<BackendLibrary> all;
  for (const auto& [kind, backend] : table().backends()) {
    std::vector<BackendLibrary> libraries = backend->libraries();
    all.insert(all.end(), libraries.begin(), libraries.end());
  }
  return all;
}

std::vector<std::string> device_targets() {
  std::vector<std::string> names = {"CPU", "GPU", "Ascend", "Davinci"};
  for (const auto& [kind, backend] : table().backends()) {
    for (const char* name : {backend->target(), backend->name()})
      if (std::find(names.begin(), names.end(), name) == names.end()) names.emplace_back(name);
  }
  return names;
}

DeviceMemoryStats device_memory_stats(Device device) {
  if (!device.is_cpu()) return table().open(device).memory.stats();
  const HostMemoryStats s = host_memory_stats();
  return {.in_use = s.in_use, .peak = s.peak, .cached = s.cached, .limit = 0, .peak_reserved = s.peak_reserved};
}
void reset_device_memory_peaks(Device device, bool in_use, bool reserved) {
  if (device.is_cpu()) reset_host_memory_peaks(in_use, reserved);
  else table().open(device).memory.reset_peaks(in_use, reserved);
}
void set_device_memory_limit(Device device, int64_t bytes) {
  if (bytes < 0) throw ValueError(fmt::format("a limit of {} bytes on {}'s memory", bytes, device.str()), "", "use 0 for none");
  if (device.is_cpu()) throw ValueError("Sindri cannot limit the CPU's memory", "", "limit the process (ulimit -v, cgroups)");
  table().open(device).memory.set_limit(bytes);
}
void release_cached_device_memory(Device device) {
  if (device.is_cpu()) release_cached_host_memory();
  else table().open(device).memory.trim();
}

Stream& device_stream(Device device, Lane lane) { return table().open(device).stream(lane); }
Stream& current_stream(Device device) {
  if (t_stream != nullptr && t_stream->device() == device) return *t_stream;
  return device_stream(device, Lane::kCompute);
}
void make_current_for_libraries(Device device) { table().make_current(device); }
StreamScope::StreamScope(Stream& stream) : previous_(t_stream) { t_stream = &stream; }
StreamScope::~StreamScope() { t_stream = previous_; }

void use_on(const Tensor& t, Stream& stream) {
  if (t.defined() && t.has_data() && t.impl()->storage->data() != nullptr && t.device() == stream.device())
    table().open(t.device()).memory.use(t.impl()->storage->data(), stream);
}

std::vector<Tensor> copy_ahead(std::span<const Tensor> tensors, Device device) {
  std::vector<Tensor> out(tensors.begin(), tensors.end());
  const auto travels = [&](const Tensor& t) { return t.defined() && t.device() != device; };
  if (std::none_of(out.begin(), out.end(), travels)) return out;
  if (device.is_cpu()) return to_host(tensors);
  Stream &copies = device_stream(device, Lane::kCopy), &here = current_stream(device);
  std::vector<size_t> moved;
  {
    const StreamScope scope(copies);
    for (size_t i = 0; i < out.size(); ++i) {
      if (!travels(out[i])) continue;
      out[i] = out[i].to(device);
      moved.push_back(i);
    }
  }
  if (&copies == &here) return out;
  here.wait(copies.record());
  for (const size_t i : moved) use_on(out[i], here);
  return out;
}

// For each tensor its host copy, or the memory for it.
struct PendingValues::Pieces {
  struct Piece {
    Tensor host;  // filled by get()
    PinnedPool* pool = nullptr;
    PinnedPool::Block block;
    Stream* stream = nullptr;
  };
  std::vector<Piece> list;
  std::map<Stream*, std::shared_ptr<Event>> behind;  // by stream: an event after the last of its copies
  bool fetched = false;

  void add(const Tensor& t) {
    if (!t.has_data()) (void)t.raw_data();  // throws with the reason
    Piece& p = list.emplace_back();
    p.host = t;
    if (t.device().is_cpu()) return;
    TensorMeta meta = t.meta();
    meta.device = {};
    p.host = Tensor::empty(meta);
    if (t.nbytes() == 0) return;
    p.block = table().pinned(t.device()).take(t.nbytes());
    p.pool = &table().pinned(t.device());
    p.stream = &current_stream(t.device());
    p.stream->copy(p.block.data, t.impl()->storage->data(), t.nbytes(), CopyKind::kToHost);
    behind[p.stream] = nullptr;
  }
  bool done() const {
    return fetched || std::all_of(behind.begin(), behind.end(), [](const auto& b) { return b.second->done(); });
  }
  ~Pieces() {
    for (Piece& p : list)
      if (p.pool != nullptr) p.pool->give_back(p.block, fetched ? nullptr : behind[p.stream]);
  }
};

PendingValues::PendingValues(std::span<const Tensor> tensors) : pieces_(std::make_shared<Pieces>()) {
  for (const Tensor& t : tensors)
    if (t.defined()) pieces_->add(t);
  for (auto& [stream, event] : pieces_->behind) event = stream->record();
}

bool PendingValues::done() const { return pieces_ == nullptr || pieces_->done(); }

std::vector<double> PendingValues::get(const char* what) const {
  std::vector<double> all;
  if (pieces_ == nullptr) return all;
  const auto finish = [&] {
    for (const auto& [stream, event] : pieces_->behind) event->synchronize();  // also if already done: it throws the error of failed work
  };
  if (pieces_->done()) finish();
  else host_wait(what, finish);
  for (Pieces::Piece& p : pieces_->list) {
    if (p.pool != nullptr && !pieces_->fetched) std::memcpy(p.host.mutable_raw_data(), p.block.data, static_cast<size_t>(p.host.nbytes()));
    const std::vector<double> values = p.host.to_vector<double>();
    all.insert(all.end(), values.begin(), values.end());
  }
  pieces_->fetched = true;
  return all;
}

void synchronize(Device device) {
  if (device.is_cpu()) return;
  OpenDevice& d = table().open(device);
  host_wait("synchronize", [&] { d.synchronize(); });
}

int64_t host_waits() { return waits.get(); }
WaitObserver* set_wait_observer(WaitObserver* observer) { return g_wait_observer.exchange(observer); }

}  // namespace sindri
