// The NCCL calls of each collective, with their counts:
//
//    all_reduce      ncclAllReduce, one for each piece, in one group
//    reduce          ncclReduce
//    broadcast       ncclBroadcast of bytes, in place
//    all_gather      ncclAllGather of bytes if all counts are equal, else one ncclBroadcast per rank that has any, in one group
//    reduce_scatter  ncclReduceScatter
//    all_to_all      ncclSend and ncclRecv for each peer, in one group; send_recv likewise
//    barrier         the host communicator's
//
// Counts are size_t throughout, so nothing is split. The mean is ncclAvg: with 16-bit floats each rank's values are
// multiplied by 1/size before they are sent. Sums are computed in NCCL's order, in the tensors' own type: results are
// bitwise reproducible only for the same layout and version.
//
// Communicators are non-blocking: each call returns at once, and settle() polls the state until NCCL has put the work
// on the stream. So no thread stays inside the library for long, and the communicator can be aborted at any time.
// `mutex_` is held for one call into the library; an aborted communicator is null.
#include "src/comm/nccl.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <functional>
#include <optional>
#include <thread>

#include "sindri/core/error.h"
#include "sindri/core/log.h"
#include "sindri/core/runtime.h"
#include "sindri/device/device.h"
#include "src/comm/nccl_api.h"
#include "src/comm/session.h"
#include "src/core/mutable_context.h"

namespace sindri::comm {

namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point t) { return std::chrono::duration<double>(Clock::now() - t).count(); }

nccl::Type type_of(DType t) {
  switch (t) {
    case DType::kBool:
    case DType::kUInt8: return nccl::kUint8;
    case DType::kInt32: return nccl::kInt32;
    case DType::kInt64: return nccl::kInt64;
    case DType::kFloat16: return nccl::kFloat16;
    case DType::kBFloat16: return nccl::kBfloat16;
    case DType::kFloat32: return nccl::kFloat32;
    case DType::kFloat64: return nccl::kFloat64;
  }
  throw InternalError("NCCL has no such element type");
}

nccl::Op op_of(ReduceOp op, DType dtype) {
  if (dtype == DType::kBool && (op == ReduceOp::kSum || op == ReduceOp::kMean))
    throw ValueError(fmt::format("{} of bool values is not available on a GPU", reduce_op_name(op)), "", "use max or min, or another element type");
  switch (op) {
    case ReduceOp::kSum: return nccl::kSum;
    case ReduceOp::kMean: return nccl::kAvg;
    case ReduceOp::kMax: return nccl::kMax;
    case ReduceOp::kMin: return nccl::kMin;
    case ReduceOp::kProd: return nccl::kProd;
  }
  throw InternalError("NCCL has no such reduction");
}

const void* at(const void* p, int64_t bytes) { return static_cast<const char*>(p) + bytes; }
void* at(void* p, int64_t bytes) { return static_cast<char*>(p) + bytes; }

// Data that the ranks exchange before NCCL is called.
struct Card {
  int32_t version;  // 0: no library
  int32_t index, count;  // of its device, among those visible to it
  uint64_t visible;  // hash of CUDA_VISIBLE_DEVICES: with other visible devices the same index may be another GPU
};

uint64_t hash_of(const char* text) {
  uint64_t h = 14695981039346656037ull;
  for (; text != nullptr && *text != '\0'; ++text) h = (h ^ static_cast<unsigned char>(*text)) * 1099511628211ull;
  return h;
}

int count_of(Device::Kind kind) {
  const std::vector<DeviceListing> all = devices();
  return static_cast<int>(std::count_if(all.begin(), all.end(), [&](const DeviceListing& d) { return d.device.kind == kind; }));
}

}  // namespace

class NcclCommunicator final : public Communicator {
 public:
  NcclCommunicator(std::shared_ptr<Communicator> host, Device device, nccl::Api api)
      : Communicator(host->session(), host->name(), host->members(), host->rank()), host_(std::move(host)), device_(device), api_(std::move(api)) {
    open();
    watch_ = std::thread(in_this_runtime([this] { watch(); }));
  }

  ~NcclCommunicator() override {
    {
      const std::lock_guard lock(watch_mutex_);
      stop_ = true;
    }
    wake_.notify_all();
    watch_.join();
    if (!close()) abort();
  }

  const char* backend() const override { return "nccl"; }
  Device device() const { return device_; }
  std::shared_ptr<void> flat_buffer(int64_t bytes) override { return host_->flat_buffer(bytes); }

  /// Succeeds if every member can start its part; called by all. `error`: why this one cannot.
  static void compare(Communicator& host, Device device, int version, const std::optional<CommError>& error);

 protected:
  void do_all_reduce(std::span<const Piece> pieces, DType dtype, ReduceOp op, Stream* stream) override {
    if (stream == nullptr) return host_->do_all_reduce(pieces, dtype, op, nullptr);
    const nccl::Type type = type_of(dtype);
    const nccl::Op how = op_of(op, dtype);
    put(stream, "all_reduce", [&](nccl::Comm c, void* s) {
      for (const Piece& p : pieces)
        if (p.count > 0) need(api_.AllReduce(p.in, p.out, static_cast<size_t>(p.count), type, how, c, s));
    });
  }
  void do_reduce(const void* in, void* out, int64_t count, DType dtype, ReduceOp op, int root, Stream* stream) override {
    if (stream == nullptr) return host_->do_reduce(in, out, count, dtype, op, root, nullptr);
    const nccl::Op how = op_of(op, dtype);
    if (count == 0) return;
    put(stream, "reduce", [&](nccl::Comm c, void* s) { need(api_.Reduce(in, out, static_cast<size_t>(count), type_of(dtype), how, root, c, s)); });
  }
  void do_broadcast(void* data, int64_t bytes, int root, Stream* stream) override {
    if (stream == nullptr) return host_->do_broadcast(data, bytes, root, nullptr);
    if (bytes == 0) return;
    put(stream, "broadcast", [&](nccl::Comm c, void* s) { need(api_.Broadcast(data, data, static_cast<size_t>(bytes), nccl::kUint8, root, c, s)); });
  }
  void do_all_gather_v(const void* in, void* out, std::span<const int64_t> bytes, Stream* stream) override {
    if (stream == nullptr) return host_->do_all_gather_v(in, out, bytes, nullptr);
    const bool equal = std::all_of(bytes.begin(), bytes.end(), [&](int64_t b) { return b == bytes[0]; });
    if (equal && bytes[0] == 0) return;
    put(stream, "all_gather", [&](nccl::Comm c, void* s) {
      if (equal) return need(api_.AllGather(in, out, static_cast<size_t>(bytes[0]), nccl::kUint8, c, s));
      int64_t offset = 0;
      for (int r = 0; r < size(); ++r) {
        const int64_t n = bytes[static_cast<size_t>(r)];
        if (n > 0) need(api_.Broadcast(r == rank() ? in : at(out, offset), at(out, offset), static_cast<size_t>(n), nccl::kUint8, r, c, s));
        offset += n;
      }
    });
  }
  void do_reduce_scatter(const void* in, void* out, int64_t count, DType dtype, ReduceOp op, Stream* stream) override {
    if (stream == nullptr) return host_->do_reduce_scatter(in, out, count, dtype, op, nullptr);
    const nccl::Op how = op_of(op, dtype);
    if (count == 0) return;
    put(stream, "reduce_scatter", [&](nccl::Comm c, void* s) { need(api_.ReduceScatter(in, out, static_cast<size_t>(count), type_of(dtype), how, c, s)); });
  }
  void do_all_to_all(const void* in, void* out, int64_t bytes, Stream* stream) override {
    if (stream == nullptr) return host_->do_all_to_all(in, out, bytes, nullptr);
    if (bytes == 0) return;
    put(stream, "all_to_all", [&](nccl::Comm c, void* s) {
      for (int r = 0; r < size(); ++r) {
        need(api_.Send(at(in, r * bytes), static_cast<size_t>(bytes), nccl::kUint8, r, c, s));
        need(api_.Recv(at(out, r * bytes), static_cast<size_t>(bytes), nccl::kUint8, r, c, s));
      }
    });
  }
  void do_send_recv(const void* out, int64_t out_bytes, int to, void* in, int64_t in_bytes, int from, Stream* stream) override {
    if (stream == nullptr) return host_->do_send_recv(out, out_bytes, to, in, in_bytes, from, nullptr);
    const bool sends = to >= 0 && out_bytes > 0, receives = from >= 0 && in_bytes > 0;
    if (!sends && !receives) return;
    put(stream, "send_recv", [&](nccl::Comm c, void* s) {
      if (sends) need(api_.Send(out, static_cast<size_t>(out_bytes), nccl::kUint8, to, c, s));
      if (receives) need(api_.Recv(in, static_cast<size_t>(in_bytes), nccl::kUint8, from, c, s));
    });
  }
  void do_barrier() override { host_->do_barrier(); }
  bool takes_streams() const override { return true; }
  std::shared_ptr<Communicator> do_group(const std::vector<int>& ranks, const std::string& name) override {
    return make_nccl(host_->do_group(ranks, name), device_);
  }

 private:
  // Work on a stream that is not known to have finished.
  struct Pending {
    int64_t number;  // the call's number in the call log
    const char* kind;
    std::shared_ptr<Event> event;
    Clock::time_point since;
    bool warned = false;
  };

  CommError library_error(const std::string& doing, nccl::Result result) {
    const std::lock_guard lock(mutex_);  // the watch may abort it
    const char* const last = result == nccl::kSuccess || api_.GetLastError == nullptr ? nullptr : api_.GetLastError(comm_);
    std::string text = fmt::format("NCCL {}: {}: {}", nccl::version_text(api_.version), doing, api_.GetErrorString(result));
    if (last != nullptr && *last != '\0') text += fmt::format(" ({})", last);
    return CommError(ErrorCode::kCommLibrary, text, where(),
                     result == nccl::kRemoteError ? "another rank is gone or failed first: see its log" : "NCCL_DEBUG=WARN shows more");
  }
  std::string where() const { return fmt::format("communicator \"{}\", rank {} of {}, {}", name(), rank(), size(), device_.str()); }

  // Never returns: throws the session's first error.
  [[noreturn]] void fail(const CommError& e) {
    session()->fail(e);
    abort();
    session()->check();
    throw e;
  }
  void abort() noexcept {
    const std::lock_guard lock(mutex_);
    if (comm_ != nullptr) api_.CommAbort(std::exchange(comm_, nullptr));
  }

  nccl::Result state() {
    const std::lock_guard lock(mutex_);
    if (comm_ == nullptr) return nccl::kSuccess;  // the session has failed, and callers check that first
    nccl::Result now = nccl::kSuccess;
    const nccl::Result r = api_.CommGetAsyncError(comm_, &now);
    return r != nccl::kSuccess ? r : now;
  }
  // Waits until NCCL has finished its host-side work.
  void settle(const std::string& doing, double limit, const char* fix) {
    const Clock::time_point begin = Clock::now();
    for (int turn = 0;; ++turn) {
      const nccl::Result now = state();
      if (session()->failed()) abort();
      session()->check();
      if (now == nccl::kSuccess) return;
      if (now != nccl::kInProgress) fail(library_error(doing, now));
      if (seconds_since(begin) > limit)
        fail(
            CommError(ErrorCode::kCommTimeout, fmt::format("NCCL {}: {} took more than {:g} s", nccl::version_text(api_.version), doing, limit), where(), fix));
      if (turn < 50) std::this_thread::yield();
      else std::this_thread::sleep_for(std::chrono::microseconds(turn < 1000 ? 100 : 5000));
    }
  }

  void open() {
    // Rank 0's id, or the error.
    struct Made {
      int32_t result;
      nccl::Id id;
    } made{};
    make_current_for_libraries(device_);
    if (rank() == 0) made.result = api_.GetUniqueId(&made.id);
    host_->do_broadcast(&made, sizeof made, 0, nullptr);
    const auto result = static_cast<nccl::Result>(made.result);
    if (result != nccl::kSuccess) fail(library_error("rank 0 could not make an id", result));
    nccl::Config config;
    config.blocking = 0;
    nccl::Result r;
    {
      const std::lock_guard lock(mutex_);
      r = api_.CommInitRankConfig(&comm_, size(), made.id, rank(), &config);
    }
    if (r != nccl::kSuccess && r != nccl::kInProgress) fail(library_error("making a communicator", r));
    settle("making a communicator", session()->options.init_timeout,
           "a rank did not join, or NCCL cannot use the network: NCCL_DEBUG=INFO shows the reason, NCCL_SOCKET_IFNAME selects the interface; dist.init_timeout "
           "is the limit");
  }

  // Returns whether the shutdown was orderly. Peers may be gone, so it waits for them for a shorter time than calls do.
  bool close() noexcept {
    try {
      if (session()->failed() || comm_ == nullptr) return false;
      nccl::Result r;
      {
        const std::lock_guard lock(mutex_);
        r = api_.CommFinalize(comm_);
      }
      for (const Clock::time_point begin = Clock::now(); r == nccl::kInProgress || r == nccl::kSuccess; r = state()) {
        if (r == nccl::kSuccess && state() == nccl::kSuccess) break;
        if (seconds_since(begin) > 5) return false;
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
      }
      if (r != nccl::kSuccess) return false;
      const std::lock_guard lock(mutex_);
      return api_.CommDestroy(std::exchange(comm_, nullptr)) == nccl::kSuccess;
    } catch (const std::exception&) { return false; }
  }

  // Records the result of a call within a group; the end of the group also reports the results of its calls. The first error counts.
  void need(nccl::Result r) {
    if (r != nccl::kSuccess && r != nccl::kInProgress && refused_ == nccl::kSuccess) refused_ = r;
  }

  template <class F> void put(Stream* stream, const char* kind, F calls) {
    if (stream->device() != device_)
      throw ValueError(fmt::format("a call on {} of a communicator whose device is {}", stream->device().str(), device_.str()), where(),
                       "choose the device before ranks are joined (comm::init, communication.init), and keep it");
    void* const handle = stream->native_handle();
    if (handle == nullptr) throw DeviceError(fmt::format("the backend of {} has no stream for NCCL", device_.str()), where());
    {
      const std::lock_guard lock(mutex_);
      session()->check();
      refused_ = nccl::kSuccess;
      need(api_.GroupStart());
      if (refused_ == nccl::kSuccess) {
        calls(comm_, handle);
        need(api_.GroupEnd());
      }
    }
    if (refused_ != nccl::kSuccess) fail(library_error(kind, refused_));
    settle(kind, session()->options.op_timeout, "see the other ranks' logs; dist.op_timeout is the limit");
    // Captured work runs when the capture is replayed: errors of NCCL are seen then, but its start time is unknown.
    if (stream->recording()) return;
    std::shared_ptr<Event> event = stream->record();
    const std::lock_guard lock(watch_mutex_);
    pending_.push_back({session()->call_number.load(), kind, std::move(event), Clock::now()});
  }

  // ----- the watch: a separate thread, ten times a second -----

  void watch() {
    make_current_for_libraries(device_);
    std::unique_lock lock(watch_mutex_);
    while (!stop_) {
      wake_.wait_for(lock, std::chrono::milliseconds(100), [&] { return stop_; });
      if (stop_) return;
      lock.unlock();
      if (!look()) return abort();
      lock.lock();
    }
  }

  // Returns whether no error has occurred.
  bool look() noexcept {
    try {
      if (session()->failed()) return false;
      const nccl::Result now = state();
      if (now != nccl::kSuccess && now != nccl::kInProgress) {
        session()->fail(library_error("an error of another thread or rank", now));
        return false;
      }
      look_at_work();
    } catch (const CommError& e) { session()->fail(e); } catch (const std::exception& e) {  // the device failed
      session()->fail(CommError(ErrorCode::kCommLibrary, e.what(), where()));
    }
    return !session()->failed();
  }

  void look_at_work() {
    const std::lock_guard lock(watch_mutex_);
    while (!pending_.empty() && pending_.front().event->done()) {
      pending_.pop_front();
      progress_ = Clock::now();
    }
    if (pending_.empty()) return;
    // The time includes earlier work on the stream, computation included: limits are far above a step's duration.
    Pending& oldest = pending_.front();
    const double waited = seconds_since(std::max(oldest.since, progress_));
    if (waited > session()->options.op_timeout)
      throw CommError(ErrorCode::kCommTimeout, fmt::format("call {} {} is not done after {:.1f} s", oldest.number, text_of(oldest), waited), where(),
                      "a rank has not entered it: compare the ranks' call logs (sindri comm-trace); dist.op_timeout is the limit");
    if (waited > session()->options.op_warn && !oldest.warned) {
      oldest.warned = true;
      log::warn("comm", fmt::format("call {} {} has waited {:.1f} s ({})", oldest.number, text_of(oldest), waited, where()));
    }
  }
  std::string text_of(const Pending& p) const {
    for (const CallRecord& c : session()->calls())
      if (c.number == p.number && !c.what.empty()) return fmt::format("{} \"{} {}\" ({} bytes)", p.kind, c.what, c.index, c.bytes);
    return p.kind;
  }

  const std::shared_ptr<Communicator> host_;
  const Device device_;
  const nccl::Api api_;
  std::mutex mutex_;
  nccl::Comm comm_ = nullptr;
  nccl::Result refused_ = nccl::kSuccess;  // first error of the call that is being enqueued
  std::mutex watch_mutex_;
  std::condition_variable wake_;
  bool stop_ = false;
  std::deque<Pending> pending_;
  Clock::time_point progress_{};
  std::thread watch_;
};

void NcclCommunicator::compare(Communicator& host, Device device, int version, const std::optional<CommError>& error) {
  const Card mine{version, device.index, count_of(device.kind), hash_of(std::getenv("CUDA_VISIBLE_DEVICES"))};
  std::vector<Card> cards(static_cast<size_t>(host.size()));
  const std::vector<int64_t> bytes(cards.size(), sizeof mine);
  host.do_all_gather_v(&mine, cards.data(), bytes, nullptr);
  if (error.has_value()) throw *error;
  const auto host_of = [&](size_t r) { return host.session()->host_of[static_cast<size_t>(host.members()[r])]; };
  for (size_t r = 0; r < cards.size(); ++r) {
    const Card& c = cards[r];
    if (c.version == 0)
      throw CommError(ErrorCode::kCommLibrary, fmt::format("rank {} has no usable NCCL", r), host.name(), fmt::format("see the log of rank {}", r));
    if (c.version / 100 != cards[0].version / 100)
      throw CommError(ErrorCode::kCommMismatch,
                      fmt::format("NCCL is {} on rank 0 and {} on rank {}", nccl::version_text(cards[0].version), nccl::version_text(c.version), r),
                      host.name(), "install the same version on all hosts");
    if (c.index >= c.count)
      throw CommError(ErrorCode::kLayout, fmt::format("rank {} is assigned GPU {}, but sees {} GPUs", r, c.index, c.count), host.name(),
                      "start at most as many ranks on a host as it has GPUs, and check CUDA_VISIBLE_DEVICES there");
    for (size_t other = 0; other < r; ++other) {
      if (host_of(other) == host_of(r) && cards[other].index == c.index && cards[other].visible == c.visible)
        throw CommError(ErrorCode::kLayout, fmt::format("ranks {} and {} are on one host and both have GPU {}", other, r, c.index), host.name(),
                        "NCCL needs a separate GPU for each rank: set DEVICE_ID or CUDA_VISIBLE_DEVICES by local rank, or start fewer ranks there");
    }
  }
}

bool needs_nccl(const Options& options, int size) {
  return options.backend == "nccl" || (options.backend == "auto" && size > 1 && current_device().kind == Device::kCuda);
}

Device choose_gpu(const Identity& identity) {
  const Device now = current_device();
  if (count_of(Device::kCuda) == 0) {
    for (const MissingPart& m : missing_parts())
      if (m.target == "GPU") throw CommError(ErrorCode::kLayout, fmt::format("dist.backend=nccl on a machine without GPUs: {}", m.what), "", m.fix);
    throw CommError(ErrorCode::kLayout, "dist.backend=nccl on a machine without GPUs", "", "use dist.backend=mpi or gloo");
  }
  if (now.kind == Device::kCuda && now.index != 0) return now;
  // If the index is beyond the visible devices, compare() reports it together with the others' errors.
  const Device device{Device::kCuda, identity.device >= 0 ? identity.device : identity.local_rank};
  if (device.index < count_of(Device::kCuda)) {
    set_current_device(device);
    mutable_context().device_id = device.index;  // a script that sets its device_target later keeps this index
  }
  return device;
}

Device device_of(const Communicator& communicator) {
  const auto* const own = dynamic_cast<const NcclCommunicator*>(&communicator);
  return own != nullptr ? own->device() : Device{};
}

std::shared_ptr<Communicator> make_nccl(std::shared_ptr<Communicator> host, Device device) {
  std::optional<CommError> error;
  nccl::Api api;
  try {
    api = nccl::load();
  } catch (const CommError& e) { error = e; }
  NcclCommunicator::compare(*host, device, api.version, error);
  return std::make_shared<NcclCommunicator>(std::move(host), device, std::move(api));
}

}  // namespace sindri::comm
