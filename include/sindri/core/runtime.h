// Several training runs as threads of one process, each as if it were alone in it.
//
// A Runtime owns what a run sets and what the library keeps for it between calls: mode, strictness, number of threads, seed,
// device, random state, kernel choices and the plans built from them, observers, and the name in log lines. A process has one
// from the start, so a program that uses only this runtime need not know about runtimes. Further runtimes start in the state of a
// new process, and a RuntimeScope makes one current on a thread:
//
//   std::thread rank([] {
//     sindri::RuntimeScope scope(sindri::Runtime("rank 1"));
//     sindri::set_seed(7);            // of this runtime, as are the settings below
//     sindri::set_num_threads(2);
//     train();                        // bitwise identical to a separate process
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

/// A handle. The runtime ends with its last handle and its last scope. Any number of threads may work in one runtime; they need
/// the same care as the threads of one process.
class SINDRI_API Runtime {
 public:
  /// Makes a runtime in which nothing is set: as in a new process, environment variables apply. Its log lines show the name, if
  /// it has one.
  explicit Runtime(std::string name = "");
  /// The runtime of the innermost RuntimeScope on this thread, else the process's.
  static Runtime current();
  /// The process's runtime, used by threads without a scope. It never ends.
  static Runtime process();
  const std::string& name() const;  ///< name in log lines; may be empty
  /// Number of the runtime: 0 for the process's; never reused.
  uint64_t id() const;
  bool operator==(const Runtime&) const = default;

 private:
  friend class RuntimeScope;
  explicit Runtime(std::shared_ptr<RuntimeState> state) : state_(std::move(state)) {}
  std::shared_ptr<RuntimeState> state_;
};

/// Makes a runtime current on this thread for the life of the scope. Scopes must nest. A DeviceScope outside it has no effect
/// inside: the current device is the runtime's. Interpreters, mixed precision and forced kernels of the thread stay active.
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

/// Wraps `f` so that it runs in the runtime that is current now, for a thread that works on behalf of this one:
/// std::thread(in_this_runtime([&] { … })). The library starts its own threads this way.
template <class F> auto in_this_runtime(F f) {
  return [runtime = Runtime::current(), f = std::move(f)]() mutable {
    const RuntimeScope scope(runtime);
    return f();
  };
}

namespace runtime_detail {
/// The current runtime's value of a slot, created at its first use.
SINDRI_API void* value(std::atomic<int>& index, void* (*make)(), void (*destroy)(void*));
}  // namespace runtime_detail

/// Per-runtime state of a layer, one T for each runtime, instead of a static variable. Core need not know what the layers store:
///   constinit RuntimeSlot<Counters> counters;   // of static storage: a slot's index is never reused
///   counters.get().drawn += 1;                  // of the current runtime
/// A runtime's T is default-constructed at its first use, in that runtime, and destroyed with it (the process's never is). If
/// threads of one runtime use it first at the same time, several may be constructed and all but one destroyed; the constructor
/// must have no side effects.
template <class T> class RuntimeSlot {
 public:
  constexpr RuntimeSlot() = default;
  RuntimeSlot(const RuntimeSlot&) = delete;
  RuntimeSlot& operator=(const RuntimeSlot&) = delete;
  /// The current runtime's T.
  T& get() const {
    return *static_cast<T*>(runtime_detail::value(
        index_, []() -> void* { return new T(); }, [](void* value) { delete static_cast<T*>(value); }));
  }

 private:
  mutable std::atomic<int> index_{-1};
};

}  // namespace sindri
