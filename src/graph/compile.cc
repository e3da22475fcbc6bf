// compile: trace, passes, plan, and the cache of executables by signature.
#include "sindri/graph/compile.h"

#include <fmt/format.h>

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
#include "src/graph/settings.h"
#include "src/graph/signature.h"
#include "src/graph/trace.h"
#include "src/op/eager.h"

namespace sindri {

// Value-preserving clean-up first. Passes that choose layouts, fuse, group updates or bucket reductions go behind it, each
// followed by nothing but dce: they look at a graph without duplicates and leave none.
PassList default_passes() {
  PassList passes;
  passes.push_back(make_simplify_layout());
  passes.push_back(make_fold_constants());
  passes.push_back(make_cse());
  passes.push_back(make_dce());
  passes.push_back(make_fuse_norm_act());
  passes.push_back(make_fuse_conv());
  passes.push_back(make_fuse_elementwise());
  passes.push_back(make_group_updates());
  passes.push_back(make_dce());
  return passes;
}

struct CompiledFn::Impl {
  std::function<TensorList(Span<const Tensor>, int)> fn;
  CompileOptions opts;
  std::mutex mutex;

  struct Entry {
    Signature signature;
    std::unique_ptr<Executable> executable;
    ExecutableInfo info;
  };
  // Most recently used first. Bounded, as each entry owns an arena: a function fed with ever new shapes must not eat the memory.
  static constexpr size_t kMaxEntries = 32;
  std::list<Entry> entries;
  const Entry* latest = nullptr;  // most recently compiled
  SignatureHistory history;

  void check_data(Span<const Tensor> in) const;
  Entry& find_or_compile(Span<const Tensor> in, int variant);
  Entry compile_entry(Signature signature, Span<const Tensor> in);
  static const Executable& latest_executable(Impl* impl, std::unique_lock<std::mutex>* lock);
};

CompiledFn::CompiledFn(std::function<TensorList(Span<const Tensor>, int variant)> fn, CompileOptions opts) : impl_(std::make_shared<Impl>()) {
  impl_->fn = std::move(fn);
  impl_->opts = std::move(opts);
}

CompiledFn compile(TensorFn fn, CompileOptions opts) {
  return CompiledFn([fn = std::move(fn)](Span<const Tensor> in, int) { return fn(in); }, std::move(opts));
}

CompiledFn::Impl::Entry CompiledFn::Impl::compile_entry(Signature signature, Span<const Tensor> in) {
  const auto start = std::chrono::steady_clock::now();
  Entry e;
  std::vector<TensorMeta> metas;
  for (const Tensor& t : in) metas.push_back(t.meta());
  const int variant = signature.variant;
  Graph graph = trace_function(
      opts.name, [&](Span<const Tensor> x) { return fn(x, variant); }, metas);
  e.info.nodes_traced = static_cast<int64_t>(graph.order().size());
  for (const StateBinding& s : graph.states()) signature.states.push_back({s.param, s.param->meta()});
  run_passes(graph, default_passes(), pass_context(opts));
  e.info.nodes = static_cast<int64_t>(graph.order().size());
  e.executable = std::make_unique<Executable>(std::move(graph), env_flag("SINDRI_CHECK_FINITE"));
  release_cached_host_memory();  // buffers that kernels were measured on would stay beside the arena
  e.info.arena_bytes = e.executable->plan().arena_bytes;
  e.info.unplanned_bytes = e.executable->plan().unplanned_bytes;
  e.info.compile_seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  e.signature = std::move(signature);
  if (log::enabled(log::Level::kDebug, "graph")) log::debug("graph", e.executable->describe());
  log::info("graph",
            fmt::format("compiled '{}' in {:.3f} s: {} nodes ({} traced), arena {} bytes ({} without reuse)", opts.name, e.info.compile_seconds, e.info.nodes,
                        e.info.nodes_traced, e.info.arena_bytes, e.info.unplanned_bytes));
  return e;
}

CompiledFn::Impl::Entry& CompiledFn::Impl::find_or_compile(Span<const Tensor> in, int variant) {
  Signature wanted = make_signature(in, variant);
  for (auto it = entries.begin(); it != entries.end(); ++it) {
    if (!it->signature.matches(wanted)) continue;
    entries.splice(entries.begin(), entries, it);
    return entries.front();
  }
  Entry e = compile_entry(std::move(wanted), in);
  const std::string warning = history.add(opts.name, e.signature);
  if (!warning.empty()) log::warn("graph", warning);
  entries.push_front(std::move(e));
  latest = &entries.front();
  if (entries.size() > kMaxEntries) entries.pop_back();
  return entries.front();
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
  impl_->find_or_compile(in, variant);
}

TensorList CompiledFn::operator()(Span<const Tensor> in, int variant) {
  if (impl_ == nullptr) throw ValueError("an empty CompiledFn is called", "", "make it with compile()");
  for (size_t i = 0; i < in.size(); ++i) {
    if (!in[i].defined()) throw ValueError(fmt::format("compiled function '{}': input {} is undefined", impl_->opts.name, i));
  }
  // Under another interpreter (a tape, an outer trace) the ops of the function have to pass through it one by one.
  if (&current_trace() != &eager_trace()) return impl_->fn(in, variant);
  impl_->check_data(in);
  const std::lock_guard lock(impl_->mutex);
  return impl_->find_or_compile(in, variant).executable->run(in);
}

// The executable compiled last; `lock` then holds the mutex.
const Executable& CompiledFn::Impl::latest_executable(Impl* impl, std::unique_lock<std::mutex>* lock) {
  const char* none = "the compiled function has no graph yet";
  if (impl == nullptr) throw ValueError(none, "", "make it with compile()");
  *lock = std::unique_lock(impl->mutex);
  if (impl->latest == nullptr) throw ValueError(none, "compiled function " + impl->opts.name, "call it once first");
  return *impl->latest->executable;
}

std::string CompiledFn::graph_text() const {
  std::unique_lock<std::mutex> lock;
  return Impl::latest_executable(impl_.get(), &lock).graph().text();
}

MemoryReport CompiledFn::memory_report() const {
  std::unique_lock<std::mutex> lock;
  const Executable& e = Impl::latest_executable(impl_.get(), &lock);
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
