// Steps that the device has received and whose losses the host has not read yet.
//
// Every step's loss and finite flag are sent to the host as soon as they are computed. The host waits for them only on request (settle), or when it is too
// far ahead. They are checked in the order of the steps. So the error names a non-finite step exactly, and neither the callbacks nor the counts depend on
// how far ahead the host was. On the CPU everything is known immediately.
#pragma once

#include <deque>
#include <functional>
#include <vector>

#include "sindri/device/device.h"
#include "sindri/train/model.h"

namespace sindri::train {

class StepLog {
 public:
  using Deliver = std::function<void(const KnownSteps&)>;
  /// `deliver` is called for each unit (the steps from one step_begin to the next) once all of its losses are known.
  StepLog(TrainState& state, const ModelOptions& options, int64_t steps_per_update, Deliver deliver)
      : state_(state), options_(options), group_{.steps = steps_per_update}, deliver_(std::move(deliver)) {}

  /// Starts a unit and its clock.
  void begin_unit();
  /// Adds the step state.cur_step_num, which was just given to the device with a batch of `batch_bytes` bytes. Throws NonFiniteError for results known by now.
  void add(const StepResult& result, int64_t batch_bytes);
  void end_unit(double data_wait_seconds);
  /// Checks the results that have arrived; does not wait.
  void take_known();
  /// Waits for all results, once. After an error none are pending.
  void settle();

 private:
  struct Step {
    int64_t epoch, number, in_epoch, batch_bytes;
    bool has_finite;
    PendingValues values;  // loss, and the finite flag
  };
  struct Unit {
    int64_t steps = 0;
    bool ended = false;
    double begin = 0;
    double data_wait_seconds = 0;
    std::vector<float> losses;  // of the steps known so far
    int64_t epoch = 0, number = 0, in_epoch = 0;  // of the last of these steps
  };
  // The steps of one update.
  struct Group {
    int64_t steps = 1;
    bool bad_loss = false;  // a loss of the group so far was not finite
  };
  void look_at_oldest(const char* what);
  void deliver_known();
  void check_finite(const Step& step, double loss, bool left_out);
  void check_skipped(const Step& step, const std::string& where) const;
  void count_in_row(const Step& step, bool left_out);

  TrainState& state_;
  const ModelOptions& options_;
  Group group_;
  Deliver deliver_;
  std::deque<Step> steps_;
  std::deque<Unit> units_;
  int64_t bytes_ahead_ = 0, in_row_ = 0;  // in_row_: steps skipped since the last counted update
  double delivered_at_ = 0;
};

}  // namespace sindri::train
