// Constant folding: a node whose inputs are all constants is run once, by the kernel it would have had in the program, so
// the results are bitwise identical. Results are held forever, so a large one is folded only if it replaces larger inputs.
#include <algorithm>

#include "sindri/core/error.h"
#include "src/core/tensor_impl.h"
#include "src/graph/passes/passes.h"
#include "src/op/plan.h"

namespace sindri {

namespace {

constexpr int64_t kMaxResultBytes = 1 << 20;

class FoldConstants final : public Pass {
 public:
  const char* name() const override { return "fold_constants"; }

  bool run(Graph& g, const PassContext&) override {
    bool changed = false;
    for (NodeId n : std::vector<NodeId>(g.order())) {
      if (!foldable(g, n)) continue;
      const std::vector<Tensor> results = evaluate(g, n);
      for (size_t k = 0; k < results.size(); ++k) g.replace_uses(g.node(n).out[k], g.add_constant(results[k]));
      g.erase(n);
      changed = true;
    }
    return changed;
  }

 private:
  static bool foldable(const Graph& g, NodeId id) {
    const Graph::Node& n = g.node(id);
    if (n.op->traits.random || n.op->traits.host_effect) return false;
    int64_t in = 0, out = 0;
    for (ValueId v : n.in) {
      if (g.value(v).kind != Graph::Kind::kConstant) return false;
      in += g.value(v).meta.nbytes();
    }
    for (ValueId v : n.out) out += g.value(v).meta.nbytes();
    return out <= kMaxResultBytes || in > out;
  }

  static std::vector<Tensor> evaluate(const Graph& g, NodeId id) {
    const Graph::Node& n = g.node(id);
    std::vector<TensorMeta> metas;
    for (ValueId v : n.in) metas.push_back(g.value(v).constant.meta());  // on the host, by its kernels
    try {
      const auto plan = plan_op(*n.op, n.attrs, metas);
      std::vector<Tensor> results;
      std::vector<Buffer> in, out;
      for (size_t i = 0; i < n.in.size(); ++i) in.push_back({const_cast<void*>(g.value(n.in[i]).constant.raw_data()), &plan->in[i]});
      for (const TensorMeta& m : plan->out) {
        results.push_back(Tensor::empty(m));
        out.push_back({results.back().mutable_raw_data(), &m});
      }
      const Storage workspace(plan->workspace);
      run_plan(*plan, in, out, {workspace.data()});
      return results;
    } catch (Error& e) {
      e.add_where(std::string(n.op->name) + " on constants" + (n.scope.empty() ? "" : " | in " + n.scope));
      throw;
    }
  }
};

}  // namespace

std::unique_ptr<Pass> make_fold_constants() { return std::make_unique<FoldConstants>(); }

}  // namespace sindri
