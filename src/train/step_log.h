// Steps that were given to the device and whose losses the host has not seen yet.
//
// Every step's loss and finite flag are sent to the host as soon as they are computed; nobody waits for them until somebody asks (settle), or until
// the host is too far ahead. They are looked at in the order of the steps, so that a step that is not finite is named exactly, and what callbacks
// hear of and what is counted does not depend on how far ahead the host was. On the CPU all is known at once.
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
  /// `deliver` hears of each unit (what lies between two step_begin) once all of its losses are known.
  StepLog(TrainState& state, const ModelOptions& options, int64_t steps_per_update, Deliver deliver)
      : state_(state), options_(options), group_{.steps = steps_per_update}, deliver_(std::move(deliver)) {}

  /// A unit begins: time counts from here.
  void begin_unit();
  /// The step state.cur_step_num, which was just given to the device with a batch of so many bytes. Throws NonFiniteError for what is known by now.
  void add(const StepResult& result, int64_t batch_bytes);
  void end_unit(double data_wait_seconds);
  /// Looks at what has come in; does not wait.
  void take_known();
  /// Waits for all of it, once. After an error nothing is left to be waited for.
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
    std::vector<float> losses;  // of those of its steps that are known
    int64_t epoch = 0, number = 0, in_epoch = 0;  // of the last of these
  };
  // The steps of one update.
  struct Group {
    int64_t steps = 1;
    bool bad_loss = false;  // of one of those so far
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
  int64_t bytes_ahead_ = 0, in_row_ = 0;  // steps left out since the last update that counted
  double delivered_at_ = 0;
};

}  // namespace sindri::train
