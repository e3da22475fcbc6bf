// Runs a function once, on first use.
#pragma once

#include <atomic>
#include <mutex>
#include <utility>

namespace sindri {

/// Like std::once_flag, for functions that may throw. std::call_once runs the function below a frame of the C library
/// (pthread_once). If this library contains its own unwinder, as in a Python wheel, an exception cannot pass that
/// frame, and the process ends without a message. Here only frames of this library lie between the throw and the
/// caller. scripts/check_includes.py rejects std::call_once.
class Once {
 public:
  /// Runs `f` unless a previous call has returned. Other threads wait. If `f` throws, the caller gets the exception and
  /// the next call tries again.
  template <typename F> void call(F&& f) {
    if (done_.load(std::memory_order_acquire)) return;
    const std::lock_guard lock(mutex_);
    if (done_.load(std::memory_order_relaxed)) return;
    std::forward<F>(f)();
    done_.store(true, std::memory_order_release);
  }

 private:
  std::mutex mutex_;
  std::atomic<bool> done_{false};
};

}  // namespace sindri
