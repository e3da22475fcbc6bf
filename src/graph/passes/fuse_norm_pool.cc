// The stem of residual networks on CUDA devices: batch norm, relu and max pooling become one op, and so do their
// gradients. Runs after fuse_norm_act, which leaves
//
//    y, mean, var = batch_norm_relu(x, gamma, beta);  p, places = max_pool2d(y)
//    d = max_pool2d_grad(dp, places [, dp2]);  dx, … = batch_norm_relu_grad(d, x, gamma, beta, mean, var)
//
// with y and d read by nothing else. Results are bitwise identical. In units of x, read or written, with windows of 3x3
// and stride 2 in a half type:
//
//    forward   4.375 -> 2.375       gradient   6.375 -> 3.75, with a sum before it  6.625 -> 4.25
#include <algorithm>
#include <string_view>

#include "src/graph/passes/passes.h"

namespace sindri {

namespace {

class FuseNormPool final : public Pass {
 public:
  const char* name() const override { return "fuse_norm_pool"; }

  bool run(Graph& g, const PassContext&) override {
    if (g.device().kind != Device::kCuda) return false;
    static const OpDef& pool = find_op("max_pool2d");
    bool changed = false;
    for (const NodeId n : std::vector<NodeId>(g.order()))
      if (g.node(n).op == &pool) changed |= fuse(g, n);
    return changed;
  }

 private:
  static bool only_user(const Graph& g, ValueId v, NodeId n) { return !g.leaves(v) && g.value(v).users == std::vector<NodeId>{n}; }
  static const AttrValue& field(const Graph::Node& n, const char* name) {
    return std::find_if(n.attrs.fields().begin(), n.attrs.fields().end(), [&](const AttrField& f) { return f.name == std::string_view(name); })->value;
  }
  static int64_t window(const Graph::Node& pool) {
    const auto& kernel = std::get<std::vector<int64_t>>(field(pool, "kernel"));
    return kernel[0] * kernel[1];
  }

  // The pooling's gradient and the norm's gradient that reads it.
  struct Gradients {
    NodeId pool = kNoId, norm = kNoId;
  };

  static bool fuse(Graph& g, NodeId pool) {
    const Graph::Node p = g.node(pool);
    const NodeId norm = g.value(p.in[0]).producer;
    if (norm == kNoId || g.node(norm).op->traits.role != OpRole::kBatchNormRelu || g.node(norm).out[0] != p.in[0] || !only_user(g, p.in[0], pool)) return false;
    const Graph::Node f = g.node(norm);
    // With a residual or a mask the gradient is another op. The fusion saves bytes only in the channels-last layout: in
    // others, windows are read one element at a time.
    if (f.in.size() != 3 || f.out.size() != 3 || g.value(f.in[0]).meta.layout != Layout::kChannelsLast || window(p) > 255) return false;
    Gradients d;
    const bool learns = !g.value(p.out[1]).users.empty();
    if (g.leaves(p.out[1]) || (learns && !gradients_of(g, p, f, &d))) return false;

    static const OpDef &op = find_op("batch_norm_pool"), &grad = find_op("batch_norm_pool_grad");
    const AttrFields fields = {{"eps", field(f, "eps")},
                               {"kernel", field(p, "kernel")},
                               {"stride", field(p, "stride")},
                               {"pad", field(p, "pad")},
                               {"ceil_mode", field(p, "ceil_mode")}};
    // At the norm's position: its statistics may be read before the pooling.
    const Graph::Node made = g.node(g.append(op, op.attrs.make(fields), f.in, f.scope, norm));
    if (learns) {
      const Graph::Node of_pool = g.node(d.pool), of_norm = g.node(d.norm);
      std::vector<ValueId> in = {of_pool.in[0], made.out[1], f.in[0], f.in[1], made.out[2], made.out[3]};
      if (of_pool.in.size() > 2) in.push_back(of_pool.in[2]);
      for (ValueId& v : in)
        if (v == p.out[0]) v = made.out[0];  // the result may be its own gradient
      const Graph::Node with = g.node(g.append(grad, grad.attrs.make(fields), in, of_norm.scope, d.norm));
      for (size_t k : {0u, 1u, 2u}) g.replace_uses(of_norm.out[k], with.out[k]);
      g.erase(d.norm);
      g.erase(d.pool);
    }
    g.replace_uses(p.out[0], made.out[0]);
    for (size_t k : {1u, 2u}) g.replace_uses(f.out[k], made.out[k + 1]);
    g.erase(pool);
    g.erase(norm);
    return true;
  }

  // Finds the gradients of pooling p and norm f, if they alone read the places.
  static bool gradients_of(const Graph& g, const Graph::Node& p, const Graph::Node& f, Gradients* d) {
    static const OpDef& pool_grad = find_op("max_pool2d_grad");
    const std::vector<NodeId>& users = g.value(p.out[1]).users;
    if (users.size() != 1 || g.node(users[0]).op != &pool_grad) return false;
    d->pool = users[0];
    const ValueId image = g.node(d->pool).out[0];
    if (g.leaves(image) || g.value(image).users.size() != 1) return false;
    d->norm = g.value(image).users[0];
    const Graph::Node& n = g.node(d->norm);
    return n.op->traits.role == OpRole::kBatchNormReluGrad && n.in == std::vector<ValueId>{image, f.in[0], f.in[1], f.in[2], f.out[1], f.out[2]} &&
        field(n, "eps") == field(f, "eps");
  }
};

}  // namespace

std::unique_ptr<Pass> make_fuse_norm_pool() { return std::make_unique<FuseNormPool>(); }

}  // namespace sindri
