// first + (learning_rate - first)·min(step, warmup_steps)/warmup_steps (MindSpore: WarmUpLR, from 0).
#include "sindri/optim/formula.h"
#include "sindri/optim/registry.h"

namespace sindri::optim {

namespace {

struct WarmUp {
  double learning_rate, first, warmup_steps;
  template <class T> T operator()(const T& step) const {
    const T risen = formula::at_most(step, warmup_steps) / warmup_steps * (learning_rate - first);
    return first == 0 ? risen : risen + first;
  }
};

const auto& kWarmUp = schedules().add({
    .name = "warm_up",
    .doc = "a straight rise to lr.max, which then holds",
    .settings = {{.name = "warmup_steps", .type = SettingType::kInt, .fallback = "1", .doc = "length of the rise", .min = 1, .max = 1e15, .unit = "updates"},
                 {.name = "first", .type = SettingType::kFloat, .fallback = "0", .doc = "learning rate at the start of the rise", .min = 0}},
    .make =
        [](const Course& c, const SettingValues& v) {
          return schedule_of(WarmUp{c.learning_rate, v.get_float("first"), static_cast<double>(v.get_int("warmup_steps"))});
        },
});

}  // namespace

}  // namespace sindri::optim
