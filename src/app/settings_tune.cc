// See settings_tune.h.
#include "src/app/settings_tune.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "sindri/core/error.h"
#include "sindri/core/nearest.h"
#include "sindri/nn/registry.h"
#include "sindri/optim/groups.h"

namespace sindri::app {

using Fail = std::function<void(const char*, const std::string&, const std::string&)>;

bool is_of_tuning(const SettingSpec& spec) {
  const std::string_view name = spec.name;
  return name.starts_with("train.init_") || name == "train.freeze" || name == "train.frozen_bn" || name == "optimizer.groups";
}

std::string watched_metric(const Settings& s) {
  const std::string stop = s.get_string("train.early_stop.metric");
  return stop.empty() ? s.get_string("checkpoint.keep_best") : stop;
}

namespace {

void check_metric(const Settings& s, const char* setting, const Fail& fail) {
  const std::string metric = s.get_string(setting);
  std::vector<std::string> known = {"accuracy", "loss", "top_5_accuracy"};
  for (const std::string& name : nn::metrics().offered()) {
    if (s.get_bool("metrics." + name + ".enabled")) known.push_back(name);
    else if (name == metric) fail(setting, fmt::format("the metric {} is not evaluated", metric), fmt::format("set metrics.{}.enabled=true", metric));
  }
  if (std::find(known.begin(), known.end(), metric) == known.end()) fail(setting, fmt::format("no metric is named '{}'", metric), did_you_mean(metric, known));
  if (const int64_t every = s.get_int("train.eval_interval"); every <= 0)
    fail(setting,
         every == 0 ? "there is one evaluation only, at the end, while train.eval_interval is 0" : "nothing is evaluated while train.eval_interval is -1",
         "set train.eval_interval to 1 or more");
}

}  // namespace

void validate_tuning(const Settings& s, const Fail& fail) {
  const auto only_with = [&](const std::string& setting, const char* other) {
    const std::vector<SettingSpec>& table = Settings::schema();
    const auto spec = std::find_if(table.begin(), table.end(), [&](const SettingSpec& row) { return setting == row.name; });
    if (s.get(setting) == parse_setting(*spec, spec->fallback)) return;  // a file of all settings has it
    fail(setting.c_str(), fmt::format("does nothing while {} is empty", other), fmt::format("set {}, or remove it", other));
  };
  if (s.get_string("train.init_from").empty()) only_with("train.init_match", "train.init_from"), only_with("train.init_skip", "train.init_from");
  if (s.get_texts("train.freeze").empty()) only_with("train.frozen_bn", "train.freeze");
  for (const std::string& rule : s.get_texts("optimizer.groups")) {
    try {
      optim::parse_group_rule(rule);
    } catch (const ValueError& e) { fail("optimizer.groups", e.message(), e.fix()); }
  }
  const std::string stop = s.get_string("train.early_stop.metric"), best = s.get_string("checkpoint.keep_best");
  if (stop.empty())
    for (const char* setting : {"patience", "min_delta", "restore_best"}) only_with(fmt::format("train.early_stop.{}", setting), "train.early_stop.metric");
  if (stop.empty() && best.empty()) only_with("train.early_stop.mode", "train.early_stop.metric");
  if (!stop.empty()) check_metric(s, "train.early_stop.metric", fail);
  if (!best.empty()) check_metric(s, "checkpoint.keep_best", fail);
  if (!stop.empty() && !best.empty() && stop != best)
    fail("checkpoint.keep_best", fmt::format("the best checkpoint is chosen by {}, but early stopping waits for {}", best, stop),
         "name the same metric in both, or remove this one");
}

}  // namespace sindri::app
