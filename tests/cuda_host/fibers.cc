// See fibers.h and shared_memory.h.
#include "cuda_host/fibers.h"

#include <fmt/format.h>
#include <sys/mman.h>

#include <algorithm>
#include <bit>
#include <condition_variable>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <numeric>
#include <random>
#include <thread>
#include <utility>

#include "cuda_host/shared_memory.h"
#include "sindri/core/error.h"

// Saves the callee-saved registers and the stack pointer to *save, and continues where `load` was saved.
extern "C" void sindri_switch_fiber(void** save, void* load);
asm(R"(
.text
.globl sindri_switch_fiber
.type sindri_switch_fiber,@function
sindri_switch_fiber:
  pushq %rbp
  pushq %rbx
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  movq %rsp, (%rdi)
  movq %rsi, %rsp
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbx
  popq %rbp
  ret
.size sindri_switch_fiber,.-sindri_switch_fiber
)");

namespace sindri::cuda_host {

thread_local Place t_place;

namespace {

constexpr size_t kStackBytes = 128 << 10;
constexpr unsigned kWarp = 32;

struct Stack {
  Stack() : memory(static_cast<char*>(mmap(nullptr, kStackBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0))) {
    if (memory == MAP_FAILED) throw InternalError("no memory for the stack of a fiber");
    mprotect(memory, 4096, PROT_NONE);
  }
  ~Stack() { munmap(memory, kStackBytes); }
  Stack(const Stack&) = delete;
  Stack& operator=(const Stack&) = delete;
  char* memory;
};

enum class State : uint8_t { kNew, kReady, kAtBarrier, kAtExchange, kDone };

struct Fiber {
  State state = State::kNew;
  void* sp = nullptr;
  std::unique_ptr<Stack> stack;
  uint32_t barriers = 0;
};

// Lanes of one warp that exchange with one mask. Two sets of slots suffice: a lane can start the next exchange only once all have started this one. It can
// reuse this one's slots only once all have started the next, and therefore have read.
struct Group {
  unsigned mask = 0, arrived = 0, present = 0;
  uint64_t round = 0;
  const char* kind = "";
  std::array<std::array<uint64_t, 32>, 2> slots{};
  std::array<unsigned, 2> presents{};
};

// The barrier of a cooperative grid's blocks; one thread of each block waits.
class GridBarrier {
 public:
  explicit GridBarrier(uint64_t blocks) : blocks_(blocks) {}
  // Returns false if a block has ended without reaching the barrier.
  bool wait() {
    std::unique_lock lock(mutex_);
    if (ended_ > 0) return false;
    if (++arrived_ == blocks_) {
      arrived_ = 0;
      ++round_;
      all_.notify_all();
      return true;
    }
    const uint64_t round = round_;
    all_.wait(lock, [&] { return round_ != round || ended_ > 0; });
    return round_ != round;
  }
  void end_block() {
    const std::lock_guard lock(mutex_);
    ++ended_;
    all_.notify_all();
  }

 private:
  std::mutex mutex_;
  std::condition_variable all_;
  uint64_t blocks_, arrived_ = 0, round_ = 0, ended_ = 0;
};

class Block;
thread_local Block* t_block = nullptr;
thread_local GridBarrier* t_grid = nullptr;
thread_local uint64_t t_serial = 0;
thread_local std::vector<std::unique_ptr<Stack>> t_stacks;

class Block {
 public:
  Block(const std::string& name, const Dims& dims, const std::function<void()>& body) : name_(name), dims_(dims), body_(body) {
    count_ = dims.threads.x * dims.threads.y * dims.threads.z;
    fibers_.resize(count_);
    groups_.resize((count_ + kWarp - 1) / kWarp);
    exchanges_.resize(groups_.size());
  }

  void run(uint3 block, std::minstd_rand& random) {
    ++t_serial;
    t_place = {{}, block, dims_.threads, dims_.blocks};
    for (Fiber& f : fibers_) f.state = State::kNew, f.barriers = 0;
    for (auto& g : groups_) g.clear();
    std::fill(exchanges_.begin(), exchanges_.end(), 0);
    at_barrier_ = done_ = 0;
    std::vector<uint32_t> order(count_);
    std::iota(order.begin(), order.end(), 0);
    Block* const before = std::exchange(t_block, this);
    while (done_ < count_ && fault_.empty()) {
      if (count_ > 1) arrange(&order, random);
      bool moved = false;
      for (const uint32_t i : order) {
        Fiber& f = fibers_[i];
        if (f.state != State::kNew && f.state != State::kReady) continue;
        resume(i);
        moved = true;
        if (!fault_.empty()) break;
      }
      if (!moved && done_ < count_) explain_stop();
    }
    t_block = before;
    if (fault_.empty()) return;
    // Unfinished fibers keep their stacks; they must not run again.
    for (Fiber& f : fibers_) f.stack.release();  // NOLINT(bugprone-unused-return-value): frames on it are never unwound
  }

  // ----- called on fibers -----
  void barrier() {
    Fiber& f = fibers_[current_];
    if (done_ > 0) return fault("__syncthreads after a thread of the block has returned");
    f.state = State::kAtBarrier;
    if (++at_barrier_ == count_) {
      at_barrier_ = 0;
      for (Fiber& other : fibers_) other.state = State::kReady, ++other.barriers;
    }
    leave();
  }

  Exchanged exchange(unsigned mask, const char* kind, uint64_t value) {
    const unsigned warp = current_ / kWarp, lane = current_ % kWarp;
    const unsigned lanes = std::min(kWarp, count_ - warp * kWarp);
    const unsigned there = mask & (lanes == kWarp ? ~0u : (1u << lanes) - 1);  // the last warp may be short
    if (((there >> lane) & 1) == 0) fault(fmt::format("{}: lane {} is not in its own mask {:#x}", kind, lane, mask));
    Group& g = group(warp, mask);
    if (g.arrived == 0) g.kind = kind;
    else if (std::strcmp(g.kind, kind) != 0) fault(fmt::format("lanes of a warp are at {} and at {}", g.kind, kind));
    const size_t set = g.round % 2;
    g.slots[set][lane] = value;
    g.arrived |= 1u << lane;
    fibers_[current_].state = State::kAtExchange;
    if (g.arrived == there) {
      g.arrived = 0;
      g.presents[set] = there;
      ++g.round;
      ++exchanges_[warp];
      for (unsigned l = 0; l < lanes; ++l)
        if (((there >> l) & 1) != 0) fibers_[warp * kWarp + l].state = State::kReady;
    }
    leave();
    return {group(warp, mask).slots[set], there};
  }

  void fault(const std::string& what) {
    if (fault_.empty())
      fault_ = fmt::format("{}, block ({}, {}, {}), thread ({}, {}, {}): {}", name_, t_place.block.x, t_place.block.y, t_place.block.z, t_place.thread.x,
                           t_place.thread.y, t_place.thread.z, what);
  }
  const std::string& first_fault() const { return fault_; }
  Moment moment() const { return {t_serial, current_, fibers_[current_].barriers, exchanges_[current_ / kWarp]}; }
  uint32_t current() const { return current_; }
  size_t shared() const { return dims_.shared; }

 private:
  // Forwards, backwards, or shuffled.
  static void arrange(std::vector<uint32_t>* order, std::minstd_rand& random) {
    switch (random() % 3) {
      case 0: std::sort(order->begin(), order->end()); break;
      case 1: std::sort(order->begin(), order->end(), std::greater<>()); break;
      default: std::shuffle(order->begin(), order->end(), random);
    }
  }
  Group& group(unsigned warp, unsigned mask) {
    for (Group& g : groups_[warp])
      if (g.mask == mask) return g;
    Group& g = groups_[warp].emplace_back();
    g.mask = mask;
    return g;
  }
  static void start() {
    Block* const block = t_block;
    try {
      block->body_();
    } catch (const std::exception& e) { block->fault(e.what()); }  // there is no caller above this frame
    block->fibers_[block->current_].state = State::kDone;
    ++block->done_;
    block->leave();
  }
  void resume(uint32_t i) {
    Fiber& f = fibers_[i];
    if (f.state == State::kNew) {
      if (t_stacks.empty()) t_stacks.push_back(std::make_unique<Stack>());
      f.stack = std::move(t_stacks.back());
      t_stacks.pop_back();
      // As if it had been saved at the entry of start(): six registers, the address to continue at, and the stack aligned as after a call.
      auto* top = reinterpret_cast<void**>(f.stack->memory + kStackBytes - 16);
      *--top = nullptr;
      *--top = reinterpret_cast<void*>(&Block::start);
      f.sp = top - 6;
    }
    f.state = State::kReady;
    current_ = i;
    const dim3& d = dims_.threads;
    t_place.thread = {i % d.x, i / d.x % d.y, i / (d.x * d.y)};
    sindri_switch_fiber(&scheduler_, f.sp);
    if (f.state == State::kDone) t_stacks.push_back(std::move(f.stack));
  }
  void leave() { sindri_switch_fiber(&fibers_[current_].sp, scheduler_); }

  // Every fiber waits, so at least one has not arrived.
  void explain_stop() {
    const auto first = std::find_if(fibers_.begin(), fibers_.end(), [](const Fiber& f) { return f.state != State::kDone; });
    current_ = static_cast<uint32_t>(first - fibers_.begin());
    t_place.thread = {current_ % dims_.threads.x, current_ / dims_.threads.x % dims_.threads.y, current_ / (dims_.threads.x * dims_.threads.y)};
    fault(first->state == State::kAtBarrier ? fmt::format("waits at a __syncthreads that {} threads of {} do not reach", count_ - at_barrier_, count_)
                                            : "waits at a warp exchange that not every lane of its mask reaches");
  }

  const std::string& name_;
  const Dims& dims_;
  const std::function<void()>& body_;
  uint32_t count_ = 0, current_ = 0, at_barrier_ = 0, done_ = 0;
  void* scheduler_ = nullptr;
  std::vector<Fiber> fibers_;
  std::vector<std::vector<Group>> groups_;  // by warp
  std::vector<uint32_t> exchanges_;
  std::string fault_;
};

}  // namespace

unsigned Exchanged::ballot() const {
  unsigned b = 0;
  for (unsigned l = 0; l < 32; ++l)
    if (((present_ >> l) & 1) != 0 && values_[l] != 0) b |= 1u << l;
  return b;
}

void barrier() { t_block->barrier(); }
Exchanged exchange(unsigned mask, const char* kind, uint64_t value) { return t_block->exchange(mask, kind, value); }
int lane() { return static_cast<int>(t_block->current() % kWarp); }
Moment moment() { return t_block != nullptr ? t_block->moment() : Moment{}; }
size_t dynamic_shared_bytes() { return t_block->shared(); }
void fault(const std::string& what) {
  if (t_block == nullptr) throw DeviceError("code of a device runs outside of a kernel: " + what);
  t_block->fault(what);
}

void grid_barrier() {
  if (t_grid == nullptr) return fault("waits for its grid, which was not launched as a cooperative one");
  barrier();
  if (t_block->current() == 0 && !t_grid->wait()) fault("waits for its grid, of which a block has ended");
  barrier();
}

namespace {

[[noreturn]] void throw_fault(const std::string& what) {
  throw DeviceError(ErrorCode::kDeviceFailed, what, "", "the kernel breaks a rule of the CUDA language; see tests/cuda_host/fibers.h");
}

uint3 place_of_block(const Dims& dims, uint64_t i) {
  return {static_cast<unsigned>(i % dims.blocks.x), static_cast<unsigned>(i / dims.blocks.x % dims.blocks.y),
          static_cast<unsigned>(i / dims.blocks.x / dims.blocks.y)};
}

void run_cooperative(const std::string& name, const Dims& dims, const std::function<void()>& body, uint64_t seed) {
  const uint64_t blocks = uint64_t{dims.blocks.x} * dims.blocks.y * dims.blocks.z;
  GridBarrier grid(blocks);
  std::vector<std::string> faults(blocks);
  std::vector<std::thread> threads;
  for (uint64_t i = 0; i < blocks; ++i)
    threads.emplace_back([&, i] {
      t_grid = &grid;
      try {
        std::minstd_rand random(static_cast<uint32_t>((seed + i) * 2654435761u + 1));
        Block block(name, dims, body);
        block.run(place_of_block(dims, i), random);
        faults[i] = block.first_fault();
      } catch (const std::exception& e) { faults[i] = e.what(); }
      grid.end_block();
    });
  for (std::thread& t : threads) t.join();
  for (const std::string& f : faults)
    if (!f.empty()) throw_fault(f);
}

}  // namespace

void run_grid(const std::string& name, const Dims& dims, const std::function<void()>& body, uint64_t seed) {
  if (dims.cooperative) return run_cooperative(name, dims, body, seed);
  std::minstd_rand random(static_cast<uint32_t>(seed * 2654435761u + 1));
  Block block(name, dims, body);
  const uint64_t blocks = uint64_t{dims.blocks.x} * dims.blocks.y * dims.blocks.z;
  const bool backwards = random() % 2 == 1;
  for (uint64_t k = 0; k < blocks; ++k) {
    const uint64_t i = backwards ? blocks - 1 - k : k;
    block.run(place_of_block(dims, i), random);
    if (!block.first_fault().empty()) throw_fault(block.first_fault());
  }
}

// ----- shared memory -----

// Returns whether nothing orders `a` before the current access: both are in the same interval between barriers and by different threads, and no exchange lies
// between them if the threads are lanes of one warp.
bool AccessLog::together(const Access& a, const Moment& now) {
  if (a.thread == ~0u || a.thread == now.thread || a.barriers != now.barriers) return false;
  return a.thread / kWarp != now.thread / kWarp || a.exchanges == now.exchanges;
}
void AccessLog::report(const char* name, size_t element, const char* what, const Access& other) const {
  fault(fmt::format("race in shared memory: {} {}[{}] that thread {} touches without a barrier between", what, name, element, other.thread));
}
bool AccessLog::in_bounds(const char* name, int64_t element) const {
  if (element >= 0 && static_cast<size_t>(element) < cells_.size()) return true;
  fault(fmt::format("{}[{}] is outside of its {} elements of shared memory", name, element, cells_.size()));
  return false;
}
void AccessLog::read(const char* name, size_t element) {
  const Moment now = moment();
  Cell& c = cells_[element];
  if (together(c.write, now)) report(name, element, "reads", c.write);
  const bool same = c.read.thread != ~0u && c.read.barriers == now.barriers;
  c.many_readers = same && (c.many_readers || c.read.thread != now.thread);
  c.read = {now.thread, now.barriers, now.exchanges};
}
void AccessLog::write(const char* name, size_t element) {
  const Moment now = moment();
  Cell& c = cells_[element];
  if (together(c.write, now)) report(name, element, "writes", c.write);
  if (together(c.read, now) || (c.many_readers && c.read.barriers == now.barriers && c.read.exchanges == now.exchanges))
    report(name, element, "writes", c.read);
  c.write = {now.thread, now.barriers, now.exchanges};
}
void AccessLog::atomic(const char* name, size_t element) {
  const Moment now = moment();
  Cell& c = cells_[element];
  if (!c.write.atomic && together(c.write, now)) report(name, element, "adds to", c.write);
  if (together(c.read, now)) report(name, element, "adds to", c.read);
  c.write = {now.thread, now.barriers, now.exchanges, true};
}

}  // namespace sindri::cuda_host
