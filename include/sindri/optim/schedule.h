// Learning rates: a number, a table indexed by global step, or a schedule computed from it; and MindSpore's functions
// that return lists of rates.
#pragma once
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "sindri/core/setting.h"
#include "sindri/core/tensor.h"
#include "sindri/export.h"

namespace sindri::optim {

/// A learning rate as a function of the global step, written with ops (MindSpore: nn.LearningRateSchedule).
class SINDRI_API LearningRateSchedule {
 public:
  LearningRateSchedule() = default;
  LearningRateSchedule(const LearningRateSchedule&) = delete;
  LearningRateSchedule& operator=(const LearningRateSchedule&) = delete;
  virtual ~LearningRateSchedule() = default;
  /// Learning rate at global_step: int32 scalar -> float32 scalar.
  virtual Tensor construct(const Tensor& global_step) const = 0;
  /// The same on the host, for tables of rates. The default evaluates construct.
  virtual double rate(int64_t step) const;
  /// Whether every step has the same rate, so that a table is not needed.
  virtual bool fixed() const { return false; }
};

/// Learning rate of an optimizer: a number, a table or a schedule.
class SINDRI_API LearningRate {
 public:
  LearningRate(double constant = 0.1) : constant_(constant) {}  // NOLINT(google-explicit-constructor)
  /// One rate per step. Throws ValueError for an empty table.
  LearningRate(std::vector<float> per_step);  // NOLINT(google-explicit-constructor)
  template <class T> LearningRate(std::shared_ptr<T> schedule) : schedule_(std::move(schedule)) {}  // NOLINT
  /// Whether the rate depends on the step.
  bool dynamic() const { return !per_step_.empty() || schedule_ != nullptr; }
  /// The number, unless a table or schedule is set.
  double constant() const { return constant_; }
  /// The table; empty if there is none.
  const std::vector<float>& per_step() const { return per_step_; }
  /// The schedule; null if there is none.
  const std::shared_ptr<LearningRateSchedule>& schedule() const { return schedule_; }

 private:
  double constant_ = 0.1;
  std::vector<float> per_step_;  ///< beyond its end the last value holds
  std::shared_ptr<LearningRateSchedule> schedule_;
};

/// Weight decay of an optimizer: a number, or a function of the global step as a rate is.
class SINDRI_API WeightDecay {
 public:
  WeightDecay(double constant = 0) : constant_(constant) {}  // NOLINT(google-explicit-constructor)
  template <class T> WeightDecay(std::shared_ptr<T> schedule) : schedule_(std::move(schedule)) {}  // NOLINT
  /// Whether the decay depends on the step.
  bool dynamic() const { return schedule_ != nullptr; }
  /// The number, unless a schedule is set.
  double constant() const { return constant_; }
  /// The schedule; null if there is none.
  const std::shared_ptr<LearningRateSchedule>& schedule() const { return schedule_; }

 private:
  double constant_ = 0;
  std::shared_ptr<LearningRateSchedule> schedule_;
};

/// Rates of total_step training steps, one each. All steps of an epoch (step_per_epoch steps) have the same rate: one
/// epoch is one step of the schedule. Throws ValueError, naming `who`, for step counts below 1 and for a rate that is
/// too large for a float.
SINDRI_API std::vector<double> rates_of(const LearningRateSchedule& schedule, int64_t total_step, int64_t step_per_epoch = 1, const char* who = "rates_of");

// Schedules under MindSpore's names. Each makes a registered schedule (registry.h), documented in optim/schedules/. p =
// step/decay_steps, rounded down with is_stair. Values out of range throw ValueError.

/// A registered schedule, made by name and settings.
class SINDRI_API NamedSchedule : public LearningRateSchedule {
 public:
  Tensor construct(const Tensor& global_step) const final { return schedule_->construct(global_step); }
  double rate(int64_t step) const final { return schedule_->rate(step); }

 protected:
  /// `rule` is the schedule's registered name.
  NamedSchedule(const char* rule, double learning_rate, const std::map<std::string, SettingValue>& settings);

 private:
  std::shared_ptr<LearningRateSchedule> schedule_;
};

/// Polynomial decay (MindSpore: nn.PolynomialDecayLR): (lr - end)·(1 - min(step, N)/N)^power + end with N =
/// decay_steps. With update_decay_steps, N grows by whole multiples instead of the rate staying at end.
class SINDRI_API PolynomialDecayLR final : public NamedSchedule {
 public:
  PolynomialDecayLR(double learning_rate, double end_learning_rate, int64_t decay_steps, double power, bool update_decay_steps = false);
};

/// Linear warm-up (MindSpore: nn.WarmUpLR): lr·min(step, warmup_steps)/warmup_steps.
class SINDRI_API WarmUpLR final : public NamedSchedule {
 public:
  WarmUpLR(double learning_rate, int64_t warmup_steps);
};

/// Exponential decay (MindSpore: nn.ExponentialDecayLR): lr·rate^p.
class SINDRI_API ExponentialDecayLR final : public NamedSchedule {
 public:
  ExponentialDecayLR(double learning_rate, double decay_rate, int64_t decay_steps, bool is_stair = false);
};

/// Exponential decay with base e (MindSpore: nn.NaturalExpDecayLR): lr·exp(-rate·step); with is_stair the step is
/// rounded down to a multiple of decay_steps.
class SINDRI_API NaturalExpDecayLR final : public NamedSchedule {
 public:
  NaturalExpDecayLR(double learning_rate, double decay_rate, int64_t decay_steps, bool is_stair = false);
};

/// Inverse-time decay (MindSpore: nn.InverseDecayLR): lr/(1 + rate·p).
class SINDRI_API InverseDecayLR final : public NamedSchedule {
 public:
  InverseDecayLR(double learning_rate, double decay_rate, int64_t decay_steps, bool is_stair = false);
};

/// Cosine decay (MindSpore: nn.CosineDecayLR): min + (max - min)·(1 + cos(pi·min(step, N)/N))/2 with N = decay_steps.
class SINDRI_API CosineDecayLR final : public NamedSchedule {
 public:
  CosineDecayLR(double min_lr, double max_lr, int64_t decay_steps);
};

// Lists of rates, one per step (MindSpore: nn.exponential_decay_lr and so on): the schedule of the same name at e =
// floor(step/step_per_epoch), with decay_epoch as its decay_steps. Values out of range throw ValueError.

/// Rate learning_rates[i] for the steps from milestone[i-1] (0 for the first) up to, but not including, milestone[i].
/// Throws ValueError unless milestones rise and there is one per rate.
SINDRI_API std::vector<double> piecewise_constant_rates(const std::vector<int64_t>& milestone, const std::vector<double>& learning_rates);
SINDRI_API std::vector<float> piecewise_constant_lr(const std::vector<int64_t>& milestone, const std::vector<double>& learning_rates);
/// lr·decay_rate^(e/decay_epoch), as ExponentialDecayLR.
SINDRI_API std::vector<float> exponential_decay_lr(double learning_rate, double decay_rate, int64_t total_step, int64_t step_per_epoch, int64_t decay_epoch,
                                                   bool is_stair = false);
/// lr·exp(-decay_rate·e), as NaturalExpDecayLR.
SINDRI_API std::vector<float> natural_exp_decay_lr(double learning_rate, double decay_rate, int64_t total_step, int64_t step_per_epoch, int64_t decay_epoch,
                                                   bool is_stair = false);
/// lr/(1 + decay_rate·e/decay_epoch), as InverseDecayLR.
SINDRI_API std::vector<float> inverse_decay_lr(double learning_rate, double decay_rate, int64_t total_step, int64_t step_per_epoch, int64_t decay_epoch,
                                               bool is_stair = false);
/// A cosine from max_lr to min_lr, as CosineDecayLR.
SINDRI_API std::vector<float> cosine_decay_lr(double min_lr, double max_lr, int64_t total_step, int64_t step_per_epoch, int64_t decay_epoch);
/// A polynomial from learning_rate to end_learning_rate, as PolynomialDecayLR.
SINDRI_API std::vector<float> polynomial_decay_lr(double learning_rate, double end_learning_rate, int64_t total_step, int64_t step_per_epoch,
                                                  int64_t decay_epoch, double power, bool update_decay_epoch = false);
/// A linear warm-up to learning_rate, as WarmUpLR.
SINDRI_API std::vector<float> warmup_lr(double learning_rate, int64_t total_step, int64_t step_per_epoch, int64_t warmup_epoch);

/// Options of get_lr, named as in lr_generator of MindSpore's ResNet scripts.
struct LrOptions {
  double lr_init = 0, lr_end = 0, lr_max = 0.1;  ///< initial rate, final rate of the linear mode, rate after the warm-up
  int64_t warmup_epochs = 0, total_epochs = 0, steps_per_epoch = 0;
  std::string lr_decay_mode = "linear";  ///< steps, poly, cosine or linear
};
/// Linear warm-up from lr_init to lr_max, then over the remaining steps one of these modes.
/// - steps: lr_max, times 0.1 from 30 %, 0.01 from 60 % and 0.001 from 80 % of all steps
/// - poly: lr_max·(remaining fraction)²
/// - cosine: lr_max·(T - i)/D·(1 + cos(0.94·pi·i/D))/2 + 1e-5·lr_max at step i, with T all and D decay steps
/// - linear: down to lr_end
///
/// In the cosine mode the warm-up reaches lr_max on its last step, in the other modes one step later. Throws ValueError
/// for an unknown mode and for values out of range.
SINDRI_API std::vector<float> get_lr(const LrOptions& o);
/// Rates of the cosine mode, with a warm-up from 0, from step `global_step` on. Throws ValueError for a step outside
/// the run.
SINDRI_API std::vector<float> warmup_cosine_annealing_lr(double lr, int64_t steps_per_epoch, int64_t warmup_epochs, int64_t max_epoch = 120,
                                                         int64_t global_step = 0);

}  // namespace sindri::optim
