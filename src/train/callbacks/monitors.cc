// Callbacks that print or decide: LossMonitor, TimeMonitor, EarlyStopping, EvalCallback. The printed text matches MindSpore's, since scripts and people read
// it.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <iostream>
#include <nlohmann/json.hpp>

#include "sindri/core/error.h"
#include "sindri/train/callback.h"
#include "sindri/train/monitor_text.h"
#include "sindri/train/patience.h"
#include "src/core/clock.h"

namespace sindri::train {

namespace {}  // namespace

std::string python_float(double v) {
  std::string s = fmt::format("{}", v);
  return s.find_first_of(".einf") == std::string::npos ? s + ".0" : s;
}

std::string loss_line(int64_t epoch, int64_t step, const std::string& loss) { return fmt::format("epoch: {} step: {}, loss is {}", epoch, step, loss); }

std::string epoch_time_line(const std::string& mode, double milliseconds, int64_t steps, std::optional<double> outside_steps) {
  std::string capital = mode;
  if (!capital.empty()) capital[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(capital[0])));
  const auto n = static_cast<double>(steps);
  const std::string line = fmt::format("{} epoch time: {:5.3f} ms, per step time: {:5.3f} ms", capital, milliseconds, milliseconds / n);
  return outside_steps ? line + fmt::format(" (data time: {:5.3f} ms)", std::max(*outside_steps, 0.0) / n) : line;
}

double TrainState::loss() {
  if (settle) settle();
  return last_loss ? *last_loss : net_outputs.item();
}

LossMonitor::LossMonitor(int64_t per_print_times, std::ostream* out) : per_print_times_(per_print_times), out_(out != nullptr ? out : &std::cout) {
  if (per_print_times < 0) throw ValueError(fmt::format("LossMonitor: per_print_times must not be negative, got {}", per_print_times));
}

void LossMonitor::step_end(TrainState& s) {
  if (s.cur_step_num <= last_print_) last_print_ = 0;  // the callback is used again, in a new run
  const bool prints = per_print_times_ != 0 && s.cur_step_num - last_print_ >= per_print_times_;
  if (!prints && s.settle && s.known_step != s.cur_step_num) return;  // not known yet; Model checks every loss
  const double loss = s.loss();
  const bool left_out = s.skipped_steps + s.overflow_steps != skipped_;  // NanPolicy::kSkip has handled it
  skipped_ = s.skipped_steps + s.overflow_steps;
  if (!std::isfinite(loss) && !left_out) {
    throw NonFiniteError(fmt::format("the loss is {}", loss), fmt::format("epoch {}, step {}", s.cur_epoch_num, s.step_in_epoch()),
                         "lower the learning rate or clip gradients; SINDRI_CHECK_FINITE=1 names the first op that produced it");
  }
  if (!prints) return;
  last_print_ = s.cur_step_num;
  *out_ << loss_line(s.cur_epoch_num, s.step_in_epoch(), python_float(loss)) << std::endl;
}

void LossMonitor::epoch_end(TrainState& s) {
  if (s.metrics.empty()) return;
  std::string text;
  for (const auto& [name, value] : s.metrics) text += fmt::format("{}'{}': {}", text.empty() ? "" : ", ", name, python_float(value));
  *out_ << fmt::format("Eval result: epoch {}, metrics: {{{}}}\n", s.cur_epoch_num, text) << std::flush;
}

TimeMonitor::TimeMonitor(int64_t data_size, std::ostream* out) : data_size_(data_size), out_(out != nullptr ? out : &std::cout) {
  if (data_size < 0) throw ValueError(fmt::format("TimeMonitor: data_size must be positive, got {}", data_size));
}

void TimeMonitor::epoch_begin(TrainState&) { start_ = now_seconds(); }

void TimeMonitor::epoch_end(TrainState& s) {
  const int64_t steps = s.batch_num > 0 ? s.batch_num : data_size_;
  if (steps <= 0) throw ValueError("TimeMonitor: neither the dataset nor data_size says how many steps an epoch has");
  *out_ << epoch_time_line(s.mode, (now_seconds() - start_) * 1e3, steps) << std::endl;
}

// Numbers are stored as their shortest exact text, since JSON has no infinity.
std::string Patience::state() const { return nlohmann::json({{"best", fmt::format("{}", best)}, {"wait", wait}, {"cooldown", cooldown}}).dump(); }

void Patience::load_state(const std::string& text) {
  try {
    const nlohmann::json j = nlohmann::json::parse(text);
    best = std::stod(j.at("best").get<std::string>());
    wait = j.at("wait");
    cooldown = j.at("cooldown");
  } catch (const std::exception& e) { throw ValueError(fmt::format("the saved patience state cannot be read: {} ({})", text, e.what())); }
}

EarlyStopping::EarlyStopping(std::string monitor, int64_t patience, double min_delta, bool larger_is_better)
    : monitor_(std::move(monitor)), rule_{.larger_is_better = larger_is_better, .min_delta = min_delta, .patience = patience} {
  if (patience < 0) throw ValueError(fmt::format("EarlyStopping: patience must not be negative, got {}", patience));
  if (min_delta < 0) throw ValueError(fmt::format("EarlyStopping: min_delta must not be negative, got {}", min_delta));
}

void EarlyStopping::begin(TrainState& s) {
  if (rule_.exhausted()) s.request_stop();
}

void EarlyStopping::epoch_end(TrainState& s) {
  const bool stale = s.metrics_step >= 0 && s.metrics_step != s.cur_step_num;
  // Nothing was evaluated in this epoch. Before the first evaluation it is unknown whether one will provide a "loss".
  if (stale && (monitor_ != "loss" || s.metrics_step == 0 || s.metrics.contains("loss"))) return;
  double value = 0;
  if (monitor_ == "loss" && !s.metrics.contains("loss")) {
    value = s.loss();
  } else {
    const auto it = s.metrics.find(monitor_);
    if (it == s.metrics.end()) {
      std::string known = "loss";
      for (const auto& [name, v] : s.metrics) known += ", " + name;
      throw ValueError(fmt::format("EarlyStopping: no metric is named '{}'", monitor_), "", "there are: " + known + "; put an EvalCallback before it");
    }
    value = it->second;
  }
  rule_.see(value);
  if (rule_.exhausted()) s.request_stop();
}

EvalCallback::EvalCallback(std::function<MetricValues()> evaluate, int64_t every) : evaluate_(std::move(evaluate)), every_(every) {
  if (every < 1) throw ValueError(fmt::format("EvalCallback: every must be at least 1, got {}", every));
}

void EvalCallback::begin(TrainState& s) { s.metrics_step = std::max<int64_t>(s.metrics_step, 0); }

// A resumed run evaluates in the same epochs as an uninterrupted one.
void EvalCallback::epoch_end(TrainState& s) {
  if (s.cur_epoch_num % every_ != 0 && s.cur_epoch_num != s.epoch_num && (!s.stop || s.interrupted)) return;
  s.metrics = evaluate_();
  s.metrics_step = s.cur_step_num;
}

}  // namespace sindri::train
