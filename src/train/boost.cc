// The registry of training algorithms, and their order.
#include "sindri/train/boost.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "sindri/comm/communicator.h"
#include "sindri/core/error.h"
#include "sindri/core/log.h"
#include "sindri/core/nearest.h"
#include "sindri/nn/conv.h"
#include "sindri/ops/elementwise.h"
#include "sindri/ops/random.h"
#include "src/train/batch_parts.h"
#include "src/train/data_parallel_state.h"

namespace sindri::train {

namespace {

bool lists(const std::vector<std::string>& names, const std::string& name) { return std::find(names.begin(), names.end(), name) != names.end(); }

// Algorithms constructed directly need no registry entry. Then it is not known which others they exclude or precede.
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

void check_keeps_weights(const std::string& name) {
  if (facts_of(name).keeps_weights) return;
  std::vector<std::string> keepers = boosts().names();
  std::erase_if(keepers, [](const std::string& n) { return !facts_of(n).keeps_weights; });
  keepers.insert(keepers.begin(), "trained");
  throw ValueError(fmt::format("no training algorithm named '{}' keeps weights", name), "boost", did_you_mean(name, keepers));
}

std::vector<const Parameter*> grouped_weights(nn::Cell& network) {
  std::vector<const Parameter*> out;
  for (const auto& [path, cell] : network.cells_and_names())
    if (auto* const conv = dynamic_cast<nn::Conv2d*>(cell); conv != nullptr && conv->options().group > 1) out.push_back(&conv->weight());
  return out;
}

int64_t steps_per_update(const std::vector<BoostAlgorithmPtr>& algorithms) {
  int64_t steps = 1;
  for (const BoostAlgorithmPtr& a : algorithms) steps *= a->idle().empty() ? a->steps_per_update() : 1;
  return steps;
}

void warn_without_updates(const TrainStep& step, int64_t first, int64_t end) {
  if (first >= end || end - first >= step.steps_per_update) return;
  for (int64_t s = first; s < end; ++s)
    if (step.updates(s)) return;
  if (comm::world().rank() != 0) return;
  log::warn("train",
            fmt::format("no weight will change: the run trains {} of the {} steps of one update, but not the last one | train longer, or lower the "
                        "steps of one update (grad_accumulation)",
                        end - first, step.steps_per_update));
}

std::vector<BoostAlgorithmPtr> in_order(const std::vector<BoostAlgorithmPtr>& algorithms) {
  check_neighbours(algorithms);
  std::vector<BoostAlgorithmPtr> rest = algorithms, out;
  while (!rest.empty()) {
    // The first algorithm that no other remaining one must precede.
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

std::vector<size_t> network_order(const BuildContext& context) {
  const auto place = [&](size_t i) {
    const auto at = std::find_if(context.network_state.begin(), context.network_state.end(), [&](const auto& e) { return e.second == context.parameters[i]; });
    return at - context.network_state.begin();
  };
  std::vector<std::pair<ptrdiff_t, size_t>> places;
  for (size_t i = 0; i < context.parameters.size(); ++i) places.emplace_back(place(i), i);
  std::sort(places.begin(), places.end());
  std::vector<size_t> out;
  for (const auto& [at, i] : places) out.push_back(i);
  return out;
}

std::vector<BoostAlgorithmPtr> apply_boosts(TrainStep& step, const BuildContext& context, const std::vector<BoostAlgorithmPtr>& algorithms) {
  std::vector<BoostAlgorithmPtr> applied;
  for (const BoostAlgorithmPtr& a : in_order(algorithms)) {
    if (const std::string why = a->idle(); !why.empty()) {
      if (comm::world().rank() == 0) log::warn("boost", fmt::format("{} is not applied: {}", a->name(), why));
      continue;
    }
    if (a->applied_)
      throw ValueError(fmt::format("the training algorithm {} already belongs to another training step", a->name()), "boost", "make one per Model");
    a->apply(step, context);
    a->applied_ = true;  // an algorithm whose apply() threw may be used in another step
    applied.push_back(a);
  }
  step.steps_per_update *= steps_per_update(applied);
  return applied;
}

// Delegates to the default constructor: so the destructor restores the values already exchanged if a later exchange throws.
OtherWeights::OtherWeights(BoostAlgorithm& algorithm) : OtherWeights() {
  for (const auto& [parameter, other] : algorithm.other_weights()) {
    before_.emplace_back(parameter, parameter->stored());
    parameter->store(other->stored().clone());
  }
}

OtherWeights::~OtherWeights() {
  for (const auto& [parameter, value] : before_) parameter->store(value);
}

namespace {

// Restores the run's random state and the number of the next op. Measuring sets the state to that of each virtual rank.
class RandomScope {
 public:
  RandomScope() = default;
  ~RandomScope() {
    ops::rng_state().store(state_);
    ops::set_rng_instance(instance_);
  }
  RandomScope(const RandomScope&) = delete;
  RandomScope& operator=(const RandomScope&) = delete;

 private:
  Tensor state_ = ops::rng_state().stored();
  int64_t instance_ = ops::rng_instance();
};

}  // namespace

namespace {

// Sums over batches for one virtual rank.
using Measured = TensorList;

// Returns the means over the batches of all virtual ranks, summed along their tree; empty if there was no batch.
TensorList means_of(const std::vector<Measured>& sums, int64_t batches, const std::vector<BuildContext::MovingAverage>& moving, comm::Communicator* ranks) {
  std::vector<std::vector<double>> leaves;
  for (const Measured& of_virtual_rank : sums) {
    std::vector<double>& leaf = leaves.emplace_back();
    for (const Tensor& sum : of_virtual_rank) {
      const std::vector<double> values = sum.to_vector<double>();
      leaf.insert(leaf.end(), values.begin(), values.end());
    }
    leaf.push_back(static_cast<double>(batches));
  }
  const std::vector<double> all = sum_of_virtual_ranks(std::move(leaves), ranks, "measured statistics");
  if (all.back() == 0) return {};
  TensorList means;
  auto at = all.begin();
  for (const BuildContext::MovingAverage& m : moving) {
    std::vector<double> values(at, at + m.parameter->shape().numel());
    at += m.parameter->shape().numel();
    for (double& v : values) v /= all.back();
    means.push_back(Tensor::from_values(m.parameter->shape(), values, m.parameter->dtype()));
  }
  return means;
}

}  // namespace

// As in a training step, each virtual rank runs its own part of a batch, with the random numbers of its position. So the means are the same in every layout.
TensorList measured_statistics(const TrainStep& step, const std::vector<BuildContext::MovingAverage>& moving, const TrainState& state, int64_t batches) {
  if (!state.open_data || moving.empty()) return {};
  const int64_t ranks = state.ranks == nullptr ? 1 : state.ranks->size(), parts = std::max<int64_t>(1, state.virtual_ranks / ranks);
  const int64_t first = state.ranks == nullptr ? 0 : state.ranks->rank() * parts;
  std::vector<Measured> sums(static_cast<size_t>(parts));
  TensorList before;
  for (const BuildContext::MovingAverage& m : moving) {
    before.push_back(m.parameter->stored());
    for (Measured& of : sums) of.push_back(Tensor::zeros(m.parameter->shape(), m.parameter->dtype()));
  }
  int64_t seen = 0;
  {
    const RandomScope random;
    const std::shared_ptr<void> restore(nullptr, [&](void*) {
      for (size_t i = 0; i < moving.size(); ++i) moving[i].parameter->store(before[i]);
    });
    const auto next = state.open_data();
    const Tensor key = ops::rng_state().value();
    for (TensorList batch; seen < batches && next(&batch); ++seen) {
      for (int64_t j = 0; j < parts; ++j) {
        for (const BuildContext::MovingAverage& m : moving) m.parameter->store(Tensor::zeros(m.parameter->shape(), m.parameter->dtype()));
        ops::begin_rng_step();
        if (state.virtual_ranks > 1) ops::rng_state().assign(key_of_virtual_rank(key, first + j));
        (void)step.forward(parts == 1 ? batch : part_of(batch, j, parts, "dist.virtual_ranks"));
        Measured& of = sums[static_cast<size_t>(j)];
        for (size_t i = 0; i < moving.size(); ++i)  // moving = momentum·0 + (1 - momentum)·batch
          of[i] = ops::add(of[i], ops::div(moving[i].parameter->value(), 1 - moving[i].momentum));
      }
    }
  }
  return means_of(sums, seen, moving, state.ranks);
}

}  // namespace sindri::train
