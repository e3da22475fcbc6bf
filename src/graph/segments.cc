// See segments.h.
#include "src/graph/segments.h"

#include <fmt/format.h>

#include <exception>
#include <optional>

#include "sindri/core/error.h"
#include "sindri/core/log.h"
#include "sindri/graph/compile.h"
#include "src/op/eager.h"

namespace sindri {

namespace {

// A loop whose condition is a tensor adds one segment per iteration. At this limit, a longer loop, or a function that keeps taking new paths, runs op by op.
constexpr size_t kMaxSegments = 1024;

uint64_t mix(uint64_t h, uint64_t v) { return (h ^ v) * 0x9E3779B97F4A7C15ull + (h >> 29); }

uint64_t fingerprint(const Graph& g, ValueId condition) {
  uint64_t h = mix(g.num_values(), static_cast<uint64_t>(condition));
  for (NodeId n : g.order()) {
    const Graph::Node& node = g.node(n);
    h = mix(h, reinterpret_cast<uintptr_t>(node.op));
    h = mix(h, std::hash<std::string>()(node.attrs.text()));
    for (ValueId v : node.in) h = mix(h, static_cast<uint64_t>(v));
  }
  for (const StateBinding& s : g.states()) h = mix(mix(h, reinterpret_cast<uintptr_t>(s.param)), static_cast<uint64_t>(s.written));
  return h;
}

TensorList next_inputs(const Segment& s, Span<const Tensor> in, Span<const Tensor> out) {
  TensorList next;
  next.reserve(s.crossings.size());
  for (const GraphTrace::Crossing& c : s.crossings) next.push_back(c.from_input ? in[static_cast<size_t>(c.index)] : out[static_cast<size_t>(c.index)]);
  return next;
}

bool truth(const Tensor& t) { return t.item() != 0; }

}  // namespace

/// A path that is being traced. Its first segments already exist, and have run, if other paths share them; the rest runs as it is traced.
class PathTrace {
 public:
  struct Step {
    Segment* segment;
    bool outcome;
  };

  PathTrace(SegmentTree* tree, const SegmentTree::Compile& compile, std::vector<Step> done, TensorList env, std::vector<Signature::State>* states)
      : tree_(tree),
        compile_(compile),
        done_(std::move(done)),
        env_(std::move(env)),
        states_(states),
        graph_(new Graph(tree->name_, tree->device_)),
        trace_(graph_.get()) {}

  TensorList run(const TensorFn& fn, Span<const Tensor> in, int64_t number, int64_t* path) {
    only_compile_ = path == nullptr;
    const TraceScope scope(trace_);
    tracing_.emplace();
    const Current current(this);
    if (!done_.empty()) trace_.set_metas(&done_[0].segment->state_metas);
    TensorList symbols, out;
    for (const Tensor& t : in) symbols.push_back(trace_.input(t.meta()));
    try {
      out = fn(symbols);
    } catch (...) {
      if (stopped_) return {};
      if (cuts_ > 0) flush();
      throw;
    }
    if (path != nullptr) *path = -1;
    if (trace_.left()) return out;
    if (cuts_ < done_.size()) throw_changed();
    symbols.clear();
    if (path != nullptr && held_elsewhere(out)) {
      give_values();
      return out;
    }
    trace_.finish(out);
    std::unique_ptr<Segment> segment = make_segment(kNoId);
    segment->path = number;
    if (path != nullptr) {
      out = execute(*segment);
      *path = number;
    } else {
      out.clear();
    }
    attach(std::move(segment));
    return out;
  }

  /// Returns the truth value of a traced tensor: runs what was traced so far and continues the trace after it.
  bool condition(const Tensor& t) {
    if (cuts_ < done_.size()) return replay(t);
    const ValueId id = trace_.value(t);
    if (tree_->size_ >= kMaxSegments) {
      log::warn(
          "graph",
          fmt::format("'{}' takes more than {} paths at conditions on tensors, or has a loop with as many iterations; the rest of such a call runs op by op | "
                      "bound the loop, and move code that does not depend on the condition before it",
                      tree_->name_, kMaxSegments));
      leave();
      return truth(t);
    }
    std::vector<GraphTrace::Crossing> crossings = trace_.cut(t);
    std::unique_ptr<Segment> segment = make_segment(id);
    segment->crossings = std::move(crossings);
    if (only_compile_) {
      attach(std::move(segment));
      stopped_ = true;
      throw ValueError("the trace ends at its first condition", "compiled function " + tree_->name_);  // caught in run()
    }
    const TensorList out = execute(*segment);
    env_ = next_inputs(*segment, env_, out);
    here_ = attach(std::move(segment));
    outcome_ = truth(out[0]);
    ++cuts_;
    next_graph(here_->crossings);
    return outcome_;
  }

  /// Runs what was traced so far; the rest of the function runs eagerly. Returns false before the first condition,
  /// where nothing has run yet.
  bool leave() {
    if (cuts_ < done_.size()) throw_changed();
    if (cuts_ == 0) return false;
    give_values();
    return true;
  }

  static PathTrace*& current() {
    thread_local PathTrace* p = nullptr;
    return p;
  }
  bool left() const { return trace_.left(); }
  bool has_run() const { return cuts_ > 0 || !done_.empty(); }

 private:
  class Current {
   public:
    explicit Current(PathTrace* p) : previous_(std::exchange(current(), p)) {}
    ~Current() { current() = previous_; }
    Current(const Current&) = delete;
    Current& operator=(const Current&) = delete;

   private:
    PathTrace* previous_;
  };

  // Runs what was traced, and gives data to every traced tensor that is held outside the trace.
  void give_values() {
    std::vector<GraphTrace::Crossing> crossings = trace_.cut(Tensor());
    std::unique_ptr<Segment> segment = make_segment(kNoId);
    segment->crossings = std::move(crossings);
    const TensorList out = execute(*segment);
    trace_.leave(segment->crossings, next_inputs(*segment, env_, out));
    tracing_.reset();
  }

  bool held_elsewhere(Span<const Tensor> results) const {
    if (!tree_->drop_garbage_ || !trace_.held_elsewhere(results)) return false;
    tree_->drop_garbage_();
    return trace_.held_elsewhere(results);
  }

  bool replay(const Tensor& t) {
    const Step& step = done_[cuts_];
    if (step.segment->fingerprint != fingerprint(*graph_, trace_.value(t))) throw_changed();
    trace_.cut(t);
    here_ = step.segment;
    outcome_ = step.outcome;
    ++cuts_;
    trace_.set_metas(cuts_ < done_.size() ? &done_[cuts_].segment->state_metas : nullptr);
    next_graph(here_->crossings);
    return outcome_;
  }

  [[noreturn]] void throw_changed() const {
    throw ValueError(fmt::format("up to a condition on a tensor, '{}' behaved differently than when it was first traced", tree_->name_), "",
                     "its behaviour may depend on its arguments, Parameters and the attributes of its Cells, not on variables that it changes itself");
  }

  void next_graph(Span<const GraphTrace::Crossing> crossings) {
    old_.push_back(std::move(graph_));  // stays allocated: values that refer to it may still exist
    graph_ = std::make_unique<Graph>(tree_->name_, tree_->device_);
    trace_.go_on(graph_.get(), crossings);
  }

  std::unique_ptr<Segment> make_segment(ValueId condition) {
    auto s = std::make_unique<Segment>();
    s->fingerprint = fingerprint(*graph_, condition);
    for (const StateBinding& b : graph_->states()) {
      const TensorMeta& meta = graph_->value(b.read).meta;
      s->state_metas.emplace(b.param, meta);
      bool known = false;
      for (const Signature::State& o : *states_) known = known || o.param == b.param;
      if (!known) states_->push_back({b.param, meta});
    }
    const SuspendTraces suspend;
    s->executable = compile_(*graph_);
    return s;
  }

  TensorList execute(const Segment& s) {
    const SuspendTraces suspend;
    running_ = true;  // stays true if it throws
    TensorList out = s.executable->run(env_);
    running_ = false;
    return out;
  }

  Segment* attach(std::unique_ptr<Segment> s) {
    std::unique_ptr<Segment>& place = here_ == nullptr ? tree_->root_ : here_->next[outcome_ ? 1 : 0];
    place = std::move(s);
    ++tree_->size_;
    return place.get();
  }

  // For a function that throws after a condition: its earlier writes take effect, as in eager mode.
  void flush() {
    if (trace_.left() || running_ || cuts_ < done_.size()) return;
    trace_.cut(Tensor());
    graph_->set_outputs({});
    execute(*make_segment(kNoId));
  }

  SegmentTree* tree_;
  const SegmentTree::Compile& compile_;
  std::vector<Step> done_;
  TensorList env_;  // inputs of the segment being traced; during a replay, of the one after it
  std::vector<Signature::State>* states_;
  std::vector<std::unique_ptr<Graph>> old_;
  std::unique_ptr<Graph> graph_;
  GraphTrace trace_;
  std::optional<TracingGraphScope> tracing_;
  size_t cuts_ = 0;
  Segment* here_ = nullptr;  // the segment before the one being traced
  bool outcome_ = false, running_ = false, only_compile_ = false, stopped_ = false;
};

TensorList SegmentTree::run(const TensorFn& fn, const Compile& compile, Span<const Tensor> in, int64_t trace, std::vector<Signature::State>* states,
                            int64_t* path) {
  std::vector<PathTrace::Step> done;
  TensorList env;
  Span<const Tensor> now = in;
  for (Segment* s = root_.get(); s != nullptr;) {
    TensorList out = s->executable->run(now);
    if (s->path >= 0) {
      *path = s->path;
      return out;
    }
    const bool outcome = truth(out[0]);
    done.push_back({s, outcome});
    env = next_inputs(*s, now, out);
    now = env;
    s = s->next[outcome ? 1 : 0].get();
  }
  if (done.empty()) env.assign(in.begin(), in.end());
  return PathTrace(this, compile, std::move(done), std::move(env), states).run(fn, in, trace, path);
}

std::vector<const Segment*> SegmentTree::segments() const {
  std::vector<const Segment*> out, stack;
  if (root_ != nullptr) stack.push_back(root_.get());
  while (!stack.empty()) {
    const Segment* s = stack.back();
    stack.pop_back();
    out.push_back(s);
    for (size_t i = s->next.size(); i-- > 0;)
      if (s->next[i] != nullptr) stack.push_back(s->next[i].get());
  }
  return out;
}

std::optional<bool> traced_condition(const Tensor& t) {
  PathTrace* const p = PathTrace::current();
  if (p == nullptr || !t.is_symbolic() || p->left()) return std::nullopt;
  return p->condition(t);
}

bool traced_call_has_run() { return PathTrace::current() != nullptr && PathTrace::current()->has_run(); }

bool leave_trace() {
  PathTrace* const p = PathTrace::current();
  return p != nullptr && !p->left() && p->leave();
}

}  // namespace sindri
