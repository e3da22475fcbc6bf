// Layer normalisation and its gradient on CUDA devices: a team of lanes or a block for each row. Memory traffic, forward: x once from memory (twice more from
// the caches: mean and variance take two passes, because rows may have outliers far from their first value) and y once. Backward: dy and x are read once from
// memory for dx, and dx is written once. dgamma and dbeta are sums of columns, which read dy and x a second time.
#include "ops/norm/channels_cuda.h"
#include "src/device/cuda/rows.h"

namespace sindri::cuda {
namespace {

using ops::LayerNormAttrs;

template <class E> __global__ void layer_norm(const E* x, E* y, Floating gamma, Floating beta, Floating mean_out, Floating inverse_out, int64_t rows, int64_t n,
                                              double eps, int width, bool vectors) {
  using T = Number<E>;
  SINDRI_SHARED(T, partial, 32);
  for_rows(rows, width, [&](int64_t row, const Team& team, bool there) {
    const E* const from = x + row * n;
    const int64_t count = there ? n : 0;
    T sum = 0, squares = 0;
    for_lane<E>(count, team.lane, team.width, vectors, [&](auto many, int64_t i) {
      const auto e = load_vector<decltype(many)::value>(from + i);
      for (const E& v : e.e) sum += load(v);
    });
    const T mean = team_reduce(team, sum, partial, Add()) / static_cast<T>(n);
    for_lane<E>(count, team.lane, team.width, vectors, [&](auto many, int64_t i) {
      const auto e = load_vector<decltype(many)::value>(from + i);
      for (const E& v : e.e) squares += (load(v) - mean) * (load(v) - mean);
    });
    const T var = team_reduce(team, squares, partial, Add()) / static_cast<T>(n);
    const T inverse = static_cast<T>(1 / sqrt(static_cast<double>(var) + eps));
    if (there && team.lane == 0) {
      mean_out.write(row, mean);
      inverse_out.write(row, inverse);
    }
    for_lane<E>(count, team.lane, team.width, vectors, [&](auto many, int64_t i) {
      constexpr int V = decltype(many)::value;
      auto e = load_vector<V>(from + i);
      for (int j = 0; j < V; ++j) e.e[j] = store_as<E>((load(e.e[j]) - mean) * inverse * gamma.read<T>(i + j) + beta.read<T>(i + j));
      store_vector(y + row * n + i, e);
    });
  });
}

// With xh = (x - mean)·r and g = dy·gamma: dx = r·(g - mean(g) - xh·mean(g·xh)).
template <class E> __global__ void layer_norm_dx(const E* dy, const E* x, E* dx, Floating gamma, Floating means, Floating inverses, int64_t rows, int64_t n,
                                                 int width, bool vectors) {
  using T = Number<E>;
  SINDRI_SHARED(TwoSums<T>, partial, 32);
  for_rows(rows, width, [&](int64_t row, const Team& team, bool there) {
    const int64_t base = row * n, count = there ? n : 0;
    const T mean = there ? means.read<T>(row) : T(0), r = there ? inverses.read<T>(row) : T(0);
    TwoSums<T> s{0, 0};
    for_lane<E>(count, team.lane, team.width, vectors, [&](auto many, int64_t i) {
      constexpr int V = decltype(many)::value;
      const auto d = load_vector<V>(dy + base + i), e = load_vector<V>(x + base + i);
      for (int j = 0; j < V; ++j) {
        const T g = load(d.e[j]) * gamma.read<T>(i + j);
        s.first += g;
        s.second += g * ((load(e.e[j]) - mean) * r);
      }
    });
    s = team_reduce(team, s, partial, AddTwo());
    const T s1 = s.first / static_cast<T>(n), s2 = s.second / static_cast<T>(n);
    for_lane<E>(count, team.lane, team.width, vectors, [&](auto many, int64_t i) {
      constexpr int V = decltype(many)::value;
      auto d = load_vector<V>(dy + base + i);
      const auto e = load_vector<V>(x + base + i);
      for (int j = 0; j < V; ++j) d.e[j] = store_as<E>(r * (load(d.e[j]) * gamma.read<T>(i + j) - s1 - (load(e.e[j]) - mean) * r * s2));
      store_vector(dx + base + i, d);
    });
  });
}

// dgamma = sum over rows of dy·xh, dbeta = sum over rows of dy. The reduction is over rows, so element r belongs to row r.
template <class E> struct ParamSums {
  using Element = E;
  using T = Number<E>;
  using Part = TwoSums<T>;
  using Acc = TwoSums<double>;
  struct Fixed {};
  template <int V> struct Fetched { ElementVector<E, V> dy, x; };
  const E *dy, *x;
  Floating mean, inverse, dgamma, dbeta;

  SINDRI_DEVICE Fixed fixed(int64_t) const { return {}; }
  SINDRI_DEVICE Part nothing() const { return {0, 0}; }
  SINDRI_DEVICE Acc identity() const { return {0, 0}; }
  SINDRI_DEVICE Acc widen(const Part& p) const { return {static_cast<double>(p.first), static_cast<double>(p.second)}; }
  SINDRI_DEVICE Acc combine(const Acc& a, const Acc& b) const { return AddTwo()(a, b); }
  template <int V> SINDRI_DEVICE Fetched<V> fetch(int64_t at) const { return {load_vector<V>(dy + at), load_vector<V>(x + at)}; }
  template <int V, int F> SINDRI_DEVICE void add(Part (&part)[V], const Fixed (&)[F], const Fetched<V>& e, int64_t row, int64_t step) const {
    for (int j = 0; j < V; ++j) {
      const T d = load(e.dy.e[j]), xh = (load(e.x.e[j]) - mean.template read<T>(row + j * step)) * inverse.template read<T>(row + j * step);
      part[j].first += d * xh;
      part[j].second += d;
    }
  }
  SINDRI_DEVICE void store(const Acc& a, int64_t c, int64_t) const {
    dgamma.write(c, a.first);
    dbeta.write(c, a.second);
  }
};

// in: x, gamma, beta; out: y, mean, inverse deviation.
void run_forward(const Call& call) {
  const KernelQuery& q = call.query;
  const int64_t n = q.in[1].numel(), rows = q.out[1].numel();
  if (rows == 0) return;
  dispatch_floating_element(q.in[0].dtype, [&]<class E>() {
    const E* const x = call.input<E>(0);
    E* const y = call.output<E>(0);
    const RowGrid g = grid_for_rows<E>(rows, n, x, y);
    launch(call, g.grid, layer_norm<E>, x, y, floating(call.in[1]), floating(call.in[2]), floating(call.out[1]), floating(call.out[2]), rows, n,
           q.attrs.as<LayerNormAttrs>().eps, g.width, g.vectors);
  });
}

template <class E> FoldPlan plan_of(const KernelQuery& q) {
  const int64_t n = q.in[2].numel(), rows = q.in[3].numel();
  TensorMeta in = q.in[1], out = q.in[1];
  in.shape = {rows, n};
  out.shape = {n};
  in.layout = out.layout = Layout::kContiguous;
  DimSet reduced{};
  reduced[0] = true;
  return plan_fold(in, out, reduced, kVector<E>);
}
int64_t grad_workspace(const KernelQuery& q) {
  int64_t bytes = 0;
  dispatch_floating_element(q.in[1].dtype, [&]<class E>() { bytes = fold_workspace(ParamSums<E>{}, plan_of<E>(q)); });
  return bytes;
}
// in: dy, x, gamma, mean, inverse deviation; out: dx, dgamma, dbeta.
void run_grad(const Call& call) {
  const KernelQuery& q = call.query;
  const int64_t n = q.in[2].numel(), rows = q.in[3].numel();
  dispatch_floating_element(q.in[1].dtype, [&]<class E>() {
    const E *const dy = call.input<E>(0), *const x = call.input<E>(1);
    E* const dx = call.output<E>(0);
    const Floating mean = floating(call.in[3]), inverse = floating(call.in[4]);
    if (rows > 0 && n > 0) {
      const RowGrid g = grid_for_rows<E>(rows, n, dy, x, dx);
      launch(call, g.grid, layer_norm_dx<E>, dy, x, dx, floating(call.in[2]), mean, inverse, rows, n, g.width, g.vectors);
    }
    const ParamSums<E> sums{dy, x, mean, inverse, floating(call.out[1]), floating(call.out[2])};
    run_fold(call, plan_of<E>(q), sums, aligned_for_vectors<E>(dy, x), call.workspace);
  });
}

const bool kForward = register_cuda_kernel({.op = "layer_norm", .run = run_forward});
const bool kGrad = register_cuda_kernel({.op = "layer_norm_grad", .run = run_grad, .workspace = grad_workspace});

}  // namespace
}  // namespace sindri::cuda
