// The observer of each runtime. A plain pointer: interpreters read it before every kernel, so reading must cost nothing.
#include "sindri/op/observer.h"

#include <atomic>
#include <cstdlib>
#include <mutex>

#include "sindri/core/error.h"
#include "sindri/core/log.h"
#include "sindri/core/runtime.h"
#include "sindri/device/device.h"
#include "sindri/op/timeline.h"

namespace sindri {

namespace {

// Count over all runtimes, including the process's timeline.
std::atomic<int> g_observers{0};

// Passes waits on to the observer of kernels, and to the wait observer that was installed before.
class WaitRelay final : public WaitObserver {
 public:
  void on_wait(const char* what, int64_t begin_ns, int64_t end_ns) override {
    const auto point = [](int64_t ns) { return std::chrono::steady_clock::time_point(std::chrono::nanoseconds(ns)); };
    if (KernelObserver* const observer = kernel_observer()) observer->on_wait(what, point(begin_ns), point(end_ns));
    if (WaitObserver* const other = before_.load(std::memory_order_acquire)) other->on_wait(what, begin_ns, end_ns);
  }
  // Installed while any runtime observes kernels: otherwise a wait reads no clock.
  void add_observer() {
    const std::lock_guard lock(mutex_);
    if (g_observers++ == 0) before_ = set_wait_observer(this);
  }
  void remove_observer() {
    const std::lock_guard lock(mutex_);
    if (--g_observers > 0) return;
    WaitObserver* const last = set_wait_observer(before_.exchange(nullptr));
    if (last != this) set_wait_observer(last);  // one installed later stays
  }

 private:
  std::mutex mutex_;
  std::atomic<WaitObserver*> before_{nullptr};
};

WaitRelay& relay() {
  static WaitRelay* const r = new WaitRelay;  // devices call it until the process ends
  return *r;
}

// The timeline of SINDRI_TIMELINE, written when the process ends.
class ProcessTimeline {
 public:
  ProcessTimeline() {
    if (const char* path = std::getenv("SINDRI_TIMELINE"); path != nullptr && *path != 0) {
      path_ = path;
      timeline_ = std::make_unique<Timeline>();
      relay().add_observer();
    }
  }
  ~ProcessTimeline();
  Timeline* timeline() const { return timeline_.get(); }

 private:
  std::string path_;
  std::unique_ptr<Timeline> timeline_;
};

Timeline* process_timeline() {
  static ProcessTimeline process;
  return process.timeline();
}

struct InForce {
  std::atomic<KernelObserver*> observer{process_timeline()};
};
constinit RuntimeSlot<InForce> in_force;

ProcessTimeline::~ProcessTimeline() {
  if (timeline_ == nullptr) return;
  relay().remove_observer();
  try {
    timeline_->write(path_);
    if (timeline_->dropped() > 0)
      log::warn("timeline",
                path_ + ": " + std::to_string(timeline_->dropped()) + " kernel runs did not fit; it holds the first " + std::to_string(timeline_->events()));
  } catch (const std::exception& e) { log::error("timeline", e.what()); }
}

}  // namespace

KernelObserver* kernel_observer() {
  static const bool begun = (process_timeline(), true);
  (void)begun;
  return g_observers.load(std::memory_order_acquire) == 0 ? nullptr : in_force.get().observer.load(std::memory_order_acquire);
}

ObserveKernels::ObserveKernels(KernelObserver& observer) : previous_(in_force.get().observer.exchange(&observer, std::memory_order_acq_rel)) {
  relay().add_observer();
}
ObserveKernels::~ObserveKernels() {
  in_force.get().observer.store(previous_, std::memory_order_release);
  relay().remove_observer();
}

}  // namespace sindri
