// Checks that a graph is legal. Runs after each pass in debug builds and with SINDRI_VERIFY_GRAPH=1.
#include <fmt/format.h>

#include <algorithm>
#include <unordered_set>

#include "sindri/core/error.h"
#include "sindri/graph/graph.h"
#include "src/op/plan.h"

namespace sindri {

class GraphVerifier {
 public:
  GraphVerifier(const Graph& g, std::string after) : g_(g), after_(std::move(after)), known_(g.values_.size(), false), uses_(g.values_.size()) {}

  void run() {
    boundary();
    std::unordered_set<NodeId> seen;
    for (NodeId n : g_.order_) {
      if (n < 0 || static_cast<size_t>(n) >= g_.nodes_.size() || g_.node(n).op == nullptr) fail(fmt::format("the order holds node {}, which is erased", n));
      if (!seen.insert(n).second) fail(fmt::format("node {} appears twice in the order", n));
      node(n);
    }
    const auto live = std::count_if(g_.nodes_.begin(), g_.nodes_.end(), [](const Graph::Node& n) { return n.op != nullptr; });
    if (static_cast<size_t>(live) != g_.order_.size()) fail(fmt::format("{} nodes live, {} in the order", live, g_.order_.size()));
    exits();
    users();
  }

 private:
  [[noreturn]] void fail(const std::string& what) const { throw InternalError(fmt::format("graph '{}' is not legal after {}: {}", g_.name, after_, what)); }

  const Graph::Value& value(ValueId v, const std::string& where) const {
    if (v < 0 || static_cast<size_t>(v) >= g_.values_.size()) fail(fmt::format("{} names value {}, which does not exist", where, v));
    if (g_.value(v).kind == Graph::Kind::kErased) fail(fmt::format("{} names value {}, which is erased", where, v));
    return g_.value(v);
  }

  void define(ValueId v, Graph::Kind kind, const std::string& where) {
    if (value(v, where).kind != kind) fail(fmt::format("{}: value {} is of another kind", where, v));
    if (known_[static_cast<size_t>(v)]) fail(fmt::format("{}: value {} is defined twice", where, v));
    known_[static_cast<size_t>(v)] = true;
  }

  void boundary() {
    for (ValueId v : g_.inputs_) define(v, Graph::Kind::kInput, "the input list");
    std::unordered_set<Parameter*> params;
    for (const StateBinding& s : g_.states_) {
      define(s.read, Graph::Kind::kState, "state '" + s.name + "'");
      if (s.param != nullptr && !params.insert(s.param).second) fail("parameter '" + s.name + "' has two states");
    }
    for (ValueId v : g_.constants_) {
      define(v, Graph::Kind::kConstant, "the constant list");
      const Graph::Value& c = g_.value(v);
      if (!c.constant.has_data() || !holds(c)) fail(fmt::format("constant {} does not hold {}", v, c.meta.str()));
    }
  }

  static bool holds(const Graph::Value& c) {
    TensorMeta meta = c.meta;
    meta.device = {};
    return c.constant.meta() == meta;
  }

  void node(NodeId id) {
    const Graph::Node& n = g_.node(id);
    const std::string where = fmt::format("node {} ({})", id, n.op->name);
    std::vector<TensorMeta> given, in, out;
    for (ValueId v : n.in) {
      given.push_back(value(v, where).meta);
      if (!known_[static_cast<size_t>(v)]) fail(fmt::format("{} reads value {} before it is made", where, v));
      uses_[static_cast<size_t>(v)].push_back(id);
    }
    try {
      infer_with_layout(*n.op, n.attrs, given, &in, &out, g_.device());
    } catch (const Error& e) { fail(fmt::format("{}: {}", where, e.what())); }
    for (size_t i = 0; i < in.size(); ++i) {
      if (!(in[i] == given[i])) fail(fmt::format("{} takes input {} as {}, it is {}", where, i, in[i].str(), given[i].str()));
    }
    if (out.size() != n.out.size()) fail(fmt::format("{} has {} outputs, infer gives {}", where, n.out.size(), out.size()));
    for (size_t k = 0; k < out.size(); ++k) {
      define(n.out[k], Graph::Kind::kResult, where);
      const Graph::Value& v = g_.value(n.out[k]);
      if (v.producer != id) fail(fmt::format("{}: output {} has another producer", where, k));
      if (!(v.meta == out[k])) fail(fmt::format("{}: output {} is {}, infer gives {}", where, k, v.meta.str(), out[k].str()));
    }
  }

  void exits() const {
    const auto made = [&](ValueId v, const std::string& where) {
      value(v, where);
      if (!known_[static_cast<size_t>(v)]) fail(fmt::format("{}: value {} is never made", where, v));
    };
    for (size_t i = 0; i < g_.outputs_.size(); ++i) made(g_.outputs_[i], fmt::format("output {}", i));
    for (const StateBinding& s : g_.states_) {
      if (s.written == kNoId) continue;
      made(s.written, "state '" + s.name + "'");
      const TensorMeta &from = g_.value(s.read).meta, &to = g_.value(s.written).meta;
      if (from.shape != to.shape || from.dtype != to.dtype) fail(fmt::format("state '{}' is {} and is assigned {}", s.name, from.str(), to.str()));
    }
  }

  void users() {
    for (size_t v = 0; v < uses_.size(); ++v) {
      std::vector<NodeId> kept = g_.values_[v].users;
      std::sort(kept.begin(), kept.end());
      std::sort(uses_[v].begin(), uses_[v].end());
      if (kept != uses_[v]) fail(fmt::format("the users of value {} are out of step", v));
      if (g_.values_[v].kind != Graph::Kind::kErased && !known_[v]) fail(fmt::format("value {} is live but nothing makes it", v));
    }
  }

  const Graph& g_;
  std::string after_;
  std::vector<bool> known_;
  std::vector<std::vector<NodeId>> uses_;
};

void verify_graph(const Graph& graph, const std::string& after) { GraphVerifier(graph, after).run(); }

}  // namespace sindri
