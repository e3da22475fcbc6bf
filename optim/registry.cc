// See include/sindri/optim/registry.h.
#include "sindri/optim/registry.h"

#include "sindri/core/error.h"

namespace sindri::optim {

Registry<MakeOptimizer>& optimizers() {
  static Registry<MakeOptimizer>& all = *new Registry<MakeOptimizer>("optimizer");  // filled before main, by any library
  return all;
}

Registry<MakeSchedule>& schedules() {
  static Registry<MakeSchedule>& all = *new Registry<MakeSchedule>("schedule");  // filled before main, by any library
  return all;
}

SettingSpec decay_steps_setting() {
  return {.name = "decay_steps",
          .type = SettingType::kInt,
          .fallback = "0",
          .doc = "length of the decay; 0: all updates after the warm-up",
          .min = 0,
          .max = 1e15,
          .unit = "updates"};
}

double decay_steps(const Course& course, const SettingValues& settings) {
  const int64_t given = settings.get_int("decay_steps");
  if (given == 0 && course.steps == 0) throw ValueError("decay_steps 0 means the whole run, whose length is not known", "", "give decay_steps");
  return static_cast<double>(given == 0 ? course.steps : given);
}

SettingSpec decay_rate_setting() { return {.name = "decay_rate", .type = SettingType::kFloat, .fallback = "0.1", .doc = "decay rate", .min = 1e-300}; }
SettingSpec is_stair_setting() {
  return {.name = "is_stair", .type = SettingType::kBool, .fallback = "false", .doc = "lower the rate once per decay_steps instead of with every step"};
}
SettingSpec end_setting() { return {.name = "end", .type = SettingType::kFloat, .fallback = "0", .doc = "learning rate at the end of the decay", .min = 0}; }

SettingSpec loss_scale_setting() {
  return {.name = "loss_scale",
          .type = SettingType::kFloat,
          .fallback = "1",
          .doc = "multiplies the loss and divides the gradients, without a check for overflow; cannot be combined with loss_scale.type",
          .min = 1e-6,
          .max = 1e9};
}

// Strictly between 0 and 1, as doubles.
SettingSpec beta1_setting() {
  return {.name = "beta1", .type = SettingType::kFloat, .fallback = "0.9", .doc = "decay rate of the first moment", .min = 1e-30, .max = 0.999999999};
}
SettingSpec beta2_setting() {
  return {.name = "beta2", .type = SettingType::kFloat, .fallback = "0.999", .doc = "decay rate of the second moment", .min = 1e-30, .max = 0.999999999};
}
SettingSpec eps_setting(const char* fallback) {
  return {.name = "eps", .type = SettingType::kFloat, .fallback = fallback, .doc = "keeps the divisor away from 0", .min = 1e-30, .max = 1e6};
}

SettingSpec momentum_setting(const char* fallback) {
  return {.name = "momentum", .type = SettingType::kFloat, .fallback = fallback, .doc = "momentum factor of the velocity", .min = 0, .max = 1};
}
SettingSpec nesterov_setting(const char* needs) {
  return {
      .name = "nesterov", .type = SettingType::kBool, .fallback = "false", .doc = "Nesterov momentum: the step looks ahead along the velocity", .needs = needs};
}

}  // namespace sindri::optim
