// Keeps state consistent across fork(): the child has a copy of the memory, but only the thread that forked.
#pragma once

#include <mutex>

namespace sindri {

/// Keeps a briefly held mutex usable across fork(): the forking thread locks it first, and parent and child unlock it,
/// so that the child finds the guarded data consistent. `level` orders the mutexes in the order in which they are
/// locked, outermost first. Not for a mutex that is held while other code (Python's, a kernel) runs.
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

/// Number of forks between the process that loaded the library and this one.
int fork_generation();
/// Returns true in a child, on the thread that forked, if the parent had other threads: an OpenMP team of this thread is gone.
bool lost_threads();

/// A mutex that is separate in each process, for mutexes that only serialise callers. The forking thread cannot wait
/// for a mutex that is held while other code runs, and such a mutex would never be unlocked in the child. So the child
/// starts with a new one.
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
