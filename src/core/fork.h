// What a process that forks must keep in order: the child has a copy of the memory, but only the thread that forked.
#pragma once

#include <mutex>

namespace sindri {

/// Keeps a mutex that any thread may hold for a moment free across fork(): the thread that forks takes it first, parent and child give it
/// back, so that the child finds what it guards whole. `level` orders the mutexes as they are taken inside each other, outermost first.
/// Not for a mutex that is held while other code (Python's, a kernel) runs.
class AtFork {
 public:
  enum Level { kKernelChoices, kPlans, kArenas, kPools, kSettings, kLog, kMemory };
  AtFork(std::mutex& mutex, Level level);
  ~AtFork();
  AtFork(const AtFork&) = delete;
  AtFork& operator=(const AtFork&) = delete;

 private:
  std::mutex& mutex_;
};

/// Forks that lie between this process and the one that loaded the library.
int fork_generation();
/// True on a thread that forked, in the child, where the parent had other threads then: a team of OpenMP that belonged to this thread is gone.
bool lost_threads();

/// A mutex of each process's own. One that is held while other code runs cannot be waited for by who forks, and would never be free in
/// the child: that starts with a fresh one. For mutexes that only keep callers apart.
template <class Mutex> class PerProcess {
 public:
  PerProcess() = default;
  ~PerProcess() {
    if (generation_ == fork_generation()) delete mine_;
  }
  PerProcess(const PerProcess&) = delete;
  PerProcess& operator=(const PerProcess&) = delete;
  Mutex& get() {
    const std::lock_guard lock(making_);
    if (generation_ != fork_generation()) {
      mine_ = new Mutex;
      generation_ = fork_generation();
    }
    return *mine_;
  }

 private:
  std::mutex making_;
  const AtFork at_fork_{making_, AtFork::kSettings};
  int generation_ = fork_generation();
  Mutex* mine_ = new Mutex;
};

}  // namespace sindri
