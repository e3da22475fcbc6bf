// learning_rate/(1 + decay_rate·step/decay_steps), the quotient rounded down with is_stair (MindSpore: InverseDecayLR).
#include "sindri/optim/formula.h"
#include "sindri/optim/registry.h"

namespace sindri::optim {

namespace {

struct Inverse {
  double learning_rate, decay_rate, decay_steps;
  bool is_stair;
  template <class T> T operator()(const T& step) const {
    const T p = step / decay_steps;
    return learning_rate / ((is_stair ? formula::floor(p) : p) * decay_rate + 1.0);
  }
};

const auto& kInverse = schedules().add({
    .name = "inverse",
    .doc = "lr.max / (1 + decay_rate*update/decay_steps)",
    .settings = {decay_rate_setting(), decay_steps_setting(), is_stair_setting()},
    .make =
        [](const Course& c, const SettingValues& v) {
          return schedule_of(Inverse{c.learning_rate, v.get_float("decay_rate"), decay_steps(c, v), v.get_bool("is_stair")});
        },
});

}  // namespace

}  // namespace sindri::optim
