// The communication lane of the CPU: one thread for each runtime, which runs what graphs post to it in order. So ranks
// exchange gradients while the calling thread computes more of them. The thread starts with the first work posted; a
// program without collective ops never has one.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>

namespace sindri {

class HostLane {
 public:
  /// Returns the lane of the current runtime.
  static HostLane& of_runtime();
  HostLane() = default;
  ~HostLane();
  HostLane(const HostLane&) = delete;
  HostLane& operator=(const HostLane&) = delete;

  /// Posts `work`, which must not throw, after the work already posted. It runs in the runtime that is current now. Returns its number.
  uint64_t post(std::function<void()> work);
  /// Blocks until the work with this number is done.
  void wait(uint64_t number);
  /// Total time spent in wait() calls that had to block.
  double seconds_waited() const { return static_cast<double>(waited_.load()) * 1e-9; }

 private:
  void serve();
  std::mutex mutex_;
  std::condition_variable work_came_, work_done_;
  std::deque<std::function<void()>> waiting_;
  uint64_t posted_ = 0, done_ = 0;
  std::atomic<int64_t> waited_{0};  // nanoseconds
  bool closing_ = false;
  std::thread thread_;
};

}  // namespace sindri
