// Several trainings as threads of one process, each as if it were alone in it.
//
// What a training sets and what the library keeps for it between calls belongs to a Runtime: mode, strictness, number of threads, seed, device,
// the random state, choices of kernels and plans made by them, observers, and the name in log lines. A process has one from the start, so a program
// that never names a runtime sees none of this. Others are made as a new process would find itself, and a RuntimeScope makes one current on a thread:
//
//   std::thread rank([] {
//     sindri::RuntimeScope scope(sindri::Runtime("rank 1"));
//     sindri::set_seed(7);            // of this runtime, as are the settings below
//     sindri::set_num_threads(2);
//     train();                        // the bits that a process of its own would give
//   });
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "sindri/export.h"

namespace sindri {

struct RuntimeState;
struct Device;

/// A handle; the runtime ends with its last handle and its last scope. Any number of threads may work in one runtime, with the care that threads
/// of one process need without it.
class SINDRI_API Runtime {
 public:
  /// A runtime in which nothing is set: environment variables count, as in a new process. Log lines written in it show the name, if it has one.
  explicit Runtime(std::string name = "");
  /// That of the innermost RuntimeScope on this thread, else the process's.
  static Runtime current();
  /// The one that threads without a scope work in; it never ends.
  static Runtime process();
  const std::string& name() const;
  /// 0 for the process's; never used again for another.
  uint64_t id() const;
  bool operator==(const Runtime&) const = default;

 private:
  friend class RuntimeScope;
  explicit Runtime(std::shared_ptr<RuntimeState> state) : state_(std::move(state)) {}
  std::shared_ptr<RuntimeState> state_;
};

/// Makes a runtime the current one on this thread for the life of the scope. Scopes must nest. A DeviceScope around it does not reach into it: the
/// current device is the runtime's. Interpreters, mixed precision and forced kernels that are in force on the thread stay so.
class SINDRI_API RuntimeScope {
 public:
  explicit RuntimeScope(Runtime runtime);
  ~RuntimeScope();
  RuntimeScope(const RuntimeScope&) = delete;
  RuntimeScope& operator=(const RuntimeScope&) = delete;

 private:
  Runtime runtime_;
  RuntimeState* previous_;
  const Device* previous_device_;
};

/// `f` as a function that runs in the runtime which is current now, for a thread that works on behalf of this one:
/// std::thread(in_this_runtime([&] { … })). The library's own threads are started so.
template <class F> auto in_this_runtime(F f) {
  return [runtime = Runtime::current(), f = std::move(f)]() mutable {
    const RuntimeScope scope(runtime);
    return f();
  };
}

namespace runtime_detail {
/// The current runtime's value of a slot, made when it is asked for first.
SINDRI_API void* value(std::atomic<int>& index, void* (*make)(), void (*destroy)(void*));
}  // namespace runtime_detail

/// State of a layer, one T for each runtime: what would otherwise be a static variable. Core so need not know who keeps what:
///   constinit RuntimeSlot<Counters> counters;   // of static storage: a slot's place is never given away again
///   counters.get().drawn += 1;                  // of the current runtime
/// A runtime's T is default-constructed when it is asked for first, in that runtime, and destroyed with it (the process's never is). Where threads
/// of one runtime ask at the same time several may be made, of which one is kept, so making one must have no effect of its own.
template <class T> class RuntimeSlot {
 public:
  constexpr RuntimeSlot() = default;
  RuntimeSlot(const RuntimeSlot&) = delete;
  RuntimeSlot& operator=(const RuntimeSlot&) = delete;
  T& get() const {
    return *static_cast<T*>(runtime_detail::value(
        index_, []() -> void* { return new T(); }, [](void* value) { delete static_cast<T*>(value); }));
  }

 private:
  mutable std::atomic<int> index_{-1};
};

}  // namespace sindri
