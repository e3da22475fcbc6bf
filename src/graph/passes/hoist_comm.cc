// Moves nodes of the communication lane up to the position where their last operand is computed, so that they overlap
// with what follows: a bucket of gradients is transmitted while backward continues with the layers before it.
// Elementwise nodes that only feed them move along. Communication nodes keep their order, which is the same on every
// rank. Results are bitwise identical.
#include <algorithm>

#include "src/graph/passes/passes.h"

namespace sindri {

namespace {

class HoistComm final : public Pass {
 public:
  const char* name() const override { return "hoist_comm"; }

  bool run(Graph& g, const PassContext&) override {
    std::vector<NodeId> comm;
    for (NodeId n : g.order())
      if (g.node(n).op->traits.lane == Lane::kComm) comm.push_back(n);
    if (comm.empty()) return false;
    order_ = g.order();
    bool changed = false;
    NodeId before = kNoId;
    for (NodeId n : comm) {
      number_places();
      changed = hoist(g, n, before) || changed;
      before = n;
    }
    if (changed) g.reorder(std::move(order_));
    return changed;
  }

 private:
  static constexpr int kMostFeeders = 8;  // in sequence

  int32_t place(NodeId n) const { return place_[static_cast<size_t>(n)]; }
  void number_places() {
    for (size_t i = 0; i < order_.size(); ++i) {
      if (static_cast<size_t>(order_[i]) >= place_.size()) place_.resize(static_cast<size_t>(order_[i]) + 1, -1);
      place_[static_cast<size_t>(order_[i])] = static_cast<int32_t>(i);
    }
  }

  static bool may_move(const Graph& g, NodeId n) {
    const OpTraits& t = g.node(n).op->traits;
    return (t.elementwise || t.rearranges) && !t.random && !t.host_effect && t.lane == Lane::kCompute;
  }

  // Returns the position after which node n can stand if its feeders move along.
  int32_t ready(const Graph& g, NodeId n, int depth) const {
    int32_t last = -1;
    for (ValueId v : g.node(n).in) {
      const NodeId producer = g.value(v).producer;
      if (producer != kNoId) last = std::max(last, depth < kMostFeeders && may_move(g, producer) ? ready(g, producer, depth + 1) : place(producer));
    }
    return last;
  }

  // Collects n's feeders that stand after `after`, in program order.
  void collect(const Graph& g, NodeId n, int32_t after, std::vector<NodeId>* out) const {
    for (ValueId v : g.node(n).in) {
      const NodeId producer = g.value(v).producer;
      if (producer == kNoId || place(producer) <= after || std::find(out->begin(), out->end(), producer) != out->end()) continue;
      collect(g, producer, after, out);
      out->push_back(producer);
    }
  }

  bool hoist(const Graph& g, NodeId n, NodeId before) {
    const int32_t after = std::max(ready(g, n, 0), before == kNoId ? -1 : place(before));
    std::vector<NodeId> moved;
    collect(g, n, after, &moved);
    moved.push_back(n);
    std::sort(moved.begin(), moved.end(), [&](NodeId a, NodeId b) { return place(a) < place(b); });
    if (place(n) == after + static_cast<int32_t>(moved.size())) return false;
    std::erase_if(order_, [&](NodeId m) { return std::find(moved.begin(), moved.end(), m) != moved.end(); });
    const auto at = after < 0 ? order_.begin() : order_.begin() + after + 1;  // no moved node stood before it
    order_.insert(at, moved.begin(), moved.end());
    return true;
  }

  std::vector<NodeId> order_;
  std::vector<int32_t> place_;  // by node
};

}  // namespace

std::unique_ptr<Pass> make_hoist_comm() { return std::make_unique<HoistComm>(); }

}  // namespace sindri
