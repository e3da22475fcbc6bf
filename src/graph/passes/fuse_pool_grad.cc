// The gradient of average pooling is as large as the image, but many of its elements have the same value. This pass
// makes the kernel that computes the gradient also add it to its addend. In squeeze-and-excitation blocks on CUDA
// devices, with a gate [N, C, 1, 1]:
//
//    s = add(mul(dy, gate), adaptive_avg_pool2d_grad(d))    ->    s = adaptive_avg_pool2d_grad(d, dy, gate)
//
// Results are bitwise identical. In units of the image, this saves one write and one read of the gradient, and the same for the product.
#include "src/graph/passes/passes.h"

namespace sindri {

namespace {

class FusePoolGrad final : public Pass {
 public:
  const char* name() const override { return "fuse_pool_grad"; }

  // Runs after turn_layouts, which has converted the gradient to the layout of its addend.
  bool run(Graph& g, const PassContext&) override {
    if (g.device().kind != Device::kCuda) return false;
    static const OpDef& grad = find_op("adaptive_avg_pool2d_grad");
    bool changed = false;
    for (const NodeId n : std::vector<NodeId>(g.order()))
      if (g.node(n).op == &grad && g.node(n).in.size() == 1) changed |= fuse(g, n);
    return changed;
  }

 private:
  // Returns the only reader of v, or kNoId if it has several or leaves the graph.
  static NodeId reader(const Graph& g, ValueId v) { return !g.leaves(v) && g.value(v).users.size() == 1 ? g.value(v).users[0] : kNoId; }

  static bool fuse(Graph& g, NodeId n) {
    const Graph::Node grad = g.node(n);
    const NodeId add = reader(g, grad.out[0]);
    if (add == kNoId || g.node(add).op->traits.role != OpRole::kAdd) return false;
    const Graph::Node sum = g.node(add);
    const ValueId addend = sum.in[0] == grad.out[0] ? sum.in[1] : sum.in[0];
    const TensorMeta& meta = g.value(grad.out[0]).meta;
    if (addend == grad.out[0] || !(g.value(addend).meta == meta) || !(g.value(sum.out[0]).meta == meta)) return false;
    std::vector<ValueId> in = {grad.in[0], addend};
    const NodeId product = reader(g, addend) == add ? take_in_product(g, &in) : kNoId;
    const NodeId fused = g.append(*grad.op, grad.attrs, in, sum.scope, add);
    g.replace_uses(sum.out[0], g.node(fused).out[0]);
    g.erase(add);
    g.erase(n);
    if (product != kNoId) g.erase(product);
    return true;
  }

  // Replaces the addend by its factors if it is a product with a gate. Half types only: a fused float product is not
  // rounded to memory before the sum.
  static NodeId take_in_product(const Graph& g, std::vector<ValueId>* in) {
    static const OpDef& mul = find_op("mul");
    const ValueId dy = (*in)[0], addend = (*in)[1];
    const TensorMeta &image = g.value(addend).meta, &pooled = g.value(dy).meta;
    const NodeId n = g.value(addend).producer;
    if (n == kNoId || g.node(n).op != &mul || !is_half(image.dtype) || pooled.shape[2] != 1 || pooled.shape[3] != 1) return kNoId;
    for (size_t i : {0u, 1u}) {
      const ValueId factor = g.node(n).in[i], gate = g.node(n).in[1 - i];
      const TensorMeta& m = g.value(gate).meta;
      if (!(g.value(factor).meta == image) || m.shape != pooled.shape || m.dtype != pooled.dtype || image.shape == pooled.shape) continue;
      *in = {dy, factor, gate};
      return n;
    }
    return kNoId;
  }
};

}  // namespace

std::unique_ptr<Pass> make_fuse_pool_grad() { return std::make_unique<FusePoolGrad>(); }

}  // namespace sindri
