// What of a runtime is read at every op, and where slots keep the rest.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

#include "sindri/core/runtime.h"

namespace sindri {

/// More than the layers have; a program's own come on top.
inline constexpr int kMostRuntimeSlots = 64;

struct RuntimeState : std::enable_shared_from_this<RuntimeState> {
  constexpr RuntimeState() = default;
  explicit RuntimeState(std::string name);
  ~RuntimeState();
  RuntimeState(const RuntimeState&) = delete;
  RuntimeState& operator=(const RuntimeState&) = delete;

  std::atomic<int> threads{0};  // 0: not set, as the environment says
  std::atomic<int8_t> strict{-1};  // -1: not set
  std::atomic<uint64_t> device{0};  // a Device as one word: threads read it while another sets it
  std::atomic<int64_t> seed{0}, seed_generation{0};
  uint64_t id = 0;
  std::unique_ptr<const std::string> name;  // null: none
  std::array<std::atomic<void*>, kMostRuntimeSlots> slots{};
};

struct ThreadPlace {
  RuntimeState* runtime;
  const Device* device;  // of the innermost DeviceScope within the runtime's scope; null: none
};

/// Read several times by every op. The initial-exec model would spare a call, but puts all thread-local memory of the library (32 kB) where the loader
/// keeps less than 2 kB free for what is loaded late, as Python loads it.
extern constinit thread_local ThreadPlace t_place;

inline uint64_t current_runtime_id() { return t_place.runtime->id; }

/// For threads of a team that work for one that waits for them, whose place they take; its scopes live on meanwhile.
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
