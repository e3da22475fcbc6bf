// Makes the training algorithms that settings enable, and explains them.
#include <fmt/format.h>

#include <map>
#include <set>

#include "sindri/app/settings.h"
#include "sindri/train/boost.h"

namespace sindri::app {

namespace {

std::string settings_text(const Settings& settings, const Registered& info) {
  std::string out;
  for (const SettingSpec& spec : info.settings) {
    const std::string value = settings.value_text(fmt::format("boost.{}.{}", info.name, spec.name));
    out += fmt::format("{}{} {}", out.empty() ? "" : ", ", spec.name, value.empty() ? "(empty)" : value);
  }
  return out;
}

}  // namespace

std::vector<train::BoostAlgorithmPtr> make_boosts(const Settings& settings) {
  std::vector<train::BoostAlgorithmPtr> out;
  for (const std::string& name : train::boosts().names()) {
    if (!settings.get_bool(fmt::format("boost.{}.enabled", name))) continue;
    out.push_back(train::boosts().make(name, settings.switched("boost." + name, train::boosts())));
  }
  return out;
}

std::string explain_boosts(const Settings& settings) {
  std::string out;
  std::set<std::string> active;
  std::map<std::string, std::string> idle;
  for (const train::BoostAlgorithmPtr& a : train::in_order(make_boosts(settings))) {
    if (std::string why = a->idle(); !why.empty()) {
      idle[a->name()] = std::move(why);
      continue;
    }
    active.insert(a->name());
    const Registered& info = train::boosts().info(a->name());
    out += fmt::format("{}. {}: {}\n   {}\n", active.size(), info.name, info.doc, settings_text(settings, info));
  }
  if (active.empty()) out += "no training algorithm is active\n";
  for (const std::string& name : train::boosts().names()) {
    if (active.contains(name)) continue;
    const std::string why =
        idle.contains(name) ? idle[name] : fmt::format("boost.{}.enabled is false ({})", name, settings.origin(fmt::format("boost.{}.enabled", name)));
    out += fmt::format("-  {}: {}\n   not active: {}\n", name, train::boosts().info(name).doc, why);
  }
  return out;
}

}  // namespace sindri::app
