// (learning_rate - end)·(1 - min(step, N)/N)^power + end with N = decay_steps (MindSpore: PolynomialDecayLR). Also `linear`: a straight line.
#include "sindri/optim/formula.h"
#include "sindri/optim/registry.h"

namespace sindri::optim {

namespace {

struct Poly {
  double learning_rate, end, decay_steps, power = 1;
  bool update_decay_steps = false;  ///< N grows to the next multiple of decay_steps, so that the rate rises again instead of staying at the end
  template <class T> T operator()(const T& step) const {
    const T done = update_decay_steps ? step / (formula::at_least(formula::ceil(step / decay_steps), 1.0) * decay_steps)
                                      : formula::at_most(step, decay_steps) / decay_steps;
    return formula::pow(1.0 - done, power) * (learning_rate - end) + end;
  }
};

const auto& kPoly = schedules().add({
    .name = "poly",
    .doc = "(lr.max - end) * (1 - update/decay_steps)^power + end",
    .settings = {end_setting(),
                 decay_steps_setting(),
                 {.name = "power", .type = SettingType::kFloat, .fallback = "2", .doc = "exponent", .min = 1e-300},
                 {.name = "update_decay_steps",
                  .type = SettingType::kBool,
                  .fallback = "false",
                  .doc = "after decay_steps, restart the decay over a multiple of them; otherwise the rate stays at end"}},
    .make =
        [](const Course& c, const SettingValues& v) {
          return schedule_of(Poly{c.learning_rate, v.get_float("end"), decay_steps(c, v), v.get_float("power"), v.get_bool("update_decay_steps")});
        },
});

const auto& kLinear = schedules().add({
    .name = "linear",
    .doc = "a straight line from lr.max to end",
    .settings = {end_setting(), decay_steps_setting()},
    .make =
        [](const Course& c, const SettingValues& v) {
          return schedule_of(Poly{c.learning_rate, v.get_float("end"), decay_steps(c, v)});
        },
});

}  // namespace

}  // namespace sindri::optim
