// See sindri/train/keep_best.h.
#include "sindri/train/keep_best.h"

#include <fmt/format.h>

#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "sindri/core/error.h"
#include "sindri/core/log.h"
#include "sindri/core/nearest.h"
#include "src/train/save_state.h"

namespace sindri::train {

KeepBest::KeepBest(BestOptions options)
    : options_(std::move(options)), rule_{.larger_is_better = options_.larger_is_better, .min_delta = options_.min_delta, .patience = options_.patience} {
  if (options_.metric.empty()) throw ValueError("KeepBest: no metric is named");
  if (options_.patience < 0) throw ValueError(fmt::format("KeepBest: patience must not be negative, got {}", options_.patience));
  if (!(options_.min_delta >= 0)) throw ValueError(fmt::format("KeepBest: min_delta must not be negative, got {}", options_.min_delta));
  for (const auto& [epoch, value] : options_.earlier) see(epoch, value);
}

// Returns true for a new best.
bool KeepBest::see(int64_t epoch, double value) {
  const double worst = options_.larger_is_better ? -std::numeric_limits<double>::infinity() : std::numeric_limits<double>::infinity();
  const bool better = rule_.see(std::isfinite(value) ? value : worst);
  if (better) best_epoch_ = epoch;
  return better;
}

void KeepBest::begin(TrainState& s) {
  if (exhausted()) s.request_stop();
}

void KeepBest::epoch_end(TrainState& s) {
  if (s.metrics_step >= 0 && s.metrics_step != s.cur_step_num) return;  // nothing was evaluated in this epoch
  judge(s, s.metrics);
  if (exhausted()) s.request_stop();
}

// The network, the optimizer and the algorithms outlive the call of train(); the state of its loop does not.
void KeepBest::end(TrainState& s) {
  ended_ = s;
  ended_.settle = nullptr;
  ended_.merge_ranks = nullptr;  // the final checkpoint did this
  ended_.moving_averages_written = nullptr;
  ended_.open_data = nullptr;
  ended_.callbacks = {this};
}

void KeepBest::see_after_end(const MetricValues& metrics) {
  ended_.epoch_ending = true;
  judge(ended_, metrics);
}

void KeepBest::adopt(int64_t epoch, double value) {
  if (!std::isfinite(value) || (options_.larger_is_better ? value <= rule_.best : value >= rule_.best)) return;
  rule_.best = value;
  best_epoch_ = epoch;
}

void KeepBest::judge(TrainState& s, const MetricValues& metrics) {
  const auto it = metrics.find(options_.metric);
  if (it == metrics.end()) {
    std::vector<std::string> known;
    for (const auto& [name, value] : metrics) known.push_back(name);
    throw ValueError(fmt::format("KeepBest: no metric is named '{}'", options_.metric), "",
                     known.empty() ? "put an EvalCallback before it" : did_you_mean(options_.metric, known));
  }
  if (see(s.cur_epoch_num, it->second) && !options_.file.empty()) save(s);
}

std::string KeepBest::state() const { return nlohmann::json({{"rule", rule_.state()}, {"best_epoch", best_epoch_}}).dump(); }

void KeepBest::load_state(const std::string& text) {
  try {
    const nlohmann::json j = nlohmann::json::parse(text);
    rule_.load_state(j.at("rule"));
    best_epoch_ = j.at("best_epoch");
  } catch (const nlohmann::json::exception& e) { throw ValueError(fmt::format("this is not the state of KeepBest: {} ({})", text, e.what())); }
}

void KeepBest::save(TrainState& s) {
  if (s.settle) s.settle();
  const std::shared_ptr<void> merged = s.merge_ranks ? s.merge_ranks() : nullptr;
  last_error_ = on_first_rank(s, "best checkpoint", [&]() -> std::string {
    try {
      std::error_code error;
      std::filesystem::create_directories(std::filesystem::path(options_.file).parent_path(), error);
      save_train_state(s, options_.file, options_.save_optimizer, options_.mindspore1);
    } catch (const IoError& e) { return e.what(); }
    return "";
  });
  if (!last_error_.empty()) log::error("checkpoint", fmt::format("the best one was not saved: {}", last_error_));
}

}  // namespace sindri::train
