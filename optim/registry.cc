// See include/sindri/optim/registry.h.
#include "sindri/optim/registry.h"

namespace sindri::optim {

Registry<MakeOptimizer>& optimizers() {
  static Registry<MakeOptimizer> all("optimizer");
  return all;
}

SettingSpec loss_scale_setting() {
  return {.name = "loss_scale",
          .type = SettingType::kFloat,
          .fallback = "1",
          .doc = "the loss is multiplied and gradients are divided by it, without a look for overflow; not beside loss_scale.type",
          .min = 1e-6,
          .max = 1e9};
}

// Strictly between 0 and 1, as doubles.
SettingSpec beta1_setting() {
  return {.name = "beta1", .type = SettingType::kFloat, .fallback = "0.9", .doc = "how much of the first moment stays", .min = 1e-30, .max = 0.999999999};
}
SettingSpec beta2_setting() {
  return {.name = "beta2", .type = SettingType::kFloat, .fallback = "0.999", .doc = "how much of the second moment stays", .min = 1e-30, .max = 0.999999999};
}
SettingSpec eps_setting(const char* fallback) {
  return {.name = "eps", .type = SettingType::kFloat, .fallback = fallback, .doc = "keeps the divisor from 0", .min = 1e-30, .max = 1e6};
}

}  // namespace sindri::optim
