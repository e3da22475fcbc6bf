// Layout conversions that undo each other or do nothing. They arise where ops of different layout rules alternate: each
// interpreter converts at every border without looking at its neighbours.
#include <string>

#include "src/graph/passes/passes.h"

namespace sindri {

namespace {

class SimplifyLayout final : public Pass {
 public:
  const char* name() const override { return "simplify_layout"; }

  bool run(Graph& g, const PassContext&) override {
    bool changed = false;
    for (NodeId n : std::vector<NodeId>(g.order())) {
      if (!is_to_layout(g, n)) continue;
      const ValueId out = g.node(n).out[0];
      const ValueId source = origin(g, g.node(n).in[0]);
      if (source == g.node(n).in[0] && !(g.value(source).meta == g.value(out).meta)) continue;
      g.replace_uses(out, g.value(source).meta == g.value(out).meta ? source : convert(g, n, source));
      g.erase(n);
      changed = true;
    }
    return changed;
  }

 private:
  static bool is_to_layout(const Graph& g, NodeId n) { return std::string(g.node(n).op->name) == "to_layout"; }
  // The value a chain of conversions started from: conversions never change a value.
  static ValueId origin(const Graph& g, ValueId v) {
    while (g.value(v).producer != kNoId && is_to_layout(g, g.value(v).producer)) v = g.node(g.value(v).producer).in[0];
    return v;
  }
  static ValueId convert(Graph& g, NodeId n, ValueId source) {
    const Graph::Node like = g.node(n);
    return g.node(g.append(*like.op, like.attrs, {&source, 1}, like.scope, n)).out[0];
  }
};

}  // namespace

std::unique_ptr<Pass> make_simplify_layout() { return std::make_unique<SimplifyLayout>(); }

}  // namespace sindri
