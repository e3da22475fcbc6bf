// learning_rate·gamma^k, k being the number of milestones passed. Milestones are epochs of the run, including its warm-up.
#include <algorithm>
#include <functional>

#include "sindri/core/error.h"
#include "sindri/optim/formula.h"
#include "sindri/optim/registry.h"

namespace sindri::optim {

namespace {

struct Step {
  double learning_rate, gamma;
  std::vector<double> at;  ///< in steps
  template <class T> T operator()(const T& step) const {
    T passed = step * 0.0;
    for (double limit : at) passed = passed + formula::reached(step, limit);
    return formula::pow(gamma, passed) * learning_rate;
  }
};

const auto& kStep = schedules().add({
    .name = "step",
    .doc = "lr.max, multiplied by gamma at each milestone",
    .settings = {{.name = "milestones",
                  .type = SettingType::kIntList,
                  .fallback = "[]",
                  .doc = "epochs after which the rate is multiplied by lr.gamma, in ascending order",
                  .min = 1,
                  .max = 1e6,
                  .unit = "epochs"},
                 {.name = "gamma", .type = SettingType::kFloat, .fallback = "0.1", .doc = "factor at a milestone", .min = 1e-6, .max = 1}},
    .check =
        [](const SettingValues& v) {
          const std::vector<double>& at = v.get_list("milestones");
          if (at.empty()) throw ValueError("step: milestones needs at least one epoch", "milestones", "for example [30, 60, 80]");
          if (std::adjacent_find(at.begin(), at.end(), std::greater_equal<>()) != at.end())
            throw ValueError("step: milestones must be in ascending order", "milestones", "sort them");
        },
    .make =
        [](const Course& c, const SettingValues& v) {
          Step s{.learning_rate = c.learning_rate, .gamma = v.get_float("gamma"), .at = v.get_list("milestones")};
          for (double& epoch : s.at) epoch = epoch * c.steps_per_epoch - static_cast<double>(c.warmup_steps);
          return schedule_of(std::move(s));
        },
});

}  // namespace

}  // namespace sindri::optim
