// See fork.h.
#include "src/core/fork.h"

#include <pthread.h>
#include <sys/stat.h>

#include <algorithm>
#include <atomic>
#include <vector>

namespace sindri {

namespace {

struct Guarded {
  AtFork::Level level;
  std::mutex* mutex;
};

struct Forks {
  std::mutex mutex;
  std::vector<Guarded> guarded;  // sorted by level
  std::atomic<int> generation{0};
};
Forks& forks() {
  static Forks* const f = new Forks;  // outlives every mutex
  return *f;
}

thread_local bool t_had_company = false, t_lost_threads = false;

bool has_other_threads() {
  struct stat s {};
  return stat("/proc/self/task", &s) != 0 || s.st_nlink != 3;  // ".", ".." and one thread
}

void before_fork() {
  t_had_company = has_other_threads();
  Forks& f = forks();
  f.mutex.lock();
  for (const Guarded& g : f.guarded) g.mutex->lock();
}
void unlock_all() {
  Forks& f = forks();
  for (auto g = f.guarded.rbegin(); g != f.guarded.rend(); ++g) g->mutex->unlock();
  f.mutex.unlock();
}
void in_child() {
  forks().generation.fetch_add(1);
  t_lost_threads = t_lost_threads || t_had_company;
  unlock_all();
}

const bool kRegistered = pthread_atfork(before_fork, unlock_all, in_child) == 0;

}  // namespace

AtFork::AtFork(std::mutex& mutex, Level level) : mutex_(mutex) {
  Forks& f = forks();
  const std::lock_guard lock(f.mutex);
  const auto at = std::upper_bound(f.guarded.begin(), f.guarded.end(), level, [](Level l, const Guarded& g) { return l < g.level; });
  f.guarded.insert(at, {level, &mutex});
}
AtFork::~AtFork() {
  Forks& f = forks();
  const std::lock_guard lock(f.mutex);
  std::erase_if(f.guarded, [this](const Guarded& g) { return g.mutex == &mutex_; });
}

int fork_generation() { return forks().generation.load(); }
bool lost_threads() { return t_lost_threads; }

}  // namespace sindri
