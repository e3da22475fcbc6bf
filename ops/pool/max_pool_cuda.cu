// max_pool2d, its gradient and max_pool2d_take on CUDA devices. A thread computes one element of the result, in channels-last layout 16 bytes of neighbouring
// channels. The gradient is gathered: an element of dx reads the windows that contain it, so there are no atomic additions and dx is written once. Memory
// traffic: forward reads x once (overlapping windows from the cache) and writes y and argmax; backward reads dy (and its addend) and argmax, windows over an
// element from the cache, and writes dx.
#include <limits>

#include "ops/pool/pool_cuda.h"

namespace sindri::cuda {
namespace {

using namespace ops;

struct Pooling {
  AxisRule rows, cols;
  DeviceImage image, pooled;
  Elements out;  // elements of the tensor that is written
};

template <class E, class I, int V> __global__ void max_forward(Pooling p, const E* x, E* y, I* places) {
  using N = Number<E>;
  for (int64_t i = global_thread(); i < p.out.n; i += global_threads()) {
    const Position o = position_of(p.out, i, V);
    const WindowRange h = window_at(p.rows, o.h), w = window_at(p.cols, o.w);
    const int64_t h0 = window_start(p.rows, o.h), w0 = window_start(p.cols, o.w);
    N best[V];
    int32_t place[V];
    for (int v = 0; v < V; ++v) {
      best[v] = -std::numeric_limits<N>::infinity();
      place[v] = -1;
    }
    for (int64_t r = h.begin; r < h.end; ++r) {
      for (int64_t c = w.begin; c < w.end; ++c) {
        const Group<E, V> g = load_group<V>(x + place_in(p.image, o.n, o.c, r, c));
        const auto at = static_cast<int32_t>((r - h0) * p.cols.kernel + c - w0);
        for (int v = 0; v < V; ++v) {
          const N value = load(g.e[v]);
          if (place[v] < 0 || value > best[v] || isnan(value)) {
            best[v] = value;
            place[v] = at;
          }
        }
      }
    }
    Group<E, V> values;
    Group<I, V> found;
    for (int v = 0; v < V; ++v) {
      values.e[v] = store_as<E>(best[v]);
      found.e[v] = static_cast<I>(place[v]);
    }
    const int64_t to = place_in(p.pooled, o.n, o.c, o.h, o.w);
    store_group(y + to, values);
    store_group(places + to, found);
  }
}

template <class E, class I, int V> __global__ void max_backward(Pooling p, const E* dy, const E* dy2, const I* places, E* dx) {
  for (int64_t i = global_thread(); i < p.out.n; i += global_threads()) {
    const Position o = position_of(p.out, i, V);
    const WindowRange h = windows_over(p.rows, o.h), w = windows_over(p.cols, o.w);
    Sum<E> sum[V];
    for (int v = 0; v < V; ++v) sum[v] = 0;
    for (int64_t r = h.begin; r < h.end; ++r) {
      for (int64_t c = w.begin; c < w.end; ++c) {
        const int64_t from = place_in(p.pooled, o.n, o.c, r, c);
        const Group<I, V> found = load_group<V>(places + from);
        Group<E, V> g = load_group<V>(dy + from);
        if (dy2 != nullptr) {
          const Group<E, V> more = load_group<V>(dy2 + from);
          for (int v = 0; v < V; ++v) g.e[v] = store_as<E>(load(g.e[v]) + load(more.e[v]));
        }
        const auto own = static_cast<int32_t>((o.h - window_start(p.rows, r)) * p.cols.kernel + o.w - window_start(p.cols, c));
        for (int v = 0; v < V; ++v)
          if (static_cast<int32_t>(found.e[v]) == own) sum[v] += load(g.e[v]);
      }
    }
    Group<E, V> result;
    for (int v = 0; v < V; ++v) result.e[v] = store_as<E>(sum[v]);
    store_group(dx + place_in(p.image, o.n, o.c, o.h, o.w), result);
  }
}

// A position outside the image, which max_pool2d never returns, gives 0.
template <class E, class I> __global__ void take(Pooling p, const E* x, const I* places, E* y) {
  for (int64_t i = global_thread(); i < p.out.n; i += global_threads()) {
    const Position o = position_of(p.out, i, 1);
    const int64_t at = place_in(p.pooled, o.n, o.c, o.h, o.w), place = static_cast<int64_t>(places[at]), row = place / p.cols.kernel;
    const int64_t h = window_start(p.rows, o.h) + row, w = window_start(p.cols, o.w) + place - row * p.cols.kernel;
    const bool inside = place >= 0 && row < p.rows.kernel && h >= 0 && h < p.rows.in && w >= 0 && w < p.cols.in;
    y[at] = inside ? x[place_in(p.image, o.n, o.c, h, w)] : store_as<E>(Number<E>(0));
  }
}

// ----- host code -----

Pooling pooling(const Pool2dAttrs& a, const TensorMeta& image, const TensorMeta& pooled) {
  Pooling p;
  p.rows = axis_rule(a, 0, image.shape[2]);
  p.cols = axis_rule(a, 1, image.shape[3]);
  p.image = device_image(image);
  p.pooled = device_image(pooled);
  return p;
}

// Calls f<E, I, V>() for the types of values and argmax, and the number of channels per thread if groups are possible. Windows of more than 256 elements, whose
// argmax has 32 bits, are rare and use no groups.
template <class F> void with_types(DType values, DType places, F&& f) {
  dispatch_floating_element(values, [&]<class E>() {
    if (places == DType::kUInt8) f.template operator()<E, uint8_t, kGroupOf<E>>();
    else f.template operator()<E, int32_t, 1>();
  });
}

// Whether channels can be processed in groups: all tensors must have the same layout.
bool groups(const Call& call, int group) {
  bool last = true;
  for (const Buffer& b : call.in) last = last && b.meta->layout == Layout::kChannelsLast;
  for (const Buffer& b : call.out) last = last && b.meta->layout == Layout::kChannelsLast;
  return takes_groups(call, call.out[0].meta->shape[1], group, last);
}

void run_forward(const Call& call) {
  const TensorMeta &x = *call.in[0].meta, &y = *call.out[0].meta;
  if (y.numel() == 0) return;
  Pooling p = pooling(call.query.attrs.as<Pool2dAttrs>(), x, y);
  with_types(x.dtype, call.out[1].meta->dtype, [&]<class E, class I, int V>() {
    const bool wide = groups(call, V);
    p.out = elements_of(y, wide ? V : 1);
    launch(call, grid_for(p.out.n), wide ? max_forward<E, I, V> : max_forward<E, I, 1>, p, call.input<E>(0), call.output<E>(0), call.output<I>(1));
  });
}

void run_backward(const Call& call) {
  const TensorMeta &dy = *call.in[0].meta, &dx = *call.out[0].meta;
  if (dx.numel() == 0) return;
  Pooling p = pooling(call.query.attrs.as<Pool2dGradAttrs>().forward(), dx, dy);
  with_types(dy.dtype, call.in[1].meta->dtype, [&]<class E, class I, int V>() {
    const bool wide = groups(call, V);
    p.out = elements_of(dx, wide ? V : 1);
    launch(call, grid_for(p.out.n), wide ? max_backward<E, I, V> : max_backward<E, I, 1>, p, call.input<E>(0), call.in.size() > 2 ? call.input<E>(2) : nullptr,
           call.input<I>(1), call.output<E>(0));
  });
}

void run_take(const Call& call) {
  const TensorMeta &x = *call.in[0].meta, &y = *call.out[0].meta;
  if (y.numel() == 0) return;
  Pooling p = pooling(call.query.attrs.as<Pool2dAttrs>(), x, y);
  p.out = elements_of(y, 1);
  with_types(x.dtype, call.in[1].meta->dtype,
             [&]<class E, class I, int V>() { launch(call, grid_for(p.out.n), take<E, I>, p, call.input<E>(0), call.input<I>(1), call.output<E>(0)); });
}

const bool kForward = register_cuda_kernel({.op = "max_pool2d", .run = run_forward});
const bool kBackward = register_cuda_kernel({.op = "max_pool2d_grad", .run = run_backward});
const bool kTake = register_cuda_kernel({.op = "max_pool2d_take", .run = run_take});

}  // namespace
}  // namespace sindri::cuda
