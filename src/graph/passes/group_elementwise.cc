// For devices on which a kernel launch takes longer than a small tensor's work: elementwise ops that compute the same
// for many tensors become one node. Examples are the casts and layout conversions of all weights, the moving statistics
// of all batch norms, and the conversions of all gradients. Results are bitwise identical.
//
//    c0 = cast(w0) {dtype=float16}
//    c1 = cast(w1) {dtype=float16}           c0, t1 = group_cluster(w0, w1) {program="cast(i0) {dtype=float16}; out t0", tensors=2, layouts="=l"}
//    t1 = to_layout(c1) {channels_last}
//
// Ops on scalars (loss scale, counters, flags), which compute different things, become one elementwise_cluster if their order allows it.
//
// A group that depends on states and inputs alone runs at its first member's position; a group whose results nothing
// reads before its last member runs at that member's position. Both keep values alive for longer, so groups that would
// increase the arena by more than a hundredth are not formed.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <optional>

#include "src/graph/memory_plan.h"
#include "src/graph/passes/passes.h"
#include "src/op/layout_rule.h"

namespace sindri {

namespace {

// kMostInputs and kMostResults are the limits of the kernels. kMostElements is the size of the largest results that are
// grouped at their last member's position; results of states and inputs may have any size.
constexpr size_t kMostInputs = 5, kMostResults = 2;
constexpr int64_t kMostElements = 8 << 20;
constexpr size_t kMostNumbers = 12, kMostSteps = 24;  // inputs and steps of a cluster

// One tensor's part of a group: a node, or a cast and the to_layout that reads it.
struct Unit {
  std::vector<NodeId> nodes;
  std::vector<ValueId> in, out;
  std::string program, signature;
  char layout = '=';
};

// Values that were replaced by groups. All groups are found before the first is replaced, so a later group may have to read a replacement.
class Replaced {
 public:
  void replace(Graph& g, ValueId from, ValueId to) {
    by_[from] = to;
    g.replace_uses(from, to);
  }
  std::vector<ValueId> now(std::vector<ValueId> values) const {
    for (ValueId& v : values)
      if (const auto at = by_.find(v); at != by_.end()) v = at->second;
    return values;
  }

 private:
  std::map<ValueId, ValueId> by_;
};

class GroupElementwise final : public Pass {
 public:
  const char* name() const override { return "group_elementwise"; }

  bool run(Graph& g, const PassContext&) override {
    if (g.device().kind != Device::kCuda) return false;
    const bool joined = join_numbers(g);
    return group_tensors(g) || joined;
  }

 private:
  static bool group_tensors(Graph& g) {
    const std::vector<std::vector<Unit>> early = early_groups(g), late = late_groups(g, early);
    if (early.empty() && late.empty()) return false;
    const int64_t arena = plan_memory(g).arena_bytes, most = arena + arena / 100 + (1 << 20);
    Graph all = g;
    Replaced in_all;
    for (const auto& group : early) replace(all, group, group.front().nodes.front(), &in_all);
    for (const auto& group : late) replace(all, group, group.back().nodes.back(), &in_all);
    if (plan_memory(all).arena_bytes <= most) {
      g = std::move(all);
      return true;
    }
    bool changed = false;
    Replaced replaced;
    const auto try_one = [&](const std::vector<Unit>& group, NodeId at) {
      Graph one = g;
      Replaced in_one = replaced;
      replace(one, group, at, &in_one);
      if (plan_memory(one).arena_bytes > most) return;
      g = std::move(one);
      replaced = std::move(in_one);
      changed = true;
    };
    for (const auto& group : early) try_one(group, group.front().nodes.front());
    for (const auto& group : late) try_one(group, group.back().nodes.back());
    return changed;
  }

  static std::string cast_program(DType to) {
    static const OpDef& cast = op_of(OpRole::kCast);
    return fmt::format("cast(i0) {}; out t0", cast.attrs.make({{"dtype", to}}).text());
  }
  // A cast that only a to_layout reads belongs to the to_layout's unit.
  static bool joins_next(const Graph& g, NodeId n) {
    if (g.node(n).op->traits.role != OpRole::kCast || g.leaves(g.node(n).out[0])) return false;
    const auto& users = g.value(g.node(n).out[0]).users;
    return users.size() == 1 && g.node(users[0]).op->traits.role == OpRole::kToLayout;
  }

  static std::optional<std::string> program_of(const Graph& g, NodeId n) {
    const Graph::Node& node = g.node(n);
    const OpTraits& t = node.op->traits;
    if (t.role == OpRole::kElementwiseCluster) return std::get<std::string>(node.attrs.fields()[0].value);
    if (t.role == OpRole::kToLayout) return cast_program(g.value(node.out[0]).meta.dtype);
    if (!t.elementwise || node.op->expr == nullptr || t.random || t.host_effect || node.out.size() != 1) return std::nullopt;
    const auto printable = [](const AttrField& f) {
      return std::holds_alternative<bool>(f.value) || std::holds_alternative<double>(f.value) || std::holds_alternative<DType>(f.value);
    };
    if (!std::all_of(node.attrs.fields().begin(), node.attrs.fields().end(), printable)) return std::nullopt;
    std::string in;
    for (size_t i = 0; i < node.in.size(); ++i) in += fmt::format("{}i{}", i > 0 ? ", " : "", i);
    const std::string attrs = node.attrs.text();
    return fmt::format("{}({}){}{}; out t0", node.op->name, in, attrs.empty() ? "" : " ", attrs);
  }

  // Returns the unit that ends with node n.
  static std::optional<Unit> unit_of(const Graph& g, NodeId n, const std::vector<bool>& steady, bool small_only) {
    const Graph::Node& node = g.node(n);
    std::optional<std::string> program = program_of(g, n);
    if (!program || node.in.empty() || node.in.size() > kMostInputs || node.out.size() > kMostResults) return std::nullopt;
    Unit u{{n}, node.in, node.out, *program, "", '='};
    const TensorMeta& result = g.value(node.out[0]).meta;
    if (node.op->traits.role == OpRole::kToLayout) {
      u.layout = result.layout == Layout::kChannelsLast ? 'l' : 'c';
      const NodeId before = g.value(node.in[0]).producer;
      if (before != kNoId && joins_next(g, before)) u.nodes = {before, n}, u.in = g.node(before).in;
      else if (!channels_last_differs(result)) return std::nullopt;  // launches no kernel anyway
    }
    u.signature = u.program + (steady[static_cast<size_t>(n)] ? " steady" : "");
    if (small_only && result.numel() > kMostElements) u.signature += fmt::format(" node {}", n);  // in no group
    const TensorMeta& first = g.value(u.in[0]).meta;
    if (first.shape != result.shape) return std::nullopt;
    for (const ValueId v : u.in) {
      const TensorMeta& m = g.value(v).meta;
      if (m.shape != result.shape && m.numel() != 1) return std::nullopt;
      if (m.shape == result.shape && m.layout != first.layout) return std::nullopt;
      u.signature += fmt::format(", {}{}", dtype_name(m.dtype), m.shape == result.shape ? "" : " single");
    }
    return u;
  }

  // Keeps the groups that save a kernel.
  static void keep_groups(std::vector<std::vector<Unit>>* groups) {
    std::erase_if(*groups, [](const auto& group) { return group.size() == 1 && group[0].nodes.size() == 1; });
  }

  // Returns groups of units of states, inputs and constants whose results do not become states.
  static std::vector<std::vector<Unit>> early_groups(const Graph& g) {
    std::vector<bool> steady = steady_nodes(g);
    std::map<std::string, size_t> index;
    std::vector<std::vector<Unit>> groups;
    for (const NodeId n : g.order()) {
      std::optional<Unit> u = unit_of(g, n, steady, false);
      if (!u || std::any_of(u->in.begin(), u->in.end(), [&](ValueId v) { return g.value(v).producer != kNoId; })) continue;
      if (std::any_of(u->out.begin(), u->out.end(), [&](ValueId v) { return g.leaves(v); })) continue;
      if (joins_next(g, n)) continue;
      const auto [at, fresh] = index.emplace(u->signature, groups.size());
      if (fresh) groups.emplace_back();
      groups[at->second].push_back(std::move(*u));
    }
    keep_groups(&groups);
    return groups;
  }

  // Returns whether a value is sent to other ranks, directly or through ops that hoist_comm moves along. In a group,
  // such a value would have to wait for the last member.
  static bool travels(const Graph& g, ValueId v) {
    const auto& users = g.value(v).users;
    return std::any_of(users.begin(), users.end(), [&](NodeId n) {
      const OpTraits& t = g.node(n).op->traits;
      if (t.lane == Lane::kComm) return true;
      const auto& out = g.node(n).out;
      return (t.elementwise || t.rearranges) && std::any_of(out.begin(), out.end(), [&](ValueId o) { return travels(g, o); });
    });
  }

  // Returns the other groups. A group is closed when something reads a member's result: the member could not be delayed any further.
  static std::vector<std::vector<Unit>> late_groups(const Graph& g, const std::vector<std::vector<Unit>>& early) {
    std::vector<bool> taken, steady = steady_nodes(g);
    const auto mark = [&](NodeId n) {
      if (taken.size() <= static_cast<size_t>(n)) taken.resize(static_cast<size_t>(n) + 1);
      taken[static_cast<size_t>(n)] = true;
    };
    const auto is_taken = [&](NodeId n) { return static_cast<size_t>(n) < taken.size() && taken[static_cast<size_t>(n)]; };
    for (const auto& group : early)
      for (const Unit& u : group)
        for (const NodeId n : u.nodes) mark(n);
    struct Open {
      std::string signature;
      std::vector<Unit> units;
    };
    std::vector<Open> open;
    std::vector<std::vector<Unit>> closed;
    for (const NodeId n : g.order()) {
      const auto made_by = [&](const Open& o, ValueId v) {
        const NodeId p = g.value(v).producer;
        return p != kNoId &&
            std::any_of(o.units.begin(), o.units.end(), [&](const Unit& u) { return std::find(u.nodes.begin(), u.nodes.end(), p) != u.nodes.end(); });
      };
      for (size_t i = 0; i < open.size();) {
        const auto& in = g.node(n).in;
        if (std::none_of(in.begin(), in.end(), [&](ValueId v) { return made_by(open[i], v); })) {
          ++i;
          continue;
        }
        closed.push_back(std::move(open[i].units));
        open.erase(open.begin() + static_cast<ptrdiff_t>(i));
      }
      if (is_taken(n) || joins_next(g, n)) continue;
      std::optional<Unit> u = unit_of(g, n, steady, true);
      if (!u || std::any_of(u->out.begin(), u->out.end(), [&](ValueId v) { return travels(g, v); })) continue;
      const auto like = std::find_if(open.begin(), open.end(), [&](const Open& o) { return o.signature == u->signature; });
      if (like != open.end()) like->units.push_back(std::move(*u));
      else open.push_back({u->signature, {std::move(*u)}});
    }
    for (Open& o : open) closed.push_back(std::move(o.units));
    keep_groups(&closed);
    return closed;
  }

  // Programs in sequence over one list of inputs.
  struct Joined {
    std::vector<NodeId> nodes;
    std::vector<ValueId> in, made, out;  // made: by step, or kNoId for values that stay inside a member
    std::string steps;
    size_t count = 0;

    bool has(NodeId n) const { return std::find(nodes.begin(), nodes.end(), n) != nodes.end(); }
  };

  // Appends a member's program to the joined one and renumbers its operands: i0 becomes the index of that input or step
  // in the joined program. Returns false if the result exceeds the limits.
  static bool join(const Graph& g, NodeId n, const std::string& program, Joined* all) {
    Joined next = *all;
    const Graph::Node& node = g.node(n);
    std::vector<std::string> inputs;
    for (const ValueId v : node.in) {
      const auto made = std::find(next.made.begin(), next.made.end(), v);
      if (made != next.made.end()) {
        inputs.push_back(fmt::format("t{}", made - next.made.begin()));
        continue;
      }
      const auto at = std::find(next.in.begin(), next.in.end(), v);
      inputs.push_back(fmt::format("i{}", at - next.in.begin()));
      if (at == next.in.end()) next.in.push_back(v);
    }
    const size_t end = program.rfind("out ");
    std::vector<size_t> results;
    int braces = 0;
    std::string steps;
    for (size_t i = 0; i < program.size(); ++i) {
      const char c = program[i];
      braces += c == '{' ? 1 : c == '}' ? -1 : 0;
      const auto letter = [&](size_t k) { return k < program.size() && (std::isalnum(static_cast<unsigned char>(program[k])) != 0 || program[k] == '_'); };
      const auto digit = [&](size_t k) { return k < program.size() && std::isdigit(static_cast<unsigned char>(program[k])) != 0; };
      size_t stop = i + 1;
      while (digit(stop)) ++stop;
      const bool operand = braces == 0 && (c == 'i' || c == 't') && (i == 0 || !letter(i - 1)) && stop > i + 1 && !letter(stop) &&
          (stop == program.size() || program[stop] != '(');
      if (!operand) {
        if (i < end) steps += c;
        continue;
      }
      const auto index = static_cast<size_t>(std::stoul(program.substr(i + 1, stop - i - 1)));
      if (i >= end) results.push_back(index);
      else steps += c == 'i' ? inputs.at(index) : fmt::format("t{}", all->count + index);
      i = stop - 1;
    }
    const auto own = static_cast<size_t>(std::count(program.begin(), program.begin() + static_cast<ptrdiff_t>(end), ';'));
    next.nodes.push_back(n);
    next.steps += steps;
    next.made.resize(all->count + own, kNoId);
    for (size_t k = 0; k < results.size(); ++k) next.made[all->count + results[k]] = node.out[k], next.out.push_back(node.out[k]);
    next.count += own;
    if (next.in.size() > kMostNumbers || next.count > kMostSteps) return false;
    *all = std::move(next);
    return true;
  }

  // Joins runs of scalar ops of one shape, each of which can be delayed to the last: nothing else reads a member's result before it.
  static bool join_numbers(Graph& g) {
    const std::vector<bool> steady = steady_nodes(g);
    std::vector<Joined> done;
    Joined open;
    const auto close = [&] {
      if (open.nodes.size() > 1) done.push_back(std::move(open));
      open = {};
    };
    for (const NodeId n : g.order()) {
      const Graph::Node& node = g.node(n);
      const std::optional<std::string> program = g.value(node.out[0]).meta.shape.rank() == 0 ? program_of(g, n) : std::nullopt;
      const bool fits = program && node.op->traits.role != OpRole::kToLayout && !steady[static_cast<size_t>(n)] &&
          std::all_of(node.in.begin(), node.in.end(), [&](ValueId v) { return g.value(v).meta.shape.rank() == 0; });
      if (fits) {
        if (join(g, n, *program, &open)) continue;
        close();
        (void)join(g, n, *program, &open);
      } else if (std::any_of(node.in.begin(), node.in.end(), [&](ValueId v) { return open.has(g.value(v).producer); })) {
        close();
      }
    }
    close();
    Replaced replaced;
    for (const Joined& j : done) replace_numbers(g, j, &replaced);
    return !done.empty();
  }

  static void replace_numbers(Graph& g, const Joined& j, Replaced* replaced) {
    std::string results;
    std::vector<ValueId> out;
    for (size_t k = 0; k < j.made.size(); ++k) {
      if (j.made[k] == kNoId) continue;
      const auto& users = g.value(j.made[k]).users;
      if (!g.leaves(j.made[k]) && std::all_of(users.begin(), users.end(), [&](NodeId u) { return j.has(u); })) continue;
      results += fmt::format("{}t{}", results.empty() ? "" : ", ", k);
      out.push_back(j.made[k]);
    }
    static const OpDef& op = op_of(OpRole::kElementwiseCluster);
    const NodeId last = j.nodes.back();
    const NodeId fused = g.append(op, op.attrs.make({{"program", j.steps + "out " + results}}), replaced->now(j.in), g.node(last).scope, last);
    for (size_t k = 0; k < out.size(); ++k) replaced->replace(g, out[k], g.node(fused).out[k]);
    for (auto n = j.nodes.rbegin(); n != j.nodes.rend(); ++n) g.erase(*n);
  }

  static void replace(Graph& g, const std::vector<Unit>& units, NodeId at, Replaced* replaced) {
    std::vector<ValueId> in, out;
    std::string layouts;
    for (const Unit& u : units) {
      in.insert(in.end(), u.in.begin(), u.in.end());
      out.insert(out.end(), u.out.begin(), u.out.end());
      layouts += u.layout;
    }
    static const OpDef& op = op_of(OpRole::kGroupCluster);
    const Attrs attrs = op.attrs.make({{"program", units[0].program}, {"tensors", static_cast<int64_t>(units.size())}, {"layouts", layouts}});
    const NodeId group = g.append(op, attrs, replaced->now(in), g.node(at).scope, at);
    for (size_t k = 0; k < out.size(); ++k) replaced->replace(g, out[k], g.node(group).out[k]);
    for (const Unit& u : units)
      for (auto n = u.nodes.rbegin(); n != u.nodes.rend(); ++n) g.erase(*n);
  }
};

}  // namespace

std::unique_ptr<Pass> make_group_elementwise() { return std::make_unique<GroupElementwise>(); }

}  // namespace sindri
