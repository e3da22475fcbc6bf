// See step_log.h.
#include "src/train/step_log.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>

#include "sindri/core/error.h"
#include "sindri/core/log.h"
#include "src/core/clock.h"

namespace sindri::train {

namespace {

// The largest number of steps that the host runs ahead. Batches wait in the device's memory and in pinned memory, and a non-finite step is found only that many
// steps later.
constexpr size_t kStepsAhead = 64, kFewAhead = 2;
constexpr int64_t kBytesAhead = 256 << 20;

}  // namespace

void StepLog::begin_unit() { units_.emplace_back().begin = now_seconds(); }

void StepLog::add(const StepResult& result, int64_t batch_bytes) {
  const std::array<Tensor, 2> both = {result.loss, result.finite};
  steps_.push_back({state_.cur_epoch_num, state_.cur_step_num, state_.step_in_epoch(), batch_bytes, result.finite.defined(), PendingValues(both)});
  ++units_.back().steps;
  bytes_ahead_ += batch_bytes;
  take_known();
  while (steps_.size() > kStepsAhead || (bytes_ahead_ > kBytesAhead && steps_.size() > kFewAhead)) {
    look_at_oldest("the host is ahead");
    take_known();
  }
}

void StepLog::end_unit(double data_wait_seconds) {
  Unit& unit = units_.back();
  unit.ended = true;
  unit.data_wait_seconds = data_wait_seconds;
  if (unit.steps == 0) units_.pop_back();
  deliver_known();
}

void StepLog::take_known() {
  while (!steps_.empty() && steps_.front().values.done()) look_at_oldest("loss");
  deliver_known();
}

void StepLog::settle() {
  if (steps_.empty()) return;
  try {
    (void)steps_.back().values.get("losses");  // the last to complete
  } catch (...) {
    steps_.clear();
    throw;
  }
  take_known();
}

void StepLog::look_at_oldest(const char* what) {
  const Step step = std::move(steps_.front());
  steps_.pop_front();
  bytes_ahead_ -= step.batch_bytes;
  try {
    const std::vector<double> values = step.values.get(what);
    check_finite(step, values[0], step.has_finite && values[1] == 0);
    Unit& unit = *std::find_if(units_.begin(), units_.end(), [](const Unit& u) { return static_cast<int64_t>(u.losses.size()) < u.steps; });
    unit.losses.push_back(static_cast<float>(values[0]));
    unit.epoch = step.epoch, unit.number = step.number, unit.in_epoch = step.in_epoch;
  } catch (...) {
    steps_.clear();  // the steps that followed were trained on it
    deliver_known();
    throw;
  }
}

// Steps that become known together share the elapsed time equally. The elapsed time starts when the first of them started, or at the previous delivery if that
// was later. While the host runs ahead, the time that it spends on a step itself means nothing.
void StepLog::deliver_known() {
  const auto known = std::find_if(units_.begin(), units_.end(), [](const Unit& u) { return !u.ended || static_cast<int64_t>(u.losses.size()) < u.steps; });
  if (known == units_.begin()) return;
  const std::vector<Unit> units(std::make_move_iterator(units_.begin()), std::make_move_iterator(known));
  units_.erase(units_.begin(), known);
  int64_t steps = 0;
  for (const Unit& u : units) steps += u.steps;
  const double now = now_seconds();
  state_.last_step_seconds = (now - std::max(units[0].begin, delivered_at_)) / static_cast<double>(steps);
  delivered_at_ = now;
  for (const Unit& u : units) {
    state_.data_wait_seconds = u.data_wait_seconds / static_cast<double>(u.steps);
    state_.known_step = u.number;
    state_.last_loss = u.losses.back();
    deliver_({u.epoch, u.number, u.in_epoch, u.losses, state_.last_step_seconds, state_.data_wait_seconds});
  }
}

// Stops before a state trained on non-finite values is saved. `left_out`: the step itself found a non-finite value and changed nothing. With accumulation, this
// is known at the end of a group, for all of its steps.
void StepLog::check_finite(const Step& step, double loss, bool left_out) {
  TrainState& s = state_;
  const bool scaled = s.loss_scale_manager != nullptr && s.loss_scale_manager->get_drop_overflow_update();
  group_.bad_loss = group_.bad_loss || !std::isfinite(loss);
  const bool mends = scaled && !group_.bad_loss;  // a loss scale manager tries too large a scale as part of its normal operation
  if (left_out) {
    (scaled ? s.overflow_steps : s.skipped_steps) += group_.steps;
    group_.bad_loss = false;
  }
  if (!mends || !left_out) count_in_row(step, left_out);
  if (std::isfinite(loss) && (!left_out || mends)) return;
  const int64_t first = (step.in_epoch - 1) * s.batch_size;
  const std::string where = fmt::format("epoch {}, step {} (samples {} to {} of the epoch)", step.epoch, step.in_epoch, first, first + s.batch_size - 1);
  if (left_out || group_.steps == 1) {
    s.nonfinite_steps += group_.steps;
    s.nonfinite_in_epoch += std::min(group_.steps, step.in_epoch);  // a group may start in the previous epoch
  }
  const std::string what = group_.steps == 1 ? "the step is" : fmt::format("the {} steps of its update are", group_.steps);
  if (std::isfinite(loss)) {
    log::warn("train",
              fmt::format("{} not finite {} {}: {} skipped", group_.steps == 1 ? "a gradient is" : "a loss or gradient was",
                          group_.steps == 1 ? "at" : "in the update that ends at", where, what));
    return check_skipped(step, where);
  }
  const char* value = std::isnan(loss) ? "NaN" : loss > 0 ? "infinite" : "-infinite";  // a NaN's sign means nothing
  if (options_.nan_policy == NanPolicy::kSkip) {
    log::warn("train", fmt::format("the loss is {} at {}: {} skipped", value, where, what));
    return check_skipped(step, where);
  }
  throw NonFiniteError(
      fmt::format("the loss is {}", value), where,
      "lower the learning rate or clip gradients; SINDRI_CHECK_FINITE=1 names the first op that produced it; checkpoints saved before are good");
}

// Whether the steps of a group count is known at its end.
void StepLog::count_in_row(const Step& step, bool left_out) {
  if (left_out) in_row_ += group_.steps;
  else if (step.number % group_.steps == 0) in_row_ = 0;
}

// A run that skips most of its steps has failed, even if the remaining steps are finite.
void StepLog::check_skipped(const Step& step, const std::string& where) const {
  if (options_.max_skips > 0 && in_row_ > options_.max_skips)
    throw NonFiniteError(fmt::format("{} consecutive steps were skipped because their loss or a gradient was not finite", in_row_), where,
                         "lower the learning rate or clip gradients; dist.max_skips sets how many are allowed; checkpoints saved before are good");
  constexpr int64_t kLeast = 10;  // a few at the start of a run are normal
  const auto check = [&](int64_t skipped, int64_t steps, const char* of) {
    if (skipped < kLeast || static_cast<double>(skipped) <= options_.max_skipped * static_cast<double>(steps)) return;
    throw NonFiniteError(fmt::format("{} of the {} steps of {} were skipped because their loss or a gradient was not finite", skipped, steps, of), where,
                         "lower the learning rate or clip gradients; train.max_skipped sets the allowed share; checkpoints saved before are good");
  };
  check(state_.nonfinite_in_epoch, step.in_epoch, "this epoch");
  check(state_.nonfinite_steps, step.number, "this training");
}

}  // namespace sindri::train
