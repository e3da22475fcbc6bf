// Learning-rate schedules as functions of the step, written with ops, and as lists.
#include "sindri/optim/schedule.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "sindri/core/error.h"
#include "sindri/core/nearest.h"
#include "sindri/ops/elementwise.h"
#include "sindri/ops/shape.h"

namespace sindri::optim {

namespace {

void check_positive(const char* who, const char* what, double v) {
  if (!(v > 0) || !std::isfinite(v)) throw ValueError(fmt::format("{}: {} must be positive, got {}", who, what, v));
}

void check_not_negative(const char* who, const char* what, double v) {
  if (!(v >= 0) || !std::isfinite(v)) throw ValueError(fmt::format("{}: {} must not be negative, got {}", who, what, v));
}

Tensor as_float(const Tensor& step) { return ops::cast(step, DType::kFloat32); }
Tensor constant(double v) { return ops::full({}, v); }
Tensor at_most(const Tensor& step, int64_t n) { return ops::minimum(as_float(step), constant(static_cast<double>(n))); }

// step/decay_steps, rounded down for stairs.
Tensor progress(const Tensor& step, int64_t decay_steps, bool stair) {
  const Tensor p = ops::div(as_float(step), static_cast<double>(decay_steps));
  return stair ? ops::floor(p) : p;
}

void check_decay(const char* who, double lr, double rate, int64_t steps) {
  check_positive(who, "learning_rate", lr);
  check_positive(who, "decay_rate", rate);
  check_positive(who, "decay_steps", static_cast<double>(steps));
}

}  // namespace

PolynomialDecayLR::PolynomialDecayLR(double learning_rate, double end_learning_rate, int64_t decay_steps, double power, bool update_decay_steps)
    : start_(learning_rate), end_(end_learning_rate), steps_(decay_steps), power_(power), update_(update_decay_steps) {
  check_positive("PolynomialDecayLR", "learning_rate", learning_rate);
  check_not_negative("PolynomialDecayLR", "end_learning_rate", end_learning_rate);
  if (end_learning_rate >= learning_rate)
    throw ValueError(fmt::format("PolynomialDecayLR: end_learning_rate {} must be below learning_rate {}", end_learning_rate, learning_rate));
  check_positive("PolynomialDecayLR", "decay_steps", static_cast<double>(decay_steps));
  check_positive("PolynomialDecayLR", "power", power);
}

Tensor PolynomialDecayLR::construct(const Tensor& global_step) const {
  const auto n = static_cast<double>(steps_);
  Tensor p;  // fraction of the decay done
  if (update_) {
    const Tensor step = as_float(global_step);
    const Tensor periods = ops::maximum(ops::ceil(ops::div(step, n)), constant(1));
    p = ops::div(step, ops::mul(periods, n));
  } else {
    p = ops::div(at_most(global_step, steps_), n);
  }
  return ops::add(ops::mul(ops::pow(1.0 - p, power_), start_ - end_), end_);
}

WarmUpLR::WarmUpLR(double learning_rate, int64_t warmup_steps) : lr_(learning_rate), steps_(warmup_steps) {
  check_not_negative("WarmUpLR", "learning_rate", learning_rate);
  check_positive("WarmUpLR", "warmup_steps", static_cast<double>(warmup_steps));
}
Tensor WarmUpLR::construct(const Tensor& global_step) const { return ops::mul(ops::div(at_most(global_step, steps_), static_cast<double>(steps_)), lr_); }

ExponentialDecayLR::ExponentialDecayLR(double learning_rate, double decay_rate, int64_t decay_steps, bool is_stair)
    : lr_(learning_rate), rate_(decay_rate), steps_(decay_steps), stair_(is_stair) {
  check_decay("ExponentialDecayLR", learning_rate, decay_rate, decay_steps);
}
Tensor ExponentialDecayLR::construct(const Tensor& global_step) const {
  return ops::mul(ops::pow(constant(rate_), progress(global_step, steps_, stair_)), lr_);
}

NaturalExpDecayLR::NaturalExpDecayLR(double learning_rate, double decay_rate, int64_t decay_steps, bool is_stair)
    : lr_(learning_rate), rate_(decay_rate), steps_(decay_steps), stair_(is_stair) {
  check_decay("NaturalExpDecayLR", learning_rate, decay_rate, decay_steps);
}
Tensor NaturalExpDecayLR::construct(const Tensor& global_step) const {
  // Of the step, not of step / decay_steps: so does MindSpore compute it, whatever its documentation says.
  const Tensor step = stair_ ? ops::mul(progress(global_step, steps_, true), static_cast<double>(steps_)) : as_float(global_step);
  return ops::mul(ops::exp(ops::mul(step, -rate_)), lr_);
}

InverseDecayLR::InverseDecayLR(double learning_rate, double decay_rate, int64_t decay_steps, bool is_stair)
    : lr_(learning_rate), rate_(decay_rate), steps_(decay_steps), stair_(is_stair) {
  check_decay("InverseDecayLR", learning_rate, decay_rate, decay_steps);
}
Tensor InverseDecayLR::construct(const Tensor& global_step) const {
  return ops::div(constant(lr_), ops::add(ops::mul(progress(global_step, steps_, stair_), rate_), 1.0));
}

CosineDecayLR::CosineDecayLR(double min_lr, double max_lr, int64_t decay_steps) : min_(min_lr), max_(max_lr), steps_(decay_steps) {
  check_not_negative("CosineDecayLR", "min_lr", min_lr);
  check_positive("CosineDecayLR", "max_lr", max_lr);
  if (min_lr >= max_lr) throw ValueError(fmt::format("CosineDecayLR: min_lr {} must be below max_lr {}", min_lr, max_lr));
  check_positive("CosineDecayLR", "decay_steps", static_cast<double>(decay_steps));
}
Tensor CosineDecayLR::construct(const Tensor& global_step) const {
  const Tensor angle = ops::mul(at_most(global_step, steps_), std::numbers::pi / static_cast<double>(steps_));
  return ops::add(ops::mul(ops::add(ops::cos(angle), 1.0), 0.5 * (max_ - min_)), min_);
}

namespace {

void check_list(const char* who, int64_t total_step, int64_t step_per_epoch, int64_t decay_epoch) {
  check_positive(who, "total_step", static_cast<double>(total_step));
  check_positive(who, "step_per_epoch", static_cast<double>(step_per_epoch));
  check_positive(who, "decay_epoch", static_cast<double>(decay_epoch));
}

// One value per step from a function of the epoch.
template <class F> std::vector<float> per_step(int64_t total_step, int64_t step_per_epoch, F&& f) {
  std::vector<float> out;
  out.reserve(static_cast<size_t>(total_step));
  for (int64_t i = 0; i < total_step; ++i) out.push_back(static_cast<float>(f(static_cast<double>(i / step_per_epoch))));
  return out;
}

}  // namespace

std::vector<float> piecewise_constant_lr(const std::vector<int64_t>& milestone, const std::vector<double>& learning_rates) {
  if (milestone.empty() || milestone.size() != learning_rates.size())
    throw ValueError(fmt::format("piecewise_constant_lr: {} milestones for {} learning rates", milestone.size(), learning_rates.size()));
  std::vector<float> out;
  for (size_t i = 0; i < milestone.size(); ++i) {
    if (milestone[i] <= static_cast<int64_t>(out.size()))
      throw ValueError(fmt::format("piecewise_constant_lr: milestone {} must be above {}, got {}", i, out.size(), milestone[i]));
    check_not_negative("piecewise_constant_lr", "a learning rate", learning_rates[i]);
    out.resize(static_cast<size_t>(milestone[i]), static_cast<float>(learning_rates[i]));
  }
  return out;
}

std::vector<float> exponential_decay_lr(double learning_rate, double decay_rate, int64_t total_step, int64_t step_per_epoch, int64_t decay_epoch,
                                        bool is_stair) {
  check_decay("exponential_decay_lr", learning_rate, decay_rate, decay_epoch);
  check_list("exponential_decay_lr", total_step, step_per_epoch, decay_epoch);
  return per_step(total_step, step_per_epoch, [&](double e) {
    const double p = e / static_cast<double>(decay_epoch);
    return learning_rate * std::pow(decay_rate, is_stair ? std::floor(p) : p);
  });
}

std::vector<float> natural_exp_decay_lr(double learning_rate, double decay_rate, int64_t total_step, int64_t step_per_epoch, int64_t decay_epoch,
                                        bool is_stair) {
  check_decay("natural_exp_decay_lr", learning_rate, decay_rate, decay_epoch);
  check_list("natural_exp_decay_lr", total_step, step_per_epoch, decay_epoch);
  const auto d = static_cast<double>(decay_epoch);
  return per_step(total_step, step_per_epoch, [&](double e) { return learning_rate * std::exp(-decay_rate * (is_stair ? std::floor(e / d) * d : e)); });
}

std::vector<float> inverse_decay_lr(double learning_rate, double decay_rate, int64_t total_step, int64_t step_per_epoch, int64_t decay_epoch, bool is_stair) {
  check_decay("inverse_decay_lr", learning_rate, decay_rate, decay_epoch);
  check_list("inverse_decay_lr", total_step, step_per_epoch, decay_epoch);
  return per_step(total_step, step_per_epoch, [&](double e) {
    const double p = e / static_cast<double>(decay_epoch);
    return learning_rate / (1 + decay_rate * (is_stair ? std::floor(p) : p));
  });
}

std::vector<float> cosine_decay_lr(double min_lr, double max_lr, int64_t total_step, int64_t step_per_epoch, int64_t decay_epoch) {
  check_not_negative("cosine_decay_lr", "min_lr", min_lr);
  check_positive("cosine_decay_lr", "max_lr", max_lr);
  if (min_lr >= max_lr) throw ValueError(fmt::format("cosine_decay_lr: min_lr {} must be below max_lr {}", min_lr, max_lr));
  check_list("cosine_decay_lr", total_step, step_per_epoch, decay_epoch);
  const auto d = static_cast<double>(decay_epoch);
  return per_step(total_step, step_per_epoch,
                  [&](double e) { return min_lr + 0.5 * (max_lr - min_lr) * (1 + std::cos(std::numbers::pi * std::min(e, d) / d)); });
}

std::vector<float> polynomial_decay_lr(double learning_rate, double end_learning_rate, int64_t total_step, int64_t step_per_epoch, int64_t decay_epoch,
                                       double power, bool update_decay_epoch) {
  check_positive("polynomial_decay_lr", "learning_rate", learning_rate);
  check_not_negative("polynomial_decay_lr", "end_learning_rate", end_learning_rate);
  if (end_learning_rate >= learning_rate)
    throw ValueError(fmt::format("polynomial_decay_lr: end_learning_rate {} must be below learning_rate {}", end_learning_rate, learning_rate));
  check_positive("polynomial_decay_lr", "power", power);
  check_list("polynomial_decay_lr", total_step, step_per_epoch, decay_epoch);
  return per_step(total_step, step_per_epoch, [&](double e) {
    auto d = static_cast<double>(decay_epoch);
    if (update_decay_epoch) d *= std::max(std::ceil(e / d), 1.0);
    return (learning_rate - end_learning_rate) * std::pow(1 - std::min(e, d) / d, power) + end_learning_rate;
  });
}

std::vector<float> warmup_lr(double learning_rate, int64_t total_step, int64_t step_per_epoch, int64_t warmup_epoch) {
  check_not_negative("warmup_lr", "learning_rate", learning_rate);
  check_list("warmup_lr", total_step, step_per_epoch, 1);
  check_positive("warmup_lr", "warmup_epoch", static_cast<double>(warmup_epoch));
  const auto n = static_cast<double>(warmup_epoch);
  return per_step(total_step, step_per_epoch, [&](double e) { return learning_rate * std::min(e, n) / n; });
}

namespace {

struct Span2 {
  double total, warmup;  // steps
  double decay() const { return total - warmup; }
};

double steps_lr(const LrOptions& o, const Span2& s, double i) {
  if (i < s.warmup) return o.lr_init + (o.lr_max - o.lr_init) * i / s.warmup;
  return o.lr_max * (i < 0.3 * s.total ? 1 : i < 0.6 * s.total ? 0.1 : i < 0.8 * s.total ? 0.01 : 0.001);
}

double poly_lr(const LrOptions& o, const Span2& s, double i) {
  if (i < s.warmup) return o.lr_init + (o.lr_max - o.lr_init) * i / s.warmup;
  const double left = 1 - (i - s.warmup) / s.decay();
  return o.lr_max * left * left;
}

// The cosine of the ResNet scripts: its argument and the linear factor count from step 0, not from the end of the warm-up.
double cosine_lr(const LrOptions& o, const Span2& s, double i) {
  if (i < s.warmup) return o.lr_init + (o.lr_max - o.lr_init) * (i + 1) / s.warmup;
  const double linear = (s.total - i) / s.decay(), cosine = 0.5 * (1 + std::cos(std::numbers::pi * 2 * 0.47 * i / s.decay()));
  return o.lr_max * (linear * cosine + 0.00001);
}

double linear_lr(const LrOptions& o, const Span2& s, double i) {
  if (i < s.warmup) return o.lr_init + (o.lr_max - o.lr_init) * i / s.warmup;
  return o.lr_max - (o.lr_max - o.lr_end) * (i - s.warmup) / s.decay();
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
    double (*f)(const LrOptions&, const Span2&, double);
  };
  static const std::vector<Mode> kModes = {{"steps", steps_lr}, {"poly", poly_lr}, {"cosine", cosine_lr}, {"linear", linear_lr}};
  std::vector<std::string> known;
  for (const Mode& m : kModes) {
    known.emplace_back(m.name);
    if (o.lr_decay_mode != m.name) continue;
    const Span2 span = {static_cast<double>(o.total_epochs * o.steps_per_epoch), static_cast<double>(o.warmup_epochs * o.steps_per_epoch)};
    return per_step(o.total_epochs * o.steps_per_epoch, 1, [&](double i) { return m.f(o, span, i); });
  }
  throw ValueError(fmt::format("get_lr: lr_decay_mode '{}' is not known", o.lr_decay_mode), "", did_you_mean(o.lr_decay_mode, known));
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
