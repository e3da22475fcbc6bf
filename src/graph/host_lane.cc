// See host_lane.h.
#include "src/graph/host_lane.h"

#include <chrono>
#include <utility>

#include "sindri/core/runtime.h"
#include "sindri/graph/lane_wait.h"

namespace sindri {

namespace {
constinit RuntimeSlot<HostLane> lanes;
}  // namespace

HostLane& HostLane::of_runtime() { return lanes.get(); }

double seconds_waited_for_lane() { return HostLane::of_runtime().seconds_waited(); }

HostLane::~HostLane() {
  {
    const std::lock_guard lock(mutex_);
    closing_ = true;
  }
  work_came_.notify_all();
  if (thread_.joinable()) thread_.join();
}

uint64_t HostLane::post(std::function<void()> work) {
  uint64_t number = 0;
  {
    const std::lock_guard lock(mutex_);
    // The work carries the runtime: a thread that held the runtime would keep it, and so this lane, alive forever.
    waiting_.emplace_back(in_this_runtime(std::move(work)));
    number = ++posted_;
    if (!thread_.joinable()) thread_ = std::thread([this] { serve(); });
  }
  work_came_.notify_one();
  return number;
}

void HostLane::wait(uint64_t number) {
  std::unique_lock lock(mutex_);
  if (done_ >= number) return;
  const auto begin = std::chrono::steady_clock::now();
  work_done_.wait(lock, [&] { return done_ >= number; });
  waited_ += std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now() - begin).count();
}

void HostLane::serve() {
  std::unique_lock lock(mutex_);
  for (;;) {
    work_came_.wait(lock, [&] { return !waiting_.empty() || closing_; });
    if (waiting_.empty()) return;
    std::function<void()> work = std::move(waiting_.front());
    waiting_.pop_front();
    lock.unlock();
    work();
    work = nullptr;  // before `done_` is announced: the waiter may then drop the last other handle of the runtime
    lock.lock();
    ++done_;
    work_done_.notify_all();
  }
}

}  // namespace sindri
