// Keeps ranks identical at the start and during training, and lets them agree between steps: plans, broadcasts, hashes, moving averages.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <xxhash.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <set>
#include <sstream>

#include "sindri/core/error.h"
#include "sindri/op/kernel_choice.h"
#include "sindri/ops/comm.h"
#include "sindri/ops/random.h"
#include "src/train/data_parallel_state.h"
#include "src/train/first_rank.h"

namespace sindri::train {

namespace {

uint64_t hash_of(const Parameter& p) {
  const Tensor t = p.stored().to(Device{});
  return XXH3_64bits(t.raw_data(), static_cast<size_t>(t.nbytes()));
}

std::vector<uint64_t> gather(comm::Communicator& c, const std::vector<uint64_t>& mine, const char* what) {
  std::vector<uint64_t> all(mine.size() * static_cast<size_t>(c.size()));
  c.all_gather(mine.data(), all.data(), static_cast<int64_t>(mine.size()), DType::kInt64, {what});
  return all;
}

bool all_equal(const std::vector<uint64_t>& v) {
  return std::all_of(v.begin(), v.end(), [&](uint64_t x) { return x == v[0]; });
}

std::string ranks_text(const std::vector<int>& ranks) { return fmt::format("{} {}", ranks.size() == 1 ? "rank" : "ranks", fmt::join(ranks, ", ")); }

}  // namespace

void DataParallel::State::compare_plans(const PlanLines& lines) const {
  std::string text;
  for (const std::string& l : lines) text += l + "\n";
  const std::vector<uint64_t> hashes = gather(comm, {XXH3_64bits(text.data(), text.size())}, "plan check");
  if (all_equal(hashes)) return;
  check_same_on_all(comm, "plans", text);  // throws an error that shows the difference
}

void DataParallel::State::broadcast(const std::vector<Parameter*>& list) const {
  std::set<const Parameter*> done;
  for (size_t i = 0; i < list.size(); ++i) {
    if (!done.insert(list[i]).second) continue;
    const bool on_host = list[i]->stored().device().is_cpu();
    Tensor t = on_host ? list[i]->stored().clone() : list[i]->stored().to(Device{});
    comm.broadcast(t.mutable_raw_data(), t.numel(), t.dtype(), 0, {"parameter broadcast", static_cast<int>(i)});
    if (comm.rank() != 0) list[i]->store(t);
  }
}

// Copies the network's values to all virtual ranks of this process.
void DataParallel::State::give_to_others() {
  for (const Local& l : locals)
    for (const auto& other : l.others) other->store(l.own->stored().clone());
}

// Copies the collected gradients of the first virtual rank to the others.
void DataParallel::State::give_collected() {
  const size_t count = collected.size() / static_cast<size_t>(per_rank());
  for (size_t i = count; i < collected.size(); ++i) collected[i]->store(collected[i % count]->stored().clone());
}

void DataParallel::begin(const PlanLines& more, const std::vector<Parameter*>& training_state) {
  State& s = *state_;
  if (!active()) return;
  s.stop_request.store(Tensor::scalar(0));
  s.stop_agreed.store(Tensor::scalar(0));
  s.last_stop = {};
  s.bad_step = 0;
  (void)ops::take_nonfinite_operand();
  if (s.ranks() > 1) {
    std::vector<Parameter*> all = s.parameters;
    for (const auto& [path, p] : s.network_state) all.push_back(p);
    all.insert(all.end(), training_state.begin(), training_state.end());
    all.push_back(&ops::rng_state());
    PlanLines lines = plan(more);
    for (size_t i = s.parameters.size(); i < all.size(); ++i) lines.push_back(fmt::format("state: {} {}", all[i]->name(), s.wherever(*all[i])));
    s.compare_plans(lines);
    if (s.options.parameter_broadcast) s.broadcast(all);
  }
  s.give_to_others();
  s.give_collected();
  if (const std::optional<NamedTensors> saved = std::exchange(s.saved, std::nullopt)) s.take_own(*saved);
}

void DataParallel::share_kernel_choices(const std::function<void()>& compile) {
  comm::Communicator& c = state_->comm;
  if (c.size() == 1) return;
  const std::string text = from_first_rank(c, "kernel choices", [&] {
    compile();
    std::string all;
    for (const auto& [query, kernel] : kernel_choices()) all += fmt::format("{}\n{}\n", query, kernel);
    return all;
  });
  if (c.rank() == 0) return;
  KernelChoices choices;
  std::istringstream lines(text);
  for (std::string query, kernel; std::getline(lines, query) && std::getline(lines, kernel);) choices[query] = kernel;
  set_kernel_choices(choices);
  compile();
}

void DataParallel::check_replicas() {
  const State& s = *state_;
  if (s.ranks() == 1) return;
  std::vector<uint64_t> mine;
  for (const Parameter* p : s.parameters) mine.push_back(hash_of(*p));
  const std::vector<uint64_t> whole = gather(s.comm, {XXH3_64bits(mine.data(), mine.size() * sizeof(uint64_t))}, "replica check");
  if (all_equal(whole)) return;
  std::map<uint64_t, int> votes;
  for (const uint64_t h : whole) ++votes[h];
  // The most frequent hash; in a tie, the lower rank's.
  const uint64_t usual = *std::max_element(whole.begin(), whole.end(), [&](uint64_t a, uint64_t b) { return votes[a] < votes[b]; });
  std::vector<int> odd;
  for (size_t r = 0; r < whole.size(); ++r)
    if (whole[r] != usual) odd.push_back(static_cast<int>(r));
  const auto reference = std::find(whole.begin(), whole.end(), usual) - whole.begin();
  const std::vector<uint64_t> each = gather(s.comm, mine, "replicas that differ");
  size_t first = mine.size();
  for (const int r : odd)
    for (size_t i = 0; i < first; ++i)
      if (each[static_cast<size_t>(r) * mine.size() + i] != each[static_cast<size_t>(reference) * mine.size() + i]) first = i;
  throw CommError(ErrorCode::kReplicas,
                  fmt::format("the weights of {} differ from those of rank {}: the first is '{}' (parameter {} of {})", ranks_text(odd), reference,
                              s.parameters[first]->name(), first, mine.size()),
                  "replica check", "something wrote to weights on one rank only, or its memory fails; continue from a checkpoint");
}

void DataParallel::after_step(int64_t step) {
  State& s = *state_;
  const auto found = ops::take_nonfinite_operand();
  if (!found) s.bad_step = 0;
  else if (s.bad_step == 0) {
    s.bad_step = step;
    // The watched call may not be one of these buckets: a program may reduce other gradients, too.
    const auto bucket = static_cast<size_t>(found->index);
    const auto has = s.sent.find({bucket, static_cast<size_t>(found->tensors)});
    int64_t at = -1;
    if (has != s.sent.end() && found->tensor < found->tensors) at = has->second[static_cast<size_t>(found->tensor)];
    else if (bucket < s.buckets.size() && found->tensors == s.buckets[bucket].last - s.buckets[bucket].first + 1) at = s.buckets[bucket].first + found->tensor;
    s.bad_parameter = at >= 0 ? s.parameters[static_cast<size_t>(at)]->name() : fmt::format("tensor {} of reduction {}", found->tensor, found->index);
  }
  const int64_t every = s.options.replica_check_steps;
  if (every > 0 && step % every == 0) check_replicas();
}

// Returns the ranks where non-finite gradients occurred first: from the next step on all ranks' weights are affected.
std::string DataParallel::nonfinite_ranks() {
  const State& s = *state_;
  const std::vector<std::string> all = s.comm.all_gather_text(s.bad_step == 0 ? "" : fmt::format("{} {}", s.bad_step, s.bad_parameter), {"ranks not finite"});
  int64_t first = INT64_MAX;
  std::string text;
  for (size_t r = 0; r < all.size(); ++r) {
    if (all[r].empty()) continue;
    const size_t space = all[r].find(' ');
    const int64_t step = std::stoll(all[r].substr(0, space));
    if (step > first) continue;
    if (step < first) text.clear();
    first = step;
    text += fmt::format("{}rank {} (of '{}', at step {})", text.empty() ? "" : ", ", r, all[r].substr(space + 1), step);
  }
  return text;
}

std::vector<double> sum_of_virtual_ranks(std::vector<std::vector<double>> leaves, comm::Communicator* ranks, const char* what) {
  for (size_t width = 1; width < leaves.size(); width *= 2)
    for (size_t j = 0; j + width < leaves.size(); j += 2 * width)
      for (size_t i = 0; i < leaves[j].size(); ++i) leaves[j][i] += leaves[j + width][i];
  std::vector<double>& sums = leaves[0];
  if (ranks != nullptr) ranks->all_reduce(sums.data(), sums.data(), static_cast<int64_t>(sums.size()), DType::kFloat64, ReduceOp::kSum, {what});
  return std::move(sums);
}

std::vector<double> DataParallel::State::mean_of(std::vector<std::vector<double>> leaves, const char* what) const {
  std::vector<double> sums = sum_of_virtual_ranks(std::move(leaves), &comm, what);
  for (double& x : sums) x *= 1.0 / static_cast<double>(total);
  return sums;
}

// Mean of means; variance of the mixture: mean(var) + mean(mean²) - mean(mean)². In float64.
void DataParallel::State::merge_one(Parameter* mean, Parameter* variance) {
  const auto of_virtual = [&](const Parameter* p, int64_t j) {
    const auto l = std::find_if(locals.begin(), locals.end(), [&](const Local& x) { return x.own == p; });
    const bool own = j == 0 || l == locals.end() || l->others.empty();
    return (own ? p->stored() : l->others[static_cast<size_t>(j - 1)]->stored()).to_vector<double>();
  };
  const auto n = static_cast<size_t>(mean->shape().numel());
  std::vector<std::vector<double>> leaves;  // mean, mean², variance
  for (int64_t j = 0; j < per_rank(); ++j) {
    const std::vector<double> m = of_virtual(mean, j);
    leaves.push_back(m);
    for (size_t i = 0; i < n; ++i) leaves.back().push_back(m[i] * m[i]);
    if (variance == nullptr) continue;
    const std::vector<double> v = of_virtual(variance, j);
    leaves.back().insert(leaves.back().end(), v.begin(), v.end());
  }
  const std::vector<double> sums = mean_of(std::move(leaves), "moving averages");
  std::vector<double> m(sums.begin(), sums.begin() + static_cast<ptrdiff_t>(n)), v;
  mean->store(Tensor::from_values(mean->shape(), m, mean->dtype()));
  if (variance == nullptr) return;
  for (size_t i = 0; i < n; ++i) v.push_back(std::max(0.0, sums[2 * n + i] + sums[n + i] - m[i] * m[i]));
  variance->store(Tensor::from_values(variance->shape(), v, variance->dtype()));
}

void DataParallel::copy_from_first(const std::vector<Parameter*>& state) { state_->copied.insert(state_->copied.end(), state.begin(), state.end()); }

void DataParallel::merge_moving_averages() {
  State& s = *state_;
  if (!active()) return;
  std::set<const Parameter*> merged;
  std::vector<Parameter*> copied = s.copied;
  if (s.options.bn_merge == "mean") {
    for (const BuildContext::MovingAverage& a : s.averages) {
      if (a.mean == nullptr) continue;
      s.merge_one(a.mean, a.parameter);
      merged.insert({a.mean, a.parameter});
    }
    for (const BuildContext::MovingAverage& a : s.averages)
      if (merged.insert(a.parameter).second) s.merge_one(a.parameter, nullptr);
  }
  for (const State::Local& l : s.locals)  // other kinds of state have no merge rule: virtual rank 0's is used
    if (l.written && !merged.contains(l.own)) copied.push_back(l.own);
  if (s.ranks() > 1) s.broadcast(copied);
  s.give_to_others();
}

// The update uses the mean over virtual ranks, which does not change if each of them holds the mean of their values. In float64, so that the mean of equal
// values is exact: merging again changes nothing.
void DataParallel::merge_collected() {
  State& s = *state_;
  if (!active()) return;
  const size_t count = s.collected.size() / static_cast<size_t>(s.per_rank());
  for (size_t i = 0; i < count; ++i) {
    std::vector<std::vector<double>> leaves;
    for (size_t at = i; at < s.collected.size(); at += count) leaves.push_back(s.collected[at]->stored().to_vector<double>());
    Parameter& first = *s.collected[i];
    first.store(Tensor::from_values(first.shape(), s.mean_of(std::move(leaves), "collected gradients"), first.dtype()));
  }
  s.give_collected();
}

void DataParallel::give_moving_averages() { state_->give_to_others(); }

// Keeps handles only: merging stores other tensors and never writes into existing ones.
std::shared_ptr<void> DataParallel::merged() {
  if (!active()) return nullptr;
  const std::shared_ptr<State> s = state_;
  std::vector<std::pair<Parameter*, Tensor>> own;
  for (const State::Local& l : s->locals) {
    own.emplace_back(l.own, l.own->stored());
    for (const auto& other : l.others) own.emplace_back(other.get(), other->stored());
  }
  for (Parameter* p : s->copied) own.emplace_back(p, p->stored());
  std::shared_ptr<void> restore(nullptr, [s, own = std::move(own)](void*) {
    for (const auto& [p, value] : own) p->store(value);
  });
  merge_moving_averages();
  return restore;
}

bool DataParallel::any(bool flag, const char* what) {
  int32_t value = flag ? 1 : 0;
  state_->comm.all_reduce(&value, &value, 1, DType::kInt32, ReduceOp::kMax, {what});
  return value != 0;
}

}  // namespace sindri::train
