// The registry of training algorithms, and their order.
#include "sindri/train/boost.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "sindri/core/error.h"

namespace sindri::train {

namespace {

bool lists(const std::vector<std::string>& names, const std::string& name) { return std::find(names.begin(), names.end(), name) != names.end(); }

// Algorithms made by hand need no entry; nothing is known of their neighbours then.
const BoostFacts& facts_of(const std::string& name) {
  static const BoostFacts none;
  return boosts().has(name) ? boosts().find(name).facts : none;
}

void check_neighbours(const std::vector<BoostAlgorithmPtr>& algorithms) {
  std::set<std::string> names;
  for (const BoostAlgorithmPtr& a : algorithms) {
    if (a == nullptr) throw ValueError("a training algorithm is null", "boost");
    if (!names.insert(a->name()).second) throw ValueError(fmt::format("the training algorithm {} is given twice", a->name()), "boost", "remove one of them");
  }
  for (const std::string& a : names) {
    for (const std::string& b : facts_of(a).excludes) {
      if (names.contains(b))
        throw ValueError(fmt::format("the training algorithms {} and {} exclude each other", a, b), "boost", fmt::format("switch {} or {} off", a, b));
    }
  }
}

}  // namespace

Registry<MakeBoost, BoostFacts>& boosts() {
  static Registry<MakeBoost, BoostFacts>& all = *new Registry<MakeBoost, BoostFacts>("training algorithm");  // filled before main, by any library
  return all;
}

std::vector<BoostAlgorithmPtr> in_order(const std::vector<BoostAlgorithmPtr>& algorithms) {
  check_neighbours(algorithms);
  std::vector<BoostAlgorithmPtr> rest = algorithms, out;
  while (!rest.empty()) {
    // The first that none of the others must precede.
    const auto next = std::find_if(rest.begin(), rest.end(), [&](const BoostAlgorithmPtr& a) {
      return std::none_of(rest.begin(), rest.end(), [&](const BoostAlgorithmPtr& b) { return b != a && lists(facts_of(b->name()).precedes, a->name()); });
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
