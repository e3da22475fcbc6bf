// Layouts on CUDA devices. A convolution's weight is converted to channels-last (for a weight [O, C, KH, KW] that is [O, KH,
// KW, C]) once, before its first use. In a training step the forward convolution and the input's gradient share the conversion,
// and group_elementwise converts all weights, together with their casts, in one kernel. Results are bitwise identical.
//
//    y = conv2d(x, w)                            t = to_layout(w) {layout=channels_last}
//    dx = conv2d_input_grad(dy, w)        ->     y = conv2d(x, t)
//                                                dx = conv2d_input_grad(dy, t)
//
// If an op computes a large tensor in the layout of a small one (the gradient of global pooling), the small tensor is
// converted, not the large one:
//
//    t = to_layout(op(x)) {layout=channels_last}    ->     t = op(to_layout(x))
#include <algorithm>
#include <map>

#include "src/graph/passes/passes.h"
#include "src/op/layout_rule.h"

namespace sindri {

namespace {

class TurnLayouts final : public Pass {
 public:
  const char* name() const override { return "turn_layouts"; }

  bool run(Graph& g, const PassContext&) override {
    if (g.device().kind != Device::kCuda) return false;
    static const OpDef& to_layout = op_of(OpRole::kToLayout);
    const bool changed = turn_small_operands(g);
    std::map<ValueId, ValueId> turned;
    for (const NodeId n : std::vector<NodeId>(g.order())) {
      const Graph::Node node = g.node(n);
      const OpTraits& traits = node.op->traits;
      if (traits.layout != LayoutRule::kChannelsLastPreferred) continue;
      std::vector<ValueId> in = node.in;
      for (size_t i = 0; i < in.size() && i < 16; ++i) {
        const TensorMeta& m = g.value(in[i]).meta;
        if ((traits.layout_weights >> i & 1u) == 0 || m.layout == Layout::kChannelsLast || !channels_last_differs(m)) continue;
        const auto [at, fresh] = turned.emplace(in[i], kNoId);
        if (fresh) {
          const NodeId made =
              g.append(to_layout, to_layout.attrs.make({{"layout", std::string(layout_name(Layout::kChannelsLast))}}), {&in[i], 1}, node.scope, n);
          at->second = g.node(made).out[0];
        }
        in[i] = at->second;
      }
      if (in == node.in) continue;
      const NodeId with = g.append(*node.op, node.attrs, in, node.scope, n);
      for (size_t k = 0; k < node.out.size(); ++k) g.replace_uses(node.out[k], g.node(with).out[k]);
      g.erase(n);
    }
    return changed || !turned.empty();
  }

 private:
  static bool turn_small_operands(Graph& g) {
    bool changed = false;
    for (const NodeId n : std::vector<NodeId>(g.order())) {
      const Graph::Node turn = g.node(n);
      if (turn.op->traits.role != OpRole::kToLayout) continue;
      const NodeId p = g.value(turn.in[0]).producer;
      if (p == kNoId || g.leaves(turn.in[0]) || g.value(turn.in[0]).users.size() != 1) continue;
      const Graph::Node made = g.node(p);
      const OpTraits& traits = made.op->traits;
      if (traits.layout != LayoutRule::kFollowInput0 || traits.layout_lead != 0 || made.in.size() != 1 || made.out.size() != 1) continue;
      const TensorMeta& operand = g.value(made.in[0]).meta;
      if (operand.shape.rank() != 4 || operand.nbytes() >= g.value(turn.in[0]).meta.nbytes()) continue;
      const NodeId small = g.append(*turn.op, turn.attrs, made.in, made.scope, p);
      const NodeId large = g.append(*made.op, made.attrs, g.node(small).out, made.scope, p);
      g.replace_uses(turn.out[0], g.node(large).out[0]);
      g.erase(n);
      g.erase(p);
      changed = true;
    }
    return changed;
  }
};

}  // namespace

std::unique_ptr<Pass> make_turn_layouts() { return std::make_unique<TurnLayouts>(); }

}  // namespace sindri
