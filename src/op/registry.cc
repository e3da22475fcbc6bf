// The tables of ops and of kernels, filled by registrars before main.
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <list>
#include <map>
#include <shared_mutex>

#include "sindri/core/error.h"
#include "sindri/core/log.h"
#include "sindri/op/kernel.h"
#include "sindri/op/op_def.h"
#include "src/core/nearest.h"
#include "src/op/kernel_choice.h"

namespace sindri {

namespace {

std::map<std::string, OpDef>& ops() {
  static std::map<std::string, OpDef> table;
  return table;
}
// Guards kernels(). The table holds lists because a backend may keep the addresses of kernels it found. A backend that
// is opened later adds its kernels while other threads look up theirs.
std::shared_mutex& kernels_mutex() {
  static std::shared_mutex* const m = new std::shared_mutex;
  return *m;
}
std::map<std::string, std::list<KernelDef>>& kernels() {
  static std::map<std::string, std::list<KernelDef>> table;
  return table;
}

// Looks up without inserting: several threads plan ops at once.
const std::list<KernelDef>& kernel_list(const std::string& op) {
  static const std::list<KernelDef> none;
  const auto it = kernels().find(op);
  return it == kernels().end() ? none : it->second;
}

std::string list_metas(Span<const TensorMeta> metas) {
  std::string s;
  for (const TensorMeta& m : metas) s += (s.empty() ? "" : ", ") + m.str();
  return s;
}

thread_local const char* t_forced = nullptr;

}  // namespace

const OpDef& register_op(OpDef def) {
  const auto [it, inserted] = ops().emplace(def.name, def);
  if (!inserted) {
    std::fprintf(stderr, "sindri: op '%s' is registered twice\n", def.name);
    std::abort();
  }
  const OpRole role = def.traits.role;
  if (role != OpRole::kNone && std::count_if(ops().begin(), ops().end(), [&](const auto& entry) { return entry.second.traits.role == role; }) > 1) {
    std::fprintf(stderr, "sindri: op '%s' has the role of another\n", def.name);
    std::abort();
  }
  return it->second;
}

int64_t count_flops(const OpDef& op, const Attrs& attrs, Span<const TensorMeta> in, Span<const TensorMeta> out) {
  if (op.flops != nullptr) return op.flops(attrs, in, out);
  if (!op.traits.elementwise) return -1;
  int64_t n = 0;
  for (const TensorMeta& m : out) n += m.numel();
  return n;
}

const OpDef& find_op(const std::string& name) {
  const auto it = ops().find(name);
  if (it != ops().end()) return it->second;
  std::vector<std::string> names;
  for (const auto& [n, d] : ops()) names.push_back(n);
  throw ValueError(fmt::format("no op is named '{}'", name), "", did_you_mean(name, names));
}

const OpDef& op_of(OpRole role) {
  const auto it = std::find_if(ops().begin(), ops().end(), [&](const auto& entry) { return entry.second.traits.role == role; });
  if (it == ops().end()) throw InternalError(fmt::format("no op has role {}", static_cast<int>(role)));
  return it->second;
}

std::vector<const OpDef*> all_ops() {
  std::vector<const OpDef*> out;
  for (const auto& [name, def] : ops()) out.push_back(&def);
  return out;
}

bool register_kernel(KernelDef def) {
  const std::unique_lock lock(kernels_mutex());
  auto& list = kernels()[def.op];
  const auto at = std::find_if(list.begin(), list.end(), [&](const KernelDef& k) { return k.priority < def.priority; });
  list.insert(at, def);
  return true;
}

std::vector<const KernelDef*> kernels_of(const std::string& op, Device::Kind device) {
  std::vector<const KernelDef*> out;
  const std::shared_lock lock(kernels_mutex());
  for (const KernelDef& k : kernel_list(op))
    if (k.device == device) out.push_back(&k);
  return out;
}

namespace {

// A kernel without a plan: keeps the query it was made for.
class SimpleKernel : public Kernel {
 public:
  SimpleKernel(SimpleKernelFn fn, const KernelQuery& q)
      : fn_(fn), op_(q.op), attrs_(q.attrs), in_(q.in.begin(), q.in.end()), out_(q.out.begin(), q.out.end()) {}
  void run(ExecContext&, Span<const Buffer> in, Span<const Buffer> out) override { fn_(KernelQuery{op_, attrs_, in_, out_}, in, out); }

 private:
  SimpleKernelFn fn_;
  const OpDef& op_;
  Attrs attrs_;
  std::vector<TensorMeta> in_, out_;
};

}  // namespace

std::shared_ptr<Kernel> make_kernel(const KernelQuery& q, const KernelDef** chosen, const char* only) {
  std::string reasons;
  const std::vector<const KernelDef*> list = kernels_of(q.op.name, q.device().kind);
  const bool has_only = only != nullptr && std::any_of(list.begin(), list.end(), [&](const KernelDef* k) { return std::string_view(k->name) == only; });
  std::vector<const KernelDef*> alternatives;  // of equal priority
  for (const KernelDef* k : list) {
    if (has_only && std::string_view(k->name) != only) continue;
    if (!alternatives.empty() && k->priority < alternatives[0]->priority) break;
    const std::string why = rejection(*k, q);
    if (why.empty()) alternatives.push_back(k);
    else reasons += fmt::format("{}{}: {}", reasons.empty() ? "" : "; ", k->name, why);
  }
  if (alternatives.empty())
    throw DeviceError(fmt::format("{}: no kernel can compute it on {}", q.op.name, q.device().str()), fmt::format("inputs {}", list_metas(q.in)),
                      reasons.empty() ? "no kernel is registered for this device" : reasons);
  const MakeKernel make = [](const KernelDef& k, const KernelQuery& query) -> std::shared_ptr<Kernel> {
    if (k.simple != nullptr) return std::make_shared<SimpleKernel>(k.simple, query);
    return k.make({query.op, query.attrs, query.in, query.out, &k});
  };
  const KernelDef* k = choose_kernel(q, alternatives, make);
  if (log::enabled(log::Level::kDebug, "dispatch"))
    log::debug("dispatch", fmt::format("{}{} ({}) -> {}{}", q.op.name, q.attrs.text(), list_metas(q.in), k->name, reasons.empty() ? "" : " [" + reasons + "]"));
  if (chosen != nullptr) *chosen = k;
  return make(*k, q);
}

ForceKernel::ForceKernel(const char* name) : previous_(t_forced) { t_forced = name; }
ForceKernel::~ForceKernel() { t_forced = previous_; }
const char* forced_kernel() {
  static const char* env = std::getenv("SINDRI_KERNEL");
  return t_forced != nullptr ? t_forced : env;
}

void check_arity(const char* op, Span<const TensorMeta> in, int expected) {
  if (static_cast<int>(in.size()) != expected) throw ValueError(fmt::format("{}: expected {} inputs, got {}", op, expected, in.size()));
}
void check_floating(const char* op, const TensorMeta& m, const char* which) {
  if (is_floating(m.dtype)) return;
  // Bytes are images in the form in which files store them.
  throw DTypeError(
      fmt::format("{}: {} must be floating point, got {}", op, which, m.str()), "",
      m.dtype == DType::kUInt8 ? "scale the images in the data (ToTensor, or Rescale(1 / 255, 0)), or convert with ops::cast" : "convert it with ops::cast");
}
void check_same_dtype(const char* op, Span<const TensorMeta> in) {
  for (const TensorMeta& m : in) {
    if (m.dtype != in[0].dtype)
      throw DTypeError(fmt::format("{}: inputs must have one element type, got {}", op, list_metas(in)), "", "convert with ops::cast");
  }
}
void check_rank(const char* op, const TensorMeta& m, const char* which, int rank) {
  if (m.shape.rank() != rank) throw ShapeError(fmt::format("{}: {} must have {} dimensions, got {}", op, which, rank, m.str()));
}

}  // namespace sindri
