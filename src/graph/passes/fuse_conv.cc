// conv2d and the nodes after it become one conv2d_bias_act: batch_norm_infer (folded into weights and bias) or a bias,
// then optionally an addition and a relu. Sums change their order, so results are not bitwise identical.
//
//    y = conv2d(x, w)                       w', b = fold_batch_norm(w, gamma, beta, mean, var)
//    n = batch_norm_infer(y, gamma, …)  ->  r = conv2d_bias_act(x, w', b, residual) {relu}
//    r = relu(add(n, residual))
//
// In an inference graph w' and b depend on states alone, so the executable computes and packs them once (steady_nodes).
#include <algorithm>
#include <string_view>

#include "src/graph/passes/passes.h"

namespace sindri {

namespace {

class FuseConv final : public Pass {
 public:
  const char* name() const override { return "fuse_conv"; }
  bool keeps_bits() const override { return false; }

  bool run(Graph& g, const PassContext&) override {
    bool changed = false;
    for (NodeId n : std::vector<NodeId>(g.order())) {
      if (is(g, n, OpRole::kConv2d)) changed |= fuse(g, n);
    }
    return changed;
  }

 private:
  // A chain of nodes after a convolution, each the only reader of the one before.
  struct Chain {
    std::vector<NodeId> nodes;
    ValueId end;
    ValueId residual = kNoId;
    bool relu = false;
  };

  static bool is(const Graph& g, NodeId n, OpRole role) { return n != kNoId && g.node(n).op != nullptr && g.node(n).op->traits.role == role; }
  static NodeId only_user(const Graph& g, ValueId v) { return !g.leaves(v) && g.value(v).users.size() == 1 ? g.value(v).users[0] : kNoId; }
  static DType wide(DType t) { return t == DType::kFloat64 ? t : DType::kFloat32; }

  static bool fuse(Graph& g, NodeId conv) {
    Chain chain{{conv}, g.node(conv).out[0]};
    const NodeId next = only_user(g, chain.end);
    ValueId bias = kNoId;
    const bool norm = is(g, next, OpRole::kBatchNormInfer) && g.node(next).in[0] == chain.end && stats_are_wide(g, next);
    if (!norm) bias = bias_of(g, next, chain.end);
    if (!norm && bias == kNoId) return false;
    extend(g, next, &chain);
    take_residual(g, &chain);
    if (const NodeId relu = only_user(g, chain.end); is(g, relu, OpRole::kRelu)) {
      extend(g, relu, &chain);
      chain.relu = true;
    }
    const NodeId before = chain.nodes.back();
    ValueId w = g.node(conv).in[1];
    if (norm) fold(g, next, before, &w, &bias);

    static const OpDef& op = op_of(OpRole::kConv2dBiasAct);
    AttrFields attrs = g.node(conv).attrs.fields();
    attrs.push_back({"relu", chain.relu});
    std::vector<ValueId> in = {g.node(conv).in[0], w, bias};
    if (chain.residual != kNoId) in.push_back(chain.residual);
    const NodeId fused = g.append(op, op.attrs.make(attrs), in, g.node(conv).scope, before);
    g.replace_uses(chain.end, g.node(fused).out[0]);
    for (auto n = chain.nodes.rbegin(); n != chain.nodes.rend(); ++n) g.erase(*n);
    return true;
  }

  static void extend(const Graph& g, NodeId n, Chain* chain) {
    chain->nodes.push_back(n);
    chain->end = g.node(n).out[0];
  }

  static bool stats_are_wide(const Graph& g, NodeId norm) {
    const DType want = wide(g.value(g.node(norm).in[0]).meta.dtype);
    return std::all_of(g.node(norm).in.begin() + 1, g.node(norm).in.end(), [&](ValueId v) { return g.value(v).meta.dtype == want; });
  }

  // Returns b of add(y, reshape(b, [1, O, 1, 1])) in the type that the fused op accepts.
  static ValueId bias_of(const Graph& g, NodeId add, ValueId y) {
    if (!is(g, add, OpRole::kAdd)) return kNoId;
    const auto& in = g.node(add).in;
    const ValueId other = in[0] == y ? in[1] : in[0];
    const NodeId reshape = g.value(other).producer;
    if (in[0] == in[1] || !is(g, reshape, OpRole::kReshape)) return kNoId;
    const ValueId b = g.node(reshape).in[0];
    const TensorMeta &ym = g.value(y).meta, &bm = g.value(b).meta;
    const int64_t channels = ym.shape[1];
    return g.value(other).meta.shape == Shape{1, channels, 1, 1} && bm.shape == Shape{channels} && bm.dtype == wide(ym.dtype) ? b : kNoId;
  }

  static void take_residual(const Graph& g, Chain* chain) {
    const NodeId add = only_user(g, chain->end);
    if (!is(g, add, OpRole::kAdd)) return;
    const auto& in = g.node(add).in;
    const ValueId other = in[0] == chain->end ? in[1] : in[0];
    if (other == chain->end || !(g.value(other).meta == g.value(chain->end).meta)) return;
    chain->residual = other;
    extend(g, add, chain);
  }

  // A weight that was cast to half is folded before the cast, so that it is rounded once.
  static void fold(Graph& g, NodeId norm, NodeId before, ValueId* w, ValueId* bias) {
    static const OpDef &op = op_of(OpRole::kFoldBatchNorm), &cast = op_of(OpRole::kCast);
    const NodeId producer = g.value(*w).producer;
    const DType dtype = g.value(*w).meta.dtype;
    if (is(g, producer, OpRole::kCast) && g.value(g.node(producer).in[0]).meta.dtype == wide(dtype)) *w = g.node(producer).in[0];
    const auto& n = g.node(norm).in;
    const NodeId folded =
        g.append(op, op.attrs.make(g.node(norm).attrs.fields()), std::vector<ValueId>{*w, n[1], n[2], n[3], n[4]}, g.node(norm).scope, before);
    *w = g.node(folded).out[0];
    *bias = g.node(folded).out[1];
    if (g.value(*w).meta.dtype == dtype) return;
    const NodeId half = g.append(cast, cast.attrs.make({{"dtype", dtype}}), {w, 1}, g.node(norm).scope, before);
    *w = g.node(half).out[0];
  }
};

}  // namespace

std::unique_ptr<Pass> make_fuse_conv() { return std::make_unique<FuseConv>(); }

}  // namespace sindri
