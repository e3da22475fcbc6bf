// The current runtime of each thread, and the state that runtimes hold. Nothing here takes a lock: threads read it at
// every op, and a process may fork.
#include "sindri/core/runtime.h"

#include <fmt/format.h>

#include "sindri/core/error.h"
#include "src/core/runtime_state.h"

namespace sindri {

namespace {

// Exists before any constructor runs and after every destructor.
union ProcessRuntime {
  RuntimeState state;
  constexpr ProcessRuntime() : state() {}
  ~ProcessRuntime() {}
};
constinit ProcessRuntime g_process;

constinit std::atomic<uint64_t> g_last_id{0};
constinit std::atomic<int> g_slots{0};
constinit std::array<std::atomic<void (*)(void*)>, kMostRuntimeSlots> g_destroy{};

// If two threads call at once, one number stays unused.
int take_index(std::atomic<int>& index, void (*destroy)(void*)) {
  const int mine = g_slots.fetch_add(1);
  if (mine >= kMostRuntimeSlots) {
    g_slots = kMostRuntimeSlots;
    throw InternalError(fmt::format("more than {} RuntimeSlots", kMostRuntimeSlots), "", "keep a program's state in one slot, of static storage");
  }
  g_destroy[static_cast<size_t>(mine)] = destroy;
  int none = -1;
  return index.compare_exchange_strong(none, mine) ? mine : none;
}

}  // namespace

constinit thread_local ThreadPlace t_place{&g_process.state, nullptr};

RuntimeState::RuntimeState(std::string called)
    : id(g_last_id.fetch_add(1) + 1), name(called.empty() ? nullptr : std::make_unique<const std::string>(std::move(called))) {}

// Destroys in reverse order of creation: later objects may refer to earlier ones.
RuntimeState::~RuntimeState() {
  for (size_t i = slots.size(); i-- > 0;) {
    if (void* const value = slots[i].load()) g_destroy[i].load()(value);
  }
}

Runtime::Runtime(std::string name) : state_(std::make_shared<RuntimeState>(std::move(name))) {}
Runtime Runtime::process() { return Runtime(std::shared_ptr<RuntimeState>(std::shared_ptr<void>(), &g_process.state)); }
Runtime Runtime::current() {
  RuntimeState* const state = t_place.runtime;
  return state == &g_process.state ? process() : Runtime(state->shared_from_this());
}
const std::string& Runtime::name() const {
  static const std::string none;
  return state_->name != nullptr ? *state_->name : none;
}
uint64_t Runtime::id() const { return state_->id; }

RuntimeScope::RuntimeScope(Runtime runtime) : runtime_(std::move(runtime)), previous_(t_place.runtime), previous_device_(t_place.device) {
  t_place = {runtime_.state_.get(), nullptr};
}
RuntimeScope::~RuntimeScope() { t_place = {previous_, previous_device_}; }

void* runtime_detail::value(std::atomic<int>& index, void* (*make)(), void (*destroy)(void*)) {
  int i = index.load(std::memory_order_acquire);
  if (i < 0) i = take_index(index, destroy);
  std::atomic<void*>& slot = t_place.runtime->slots[static_cast<size_t>(i)];
  void* value = slot.load(std::memory_order_acquire);
  if (value != nullptr) return value;
  void* const made = make();
  if (slot.compare_exchange_strong(value, made)) return made;
  destroy(made);  // another thread was first
  return value;
}

}  // namespace sindri
