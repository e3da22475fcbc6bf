// compile: trace, passes, plan, and the cache of executables by signature.
#include "sindri/graph/compile.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <list>
#include <mutex>

#include "sindri/core/error.h"
#include "sindri/core/host_memory.h"
#include "sindri/core/log.h"
#include "sindri/graph/pass.h"
#include "src/graph/executable.h"
#include "src/graph/memory_report.h"
#include "src/graph/passes/passes.h"
#include "src/graph/segments.h"
#include "src/graph/settings.h"
#include "src/graph/signature.h"
#include "src/op/eager.h"

namespace sindri {

// Value-preserving clean-up runs first. The passes that choose layouts, fuse, group updates or bucket reductions
// follow, each followed by dce only: they read a graph without duplicates and create none.
PassList default_passes() {
  PassList passes;
  passes.push_back(make_simplify_layout());
  passes.push_back(make_fold_constants());
  passes.push_back(make_cse());
  passes.push_back(make_dce());
  passes.push_back(make_fuse_norm_act());
  passes.push_back(make_fuse_norm_pool());
  passes.push_back(make_fuse_conv());
  passes.push_back(make_turn_layouts());
  passes.push_back(make_fuse_pool_grad());
  passes.push_back(make_fuse_elementwise());
  passes.push_back(make_group_updates());
  passes.push_back(make_dce());
  passes.push_back(make_group_elementwise());
  passes.push_back(make_hoist_comm());  // last, when the positions of all other nodes are final
  return passes;
}

struct CompiledFn::Impl {
  std::function<TensorList(Span<const Tensor>, int)> fn;
  CompileOptions opts;
  std::mutex mutex;

  struct Entry {
    Signature signature;
    std::unique_ptr<SegmentTree> tree;
    ExecutableInfo info;  // over all segments
  };
  // Most recently used first. Bounded, as each entry holds a graph and weights in their kernels' form: a function
  // called with ever new shapes must not exhaust the memory.
  static constexpr size_t kMaxEntries = 32;
  std::list<Entry> entries;
  const Entry* latest = nullptr;  // most recently compiled
  SignatureHistory history;

  void check_data(Span<const Tensor> in) const;
  int64_t traces = 0;  // calls of fn

  Entry* find(const Signature& wanted);
  TensorList run(Span<const Tensor> in, int variant, int64_t* path);
  std::unique_ptr<Executable> compile_graph(Graph graph, ExecutableInfo* info);
  static const Entry& latest_entry(Impl* impl, std::unique_lock<std::mutex>* lock);
};

CompiledFn::CompiledFn(std::function<TensorList(Span<const Tensor>, int variant)> fn, CompileOptions opts) : impl_(std::make_shared<Impl>()) {
  impl_->fn = std::move(fn);
  impl_->opts = std::move(opts);
}

CompiledFn compile(TensorFn fn, CompileOptions opts) {
  return CompiledFn([fn = std::move(fn)](Span<const Tensor> in, int) { return fn(in); }, std::move(opts));
}

std::unique_ptr<Executable> CompiledFn::Impl::compile_graph(Graph graph, ExecutableInfo* info) {
  const HostTensors constants;
  const auto start = std::chrono::steady_clock::now();
  const auto traced = static_cast<int64_t>(graph.order().size());
  run_passes(graph, default_passes(), pass_context(opts));
  const auto nodes = static_cast<int64_t>(graph.order().size());
  auto executable = std::make_unique<Executable>(std::move(graph), env_flag("SINDRI_CHECK_FINITE"));
  release_cached_host_memory();  // else the buffers used to time kernels would stay allocated in addition to the arena
  const MemoryPlan& plan = executable->plan();
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  ++info->segments;
  info->nodes_traced += traced;
  info->nodes += nodes;
  info->arena_bytes = std::max(info->arena_bytes, plan.arena_bytes);  // segments run in sequence and share one arena
  info->unplanned_bytes += plan.unplanned_bytes;
  executable->add_planned(&info->planned);
  info->compile_seconds += seconds;
  if (log::enabled(log::Level::kDebug, "graph")) log::debug("graph", executable->describe());
  log::info("graph",
            fmt::format("compiled '{}' in {:.3f} s: {} nodes ({} traced), arena {} bytes ({} without reuse)", opts.name, seconds, nodes, traced,
                        plan.arena_bytes, plan.unplanned_bytes));
  return executable;
}

CompiledFn::Impl::Entry* CompiledFn::Impl::find(const Signature& wanted) {
  for (auto it = entries.begin(); it != entries.end(); ++it) {
    if (!it->signature.matches(wanted)) continue;
    entries.splice(entries.begin(), entries, it);
    return &entries.front();
  }
  return nullptr;
}

// Without `path`, compiles what is new and runs nothing.
TensorList CompiledFn::Impl::run(Span<const Tensor> in, int variant, int64_t* path) {
  Signature wanted = make_signature(in, variant);
  Entry* const known = find(wanted);
  if (known != nullptr && path == nullptr) return {};
  Entry fresh;
  if (known == nullptr) {
    fresh.signature = std::move(wanted);
    fresh.tree = std::make_unique<SegmentTree>(opts.name, fresh.signature.device, opts.drop_garbage);
  }
  Entry& e = known != nullptr ? *known : fresh;
  const auto call = [&](Span<const Tensor> x) {
    ++traces;
    return fn(x, variant);
  };
  const auto compile_one = [&](Graph g) { return compile_graph(std::move(g), &e.info); };
  TensorList out = e.tree->run(call, compile_one, in, traces, &e.signature.states, path);
  if (known != nullptr) return out;
  const std::string warning = history.add(opts.name, e.signature);
  if (!warning.empty()) log::warn("graph", warning);
  entries.push_front(std::move(fresh));
  latest = &entries.front();
  if (entries.size() > kMaxEntries) entries.pop_back();  // never the latest, which is at the front
  return out;
}

void CompiledFn::Impl::check_data(Span<const Tensor> in) const {
  for (size_t i = 0; i < in.size(); ++i) {
    if (!in[i].has_data())
      throw ValueError(fmt::format("compiled function '{}': input {} {} has no data", opts.name, i, in[i].meta().str()), "",
                       "a tensor made inside a compiled function lives only during that call: return it from the function");
  }
}

void CompiledFn::prepare(Span<const Tensor> in, int variant) {
  if (impl_ == nullptr) throw ValueError("an empty CompiledFn is prepared", "", "make it with compile()");
  impl_->check_data(in);
  const std::lock_guard lock(impl_->mutex);
  impl_->run(in, variant, nullptr);
}

TensorList CompiledFn::operator()(Span<const Tensor> in, int variant) {
  int64_t path = -1;
  return run(in, variant, &path);
}

TensorList CompiledFn::run(Span<const Tensor> in, int variant, int64_t* path) {
  *path = -1;
  if (impl_ == nullptr) throw ValueError("an empty CompiledFn is called", "", "make it with compile()");
  for (size_t i = 0; i < in.size(); ++i) {
    if (!in[i].defined()) throw ValueError(fmt::format("compiled function '{}': input {} is undefined", impl_->opts.name, i));
  }
  // Under another interpreter (a tape, an outer trace) that interpreter must see each op of the function.
  if (&current_trace() != &eager_trace()) return impl_->fn(in, variant);
  impl_->check_data(in);
  const std::lock_guard lock(impl_->mutex);
  return impl_->run(in, variant, path);
}

// Returns the signature compiled last; `lock` then holds the mutex.
const CompiledFn::Impl::Entry& CompiledFn::Impl::latest_entry(Impl* impl, std::unique_lock<std::mutex>* lock) {
  const char* none = "the compiled function has no graph yet";
  if (impl == nullptr) throw ValueError(none, "", "make it with compile()");
  *lock = std::unique_lock(impl->mutex);
  if (impl->latest == nullptr) throw ValueError(none, "compiled function " + impl->opts.name, "call it once first");
  return *impl->latest;
}

std::string CompiledFn::graph_text() const {
  std::unique_lock<std::mutex> lock;
  std::string text;
  for (const Segment* s : Impl::latest_entry(impl_.get(), &lock).tree->segments()) text += (text.empty() ? "" : "\n") + s->executable->graph().text();
  return text;
}

MemoryReport CompiledFn::memory_report() const {
  std::unique_lock<std::mutex> lock;
  const Executable* largest = nullptr;
  for (const Segment* s : Impl::latest_entry(impl_.get(), &lock).tree->segments()) {
    if (largest == nullptr || s->executable->plan().arena_bytes > largest->plan().arena_bytes) largest = s->executable.get();
  }
  if (largest == nullptr) throw ValueError("the compiled function keeps no graph of its latest signature");
  const Executable& e = *largest;
  MemoryReport r = explain_memory(e.graph(), e.plan());
  r.workspace_bytes = e.workspace_bytes();
  r.steady_bytes = e.steady_bytes();
  return r;
}

ExecutableInfo CompiledFn::info() const {
  if (impl_ == nullptr) return {};
  const std::lock_guard lock(impl_->mutex);
  return impl_->latest != nullptr ? impl_->latest->info : ExecutableInfo{};
}

int64_t CompiledFn::num_signatures() const {
  if (impl_ == nullptr) return 0;
  const std::lock_guard lock(impl_->mutex);
  return static_cast<int64_t>(impl_->entries.size());
}

}  // namespace sindri
