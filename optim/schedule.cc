// Learning-rate schedules under MindSpore's names, and lists of rates. The formulas are in schedules/.
#include "sindri/optim/schedule.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numbers>

#include "sindri/core/error.h"
#include "sindri/core/nearest.h"
#include "sindri/optim/registry.h"

namespace sindri::optim {

namespace {

void check_positive(const char* who, const char* what, double v) {
  if (!(v > 0) || !std::isfinite(v)) throw ValueError(fmt::format("{}: {} must be positive, got {}", who, what, v));
}

void check_not_negative(const char* who, const char* what, double v) {
  if (!(v >= 0) || !std::isfinite(v)) throw ValueError(fmt::format("{}: {} must not be negative, got {}", who, what, v));
}

// Checks the arguments of schedules with a decay rate and returns their settings.
std::map<std::string, SettingValue> decay(const char* who, double learning_rate, double decay_rate, int64_t decay_steps, bool is_stair) {
  check_positive(who, "learning_rate", learning_rate);
  check_positive(who, "decay_rate", decay_rate);
  check_positive(who, "decay_steps", static_cast<double>(decay_steps));
  return {{"decay_rate", decay_rate}, {"decay_steps", decay_steps}, {"is_stair", is_stair}};
}

std::map<std::string, SettingValue> decay_to(const char* who, double learning_rate, double end, int64_t decay_steps) {
  check_positive(who, "the first rate", learning_rate);
  check_not_negative(who, "the last rate", end);
  if (end >= learning_rate) throw ValueError(fmt::format("{}: the last rate {} must be below the first, {}", who, end, learning_rate));
  check_positive(who, "decay_steps", static_cast<double>(decay_steps));
  return {{"end", end}, {"decay_steps", decay_steps}};
}

std::map<std::string, SettingValue> poly(const char* who, double learning_rate, double end, int64_t decay_steps, double power, bool update_decay_steps) {
  std::map<std::string, SettingValue> out = decay_to(who, learning_rate, end, decay_steps);
  check_positive(who, "power", power);
  out["power"] = power;
  out["update_decay_steps"] = update_decay_steps;
  return out;
}

std::map<std::string, SettingValue> warm_up(const char* who, double learning_rate, int64_t warmup_steps) {
  check_not_negative(who, "learning_rate", learning_rate);
  check_positive(who, "warmup_steps", static_cast<double>(warmup_steps));
  return {{"warmup_steps", warmup_steps}};
}

std::vector<float> list(const char* who, const char* rule, double learning_rate, const std::map<std::string, SettingValue>& settings, int64_t total_step,
                        int64_t step_per_epoch) {
  const std::vector<double> rates = rates_of(*schedules().make(rule, settings, Course{.learning_rate = learning_rate}), total_step, step_per_epoch, who);
  return {rates.begin(), rates.end()};
}

}  // namespace

LearningRate::LearningRate(std::vector<float> per_step) : per_step_(std::move(per_step)) {
  if (per_step_.empty()) throw ValueError("a table of learning rates must hold at least one number");
}

double LearningRateSchedule::rate(int64_t step) const { return construct(Tensor::scalar(static_cast<double>(step), DType::kInt32)).item(); }

std::vector<double> rates_of(const LearningRateSchedule& schedule, int64_t total_step, int64_t step_per_epoch, const char* who) {
  check_positive(who, "total_step", static_cast<double>(total_step));
  check_positive(who, "step_per_epoch", static_cast<double>(step_per_epoch));
  std::vector<double> out;
  out.reserve(static_cast<size_t>(total_step));
  for (int64_t i = 0; i < total_step; ++i) {
    out.push_back(i % step_per_epoch == 0 ? schedule.rate(i / step_per_epoch) : out.back());
    if (!std::isfinite(out.back()))
      throw ValueError(fmt::format("{}: a learning rate is larger than a float can be", who), "", "use smaller rates, powers or fewer steps");
  }
  return out;
}

NamedSchedule::NamedSchedule(const char* rule, double learning_rate, const std::map<std::string, SettingValue>& settings)
    : schedule_(schedules().make(rule, settings, Course{.learning_rate = learning_rate})) {}

PolynomialDecayLR::PolynomialDecayLR(double learning_rate, double end_learning_rate, int64_t decay_steps, double power, bool update_decay_steps)
    : NamedSchedule("poly", learning_rate, poly("PolynomialDecayLR", learning_rate, end_learning_rate, decay_steps, power, update_decay_steps)) {}
WarmUpLR::WarmUpLR(double learning_rate, int64_t warmup_steps) : NamedSchedule("warm_up", learning_rate, warm_up("WarmUpLR", learning_rate, warmup_steps)) {}
ExponentialDecayLR::ExponentialDecayLR(double learning_rate, double decay_rate, int64_t decay_steps, bool is_stair)
    : NamedSchedule("exponential", learning_rate, decay("ExponentialDecayLR", learning_rate, decay_rate, decay_steps, is_stair)) {}
NaturalExpDecayLR::NaturalExpDecayLR(double learning_rate, double decay_rate, int64_t decay_steps, bool is_stair)
    : NamedSchedule("natural_exp", learning_rate, decay("NaturalExpDecayLR", learning_rate, decay_rate, decay_steps, is_stair)) {}
InverseDecayLR::InverseDecayLR(double learning_rate, double decay_rate, int64_t decay_steps, bool is_stair)
    : NamedSchedule("inverse", learning_rate, decay("InverseDecayLR", learning_rate, decay_rate, decay_steps, is_stair)) {}
CosineDecayLR::CosineDecayLR(double min_lr, double max_lr, int64_t decay_steps)
    : NamedSchedule("cosine", max_lr, decay_to("CosineDecayLR", max_lr, min_lr, decay_steps)) {}

std::vector<double> piecewise_constant_rates(const std::vector<int64_t>& milestone, const std::vector<double>& learning_rates) {
  if (milestone.empty() || milestone.size() != learning_rates.size())
    throw ValueError(fmt::format("piecewise_constant_lr: {} milestones for {} learning rates", milestone.size(), learning_rates.size()));
  std::vector<double> out;
  for (size_t i = 0; i < milestone.size(); ++i) {
    if (milestone[i] <= static_cast<int64_t>(out.size()))
      throw ValueError(fmt::format("piecewise_constant_lr: milestone {} must be above {}, got {}", i, out.size(), milestone[i]));
    check_not_negative("piecewise_constant_lr", "a learning rate", learning_rates[i]);
    out.resize(static_cast<size_t>(milestone[i]), learning_rates[i]);
  }
  return out;
}

std::vector<float> piecewise_constant_lr(const std::vector<int64_t>& milestone, const std::vector<double>& learning_rates) {
  const std::vector<double> rates = piecewise_constant_rates(milestone, learning_rates);
  return {rates.begin(), rates.end()};
}

std::vector<float> exponential_decay_lr(double learning_rate, double decay_rate, int64_t total_step, int64_t step_per_epoch, int64_t decay_epoch,
                                        bool is_stair) {
  const char* who = "exponential_decay_lr";
  return list(who, "exponential", learning_rate, decay(who, learning_rate, decay_rate, decay_epoch, is_stair), total_step, step_per_epoch);
}

std::vector<float> natural_exp_decay_lr(double learning_rate, double decay_rate, int64_t total_step, int64_t step_per_epoch, int64_t decay_epoch,
                                        bool is_stair) {
  const char* who = "natural_exp_decay_lr";
  return list(who, "natural_exp", learning_rate, decay(who, learning_rate, decay_rate, decay_epoch, is_stair), total_step, step_per_epoch);
}

std::vector<float> inverse_decay_lr(double learning_rate, double decay_rate, int64_t total_step, int64_t step_per_epoch, int64_t decay_epoch, bool is_stair) {
  const char* who = "inverse_decay_lr";
  return list(who, "inverse", learning_rate, decay(who, learning_rate, decay_rate, decay_epoch, is_stair), total_step, step_per_epoch);
}

std::vector<float> cosine_decay_lr(double min_lr, double max_lr, int64_t total_step, int64_t step_per_epoch, int64_t decay_epoch) {
  const char* who = "cosine_decay_lr";
  return list(who, "cosine", max_lr, decay_to(who, max_lr, min_lr, decay_epoch), total_step, step_per_epoch);
}

std::vector<float> polynomial_decay_lr(double learning_rate, double end_learning_rate, int64_t total_step, int64_t step_per_epoch, int64_t decay_epoch,
                                       double power, bool update_decay_epoch) {
  const char* who = "polynomial_decay_lr";
  return list(who, "poly", learning_rate, poly(who, learning_rate, end_learning_rate, decay_epoch, power, update_decay_epoch), total_step, step_per_epoch);
}

std::vector<float> warmup_lr(double learning_rate, int64_t total_step, int64_t step_per_epoch, int64_t warmup_epoch) {
  return list("warmup_lr", "warm_up", learning_rate, warm_up("warmup_lr", learning_rate, warmup_epoch), total_step, step_per_epoch);
}

namespace {

// The rate after the warm-up: a function of the step, counted from the start of the run.
using After = std::function<double(int64_t)>;

After steps_after(const LrOptions& o, int64_t total, int64_t) {
  return [=](int64_t i) {
    const auto step = static_cast<double>(i), all = static_cast<double>(total);
    return o.lr_max * (step < 0.3 * all ? 1 : step < 0.6 * all ? 0.1 : step < 0.8 * all ? 0.01 : 0.001);
  };
}

After poly_after(const LrOptions& o, int64_t total, int64_t warmup) {
  const auto s = schedules().make("poly", {{"decay_steps", total - warmup}, {"power", 2.0}}, Course{.learning_rate = o.lr_max});
  return [=](int64_t i) { return s->rate(i - warmup); };
}

// The cosine of the ResNet scripts: its argument and the linear factor count from step 0, not from the end of the warm-up.
After cosine_after(const LrOptions& o, int64_t total, int64_t warmup) {
  return [=](int64_t i) {
    const auto step = static_cast<double>(i), decay = static_cast<double>(total - warmup);
    const double linear = static_cast<double>(total - i) / decay, cosine = 0.5 * (1 + std::cos(std::numbers::pi * 2 * 0.47 * step / decay));
    return o.lr_max * (linear * cosine + 0.00001);
  };
}

After linear_after(const LrOptions& o, int64_t total, int64_t warmup) {
  const auto s = schedules().make("linear", {{"decay_steps", total - warmup}, {"end", o.lr_end}}, Course{.learning_rate = o.lr_max});
  return [=](int64_t i) { return s->rate(i - warmup); };
}

}  // namespace

std::vector<float> get_lr(const LrOptions& o) {
  check_positive("get_lr", "total_epochs", static_cast<double>(o.total_epochs));
  check_positive("get_lr", "steps_per_epoch", static_cast<double>(o.steps_per_epoch));
  check_not_negative("get_lr", "warmup_epochs", static_cast<double>(o.warmup_epochs));
  for (double lr : {o.lr_init, o.lr_end, o.lr_max}) check_not_negative("get_lr", "a learning rate", lr);
  if (o.warmup_epochs > o.total_epochs)
    throw ValueError(fmt::format("get_lr: warmup_epochs {} are more than total_epochs {}", o.warmup_epochs, o.total_epochs));
  struct Mode {
    const char* name;
    After (*after)(const LrOptions&, int64_t total, int64_t warmup);
    int64_t ahead = 0;  // the warm-up of step i uses the rate of step i + ahead
  };
  static const std::vector<Mode> kModes = {{"steps", steps_after}, {"poly", poly_after}, {"cosine", cosine_after, 1}, {"linear", linear_after}};
  const auto mode = std::find_if(kModes.begin(), kModes.end(), [&](const Mode& m) { return o.lr_decay_mode == m.name; });
  if (mode == kModes.end()) {
    std::vector<std::string> known;
    for (const Mode& m : kModes) known.emplace_back(m.name);
    throw ValueError(fmt::format("get_lr: lr_decay_mode '{}' is not known", o.lr_decay_mode), "", did_you_mean(o.lr_decay_mode, known));
  }
  const int64_t total = o.total_epochs * o.steps_per_epoch, warmup = o.warmup_epochs * o.steps_per_epoch;
  const auto rise = schedules().make("warm_up", {{"warmup_steps", std::max<int64_t>(1, warmup)}, {"first", o.lr_init}}, Course{.learning_rate = o.lr_max});
  const After after = total > warmup ? mode->after(o, total, warmup) : After();
  std::vector<float> out;
  for (int64_t i = 0; i < total; ++i) out.push_back(static_cast<float>(i < warmup ? rise->rate(i + mode->ahead) : after(i)));
  return out;
}

std::vector<float> warmup_cosine_annealing_lr(double lr, int64_t steps_per_epoch, int64_t warmup_epochs, int64_t max_epoch, int64_t global_step) {
  std::vector<float> all = get_lr({.lr_init = 0,
                                   .lr_end = 0,
                                   .lr_max = lr,
                                   .warmup_epochs = warmup_epochs,
                                   .total_epochs = max_epoch,
                                   .steps_per_epoch = steps_per_epoch,
                                   .lr_decay_mode = "cosine"});
  if (global_step < 0 || global_step >= static_cast<int64_t>(all.size()))
    throw ValueError(fmt::format("warmup_cosine_annealing_lr: global_step {} is not in [0, {})", global_step, all.size()));
  return {all.begin() + global_step, all.end()};
}

}  // namespace sindri::optim
