// Removes dead code: first nodes without effect whose results nothing reads, then constants and unwritten states that
// nothing reads. Inputs stay, as callers pass them by position.
#include "src/graph/passes/passes.h"

namespace sindri {

namespace {

class Dce final : public Pass {
 public:
  const char* name() const override { return "dce"; }

  bool run(Graph& g, const PassContext&) override {
    bool changed = false;
    const std::vector<NodeId> order = g.order();
    for (auto n = order.rbegin(); n != order.rend(); ++n) {  // users before producers
      if (!dead(g, *n)) continue;
      g.erase(*n);
      changed = true;
    }
    for (ValueId v : std::vector<ValueId>(g.constants())) changed = drop_unused(g, v) || changed;
    for (const StateBinding& s : std::vector<StateBinding>(g.states())) {
      if (s.written == kNoId) changed = drop_unused(g, s.read) || changed;
    }
    return changed;
  }

 private:
  static bool dead(const Graph& g, NodeId n) {
    if (g.node(n).op->traits.host_effect) return false;
    for (ValueId v : g.node(n).out)
      if (!g.value(v).users.empty() || g.leaves(v)) return false;
    return true;
  }
  static bool drop_unused(Graph& g, ValueId v) {
    if (!g.value(v).users.empty() || g.leaves(v)) return false;
    g.erase_unused(v);
    return true;
  }
};

}  // namespace

std::unique_ptr<Pass> make_dce() { return std::make_unique<Dce>(); }

}  // namespace sindri
