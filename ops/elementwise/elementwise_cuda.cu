// Elementwise ops on CUDA devices: a kernel for single ops, one for single ops whose operands have the same layout, and one that runs a whole cluster. They
// select the op at run time: one kernel per op and type would be a thousand kernels to compile. These ops are limited by memory, and a branch that all threads
// of a warp take together is cheap.
//
// An element is computed as a slot: float for the half types and float, double, or a wrapping 64-bit integer for integers and bool. A step's result is rounded
// to its type before the next step reads it, so a cluster is bitwise identical to the separate ops.
#include <map>
#include <vector>

#include "ops/elementwise/cluster.h"
#include "ops/elementwise/elementwise_impl.h"
#include "ops/elementwise/elementwise_simd.h"
#include "ops/elementwise/group_cluster.h"
#include "ops/elementwise/operand_walk.h"
#include "ops/elementwise/wrapping_int.h"
#include "sindri/core/error.h"
#include "src/device/cuda/divisor.h"
#include "src/device/cuda/launch.h"
#include "src/device/cuda/vector.h"

namespace sindri::cuda {
namespace {

using elementwise::BinaryId, elementwise::Domain, elementwise::UnaryId;
using enum elementwise::Domain;

struct DeviceTag;
using Int = elementwise::WrappingInt<DeviceTag>;

SINDRI_DEVICE float sigmoid(float x) { return 1.0f / (1.0f + exp(-x)); }
SINDRI_DEVICE double sigmoid(double x) { return 1.0 / (1.0 + exp(-x)); }
#define SINDRI_EXPRESSION_INLINE SINDRI_DEVICE
#include "ops/elementwise/expression_functions.def"
#undef SINDRI_EXPRESSION_INLINE

// A value in its compute type, which the DType determines.
union Slot {
  float f;
  double d;
  int64_t i;
};
enum class Form : uint8_t { kInt, kFloat, kDouble };
constexpr Form form_of(DType t) { return t == DType::kFloat64 ? Form::kDouble : is_floating(t) ? Form::kFloat : Form::kInt; }

SINDRI_DEVICE float get(const Slot& s, float) { return s.f; }
SINDRI_DEVICE double get(const Slot& s, double) { return s.d; }
SINDRI_DEVICE Int get(const Slot& s, Int) { return Int(s.i); }
SINDRI_DEVICE void put(float v, Slot* s) { s->f = v; }
SINDRI_DEVICE void put(double v, Slot* s) { s->d = v; }
SINDRI_DEVICE void put(Int v, Slot* s) { s->i = v.v; }
SINDRI_DEVICE void put(bool v, Slot* s) { s->i = v ? 1 : 0; }
SINDRI_DEVICE void put(int v, Slot* s) { s->i = v != 0 ? 1 : 0; }  // a & b of two bools

SINDRI_DEVICE Slot read(const void* p, DType t, int64_t i) {
  Slot s;
  switch (t) {
    case DType::kBool:
    case DType::kUInt8: s.i = static_cast<const uint8_t*>(p)[i]; break;
    case DType::kInt32: s.i = static_cast<const int32_t*>(p)[i]; break;
    case DType::kInt64: s.i = static_cast<const int64_t*>(p)[i]; break;
    case DType::kFloat16: s.f = widen(static_cast<const Half*>(p)[i]); break;
    case DType::kBFloat16: s.f = widen(static_cast<const Bf16*>(p)[i]); break;
    case DType::kFloat32: s.f = static_cast<const float*>(p)[i]; break;
    default: s.d = static_cast<const double*>(p)[i];
  }
  return s;
}
SINDRI_DEVICE void write(void* p, DType t, int64_t i, const Slot& s) {
  switch (t) {
    case DType::kBool: static_cast<uint8_t*>(p)[i] = s.i != 0 ? 1 : 0; break;
    case DType::kUInt8: static_cast<uint8_t*>(p)[i] = static_cast<uint8_t>(s.i); break;
    case DType::kInt32: static_cast<int32_t*>(p)[i] = static_cast<int32_t>(s.i); break;
    case DType::kInt64: static_cast<int64_t*>(p)[i] = s.i; break;
    case DType::kFloat16: static_cast<Half*>(p)[i] = to_half(s.f); break;
    case DType::kBFloat16: static_cast<Bf16*>(p)[i] = to_bf16(s.f); break;
    case DType::kFloat32: static_cast<float*>(p)[i] = s.f; break;
    default: static_cast<double*>(p)[i] = s.d;
  }
}
// Rounds as if the value had been written and read again.
SINDRI_DEVICE void round_to(DType t, Slot* s) {
  switch (t) {
    case DType::kBool: s->i = s->i != 0 ? 1 : 0; break;
    case DType::kUInt8: s->i = static_cast<uint8_t>(s->i); break;
    case DType::kInt32: s->i = static_cast<int32_t>(s->i); break;
    case DType::kFloat16: s->f = widen(to_half(s->f)); break;
    case DType::kBFloat16: s->f = widen(to_bf16(s->f)); break;
    default: break;
  }
}

template <class T> constexpr bool in_domain(Domain d) {
  constexpr bool integer = std::is_same_v<T, Int>;
  return d == kFloating ? !integer : d == kIntegral ? integer : true;
}

// T is the compute type of the operands; the expressions are those of unary.def and binary.def. Computes V elements, which share the selection of the op.
template <class T, int V> SINDRI_DEVICE void unary(UnaryId id, const Slot* from, [[maybe_unused]] double p0, [[maybe_unused]] double p1, Slot* to) {
  switch (id) {
#define UNARY_WITH(name, AttrsT, domain, saved, expression, ...) \
  case UnaryId::name: \
    if constexpr (in_domain<T>(domain)) { \
      SINDRI_UNROLL for (int v = 0; v < V; ++v) { \
        const T x = get(from[v], T()); \
        put(expression, &to[v]); \
      } \
    } \
    break;
#define UNARY(name, ...) UNARY_WITH(name, NoAttrs, __VA_ARGS__)
#include "ops/elementwise/unary.def"
#undef UNARY
#undef UNARY_WITH
  }
}
template <class T, int V>
SINDRI_DEVICE void binary(BinaryId id, const Slot* left, const Slot* right, [[maybe_unused]] double p0, [[maybe_unused]] double p1, Slot* to) {
  switch (id) {
#define BINARY_FLAT(name, domain, expression, ...) \
  case BinaryId::name: \
    if constexpr (in_domain<T>(domain)) { \
      SINDRI_UNROLL for (int v = 0; v < V; ++v) { \
        [[maybe_unused]] const T a = get(left[v], T()), b = get(right[v], T()); \
        put(expression, &to[v]); \
      } \
    } \
    break;
#define BINARY_WITH(name, AttrsT, domain, saves_in, saves_out, ...) BINARY_FLAT(name, domain, __VA_ARGS__)
#define BINARY(name, ...) BINARY_WITH(name, NoAttrs, __VA_ARGS__)
#include "ops/elementwise/binary.def"
#undef BINARY
#undef BINARY_WITH
#undef BINARY_FLAT
  }
}

SINDRI_DEVICE int64_t to_int64(double v) { return elementwise::truncated<DeviceTag, int64_t>(v); }
SINDRI_DEVICE int32_t to_int32(double v) { return elementwise::truncated<DeviceTag, int32_t>(v); }
SINDRI_DEVICE void convert(DType from, DType to, const Slot& x, Slot* y) {
  const Form f = form_of(from), t = form_of(to);
  if (f == t) *y = x;
  else if (t == Form::kFloat) y->f = f == Form::kDouble ? static_cast<float>(x.d) : static_cast<float>(x.i);
  else if (t == Form::kDouble) y->d = f == Form::kFloat ? static_cast<double>(x.f) : static_cast<double>(x.i);
  else {
    const double v = f == Form::kFloat ? static_cast<double>(x.f) : x.d;
    y->i = to == DType::kBool ? (v != 0 ? 1 : 0) : to == DType::kInt64 ? to_int64(v) : to_int32(v);
  }
  round_to(to, y);
}

// ----- kernel arguments -----

enum class Kind : uint8_t { kUnary, kBinary, kWhere, kCast };
struct Step {
  Kind kind = Kind::kUnary;
  uint8_t id = 0;
  Form form = Form::kFloat;  // compute type of the operands
  DType from = DType::kFloat32, result = DType::kFloat32;
  uint8_t in[3] = {0, 0, 0};  // slot numbers: inputs first, then steps
  double p[2] = {0, 0};
};
constexpr int kMostIn = static_cast<int>(elementwise::kMaxClusterInputs), kMostSteps = static_cast<int>(elementwise::kMaxClusterSteps);

// The operands in the physical order of the output, with dimensions joined if all operands allow it.
struct Walk {
  int64_t n = 0;
  int rank = 0;
  Divisor size[Shape::kMaxRank];
  const void* in[kMostIn] = {};
  DType dtype[kMostIn] = {};
  bool flat[kMostIn] = {};  // element i of the walk is element i of the operand
  int64_t stride[kMostIn][Shape::kMaxRank] = {};
};

SINDRI_DEVICE int64_t offset_of(const Walk& w, int k, int64_t i) {
  if (w.flat[k]) return i;
  int64_t at = 0;
  for (int d = w.rank - 1; d > 0; --d) {
    const int64_t q = w.size[d].quotient(i);
    at += (i - q * w.size[d].value) * w.stride[k][d];
    i = q;
  }
  return w.rank > 0 ? at + i * w.stride[k][0] : 0;
}

SINDRI_DEVICE void run_step(const Step& s, const Slot& a, const Slot& b, const Slot& c, Slot* y) {
  switch (s.kind) {
    case Kind::kUnary:
      if (s.form == Form::kFloat) unary<float, 1>(static_cast<UnaryId>(s.id), &a, s.p[0], s.p[1], y);
      else if (s.form == Form::kDouble) unary<double, 1>(static_cast<UnaryId>(s.id), &a, s.p[0], s.p[1], y);
      else unary<Int, 1>(static_cast<UnaryId>(s.id), &a, s.p[0], s.p[1], y);
      break;
    case Kind::kBinary:
      if (s.form == Form::kFloat) binary<float, 1>(static_cast<BinaryId>(s.id), &a, &b, s.p[0], s.p[1], y);
      else if (s.form == Form::kDouble) binary<double, 1>(static_cast<BinaryId>(s.id), &a, &b, s.p[0], s.p[1], y);
      else binary<Int, 1>(static_cast<BinaryId>(s.id), &a, &b, s.p[0], s.p[1], y);
      break;
    case Kind::kWhere: *y = a.i != 0 ? b : c; break;
    case Kind::kCast: convert(s.from, s.result, a, y);
  }
  round_to(s.result, y);
}

__global__ void single(Walk w, Step s, int operands, void* out) {
  for (int64_t i = global_thread(); i < w.n; i += global_threads()) {
    Slot x[3];
    SINDRI_UNROLL for (int k = 0; k < 3; ++k) if (k < operands) x[k] = read(w.in[k], w.dtype[k], offset_of(w, k, i));
    Slot y;
    run_step(s, x[0], x[1], x[2], &y);
    write(out, s.result, i, y);
  }
}

// Reads V elements of a type that is selected once, by accesses of up to 16 bytes.
template <int V, class E, class Put> SINDRI_DEVICE void read_as(const void* p, int64_t i, Slot* s, Put&& to_slot) {
  const ElementVector<E, V> e = load_vector<V>(static_cast<const E*>(p) + i);
  SINDRI_UNROLL for (int v = 0; v < V; ++v) to_slot(e.e[v], &s[v]);
}
template <int V> SINDRI_DEVICE void read_many(const void* p, DType t, int64_t i, Slot* s) {
  const auto whole = [](auto e, Slot* to) { to->i = e; };
  const auto half = [](auto e, Slot* to) { to->f = widen(e); };
  switch (t) {
    case DType::kBool:
    case DType::kUInt8: return read_as<V, uint8_t>(p, i, s, whole);
    case DType::kInt32: return read_as<V, int32_t>(p, i, s, whole);
    case DType::kInt64: return read_as<V, int64_t>(p, i, s, whole);
    case DType::kFloat16: return read_as<V, Half>(p, i, s, half);
    case DType::kBFloat16: return read_as<V, Bf16>(p, i, s, half);
    case DType::kFloat32: return read_as<V, float>(p, i, s, [](float e, Slot* to) { to->f = e; });
    default: return read_as<V, double>(p, i, s, [](double e, Slot* to) { to->d = e; });
  }
}
template <int V, class E, class Get> SINDRI_DEVICE void write_as(void* p, int64_t i, const Slot* s, Get&& from_slot) {
  ElementVector<E, V> e;
  SINDRI_UNROLL for (int v = 0; v < V; ++v) e.e[v] = from_slot(s[v]);
  store_vector(static_cast<E*>(p) + i, e);
}
template <int V> SINDRI_DEVICE void write_many(void* p, DType t, int64_t i, const Slot* s) {
  switch (t) {
    case DType::kBool: return write_as<V, uint8_t>(p, i, s, [](const Slot& x) { return static_cast<uint8_t>(x.i != 0 ? 1 : 0); });
    case DType::kUInt8: return write_as<V, uint8_t>(p, i, s, [](const Slot& x) { return static_cast<uint8_t>(x.i); });
    case DType::kInt32: return write_as<V, int32_t>(p, i, s, [](const Slot& x) { return static_cast<int32_t>(x.i); });
    case DType::kInt64: return write_as<V, int64_t>(p, i, s, [](const Slot& x) { return x.i; });
    case DType::kFloat16: return write_as<V, Half>(p, i, s, [](const Slot& x) { return to_half(x.f); });
    case DType::kBFloat16: return write_as<V, Bf16>(p, i, s, [](const Slot& x) { return to_bf16(x.f); });
    case DType::kFloat32: return write_as<V, float>(p, i, s, [](const Slot& x) { return x.f; });
    default: return write_as<V, double>(p, i, s, [](const Slot& x) { return x.d; });
  }
}

// The common case: operands and result have the same layout, and the operands are computed in float or the op is a cast or a choice. Four elements share
// each selection of the op, and a thread reads 8 bytes of half types or 16 of float32 at a time.
constexpr int kFlat = 4;
__global__ void single_flat(Walk w, Step s, int operands, void* out) {
  const int64_t groups = w.n / kFlat;
  for (int64_t g = global_thread(); g < groups; g += global_threads()) {
    Slot x[3][kFlat], y[kFlat];
    SINDRI_UNROLL for (int k = 0; k < 3; ++k) if (k < operands) read_many<kFlat>(w.in[k], w.dtype[k], g * kFlat, x[k]);
    if (s.kind == Kind::kUnary) {
      unary<float, kFlat>(static_cast<UnaryId>(s.id), x[0], s.p[0], s.p[1], y);
    } else if (s.kind == Kind::kBinary) {
      binary<float, kFlat>(static_cast<BinaryId>(s.id), x[0], x[1], s.p[0], s.p[1], y);
    } else if (s.kind == Kind::kWhere) {
      SINDRI_UNROLL for (int v = 0; v < kFlat; ++v) y[v] = x[0][v].i != 0 ? x[1][v] : x[2][v];
    } else {
      SINDRI_UNROLL for (int v = 0; v < kFlat; ++v) convert(s.from, s.result, x[0][v], &y[v]);
    }
    write_many<kFlat>(out, s.result, g * kFlat, y);
  }
  for (int64_t i = groups * kFlat + global_thread(); i < w.n; i += global_threads()) {
    Slot x[3], y;
    SINDRI_UNROLL for (int k = 0; k < 3; ++k) if (k < operands) x[k] = read(w.in[k], w.dtype[k], i);
    run_step(s, x[0], x[1], x[2], &y);
    write(out, s.result, i, y);
  }
}

struct Program {
  int inputs = 0, steps = 0, results = 0;
  Step step[kMostSteps];
  uint8_t result[kMostSteps] = {};  // slot numbers
  void* out[kMostSteps] = {};
  DType dtype[kMostSteps] = {};
};

__global__ void cluster(Walk w, Program p) {
  for (int64_t i = global_thread(); i < w.n; i += global_threads()) {
    Slot slots[kMostIn + kMostSteps];
    for (int k = 0; k < p.inputs; ++k) slots[k] = read(w.in[k], w.dtype[k], offset_of(w, k, i));
    for (int k = 0; k < p.steps; ++k) {
      const Step& s = p.step[k];
      run_step(s, slots[s.in[0]], slots[s.in[1]], slots[s.in[2]], &slots[p.inputs + k]);
    }
    // All results are written after all operands of this element were read, because a result may share memory with an operand.
    for (int k = 0; k < p.results; ++k) write(p.out[k], p.dtype[k], i, slots[p.result[k]]);
  }
}

constexpr size_t kGroupIn = 5, kGroupOut = 2;
constexpr int64_t kGroupChunk = 4096;
// One tensor of a group. Its chunks are the blocks from first_block on.
struct GroupEntry {
  const void* in[kGroupIn] = {};
  void* out[kGroupOut] = {};
  int64_t n = 0, outer = 1;
  Divisor inner, plane;  // turned: element o·plane + a·inner + b of a result is o·plane + b·outer + a of an operand
  uint32_t first_block = 0;
  uint8_t single = 0;  // bit i: operand i has one element
  bool turned = false, flat = false;  // flat: operands and results have the same layout and are aligned to kFlat elements
};
constexpr int kGroupEntries = 200;
struct GroupTable {
  int entries = 0;
  DType dtype[kGroupIn] = {};
  GroupEntry entry[kGroupEntries];
};
static_assert(sizeof(GroupTable) + sizeof(Program) < 32000, "arguments of a kernel");

__global__ void __launch_bounds__(kThreads) group(const __grid_constant__ GroupTable table, const __grid_constant__ Program p) {
  int low = 0, high = table.entries;
  while (high - low > 1) {
    const int middle = (low + high) / 2;
    if (table.entry[middle].first_block <= blockIdx.x) low = middle;
    else high = middle;
  }
  const GroupEntry& e = table.entry[low];
  const int64_t begin = (blockIdx.x - e.first_block) * kGroupChunk, end = begin + kGroupChunk < e.n ? begin + kGroupChunk : e.n;
  int64_t rest = begin;
  if (e.flat && p.steps == 1 && p.step[0].kind == Kind::kCast) {  // the casts of all weights
    rest = begin + (end - begin) / kFlat * kFlat;
    for (int64_t i = begin + int64_t{kFlat} * threadIdx.x; i < rest; i += int64_t{kFlat} * blockDim.x) {
      Slot x[kFlat], y[kFlat];
      read_many<kFlat>(e.in[0], table.dtype[0], i, x);
      SINDRI_UNROLL for (int v = 0; v < kFlat; ++v) convert(p.step[0].from, p.step[0].result, x[v], &y[v]);
      write_many<kFlat>(e.out[0], p.step[0].result, i, y);
    }
  }
  for (int64_t i = rest + threadIdx.x; i < end; i += blockDim.x) {
    int64_t from = i;
    if (e.turned) {
      const int64_t o = e.plane.quotient(i), r = i - o * e.plane.value, a = e.inner.quotient(r);
      from = o * e.plane.value + (r - a * e.inner.value) * e.outer + a;
    }
    Slot slots[kGroupIn + kMostSteps];
    for (int k = 0; k < p.inputs; ++k) slots[k] = read(e.in[k], table.dtype[k], ((e.single >> k) & 1) != 0 ? 0 : from);
    for (int k = 0; k < p.steps; ++k) {
      const Step& s = p.step[k];
      run_step(s, slots[s.in[0]], slots[s.in[1]], slots[s.in[2]], &slots[p.inputs + k]);
    }
    for (int k = 0; k < p.results; ++k) write(e.out[k], p.dtype[k], i, slots[p.result[k]]);
  }
}

// ----- host code -----

Walk walk_of(Span<const Buffer> in, const TensorMeta& out) {
  const elementwise::OperandWalk lies = elementwise::walk_operands(
      in.size(), [&](size_t k) -> const TensorMeta& { return *in[k].meta; }, out);
  Walk w;
  w.n = lies.n;
  w.rank = lies.rank;
  for (int d = 0; d < w.rank; ++d) w.size[d] = Divisor(lies.size[static_cast<size_t>(d)], w.n);
  for (size_t k = 0; k < in.size(); ++k) {
    w.in[k] = in[k].data;
    w.dtype[k] = in[k].meta->dtype;
    w.flat[k] = lies.flat[k];
    for (int d = 0; d < w.rank; ++d) w.stride[k][d] = lies.stride[k][static_cast<size_t>(d)];
  }
  return w;
}

Step step_of(const OpDef& op, const Attrs& attrs, const std::vector<DType>& in, DType out) {
  static const std::map<std::string_view, std::pair<Kind, uint8_t>> kIds = {
#define UNARY(name, ...) {#name, {Kind::kUnary, static_cast<uint8_t>(UnaryId::name)}},
#define UNARY_WITH(name, ...) UNARY(name, __VA_ARGS__)
#include "ops/elementwise/unary.def"
#undef UNARY
#undef UNARY_WITH
#define BINARY(name, ...) {#name, {Kind::kBinary, static_cast<uint8_t>(BinaryId::name)}},
#define BINARY_WITH(name, ...) BINARY(name, __VA_ARGS__)
#define BINARY_FLAT(name, ...) BINARY(name, __VA_ARGS__)
#include "ops/elementwise/binary.def"
#undef BINARY
#undef BINARY_WITH
#undef BINARY_FLAT
      {"where", {Kind::kWhere, 0}},
      {"cast", {Kind::kCast, 0}},
  };
  const auto at = kIds.find(op.name);
  if (at == kIds.end()) throw InternalError(std::string("elementwise_cluster: no step on CUDA for ") + op.name);
  Step s;
  s.kind = at->second.first;
  s.id = at->second.second;
  s.form = form_of(in[0]);
  s.from = in[0];
  s.result = out;
  const std::array<double, 2> numbers = elementwise::numbers_of(attrs);
  s.p[0] = numbers[0];
  s.p[1] = numbers[1];
  return s;
}

void run_single(const Call& call) {
  const TensorMeta& out = *call.out[0].meta;
  const Walk w = walk_of(call.in, out);
  if (w.n == 0) return;
  std::vector<DType> types;
  for (const Buffer& b : call.in) types.push_back(b.meta->dtype);
  Step s = step_of(call.query.op, call.query.attrs, types, out.dtype);
  for (size_t k = 0; k < types.size(); ++k) s.in[k] = static_cast<uint8_t>(k);
  bool flat = s.kind == Kind::kWhere || s.kind == Kind::kCast || s.form == Form::kFloat;
  const auto fits = [](const void* p, DType t) { return reinterpret_cast<uintptr_t>(p) % (dtype_size(t) * kFlat) == 0; };
  for (size_t k = 0; k < types.size(); ++k) flat = flat && w.flat[k] && fits(w.in[k], types[k]);
  flat = flat && fits(call.out[0].data, out.dtype);
  if (flat) launch(call, grid_for(w.n, kFlat), single_flat, w, s, static_cast<int>(types.size()), call.out[0].data);
  else launch(call, grid_for(w.n), single, w, s, static_cast<int>(types.size()), call.out[0].data);
}

// Steps and results of a program; out[] and the walk give their locations.
Program program_of(const elementwise::ClusterProgram& program, Span<const TensorMeta> in) {
  const std::vector<TensorMeta> made = elementwise::infer_cluster_steps(program, in);
  Program p;
  p.inputs = static_cast<int>(in.size());
  p.steps = static_cast<int>(program.steps.size());
  p.results = static_cast<int>(program.out.size());
  for (size_t k = 0; k < program.steps.size(); ++k) {
    const elementwise::ClusterStep& step = program.steps[k];
    std::vector<DType> types;
    for (const elementwise::ClusterOperand& o : step.in) types.push_back((o.step ? made[o.index] : in[o.index]).dtype);
    p.step[k] = step_of(*step.op, step.attrs, types, made[k].dtype);
    for (size_t j = 0; j < step.in.size(); ++j) p.step[k].in[j] = static_cast<uint8_t>(step.in[j].step ? in.size() + step.in[j].index : step.in[j].index);
  }
  for (size_t k = 0; k < program.out.size(); ++k) {
    p.result[k] = static_cast<uint8_t>(in.size() + program.out[k]);
    p.dtype[k] = made[program.out[k]].dtype;
  }
  return p;
}

void run_cluster(const Call& call) {
  const Walk w = walk_of(call.in, *call.out[0].meta);
  if (w.n == 0) return;
  Program p = program_of(elementwise::parse_cluster(call.query.attrs.as<elementwise::ClusterAttrs>().program), call.query.in);
  for (size_t k = 0; k < call.out.size(); ++k) p.out[k] = call.out[k].data;
  launch(call, grid_for(w.n), cluster, w, p);
}

GroupEntry group_entry(Span<const Buffer> in, Span<const Buffer> out) {
  GroupEntry e;
  const TensorMeta &from = *in[0].meta, &to = *out[0].meta;
  e.n = to.numel();
  e.flat = true;
  const auto fits = [](const Buffer& b) { return reinterpret_cast<uintptr_t>(b.data) % (dtype_size(b.meta->dtype) * kFlat) == 0; };
  for (size_t i = 0; i < in.size(); ++i) {
    e.in[i] = in[i].data;
    if (in[i].meta->shape != to.shape) e.single |= static_cast<uint8_t>(1u << i), e.flat = false;
    e.flat = e.flat && fits(in[i]);
  }
  for (size_t k = 0; k < out.size(); ++k) e.out[k] = out[k].data, e.flat = e.flat && fits(out[k]);
  if (from.layout != to.layout && e.n > 0) {
    const int64_t channels = to.shape[1], pixels = to.shape[2] * to.shape[3];
    const bool last = to.layout == Layout::kChannelsLast;
    e.inner = Divisor(last ? channels : pixels, e.n);
    e.plane = Divisor(channels * pixels, e.n);
    e.outer = last ? pixels : channels;
    e.turned = channels > 1 && pixels > 1;
    e.flat = e.flat && !e.turned;
  }
  return e;
}

void run_group(const Call& call) {
  const elementwise::ClusterGroup g = elementwise::parse_cluster_group(call.query.attrs, call.in.size());
  if (g.inputs > kGroupIn || g.results > kGroupOut) throw InternalError("group_cluster: more operands or results than its kernel takes");
  const Program program = program_of(g.program, call.query.in.subspan(0, g.inputs));
  GroupTable table;
  for (size_t i = 0; i < g.inputs; ++i) table.dtype[i] = call.query.in[i].dtype;
  int64_t blocks = 0;
  const auto go = [&] {
    if (blocks > 0) launch(call, {dim3(static_cast<unsigned>(blocks)), dim3(kThreads), 0}, group, table, program);
    table.entries = 0, blocks = 0;
  };
  for (size_t t = 0; t < g.tensors; ++t) {
    GroupEntry e = group_entry(call.in.subspan(t * g.inputs, g.inputs), call.out.subspan(t * g.results, g.results));
    const int64_t chunks = ceil_div(e.n, kGroupChunk);
    if (chunks == 0) continue;
    if (table.entries == kGroupEntries || blocks + chunks > (int64_t{1} << 30)) go();
    e.first_block = static_cast<uint32_t>(blocks);
    table.entry[table.entries++] = e;
    blocks += chunks;
  }
  go();
}
std::string reject_group(const KernelQuery& q) {
  const elementwise::ClusterGroup g = elementwise::parse_cluster_group(q.attrs, q.in.size());
  if (g.inputs > kGroupIn || g.results > kGroupOut) return "more operands or results of a tensor than the kernel takes";
  for (size_t i = g.inputs; i < q.in.size(); ++i)
    if (q.in[i].dtype != q.in[i % g.inputs].dtype) return "tensors of several element types";
  return "";
}
KernelCost group_cost(const KernelQuery& q) {
  const auto tensors = static_cast<int>(q.attrs.as<elementwise::GroupClusterAttrs>().tensors);
  return {.launches = (tensors + kGroupEntries - 1) / kGroupEntries};
}

#define REGISTER(name, ...) const bool k_##name = register_cuda_kernel({.op = #name, .run = run_single});
#define UNARY REGISTER
#define UNARY_WITH REGISTER
#include "ops/elementwise/unary.def"
#undef UNARY
#undef UNARY_WITH
#define BINARY REGISTER
#define BINARY_WITH REGISTER
#define BINARY_FLAT REGISTER
#include "ops/elementwise/binary.def"
#undef BINARY
#undef BINARY_WITH
#undef BINARY_FLAT
const bool kWhere = register_cuda_kernel({.op = "where", .run = run_single});
const bool kCast = register_cuda_kernel({.op = "cast", .run = run_single});
const bool kCluster = register_cuda_kernel({.op = "elementwise_cluster", .name = "interpreted", .run = run_cluster});
const bool kGroup = register_cuda_kernel({.op = "group_cluster", .name = "interpreted", .run = run_group, .reject = reject_group, .cost = group_cost});

}  // namespace
}  // namespace sindri::cuda
