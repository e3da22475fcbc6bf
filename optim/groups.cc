// See sindri/optim/groups.h.
#include "sindri/optim/groups.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <map>
#include <sstream>
#include <utility>

#include "optim/optimizer_impl.h"
#include "sindri/core/error.h"
#include "sindri/core/name_pattern.h"
#include "sindri/ops/elementwise.h"

namespace sindri::optim {

namespace {

class ScaledSchedule final : public LearningRateSchedule {
 public:
  ScaledSchedule(std::shared_ptr<LearningRateSchedule> inner, double factor) : inner_(std::move(inner)), factor_(factor) {}
  Tensor construct(const Tensor& global_step) const override { return ops::mul(inner_->construct(global_step), factor_); }
  double rate(int64_t step) const override { return inner_->rate(step) * factor_; }
  bool fixed() const override { return inner_->fixed(); }

 private:
  std::shared_ptr<LearningRateSchedule> inner_;
  double factor_;
};

double number_of(const std::string& text, const std::string& rule) {
  double v = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), v);
  if (error != std::errc{} || end != text.data() + text.size() || !std::isfinite(v) || v < 0)
    throw ValueError(fmt::format("'{}': expected a number that is not negative, got '{}'", rule, text), "", "for example: layer1 lr=0.1 weight_decay=0");
  return v;
}

}  // namespace

GroupRule parse_group_rule(const std::string& text) {
  constexpr const char* kForm = "PATTERN lr=FACTOR, PATTERN weight_decay=NUMBER, or both after one pattern";
  std::istringstream words(text);
  GroupRule rule;
  words >> rule.pattern;
  if (rule.pattern.empty() || rule.pattern.find('=') != std::string::npos) throw ValueError(fmt::format("'{}' does not start with a pattern", text), "", kForm);
  bool has_lr = false;
  for (std::string word; words >> word;) {
    const size_t equals = word.find('=');
    const std::string key = word.substr(0, equals);
    if (equals == std::string::npos || (key != "lr" && key != "weight_decay"))
      throw ValueError(fmt::format("'{}': expected lr=FACTOR or weight_decay=NUMBER, got '{}'", text, word), "", kForm);
    if (key == "lr" ? has_lr : rule.weight_decay.has_value()) throw ValueError(fmt::format("'{}' gives {} twice", text, key), "", "remove one of them");
    const double v = number_of(word.substr(equals + 1), text);
    if (key == "lr") rule.lr_factor = v, has_lr = true;
    else rule.weight_decay = v;
  }
  if (!has_lr && !rule.weight_decay) throw ValueError(fmt::format("'{}' sets nothing for its pattern", text), "", kForm);
  return rule;
}

LearningRate scaled_rate(const LearningRate& rate, double factor) {
  if (rate.schedule() != nullptr) return LearningRate(std::make_shared<ScaledSchedule>(rate.schedule(), factor));
  if (rate.per_step().empty()) return rate.constant() * factor;
  std::vector<float> table = rate.per_step();
  for (float& v : table) v = static_cast<float>(static_cast<double>(v) * factor);
  return table;
}

Params grouped_by_name(const std::vector<Parameter*>& params, const std::vector<GroupRule>& rules, const LearningRate& learning_rate,
                       const WeightDecay& weight_decay, bool decay_all) {
  if (rules.empty()) return params;
  std::vector<std::string> patterns, names;
  for (const GroupRule& r : rules) {
    if (!(r.lr_factor >= 0) || !(r.weight_decay.value_or(0) >= 0))
      throw ValueError(fmt::format("group '{}': rates and decays must not be negative", r.pattern));
    patterns.push_back(r.pattern);
  }
  for (const Parameter* p : params) names.push_back(p->name());
  const std::vector<int> rule_of = match_names(patterns, names, "groups of parameters");
  // A decay set per group disables the optimizer's rule for beta and gamma, so these get a group without decay.
  std::map<std::pair<int, bool>, ParamGroup> groups;
  for (size_t i = 0; i < params.size(); ++i) groups[{rule_of[i], decay_all || !skips_decay(names[i])}].params.push_back(params[i]);
  std::vector<ParamGroup> out;
  for (auto& [key, group] : groups) {
    const GroupRule* rule = key.first < 0 ? nullptr : &rules[static_cast<size_t>(key.first)];
    if (rule != nullptr && rule->lr_factor != 1) group.lr = scaled_rate(learning_rate, rule->lr_factor);
    if (!key.second) group.weight_decay = WeightDecay(0);
    else if (rule != nullptr && rule->weight_decay) group.weight_decay = WeightDecay(*rule->weight_decay);
    else group.weight_decay = weight_decay;
    out.push_back(std::move(group));
  }
  ParamGroup order;
  order.order_params = params;
  out.push_back(std::move(order));
  return out;
}

}  // namespace sindri::optim
