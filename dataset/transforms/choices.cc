// Transforms composed of others: applied with a probability, chosen, or in random order. Each inner transform draws from its own key.
#include <fmt/format.h>

#include <numeric>

#include "dataset/transforms/inner_ops.h"
#include "sindri/dataset/augment.h"

namespace sindri::dataset {

Value run_chain(const vision::Chain& chain, RowCall& call, InnerDraws& draws, Value value) {
  for (const Transform& t : chain) {
    Value out;
    RowCall inner(call.scratch, draws.next(), std::span<const Value>(&value, 1), std::span<Value>(&out, 1), {});
    t.op()->run(inner);
    value = out;
  }
  return value;
}

ColumnInfo infer_chain(const vision::Chain& chain, ColumnInfo c) {
  for (const Transform& t : chain) c = t.op()->infer(std::span<const ColumnInfo>(&c, 1))[0];
  return c;
}

ColumnInfo either_column(const ColumnInfo& a, const ColumnInfo& b) {
  ColumnInfo c = a;
  if (!b.dtype_known || a.dtype != b.dtype) c.dtype_known = false;
  if (!b.rank_known || a.shape.rank() != b.shape.rank()) c.rank_known = false;
  if (!c.rank_known) c.shape = {};
  for (int i = 0; c.rank_known && i < c.shape.rank(); ++i) {
    if (a.shape[i] != b.shape[i]) c.shape[i] = -1;
  }
  return c;
}

void check_chain(const std::string& who, const vision::Chain& chain) {
  if (chain.empty()) throw ValueError(who + ": a list of transforms must hold at least one, got none");
  for (const Transform& t : chain) {
    if (t.op()->num_inputs() > 1 || t.op()->num_outputs() != 1) throw ValueError(fmt::format("{}: {} does not have exactly one column", who, t.str()));
  }
}

std::string chain_str(const vision::Chain& chain) {
  std::string out = "[";
  for (const Transform& t : chain) out += (out.size() > 1 ? ", " : "") + t.str();
  return out + "]";
}

namespace {

/// Base class: subclasses decide which chains run.
class ChoiceOp : public RowOp {
 public:
  ChoiceOp(std::string who, std::string parameters, std::vector<vision::Chain> chains)
      : chains_(std::move(chains)), who_(std::move(who)), parameters_(std::move(parameters)) {
    if (chains_.empty()) throw ValueError(who_ + ": expected at least one transform, got none");
    for (const auto& chain : chains_) check_chain(who_, chain);
  }
  std::string str() const override {
    std::string text = who_ + "(";
    for (const auto& chain : chains_) text += chain_str(chain) + ", ";
    return text + parameters_ + ")";
  }
  bool random() const override { return true; }
  void run(RowCall& call) const override {
    PhiloxSequence draws = call.draws();
    InnerDraws inner(draws);
    call.forward(0, choose(call, draws, inner));
  }

 protected:
  virtual Value choose(RowCall& call, PhiloxSequence& draws, InnerDraws& inner) const = 0;
  /// The result of several chains in sequence, each of which may be skipped.
  std::vector<ColumnInfo> some_of_all(const ColumnInfo& in) const {
    ColumnInfo c = in;
    // Two rounds, because the last chain's result may be the first chain's input (random order).
    for (int round = 0; round < 2; ++round) {
      for (const auto& chain : chains_) c = either_column(infer_chain(chain, c), c);
    }
    return {c};
  }
  std::vector<vision::Chain> chains_;

 private:
  std::string who_, parameters_;
};

class RandomApplyOp : public ChoiceOp {
 public:
  RandomApplyOp(const vision::Chain& chain, double prob) : ChoiceOp("RandomApply", fmt::format("{}", prob), {chain}), prob_(prob) {
    if (!(prob >= 0 && prob <= 1)) throw ValueError(fmt::format("RandomApply: prob must be from 0 to 1, got {}", prob));
  }
  std::vector<ColumnInfo> infer(std::span<const ColumnInfo> in) const override { return {either_column(infer_chain(chains_[0], in[0]), in[0])}; }

 protected:
  Value choose(RowCall& call, PhiloxSequence& draws, InnerDraws& inner) const override {
    return draws.next_double() < prob_ ? run_chain(chains_[0], call, inner, call.inputs[0]) : call.inputs[0];
  }

 private:
  double prob_;
};

class RandomChoiceOp : public ChoiceOp {
 public:
  explicit RandomChoiceOp(std::vector<vision::Chain> chains) : ChoiceOp("RandomChoice", "", std::move(chains)) {}
  std::vector<ColumnInfo> infer(std::span<const ColumnInfo> in) const override {
    ColumnInfo c = infer_chain(chains_[0], in[0]);
    for (const auto& chain : chains_) c = either_column(c, infer_chain(chain, in[0]));
    return {c};
  }

 protected:
  Value choose(RowCall& call, PhiloxSequence& draws, InnerDraws& inner) const override {
    return run_chain(chains_[draws.next_below(chains_.size())], call, inner, call.inputs[0]);
  }
};

std::vector<size_t> permutation(size_t n, PhiloxSequence& draws) {
  std::vector<size_t> order(n);
  std::iota(order.begin(), order.end(), size_t{0});
  for (size_t i = n; i > 1; --i) std::swap(order[i - 1], order[draws.next_below(i)]);
  return order;
}

class RandomOrderOp : public ChoiceOp {
 public:
  explicit RandomOrderOp(std::vector<vision::Chain> chains) : ChoiceOp("RandomOrder", "", std::move(chains)) {}
  std::vector<ColumnInfo> infer(std::span<const ColumnInfo> in) const override { return some_of_all(in[0]); }

 protected:
  Value choose(RowCall& call, PhiloxSequence& draws, InnerDraws& inner) const override {
    Value v = call.inputs[0];
    for (size_t i : permutation(chains_.size(), draws)) v = run_chain(chains_[i], call, inner, v);
    return v;
  }
};

class UniformAugmentOp : public ChoiceOp {
 public:
  UniformAugmentOp(std::vector<vision::Chain> chains, int count)
      : ChoiceOp("UniformAugment", fmt::format("{}", count), std::move(chains)), count_(static_cast<size_t>(count)) {
    if (count < 1 || count_ > chains_.size())
      throw ValueError(fmt::format("UniformAugment: num_ops={} must be at least 1 and at most {}, the number of transforms", count, chains_.size()));
  }
  std::vector<ColumnInfo> infer(std::span<const ColumnInfo> in) const override { return some_of_all(in[0]); }

 protected:
  Value choose(RowCall& call, PhiloxSequence& draws, InnerDraws& inner) const override {
    const std::vector<size_t> order = permutation(chains_.size(), draws);
    Value v = call.inputs[0];
    for (size_t i = 0; i < count_; ++i) {
      if (draws.next_double() < 0.5) v = run_chain(chains_[order[i]], call, inner, v);
    }
    return v;
  }

 private:
  size_t count_;
};

using Policy = std::vector<std::vector<std::pair<vision::Chain, double>>>;

class SubpolicyOp : public ChoiceOp {
 public:
  explicit SubpolicyOp(const Policy& policy) : ChoiceOp("RandomSelectSubpolicy", probabilities(policy), flat(policy)), policy_(policy) {}
  std::vector<ColumnInfo> infer(std::span<const ColumnInfo> in) const override { return some_of_all(in[0]); }

 protected:
  Value choose(RowCall& call, PhiloxSequence& draws, InnerDraws& inner) const override {
    Value v = call.inputs[0];
    for (const auto& [chain, prob] : policy_[draws.next_below(policy_.size())]) {
      if (draws.next_double() < prob) v = run_chain(chain, call, inner, v);
    }
    return v;
  }

 private:
  static std::string probabilities(const Policy& policy) {
    std::string text;
    for (const auto& sub : policy) {
      text += "[";
      for (const auto& part : sub) text += fmt::format("{} ", part.second);
      text += "]";
    }
    return text;
  }
  static std::vector<vision::Chain> flat(const Policy& policy) {
    std::vector<vision::Chain> out;
    for (const auto& sub : policy) {
      if (sub.empty()) throw ValueError("RandomSelectSubpolicy: a sub-policy must hold at least one transform, got none");
      for (const auto& [chain, prob] : sub) {
        if (!(prob >= 0 && prob <= 1)) throw ValueError(fmt::format("RandomSelectSubpolicy: a probability must be from 0 to 1, got {}", prob));
        out.push_back(chain);
      }
    }
    return out;
  }
  Policy policy_;
};

}  // namespace

namespace vision {
Transform RandomApply(const Chain& transforms, double prob) { return Transform(std::make_shared<RandomApplyOp>(transforms, prob)); }
Transform RandomChoice(const std::vector<Chain>& chains) { return Transform(std::make_shared<RandomChoiceOp>(chains)); }
Transform RandomOrder(const std::vector<Chain>& chains) { return Transform(std::make_shared<RandomOrderOp>(chains)); }
Transform UniformAugment(const std::vector<Chain>& chains, int count) { return Transform(std::make_shared<UniformAugmentOp>(chains, count)); }
Transform RandomSelectSubpolicy(const std::vector<std::vector<std::pair<Chain, double>>>& policy) { return Transform(std::make_shared<SubpolicyOp>(policy)); }
}  // namespace vision

}  // namespace sindri::dataset
