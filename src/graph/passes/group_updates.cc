// Optimizer updates of one kind become few nodes of many parameters, each run in one parallel region: a network has
// dozens of updates that are too small for a region each. Results are bitwise identical.
//
//    p0', v0' = momentum_update(p0, v0, g0, lr, m) {…}         p0', v0', p1', v1' =
//    p1', v1' = momentum_update(p1, v1, g1, lr, m) {…}     ->      group_update(p0, v0, g0, p1, v1, g1, lr, m) {update="momentum_update {…}", tensors=2}
//
// On devices, updates and the check for finite gradients read gradients of half types directly. The cast to float32 before
// them changes no value, so the kernels' own widening gives a bitwise identical result and saves a copy of twice the size.
//
// A group takes its last member's position, so the gradients of the others live longer. Updates come at the end of a
// step, when all gradients are alive anyway; otherwise a group that would increase the arena is not formed.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "src/graph/memory_plan.h"
#include "src/graph/passes/passes.h"

namespace sindri {

namespace {

constexpr size_t kMaxMembers = 64, kMaxMembersOfDevice = 512;

class GroupUpdates final : public Pass {
 public:
  const char* name() const override { return "group_updates"; }

  bool run(Graph& g, const PassContext&) override {
    const bool widened = !g.device().is_cpu() && read_half_gradients(g);
    const std::vector<std::vector<NodeId>> groups = find(g);
    if (groups.empty()) return widened;
    const int64_t arena = plan_memory(g).arena_bytes;
    Graph all = g;
    for (const auto& members : groups) replace(all, members);
    if (plan_memory(all).arena_bytes <= arena) {
      g = std::move(all);
      return true;
    }
    bool changed = widened;
    for (const auto& members : groups) {
      Graph one = g;
      replace(one, members);
      if (plan_memory(one).arena_bytes > arena) continue;
      g = std::move(one);
      changed = true;
    }
    return changed;
  }

 private:
  // Returns the operand of a cast to float32, or v itself. A layout conversion of the cast becomes a conversion of its
  // operand, shared by all readers.
  static ValueId before_cast(Graph& g, ValueId v, std::map<ValueId, ValueId>* turned) {
    const NodeId n = g.value(v).producer;
    if (n == kNoId || g.value(v).meta.dtype != DType::kFloat32) return v;
    const Graph::Node node = g.node(n);
    if (node.op->traits.role == OpRole::kToLayout) {
      const ValueId half = before_cast(g, node.in[0], turned);
      if (half == node.in[0]) return v;
      const auto [at, fresh] = turned->emplace(v, kNoId);
      if (fresh) at->second = g.node(g.append(*node.op, node.attrs, {&half, 1}, node.scope, n)).out[0];
      return at->second;
    }
    if (node.op->traits.role != OpRole::kCast) return v;
    const TensorMeta& from = g.value(node.in[0]).meta;
    return is_half(from.dtype) && from.layout == g.value(v).meta.layout ? node.in[0] : v;
  }

  static bool read_half_gradients(Graph& g) {
    static const OpDef& all_finite = find_op("all_finite");
    bool changed = false;
    std::map<ValueId, ValueId> turned;
    for (const NodeId n : std::vector<NodeId>(g.order())) {
      const Graph::Node node = g.node(n);
      const bool finite = node.op == &all_finite;
      if (!finite && !is_update(g, n)) continue;
      std::vector<ValueId> in = node.in;
      if (finite) std::transform(in.begin(), in.end(), in.begin(), [&](ValueId v) { return before_cast(g, v, &turned); });
      else in[node.op->traits.update_inputs - 1] = before_cast(g, in[node.op->traits.update_inputs - 1], &turned);
      if (in == node.in) continue;
      const NodeId with = g.append(*node.op, node.attrs, in, node.scope, n);
      for (size_t k = 0; k < node.out.size(); ++k) g.replace_uses(node.out[k], g.node(with).out[k]);
      g.erase(n);
      changed = true;
    }
    return changed;
  }

  static bool is_update(const Graph& g, NodeId n) {
    const size_t own = g.node(n).op->traits.update_inputs;
    return own > 0 && g.node(n).in.size() >= own;
  }

  static bool alike(const Graph& g, NodeId x, NodeId y) {
    const Graph::Node &a = g.node(x), &b = g.node(y);
    const auto own = static_cast<ptrdiff_t>(a.op->traits.update_inputs);
    if (a.op != b.op || a.attrs != b.attrs || !std::equal(a.in.begin() + own, a.in.end(), b.in.begin() + own, b.in.end())) return false;
    // One kernel serves a group; it may reject a mixture of types that it accepts separately.
    return std::equal(a.in.begin(), a.in.begin() + own, b.in.begin(), [&](ValueId v, ValueId w) { return g.value(v).meta.dtype == g.value(w).meta.dtype; });
  }

  // Returns the groups of two or more members. A group is closed when something reads a member's result: the member
  // could not be delayed any further.
  static std::vector<std::vector<NodeId>> find(const Graph& g) {
    std::vector<std::vector<NodeId>> open, closed;
    const size_t most = g.device().is_cpu() ? kMaxMembers : kMaxMembersOfDevice;  // a device launches one kernel per group
    for (NodeId n : g.order()) {
      const auto reads = [&](const std::vector<NodeId>& group) {
        return std::any_of(g.node(n).in.begin(), g.node(n).in.end(), [&](ValueId v) {
          return g.value(v).producer != kNoId && std::find(group.begin(), group.end(), g.value(v).producer) != group.end();
        });
      };
      for (size_t i = 0; i < open.size();) {
        const bool full = open[i].size() == most;
        if (!full && !reads(open[i])) {
          ++i;
          continue;
        }
        closed.push_back(std::move(open[i]));
        open.erase(open.begin() + static_cast<ptrdiff_t>(i));
      }
      if (!is_update(g, n)) continue;
      const auto like = std::find_if(open.begin(), open.end(), [&](const auto& group) { return alike(g, group[0], n); });
      if (like == open.end()) open.push_back({n});
      else like->push_back(n);
    }
    closed.insert(closed.end(), open.begin(), open.end());
    std::erase_if(closed, [](const auto& group) { return group.size() < 2; });
    return closed;
  }

  static void replace(Graph& g, const std::vector<NodeId>& members) {
    const Graph::Node first = g.node(members[0]), last = g.node(members.back());
    const auto own = static_cast<ptrdiff_t>(first.op->traits.update_inputs);
    std::vector<ValueId> in, out;
    for (NodeId n : members) {
      in.insert(in.end(), g.node(n).in.begin(), g.node(n).in.begin() + own);
      out.insert(out.end(), g.node(n).out.begin(), g.node(n).out.end());
    }
    in.insert(in.end(), first.in.begin() + own, first.in.end());
    static const OpDef& op = op_of(OpRole::kGroupUpdate);
    const std::string attrs = first.attrs.text();
    const std::string update = fmt::format("{}{}{}", first.op->name, attrs.empty() ? "" : " ", attrs);
    const NodeId group = g.append(op, op.attrs.make({{"update", update}, {"tensors", static_cast<int64_t>(members.size())}}), in, last.scope, members.back());
    for (size_t k = 0; k < out.size(); ++k) g.replace_uses(out[k], g.node(group).out[k]);
    for (NodeId n : members) g.erase(n);
  }
};

}  // namespace

std::unique_ptr<Pass> make_group_updates() { return std::make_unique<GroupUpdates>(); }

}  // namespace sindri
