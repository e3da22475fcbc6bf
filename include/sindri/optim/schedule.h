// Learning rates: a number, a table indexed by global step, or a schedule computed from it; and MindSpore's list-making functions.
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
  /// global_step: int32 scalar -> float32 scalar.
  virtual Tensor construct(const Tensor& global_step) const = 0;
  /// The same on the host, for tables of rates. By default what construct gives.
  virtual double rate(int64_t step) const;
  /// Whether every step has the same rate, so that no table is needed.
  virtual bool fixed() const { return false; }
};

/// What optimizers take as learning rate.
class SINDRI_API LearningRate {
 public:
  LearningRate(double constant = 0.1) : constant_(constant) {}  // NOLINT(google-explicit-constructor)
  /// One rate per step. Throws ValueError for an empty table.
  LearningRate(std::vector<float> per_step);  // NOLINT(google-explicit-constructor)
  template <class T> LearningRate(std::shared_ptr<T> schedule) : schedule_(std::move(schedule)) {}  // NOLINT
  bool dynamic() const { return !per_step_.empty() || schedule_ != nullptr; }
  double constant() const { return constant_; }
  const std::vector<float>& per_step() const { return per_step_; }
  const std::shared_ptr<LearningRateSchedule>& schedule() const { return schedule_; }

 private:
  double constant_ = 0.1;
  std::vector<float> per_step_;  ///< beyond its end the last value holds
  std::shared_ptr<LearningRateSchedule> schedule_;
};

/// A weight decay: a number, or like a rate a function of the global step.
class SINDRI_API WeightDecay {
 public:
  WeightDecay(double constant = 0) : constant_(constant) {}  // NOLINT(google-explicit-constructor)
  template <class T> WeightDecay(std::shared_ptr<T> schedule) : schedule_(std::move(schedule)) {}  // NOLINT
  bool dynamic() const { return schedule_ != nullptr; }
  double constant() const { return constant_; }
  const std::shared_ptr<LearningRateSchedule>& schedule() const { return schedule_; }

 private:
  double constant_ = 0;
  std::shared_ptr<LearningRateSchedule> schedule_;
};

/// One rate per step for total_step steps, each epoch of step_per_epoch steps being one step of the schedule. Throws ValueError for numbers
/// below 1 and for a rate larger than a float can be, naming `who`.
SINDRI_API std::vector<double> rates_of(const LearningRateSchedule& schedule, int64_t total_step, int64_t step_per_epoch = 1, const char* who = "rates_of");

// MindSpore's names, each for a schedule that is registered (registry.h) and documented in optim/schedules/. p = step/decay_steps, with
// is_stair rounded down. Numbers out of range throw ValueError.

/// A registered schedule, made by its name and settings.
class SINDRI_API NamedSchedule : public LearningRateSchedule {
 public:
  Tensor construct(const Tensor& global_step) const final { return schedule_->construct(global_step); }
  double rate(int64_t step) const final { return schedule_->rate(step); }

 protected:
  NamedSchedule(const char* rule, double learning_rate, const std::map<std::string, SettingValue>& settings);

 private:
  std::shared_ptr<LearningRateSchedule> schedule_;
};

/// (lr - end)·(1 - min(step, N)/N)^power + end; with update_decay_steps N grows by whole multiples instead of holding the end.
class SINDRI_API PolynomialDecayLR final : public NamedSchedule {
 public:
  PolynomialDecayLR(double learning_rate, double end_learning_rate, int64_t decay_steps, double power, bool update_decay_steps = false);
};

/// lr·min(step, warmup_steps)/warmup_steps.
class SINDRI_API WarmUpLR final : public NamedSchedule {
 public:
  WarmUpLR(double learning_rate, int64_t warmup_steps);
};

/// lr·rate^p.
class SINDRI_API ExponentialDecayLR final : public NamedSchedule {
 public:
  ExponentialDecayLR(double learning_rate, double decay_rate, int64_t decay_steps, bool is_stair = false);
};

/// lr·exp(-rate·step), with is_stair the step rounded down to a multiple of decay_steps.
class SINDRI_API NaturalExpDecayLR final : public NamedSchedule {
 public:
  NaturalExpDecayLR(double learning_rate, double decay_rate, int64_t decay_steps, bool is_stair = false);
};

/// lr/(1 + rate·p).
class SINDRI_API InverseDecayLR final : public NamedSchedule {
 public:
  InverseDecayLR(double learning_rate, double decay_rate, int64_t decay_steps, bool is_stair = false);
};

/// min + (max - min)·(1 + cos(pi·min(step, N)/N))/2.
class SINDRI_API CosineDecayLR final : public NamedSchedule {
 public:
  CosineDecayLR(double min_lr, double max_lr, int64_t decay_steps);
};

// Lists of rates, one per step: the schedule of that name at e = floor(step/step_per_epoch), decay_epoch being its decay_steps. Numbers out of
// range throw ValueError.

/// learning_rates[i] before step milestone[i].
SINDRI_API std::vector<double> piecewise_constant_rates(const std::vector<int64_t>& milestone, const std::vector<double>& learning_rates);
SINDRI_API std::vector<float> piecewise_constant_lr(const std::vector<int64_t>& milestone, const std::vector<double>& learning_rates);
SINDRI_API std::vector<float> exponential_decay_lr(double learning_rate, double decay_rate, int64_t total_step, int64_t step_per_epoch, int64_t decay_epoch,
                                                   bool is_stair = false);
SINDRI_API std::vector<float> natural_exp_decay_lr(double learning_rate, double decay_rate, int64_t total_step, int64_t step_per_epoch, int64_t decay_epoch,
                                                   bool is_stair = false);
SINDRI_API std::vector<float> inverse_decay_lr(double learning_rate, double decay_rate, int64_t total_step, int64_t step_per_epoch, int64_t decay_epoch,
                                               bool is_stair = false);
SINDRI_API std::vector<float> cosine_decay_lr(double min_lr, double max_lr, int64_t total_step, int64_t step_per_epoch, int64_t decay_epoch);
SINDRI_API std::vector<float> polynomial_decay_lr(double learning_rate, double end_learning_rate, int64_t total_step, int64_t step_per_epoch,
                                                  int64_t decay_epoch, double power, bool update_decay_epoch = false);
SINDRI_API std::vector<float> warmup_lr(double learning_rate, int64_t total_step, int64_t step_per_epoch, int64_t warmup_epoch);

/// Arguments of get_lr, in the words of the ResNet scripts' lr_generator.
struct LrOptions {
  double lr_init = 0, lr_end = 0, lr_max = 0.1;
  int64_t warmup_epochs = 0, total_epochs = 0, steps_per_epoch = 0;
  std::string lr_decay_mode = "linear";  ///< steps, poly, cosine or linear
};
/// A linear warm-up from lr_init to lr_max, then, over the remaining steps:
/// steps: lr_max, times 0.1 from 30 %, 0.01 from 60 % and 0.001 from 80 % of all steps; poly: lr_max·(remaining fraction)²;
/// cosine: lr_max·(T - i)/D·(1 + cos(0.94·pi·i/D))/2 + 1e-5·lr_max with T all and D decay steps; linear: down to lr_end.
/// The cosine mode's warm-up reaches lr_max on its last step, the others' one step later.
SINDRI_API std::vector<float> get_lr(const LrOptions& o);
/// The cosine mode alone, warming up from 0, from step `global_step` on.
SINDRI_API std::vector<float> warmup_cosine_annealing_lr(double lr, int64_t steps_per_epoch, int64_t warmup_epochs, int64_t max_epoch = 120,
                                                         int64_t global_step = 0);

}  // namespace sindri::optim
