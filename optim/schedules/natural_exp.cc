// learning_rate·e^(-decay_rate·step); with is_stair, step is rounded down to a multiple of decay_steps (MindSpore: NaturalExpDecayLR).
// The exponent has step, not step/decay_steps: MindSpore computes it this way, although its documentation differs.
#include "sindri/optim/formula.h"
#include "sindri/optim/registry.h"

namespace sindri::optim {

namespace {

struct NaturalExp {
  double learning_rate, decay_rate, decay_steps;
  bool is_stair;
  template <class T> T operator()(const T& step) const {
    const T s = is_stair ? T(formula::floor(step / decay_steps) * decay_steps) : step;
    return formula::exp(s * -decay_rate) * learning_rate;
  }
};

const auto& kNaturalExp = schedules().add({
    .name = "natural_exp",
    .doc = "lr.max * e^(-decay_rate*update)",
    .settings = {decay_rate_setting(), decay_steps_setting(), is_stair_setting()},
    .make =
        [](const Course& c, const SettingValues& v) {
          return schedule_of(NaturalExp{c.learning_rate, v.get_float("decay_rate"), decay_steps(c, v), v.get_bool("is_stair")});
        },
});

}  // namespace

}  // namespace sindri::optim
