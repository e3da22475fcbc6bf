// batch_norm_train (+ add) + relu and their gradients become one op each. The fused ops do the arithmetic of the
// separate ones, rounding included, so results are bitwise identical; fusing saves memory traffic. In units of one
// activation, read or written:
//
//    forward   batch_norm_train, relu                 5 -> 3       with a residual  8 -> 4
//    gradient  relu_grad, batch_norm_grad             8 -> 5       with a residual  8 -> 7, with a sum before it 11 -> 8
//
// On CUDA devices the forward op with a residual also writes a mask of one bit per element, and its gradient reads this
// mask instead of y: 6 and 7 units instead of 7 and 8.
//
// On CUDA devices max_pool2d_grad also absorbs a sum of two gradients that it reads, if nothing else reads the sum. This saves 2 units of the pooled tensor.
//
// Patterns are found from the relu. Forward: y, mean, var = batch_norm_train(x, gamma, beta); s = add(y, residual); r =
// relu(s), with y and s read by nothing else. Gradient: g = relu_grad(d, r); dx, … = batch_norm_grad(g, x, gamma, mean,
// var), where d may be an add.
#include <algorithm>
#include <string_view>

#include "src/graph/passes/passes.h"

namespace sindri {

namespace {

class FuseNormAct final : public Pass {
 public:
  const char* name() const override { return "fuse_norm_act"; }

  bool run(Graph& g, const PassContext&) override {
    bool changed = false;
    for (NodeId n : std::vector<NodeId>(g.order())) {
      if (is(g, n, OpRole::kRelu)) changed |= fuse_forward(g, n);
    }
    for (NodeId n : std::vector<NodeId>(g.order())) {
      if (is(g, n, OpRole::kReluGrad)) changed |= fuse_gradient(g, n);
    }
    if (g.device().kind == Device::kCuda) changed |= fuse_pool_sums(g);
    return changed;
  }

 private:
  static bool is(const Graph& g, NodeId n, OpRole role) { return n != kNoId && g.node(n).op != nullptr && g.node(n).op->traits.role == role; }
  static bool only_user(const Graph& g, ValueId v, NodeId n) { return !g.leaves(v) && g.value(v).users == std::vector<NodeId>{n}; }
  static size_t position(const Graph& g, NodeId n) { return static_cast<size_t>(std::find(g.order().begin(), g.order().end(), n) - g.order().begin()); }
  // Returns whether v is available when node n runs.
  static bool before(const Graph& g, ValueId v, NodeId n) { return g.value(v).producer == kNoId || position(g, g.value(v).producer) < position(g, n); }

  // Returns the batch norm whose y is v if only `user` reads y and the op's fused form can take its position.
  static NodeId norm_of(const Graph& g, ValueId v, NodeId user) {
    const NodeId n = g.value(v).producer;
    return is(g, n, OpRole::kBatchNormTrain) && g.node(n).out[0] == v && only_user(g, v, user) ? n : kNoId;
  }

  static bool fuse_forward(Graph& g, NodeId relu) {
    const ValueId s = g.node(relu).in[0];
    NodeId norm = norm_of(g, s, relu), add = kNoId;
    ValueId residual = kNoId;
    if (norm == kNoId) {
      add = g.value(s).producer;
      if (!is(g, add, OpRole::kAdd) || !only_user(g, s, relu)) return false;
      for (size_t i : {0u, 1u}) {
        const ValueId y = g.node(add).in[i], other = g.node(add).in[1 - i];
        const NodeId candidate = norm_of(g, y, add);
        if (candidate == kNoId || !(g.value(other).meta == g.value(y).meta) || !before(g, other, candidate)) continue;
        norm = candidate;
        residual = other;
      }
      if (norm == kNoId) return false;
    }
    static const OpDef& op = op_of(OpRole::kBatchNormRelu);
    std::vector<ValueId> in = g.node(norm).in;
    if (residual != kNoId) in.push_back(residual);
    // At the norm's position: its statistics may be read before the relu.
    const NodeId fused = g.append(op, op.attrs.make(g.node(norm).attrs.fields()), in, g.node(norm).scope, norm);
    g.replace_uses(g.node(relu).out[0], g.node(fused).out[0]);
    for (size_t k : {1u, 2u}) g.replace_uses(g.node(norm).out[k], g.node(fused).out[k]);
    g.erase(relu);
    if (add != kNoId) g.erase(add);
    g.erase(norm);
    return true;
  }

  // Returns the batch_norm_grad that reads g and belongs to the forward node.
  static NodeId gradient_of(const Graph& g, ValueId value, NodeId forward) {
    const Graph::Node& f = g.node(forward);
    for (NodeId n : g.value(value).users) {
      const Graph::Node& b = g.node(n);
      if (is(g, n, OpRole::kBatchNormGrad) && b.in == std::vector<ValueId>{value, f.in[0], f.in[1], f.out[1], f.out[2]} &&
          b.attrs.fields()[0] == f.attrs.fields()[0])
        return n;
    }
    return kNoId;
  }

  static bool fuse_gradient(Graph& g, NodeId relu_grad) {
    const ValueId r = g.node(relu_grad).in[1], masked = g.node(relu_grad).out[0];
    const NodeId forward = g.value(r).producer;
    if (!is(g, forward, OpRole::kBatchNormRelu) || g.node(forward).out[0] != r) return false;
    const NodeId norm_grad = gradient_of(g, masked, forward);
    if (norm_grad == kNoId || g.leaves(masked)) return false;
    const bool residual = g.node(forward).in.size() > 3;
    // Without a residual and a sum, g is not stored: nothing else may read it.
    const NodeId add = sum_before(g, relu_grad);
    if (!residual && add == kNoId && !only_user(g, masked, norm_grad)) return false;

    static const OpDef& op = op_of(OpRole::kBatchNormReluGrad);
    const auto gradient = [&] { return g.node(add != kNoId ? add : relu_grad).in[0]; };
    const bool mask = residual && mask_pays(g, forward, gradient());
    const Graph::Node f = g.node(mask ? with_mask(g, forward) : forward);
    const ValueId dy = gradient();  // only now: it may be the forward node's own result, which has been replaced
    std::vector<ValueId> in = {dy, f.in[0], f.in[1], f.in[2], f.out[1], f.out[2]};
    if (residual) in.push_back(mask ? f.out[3] : r);
    if (add != kNoId) in.push_back(g.node(add).in[1]);
    const AttrFields attrs = {f.attrs.fields()[0], {"residual", residual}, {"sum", add != kNoId}, {"mask", mask}};
    const NodeId fused = g.append(op, op.attrs.make(attrs), in, g.node(norm_grad).scope, relu_grad);
    for (size_t k : {0u, 1u, 2u}) g.replace_uses(g.node(norm_grad).out[k], g.node(fused).out[k]);
    g.erase(norm_grad);
    if (residual || add != kNoId) g.replace_uses(masked, g.node(fused).out[3]);
    g.erase(relu_grad);
    if (add != kNoId) g.erase(add);
    return true;
  }

  // A mask follows the order in memory, so operands must have x's layout. In half types eight elements are one access
  // and one byte of the mask.
  static bool mask_pays(const Graph& g, NodeId forward, ValueId dy) {
    const TensorMeta& x = g.value(g.node(forward).in[0]).meta;
    return g.device().kind == Device::kCuda && is_half(x.dtype) && x.layout == Layout::kChannelsLast && x.shape[1] % 8 == 0 &&
        g.value(dy).meta.layout == x.layout;
  }
  // Builds the forward node again, with a mask.
  static NodeId with_mask(Graph& g, NodeId forward) {
    const Graph::Node f = g.node(forward);
    if (f.out.size() > 3) return forward;
    const NodeId made = g.append(*f.op, f.op->attrs.make({f.attrs.fields()[0], {"mask", true}}), f.in, f.scope, forward);
    for (size_t k = 0; k < f.out.size(); ++k) g.replace_uses(f.out[k], g.node(made).out[k]);
    g.erase(forward);
    return made;
  }

  static bool fuse_pool_sums(Graph& g) {
    static const OpDef& pool_grad = find_op("max_pool2d_grad");
    bool changed = false;
    for (const NodeId n : std::vector<NodeId>(g.order())) {
      const Graph::Node node = g.node(n);
      if (node.op != &pool_grad || node.in.size() != 2) continue;
      const NodeId add = sum_before(g, n);
      if (add == kNoId) continue;
      const ValueId in[] = {g.node(add).in[0], node.in[1], g.node(add).in[1]};
      const NodeId fused = g.append(pool_grad, node.attrs, in, node.scope, n);
      g.replace_uses(node.out[0], g.node(fused).out[0]);
      g.erase(n);
      g.erase(add);
      changed = true;
    }
    return changed;
  }

  // Returns the sum of two gradients that is this node's first operand and has no other reader.
  static NodeId sum_before(const Graph& g, NodeId reader) {
    const ValueId d = g.node(reader).in[0];
    const NodeId add = g.value(d).producer;
    if (!is(g, add, OpRole::kAdd) || !only_user(g, d, reader)) return kNoId;
    const auto& meta = g.value(d).meta;
    return g.value(g.node(add).in[0]).meta == meta && g.value(g.node(add).in[1]).meta == meta ? add : kNoId;
  }
};

}  // namespace

std::unique_ptr<Pass> make_fuse_norm_act() { return std::make_unique<FuseNormAct>(); }

}  // namespace sindri
