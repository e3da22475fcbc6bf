// sum, mean, prod, max, min, any, all and norm on CUDA devices. Memory traffic: the input once and the output once; if there are few outputs, a second kernel
// reads and writes at most about a thousand parts. The operation is selected once per vector of elements, so that one kernel per type serves all of them.
//
// Sums are in float (double for float64), products and squares in double, in which they neither overflow nor underflow before the result does.
#include <limits>
#include <string_view>

#include "ops/reduce/reduce_impl.h"
#include "src/device/cuda/fold.h"

namespace sindri::cuda {
namespace {

using namespace reduce;

enum class Combine : uint8_t { kAdd, kMultiply, kLarger, kSmaller };
enum class Map : uint8_t { kNone, kMagnitude, kSquare, kNonzero };

template <class T> SINDRI_DEVICE T magnitude(T v) { return v < T(0) ? -v : v; }
SINDRI_DEVICE int64_t multiply(int64_t a, int64_t b) { return static_cast<int64_t>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b)); }
template <class T> SINDRI_DEVICE T multiply(T a, T b) { return a * b; }

struct Result {
  void* to;
  DType dtype;
  template <class T> SINDRI_DEVICE void write(int64_t at, T v) const {
    switch (dtype) {
      case DType::kBool: static_cast<Bool*>(to)[at] = store_as<Bool>(v); break;
      case DType::kUInt8: static_cast<uint8_t*>(to)[at] = store_as<uint8_t>(v); break;
      case DType::kInt32: static_cast<int32_t*>(to)[at] = store_as<int32_t>(v); break;
      case DType::kInt64: static_cast<int64_t*>(to)[at] = store_as<int64_t>(v); break;
      case DType::kFloat16: static_cast<Half*>(to)[at] = store_as<Half>(v); break;
      case DType::kBFloat16: static_cast<Bf16*>(to)[at] = store_as<Bf16>(v); break;
      case DType::kFloat32: static_cast<float*>(to)[at] = store_as<float>(v); break;
      default: static_cast<double*>(to)[at] = store_as<double>(v);
    }
  }
};

template <class E, class T> struct Scalar : FoldOf<E, T> {
  Combine how;
  Map map;
  Result result;
  bool root;  // the result is the square root
  double divisor;

  SINDRI_DEVICE T nothing() const { return identity(); }
  SINDRI_DEVICE T identity() const {
    constexpr bool whole = std::is_same_v<T, int64_t>;
    switch (how) {
      case Combine::kMultiply: return T(1);
      // The initial value for magnitudes and truth values is 0, their value for no elements.
      case Combine::kLarger: return map != Map::kNone ? T(0) : whole ? T(INT64_MIN) : T(-INFINITY);
      case Combine::kSmaller: return map != Map::kNone ? T(1) : whole ? T(INT64_MAX) : T(INFINITY);
      default: return T(0);
    }
  }
  SINDRI_DEVICE T combine(T a, T b) const {
    switch (how) {
      case Combine::kMultiply: return multiply(a, b);
      case Combine::kLarger: return Larger()(a, b);
      case Combine::kSmaller: return Smaller()(a, b);
      default: return Add()(a, b);
    }
  }
  template <int V, int F> SINDRI_DEVICE void add(T (&acc)[V], const typename FoldOf<E, T>::Fixed (&)[F], const ElementVector<E, V>& e, int64_t, int64_t) const {
    T v[V];
    for (int j = 0; j < V; ++j) v[j] = static_cast<T>(load(e.e[j]));
    switch (map) {
      case Map::kMagnitude:
        for (int j = 0; j < V; ++j) v[j] = magnitude(v[j]);
        break;
      case Map::kSquare:
        for (int j = 0; j < V; ++j) v[j] = multiply(v[j], v[j]);
        break;
      case Map::kNonzero:
        for (int j = 0; j < V; ++j) v[j] = v[j] != T(0) ? T(1) : T(0);
        break;
      default: break;
    }
    switch (how) {
      case Combine::kMultiply:
        for (int j = 0; j < V; ++j) acc[j] = multiply(acc[j], v[j]);
        break;
      case Combine::kLarger:
        for (int j = 0; j < V; ++j) acc[j] = Larger()(acc[j], v[j]);
        break;
      case Combine::kSmaller:
        for (int j = 0; j < V; ++j) acc[j] = Smaller()(acc[j], v[j]);
        break;
      default:
        for (int j = 0; j < V; ++j) acc[j] = Add()(acc[j], v[j]);
    }
  }
  SINDRI_DEVICE void store(T v, int64_t, int64_t at) const {
    if constexpr (!std::is_same_v<T, int64_t>) v = root ? sqrt(v) : v / static_cast<T>(divisor);
    result.write(at, v);
  }
};

const std::vector<int64_t>& axes_of(const KernelQuery& q) {
  return std::string_view(q.op.name) == "norm" ? q.attrs.as<NormAttrs>().axes : q.attrs.as<ReduceAttrs>().axes;
}
std::pair<Combine, Map> work_of(const KernelQuery& q) {
  const std::string_view name = q.op.name;
  if (name == "norm") {
    const double p = q.attrs.as<NormAttrs>().p;
    return p == 1 ? std::pair{Combine::kAdd, Map::kMagnitude} : p == 2 ? std::pair{Combine::kAdd, Map::kSquare} : std::pair{Combine::kLarger, Map::kMagnitude};
  }
  if (name == "any") return {Combine::kLarger, Map::kNonzero};
  if (name == "all") return {Combine::kSmaller, Map::kNonzero};
  return {name == "prod" ? Combine::kMultiply : name == "max" ? Combine::kLarger : name == "min" ? Combine::kSmaller : Combine::kAdd, Map::kNone};
}

// Calls f(policy, plan) for operand x and result `out`.
template <class F> decltype(auto) with_policy(const KernelQuery& q, const void* x, void* out, F&& f) {
  const auto [how, map] = work_of(q);
  const AxisSet reduced = reduced_dims(q.op.name, axes_of(q), q.in[0].shape.rank());
  const double divisor = std::string_view(q.op.name) == "mean" ? static_cast<double>(reduced_count(q.in[0].shape, reduced)) : 1.0;
  const auto call = [&, how = how, map = map]<class E, class T>() {
    const Scalar<E, T> policy{{static_cast<const E*>(x)}, how, map, {out, q.out[0].dtype}, map == Map::kSquare, divisor};
    return f(policy, plan_fold(q.in[0], q.out[0], reduced, kVector<E>));
  };
  const bool wide = how == Combine::kMultiply || map == Map::kSquare;
  switch (q.in[0].dtype) {
    case DType::kBool:
    case DType::kUInt8: return call.template operator()<uint8_t, int64_t>();
    case DType::kInt32: return call.template operator()<int32_t, int64_t>();
    case DType::kInt64: return call.template operator()<int64_t, int64_t>();
    case DType::kFloat16: return wide ? call.template operator()<Half, double>() : call.template operator()<Half, float>();
    case DType::kBFloat16: return wide ? call.template operator()<Bf16, double>() : call.template operator()<Bf16, float>();
    case DType::kFloat32: return wide ? call.template operator()<float, double>() : call.template operator()<float, float>();
    default: return call.template operator()<double, double>();
  }
}

int64_t workspace(const KernelQuery& q) {
  return with_policy(q, nullptr, nullptr, [](const auto& policy, const FoldPlan& plan) { return fold_workspace(policy, plan); });
}
void run_reduce(const Call& call) {
  with_policy(call.query, call.in[0].data, call.out[0].data, [&](const auto& policy, const FoldPlan& plan) {
    run_fold(call, plan, policy, aligned_for_vectors<typename std::decay_t<decltype(policy)>::Element>(policy.x), call.workspace);
  });
}

KernelCost cost_of_reduce(const KernelQuery& q) {
  return {.launches = with_policy(q, nullptr, nullptr, [](const auto&, const FoldPlan& plan) { return fold_launches(plan); })};
}
bool fold(const char* op) { return register_cuda_kernel({.op = op, .run = run_reduce, .workspace = workspace, .cost = cost_of_reduce}); }
const bool kSum = fold("sum");
const bool kMean = fold("mean");
const bool kProd = fold("prod");
const bool kMax = fold("max");
const bool kMin = fold("min");
const bool kAny = fold("any");
const bool kAll = fold("all");
const bool kNorm = fold("norm");

}  // namespace
}  // namespace sindri::cuda
