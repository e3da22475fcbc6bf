// parallel_tasks on OpenMP (sharing its pool with oneDNN), or on plain threads if OpenMP is compiled out:
// ThreadSanitizer does not see OpenMP's barriers.
#include "src/device/cpu/parallel.h"

#include <atomic>
#include <exception>
#include <mutex>

#include "src/core/runtime_state.h"

#ifdef SINDRI_PLAIN_THREADS
#include <thread>
#include <vector>
#else
#include <omp.h>

#include "src/device/cpu/openmp.h"
#endif

namespace sindri {

namespace {

// The first exception of a parallel region.
class FirstError {
 public:
  template <class F> void guard(F&& f) noexcept {
    try {
      f();
    } catch (...) {
      const std::lock_guard lock(mutex_);
      if (!error_) error_ = std::current_exception();
    }
  }
  void rethrow() {
    if (error_) std::rethrow_exception(error_);
  }

 private:
  std::mutex mutex_;
  std::exception_ptr error_;
};

#ifdef SINDRI_PLAIN_THREADS
thread_local bool t_inside = false;
#endif

}  // namespace

void parallel_tasks(int64_t tasks, const std::function<void(int64_t)>& body) {
  const int threads = static_cast<int>(std::min<int64_t>(num_threads(), tasks));
#ifdef SINDRI_PLAIN_THREADS
  const bool serial = threads <= 1 || t_inside;
#else
  const bool serial = threads <= 1 || omp_in_parallel() != 0;
#endif
  if (serial) {
    for (int64_t i = 0; i < tasks; ++i) body(i);
    return;
  }
  FirstError error;
  const ThreadPlace place = t_place;  // the team's threads may have worked for other callers before
#ifdef SINDRI_PLAIN_THREADS
  std::atomic<int64_t> next{0};
  std::vector<std::thread> pool;
  for (int t = 0; t < threads; ++t) {
    pool.emplace_back([&] {
      t_inside = true;
      const WorkFor scope(place);
      for (int64_t i; (i = next.fetch_add(1)) < tasks;) error.guard([&] { body(i); });
    });
  }
  for (std::thread& t : pool) t.join();
#else
  openmp::run([&] {
#pragma omp parallel num_threads(threads)
    {
      const WorkFor scope(place);
#pragma omp for schedule(static, 1) nowait
      for (int64_t i = 0; i < tasks; ++i) error.guard([&] { body(i); });
    }
  });
#endif
  error.rethrow();
}

}  // namespace sindri
