// end + (learning_rate - end)·(1 + cos(pi·min(step, N)/N))/2 with N = decay_steps (MindSpore: CosineDecayLR).
#include <numbers>

#include "sindri/optim/formula.h"
#include "sindri/optim/registry.h"

namespace sindri::optim {

namespace {

struct Cosine {
  double learning_rate, end, decay_steps;
  template <class T> T operator()(const T& step) const {
    const T angle = formula::at_most(step, decay_steps) / decay_steps * std::numbers::pi;
    return (formula::cos(angle) + 1.0) * (0.5 * (learning_rate - end)) + end;
  }
};

const auto& kCosine = schedules().add({
    .name = "cosine",
    .doc = "half a cosine from lr.max down to end",
    .settings = {end_setting(), decay_steps_setting()},
    .make =
        [](const Course& c, const SettingValues& v) {
          return schedule_of(Cosine{c.learning_rate, v.get_float("end"), decay_steps(c, v)});
        },
});

}  // namespace

}  // namespace sindri::optim
