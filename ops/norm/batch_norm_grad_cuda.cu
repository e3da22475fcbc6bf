// Gradients of batch normalisation, with and without the relu (and residual) that follow it, on CUDA devices. Memory traffic: dy and x twice and dx once. With
// a residual or a sum: x twice, dy, y and dy2 once; g is written once and read once instead of the second read of dy.
#include "ops/norm/batch_norm_cuda.h"

namespace sindri::cuda {
namespace {

using ops::BatchNormAttrs, ops::BatchNormReluGradAttrs;

// How to find where relu passed the gradient: everywhere (no relu), where the value recomputed from x is positive, where the output y is positive, or where
// the output's mask is set.
enum class Mask : uint8_t { kNone, kInput, kOutput, kBits };

template <class E> struct Operands {
  using T = Number<E>;
  struct Factors {
    T mean, scale, beta;
  };
  const E *dy, *x, *y, *dy2;  // y: for kOutput; dy2: null or added to dy
  const uint8_t* bits;  // for kBits
  E* g;  // null, or destination of the masked (and summed) gradient
  Mask mask;
  Floating gamma, beta, mean, var;
  double eps;

  SINDRI_DEVICE Factors factors(int64_t c) const {
    if (mask != Mask::kInput) return {mean.template read<T>(c), T(0), T(0)};
    return {mean.template read<T>(c), static_cast<T>(gamma.read<double>(c) / sqrt(var.read<double>(c) + eps)), beta.read<T>(c)};
  }
  // Bit j: element at + j.
  template <int V> SINDRI_DEVICE uint32_t passing(int64_t at) const {
    if (mask != Mask::kBits) return 0;
    if (V == 8) return bits[at / 8];
    uint32_t b = 0;
    for (int j = 0; j < V; ++j) b |= static_cast<uint32_t>(bits[(at + j) / 8] >> ((at + j) % 8) & 1) << j;
    return b;
  }
  SINDRI_DEVICE T gradient(T dy_value, T dy2_value, T y_value, bool passes, T x_value, const Factors& f) const {
    if (dy2 != nullptr) dy_value = rounded<E>(dy_value + dy2_value);
    if (mask == Mask::kBits) return passes ? dy_value : T(0);
    const T out = mask == Mask::kInput ? rounded<E>(normalise(x_value, f.mean, f.scale, f.beta)) : y_value;
    return mask != Mask::kNone && out <= T(0) ? T(0) : dy_value;
  }
};

template <class E> struct GradSums {
  using Element = E;
  using T = Number<E>;
  using Part = TwoSums<T>;
  using Acc = TwoSums<double>;
  using Fixed = typename Operands<E>::Factors;
  template <int V> struct Fetched {
    ElementVector<E, V> dy, x, y, dy2;
    uint32_t passing;
    int64_t at;
  };
  Operands<E> o;
  GradResults<T> results;

  SINDRI_DEVICE Fixed fixed(int64_t c) const { return o.factors(c); }
  SINDRI_DEVICE Part nothing() const { return {0, 0}; }
  SINDRI_DEVICE Acc identity() const { return {0, 0}; }
  SINDRI_DEVICE Acc widen(const Part& p) const { return {static_cast<double>(p.first), static_cast<double>(p.second)}; }
  SINDRI_DEVICE Acc combine(const Acc& a, const Acc& b) const { return AddTwo()(a, b); }
  template <int V> SINDRI_DEVICE Fetched<V> fetch(int64_t at) const {
    Fetched<V> f;
    f.at = at;
    f.dy = load_vector<V>(o.dy + at);
    f.x = load_vector<V>(o.x + at);
    f.y = o.mask == Mask::kOutput ? load_vector<V>(o.y + at) : f.x;
    f.dy2 = o.dy2 != nullptr ? load_vector<V>(o.dy2 + at) : f.x;
    f.passing = o.template passing<V>(at);
    return f;
  }
  template <int V, int F> SINDRI_DEVICE void add(Part (&part)[V], const Fixed (&fixed)[F], const Fetched<V>& e, int64_t, int64_t) const {
    ElementVector<E, V> g;
    for (int j = 0; j < V; ++j) {
      const Fixed& f = fixed[F == 1 ? 0 : j];
      const T x = load(e.x.e[j]), v = o.gradient(load(e.dy.e[j]), load(e.dy2.e[j]), load(e.y.e[j]), (e.passing >> j & 1) != 0, x, f);
      part[j].first += v;
      part[j].second += v * (x - f.mean);
      g.e[j] = store_as<E>(v);
    }
    if (o.g != nullptr) store_vector(o.g + e.at, g);
  }
  SINDRI_DEVICE void store(const Acc& a, int64_t c, int64_t) const { results.store(a, c); }
};

template <class E> struct GradApply {
  using Element = E;
  using T = Number<E>;
  struct Fixed {
    typename Operands<E>::Factors f;
    GradFactors<T> of_dx;
  };
  Operands<E> o;
  E* dx;
  const T* coefficients;

  SINDRI_DEVICE Fixed fixed(int64_t c) const { return {o.factors(c), grad_factors(coefficients, c)}; }
  template <int V, int F> SINDRI_DEVICE void apply(int64_t at, const Fixed (&fixed)[F]) const {
    auto g = load_vector<V>(o.dy + at);
    const auto x = load_vector<V>(o.x + at);
    for (int j = 0; j < V; ++j) {
      const Fixed& f = fixed[F == 1 ? 0 : j];
      const T xv = load(x.e[j]), v = o.gradient(load(g.e[j]), T(0), T(0), true, xv, f.f);
      g.e[j] = store_as<E>(gradient_of_x(f.of_dx, v, xv - f.f.mean));
    }
    store_vector(dx + at, g);
  }
};

template <class E> FoldPlan plan_of(const KernelQuery& q) { return plan_fold(q.in[1], q.out[1], all_but_channels(), kVector<E>); }
int64_t workspace(const KernelQuery& q) {
  int64_t bytes = 0;
  dispatch_floating_element(q.in[1].dtype, [&]<class E>() { bytes = factor_bytes<E>(q.in[1]) + fold_workspace(GradSums<E>{}, plan_of<E>(q)); });
  return bytes;
}

// out: dx, dgamma, dbeta [, g, given by o].
template <class E> void run_grad_of(const Call& call, const Operands<E>& o) {
  const KernelQuery& q = call.query;
  const ops::ChannelView v = ops::channel_view(q.in[1]);
  if (v.c == 0) return;
  auto* const coefficients = static_cast<Number<E>*>(call.workspace);
  const GradSums<E> sums{o, {v.count(), o.eps, o.gamma, o.var, floating(call.out[1]), floating(call.out[2]), coefficients}};
  GradApply<E> apply{o, call.output<E>(0), coefficients};
  if (o.g != nullptr) apply.o.dy = o.g, apply.o.mask = Mask::kNone;
  apply.o.dy2 = nullptr;
  run_fold_then_channels(call, q.in[1], plan_of<E>(q), sums, aligned_for_vectors<E>(o.dy, o.x, o.y, o.dy2, o.g), apply,
                         aligned_for_vectors<E>(apply.o.dy, o.x, apply.dx), static_cast<char*>(call.workspace) + factor_bytes<E>(q.in[1]));
}
// x is read twice, and so is dy; or g is read once after it is written.
KernelCost grad_cost(const KernelQuery& q) {
  KernelCost cost{.extra_bytes = 2 * q.in[1].nbytes()};
  dispatch_floating_element(q.in[1].dtype, [&]<class E>() { cost.launches = fold_then_channels_launches(q.in[1], plan_of<E>(q)); });
  return cost;
}

// in: dy, x, gamma, mean, var.
void run_grad(const Call& call) {
  dispatch_floating_element(call.query.in[1].dtype, [&]<class E>() {
    run_grad_of<E>(call,
                   {call.input<E>(0), call.input<E>(1), nullptr, nullptr, nullptr, nullptr, Mask::kNone, floating(call.in[2]), floating(call.in[2]),
                    floating(call.in[3]), floating(call.in[4]), call.query.attrs.as<BatchNormAttrs>().eps});
  });
}
// in: dy, x, gamma, beta, mean, var [, y of a form with residual, or its mask] [, dy2]; out: dx, dgamma, dbeta [, g].
void run_relu_grad(const Call& call) {
  const auto& a = call.query.attrs.as<BatchNormReluGradAttrs>();
  dispatch_floating_element(call.query.in[1].dtype, [&]<class E>() {
    run_grad_of<E>(call,
                   {call.input<E>(0), call.input<E>(1), a.residual && !a.mask ? call.input<E>(6) : nullptr, a.sum ? call.input<E>(call.in.size() - 1) : nullptr,
                    a.mask ? call.input<uint8_t>(6) : nullptr, a.gives_g() ? call.output<E>(3) : nullptr,
                    a.mask           ? Mask::kBits
                        : a.residual ? Mask::kOutput
                                     : Mask::kInput,
                    floating(call.in[2]), floating(call.in[3]), floating(call.in[4]), floating(call.in[5]), a.eps});
  });
}

const bool kGrad = register_cuda_kernel({.op = "batch_norm_grad", .run = run_grad, .workspace = workspace, .cost = grad_cost});
const bool kReluGrad = register_cuda_kernel({.op = "batch_norm_relu_grad", .run = run_relu_grad, .workspace = workspace, .cost = grad_cost});

}  // namespace
}  // namespace sindri::cuda
