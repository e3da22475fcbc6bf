// Computes lifetimes over the program order, then best-fit offsets.
//
// A block is a maximal chain of values that pass one slice on in place. It lives from its first definition to the last
// use of its last value. Blocks are placed largest first, each in the tightest gap among those whose lives overlap its
// own; this order wastes little because the activations of a network are few and large, and the small ones fill the gaps.
//
// A value that a lane other than the compute lane reads or writes stays in place until the compute lane has waited for
// that lane; its last use counts as that point.
#include "src/graph/memory_plan.h"

#include <algorithm>
#include <array>
#include <string>
#include <unordered_map>
#include <utility>

#include "src/op/flat_memory.h"
#include "src/op/layout_rule.h"

namespace sindri {

namespace {

struct Block {
  int64_t bytes = 0, offset = 0;
  int32_t begin = 0, end = 0;  // positions in the program order, both inclusive
  bool flat = false;
};

int64_t aligned(int64_t bytes) { return (bytes + kArenaAlign - 1) / kArenaAlign * kArenaAlign; }

class Planner {
 public:
  explicit Planner(const Graph& g) : g_(g), last_use_(g.num_values(), -1), kept_(g.num_values(), false), block_of_(g.num_values(), kNoId) {}

  MemoryPlan run() {
    plan_.at.resize(g_.num_values());
    plan_.lanes = plan_lanes(g_);
    plan_.donated.assign(g_.states().size(), false);
    place_boundary();
    place_steady();
    find_lifetimes();
    for (size_t s = 0; s < g_.states().size(); ++s) donate(s);
    for (ValueId v : g_.outputs()) make_fresh(v);
    for (const StateBinding& b : g_.states())
      if (b.written != kNoId) make_fresh(b.written);
    for (size_t i = 0; i < g_.order().size(); ++i) assign_blocks(static_cast<int32_t>(i));
    place_flat();
    place_blocks();
    return std::move(plan_);
  }

 private:
  const Graph::Value& value(ValueId v) const { return g_.value(v); }
  Location& at(ValueId v) { return plan_.at[static_cast<size_t>(v)]; }
  bool is_result(ValueId v) const { return value(v).kind == Graph::Kind::kResult; }

  void place_boundary() {
    for (size_t i = 0; i < g_.inputs().size(); ++i) at(g_.inputs()[i]) = {Place::kInput, 0, static_cast<int32_t>(i)};
    for (size_t i = 0; i < g_.states().size(); ++i) at(g_.states()[i].read) = {Place::kState, 0, static_cast<int32_t>(i)};
    for (ValueId v : g_.constants()) at(v) = {Place::kConstant, 0, v};
  }

  void place_steady() {
    const std::vector<bool> steady = steady_nodes(g_);
    for (NodeId n : g_.order()) {
      if (!steady[static_cast<size_t>(n)]) continue;
      for (ValueId v : g_.node(n).out) {
        at(v) = {Place::kSteady, 0, static_cast<int32_t>(plan_.steady.size())};
        plan_.steady.push_back(v);
      }
    }
  }

  void find_lifetimes() {
    for (size_t i = 0; i < g_.order().size(); ++i) {
      const NodeId n = g_.order()[i];
      if (static_cast<size_t>(n) >= position_.size()) position_.resize(static_cast<size_t>(n) + 1, -1);
      position_[static_cast<size_t>(n)] = static_cast<int32_t>(i);
      for (ValueId v : g_.node(n).in) last_use_[static_cast<size_t>(v)] = static_cast<int32_t>(i);
      if (plan_.lanes[i].lane == Lane::kCompute) continue;
      const int32_t until = joined_at(i);
      for (const auto* values : {&g_.node(n).in, &g_.node(n).out})
        for (ValueId v : *values) beside_.emplace(v, Beside{static_cast<int32_t>(i), until});
    }
    for (ValueId v : g_.outputs()) kept_[static_cast<size_t>(v)] = true;
    for (const StateBinding& b : g_.states())
      if (b.written != kNoId) kept_[static_cast<size_t>(b.written)] = true;
  }

  // Returns the position at which the compute lane first waits for the work at position i of another lane.
  int32_t joined_at(size_t i) const {
    size_t j = i + 1;
    while ((plan_.lanes[j].joins >> static_cast<int>(plan_.lanes[i].lane) & 1) == 0) ++j;
    return static_cast<int32_t>(j);
  }
  // Returns the last position at which another lane may use a value, ignoring the node at `except`; -1 if no other lane uses it.
  int32_t busy_until(ValueId v, int32_t except) const {
    int32_t until = -1;
    for (auto [at, end] = beside_.equal_range(v); at != end; ++at)
      if (at->second.at != except) until = std::max(until, at->second.until);
    return until;
  }

  bool may_overwrite(const Graph::Node& n, size_t k, size_t i) const {
    const bool elementwise = n.op->traits.elementwise && n.out.size() == 1;
    // An op that is not elementwise makes its promise for one operand: if it reads the same value through a second operand, that read is not covered.
    if (!elementwise && std::count(n.in.begin(), n.in.end(), n.in[i]) > 1) return false;
    return output_may_overwrite(*n.op, n.attrs, n.in.size(), n.out.size(), k, value(n.out[k]).meta, i, value(n.in[i]).meta);
  }

  // The new value of a state may be computed in the state's own storage when nothing reads the old value afterwards.
  void donate(size_t s) {
    const StateBinding& b = g_.states()[s];
    if (b.written == kNoId || !is_result(b.written) || at(b.written).place != Place::kNone) return;
    if (kept_[static_cast<size_t>(b.read)] || !(value(b.read).meta == value(b.written).meta)) return;
    const NodeId producer = value(b.written).producer;
    const int32_t made = position_[static_cast<size_t>(producer)], last = last_use_[static_cast<size_t>(b.read)];
    if (last > made || busy_until(b.read, made) > made) return;
    if (last == made) {
      const Graph::Node& n = g_.node(producer);
      const auto k = static_cast<size_t>(std::find(n.out.begin(), n.out.end(), b.written) - n.out.begin());
      for (size_t i = 0; i < n.in.size(); ++i)
        if (n.in[i] == b.read && !may_overwrite(n, k, i)) return;
    }
    at(b.written) = {Place::kState, 0, static_cast<int32_t>(s)};
    plan_.donated[s] = true;
  }

  void make_fresh(ValueId v) {
    if (!is_result(v) || at(v).place != Place::kNone) return;
    at(v) = {Place::kFresh, 0, static_cast<int32_t>(plan_.fresh.size())};
    plan_.fresh.push_back(v);
  }

  void assign_blocks(int32_t i) {
    const Graph::Node& n = g_.node(g_.order()[static_cast<size_t>(i)]);
    std::vector<int32_t> taken;  // blocks that other outputs of this node took over
    for (size_t k = 0; k < n.out.size(); ++k) {
      const ValueId v = n.out[k];
      if (at(v).place != Place::kNone) continue;
      const int64_t bytes = aligned(value(v).meta.nbytes());
      plan_.unplanned_bytes += bytes;
      int32_t b = inplace_block(n, k, i, taken);
      if (b == kNoId) {
        b = static_cast<int32_t>(blocks_.size());
        blocks_.push_back({bytes, 0, i, i});
      } else {
        taken.push_back(b);
        ++plan_.inplace;
      }
      block_of_[static_cast<size_t>(v)] = b;
      blocks_[static_cast<size_t>(b)].end = std::max({i, last_use_[static_cast<size_t>(v)], busy_until(v, -1), blocks_[static_cast<size_t>(b)].end});
      at(v).place = Place::kArena;
    }
  }

  // Returns the block of an operand that dies at position i and may be overwritten; the operand that the op names comes first.
  int32_t inplace_block(const Graph::Node& n, size_t k, int32_t i, const std::vector<int32_t>& taken) const {
    const auto usable = [&](size_t operand) {
      const auto v = static_cast<size_t>(n.in[operand]);
      const int32_t b = block_of_[v];
      return b != kNoId && last_use_[v] == i && busy_until(n.in[operand], i) <= i && may_overwrite(n, k, operand) &&
          std::find(taken.begin(), taken.end(), b) == taken.end();
    };
    const int named = n.op->traits.inplace_input;
    if (k == 0 && named >= 0 && static_cast<size_t>(named) < n.in.size() && usable(static_cast<size_t>(named)))
      return block_of_[static_cast<size_t>(n.in[static_cast<size_t>(named)])];
    for (size_t operand = 0; operand < n.in.size(); ++operand) {
      if (usable(operand)) return block_of_[static_cast<size_t>(n.in[operand])];
    }
    return kNoId;
  }

  // Operands of collective ops with reserved memory (src/op/flat_memory.h) lie there for all of their life, back to
  // back in the order of the calls.
  void place_flat() {
    std::string key;
    for (const NodeId n : g_.order()) {
      const FlatMemorySource* source = g_.device().is_cpu() && g_.node(n).op->traits.lane == Lane::kComm ? flat_memory_of(*g_.node(n).op) : nullptr;
      if (source == nullptr) continue;
      const std::string mine = source->key(g_.node(n).attrs);
      if (mine.empty() || (!key.empty() && mine != key)) continue;
      key = mine;
      if (plan_.flat_node == kNoId) plan_.flat_node = n;
      for (const ValueId v : g_.node(n).in) {
        const int32_t b = block_of_[static_cast<size_t>(v)];
        if (b == kNoId || blocks_[static_cast<size_t>(b)].flat) continue;
        blocks_[static_cast<size_t>(b)].flat = true;
        blocks_[static_cast<size_t>(b)].offset = plan_.flat_bytes;
        plan_.flat_bytes += blocks_[static_cast<size_t>(b)].bytes;
      }
    }
    for (size_t v = 0; plan_.flat_bytes > 0 && v < block_of_.size(); ++v)
      if (block_of_[v] != kNoId && blocks_[static_cast<size_t>(block_of_[v])].flat) plan_.at[v].place = Place::kFlat;
  }

  void place_blocks() {
    std::vector<size_t> by_size;
    for (size_t i = 0; i < blocks_.size(); ++i)
      if (!blocks_[i].flat) by_size.push_back(i);
    std::stable_sort(by_size.begin(), by_size.end(), [&](size_t a, size_t b) { return blocks_[a].bytes > blocks_[b].bytes; });
    std::vector<size_t> placed;  // by offset
    for (size_t i : by_size) {
      place(&blocks_[i], placed);
      const auto where = std::upper_bound(placed.begin(), placed.end(), i, [&](size_t a, size_t b) { return blocks_[a].offset < blocks_[b].offset; });
      placed.insert(where, i);
      plan_.arena_bytes = std::max(plan_.arena_bytes, blocks_[i].offset + blocks_[i].bytes);
    }
    for (size_t v = 0; v < block_of_.size(); ++v) {
      if (block_of_[v] != kNoId) plan_.at[v].offset = blocks_[static_cast<size_t>(block_of_[v])].offset;
    }
  }

  // Picks the tightest gap between blocks alive at the same time, or the end of them all if no gap is large enough.
  void place(Block* b, const std::vector<size_t>& placed) const {
    int64_t end = 0, best = -1, best_gap = 0;
    for (size_t i : placed) {
      const Block& p = blocks_[i];
      if (p.end < b->begin || p.begin > b->end) continue;
      const int64_t gap = p.offset - end;
      if (gap >= b->bytes && (best < 0 || gap < best_gap)) {
        best = end;
        best_gap = gap;
      }
      end = std::max(end, p.offset + p.bytes);
    }
    b->offset = best >= 0 ? best : end;
  }

  struct Beside {
    int32_t at, until;
  };

  const Graph& g_;
  MemoryPlan plan_;
  std::unordered_multimap<ValueId, Beside> beside_;  // uses by other lanes than the compute lane
  std::vector<int32_t> position_;  // by node: place in the program order
  std::vector<int32_t> last_use_;  // by value; -1: never read by a node
  std::vector<bool> kept_;  // by value: read when the run ends
  std::vector<int32_t> block_of_;  // by value in the arena
  std::vector<Block> blocks_;
};

}  // namespace

std::vector<LaneStep> plan_lanes(const Graph& graph) {
  const std::vector<bool> steady = steady_nodes(graph);
  std::vector<LaneStep> steps(graph.order().size() + 1);
  std::array<bool, kLanes> pending{};  // by lane: it has work that was not waited for
  std::array<bool, kLanes> behind{};  // by lane: the compute lane has advanced since the lane last waited for it
  behind.fill(true);
  std::vector<Lane> made_on(graph.num_values(), Lane::kCompute);
  std::vector<bool> joined(graph.num_values(), true);
  for (size_t i = 0; i < graph.order().size(); ++i) {
    const Graph::Node& n = graph.node(graph.order()[i]);
    LaneStep& step = steps[i];
    if (!steady[static_cast<size_t>(graph.order()[i])]) step.lane = n.op->traits.lane;
    for (ValueId v : n.in) {
      const Lane from = made_on[static_cast<size_t>(v)];
      if (from != Lane::kCompute && from != step.lane && !joined[static_cast<size_t>(v)]) step.joins |= static_cast<uint8_t>(1u << static_cast<int>(from));
    }
    for (size_t v = 0; step.joins != 0 && v < joined.size(); ++v)
      if ((step.joins >> static_cast<int>(made_on[v]) & 1) != 0) joined[v] = true;
    for (size_t l = 0; l < kLanes; ++l) pending[l] = pending[l] && (step.joins >> l & 1) == 0;
    if (step.joins != 0 || (step.lane == Lane::kCompute && !steady[static_cast<size_t>(graph.order()[i])])) behind.fill(true);
    if (step.lane == Lane::kCompute) continue;
    const auto lane = static_cast<size_t>(step.lane);
    step.forks = std::exchange(behind[lane], false);
    pending[lane] = true;
    for (ValueId v : n.out) {
      made_on[static_cast<size_t>(v)] = step.lane;
      joined[static_cast<size_t>(v)] = false;
    }
  }
  for (int l = 0; l < kLanes; ++l)
    if (pending[static_cast<size_t>(l)]) steps.back().joins |= static_cast<uint8_t>(1u << l);
  return steps;
}

bool output_may_overwrite(const OpDef& op, const Attrs& attrs, size_t num_inputs, size_t num_outputs, size_t k, const TensorMeta& out, size_t i,
                          const TensorMeta& in) {
  const OpTraits& traits = op.traits;
  if (traits.role == OpRole::kToLayout && !out.device.is_cpu() && !channels_last_differs(out)) return true;
  if (in.nbytes() != out.nbytes() || in.layout != out.layout) return false;  // [C, H, W] and channels-last [1, C, H, W] have different orders
  // An elementwise kernel reads element j of every operand before it writes element j, whichever operand it is.
  if (traits.elementwise && num_outputs == 1 && in == out) return true;
  // With several outputs, a broadcast operand of equal size in bytes would be overwritten before it is read again.
  const bool in_order = (!traits.elementwise && traits.role != OpRole::kGroupCluster) || in == out;
  if (in_order && traits.may_overwrite != nullptr && traits.may_overwrite(attrs, num_inputs, k, i)) return true;
  return (k == 0 && traits.inplace_input == static_cast<int>(i)) || (k == i && k < 32 && (traits.inplace_pairs >> k & 1u) != 0);
}

std::vector<bool> steady_nodes(const Graph& graph) {
  std::vector<bool> fixed(graph.num_values(), false), steady;
  for (ValueId v : graph.constants()) fixed[static_cast<size_t>(v)] = true;
  for (const StateBinding& s : graph.states()) fixed[static_cast<size_t>(s.read)] = s.written == kNoId;
  for (NodeId n : graph.order()) {
    const Graph::Node& node = graph.node(n);
    if (static_cast<size_t>(n) >= steady.size()) steady.resize(static_cast<size_t>(n) + 1, false);
    if (node.op->traits.host_effect || node.op->traits.random) continue;
    // A node without inputs (arange, full) costs less to run than its result's memory is worth.
    const bool all = !node.in.empty() && std::all_of(node.in.begin(), node.in.end(), [&](ValueId v) { return fixed[static_cast<size_t>(v)]; });
    if (!all) continue;
    steady[static_cast<size_t>(n)] = true;
    for (ValueId v : node.out) fixed[static_cast<size_t>(v)] = true;
  }
  return steady;
}

MemoryPlan plan_memory(const Graph& graph) { return Planner(graph).run(); }

}  // namespace sindri
