// See openmp.h.
#include "src/device/cpu/openmp.h"

#ifndef SINDRI_PLAIN_THREADS
#include <omp.h>
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstdlib>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>

#include "sindri/core/context.h"
#include "sindri/core/error.h"
#include "src/core/runtime_state.h"

namespace sindri::openmp {

namespace {

// The variables have the values that the OpenMP runtime read: it is loaded no later than this library.
const bool kSpinIsChosen = std::getenv("OMP_WAIT_POLICY") != nullptr || std::getenv("GOMP_SPINCOUNT") != nullptr;

// Blocks signals, which belong to the program's threads.
class NoSignals {
 public:
  NoSignals() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~NoSignals() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  NoSignals(const NoSignals&) = delete;
  NoSignals& operator=(const NoSignals&) = delete;

 private:
  sigset_t before_;
};

void keep_a_team(int size) {
  std::atomic<int> members{0};
#pragma omp parallel num_threads(size)
  members.fetch_add(1);
  while (true) pause();
}

// A thread that works in place of the thread that forked.
class Deputy {
 public:
  Deputy() {
    const NoSignals none;
    std::thread([this] { work(); }).detach();
  }
  void run(const std::function<void()>& f) {
    std::unique_lock lock(mutex_);
    task_ = &f;
    place_ = t_place;
    changed_.notify_one();
    done_.wait(lock, [&] { return task_ == nullptr; });
    if (error_) std::rethrow_exception(std::exchange(error_, nullptr));
  }

 private:
  void work() {
    std::unique_lock lock(mutex_);
    while (true) {
      changed_.wait(lock, [&] { return task_ != nullptr; });
      try {
        const WorkFor scope(place_);
        (*task_)();
      } catch (...) { error_ = std::current_exception(); }
      task_ = nullptr;
      done_.notify_one();
    }
  }

  std::mutex mutex_;
  std::condition_variable changed_, done_;
  const std::function<void()>* task_ = nullptr;
  ThreadPlace place_{};  // the caller's
  std::exception_ptr error_;
};

}  // namespace

// GNU's runtime lets threads that wait at a barrier spin for milliseconds; if other programs need the cores, a step
// then takes several times as long. The runtime reads the spin time from the environment when it is loaded, which a
// library cannot change. But it spins only for a microsecond while its teams have more threads than there are cores, so
// an idle team is kept in addition to those that work.
void rest_when_idle() {
  static std::atomic<bool> done{kSpinIsChosen};
  if (done.load(std::memory_order_relaxed) || done.exchange(true)) return;
  const int size = std::clamp(omp_get_num_procs() - num_threads() + 2, 2, 64);
  try {
    const NoSignals none;
    std::thread([size] { keep_a_team(size); }).detach();
  } catch (const std::system_error&) {  // if no thread can start, waiting threads spin
  }
}

void run_elsewhere(const std::function<void()>& f) {
  thread_local Deputy* deputy = nullptr;
  thread_local int generation = -1;
  if (generation != fork_generation()) {  // an earlier one remained in the parent
    try {
      deputy = new Deputy;  // never ends
    } catch (const std::system_error& e) {
      throw DeviceError(std::string("a forked process cannot start a thread: ") + e.what(), "", "raise the limit of processes (ulimit -u)");
    }
    generation = fork_generation();
  }
  deputy->run(f);
}

}  // namespace sindri::openmp
#endif
