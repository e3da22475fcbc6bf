// The parts of a runtime that are read at every op, and the slots that hold the rest.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

#include "sindri/core/runtime.h"

namespace sindri {

/// More than the layers need; a program's own slots are added.
inline constexpr int kMostRuntimeSlots = 64;

struct RuntimeState : std::enable_shared_from_this<RuntimeState> {
  constexpr RuntimeState() = default;
  explicit RuntimeState(std::string name);
  ~RuntimeState();
  RuntimeState(const RuntimeState&) = delete;
  RuntimeState& operator=(const RuntimeState&) = delete;

  int num_threads() {
    const int n = threads.load(std::memory_order_relaxed);
    return n > 0 ? n : default_threads();
  }
  bool is_strict() {
    const int8_t on = strict.load(std::memory_order_relaxed);
    return on >= 0 ? on != 0 : default_strict();
  }
  // Returns the environment's number and stores it, unless another thread has set one meanwhile. In context.cc.
  int default_threads();
  bool default_strict();

  std::atomic<int> threads{0};  // 0: not set, use the environment's
  std::atomic<int8_t> strict{-1};  // -1: not set
  std::atomic<uint64_t> device{0};  // a Device in one word: threads read it while another sets it
  std::atomic<int64_t> seed{0}, seed_generation{0};
  uint64_t id = 0;
  std::unique_ptr<const std::string> name;  // null: none
  std::array<std::atomic<void*>, kMostRuntimeSlots> slots{};
};

struct ThreadPlace {
  RuntimeState* runtime;
  const Device* device;  // of the innermost DeviceScope within the runtime's scope; null: none
};

/// Hidden: a function of the library then finds all of a thread's state with one call. (The initial-exec model would
/// need no call. But then all of a library's thread-local storage must fit into what the loader reserves for libraries
/// that are loaded late, as by Python; ours does not fit.)
extern constinit thread_local ThreadPlace t_place __attribute__((visibility("hidden")));

/// For threads of a team that work for a waiting thread: they use its place, and its scopes stay alive meanwhile.
class WorkFor {
 public:
  explicit WorkFor(const ThreadPlace& place) : before_(t_place) { t_place = place; }
  ~WorkFor() { t_place = before_; }
  WorkFor(const WorkFor&) = delete;
  WorkFor& operator=(const WorkFor&) = delete;

 private:
  const ThreadPlace before_;
};

}  // namespace sindri
