// The optimizers and learning-rate schedules by name, for settings files, programs and Python.
#pragma once
#include <memory>

#include "sindri/core/registry.h"
#include "sindri/optim/optimizer.h"

namespace sindri::optim {

/// What every optimizer is made from: what it trains; rate, weight decay and clipping; and the settings it declares. A loss scale is a
/// setting ("loss_scale") of those that divide by one.
using MakeOptimizer = std::shared_ptr<Optimizer>(Params params, const OptimizerOptions& options, const SettingValues& settings);

/// "momentum", "sgd", "adam", …: each file of optim/ adds its own.
SINDRI_API Registry<MakeOptimizer>& optimizers();

/// What a schedule is told besides its own settings. Steps are updates, of the schedule: its step 0 is the first after the warm-up.
struct Course {
  double learning_rate = 0.1;  ///< at step 0
  int64_t steps = 0;  ///< how many there are; 0: not known
  int64_t warmup_steps = 0;  ///< how many came before
  double steps_per_epoch = 1;
};
using MakeSchedule = std::shared_ptr<LearningRateSchedule>(const Course& course, const SettingValues& settings);

/// "constant", "cosine", "exponential", …: each file of optim/schedules/ adds its own.
SINDRI_API Registry<MakeSchedule>& schedules();

/// "decay_steps", and its value: 0 stands for all of the course's. Throws ValueError where these are not known.
SINDRI_API SettingSpec decay_steps_setting();
SINDRI_API double decay_steps(const Course& course, const SettingValues& settings);
/// Of the decays by a rate: "decay_rate", and "is_stair".
SINDRI_API SettingSpec decay_rate_setting();
SINDRI_API SettingSpec is_stair_setting();
/// "end", of decays that have one.
SINDRI_API SettingSpec end_setting();

/// The settings that several optimizers declare alike.
SINDRI_API SettingSpec loss_scale_setting();
SINDRI_API SettingSpec beta1_setting();
SINDRI_API SettingSpec beta2_setting();
/// `fallback` must live as long as the program, here and below.
SINDRI_API SettingSpec eps_setting(const char* fallback);
SINDRI_API SettingSpec momentum_setting(const char* fallback);
/// `needs`: see SettingSpec; "momentum" where the velocity is scaled by one.
SINDRI_API SettingSpec nesterov_setting(const char* needs);

}  // namespace sindri::optim
