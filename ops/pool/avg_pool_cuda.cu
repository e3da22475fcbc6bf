// Average pooling on CUDA devices: fixed and adaptive windows and their gradients. Small windows are a thread's loop (in channels-last layout over 16 bytes of
// neighbouring channels). Large ones, as in global pooling, are summed by a whole warp or, channels-last, by eight rows of threads whose sums are combined in
// shared memory. Gradients are gathered. Memory traffic: x read once and y written once; backward dy read once and dx written once. Elements shared by windows
// are read from the cache.
#include "ops/pool/pool_cuda.h"
#include "src/device/cuda/compensated.h"

namespace sindri::cuda {
namespace {

using namespace ops;

struct Averages {
  AxisRule rows, cols;
  DeviceImage image, pooled;
  Elements out;
};

template <class E> SINDRI_DEVICE Sum<E> share(const Averages& p, int64_t oh, int64_t ow) {
  return static_cast<Sum<E>>(window_divisor(p.rows, oh) * window_divisor(p.cols, ow));
}

template <class E, int V> __global__ void average(Averages p, const E* x, E* y) {
  for (int64_t i = global_thread(); i < p.out.n; i += global_threads()) {
    const Position o = position_of(p.out, i, V);
    const WindowRange h = window_at(p.rows, o.h), w = window_at(p.cols, o.w);
    Sum<E> sum[V];
    for (int v = 0; v < V; ++v) sum[v] = 0;
    for (int64_t r = h.begin; r < h.end; ++r) {
      Sum<E> of_row[V];
      for (int v = 0; v < V; ++v) of_row[v] = 0;
      for (int64_t c = w.begin; c < w.end; ++c) {
        const Group<E, V> g = load_group<V>(x + place_in(p.image, o.n, o.c, r, c));
        for (int v = 0; v < V; ++v) of_row[v] += load(g.e[v]);
      }
      for (int v = 0; v < V; ++v) sum[v] += of_row[v];
    }
    const Sum<E> by = share<E>(p, o.h, o.w);
    Group<E, V> result;
    for (int v = 0; v < V; ++v) result.e[v] = store_as<E>(sum[v] / by);
    store_group(y + place_in(p.pooled, o.n, o.c, o.h, o.w), result);
  }
}

// One warp per window: its lanes read neighbouring pixels.
template <class E> __global__ void average_by_warps(Averages p, const E* x, E* y) {
  const int lane = static_cast<int>(threadIdx.x % 32);
  for (int64_t i = global_thread() / 32; i < p.out.n; i += global_threads() / 32) {
    const Position o = position_of(p.out, i, 1);
    const WindowRange h = window_at(p.rows, o.h), w = window_at(p.cols, o.w);
    const int64_t width = w.end - w.begin, count = (h.end - h.begin) * width;
    Compensated<Sum<E>> own;
    for (int64_t k = lane; k < count; k += 32) own.add(load(x[place_in(p.image, o.n, o.c, h.begin + k / width, w.begin + k % width)]));
    Sum<E> sum = own.sum;
    for (int by = 16; by > 0; by /= 2) sum += __shfl_down_sync(~0u, sum, static_cast<unsigned>(by));
    if (lane == 0) y[place_in(p.pooled, o.n, o.c, o.h, o.w)] = store_as<E>(sum / share<E>(p, o.h, o.w));
  }
}

// Channels-last: a block processes 32 groups of channels; in each group eight threads read every eighth pixel of the window. Channels are divided into
// `blocks`, one per block.
template <class E, int V> __global__ void average_by_rows(Averages p, int64_t channels, Divisor blocks, const E* x, E* y) {
  constexpr int kRows = kThreads / 32;
  SINDRI_SHARED(Sum<E>, sums, kThreads * V);
  const int lane = static_cast<int>(threadIdx.x % 32), row = static_cast<int>(threadIdx.x / 32);
  for (int64_t b = blockIdx.x; b < p.out.n; b += gridDim.x) {
    const int64_t q = blocks.quotient(b), channel = ((b - q * blocks.value) * 32 + lane) * V;
    const int64_t pixel = q, oh_of = pixel / p.cols.out, ow = pixel % p.cols.out, n = oh_of / p.rows.out, oh = oh_of % p.rows.out;
    const WindowRange h = window_at(p.rows, oh), w = window_at(p.cols, ow);
    const int64_t width = w.end - w.begin, count = (h.end - h.begin) * width;
    Compensated<Sum<E>> own[V];
    if (channel < channels) {
      for (int64_t k = row; k < count; k += kRows) {
        const Group<E, V> g = load_group<V>(x + place_in(p.image, n, channel, h.begin + k / width, w.begin + k % width));
        for (int v = 0; v < V; ++v) own[v].add(load(g.e[v]));
      }
    }
    for (int v = 0; v < V; ++v) sums[(v * kRows + row) * 32 + lane] = own[v].sum;
    __syncthreads();
    if (row == 0 && channel < channels) {
      const Sum<E> by = share<E>(p, oh, ow);
      Group<E, V> result;
      for (int v = 0; v < V; ++v) {
        Sum<E> total = own[v].sum;
        for (int r = 1; r < kRows; ++r) total += static_cast<Sum<E>>(sums[(v * kRows + r) * 32 + lane]);
        result.e[v] = store_as<E>(total / by);
      }
      store_group(y + place_in(p.pooled, n, channel, oh, ow), result);
    }
    __syncthreads();
  }
}

// With an addend dx is addend + gradient; with a scale [N, C, 1, 1], where dy has that shape, addend·scale + gradient.
template <class E, int V> __global__ void average_backward(Averages p, const E* dy, const E* addend, const E* scale, E* dx) {
  for (int64_t i = global_thread(); i < p.out.n; i += global_threads()) {
    const Position o = position_of(p.out, i, V);
    const WindowRange h = windows_over(p.rows, o.h), w = windows_over(p.cols, o.w);
    Sum<E> sum[V];
    for (int v = 0; v < V; ++v) sum[v] = 0;
    for (int64_t r = h.begin; r < h.end; ++r) {
      for (int64_t c = w.begin; c < w.end; ++c) {
        const Group<E, V> g = load_group<V>(dy + place_in(p.pooled, o.n, o.c, r, c));
        const Sum<E> by = share<E>(p, r, c);
        for (int v = 0; v < V; ++v) sum[v] += load(g.e[v]) / by;
      }
    }
    const int64_t to = place_in(p.image, o.n, o.c, o.h, o.w);
    Group<E, V> result;
    for (int v = 0; v < V; ++v) result.e[v] = store_as<E>(sum[v]);
    if (addend != nullptr) {
      Group<E, V> a = load_group<V>(addend + to);
      if (scale != nullptr) {
        const Group<E, V> by = load_group<V>(scale + place_in(p.pooled, o.n, o.c, 0, 0));
        for (int v = 0; v < V; ++v) a.e[v] = store_as<E>(load(a.e[v]) * load(by.e[v]));
      }
      for (int v = 0; v < V; ++v) result.e[v] = store_as<E>(load(a.e[v]) + load(result.e[v]));
    }
    store_group(dx + to, result);
  }
}

// ----- host code -----

constexpr int64_t kLarge = 64;  // windows with more elements are summed by more than one thread

bool all_channels_last(const Call& call) { return call.in[0].meta->layout == Layout::kChannelsLast && call.out[0].meta->layout == Layout::kChannelsLast; }

void forward(const Call& call, const AxisRule& rows, const AxisRule& cols, int64_t window) {
  const TensorMeta &x = *call.in[0].meta, &y = *call.out[0].meta;
  if (y.numel() == 0) return;
  Averages p{rows, cols, device_image(x), device_image(y), {}};
  dispatch_floating_element(x.dtype, [&]<class E>() {
    constexpr int V = kGroupOf<E>;
    const int64_t channels = y.shape[1];
    const bool last = all_channels_last(call), wide = takes_groups(call, channels, V, last);
    if (window < kLarge) {
      p.out = elements_of(y, wide ? V : 1);
      launch(call, grid_for(p.out.n), wide ? average<E, V> : average<E, 1>, p, call.input<E>(0), call.output<E>(0));
    } else if (!last || channels < 32) {
      p.out = elements_of(y, 1);
      launch(call, grid_for(p.out.n * 32), average_by_warps<E>, p, call.input<E>(0), call.output<E>(0));
    } else {
      const int64_t blocks = ceil_div(channels, 32 * (wide ? V : 1));
      p.out.n = y.shape[0] * y.shape[2] * y.shape[3] * blocks;
      launch(call, grid_for(p.out.n * kThreads), wide ? average_by_rows<E, V> : average_by_rows<E, 1>, p, channels, Divisor(blocks, p.out.n), call.input<E>(0),
             call.output<E>(0));
    }
  });
}

void backward(const Call& call, const AxisRule& rows, const AxisRule& cols) {
  const TensorMeta &dy = *call.in[0].meta, &dx = *call.out[0].meta;
  if (dx.numel() == 0) return;
  Averages p{rows, cols, device_image(dx), device_image(dy), {}};
  dispatch_floating_element(dy.dtype, [&]<class E>() {
    constexpr int V = kGroupOf<E>;
    const bool wide = takes_groups(call, dx.shape[1], V, all_channels_last(call));
    p.out = elements_of(dx, wide ? V : 1);
    launch(call, grid_for(p.out.n), wide ? average_backward<E, V> : average_backward<E, 1>, p, call.input<E>(0),
           call.in.size() > 1 ? call.input<E>(1) : nullptr, call.in.size() > 2 ? call.input<E>(2) : nullptr, call.output<E>(0));
  });
}

void run_average(const Call& call) {
  const auto& a = call.query.attrs.as<Pool2dAttrs>();
  const Shape& x = call.in[0].meta->shape;
  forward(call, axis_rule(a, 0, x[2]), axis_rule(a, 1, x[3]), a.kernel[0] * a.kernel[1]);
}
void run_average_grad(const Call& call) {
  const Pool2dAttrs a = call.query.attrs.as<Pool2dGradAttrs>().forward();
  const Shape& x = call.out[0].meta->shape;
  backward(call, axis_rule(a, 0, x[2]), axis_rule(a, 1, x[3]));
}
void run_adaptive(const Call& call) {
  const Shape &x = call.in[0].meta->shape, &y = call.out[0].meta->shape;
  forward(call, adaptive_rule(x[2], y[2]), adaptive_rule(x[3], y[3]), ceil_div(x[2], y[2]) * ceil_div(x[3], y[3]));
}
void run_adaptive_grad(const Call& call) {
  const Shape &y = call.in[0].meta->shape, &x = call.out[0].meta->shape;
  backward(call, adaptive_rule(x[2], y[2]), adaptive_rule(x[3], y[3]));
}

const bool kAverage = register_cuda_kernel({.op = "avg_pool2d", .run = run_average});
const bool kAverageGrad = register_cuda_kernel({.op = "avg_pool2d_grad", .run = run_average_grad});
const bool kAdaptive = register_cuda_kernel({.op = "adaptive_avg_pool2d", .run = run_adaptive});
const bool kAdaptiveGrad = register_cuda_kernel({.op = "adaptive_avg_pool2d_grad", .run = run_adaptive_grad});

}  // namespace
}  // namespace sindri::cuda
