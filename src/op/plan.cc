// Op plans and their cache.
#include "src/op/plan.h"

#include <algorithm>
#include <bit>
#include <mutex>
#include <unordered_set>

#include <fmt/format.h>

#include "sindri/core/context.h"
#include "sindri/core/error.h"
#include "sindri/core/rng.h"
#include "sindri/device/backend.h"
#include "sindri/op/bind.h"
#include "sindri/op/observer.h"
#include "src/core/fork.h"
#include "src/core/runtime_state.h"
#include "src/core/tensor_impl.h"
#include "src/device/device_timer.h"
#include "src/op/layout_rule.h"

namespace sindri {

namespace {

struct Key {
  const OpDef* op;
  Attrs attrs;
  std::vector<TensorMeta> in;
  Device device;  // for a call without operands
  std::string forced;
  bool strict;
  int threads;
  uint64_t runtime;  // the runtime whose kernel choices the plan uses
  size_t hash;
  bool operator==(const Key& o) const {
    return hash == o.hash && op == o.op && strict == o.strict && threads == o.threads && runtime == o.runtime && device == o.device && forced == o.forced &&
        attrs == o.attrs && in == o.in;
  }
};

struct Entry {
  Key key;
  OpPlan plan;
  mutable uint64_t last_use = 0;  // guarded by the table's mutex
};
using EntryPtr = std::shared_ptr<const Entry>;

struct HashOfEntry {
  using is_transparent = void;
  size_t operator()(const Key& k) const { return k.hash; }
  size_t operator()(const EntryPtr& e) const { return e->key.hash; }
};
struct SameKey {
  using is_transparent = void;
  bool operator()(const EntryPtr& a, const EntryPtr& b) const { return a->key == b->key; }
  bool operator()(const Key& a, const EntryPtr& b) const { return a == b->key; }
  bool operator()(const EntryPtr& a, const Key& b) const { return a->key == b; }
};

// The parameters of a call, without copies of its metas: meta(i) returns the i-th of `count`.
template <class MetaOf> struct Call {
  const OpDef& op;
  const Attrs& attrs;
  size_t count;
  MetaOf meta;
  Device device = {};  // used if there are no operands
  const char* forced = forced_kernel();
  RuntimeState& here = *t_place.runtime;
  bool strict = here.is_strict();
  int threads = here.num_threads();
  uint64_t runtime = here.id;

  // One multiplication per value, mixed once at the end: hashing is a large part of a small op's cost.
  size_t hash() const {
    uint64_t h = reinterpret_cast<uintptr_t>(&op);
    const auto add = [&h](uint64_t v) { h = (std::rotl(h, 23) ^ v) * 0x9E3779B97F4A7C15ull; };
    add(attrs.hash());
    for (size_t i = 0; i < count; ++i) {
      const TensorMeta& m = meta(i);
      add(static_cast<uint64_t>(m.dtype) * 16 + static_cast<uint64_t>(m.layout) + (static_cast<uint64_t>(m.device.kind) << 8) +
          (static_cast<uint64_t>(m.device.index) << 16));
      for (int64_t d : m.shape) add(static_cast<uint64_t>(d));
    }
    return hash_combine(h, static_cast<uint64_t>(strict) + static_cast<uint64_t>(threads) * 2 + (runtime << 16));
  }
  bool is(const Key& k) const {
    if (k.op != &op || k.strict != strict || k.threads != threads || k.runtime != runtime || k.in.size() != count || k.device != device) return false;
    if (forced == nullptr ? !k.forced.empty() : k.forced != forced) return false;
    for (size_t i = 0; i < count; ++i)
      if (k.in[i] != meta(i)) return false;
    return k.attrs == attrs;
  }
  Key key(size_t hash) const {
    Key k{&op, attrs, {}, device, forced != nullptr ? forced : "", strict, threads, runtime, hash};
    for (size_t i = 0; i < count; ++i) k.in.push_back(meta(i));
    return k;
  }
};

// Bounded, as a plan can hold tens of kB of generated code: varying shapes would otherwise grow the cache forever. A
// training step needs a few hundred plans.
constexpr size_t kMaxPlans = 768;

}  // namespace

void infer_with_layout(const OpDef& op, const Attrs& attrs, Span<const TensorMeta> given, std::vector<TensorMeta>* in, std::vector<TensorMeta>* out,
                       Device device) {
  for (size_t i = 0; i < given.size(); ++i) {
    if (given[i].device != given[0].device)
      throw DeviceError(fmt::format("{}: input 0 is on {}, input {} on {}", op.name, given[0].device.str(), i, given[i].device.str()), "",
                        "copy them to one device with Tensor::to");
  }
  *out = op.infer(attrs, given);
  in->assign(given.begin(), given.end());
  apply_layout_rule(op, in, out);
  if (!given.empty()) device = given[0].device;
  for (TensorMeta& m : *out) m.device = device;
}

int64_t planned_bytes_of(const OpPlan& plan) {
  int64_t bytes = plan.kernel->cost().extra_bytes;
  for (const TensorMeta& m : plan.in) bytes += m.nbytes();
  for (const TensorMeta& m : plan.out) bytes += m.nbytes();
  return bytes;
}

namespace {

EntryPtr make_entry(Key key) {
  auto e = std::make_shared<Entry>(Entry{std::move(key), {}, 0});
  OpPlan& plan = e->plan;
  infer_with_layout(*e->key.op, e->key.attrs, e->key.in, &plan.in, &plan.out, e->key.device);
  plan.kernel = make_kernel({*e->key.op, e->key.attrs, plan.in, plan.out}, &plan.kernel_def, forced_kernel());
  plan.workspace = plan.kernel->workspace_bytes();
  return e;
}

// The plans that all threads of a runtime share. Each runtime has its own table, so its plans are freed with it, and a
// runtime with many shapes does not evict another's plans.
struct Table {
  std::mutex mutex;
  const AtFork at_fork{mutex, AtFork::kPlans};
  std::unordered_set<EntryPtr, HashOfEntry, SameKey> cache;
  uint64_t clock = 0;
};
constinit RuntimeSlot<Table> shared_table;

EntryPtr find_or_make(Key key) {
  auto& [mutex, at_fork, cache, clock] = shared_table.get();
  {
    const std::lock_guard lock(mutex);
    const auto it = cache.find(key);
    if (it != cache.end()) {
      (*it)->last_use = ++clock;
      return *it;
    }
  }
  EntryPtr made = make_entry(std::move(key));
  const std::lock_guard lock(mutex);
  made->last_use = ++clock;
  if (cache.size() >= kMaxPlans) {  // evict the least recently used half
    std::vector<uint64_t> uses;
    for (const EntryPtr& e : cache) uses.push_back(e->last_use);
    std::nth_element(uses.begin(), uses.begin() + kMaxPlans / 2, uses.end());
    std::erase_if(cache, [limit = uses[kMaxPlans / 2]](const EntryPtr& e) { return e->last_use < limit; });
  }
  return *cache.insert(std::move(made)).first;
}

// Each thread keeps its most recent plans, by hash, so that a loop of eager calls neither locks nor copies a key.
template <class MetaOf> std::shared_ptr<const OpPlan> find_plan(const Call<MetaOf>& call) {
  constexpr size_t kRecent = 512;
  thread_local std::vector<EntryPtr> recent(kRecent);
  const size_t hash = call.hash();
  EntryPtr& slot = recent[hash % kRecent];
  if (slot == nullptr || slot->key.hash != hash || !call.is(slot->key)) slot = find_or_make(call.key(hash));
  return {slot, &slot->plan};
}

}  // namespace

std::shared_ptr<const OpPlan> plan_op(const OpDef& op, const Attrs& attrs, Span<const TensorMeta> given, Device device) {
  const auto meta = [given](size_t i) -> const TensorMeta& { return given[i]; };
  return find_plan(Call<decltype(meta)>{op, attrs, given.size(), meta, given.empty() ? device : Device{}});
}
std::shared_ptr<const OpPlan> plan_call(const OpDef& op, const Attrs& attrs, Span<const Tensor> in) {
  const auto meta = [in](size_t i) -> const TensorMeta& { return in[i].impl()->meta; };
  return find_plan(Call<decltype(meta)>{op, attrs, in.size(), meta, in.empty() ? current_device() : Device{}});
}
std::shared_ptr<const OpPlan> plan_call(const OpDef& op, const Attrs& attrs, Span<const Tensor* const> in) {
  const auto meta = [in](size_t i) -> const TensorMeta& { return in[i]->impl()->meta; };
  return find_plan(Call<decltype(meta)>{op, attrs, in.size(), meta, in.empty() ? current_device() : Device{}});
}

// Times the kernel's work, not the enqueuing of it.
void run_observed(const OpDef& op, const Attrs& attrs, const std::string* scope, const OpPlan& plan, Span<const Buffer> in, Span<const Buffer> out,
                  ExecContext ctx) {
  KernelObserver* const observer = kernel_observer();
  if (observer == nullptr) return run_plan(plan, in, out, ctx);
  const std::string here = scope != nullptr ? *scope : current_scope();
  auto begin = std::chrono::steady_clock::now(), end = begin;
  const auto work = [&] { run_plan(plan, in, out, ctx); };
  if (ctx.stream != nullptr) {
    // The duration is measured by the device's clock; the interval ends when the host's wait ends.
    const double seconds = seconds_on_device(*ctx.stream, work);
    end = std::chrono::steady_clock::now();
    begin = end - std::chrono::duration_cast<std::chrono::steady_clock::duration>(std::chrono::duration<double>(seconds));
  } else {
    work();
    end = std::chrono::steady_clock::now();
  }
  uint32_t prepared = 0;
  for (size_t i = 0; i < in.size() && i < 32; ++i) prepared |= in[i].prepared != nullptr ? 1u << i : 0u;
  observer->on_kernel({op, attrs, plan.kernel_def->name, plan.in, plan.out, prepared, here, planned_bytes_of(plan), begin, end});
}

std::shared_ptr<Kernel> select_kernel(const KernelQuery& q, const char* only) { return make_kernel(q, nullptr, only); }

}  // namespace sindri
