// Passes over tensors [N, C, ...] on CUDA devices in which each channel has its own factors. If channels are adjacent in memory (channels-last, rank
// 2), a thread keeps its kVector channels, their factors in registers, and iterates over rows. Otherwise a block processes parts of one channel's
// plane.
//
// A body is trivially copyable and has Element, Fixed, fixed(channel) and apply<V>(at, fixed[V or 1]) for the V elements from offset `at` on.
#pragma once

#include <algorithm>
#include <bit>

#include "ops/norm/norm_common.h"
#include "src/device/cuda/fold.h"
#include "src/device/cuda/launch.h"
#include "src/device/cuda/reduce.h"
#include "src/device/cuda/vector.h"

namespace sindri::cuda {

// Processes the `across`·V adjacent channels of one stack. Thread row y takes rows first·down + y, (first + step)·down + y, … `back`: counts rows from the last
// one.
template <int V, class Body>
SINDRI_DEVICE void channel_rows_by(const Body& b, int64_t rows, int64_t channels, int across, int64_t stack, int64_t first, int64_t step, bool back) {
  const int tx = static_cast<int>(threadIdx.x) % across, down = kThreads / across;
  const int64_t c = (stack * across + tx) * V;
  if (c >= channels) return;
  typename Body::Fixed fixed[V];
  for (int j = 0; j < V; ++j) fixed[j] = b.fixed(c + j);
  for (int64_t r = first * down + threadIdx.x / across; r < rows; r += step * down) b.template apply<V>((back ? rows - 1 - r : r) * channels + c, fixed);
}
template <class Body> __global__ void channel_rows(Body b, int64_t rows, int64_t channels, int across, bool vectors) {
  if (vectors) channel_rows_by<kVector<typename Body::Element>>(b, rows, channels, across, blockIdx.y, blockIdx.x, gridDim.x, false);
  else channel_rows_by<1>(b, rows, channels, across, blockIdx.y, blockIdx.x, gridDim.x, false);
}

// The assignment of threads to rows of channels.
struct RowsPlan {
  bool vectors;
  int across;
  int64_t stacks;
};
template <class E> RowsPlan plan_rows(const ops::ChannelView& v, bool aligned) {
  const bool vectors = aligned && v.c % kVector<E> == 0;
  const int64_t lanes = ceil_div(v.c, vectors ? kVector<E> : 1);
  const int across = static_cast<int>(std::bit_ceil(static_cast<uint64_t>(std::min<int64_t>(lanes, 32))));
  return {vectors, across, ceil_div(lanes, across)};
}

// A reduction of every channel and a pass over all elements that uses its results, in one kernel with a grid-wide barrier between the two. The pass starts
// with the rows read last, which may still be in the cache.
template <class Policy, class Body> __global__ void __launch_bounds__(kThreads, 2)
    fold_then_rows(FoldWalk w, Policy p, typename Policy::Acc* parts, int width, int64_t chunk, int64_t split, bool fold_vectors, Body b, int64_t rows,
                   int64_t channels, int across, int64_t stacks, bool vectors) {
  if (fold_vectors) fold_columns_by<kVector<typename Policy::Element>>(w, p, parts, width, chunk, split);
  else fold_columns_by<1>(w, p, parts, width, chunk, split);
  if (split > 1) {
    sync_grid();
    combine_parts(w, p, static_cast<const typename Policy::Acc*>(parts), split);
  }
  sync_grid();
  const int64_t blocks = gridDim.x > stacks ? gridDim.x / stacks : 1;
  for (int64_t task = blockIdx.x; task < stacks * blocks; task += gridDim.x) {
    const int64_t first = task / stacks, stack = task - first * stacks;
    if (vectors) channel_rows_by<kVector<typename Body::Element>>(b, rows, channels, across, stack, first, blocks, true);
    else channel_rows_by<1>(b, rows, channels, across, stack, first, blocks, true);
  }
}

// Part p of `parts` of plane k: `length` elements.
template <class Body> __global__ void channel_planes(Body b, int64_t planes, int64_t channels, int64_t size, int64_t parts, int64_t length, bool vectors) {
  constexpr int V = kVector<typename Body::Element>;
  for (int64_t task = blockIdx.x; task < planes * parts; task += gridDim.x) {
    const int64_t plane = task / parts, begin = (task - plane * parts) * length, end = begin + length < size ? begin + length : size;
    const typename Body::Fixed fixed[1] = {b.fixed(plane % channels)};
    const int64_t base = plane * size;
    if (vectors) {
      for (int64_t i = begin + int64_t{threadIdx.x} * V; i < end; i += int64_t{blockDim.x} * V) b.template apply<V>(base + i, fixed);
    } else {
      for (int64_t i = begin + threadIdx.x; i < end; i += blockDim.x) b.template apply<1>(base + i, fixed);
    }
  }
}

/// Launches a pass over all elements of x on the call's stream. `aligned`: all operands of the body may be read and written in vectors.
template <class Body> void run_channels(const Call& call, const TensorMeta& x, const Body& body, bool aligned) {
  constexpr int64_t V = kVector<typename Body::Element>, kBlocks = 132 * 16;
  if (x.numel() == 0) return;
  const ops::ChannelView v = ops::channel_view(x);
  if (v.planar) {
    const bool vectors = aligned && v.s % V == 0;
    const int64_t length = int64_t{kThreads} * V * 4, parts = ceil_div(v.s, length), planes = v.n * v.c;
    const int threads = static_cast<int>(std::bit_ceil(static_cast<uint64_t>(std::clamp<int64_t>(ceil_div(v.s, vectors ? V : 1), 32, kThreads))));
    const Grid grid{dim3(static_cast<unsigned>(std::min(planes * parts, kBlocks * kThreads / threads))), dim3(static_cast<unsigned>(threads)), 0};
    launch(call, grid, channel_planes<Body>, body, planes, v.c, v.s, parts, length, vectors);
  } else {
    const RowsPlan p = plan_rows<typename Body::Element>(v, aligned);
    const int64_t blocks = std::clamp<int64_t>(ceil_div(v.s, kThreads / p.across * 2), 1, std::max<int64_t>(1, kBlocks / p.stacks));
    const Grid grid{dim3(static_cast<unsigned>(blocks), static_cast<unsigned>(p.stacks)), dim3(kThreads), 0};
    launch(call, grid, channel_rows<Body>, body, v.s, v.c, p.across, p.vectors);
  }
}

/// Launches run_fold over every channel and then run_channels over x. The body may use the values that the policy stores. If channels are adjacent, one kernel
/// does both. The folded tensor may differ from x if it has x's channels and layout.
template <class Policy, class Body> void run_fold_then_channels(const Call& call, const TensorMeta& x, const FoldPlan& plan, const Policy& policy,
                                                                bool fold_aligned, const Body& body, bool aligned, void* workspace) {
  const ops::ChannelView v = ops::channel_view(x);
  if (v.planar || !plan.columns || x.numel() == 0) {
    run_fold(call, plan, policy, fold_aligned, workspace);
    run_channels(call, x, body, aligned);
    return;
  }
  using Acc = typename Policy::Acc;
  const bool fold_vectors = plan.vectors && fold_aligned;
  const RowsPlan p = plan_rows<typename Body::Element>(v, aligned);
  const int64_t tasks = std::max(column_tasks(plan, fold_vectors ? kVector<typename Policy::Element> : 1), p.stacks);
  const int64_t blocks = std::min(tasks, coresident_blocks(call, kThreads, fold_then_rows<Policy, Body>));
  const Grid grid{dim3(static_cast<unsigned>(blocks)), dim3(kThreads), 0};
  launch_cooperative(call, grid, fold_then_rows<Policy, Body>, plan.walk, policy, static_cast<Acc*>(plan.split > 1 ? workspace : nullptr), plan.width,
                     plan.chunk, plan.split, fold_vectors, body, v.s, v.c, p.across, p.stacks, p.vectors);
}
/// Number of kernels that it launches.
inline int fold_then_channels_launches(const TensorMeta& x, const FoldPlan& plan) {
  if (x.numel() == 0) return fold_launches(plan);
  return ops::channel_view(x).planar || !plan.columns ? fold_launches(plan) + 1 : 1;
}

/// The dimensions over which a channel's statistics are taken.
inline DimSet all_but_channels() {
  DimSet reduced;
  reduced.fill(true);
  reduced[1] = false;
  return reduced;
}

/// The normalised value. Used in the forward forms and to recompute relu's mask in the gradient, so that both are bitwise identical.
template <class T> SINDRI_DEVICE T normalise(T x, T mean, T scale, T beta) { return fma(x - mean, scale, beta); }
template <class E> SINDRI_DEVICE Number<E> rounded(Number<E> v) { return load(store_as<E>(v)); }

/// Two sums of a channel.
template <class T> struct TwoSums { T first, second; };
struct AddTwo {
  template <class T> SINDRI_DEVICE TwoSums<T> operator()(const TwoSums<T>& a, const TwoSums<T>& b) const { return {a.first + b.first, a.second + b.second}; }
};

inline Floating floating(const Buffer& b) { return {b.data, b.meta->dtype}; }
inline int64_t up_to_256(int64_t bytes) { return (bytes + 255) / 256 * 256; }

}  // namespace sindri::cuda
