// See memory_report.h. Lifetimes are derived from the graph, not from the planner: two slices that overlap while both
// values are alive show up as more live bytes than the arena has.
#include "src/graph/memory_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

namespace sindri {

namespace {

int64_t slice_bytes(const TensorMeta& m) { return (m.nbytes() + kArenaAlign - 1) / kArenaAlign * kArenaAlign; }

class Explainer {
 public:
  Explainer(const Graph& g, const MemoryPlan& plan) : g_(g), plan_(plan), made_(g.num_values(), 0), last_use_(g.num_values(), -1) {
    const std::vector<bool> steady = steady_nodes(g);
    for (NodeId n : g.order()) {
      if (!steady[static_cast<size_t>(n)]) program_.push_back(n);
    }
  }

  MemoryReport run() {
    r_.arena_bytes = plan_.arena_bytes;
    r_.instructions = static_cast<int64_t>(program_.size());
    boundary();
    lifetimes();
    find_peak();
    if (!program_.empty()) list_live();
    r_.gap_bytes = r_.arena_bytes - r_.live_bytes;
    return std::move(r_);
  }

 private:
  const Location& at(ValueId v) const { return plan_.at[static_cast<size_t>(v)]; }
  int64_t bytes(ValueId v) const { return g_.value(v).meta.nbytes(); }

  void boundary() {
    for (const StateBinding& s : g_.states()) r_.state_bytes += bytes(s.read);
    for (ValueId v : g_.inputs()) r_.input_bytes += bytes(v);
    for (ValueId v : g_.constants()) r_.constant_bytes += bytes(v);
    for (ValueId v : plan_.fresh) r_.result_bytes += bytes(v);
  }

  void lifetimes() {
    for (size_t i = 0; i < program_.size(); ++i) {
      const Graph::Node& n = g_.node(program_[i]);
      for (ValueId v : n.out) made_[static_cast<size_t>(v)] = last_use_[static_cast<size_t>(v)] = static_cast<int64_t>(i);
      for (ValueId v : n.in) last_use_[static_cast<size_t>(v)] = static_cast<int64_t>(i);
    }
  }

  // A value computed in place of an operand shares its slice; while both are alive (at that very instruction) it counts once.
  bool taken_over(ValueId v, const Graph::Node& n) const {
    return std::any_of(n.out.begin(), n.out.end(), [&](ValueId o) {
      return o != v && at(o).place == Place::kArena && at(o).offset == at(v).offset && made_[static_cast<size_t>(v)] < made_[static_cast<size_t>(o)];
    });
  }

  void find_peak() {
    int64_t live = 0;
    std::vector<std::vector<ValueId>> dies(program_.size());
    for (size_t i = 0; i < program_.size(); ++i) {
      const Graph::Node& n = g_.node(program_[i]);
      int64_t reused = 0;
      for (ValueId v : n.out) {
        if (at(v).place != Place::kArena) continue;
        live += slice_bytes(g_.value(v).meta);
        dies[static_cast<size_t>(last_use_[static_cast<size_t>(v)])].push_back(v);
      }
      for (ValueId v : dies[i]) {
        if (taken_over(v, n)) reused += slice_bytes(g_.value(v).meta);
      }
      if (live - reused > r_.live_bytes) {
        r_.live_bytes = live - reused;
        r_.peak_instruction = static_cast<int64_t>(i);
      }
      for (ValueId v : dies[i]) live -= slice_bytes(g_.value(v).meta);
    }
  }

  void list_live() {
    const Graph::Node& peak = g_.node(program_[static_cast<size_t>(r_.peak_instruction)]);
    r_.peak_op = peak.op->name;
    r_.peak_scope = peak.scope;
    for (NodeId n : program_) {
      for (ValueId v : g_.node(n).out) {
        const auto i = static_cast<size_t>(v);
        const bool alive = made_[i] <= r_.peak_instruction && last_use_[i] >= r_.peak_instruction;
        if (!alive || at(v).place != Place::kArena || (last_use_[i] == r_.peak_instruction && taken_over(v, peak))) continue;
        r_.live.push_back({g_.node(n).scope, g_.node(n).op->name, g_.value(v).meta, slice_bytes(g_.value(v).meta)});
      }
    }
    std::stable_sort(r_.live.begin(), r_.live.end(), [](const LiveValue& a, const LiveValue& b) { return a.bytes > b.bytes; });
  }

  const Graph& g_;
  const MemoryPlan& plan_;
  MemoryReport r_;
  std::vector<NodeId> program_;  // what every run executes
  std::vector<int64_t> made_, last_use_;  // by value: positions in the program order
};

}  // namespace

MemoryReport explain_memory(const Graph& graph, const MemoryPlan& plan) { return Explainer(graph, plan).run(); }

std::string largest_cells(const std::string& name, const MemoryReport& report) {
  constexpr size_t kNamed = 5;
  std::map<std::string, int64_t> cells;
  for (const LiveValue& v : report.live) cells[v.scope.empty() ? "no Cell" : v.scope] += v.bytes;
  std::vector<std::pair<std::string, int64_t>> sorted(cells.begin(), cells.end());
  std::stable_sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) { return a.second > b.second; });
  const auto mb = [](int64_t bytes) { return static_cast<double>(bytes) * 1e-6; };
  std::string text = fmt::format("{} needs {:.1f} MB for values", name, mb(report.arena_bytes));
  for (size_t i = 0; i < sorted.size() && i < kNamed; ++i)
    text += fmt::format("{}{} {:.1f} MB", i == 0 ? ", most of it at the peak for " : ", ", sorted[i].first, mb(sorted[i].second));
  return text;
}

}  // namespace sindri
