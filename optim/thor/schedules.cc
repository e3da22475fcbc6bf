// The learning rate of THOR's published ResNet runs (MindSpore's lr_generator, get_thor_lr).
#include <algorithm>

#include "sindri/core/error.h"
#include "sindri/optim/formula.h"
#include "sindri/optim/registry.h"

namespace sindri::optim {

namespace {

/// lr·(1 - e/end)^power, e = (step + 1)/steps_per_epoch, halved at each of the epochs in `halve`.
struct EpochPoly {
  double learning_rate, end, power, steps_per_epoch, warmup_steps;
  std::vector<double> halve;
  template <class T> T operator()(const T& step) const {
    const T epoch = (step + (1.0 + warmup_steps)) / steps_per_epoch;
    T halvings = step * 0.0;
    for (const double at : halve) halvings = halvings + formula::reached(epoch, at);
    return formula::pow(0.5, halvings) * formula::pow(1.0 - formula::at_most(epoch, end) / end, power) * learning_rate;
  }
};

const auto& kEpochPoly = schedules().add({
    .name = "epoch_poly",
    .doc = "lr.max * (1 - epoch/end_epoch)^power, counting the current step, halved at some epochs (used by THOR's ResNet runs)",
    .settings =
        {{.name = "end_epoch", .type = SettingType::kFloat, .fallback = "50", .doc = "epoch at which the rate would reach 0", .min = 1e-6, .unit = "epochs"},
         {.name = "power", .type = SettingType::kFloat, .fallback = "2", .doc = "exponent", .min = 1e-300},
         {.name = "halve_at",
          .type = SettingType::kFloatList,
          .fallback = "[]",
          .doc = "epochs at which the rate is halved again",
          .min = 0,
          .unit = "epochs"}},
    .make =
        [](const Course& c, const SettingValues& v) {
          return schedule_of(EpochPoly{.learning_rate = c.learning_rate,
                                       .end = v.get_float("end_epoch"),
                                       .power = v.get_float("power"),
                                       .steps_per_epoch = c.steps_per_epoch,
                                       .warmup_steps = static_cast<double>(c.warmup_steps),
                                       .halve = v.get_list("halve_at")});
        },
});

}  // namespace

}  // namespace sindri::optim
