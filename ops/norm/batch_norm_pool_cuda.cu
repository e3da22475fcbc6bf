// Batch normalisation, relu and max pooling in one kernel on CUDA devices, and their gradient: the stem of residual networks. The normalised image is never
// written. Memory traffic: forward x twice, y and argmax once; gradient x, dy (and its addend) and argmax twice, dx once. Overlapping windows are read from the
// caches.
//
// Results are bitwise identical to those of the separate kernels: statistics and sums use the same values in the same order, and each value is rounded where
// those kernels store it.
#include <limits>

#include "ops/norm/batch_norm_cuda.h"
#include "src/device/cuda/windows.h"

namespace sindri::cuda {
namespace {

using ops::BatchNormPoolAttrs, ops::kNoPlace;

// Windows over x, and the locations of the elements of x and of the pooled tensor.
struct Pooling {
  AxisRule rows, cols;
  DeviceImage image, pooled;
  Elements of_image, of_pooled;
};

// Vectors of channels support windows of at most kSide by kSide elements; all elements of a window are loaded before the first is used. An element is in at
// most kOver windows along an axis; the windows of a row are loaded in the same way. Other windows are processed channel by channel.
constexpr int kSide = 3, kOver = 2;

// The pass over pooled elements.
template <class E> struct PoolApply {
  using Element = E;
  using T = Number<E>;
  struct Fixed {
    T mean, scale, beta;
  };
  template <int V> struct Best {
    T value[V];
    int32_t place[V];
  };
  Pooling p;
  const E* x;
  E* y;
  uint8_t* places;
  const T* factors;

  SINDRI_DEVICE Fixed fixed(int64_t c) const { return {factors[c * 3], factors[c * 3 + 1], factors[c * 3 + 2]}; }
  template <int V, int F> SINDRI_DEVICE void consider(const ElementVector<E, V>& e, int32_t place, const Fixed (&fixed)[F], Best<V>& best) const {
    SINDRI_UNROLL
    for (int j = 0; j < V; ++j) {
      const Fixed& f = fixed[F == 1 ? 0 : j];
      T v = rounded<E>(normalise(load(e.e[j]), f.mean, f.scale, f.beta));
      v = v < T(0) ? T(0) : v;  // NaN propagates, as in the op relu
      if (best.place[j] >= 0 && !(v > best.value[j]) && !isnan(v)) continue;
      best.value[j] = v;
      best.place[j] = place;
    }
  }
  template <int V, int F> SINDRI_DEVICE void apply(int64_t at, const Fixed (&fixed)[F]) const {
    const Position o = position_of(p.of_pooled, at, 1);
    const int64_t h0 = window_start(p.rows, o.h), w0 = window_start(p.cols, o.w);
    const E* const image = x + place_in(p.image, o.n, o.c, 0, 0);
    Best<V> best;
    SINDRI_UNROLL
    for (int j = 0; j < V; ++j) best.value[j] = -std::numeric_limits<T>::infinity(), best.place[j] = -1;
    if constexpr (V > 1) {
      ElementVector<E, V> e[kSide][kSide];
      SINDRI_UNROLL
      for (int r = 0; r < kSide; ++r) SINDRI_UNROLL
      for (int c = 0; c < kSide; ++c) {  // elements outside the image are loaded as its border, but not considered
        const int64_t h = min(max(h0 + r, int64_t{0}), p.rows.in - 1), w = min(max(w0 + c, int64_t{0}), p.cols.in - 1);
        e[r][c] = load_vector<V>(image + h * p.image.stride_h + w * p.image.stride_w);
      }
      SINDRI_UNROLL
      for (int r = 0; r < kSide; ++r) SINDRI_UNROLL
      for (int c = 0; c < kSide; ++c)
        if (r < p.rows.kernel && c < p.cols.kernel && h0 + r >= 0 && h0 + r < p.rows.in && w0 + c >= 0 && w0 + c < p.cols.in)
          consider<V>(e[r][c], static_cast<int32_t>(r * p.cols.kernel + c), fixed, best);
    } else {
      const WindowRange h = window_at(p.rows, o.h), w = window_at(p.cols, o.w);
      for (int64_t r = h.begin; r < h.end; ++r)
        for (int64_t c = w.begin; c < w.end; ++c)
          consider<V>(load_vector<V>(image + r * p.image.stride_h + c * p.image.stride_w), static_cast<int32_t>((r - h0) * p.cols.kernel + c - w0), fixed,
                      best);
    }
    ElementVector<E, V> values;
    ElementVector<uint8_t, V> found;
    SINDRI_UNROLL
    for (int j = 0; j < V; ++j) {
      values.e[j] = store_as<E>(best.value[j]);
      found.e[j] = best.value[j] <= T(0) ? kNoPlace : static_cast<uint8_t>(best.place[j]);
    }
    store_vector(y + at, values);
    store_vector(places + at, found);
  }
};

// The gradient of the normalised image, element by element: the sum over the windows that contain it.
template <class E> struct Unpooled {
  using T = Number<E>;
  Pooling p;
  const E *dy, *dy2;  // dy2: null or added to dy
  const uint8_t* places;

  template <int V> SINDRI_DEVICE ElementVector<E, V> read(int64_t from) const {
    ElementVector<E, V> g = load_vector<V>(dy + from);
    if (dy2 == nullptr) return g;
    const ElementVector<E, V> more = load_vector<V>(dy2 + from);
    SINDRI_UNROLL
    for (int j = 0; j < V; ++j) g.e[j] = store_as<E>(load(g.e[j]) + load(more.e[j]));
    return g;
  }
  template <int V> SINDRI_DEVICE void add(const ElementVector<E, V>& g, const ElementVector<uint8_t, V>& found, int32_t own, T (&sum)[V]) const {
    SINDRI_UNROLL
    for (int j = 0; j < V; ++j)
      if (static_cast<int32_t>(found.e[j]) == own) sum[j] += load(g.e[j]);
  }
  template <int V> SINDRI_DEVICE ElementVector<E, V> gather(int64_t at) const {
    const Position o = position_of(p.of_image, at, 1);
    const WindowRange h = windows_over(p.rows, o.h), w = windows_over(p.cols, o.w);
    const int64_t base = place_in(p.pooled, o.n, o.c, 0, 0);
    const auto own = [&](int64_t r, int64_t c) {
      return static_cast<int32_t>((o.h - window_start(p.rows, r)) * p.cols.kernel + o.w - window_start(p.cols, c));
    };
    T sum[V];
    SINDRI_UNROLL
    for (int j = 0; j < V; ++j) sum[j] = 0;
    if constexpr (V > 1) {
      SINDRI_UNROLL
      for (int r = 0; r < kOver; ++r) {
        if (h.begin + r >= h.end) continue;
        ElementVector<E, V> g[kOver] = {};
        ElementVector<uint8_t, V> found[kOver] = {};
        SINDRI_UNROLL
        for (int c = 0; c < kOver; ++c) {
          if (w.begin + c >= w.end) continue;
          const int64_t from = base + (h.begin + r) * p.pooled.stride_h + (w.begin + c) * p.pooled.stride_w;
          g[c] = read<V>(from);
          found[c] = load_vector<V>(places + from);
        }
        SINDRI_UNROLL
        for (int c = 0; c < kOver; ++c)
          if (w.begin + c < w.end) add<V>(g[c], found[c], own(h.begin + r, w.begin + c), sum);
      }
    } else {
      for (int64_t r = h.begin; r < h.end; ++r)
        for (int64_t c = w.begin; c < w.end; ++c) {
          const int64_t from = base + r * p.pooled.stride_h + c * p.pooled.stride_w;
          add<V>(read<V>(from), load_vector<V>(places + from), own(r, c), sum);
        }
    }
    ElementVector<E, V> result;
    SINDRI_UNROLL
    for (int j = 0; j < V; ++j) result.e[j] = store_as<E>(sum[j]);
    return result;
  }
};

template <class E> struct PoolGradSums {
  using Element = E;
  using T = Number<E>;
  using Part = TwoSums<T>;
  using Acc = TwoSums<double>;
  struct Fixed {
    T mean;
  };
  template <int V> struct Fetched { ElementVector<E, V> x, g; };
  Unpooled<E> g;
  const E* x;
  Floating mean;
  GradResults<T> results;

  SINDRI_DEVICE Fixed fixed(int64_t c) const { return {mean.read<T>(c)}; }
  SINDRI_DEVICE Part nothing() const { return {0, 0}; }
  SINDRI_DEVICE Acc identity() const { return {0, 0}; }
  SINDRI_DEVICE Acc widen(const Part& p) const { return {static_cast<double>(p.first), static_cast<double>(p.second)}; }
  SINDRI_DEVICE Acc combine(const Acc& a, const Acc& b) const { return AddTwo()(a, b); }
  template <int V> SINDRI_DEVICE Fetched<V> fetch(int64_t at) const { return {load_vector<V>(x + at), g.template gather<V>(at)}; }
  template <int V, int F> SINDRI_DEVICE void add(Part (&part)[V], const Fixed (&fixed)[F], const Fetched<V>& e, int64_t, int64_t) const {
    SINDRI_UNROLL
    for (int j = 0; j < V; ++j) {
      const T v = load(e.g.e[j]);
      part[j].first += v;
      part[j].second += v * (load(e.x.e[j]) - fixed[F == 1 ? 0 : j].mean);
    }
  }
  SINDRI_DEVICE void store(const Acc& a, int64_t c, int64_t) const { results.store(a, c); }
};

template <class E> struct PoolGradApply {
  using Element = E;
  using T = Number<E>;
  struct Fixed {
    T mean;
    GradFactors<T> of_dx;
  };
  Unpooled<E> g;
  const E* x;
  E* dx;
  Floating mean;
  const T* coefficients;

  SINDRI_DEVICE Fixed fixed(int64_t c) const { return {mean.read<T>(c), grad_factors(coefficients, c)}; }
  template <int V, int F> SINDRI_DEVICE void apply(int64_t at, const Fixed (&fixed)[F]) const {
    ElementVector<E, V> e = load_vector<V>(x + at);
    const ElementVector<E, V> from_windows = g.template gather<V>(at);
    SINDRI_UNROLL
    for (int j = 0; j < V; ++j) {
      const Fixed& f = fixed[F == 1 ? 0 : j];
      e.e[j] = store_as<E>(gradient_of_x(f.of_dx, load(from_windows.e[j]), load(e.e[j]) - f.mean));
    }
    store_vector(dx + at, e);
  }
};

// ----- host code -----

Pooling pooling(const BatchNormPoolAttrs& a, const TensorMeta& x, const TensorMeta& y) {
  const auto rule = [&](size_t i, int64_t in, int64_t out) { return fixed_rule(in, out, a.kernel[i], a.stride[i], a.pad[2 * i], a.pad[2 * i + 1], false); };
  return {rule(0, x.shape[2], y.shape[2]), rule(1, x.shape[3], y.shape[3]), device_image(x), device_image(y), elements_of(x, 1), elements_of(y, 1)};
}

// Vectors are neighbouring channels, so all operands must have contiguous channels.
template <class E> bool vectors_of_channels(const TensorMeta& x) { return x.layout == Layout::kChannelsLast && x.shape[1] % kVector<E> == 0; }
template <class E> FoldPlan plan_of(const TensorMeta& x, const KernelQuery& q) { return plan_fold(x, q.out[2], all_but_channels(), kVector<E>); }

// in: x, gamma, beta; out: y, places, mean, var.
template <class E> void run_pool_of(const Call& call) {
  const KernelQuery& q = call.query;
  const auto& a = q.attrs.as<BatchNormPoolAttrs>();
  const ops::ChannelView v = ops::channel_view(q.in[0]);
  const E* const x = call.input<E>(0);
  E* const y = call.output<E>(0);
  auto* const places = call.output<uint8_t>(1);
  auto* const factors = static_cast<Number<E>*>(call.workspace);
  const Stats<E> stats{x, v.stride_c, v.count(), a.eps, floating(call.in[1]), floating(call.in[2]), floating(call.out[2]), floating(call.out[3]), factors};
  const PoolApply<E> apply{pooling(a, q.in[0], q.out[0]), x, y, places, factors};
  const bool vectors =
      vectors_of_channels<E>(q.in[0]) && a.kernel[0] <= kSide && a.kernel[1] <= kSide && aligned_for_vectors<E>(x, y) && aligned_for_vectors<uint8_t>(places);
  run_fold_then_channels(call, q.out[0], plan_of<E>(q.in[0], q), stats, vectors, apply, vectors, static_cast<char*>(call.workspace) + factor_bytes<E>(q.in[0]));
}
void run_pool(const Call& call) {
  if (call.query.in[0].shape[1] == 0) return;
  dispatch_floating_element(call.query.in[0].dtype, [&]<class E>() { run_pool_of<E>(call); });
}
int64_t pool_workspace(const KernelQuery& q) {
  int64_t bytes = 0;
  dispatch_floating_element(q.in[0].dtype, [&]<class E>() { bytes = factor_bytes<E>(q.in[0]) + fold_workspace(Stats<E>{}, plan_of<E>(q.in[0], q)); });
  return bytes;
}
// x is read twice.
KernelCost pool_cost(const KernelQuery& q) {
  KernelCost cost{.extra_bytes = q.in[0].nbytes()};
  dispatch_floating_element(q.in[0].dtype, [&]<class E>() { cost.launches = fold_then_channels_launches(q.out[0], plan_of<E>(q.in[0], q)); });
  return cost;
}

// in: dy, places, x, gamma, mean, var [, dy2]; out: dx, dgamma, dbeta.
template <class E> void run_pool_grad_of(const Call& call) {
  const KernelQuery& q = call.query;
  const auto& a = q.attrs.as<BatchNormPoolAttrs>();
  const TensorMeta& x_meta = q.in[2];
  const E *const x = call.input<E>(2), *const dy2 = call.in.size() > 6 ? call.input<E>(6) : nullptr;
  auto* const coefficients = static_cast<Number<E>*>(call.workspace);
  const Unpooled<E> g{pooling(a, x_meta, q.in[0]), call.input<E>(0), dy2, call.input<uint8_t>(1)};
  const Floating mean = floating(call.in[4]);
  const GradResults<Number<E>> results{
      ops::channel_view(x_meta).count(), a.eps, floating(call.in[3]), floating(call.in[5]), floating(call.out[1]), floating(call.out[2]), coefficients};
  const PoolGradSums<E> sums{g, x, mean, results};
  const PoolGradApply<E> apply{g, x, call.output<E>(0), mean, coefficients};
  const bool few = a.kernel[0] <= kOver * a.stride[0] && a.kernel[1] <= kOver * a.stride[1];
  const bool vectors = few && vectors_of_channels<E>(x_meta) && aligned_for_vectors<E>(x, g.dy, dy2, apply.dx) && aligned_for_vectors<uint8_t>(g.places);
  run_fold_then_channels(call, x_meta, plan_of<E>(x_meta, q), sums, vectors, apply, vectors, static_cast<char*>(call.workspace) + factor_bytes<E>(x_meta));
}
void run_pool_grad(const Call& call) {
  if (call.query.in[2].shape[1] == 0) return;
  dispatch_floating_element(call.query.in[2].dtype, [&]<class E>() { run_pool_grad_of<E>(call); });
}
int64_t pool_grad_workspace(const KernelQuery& q) {
  int64_t bytes = 0;
  dispatch_floating_element(q.in[2].dtype, [&]<class E>() { bytes = factor_bytes<E>(q.in[2]) + fold_workspace(PoolGradSums<E>{}, plan_of<E>(q.in[2], q)); });
  return bytes;
}
// x is read twice, and so is everything of the pooled shape.
KernelCost pool_grad_cost(const KernelQuery& q) {
  KernelCost cost{.extra_bytes = q.in[2].nbytes() + q.in[0].nbytes() + q.in[1].nbytes() + (q.in.size() > 6 ? q.in[6].nbytes() : 0)};
  dispatch_floating_element(q.in[2].dtype, [&]<class E>() { cost.launches = fold_then_channels_launches(q.in[2], plan_of<E>(q.in[2], q)); });
  return cost;
}

const bool kPool = register_cuda_kernel({.op = "batch_norm_pool", .run = run_pool, .workspace = pool_workspace, .cost = pool_cost});
const bool kPoolGrad = register_cuda_kernel({.op = "batch_norm_pool_grad", .run = run_pool_grad, .workspace = pool_grad_workspace, .cost = pool_grad_cost});

}  // namespace
}  // namespace sindri::cuda
