// end + (learning_rate - end)·(1 + cos(pi·t/N))/2, t = step modulo N: warm restarts (Loshchilov and Hutter 2017).
#include <numbers>

#include "sindri/optim/formula.h"
#include "sindri/optim/registry.h"

namespace sindri::optim {

namespace {

struct CosineRestarts {
  double learning_rate, end, decay_steps;
  template <class T> T operator()(const T& step) const {
    const T p = step / decay_steps, angle = (p - formula::floor(p)) * std::numbers::pi;
    return (formula::cos(angle) + 1.0) * (0.5 * (learning_rate - end)) + end;
  }
};

const auto& kCosineRestarts = schedules().add({
    .name = "cosine_restarts",
    .doc = "cosine that restarts from lr.max every decay_steps",
    .settings = {end_setting(), decay_steps_setting()},
    .make =
        [](const Course& c, const SettingValues& v) {
          return schedule_of(CosineRestarts{c.learning_rate, v.get_float("end"), decay_steps(c, v)});
        },
});

}  // namespace

}  // namespace sindri::optim
