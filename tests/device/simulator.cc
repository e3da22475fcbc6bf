// See simulator.h. Streams, events, recordings; memory; kernels.
#include "tests/device/simulator.h"

#include <fmt/format.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <thread>

#include "sindri/core/error.h"
#include "sindri/core/runtime.h"
#include "sindri/op/kernel.h"
#include "sindri/op/op_def.h"

namespace sindri::sim {

namespace {

thread_local const char* t_last_op = "none";
thread_local const char* t_running = nullptr;  // on a stream's own thread
std::array<Simulator*, 2> g_simulators{};  // get() and machine(), once they are made

struct sigaction g_previous;

// Reports the op that the thread submitted to a stream last, and leaves the rest to the previous signal handler.
void on_fault(int signal, siginfo_t* info, void*) {
  const char* const at = static_cast<const char*>(info->si_addr);
  const bool fenced = std::any_of(g_simulators.begin(), g_simulators.end(), [at](const Simulator* s) { return s != nullptr && s->is_inside(at); });
  if (fenced) {
    const auto say = [](const char* text) { (void)!write(STDERR_FILENO, text, strlen(text)); };
    say("the host touched memory of a device; the last op this thread ran there: ");
    say(t_last_op);
    say("\n");
  }
  const bool beyond = std::any_of(g_simulators.begin(), g_simulators.end(), [at](const Simulator* s) { return s != nullptr && s->is_shadow(at); });
  if (beyond) {
    const auto say = [](const char* text) { (void)!write(STDERR_FILENO, text, strlen(text)); };
    say("work on a device touched memory outside of its allocations: ");
    say(t_running != nullptr ? t_running : "unknown work");
    say("\n");
  }
  sigaction(signal, &g_previous, nullptr);  // the instruction runs again, and ends the process
}

}  // namespace

class SimEvent final : public Event {
 public:
  SimEvent(Board& board, Lane lane, Simulator& sim) : board_(board), lane_(lane), sim_(sim) {}
  Lane lane() const { return lane_; }
  bool done() override { return is_reached() || sim_.drop_this_wait(fmt::format("asks for {}", lane_name(lane_))); }
  void synchronize() override {
    if (!is_reached() && !sim_.drop_this_wait(fmt::format("host for {}", lane_name(lane_)))) wait();
    take_error();
  }
  void wait() {
    std::unique_lock lock(mutex_);
    reached_.wait(lock, [&] { return done_; });
  }
  bool is_reached() {
    const std::lock_guard lock(mutex_);
    return done_;
  }
  void set() {
    const std::lock_guard lock(mutex_);
    done_ = true;
    reached_.notify_all();
  }
  void take_error() {
    const std::lock_guard lock(board_.mutex);
    if (board_.error == nullptr) return;
    const std::exception_ptr error = board_.lost ? board_.error : std::exchange(board_.error, nullptr);
    std::rethrow_exception(error);
  }

 private:
  Board& board_;
  const Lane lane_;
  Simulator& sim_;
  std::mutex mutex_;
  std::condition_variable reached_;
  bool done_ = false;
};

// One item of a stream's work: runs a function, reaches an event, or waits for one.
struct Work {
  std::string what;
  std::function<void()> run;
  std::shared_ptr<SimEvent> reach, wait;
};

struct SimRecording final : Recording {
  struct Item {
    SimStream* stream;
    Work work;
  };
  std::vector<Item> items;
  std::set<const SimStream*> only;  // empty: all
  bool takes(const SimStream* s) const { return only.empty() || only.contains(s); }
};
static thread_local SimRecording* t_recording = nullptr;

class SimStream final : public Stream {
 public:
  SimStream(Device device, Lane lane, Simulator& sim) : Stream(device, lane), sim_(sim), thread_([this] { loop(); }) { sim_.note_stream(this, true); }
  ~SimStream() override {
    sim_.note_stream(this, false);
    put_now({"end", nullptr, nullptr, nullptr});
    thread_.join();
  }

  bool idle() {
    const std::lock_guard lock(mutex_);
    return queue_.empty() && !busy_;
  }
  void run(std::string what, std::function<void()> f) {
    throw_if_lost();
    put({std::move(what), in_this_runtime(std::move(f)), nullptr, nullptr});  // with the threads and kernel choices of the submitting thread
  }
  std::shared_ptr<Event> record() override {
    throw_if_lost();
    auto event = std::make_shared<SimEvent>(board(), lane(), sim_);
    if (!noted() && idle()) event->set();  // no earlier work
    else put({"event", nullptr, event, nullptr});
    return event;
  }
  void wait(const std::shared_ptr<Event>& event) override {
    throw_if_lost();
    auto other = std::static_pointer_cast<SimEvent>(event);
    if (!sim_.drop_this_wait(fmt::format("{} for {}", lane_name(lane()), lane_name(other->lane())))) put({"wait", nullptr, nullptr, std::move(other)});
  }
  void copy(void* to, const void* from, int64_t bytes, CopyKind kind) override {
    void* const target = kind == CopyKind::kToHost ? to : sim_.inside(to, "copy");
    const void* const source = kind == CopyKind::kToDevice ? from : sim_.inside(from, "copy");
    if (kind != CopyKind::kWithin) sim_.check_pinned(kind == CopyKind::kToHost ? to : from, bytes);
    if (kind == CopyKind::kToHost) sim_.count_read(device().index);
    run(fmt::format("copy of {} bytes", bytes), [=, this] {
      if (sim_.copy_fails())
        throw DeviceError(ErrorCode::kDeviceFailed, fmt::format("a copy of {} bytes failed", bytes), device().str(),
                          "look for hardware errors in the system's log");
      std::memmove(target, source, static_cast<size_t>(bytes));
    });
  }
  void synchronize() override { record()->synchronize(); }

  bool records() const override { return true; }
  void begin_recording() override {
    if (t_recording != nullptr) throw InternalError("a recording is under way");
    t_recording = new SimRecording;
  }
  std::unique_ptr<Recording> end_recording() override { return std::unique_ptr<Recording>(std::exchange(t_recording, nullptr)); }
  bool recording() const override { return noted(); }
  bool noted() const { return t_recording != nullptr && t_recording->takes(this); }
  void replay(Recording& recording) override {
    throw_if_lost();
    std::map<SimEvent*, std::shared_ptr<SimEvent>> events;  // each replay has its own events
    for (const SimRecording::Item& i : static_cast<SimRecording&>(recording).items) {
      Work w = i.work;
      if (w.reach != nullptr) w.reach = events[i.work.reach.get()] = std::make_shared<SimEvent>(board(), i.work.reach->lane(), sim_);
      if (w.wait != nullptr) {
        if (!events.contains(w.wait.get())) throw InternalError("a recording waits for an event from outside of it");
        w.wait = events[w.wait.get()];
      }
      if (w.run != nullptr) sim_.count_work(i.stream->device().index, w.what);
      i.stream->put_now(std::move(w));
    }
  }

 private:
  Board& board() { return sim_.board(device().index); }
  void throw_if_lost() {
    Board& b = board();
    const std::lock_guard lock(b.mutex);
    if (b.lost) std::rethrow_exception(b.error);
  }
  void put(Work w) {
    if (w.run != nullptr) sim_.count_work(device().index, w.what);
    if (noted()) t_recording->items.push_back({this, std::move(w)});
    else put_now(std::move(w));
  }
  void put_now(Work w) {
    const std::lock_guard lock(mutex_);
    queue_.push_back(std::move(w));
    more_.notify_one();
  }

  void loop() {
    for (;;) {
      Work w;
      {
        std::unique_lock lock(mutex_);
        busy_ = false;
        more_.wait(lock, [&] { return !queue_.empty(); });
        busy_ = true;
        w = std::move(queue_.front());
        queue_.pop_front();
      }
      if (w.what == "end") return;
      sim_.pause(lane());
      if (w.wait != nullptr) w.wait->wait();
      if (w.run != nullptr && !board().broken() && sim_.begin_work()) {
        run_one(w);
        sim_.end_work(w.what);
      }
      w.run = nullptr;  // its captures are released before anyone learns that it is done
      if (w.reach != nullptr) w.reach->set();
    }
  }

  void run_one(const Work& w) {
    std::exception_ptr error;
    t_running = w.what.c_str();
    try {
      w.run();
    } catch (Error& e) {
      e.add_where(fmt::format("{} on {}", w.what, device().str()));
      error = std::current_exception();
    } catch (...) { error = std::current_exception(); }
    if (error == nullptr) return;
    const std::lock_guard lock(board().mutex);
    if (board().error == nullptr) board().error = error;
  }

  Simulator& sim_;
  std::mutex mutex_;
  std::condition_variable more_;
  std::deque<Work> queue_;
  bool busy_ = false;
  std::thread thread_;
};

// ----- kernels: the CPU's, run on the stream, at the addresses inside -----

namespace {

std::vector<TensorMeta> on_host(Span<const TensorMeta> metas) {
  std::vector<TensorMeta> out(metas.begin(), metas.end());
  for (TensorMeta& m : out) m.device = {};
  return out;
}

class SimKernel final : public Kernel {
 public:
  SimKernel(const KernelQuery& q, const char* name) : name_(q.op.name), share_(std::make_shared<Shared>()) {
    share_->in = on_host(q.in);
    share_->out = on_host(q.out);
    share_->attrs = q.attrs;
    share_->kernel = select_kernel({q.op, share_->attrs, share_->in, share_->out}, name);
  }
  int64_t workspace_bytes() const override { return share_->kernel->workspace_bytes(); }
  int64_t prepared_bytes(size_t in) const override { return share_->kernel->prepared_bytes(in); }

  void run(ExecContext& ctx, Span<const Buffer> in, Span<const Buffer> out) override {
    const std::vector<Buffer> i = inside(in, share_->in), o = inside(out, share_->out);
    void* const workspace = workspace_of(ctx);
    put(ctx, [=, s = share_] {
      ExecContext own{workspace};
      s->kernel->run(own, i, o);
    });
  }
  void prepare(ExecContext& ctx, size_t in, const Buffer& from, void* to) const override {
    const Buffer source{Simulator::get().inside(from.data, name_), &share_->in[in]};
    void *const target = Simulator::get().inside(to, name_), *const workspace = workspace_of(ctx);
    put(ctx, [=, s = share_] {
      ExecContext own{workspace};
      s->kernel->prepare(own, in, source, target);
    });
  }

 private:
  // Work that waits in a stream holds a reference: the plan of a call may be gone by then.
  struct Shared {
    std::vector<TensorMeta> in, out;
    Attrs attrs;
    std::shared_ptr<Kernel> kernel;
  };
  void* workspace_of(const ExecContext& ctx) const { return share_->kernel->workspace_bytes() > 0 ? Simulator::get().inside(ctx.workspace, name_) : nullptr; }
  std::vector<Buffer> inside(Span<const Buffer> buffers, const std::vector<TensorMeta>& metas) const {
    std::vector<Buffer> out;
    for (size_t i = 0; i < buffers.size(); ++i) {
      void* const data = buffers[i].data != nullptr ? Simulator::get().inside(buffers[i].data, name_) : nullptr;
      const void* const prepared = buffers[i].prepared != nullptr ? Simulator::get().inside(buffers[i].prepared, name_) : nullptr;
      out.push_back({data, &metas[i], prepared});
    }
    return out;
  }
  void put(ExecContext& ctx, std::function<void()> f) const {
    t_last_op = name_;
    static_cast<SimStream*>(ctx.stream)->run(name_, std::move(f));
  }
  const char* name_;
  std::shared_ptr<Shared> share_;
};

const KernelDef& cpu_kernel(const KernelQuery& q) { return *static_cast<const KernelDef*>(q.def->data); }

std::string reject(const KernelQuery& q) {
  const KernelDef& cpu = cpu_kernel(q);
  const std::vector<TensorMeta> in = on_host(q.in), out = on_host(q.out);
  return cpu.reject != nullptr ? cpu.reject({q.op, q.attrs, in, out, &cpu}) : "";
}

std::unique_ptr<Kernel> make(const KernelQuery& q) { return std::make_unique<SimKernel>(q, cpu_kernel(q).name); }

}  // namespace

void run_on(Stream& stream, std::string what, std::function<void()> work) { static_cast<SimStream&>(stream).run(std::move(what), std::move(work)); }
void note_only(Stream& stream) {
  if (t_recording != nullptr) t_recording->only.insert(static_cast<const SimStream*>(&stream));
}
bool is_noted(const Stream& stream) { return static_cast<const SimStream&>(stream).noted(); }
bool is_idle(Stream& stream) { return static_cast<SimStream&>(stream).idle(); }

// ----- the device -----

Simulator& Simulator::get() {
  static Simulator* const sim = [] {
    auto made = std::unique_ptr<Simulator>(new Simulator);
    Simulator* const s = made.get();
    register_backend(Device::kOther, std::move(made));
    for (const OpDef* op : all_ops()) {
      for (const KernelDef* k : kernels_of(op->name)) {
        register_kernel({.op = op->name, .name = k->name, .priority = k->priority, .reject = reject, .make = make, .device = Device::kOther, .data = k});
      }
    }
    return s;
  }();
  return *sim;
}

Simulator& Simulator::machine() {
  static Simulator* const sim = new Simulator;
  return *sim;
}

Simulator::Simulator() : present_(std::getenv("SINDRI_TEST_NO_SIMULATED_DEVICE") == nullptr) {
  const size_t bytes = static_cast<size_t>(kMemory) * kDevices;
  fence_ = static_cast<char*>(mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
  shadow_ = static_cast<char*>(mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
  if (fence_ == MAP_FAILED || shadow_ == MAP_FAILED) throw DeviceError("no address space for a simulated device");
  for (auto& gaps : free_) gaps = {{0, kMemory}};
  for (Simulator*& place : g_simulators) {
    if (place != nullptr) continue;
    place = this;
    break;
  }
  if (g_simulators[1] == this) return;  // the handler is installed
  struct sigaction action {};
  action.sa_sigaction = on_fault;
  action.sa_flags = SA_SIGINFO;
  sigaction(SIGSEGV, &action, &g_previous);
}
Simulator::~Simulator() = default;  // lives as long as the process

std::vector<MissingPart> Simulator::missing() {
  if (present_) return {};
  return {{target(), "the simulated accelerator is disabled", "unset SINDRI_TEST_NO_SIMULATED_DEVICE"}};
}

DeviceInfo Simulator::info(int index) {
  int64_t free = 0;
  const std::lock_guard lock(mutex_);
  for (const auto& [at, size] : free_[static_cast<size_t>(index)]) free += size;
  return {fmt::format("simulated accelerator {}", index), kMemory, free};
}

void* Simulator::allocate(int index, int64_t bytes) {
  if (counted_down(&fail_allocation_)) return nullptr;
  if (guards_) return allocate_guarded(index, bytes);
  bytes = (bytes + 255) / 256 * 256;
  return take(index, bytes);
}

namespace {
constexpr int64_t kPage = 4096;
int64_t pages(int64_t bytes) { return (bytes + kPage - 1) / kPage * kPage; }
int64_t in_lines(int64_t bytes) { return (bytes + 15) / 16 * 16; }
}  // namespace

// Ends the allocation, up to 16 bytes, at the end of its last page; the page after that is inaccessible.
void* Simulator::allocate_guarded(int index, int64_t bytes) {
  const int64_t own = pages(bytes);
  char* const p = static_cast<char*>(take(index, own + kPage));
  if (p == nullptr) return nullptr;
  mprotect(shadow_ + (p - fence_) + own, kPage, PROT_NONE);
  return p + own - in_lines(bytes);
}

void* Simulator::take(int index, int64_t bytes) {
  if (exhausted_[static_cast<size_t>(index)]) return nullptr;
  const std::lock_guard lock(mutex_);
  auto& gaps = free_[static_cast<size_t>(index)];
  for (auto gap = gaps.begin(); gap != gaps.end(); ++gap) {
    const auto [at, size] = *gap;
    if (size < bytes) continue;
    gaps.erase(gap);
    if (size > bytes) gaps[at + bytes] = size - bytes;
    std::memset(shadow_ + index * kMemory + at, 0xff, static_cast<size_t>(bytes));  // NaN in every floating type
    return fence_ + index * kMemory + at;
  }
  return nullptr;
}

void Simulator::release(int index, void* p, int64_t bytes) noexcept {
  int64_t at = static_cast<char*>(p) - fence_ - index * kMemory;
  if (guards_) {
    at += in_lines(bytes) - pages(bytes);
    mprotect(shadow_ + index * kMemory + at + pages(bytes), kPage, PROT_READ | PROT_WRITE);
    bytes = pages(bytes) + kPage;
  } else {
    bytes = (bytes + 255) / 256 * 256;
  }
  const std::lock_guard lock(mutex_);
  auto& gaps = free_[static_cast<size_t>(index)];
  // Pages that are entirely free; neighbouring allocations use the others.
  const int64_t first = (at + kPage - 1) / kPage * kPage, last = (at + bytes) / kPage * kPage;
  if (first < last) madvise(shadow_ + index * kMemory + first, static_cast<size_t>(last - first), MADV_DONTNEED);
  const auto next = gaps.lower_bound(at);
  if (next != gaps.end() && next->first == at + bytes) bytes += next->second, gaps.erase(next);
  const auto after = gaps.lower_bound(at);
  if (after != gaps.begin() && std::prev(after)->first + std::prev(after)->second == at) {
    std::prev(after)->second += bytes;
    return;
  }
  gaps[at] = bytes;
}

void* Simulator::allocate_pinned(int64_t bytes) {
  void* const p = std::aligned_alloc(64, static_cast<size_t>((bytes + 63) / 64 * 64));
  const std::lock_guard lock(mutex_);
  if (p != nullptr) pinned_[static_cast<const char*>(p)] = bytes;
  return p;
}
void Simulator::release_pinned(void* p, int64_t) noexcept {
  {
    const std::lock_guard lock(mutex_);
    pinned_.erase(static_cast<const char*>(p));
  }
  std::free(p);
}
int64_t Simulator::pinned_bytes() {
  const std::lock_guard lock(mutex_);
  int64_t bytes = 0;
  for (const auto& [at, size] : pinned_) bytes += size;
  return bytes;
}
void Simulator::check_pinned(const void* p, int64_t bytes) {
  const char* const at = static_cast<const char*>(p);
  const std::lock_guard lock(mutex_);
  const auto behind = pinned_.upper_bound(at);
  if (behind == pinned_.begin() || at + bytes > std::prev(behind)->first + std::prev(behind)->second)
    throw DeviceError(fmt::format("a copy of {} bytes was given memory of the host that is not pinned", bytes));
}
std::unique_ptr<Stream> Simulator::make_stream(Device device, Lane lane) { return std::make_unique<SimStream>(device, lane, *this); }

bool Simulator::is_inside(const void* address) const {
  const char* const at = static_cast<const char*>(address);
  return at >= fence_ && at < fence_ + kMemory * kDevices;
}
bool Simulator::is_shadow(const void* address) const {
  const char* const at = static_cast<const char*>(address);
  return at >= shadow_ && at < shadow_ + kMemory * kDevices;
}
void* Simulator::inside(const void* address, const char* who) const {
  if (!is_inside(address)) throw DeviceError(fmt::format("{} on a device was given memory of the host", who));
  return shadow_ + (static_cast<const char*>(address) - fence_);
}

void Simulator::set_delays(uint64_t seed, int longest, double share) {
  const std::lock_guard lock(mutex_);
  random_.seed(seed);
  longest_ = longest;
  share_ = share;
}

void Simulator::pause(Lane lane) {
  int microseconds = lane_delay_[static_cast<size_t>(lane)];
  {
    const std::lock_guard lock(mutex_);
    if (longest_ > 0 && std::uniform_real_distribution<>(0, 1)(random_) < share_) microseconds += std::uniform_int_distribution<>(1, longest_)(random_);
  }
  if (microseconds > 0) std::this_thread::sleep_for(std::chrono::microseconds(microseconds));
}

bool Simulator::counted_down(std::atomic<int64_t>* n) { return *n > 0 && n->fetch_sub(1) == 1; }
bool Simulator::drop_this_wait(const std::string& kind) {
  const bool asks = kind.starts_with("asks");
  if (!asks) ++waits_;
  const std::lock_guard lock(mutex_);
  ++kinds_[kind];
  return drop_wait_ > 0 && (drop_kind_ == kind || (drop_kind_.empty() && !asks)) && --drop_wait_ == 0;
}
void Simulator::drop_wait(int64_t n, const std::string& kind) {
  const std::lock_guard lock(mutex_);
  drop_wait_ = n;
  drop_kind_ = kind;
}
std::map<std::string, int64_t> Simulator::take_waits() {
  const std::lock_guard lock(mutex_);
  return std::exchange(kinds_, {});
}

// Kernels are the CPU's. At the end of the process, the libraries that they use destroy their objects in reverse order of creation. The streams must end before
// that, so end_all is registered again each time a kernel runs for the first time.
bool Simulator::begin_work() {
  ++running_;
  if (!ended_) return true;
  --running_;
  return false;
}
void Simulator::end_work(const std::string& what) {
  {
    const std::lock_guard lock(mutex_);
    if (ran_.insert(what).second) std::atexit([] { end_all(); });
  }
  --running_;
}
void Simulator::end_all() {
  for (Simulator* s : g_simulators)
    if (s != nullptr) s->end();
}
void Simulator::end() {
  ended_ = true;
  while (running_ != 0) std::this_thread::yield();
}

void Simulator::count_work(int index, const std::string& what) {
  ++work_;
  if (counted_down(&exhaust_[static_cast<size_t>(index)])) exhausted_[static_cast<size_t>(index)] = true;
  if (!counted_down(&lose_[static_cast<size_t>(index)])) return;
  Board& b = board(index);
  const std::lock_guard lock(b.mutex);
  b.lost = true;
  b.error = std::make_exception_ptr(
      DeviceError(ErrorCode::kDeviceFailed, fmt::format("device sim:{} is lost", index), "at " + what, "restart the program; what was saved before is whole"));
}
void Simulator::lose(int index, int64_t n) { lose_[static_cast<size_t>(index)] = n; }

void Simulator::note_stream(SimStream* stream, bool lives) {
  const std::lock_guard lock(mutex_);
  if (lives) streams_.insert(stream);
  else streams_.erase(stream);
}

void Simulator::repair() {
  const auto idle = [this] {
    const std::lock_guard lock(mutex_);
    return std::all_of(streams_.begin(), streams_.end(), [](SimStream* s) { return s->idle(); });
  };
  while (!idle()) std::this_thread::yield();
  for (Board& b : boards_) {
    const std::lock_guard lock(b.mutex);
    b.lost = false;
    b.error = nullptr;
  }
  for (auto& n : lose_) n = 0;
  for (auto* counts : {&lose_read_, &exhaust_})
    for (auto& n : *counts) n = 0;
  for (auto& e : exhausted_) e = false;
  fail_allocation_ = fail_copy_ = 0;
  drop_wait(0);
}

}  // namespace sindri::sim
