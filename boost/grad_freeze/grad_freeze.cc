// Gradient freezing (MindSpore: mindspore.boost.grad_freeze): some steps do not train the first parameters.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "sindri/boost/grad_freeze.h"
#include "sindri/core/error.h"
#include "sindri/core/log.h"
#include "sindri/train/boost.h"

namespace sindri::boost {

std::vector<size_t> freeze_starts(const std::vector<std::string>& names, int64_t groups) {
  std::vector<size_t> units;  // index of each unit's first parameter
  size_t members = 3;
  for (size_t i = 0; i < names.size(); ++i) {
    const bool joins = names[i].find("bn") != std::string::npos || names[i].find("bias") != std::string::npos || (members < 3 && !units.empty());
    if (joins && !units.empty()) {
      ++members;
      continue;
    }
    units.push_back(i);
    members = 1;
  }
  const size_t stride = units.size() / static_cast<size_t>(groups);
  std::vector<size_t> out;
  for (size_t g = 0; g < static_cast<size_t>(groups); ++g) out.push_back(units.empty() ? 0 : units[g * stride]);
  return out;
}

std::vector<int> freeze_sequence(int64_t groups, int64_t type, double p, int64_t steps, uint64_t seed) {
  const auto length = static_cast<size_t>(static_cast<double>(steps) * 1.01);
  std::vector<int> out;
  if (groups <= 1) return std::vector<int>(std::max<size_t>(length, 1), 0);
  if (type == 0) {
    const double n = static_cast<double>(groups);
    const auto whole = static_cast<size_t>(std::min(std::floor(p * (n - 1) / (1 - p)), static_cast<double>(length)));
    while (out.size() < length) {
      out.insert(out.end(), whole, 0);
      for (int i = 1; i < groups; ++i) out.push_back(i);
    }
  } else {
    std::mt19937_64 draw(seed);
    const auto all = static_cast<uint64_t>(groups * (groups - 1) / 2);
    size_t frozen = 0;
    out.push_back(0);
    while (out.size() < length) {
      if (static_cast<double>(frozen) / static_cast<double>(out.size()) >= 1 - p) {
        out.push_back(0);
        continue;
      }
      uint64_t at = draw() % all;
      int i = 1;
      for (; at >= static_cast<uint64_t>(groups - i); ++i) at -= static_cast<uint64_t>(groups - i);
      out.push_back(i);
      ++frozen;
    }
  }
  out.resize(std::max<size_t>(length, 1));
  return out;
}

namespace {

class GradFreeze final : public train::BoostAlgorithm {
 public:
  /// starts: the first trained parameter of each variant; if empty, freeze_starts computes it.
  GradFreeze(int64_t groups, std::vector<size_t> starts, std::vector<int> sequence)
      : groups_(groups), sequence_(std::move(sequence)), starts_(std::move(starts)) {}
  std::string name() const override { return "grad_freeze"; }
  std::string idle() const override { return groups_ <= 1 ? "param_groups is 1: there is one variant, which trains everything" : ""; }

  void apply(train::TrainStep& step, const train::BuildContext& context) override {
    const std::vector<size_t> order = train::network_order(context);
    std::vector<std::string> names;
    for (const size_t i : order) names.push_back(context.parameters[i]->name());
    if (starts_.empty()) starts_ = freeze_starts(names, groups_);
    if (starts_.back() >= std::max<size_t>(names.size(), 1))
      throw ValueError(fmt::format("variant {} would train from parameter {} on, of {}", groups_ - 1, starts_.back(), names.size()), "grad_freeze",
                       "each variant of `starts` must train at least one parameter");
    if (starts_.back() == 0) {
      log::write(
          log::Level::kWarn, "boost",
          fmt::format("grad_freeze: {} parameters are too few for {} variants: nothing is ever frozen | give fewer param_groups", names.size(), groups_));
      return;
    }
    for (const size_t start : starts_) {
      left_out_.emplace_back(start == 0 ? size_t{0} : order.size(), false);
      for (size_t i = 0; i < start; ++i) left_out_.back()[order[i]] = true;
    }
    step_ = &step;
    const size_t choice = step.add_choice(static_cast<int>(groups_), [this](const train::TrainStep& self, int64_t number) { return at(self, number); });
    step.gradients = [this, choice, inner = step.gradients](train::TrainStep& self, const train::TrainStep::Batch& batch) {
      self.left_out = left_out_[static_cast<size_t>(self.chosen(choice))];
      const std::shared_ptr<void> restore(nullptr, [&self](void*) { self.left_out.clear(); });
      return inner(self, batch);
    };
  }

  train::EventColumns columns(const train::TrainState& state) const override {
    if (step_ == nullptr) return {{"frozen_steps", 0}};
    const int64_t steps = step_->steps_before + state.cur_step_num;
    int64_t frozen = 0;
    for (int64_t i = -step_->steps_before; i < state.cur_step_num; ++i) frozen += left_out_[static_cast<size_t>(at(*step_, i))].empty() ? 0 : 1;
    return {{"frozen_steps", steps > 0 ? static_cast<double>(frozen) / static_cast<double>(steps) : 0}};
  }

 private:
  // The variant of a step. Updates that measure all layers train all of them; otherwise frozen layers would keep outdated measurements.
  int at(const train::TrainStep& step, int64_t number) const {
    const int64_t update = step.update_of(number);
    if (step.needs_whole && step.needs_whole(update)) return 0;
    return sequence_[static_cast<size_t>(update) % sequence_.size()];
  }
  int64_t groups_;
  std::vector<int> sequence_;
  std::vector<size_t> starts_;  ///< the first trained parameter of each variant, in the network's order
  std::vector<std::vector<bool>> left_out_;  ///< by variant: TrainStep::left_out
  const train::TrainStep* step_ = nullptr;  ///< null: nothing is frozen
};

// Checks of the settings `starts` and `strategy`.
std::vector<size_t> checked_starts(const std::vector<double>& starts) {
  for (size_t i = 0; i < starts.size(); ++i)
    if (i == 0 ? starts[i] != 0 : starts[i] < starts[i - 1])
      throw ValueError("`starts` must begin with 0 and not decrease", "grad_freeze",
                       "give for each variant the first parameter that it trains, as [0, 12, 30]");
  return {starts.begin(), starts.end()};
}
std::vector<int> checked_strategy(const std::vector<double>& strategy, int64_t variants) {
  for (const double v : strategy)
    if (v >= static_cast<double>(variants))
      throw ValueError(fmt::format("`strategy` names variant {}, there are {}", v, variants), "grad_freeze", "variants are counted from 0");
  return {strategy.begin(), strategy.end()};
}

using enum SettingType;
const auto& kGradFreeze = train::boosts().add({
    .name = "grad_freeze",
    .doc = "skips the training of layers near the input in some steps",
    .settings = {{.name = "param_groups",
                  .type = kInt,
                  .fallback = "10",
                  .doc = "number of variants; variant 0 trains all layers, later ones fewer",
                  .min = 1,
                  .max = 1000},
                 {.name = "freeze_type",
                  .type = kInt,
                  .fallback = "1",
                  .doc = "0: variants in sequence after full steps; 1: variants drawn at random",
                  .min = 0,
                  .max = 1},
                 {.name = "freeze_p", .type = kFloat, .fallback = "0.7", .doc = "share of the steps that train all layers", .min = 1e-9, .max = 1 - 1e-9},
                 {.name = "total_steps", .type = kInt, .fallback = "65536", .doc = "length of the schedule", .min = 1, .max = 1e8, .unit = "updates"},
                 {.name = "seed", .type = kInt, .fallback = "0", .doc = "seed of the random draws", .min = 0},
                 {.name = "starts",
                  .type = kIntList,
                  .fallback = "[]",
                  .doc = "the first parameter, in the network's order, that each variant trains; replaces param_groups",
                  .min = 0},
                 {.name = "strategy",
                  .type = kIntList,
                  .fallback = "[]",
                  .doc = "the variant of each update, repeated from the start when the list ends; replaces freeze_type",
                  .min = 0}},
    .facts = {.excludes = {"sam"}},
    .make =
        [](const SettingValues& s) {
          std::vector<size_t> starts = checked_starts(s.get_list("starts"));
          const int64_t groups = starts.empty() ? s.get_int("param_groups") : static_cast<int64_t>(starts.size());
          std::vector<int> sequence = checked_strategy(s.get_list("strategy"), groups);
          if (sequence.empty())
            sequence =
                freeze_sequence(groups, s.get_int("freeze_type"), s.get_float("freeze_p"), s.get_int("total_steps"), static_cast<uint64_t>(s.get_int("seed")));
          return std::make_shared<GradFreeze>(groups, std::move(starts), std::move(sequence));
        },
});

}  // namespace

}  // namespace sindri::boost
