// Op plans and their cache.
#include "src/op/plan.h"

#include <mutex>
#include <unordered_map>

#include "sindri/core/context.h"
#include "sindri/core/rng.h"
#include "sindri/op/bind.h"
#include "sindri/op/observer.h"
#include "src/op/layout_rule.h"

namespace sindri {

namespace {

struct Key {
  const OpDef* op;
  Attrs attrs;
  std::vector<TensorMeta> in;
  std::string forced;
  bool strict;
  int threads;
  size_t hash;
  bool operator==(const Key& o) const {
    return hash == o.hash && op == o.op && strict == o.strict && threads == o.threads && forced == o.forced && attrs == o.attrs && in == o.in;
  }
};
struct KeyHash {
  size_t operator()(const Key& k) const { return k.hash; }
};

Key make_key(const OpDef& op, const Attrs& attrs, Span<const TensorMeta> in) {
  const char* forced = forced_kernel();
  Key k{&op, attrs, {in.begin(), in.end()}, forced != nullptr ? forced : "", strict_mode(), num_threads(), 0};
  uint64_t h = hash_combine(reinterpret_cast<uintptr_t>(&op), attrs.hash());
  for (const TensorMeta& m : in) {
    h = hash_combine(h, static_cast<uint64_t>(m.dtype) * 16 + static_cast<uint64_t>(m.layout));
    for (int64_t d : m.shape) h = hash_combine(h, static_cast<uint64_t>(d));
  }
  k.hash = hash_combine(h, static_cast<uint64_t>(k.strict) + static_cast<uint64_t>(k.threads) * 2);
  return k;
}

// Bounded: varying shapes would otherwise grow it for ever. Dropping everything is rare and only costs remaking plans.
constexpr size_t kMaxPlans = 16384;

}  // namespace

void infer_with_layout(const OpDef& op, const Attrs& attrs, Span<const TensorMeta> given, std::vector<TensorMeta>* in, std::vector<TensorMeta>* out) {
  *out = op.infer(attrs, given);
  in->assign(given.begin(), given.end());
  apply_layout_rule(op, in, out);
}

std::shared_ptr<const OpPlan> plan_op(const OpDef& op, const Attrs& attrs, Span<const TensorMeta> given) {
  static std::mutex mutex;
  static std::unordered_map<Key, std::shared_ptr<const OpPlan>, KeyHash> cache;
  Key key = make_key(op, attrs, given);
  {
    const std::lock_guard lock(mutex);
    const auto it = cache.find(key);
    if (it != cache.end()) return it->second;
  }
  auto plan = std::make_shared<OpPlan>();
  infer_with_layout(op, attrs, given, &plan->in, &plan->out);
  plan->kernel = make_kernel({op, attrs, plan->in, plan->out}, &plan->kernel_def, forced_kernel());
  plan->workspace = plan->kernel->workspace_bytes();
  const std::lock_guard lock(mutex);
  if (cache.size() >= kMaxPlans) cache.clear();
  cache.emplace(std::move(key), plan);
  return plan;
}

void run_plan(const OpPlan& plan, Span<const Buffer> in, Span<const Buffer> out, void* workspace) {
  ExecContext ctx{workspace};
  plan.kernel->run(ctx, in, out);
}

void run_observed(const OpDef& op, const Attrs& attrs, const std::string* scope, const OpPlan& plan, Span<const Buffer> in, Span<const Buffer> out,
                  void* workspace) {
  KernelObserver* const observer = kernel_observer();
  if (observer == nullptr) return run_plan(plan, in, out, workspace);
  const std::string here = scope != nullptr ? *scope : current_scope();
  const auto begin = std::chrono::steady_clock::now();
  run_plan(plan, in, out, workspace);
  uint32_t prepared = 0;
  for (size_t i = 0; i < in.size() && i < 32; ++i) prepared |= in[i].prepared != nullptr ? 1u << i : 0u;
  observer->on_kernel({op, attrs, plan.kernel_def->name, plan.in, plan.out, prepared, here, begin, std::chrono::steady_clock::now()});
}

std::shared_ptr<Kernel> select_kernel(const KernelQuery& q, const char* only) { return make_kernel(q, nullptr, only); }

}  // namespace sindri
