// Each rank's own time. A step takes equally long on all ranks, since they wait for each other in its collectives. So the time compared is the one during which
// the training thread does not wait: neither in its own calls nor for the lane, which runs calls concurrently with the backward pass.
#include <fmt/format.h>

#include <algorithm>
#include <thread>
#include <utility>

#include "sindri/core/log.h"
#include "sindri/graph/lane_wait.h"
#include "src/app/session.h"
#include "src/comm/session.h"

namespace sindri::app {

namespace {

class RankTimes final : public train::Callback {
 public:
  explicit RankTimes(Session* s)
      : s_(s), comm_(*s->group.world()), every_(s->settings.get_int("dist.log_steps")), slow_(static_cast<size_t>(comm_.size())), warned_at_(slow_.size()) {}

  void step_begin(train::TrainState& state) override {
    comm_.session()->step = state.cur_step_num;
    comm_.session()->phase = "step";
    comm_.session()->trainer = std::this_thread::get_id();
    at_begin_ = waited_for_ranks();
  }
  void steps_known(train::TrainState&, const train::KnownSteps& known) override {
    const auto steps = static_cast<double>(known.losses.size());
    if (std::exchange(first_, false)) return;  // the first step compiles
    steps_ += steps;
    seconds_ += known.seconds * steps;
    waited_ += known.data_wait_seconds * steps;
  }
  void step_end(train::TrainState& state) override {
    comm_.session()->phase = "data";
    if (steps_ > 0) for_ranks_ += waited_for_ranks() - at_begin_;
    if (every_ == 0 || state.cur_step_num / every_ == reported_) return;
    const bool due = reported_ >= 0;
    reported_ = state.cur_step_num / every_;
    if (due) report(state.cur_step_num);
  }
  void epoch_end(train::TrainState&) override { comm_.session()->phase = "end of an epoch"; }

 private:
  double waited_for_ranks() const { return static_cast<double>(comm_.session()->nanoseconds_trainer_in_calls.load()) * 1e-9 + seconds_waited_for_lane(); }

  // Collective: all ranks count the same steps.
  void report(int64_t step) {
    const double n = std::max(1.0, steps_), mine[] = {std::max(0.0, seconds_ - for_ranks_) / n, waited_ / n};
    std::vector<double> all(2 * static_cast<size_t>(comm_.size()));
    comm_.all_gather(mine, all.data(), 2, DType::kFloat64, {"times of ranks"});
    steps_ = seconds_ = waited_ = for_ranks_ = 0;
    std::vector<double> own;
    for (size_t r = 0; 2 * r < all.size(); ++r) own.push_back(all[2 * r]);
    const auto slowest = static_cast<size_t>(std::max_element(own.begin(), own.end()) - own.begin());
    std::vector<double> sorted = own;
    std::sort(sorted.begin(), sorted.end());
    // With two ranks the mean: otherwise the slower one would be compared with itself.
    const double median = (sorted[(sorted.size() - 1) / 2] + sorted[sorted.size() / 2]) / 2, share = all[2 * slowest + 1] / std::max(1e-9, own[slowest]);
    const char* part = share > 0.5 ? "waiting for data" : "computing";
    if (s_->group.first() && s_->folder->started())
      s_->folder->log(fmt::format("up to step {}: own time per step {:.1f} to {:.1f} ms, median {:.1f} ms; longest on rank {}, mostly {}", step,
                                  sorted.front() * 1e3, sorted.back() * 1e3, median * 1e3, slowest, part));
    for (size_t r = 0; r < own.size(); ++r) {
      if (own[r] <= 1.25 * median) warned_at_[r] = 0;
      // A rank is reported again only if it takes twice as long as at its last warning. Small changes are not reported and must not hide a rank that becomes
      // very slow.
      slow_[r] = own[r] > std::max(1.25 * median, 2 * warned_at_[r]) ? slow_[r] + 1 : 0;
      if (slow_[r] < 3) continue;
      slow_[r] = 0;
      warned_at_[r] = own[r];
      if (s_->group.first())
        log::warn("comm",
                  fmt::format("rank {} is slower than the others: its own time per step is {:.1f} ms, the median {:.1f} ms; mostly {}", r, own[r] * 1e3,
                              median * 1e3, all[2 * r + 1] > 0.5 * own[r] ? "waiting for data" : "computing"));
    }
  }
  Session* s_;
  comm::Communicator& comm_;
  int64_t every_, reported_ = -1;
  bool first_ = true;
  double steps_ = 0, seconds_ = 0, waited_ = 0, at_begin_ = 0, for_ranks_ = 0;
  std::vector<int> slow_;  // consecutive reports that exceed the threshold
  std::vector<double> warned_at_;  // seconds of its last warning; 0 while it is not slow
};

}  // namespace

train::CallbackPtr make_rank_times(Session* s) { return std::make_shared<RankTimes>(s); }

}  // namespace sindri::app
