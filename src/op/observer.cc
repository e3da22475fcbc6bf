// The observer in force. A plain pointer: interpreters look at it before every kernel, so looking must cost nothing.
#include "sindri/op/observer.h"

#include <atomic>
#include <cstdlib>

#include "sindri/core/error.h"
#include "sindri/core/log.h"
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

std::atomic<KernelObserver*>& in_force() {
  static ProcessTimeline process;
  static std::atomic<KernelObserver*> observer{process.timeline()};
  return observer;
}

ProcessTimeline::~ProcessTimeline() {
  if (timeline_ == nullptr) return;
  try {
    timeline_->write(path_);
    if (timeline_->dropped() > 0)
      log::warn("timeline",
                path_ + ": " + std::to_string(timeline_->dropped()) + " kernel runs did not fit; it holds the first " + std::to_string(timeline_->events()));
  } catch (const std::exception& e) { log::error("timeline", e.what()); }
}

}  // namespace

KernelObserver* kernel_observer() { return in_force().load(std::memory_order_acquire); }

ObserveKernels::ObserveKernels(KernelObserver& observer) : previous_(in_force().exchange(&observer, std::memory_order_acq_rel)) {}
ObserveKernels::~ObserveKernels() { in_force().store(previous_, std::memory_order_release); }

}  // namespace sindri
