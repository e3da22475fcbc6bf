// The registry of training algorithms, their order, and what is said of them.
#include "sindri/train/boost.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "sindri/core/error.h"
#include "src/core/nearest.h"

namespace sindri::train {

namespace {

std::map<std::string, BoostInfo>& registry() {
  static std::map<std::string, BoostInfo> map;  // filled before main, by registrars of any library
  return map;
}

const BoostInfo& info_of(const std::string& name) {
  const auto it = registry().find(name);
  if (it != registry().end()) return it->second;
  std::vector<std::string> known;
  for (const auto& [n, info] : registry()) known.push_back(n);
  const std::string near = did_you_mean(name, known);
  throw ValueError(fmt::format("no training algorithm is named '{}'", name), "boost",
                   near.empty() ? fmt::format("known are {}", fmt::join(known, ", ")) : near);
}

bool is_name(const std::string& s) { return !s.empty() && s.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_") == std::string::npos; }

bool lists(const std::vector<std::string>& names, const std::string& name) { return std::find(names.begin(), names.end(), name) != names.end(); }

// Algorithms made by hand need no entry; nothing is known of their neighbours then.
const BoostInfo& neighbours_of(const std::string& name) {
  static const BoostInfo none;
  const auto it = registry().find(name);
  return it == registry().end() ? none : it->second;
}

void check_neighbours(const std::vector<BoostAlgorithmPtr>& algorithms) {
  std::set<std::string> names;
  for (const BoostAlgorithmPtr& a : algorithms) {
    if (a == nullptr) throw ValueError("a training algorithm is null", "boost");
    if (!names.insert(a->name()).second) throw ValueError(fmt::format("the training algorithm {} is given twice", a->name()), "boost", "remove one of them");
  }
  for (const std::string& a : names) {
    for (const std::string& b : neighbours_of(a).excludes) {
      if (names.contains(b))
        throw ValueError(fmt::format("the training algorithms {} and {} exclude each other", a, b), "boost", fmt::format("switch {} or {} off", a, b));
    }
  }
}

std::string settings_text(const Settings& settings, const BoostInfo& info) {
  std::string out;
  for (const SettingSpec& spec : info.settings) {
    const std::string name = fmt::format("boost.{}.{}", info.name, spec.name);
    out += fmt::format("{}{} {}", out.empty() ? "" : ", ", spec.name, settings.value_text(name));
  }
  return out;
}

}  // namespace

BoostSettings::BoostSettings(const std::vector<SettingSpec>& specs, const std::map<std::string, std::string>& given, const std::string& prefix) {
  std::vector<std::string> known;
  for (const SettingSpec& spec : specs) {
    known.emplace_back(spec.name);
    const std::string full = prefix + spec.name;
    SettingSpec named = spec;
    named.name = full.c_str();
    const auto it = given.find(spec.name);
    values_[spec.name] = parse_setting(named, it == given.end() ? spec.fallback : it->second, full);
  }
  for (const auto& [name, text] : given) {
    if (lists(known, name)) continue;
    const std::string near = did_you_mean(name, known);
    throw SettingsError(ErrorCode::kUnknownSetting, fmt::format("unknown setting {}{}", prefix, name), prefix + name,
                        near.empty() ? fmt::format("known are {}", fmt::join(known, ", ")) : near);
  }
}

const SettingValue& BoostSettings::at(const std::string& name) const {
  const auto it = values_.find(name);
  if (it == values_.end()) throw InternalError("the algorithm asks for a setting it has not declared: " + name);
  return it->second;
}

void register_boost(BoostInfo info) {
  if (!is_name(info.name)) throw ValueError(fmt::format("'{}' is no name of a training algorithm", info.name), "", "lower-case letters, digits and '_'");
  if (!info.make) throw ValueError(fmt::format("the training algorithm {} cannot be made", info.name), "", "set BoostInfo::make");
  for (const SettingSpec& spec : info.settings) {
    if (!is_name(spec.name) || std::string_view(spec.name) == "enabled")
      throw ValueError(fmt::format("'{}' is no name of a setting of {}", spec.name, info.name), "", "lower-case letters, digits and '_', other than 'enabled'");
  }
  const std::string name = info.name;
  if (!registry().emplace(name, std::move(info)).second) throw ValueError(fmt::format("a training algorithm is named {} already", name));
}

const std::map<std::string, BoostInfo>& boost_registry() { return registry(); }

BoostAlgorithmPtr make_boost(const std::string& name, const std::map<std::string, std::string>& settings) {
  const BoostInfo& info = info_of(name);
  return info.make(BoostSettings(info.settings, settings, fmt::format("boost.{}.", name)));
}

std::vector<BoostAlgorithmPtr> make_boosts(const Settings& settings) {
  std::vector<BoostAlgorithmPtr> out;
  for (const auto& [name, info] : registry()) {
    if (!settings.get_bool(fmt::format("boost.{}.enabled", name))) continue;
    std::map<std::string, std::string> given;
    for (const SettingSpec& spec : info.settings) given[spec.name] = settings.value_text(fmt::format("boost.{}.{}", name, spec.name));
    out.push_back(make_boost(name, given));
  }
  return out;
}

std::vector<BoostAlgorithmPtr> in_order(const std::vector<BoostAlgorithmPtr>& algorithms) {
  check_neighbours(algorithms);
  std::vector<BoostAlgorithmPtr> rest = algorithms, out;
  while (!rest.empty()) {
    // The first that none of the others must precede.
    const auto next = std::find_if(rest.begin(), rest.end(), [&](const BoostAlgorithmPtr& a) {
      return std::none_of(rest.begin(), rest.end(), [&](const BoostAlgorithmPtr& b) { return b != a && lists(neighbours_of(b->name()).precedes, a->name()); });
    });
    if (next == rest.end()) {
      std::vector<std::string> names;
      for (const BoostAlgorithmPtr& a : rest) names.push_back(a->name());
      throw ValueError(fmt::format("the training algorithms {} must each precede another of them", fmt::join(names, ", ")), "boost", "switch one of them off");
    }
    out.push_back(*next);
    rest.erase(next);
  }
  return out;
}

std::vector<BoostAlgorithmPtr> apply_boosts(TrainStep& step, const BuildContext& context, const std::vector<BoostAlgorithmPtr>& algorithms) {
  std::vector<BoostAlgorithmPtr> applied;
  for (const BoostAlgorithmPtr& a : in_order(algorithms)) {
    if (!a->idle().empty()) continue;
    if (std::exchange(a->applied_, true))
      throw ValueError(fmt::format("the training algorithm {} is part of another training step", a->name()), "boost", "make one for every Model");
    a->apply(step, context);
    step.steps_per_update *= a->steps_per_update();
    applied.push_back(a);
  }
  return applied;
}

std::string explain_boosts(const Settings& settings) {
  std::string out;
  std::set<std::string> active;
  std::map<std::string, std::string> idle;
  for (const BoostAlgorithmPtr& a : in_order(make_boosts(settings))) {
    if (std::string why = a->idle(); !why.empty()) {
      idle[a->name()] = std::move(why);
      continue;
    }
    active.insert(a->name());
    const BoostInfo& info = info_of(a->name());
    out += fmt::format("{}. {}: {}\n   {}\n", active.size(), info.name, info.doc, settings_text(settings, info));
  }
  if (active.empty()) out += "no training algorithm is active\n";
  for (const auto& [name, info] : registry()) {
    if (active.contains(name)) continue;
    const std::string why =
        idle.contains(name) ? idle[name] : fmt::format("boost.{}.enabled is false ({})", name, settings.origin(fmt::format("boost.{}.enabled", name)));
    out += fmt::format("-  {}: {}\n   not active: {}\n", info.name, info.doc, why);
  }
  return out;
}

OtherWeights::OtherWeights(BoostAlgorithm& algorithm) {
  for (const auto& [parameter, other] : algorithm.other_weights()) {
    before_.emplace_back(parameter, parameter->stored());
    parameter->store(other->stored().clone());
  }
}

OtherWeights::~OtherWeights() {
  for (const auto& [parameter, value] : before_) parameter->store(value);
}

}  // namespace sindri::train
