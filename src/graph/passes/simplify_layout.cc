// Removes layout conversions that cancel or do nothing, and reshapes to the operand's own shape. They arise between ops
// of different layout rules: each interpreter converts at every boundary without reading its neighbours.
#include <string_view>

#include "src/graph/passes/passes.h"

namespace sindri {

namespace {

class SimplifyLayout final : public Pass {
 public:
  const char* name() const override { return "simplify_layout"; }

  bool run(Graph& g, const PassContext&) override {
    bool changed = false;
    for (NodeId n : std::vector<NodeId>(g.order())) {  // in program order, so that chains shrink from their start
      if (!is_to_layout(g, n) && g.node(n).op->traits.role != OpRole::kReshape) continue;
      const ValueId same = equal_value(g, n);
      if (same == kNoId) continue;
      g.replace_uses(g.node(n).out[0], same);
      g.erase(n);
      changed = true;
    }
    return changed;
  }

 private:
  static bool is_to_layout(const Graph& g, NodeId n) { return n != kNoId && g.node(n).op->traits.role == OpRole::kToLayout; }

  // Returns a value equal to the conversion's result, its input or the input of the conversion before it.
  static ValueId equal_value(const Graph& g, NodeId n) {
    const ValueId in = g.node(n).in[0];
    const TensorMeta& out = g.value(g.node(n).out[0]).meta;
    if (g.value(in).meta == out) return in;
    const NodeId before = g.value(in).producer;
    if (is_to_layout(g, before) && g.value(g.node(before).in[0]).meta == out) return g.node(before).in[0];
    return kNoId;
  }
};

}  // namespace

std::unique_ptr<Pass> make_simplify_layout() { return std::make_unique<SimplifyLayout>(); }

}  // namespace sindri
