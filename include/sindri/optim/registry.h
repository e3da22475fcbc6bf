// Optimizers and learning-rate schedules by name, for settings files, programs and Python.
#pragma once
#include <memory>

#include "sindri/core/registry.h"
#include "sindri/optim/optimizer.h"

namespace sindri::optim {

/// Makes an optimizer from its parameters, the options that all have, and the settings it declares. Optimizers that
/// divide by a loss scale declare the setting "loss_scale".
using MakeOptimizer = std::shared_ptr<Optimizer>(Params params, const OptimizerOptions& options, const SettingValues& settings);

/// Registered optimizers: "momentum", "sgd", "adam", …. Each file of optim/ adds its own.
SINDRI_API Registry<MakeOptimizer>& optimizers();

/// What a schedule depends on besides its settings. Steps are the schedule's updates: step 0 is the first after the
/// warm-up.
struct Course {
  double learning_rate = 0.1;  ///< at step 0
  int64_t steps = 0;  ///< number of steps; 0: unknown
  int64_t warmup_steps = 0;  ///< updates of the warm-up before step 0
  double steps_per_epoch = 1;  ///< updates per epoch
};
/// Makes a schedule from its course and settings.
using MakeSchedule = std::shared_ptr<LearningRateSchedule>(const Course& course, const SettingValues& settings);

/// Registered schedules: "constant", "cosine", "exponential", …. Each file of optim/schedules/ adds its own.
SINDRI_API Registry<MakeSchedule>& schedules();

/// The setting "decay_steps", length of a decay in updates.
SINDRI_API SettingSpec decay_steps_setting();
/// Value of "decay_steps", where 0 means all steps of the course. Throws ValueError if their number is unknown.
SINDRI_API double decay_steps(const Course& course, const SettingValues& settings);
/// The setting "decay_rate" of decays by a rate.
SINDRI_API SettingSpec decay_rate_setting();
/// The setting "is_stair" of decays by a rate.
SINDRI_API SettingSpec is_stair_setting();
/// The setting "end" of decays that have a final rate.
SINDRI_API SettingSpec end_setting();

/// The settings that several optimizers share: "loss_scale", "beta1", "beta2", "eps", "momentum", "nesterov".
SINDRI_API SettingSpec loss_scale_setting();
SINDRI_API SettingSpec beta1_setting();
SINDRI_API SettingSpec beta2_setting();
/// `fallback` is the default value as text. It must live as long as the program, here and below.
SINDRI_API SettingSpec eps_setting(const char* fallback);
SINDRI_API SettingSpec momentum_setting(const char* fallback);
/// `needs` is SettingSpec::needs: "momentum" for optimizers in which Nesterov's rule has no effect without momentum;
/// otherwise empty.
SINDRI_API SettingSpec nesterov_setting(const char* needs);

}  // namespace sindri::optim
