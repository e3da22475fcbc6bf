// Optimizer updates on CUDA devices: one launch for all parameters of a group (or of a single op), which processes a table of tensors in chunks. The table
// is an argument of the kernel, so a captured graph holds it and nothing has to be copied to the device. Each block reads learning rate and other scalars,
// the loss scale and the skip flag from device memory. The rules are those of update_rules.h.
//
// Memory traffic in bytes per element, with a 16-bit gradient, a 4-byte parameter and S states: reads 2 + 4·(1 + S), writes 4·(1 + S). In total 18 for momentum
// and 26 for Adam.
#include <limits>
#include <set>
#include <utility>
#include <vector>

#include "ops/optimizer/group_update.h"
#include "ops/optimizer/update_description.h"
#include "sindri/core/error.h"
#include "src/device/cuda/launch.h"

namespace sindri::cuda {
namespace {

using ops::UpdateDescription;

constexpr int64_t kChunk = 16384;  // elements per block: 16 iterations of 256 threads with 4 elements each
constexpr size_t kArgumentBytes = 32000;  // a kernel may have 32,764

struct Scalar {
  const void* at = nullptr;
  DType type = DType::kFloat32;
};
// Values that the tensors of a launch share.
struct Shared {
  Scalar scalar[kMaxRuleScalars], inv_scale;
  const bool* skip = nullptr;
  ScalarUse use = ScalarUse::kLr;
  int scalars = 0;
  DType grad_type = DType::kFloat32;
  double numbers[kMaxRuleNumbers] = {};
};

// One parameter. Its chunks are the blocks from first_block on.
template <int kStates> struct Entry {
  const void* in[kStates + 2];  // param, states, grad
  void* out[kStates + 1];
  Scalar stat;  // sgd_update's, or null
  int64_t numel;
  uint32_t first_block;
  bool aligned;  // to four elements
};
template <int kStates, int kCount> struct Table {
  int entries = 0;
  Entry<kStates> entry[kCount];
};
template <int kStates> constexpr int kMany = static_cast<int>((kArgumentBytes - sizeof(Shared)) / sizeof(Entry<kStates>));

template <class E> struct alignas(sizeof(E) >= 4 ? 16 : 8) Four { E e[4]; };

SINDRI_DEVICE double read_scalar(const Scalar& s) {
  const void* const p = s.at;
  switch (s.type) {
    case DType::kFloat16: return widen(*static_cast<const Half*>(p));
    case DType::kBFloat16: return widen(*static_cast<const Bf16*>(p));
    case DType::kFloat32: return *static_cast<const float*>(p);
    default: return *static_cast<const double*>(p);
  }
}

template <class T, class E> SINDRI_DEVICE Four<T> widen_four(const void* p, int64_t i) {
  const Four<E> from = *reinterpret_cast<const Four<E>*>(static_cast<const E*>(p) + i);
  Four<T> to;
  for (int k = 0; k < 4; ++k) to.e[k] = static_cast<T>(load(from.e[k]));
  return to;
}
// Elements i … i + 3.
template <class T> SINDRI_DEVICE Four<T> read_four(const void* p, DType type, int64_t i) {
  switch (type) {
    case DType::kFloat16: return widen_four<T, Half>(p, i);
    case DType::kBFloat16: return widen_four<T, Bf16>(p, i);
    case DType::kFloat32: return widen_four<T, float>(p, i);
    default: return widen_four<T, double>(p, i);
  }
}
template <class T> SINDRI_DEVICE T read_one(const void* p, DType type, int64_t i) {
  switch (type) {
    case DType::kFloat16: return static_cast<T>(load(static_cast<const Half*>(p)[i]));
    case DType::kBFloat16: return static_cast<T>(load(static_cast<const Bf16*>(p)[i]));
    case DType::kFloat32: return static_cast<T>(static_cast<const float*>(p)[i]);
    default: return static_cast<T>(static_cast<const double*>(p)[i]);
  }
}

// Elements [begin, end) of one parameter. An output may be the memory of the state it replaces, so everything of an element is read before it is written.
template <class Rule, class T, int kStates>
SINDRI_DEVICE void update_chunk(const Entry<kStates>& e, DType grad_type, const double* k, int64_t begin, int64_t end) {
  const Rule rule(k);
  const T scale = static_cast<T>(k[0]), decay = static_cast<T>(k[1]);
  const auto one = [&](T* x, T g) {
    T s[kMaxRuleStates] = {};
    for (int j = 0; j < kStates; ++j) s[j] = x[j + 1];
    rule(x[0], s[0], s[1], s[2], g * scale + decay * x[0]);
    for (int j = 0; j < kStates; ++j) x[j + 1] = s[j];
  };
  int64_t rest = begin;
  if (e.aligned) {
    rest = begin + (end - begin) / 4 * 4;
    for (int64_t i = begin + 4 * static_cast<int64_t>(threadIdx.x); i < rest; i += 4 * static_cast<int64_t>(blockDim.x)) {
      Four<T> v[kStates + 1];
      for (int j = 0; j <= kStates; ++j) v[j] = *reinterpret_cast<const Four<T>*>(static_cast<const T*>(e.in[j]) + i);
      const Four<T> g = read_four<T>(e.in[kStates + 1], grad_type, i);
      for (int lane = 0; lane < 4; ++lane) {
        T x[kStates + 1];
        for (int j = 0; j <= kStates; ++j) x[j] = v[j].e[lane];
        one(x, g.e[lane]);
        for (int j = 0; j <= kStates; ++j) v[j].e[lane] = x[j];
      }
      for (int j = 0; j <= kStates; ++j) *reinterpret_cast<Four<T>*>(static_cast<T*>(e.out[j]) + i) = v[j];
    }
  }
  for (int64_t i = rest + threadIdx.x; i < end; i += blockDim.x) {
    T x[kStates + 1];
    for (int j = 0; j <= kStates; ++j) x[j] = static_cast<const T*>(e.in[j])[i];
    one(x, read_one<T>(e.in[kStates + 1], grad_type, i));
    for (int j = 0; j <= kStates; ++j) static_cast<T*>(e.out[j])[i] = x[j];
  }
}

template <class T, int kStates> SINDRI_DEVICE void keep_chunk(const Entry<kStates>& e, int64_t begin, int64_t end) {
  for (int j = 0; j <= kStates; ++j) {
    if (e.in[j] == e.out[j]) continue;
    for (int64_t i = begin + threadIdx.x; i < end; i += blockDim.x) static_cast<T*>(e.out[j])[i] = static_cast<const T*>(e.in[j])[i];
  }
}

// The last entry that starts at or before this block.
template <int kStates, int kCount> SINDRI_DEVICE int entry_of(const Table<kStates, kCount>& table) {
  int low = 0, high = table.entries;
  while (high - low > 1) {
    const int middle = (low + high) / 2;
    if (table.entry[middle].first_block <= blockIdx.x) low = middle;
    else high = middle;
  }
  return low;
}

/// First: the rule for stat above 0.
template <class Rule, class First, class T, int kCount> __global__ void __launch_bounds__(kThreads, sizeof(T) == 4 ? 4 : 2)
    update(const __grid_constant__ Table<Rule::kStates, kCount> table, const __grid_constant__ Shared shared) {
  SINDRI_SHARED(double, numbers, kMaxRuleNumbers);
  const Entry<Rule::kStates>& e = table.entry[entry_of(table)];
  const int64_t begin = (blockIdx.x - e.first_block) * kChunk, end = begin + kChunk < e.numel ? begin + kChunk : e.numel;
  if (shared.skip != nullptr && *shared.skip) return keep_chunk<T>(e, begin, end);
  if (threadIdx.x == 0) {
    double k[kMaxRuleNumbers], s[kMaxRuleScalars] = {};
    for (int i = 0; i < kMaxRuleNumbers; ++i) k[i] = shared.numbers[i];
    for (int i = 0; i < kMaxRuleScalars; ++i)
      if (i < shared.scalars) s[i] = read_scalar(shared.scalar[i]);
    if (shared.inv_scale.at != nullptr) k[0] *= read_scalar(shared.inv_scale);
    update_rules::put_scalars(shared.use, s, k);
    for (int i = 0; i < kMaxRuleNumbers; ++i) numbers[i] = k[i];
  }
  __syncthreads();
  double k[kMaxRuleNumbers];
  for (int i = 0; i < kMaxRuleNumbers; ++i) k[i] = numbers[i];
  if constexpr (!std::is_same_v<Rule, First>)
    if (e.stat.at != nullptr && read_scalar(e.stat) > 0) return update_chunk<First, T>(e, shared.grad_type, k, begin, end);
  update_chunk<Rule, T>(e, shared.grad_type, k, begin, end);
}

// Writes sgd_update's stat after all blocks of the update have read the old one: 0, or the old one if the update is skipped (or has no momentum: `kept`).
template <class T> __global__ void finish_stat(const T* stat, T* result, int64_t n, const bool* skip, bool kept) {
  const bool keep = kept || (skip != nullptr && *skip);
  if (keep && stat == result) return;
  for (int64_t i = global_thread(); i < n; i += global_threads()) result[i] = keep ? stat[i] : T(0);
}

// ----- host code -----

// The parameters of a launch. Inputs and outputs of the call are `entries` groups, each in the order of the update op's own; the shared scalars follow.
struct Work {
  const Call& call;
  const UpdateDescription& update;
  size_t entries;
  size_t own_inputs() const { return update.grad() + 1; }
  size_t own_outputs() const { return update.grad(); }
  const Buffer& in(size_t entry, size_t i) const { return call.in[entry * own_inputs() + i]; }
  const Buffer& out(size_t entry, size_t i) const { return call.out[entry * own_outputs() + i]; }
};

Scalar scalar_of(const Buffer& b) { return {b.data, b.meta->dtype}; }

Shared shared_of(const Work& w, DType grad_type) {
  Shared s;
  const Span<const Buffer> given = w.call.in.subspan(w.entries * w.own_inputs());
  s.scalars = static_cast<int>(w.update.scalars);
  for (size_t i = 0; i < given.size(); ++i) {
    if (i < w.update.scalars) s.scalar[i] = scalar_of(given[i]);
    else if (given[i].meta->dtype == DType::kBool) s.skip = given[i].as<const bool>();
    else s.inv_scale = scalar_of(given[i]);
  }
  s.use = w.update.use;
  s.grad_type = grad_type;
  for (int i = 0; i < kMaxRuleNumbers; ++i) s.numbers[i] = w.update.numbers[static_cast<size_t>(i)];
  return s;
}

template <int kStates> Entry<kStates> entry_of(const Work& w, size_t t) {
  Entry<kStates> e{};
  const UpdateDescription& u = w.update;
  uintptr_t low = 0;  // low bits of the addresses
  for (size_t j = 0; j <= kStates; ++j) {
    e.in[j] = w.in(t, j).data, e.out[j] = w.out(t, j).data;
    low |= reinterpret_cast<uintptr_t>(e.in[j]) | reinterpret_cast<uintptr_t>(e.out[j]);
  }
  e.in[kStates + 1] = w.in(t, u.grad()).data;
  const uintptr_t grad_bytes = dtype_size(w.in(t, u.grad()).meta->dtype) >= 4 ? 16 : 8;
  e.aligned = low % 16 == 0 && reinterpret_cast<uintptr_t>(e.in[kStates + 1]) % grad_bytes == 0;
  if (u.stat && w.in(t, u.states + 1).meta->numel() > 0) e.stat = scalar_of(w.in(t, u.states + 1));
  e.numel = w.in(t, 0).meta->numel();
  return e;
}

// Launches for the parameters with one type of parameter and gradient.
template <class Rule, class First, class T, int kCount> void launch_entries(const Work& w, DType grad_type) {
  Table<Rule::kStates, kCount> table;
  const Shared shared = shared_of(w, grad_type);
  int64_t blocks = 0;
  const auto go = [&] {
    if (blocks > 0) launch(w.call, {dim3(static_cast<unsigned>(blocks)), dim3(kThreads), 0}, update<Rule, First, T, kCount>, table, shared);
    table.entries = 0, blocks = 0;
  };
  for (size_t t = 0; t < w.entries; ++t) {
    const DType param = w.in(t, 0).meta->dtype;
    const int64_t chunks = ceil_div(w.in(t, 0).meta->numel(), kChunk);
    if (chunks == 0 || (param == DType::kFloat64) != std::is_same_v<T, double> || w.in(t, w.update.grad()).meta->dtype != grad_type) continue;
    if (table.entries == kCount || blocks + chunks > std::numeric_limits<int32_t>::max()) go();
    Entry<Rule::kStates>& e = table.entry[table.entries++];
    e = entry_of<Rule::kStates>(w, t);
    e.first_block = static_cast<uint32_t>(blocks);
    blocks += chunks;
  }
  go();
}

template <class Rule, class First, class T> void launch_type(const Work& w, DType grad_type) {
  constexpr int kOne = sizeof(T) == 4 ? 1 : kMany<Rule::kStates>;  // a small table for eager calls; float64 is too rare for separate kernels
  if (w.entries == 1) launch_entries<Rule, First, T, kOne>(w, grad_type);
  else launch_entries<Rule, First, T, kMany<Rule::kStates>>(w, grad_type);
}

template <template <class> class Rule, template <class> class First = Rule> void launch_rule(const Work& w) {
  bool seen[2][4] = {};
  for (size_t t = 0; t < w.entries; ++t) {
    const bool wide = w.in(t, 0).meta->dtype == DType::kFloat64;
    const DType grad = w.in(t, w.update.grad()).meta->dtype;
    bool& done = seen[wide ? 1 : 0][grad == DType::kFloat16 ? 0 : grad == DType::kBFloat16 ? 1 : grad == DType::kFloat32 ? 2 : 3];
    if (done) continue;
    done = true;
    if (wide) launch_type<Rule<double>, First<double>, double>(w, grad);
    else launch_type<Rule<float>, First<float>, float>(w, grad);
  }
}

template <class T> using FtrlRoot = typename update_rules::Ftrl<T>::Special;

void launch_update(const Work& w) {
  using namespace update_rules;
  switch (w.update.rule) {
    case UpdateRuleId::kMomentum: return w.update.stat ? launch_rule<Momentum, MomentumFirst>(w) : launch_rule<Momentum>(w);
    case UpdateRuleId::kMomentumNesterov: return w.update.stat ? launch_rule<MomentumNesterov, MomentumFirstNesterov>(w) : launch_rule<MomentumNesterov>(w);
    case UpdateRuleId::kMomentumFirst:
    case UpdateRuleId::kMomentumFirstNesterov: throw InternalError("an optimizer update whose every step is the first");
    case UpdateRuleId::kGradientDescent: return launch_rule<GradientDescent>(w);
    case UpdateRuleId::kAdam: return launch_rule<Adam>(w);
    case UpdateRuleId::kAdamNesterov: return launch_rule<AdamNesterov>(w);
    case UpdateRuleId::kAdagrad: return launch_rule<Adagrad>(w);
    case UpdateRuleId::kAdadelta: return launch_rule<Adadelta>(w);
    case UpdateRuleId::kRmsProp: return launch_rule<RmsProp>(w);
    case UpdateRuleId::kRmsPropCentered: return launch_rule<RmsPropCentered>(w);
    case UpdateRuleId::kFtrl: return Ftrl<double>::is_special(w.update.numbers.data()) ? launch_rule<FtrlRoot>(w) : launch_rule<Ftrl>(w);
    case UpdateRuleId::kAdaMax: return launch_rule<AdaMax>(w);
    case UpdateRuleId::kAmsGrad: return launch_rule<AmsGrad>(w);
    case UpdateRuleId::kLambDirection: return launch_rule<LambDirection>(w);
  }
}

void launch_stats(const Work& w) {
  const bool* const skip = shared_of(w, DType::kFloat32).skip;
  const bool kept = w.update.rule == UpdateRuleId::kGradientDescent;
  for (size_t t = 0; t < w.entries; ++t) {
    const Buffer &stat = w.in(t, w.update.states + 1), &result = w.out(t, w.update.states + 1);
    const int64_t n = stat.meta->numel();
    if (n == 0 || (kept && stat.data == result.data)) continue;
    dispatch_floating_element(stat.meta->dtype, [&]<class E>() {
      if constexpr (std::is_same_v<E, Half> || std::is_same_v<E, Bf16>) {  // zero has the same representation in both
        launch(w.call, grid_for(n), finish_stat<uint16_t>, stat.as<const uint16_t>(), result.as<uint16_t>(), n, skip, kept);
      } else {
        launch(w.call, grid_for(n), finish_stat<E>, stat.as<const E>(), result.as<E>(), n, skip, kept);
      }
    });
  }
}

void run_updates(const Call& call, const UpdateDescription& update, size_t entries) {
  const Work w{call, update, entries};
  launch_update(w);
  if (update.stat) launch_stats(w);
}

void run_single(const Call& call) { run_updates(call, ops::find_update(call.query.op)(call.query.attrs), 1); }
void run_group(const Call& call) {
  const ops::UpdateGroup group = ops::parse_update_group(call.query.attrs);
  run_updates(call, ops::find_update(*group.op)(group.attrs), group.tensors);
}

// One launch per pair of types if a table holds all parameters. This assumes tables for three states; momentum_update and most others have at most as many, so
// their tables hold at least as many parameters.
KernelCost group_cost(const KernelQuery& q) {
  const ops::UpdateGroup group = ops::parse_update_group(q.attrs);
  const auto tensors = static_cast<int>(group.tensors);
  std::set<std::pair<DType, DType>> types;
  for (size_t t = 0; t < group.tensors; ++t) types.emplace(q.in[t * group.own_inputs].dtype, q.in[t * group.own_inputs + group.own_inputs - 1].dtype);
  const ops::UpdateDescription update = ops::find_update(*group.op)(group.attrs);
  const int stats = update.stat ? tensors : 0;
  return {.launches = static_cast<int>(types.size()) * ((tensors + kMany<3> - 1) / kMany<3>)+stats};
}

const bool kGroup = register_cuda_kernel({.op = "group_update", .run = run_group, .cost = group_cost});
#define REGISTER(name) const bool k_##name = register_cuda_kernel({.op = #name, .run = run_single});
REGISTER(momentum_update)
REGISTER(sgd_update)
REGISTER(adam_update)
REGISTER(adam_weight_decay_update)
REGISTER(adagrad_update)
REGISTER(adadelta_update)
REGISTER(rmsprop_update)
REGISTER(rmsprop_centered_update)
REGISTER(ftrl_update)
REGISTER(adamax_update)
REGISTER(amsgrad_update)
REGISTER(lamb_direction)
#undef REGISTER

}  // namespace
}  // namespace sindri::cuda
