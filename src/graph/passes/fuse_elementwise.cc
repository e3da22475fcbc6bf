// Elementwise ops that feed each other become one elementwise_cluster, which runs them tile by tile: values between
// them are neither written to memory nor read from it. Results are bitwise identical.
//
//    a = mul(x, y)                  r, a = elementwise_cluster(x, y, z) {program="mul(i0, i1); add(t0, i2); relu(t1); out t2, t0"}
//    r = relu(add(a, z))       ->   u = other(a)
//    u = other(a)
//
// Greedy, over the program order: a node absorbs the clusters of its operands if two conditions hold. The results have
// one shape and layout, and the merged cluster can stand at the node's position, that is, no outside node reads one of
// its values earlier. Members move down the program, so the values they read live longer; a cluster is absorbed only if
// that holds no more bytes than it saves.
#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "src/graph/memory_plan.h"
#include "src/graph/passes/passes.h"

namespace sindri {

namespace {

// Below the op's limits, which group_elementwise uses for scalars.
constexpr size_t kMaxInputs = 8, kMaxSteps = 16;

struct Cluster {
  std::vector<NodeId> nodes;  // in program order; the cluster takes the position of the last
  std::vector<ValueId> inputs;
};

bool has(const std::vector<NodeId>& nodes, NodeId n) { return std::find(nodes.begin(), nodes.end(), n) != nodes.end(); }

// Returns the values that the nodes read and do not make, each once.
std::vector<ValueId> inputs_of(const Graph& g, const std::vector<NodeId>& nodes) {
  std::vector<ValueId> in;
  for (NodeId n : nodes)
    for (ValueId v : g.node(n).in) {
      const NodeId p = g.value(v).producer;
      if ((p == kNoId || !has(nodes, p)) && std::find(in.begin(), in.end(), v) == in.end()) in.push_back(v);
    }
  return in;
}

class Finder {
 public:
  explicit Finder(const Graph& g) : g_(g), leaves_(g.num_values(), false), steady_(steady_nodes(g)) {
    for (ValueId v : g.outputs()) leaves_[static_cast<size_t>(v)] = true;
    for (const StateBinding& s : g.states())
      if (s.written != kNoId) leaves_[static_cast<size_t>(s.written)] = true;
    for (size_t i = 0; i < g.order().size(); ++i) {
      const auto n = static_cast<size_t>(g.order()[i]);
      if (n >= position_.size()) position_.resize(n + 1, 0);
      position_[n] = i;
    }
    cluster_of_.assign(position_.size(), kNoId);
    steady_.resize(position_.size(), false);
  }

  // Returns the clusters of two or more nodes, by the position of their last node.
  std::vector<Cluster> run() {
    for (NodeId n : g_.order()) {
      if (!eligible(n)) continue;
      const auto own = static_cast<int32_t>(clusters_.size());
      clusters_.push_back({{n}, inputs_of(g_, {n})});
      cluster_of_[static_cast<size_t>(n)] = own;
      for (ValueId v : g_.node(n).in) {
        const NodeId p = g_.value(v).producer;
        if (p != kNoId && cluster_of_[static_cast<size_t>(p)] != kNoId && cluster_of_[static_cast<size_t>(p)] != own)
          take_in(own, cluster_of_[static_cast<size_t>(p)]);
      }
    }
    std::erase_if(clusters_, [](const Cluster& c) { return c.nodes.size() < 2; });
    return std::move(clusters_);
  }

  bool leaves(ValueId v) const { return leaves_[static_cast<size_t>(v)]; }

 private:
  bool eligible(NodeId n) const {
    const Graph::Node& node = g_.node(n);
    const OpTraits& t = node.op->traits;
    if (!t.elementwise || node.op->expr == nullptr || t.random || t.host_effect || node.out.size() != 1 || node.in.empty()) return false;
    const auto printable = [](const AttrField& f) {
      return std::holds_alternative<bool>(f.value) || std::holds_alternative<double>(f.value) || std::holds_alternative<DType>(f.value);
    };
    return std::all_of(node.attrs.fields().begin(), node.attrs.fields().end(), printable);
  }

  size_t position(NodeId n) const { return position_[static_cast<size_t>(n)]; }
  const TensorMeta& meta(NodeId n) const { return g_.value(g_.node(n).out[0]).meta; }

  void take_in(int32_t own, int32_t other) {
    Cluster &a = clusters_[static_cast<size_t>(own)], &b = clusters_[static_cast<size_t>(other)];
    const NodeId last = a.nodes.back();
    if (meta(last).shape != meta(b.nodes[0]).shape || meta(last).layout != meta(b.nodes[0]).layout) return;
    if (steady_[static_cast<size_t>(last)] != steady_[static_cast<size_t>(b.nodes[0])]) return;
    Cluster both;
    both.nodes.resize(a.nodes.size() + b.nodes.size());
    std::merge(a.nodes.begin(), a.nodes.end(), b.nodes.begin(), b.nodes.end(), both.nodes.begin(),
               [&](NodeId x, NodeId y) { return position(x) < position(y); });
    both.inputs = inputs_of(g_, both.nodes);
    if (both.nodes.size() > kMaxSteps || both.inputs.size() > kMaxInputs) return;
    if (!may_wait(b, both.nodes, last) || held(b, both.nodes, last) > 0) return;
    for (NodeId n : b.nodes) cluster_of_[static_cast<size_t>(n)] = own;
    b = {};
    a = std::move(both);
  }

  // Returns whether no outside node reads a value of b before `last`.
  bool may_wait(const Cluster& b, const std::vector<NodeId>& inside, NodeId last) const {
    for (NodeId n : b.nodes)
      for (NodeId user : g_.value(g_.node(n).out[0]).users)
        if (position(user) < position(last) && !has(inside, user)) return false;
    return true;
  }

  // Returns by how many bytes delaying b to `last` increases the memory alive in between: b's inputs stay alive longer,
  // and b's results start later. Returns 0 for neighbours. Returns the largest number if an input is a state that is
  // overwritten there: its new value could then not be computed in its storage.
  int64_t held(const Cluster& b, const std::vector<NodeId>& inside, NodeId last) const {
    const size_t from = position(b.nodes.back()), to = position(last);
    if (std::all_of(g_.order().begin() + static_cast<ptrdiff_t>(from), g_.order().begin() + static_cast<ptrdiff_t>(to),
                    [&](NodeId n) { return has(inside, n); }))
      return 0;
    int64_t bytes = 0;
    for (ValueId v : b.inputs) {
      const auto& users = g_.value(v).users;
      const bool dies = std::all_of(users.begin(), users.end(), [&](NodeId u) { return position(u) <= from; });
      if (!dies) continue;
      if (is_overwritten(v, inside, to)) return std::numeric_limits<int64_t>::max();
      if (g_.value(v).kind == Graph::Kind::kResult && !leaves(v)) bytes += g_.value(v).meta.nbytes();
    }
    for (NodeId n : b.nodes) {
      const auto& users = g_.value(g_.node(n).out[0]).users;
      const bool lives = std::any_of(users.begin(), users.end(), [&](NodeId u) { return position(u) > from; });
      if (lives) bytes -= meta(n).nbytes();
    }
    return bytes;
  }

  // Returns whether v is a state whose new value is made before `to`.
  bool is_overwritten(ValueId v, const std::vector<NodeId>& inside, size_t to) const {
    const auto& states = g_.states();
    const auto s = std::find_if(states.begin(), states.end(), [&](const StateBinding& b) { return b.read == v; });
    const NodeId writer = s == states.end() || s->written == kNoId ? kNoId : g_.value(s->written).producer;
    return writer != kNoId && position(writer) < to && !has(inside, writer);
  }

  const Graph& g_;
  std::vector<bool> leaves_;  // by value
  std::vector<bool> steady_;  // by node: computed only when states change; a member that is not steady would lose that
  std::vector<size_t> position_;  // by node
  std::vector<int32_t> cluster_of_;  // by node
  std::vector<Cluster> clusters_;
};

class FuseElementwise final : public Pass {
 public:
  const char* name() const override { return "fuse_elementwise"; }

  bool run(Graph& g, const PassContext&) override {
    Finder finder(g);
    const std::vector<Cluster> clusters = finder.run();
    for (const Cluster& c : clusters) replace(g, finder, c);
    return !clusters.empty();
  }

 private:
  static void replace(Graph& g, const Finder& finder, const Cluster& c) {
    const auto index = [](const auto& list, auto x) { return std::find(list.begin(), list.end(), x) - list.begin(); };
    const std::vector<ValueId> inputs = inputs_of(g, c.nodes);  // computed again: earlier clusters have replaced values
    std::string program, results;
    std::vector<ValueId> out;
    for (size_t k = 0; k < c.nodes.size(); ++k) {
      const Graph::Node& n = g.node(c.nodes[k]);
      std::string in;
      for (ValueId v : n.in) {
        const auto i = index(inputs, v);
        const bool outside = static_cast<size_t>(i) < inputs.size();
        in += fmt::format("{}{}{}", in.empty() ? "" : ", ", outside ? 'i' : 't', outside ? i : index(c.nodes, g.value(v).producer));
      }
      const std::string attrs = n.attrs.text();
      program += fmt::format("{}({}){}{}; ", n.op->name, in, attrs.empty() ? "" : " ", attrs);
      const auto& users = g.value(n.out[0]).users;
      const bool read = std::any_of(users.begin(), users.end(), [&](NodeId u) { return !has(c.nodes, u); });
      if (!read && !finder.leaves(n.out[0])) continue;
      results += fmt::format("{}t{}", results.empty() ? "" : ", ", k);
      out.push_back(n.out[0]);
    }
    if (!out.empty()) {  // else nothing reads the cluster, which happens if dead code was not removed before
      static const OpDef& op = op_of(OpRole::kElementwiseCluster);
      const NodeId last = c.nodes.back();
      const NodeId fused = g.append(op, op.attrs.make({{"program", program + "out " + results}}), inputs, g.node(last).scope, last);
      for (size_t k = 0; k < out.size(); ++k) g.replace_uses(out[k], g.node(fused).out[k]);
    }
    for (auto n = c.nodes.rbegin(); n != c.nodes.rend(); ++n) g.erase(*n);
  }
};

}  // namespace

std::unique_ptr<Pass> make_fuse_elementwise() { return std::make_unique<FuseElementwise>(); }

}  // namespace sindri
