// The observer in force. A plain pointer: interpreters look at it before every kernel, so looking must cost nothing.
#include "sindri/op/observer.h"

#include <atomic>
#include <cstdlib>
#include <mutex>

#include "sindri/core/error.h"
#include "sindri/core/log.h"
#include "sindri/device/device.h"
#include "sindri/op/timeline.h"

namespace sindri {

namespace {

// The timeline of SINDRI_TIMELINE, written when the process ends.
class ProcessTimeline {
 public:
  ProcessTimeline() {
    if (const char* path = std::getenv("SINDRI_TIMELINE"); path != nullptr && *path != 0) {
      path_ = path;
      timeline_ = std::make_unique<Timeline>();
    }
  }
  ~ProcessTimeline();
  Timeline* timeline() const { return timeline_.get(); }

 private:
  std::string path_;
  std::unique_ptr<Timeline> timeline_;
};

std::atomic<KernelObserver*>& in_force();

// Hands waits on to the observer of kernels, and to whoever heard of them before it.
class WaitRelay final : public WaitObserver {
 public:
  void on_wait(const char* what, int64_t begin_ns, int64_t end_ns) override {
    const auto point = [](int64_t ns) { return std::chrono::steady_clock::time_point(std::chrono::nanoseconds(ns)); };
    if (KernelObserver* const observer = in_force().load(std::memory_order_acquire)) observer->on_wait(what, point(begin_ns), point(end_ns));
    if (WaitObserver* const other = before_.load(std::memory_order_acquire)) other->on_wait(what, begin_ns, end_ns);
  }
  // There while kernels are observed: without it a wait takes no times.
  void follow(const KernelObserver* observer) {
    const std::lock_guard lock(mutex_);
    if ((observer != nullptr) == installed_) return;
    installed_ = !installed_;
    if (installed_) {
      before_ = set_wait_observer(this);
      return;
    }
    WaitObserver* const last = set_wait_observer(before_.exchange(nullptr));
    if (last != this) set_wait_observer(last);  // one that came later stays
  }

 private:
  std::mutex mutex_;
  bool installed_ = false;
  std::atomic<WaitObserver*> before_{nullptr};
};

WaitRelay& relay() {
  static WaitRelay* const r = new WaitRelay;  // devices hear of it until the process ends
  return *r;
}

std::atomic<KernelObserver*>& in_force() {
  static ProcessTimeline process;
  static std::atomic<KernelObserver*> observer{process.timeline()};
  static const bool followed = (relay().follow(process.timeline()), true);
  (void)followed;
  return observer;
}

ProcessTimeline::~ProcessTimeline() {
  if (timeline_ == nullptr) return;
  relay().follow(nullptr);
  try {
    timeline_->write(path_);
    if (timeline_->dropped() > 0)
      log::warn("timeline",
                path_ + ": " + std::to_string(timeline_->dropped()) + " kernel runs did not fit; it holds the first " + std::to_string(timeline_->events()));
  } catch (const std::exception& e) { log::error("timeline", e.what()); }
}

}  // namespace

KernelObserver* kernel_observer() { return in_force().load(std::memory_order_acquire); }

ObserveKernels::ObserveKernels(KernelObserver& observer) : previous_(in_force().exchange(&observer, std::memory_order_acq_rel)) { relay().follow(&observer); }
ObserveKernels::~ObserveKernels() {
  in_force().store(previous_, std::memory_order_release);
  relay().follow(previous_);
}

}  // namespace sindri
