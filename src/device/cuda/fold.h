// Reductions over any dimensions on CUDA devices: the traversal of the input, shared by ops that differ in how they
// combine elements (a policy).
//
// The input is traversed in its physical order. Its dimensions are merged into groups that are reduced or kept. If the
// innermost group is reduced, a team of 1 to 32 lanes, or a whole block, reads the row of one output together. If the
// innermost group is kept, the threads of a block form a grid: neighbouring threads take neighbouring columns
// (outputs), and threads further down take other rows of the same columns. Both read 16 bytes per thread if addresses
// allow, and each element once. If there are few outputs with many elements each, an output is split over several
// blocks, and a second kernel combines their results. The order of combination depends on the shape alone.
//
// A policy is trivially copyable and has
//    Element                          the type whose vectors are read
//    Part, Acc                        a thread's partial result, and the type in which threads combine; numbers or plain structs
//    Fixed, fixed(o)                  the data needed for adding to output o
//    nothing(), widen(part), identity(), combine(a, b)      of Part and Acc; combine commutative
//    fetch<V>(at)                     reads V elements at this offset
//    add<V>(part[V], fixed[V or 1], fetched, r, step)       adds fetched element j, element r + j·step of its output's input, to part[j]
//    store(acc, o, at)                writes the result of output o, whose offset is `at`
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <vector>

#include "sindri/core/tensor.h"
#include "src/device/cuda/divisor.h"
#include "src/device/cuda/launch.h"
#include "src/device/cuda/reduce.h"
#include "src/device/cuda/vector.h"

namespace sindri::cuda {

/// For policies with one operand x that need no data about an output and combine as they add.
template <class E, class A> struct FoldOf {
  using Element = E;
  using Part = A;
  using Acc = A;
  struct Fixed {};
  const E* x;
  SINDRI_DEVICE Fixed fixed(int64_t) const { return {}; }
  SINDRI_DEVICE A widen(const A& a) const { return a; }
  template <int V> SINDRI_DEVICE ElementVector<E, V> fetch(int64_t at) const { return load_vector<V>(x + at); }
};

/// The positions of elements and outputs. Outputs and reduced elements are numbered in row-major order of their groups.
struct FoldWalk {
  int64_t outputs = 0, count = 0;  // elements of each output
  int kept = 0, reduced = 0;  // numbers of groups
  Divisor kept_size[Shape::kMaxRank], reduced_size[Shape::kMaxRank];
  int64_t kept_stride[Shape::kMaxRank] = {}, out_stride[Shape::kMaxRank] = {}, reduced_stride[Shape::kMaxRank] = {};
};
struct FoldPlace {
  int64_t in = 0, out = 0;
};
SINDRI_DEVICE FoldPlace place_of_output(const FoldWalk& w, int64_t o) {
  FoldPlace p;
  for (int d = w.kept - 1; d >= 0; --d) {
    const int64_t q = d > 0 ? w.kept_size[d].quotient(o) : 0, i = o - q * w.kept_size[d].value;
    p.in += i * w.kept_stride[d];
    p.out += i * w.out_stride[d];
    o = q;
  }
  return p;
}
SINDRI_DEVICE int64_t offset_of_reduced(const FoldWalk& w, int64_t r) {
  if (w.reduced <= 1) return r * w.reduced_stride[0];
  int64_t at = 0;
  for (int d = w.reduced - 1; d > 0; --d) {
    const int64_t q = w.reduced_size[d].quotient(r);
    at += (r - q * w.reduced_size[d].value) * w.reduced_stride[d];
    r = q;
  }
  return at + r * w.reduced_stride[0];
}

/// How the work on a shape is divided.
struct FoldPlan {
  FoldWalk walk;
  bool columns = false;
  int width = 1;  // threads of a team; for columns: threads side by side
  int64_t chunk = 1, split = 1;  // elements of an output that one team or block reduces; number of such parts
  bool vectors = false;  // strides allow accesses of kVector elements
  int vector = 1;
};

/// The dimensions that are reduced.
using DimSet = std::array<bool, Shape::kMaxRank>;

/// Plans the reduction of in's `reduced` dimensions into out's elements.
inline FoldPlan plan_fold(const TensorMeta& in, const TensorMeta& out, const DimSet& reduced, int vector) {
  struct Group {
    int64_t size, stride, out_stride;
  };
  const auto physical = [](const TensorMeta& m) -> Shape {
    if (m.layout != Layout::kChannelsLast) return contiguous_strides(m.shape);
    return {m.shape[2] * m.shape[3] * m.shape[1], 1, m.shape[3] * m.shape[1], m.shape[1]};
  };
  const Shape in_strides = physical(in), out_strides = physical(out);
  const bool keep = out.shape.rank() == in.shape.rank();
  std::vector<int> order, out_dim;
  for (int d = 0, o = 0; d < in.shape.rank(); ++d) {
    order.push_back(d);
    out_dim.push_back(keep ? d : o);
    o += reduced[static_cast<size_t>(d)] ? 0 : 1;
  }
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return in_strides[a] > in_strides[b]; });
  std::vector<Group> kept, folded;
  bool last_reduced = true, any = false;
  for (const int d : order) {
    if (in.shape[d] == 1) continue;
    const bool r = reduced[static_cast<size_t>(d)];
    const Group g{in.shape[d], in_strides[d], r ? 0 : out_strides[out_dim[static_cast<size_t>(d)]]};
    std::vector<Group>& list = r ? folded : kept;
    const bool joins = !list.empty() && any && last_reduced == r && list.back().stride == g.stride * g.size && list.back().out_stride == g.out_stride * g.size;
    if (joins) list.back() = {list.back().size * g.size, g.stride, g.out_stride};
    else list.push_back(g);
    last_reduced = r;
    any = true;
  }

  FoldPlan p;
  FoldWalk& w = p.walk;
  w.outputs = out.numel();
  w.count = 1;
  for (const Group& g : folded) w.count *= g.size;
  for (const Group& g : kept) {
    w.kept_size[w.kept] = Divisor(g.size, w.outputs);
    w.kept_stride[w.kept] = g.stride;
    w.out_stride[w.kept++] = g.out_stride;
  }
  for (const Group& g : folded) {
    w.reduced_size[w.reduced] = Divisor(g.size, w.count);
    w.reduced_stride[w.reduced++] = g.stride;
  }

  p.vector = vector;
  p.columns = !last_reduced;
  const std::vector<Group>& inner = p.columns ? kept : folded;
  p.vectors = !inner.empty() && inner.back().stride == 1;
  for (const std::vector<Group>* list : {&kept, &folded})
    for (const Group& g : *list) p.vectors = p.vectors && (&g == &inner.back() || g.stride % vector == 0);
  // A single reduced group may end in elements that do not fill a vector; others may not.
  if (p.columns || folded.size() > 1) p.vectors = p.vectors && inner.back().size % vector == 0;

  constexpr int64_t kBlocks = 132 * 8;  // enough for any device; a constant, so that results are the same on all devices
  const auto power = [](int64_t n, int64_t most) { return static_cast<int>(std::bit_ceil(static_cast<uint64_t>(std::clamp<int64_t>(n, 1, most)))); };
  int64_t tasks = w.outputs, least = 1, most = w.count;
  if (p.columns) {
    const int64_t across = ceil_div(kept.back().size, p.vectors ? vector : 1), outer = w.outputs / std::max<int64_t>(1, kept.back().size);
    p.width = power(across, w.count >= 64 ? 32 : kThreads);
    const int64_t down = kThreads / p.width;
    tasks = outer * ceil_div(across, p.width);
    least = down * 16;
    most = down * 1024;  // one thread adds at most this many elements in sequence
    if (std::min(across, int64_t{p.width}) * std::min(down, w.count) < 64 && w.count < 1024) p.columns = false, p.width = 1, p.vectors = false;
  } else {
    p.width = w.count > 1024 ? kThreads : power(ceil_div(w.count, 4), 32);
    least = 4096;
    most = int64_t{kThreads} * 1024;
  }
  const bool splits = p.columns || p.width == kThreads;
  if (splits) p.split = std::max(std::min(ceil_div(kBlocks, std::max<int64_t>(1, tasks)), w.count / least), ceil_div(w.count, most));
  p.split = std::max<int64_t>(1, p.split);
  p.chunk = std::max<int64_t>(64, ceil_div(ceil_div(w.count, p.split), 64) * 64);
  if (p.split > 1) p.split = ceil_div(w.count, p.chunk);
  else p.chunk = std::max<int64_t>(p.chunk, w.count);
  return p;
}

// ----- kernels -----

template <int V, int F, class Policy> SINDRI_DEVICE void fold_range(const FoldWalk& w, const Policy& p, int64_t base, int64_t begin, int64_t end, int64_t step,
                                                                    int64_t index_step, const typename Policy::Fixed (&fixed)[F],
                                                                    typename Policy::Part (&part)[V]) {
  for (int64_t r = begin; r < end; r += 2 * step) {
    const bool two = r + step < end;  // both loads are in flight before the first is used
    const auto v = p.template fetch<V>(base + offset_of_reduced(w, r));
    auto next = v;
    if (two) next = p.template fetch<V>(base + offset_of_reduced(w, r + step));
    p.template add<V>(part, fixed, v, r, index_step);
    if (two) p.template add<V>(part, fixed, next, r + step, index_step);
  }
}

// Teams of `width` threads, each on a part of an output: task t is part t % split of output t / split.
template <class Policy> __global__ void fold_rows(FoldWalk w, Policy p, typename Policy::Acc* parts, int width, int64_t chunk, int64_t split, bool vectors) {
  using Acc = typename Policy::Acc;
  constexpr int V = kVector<typename Policy::Element>;
  SINDRI_SHARED(Acc, partial, 32);
  const int teams = kThreads / width, lane = static_cast<int>(threadIdx.x) % width;
  const int64_t tasks = w.outputs * split;
  const auto combine = [&p](const Acc& a, const Acc& b) { return p.combine(a, b); };
  for (int64_t first = static_cast<int64_t>(blockIdx.x) * teams; first < tasks; first += static_cast<int64_t>(gridDim.x) * teams) {
    const int64_t task = first + threadIdx.x / width, o = split > 1 ? task / split : task;
    Acc acc = p.identity();
    FoldPlace at;
    if (task < tasks) {
      const int64_t begin = (task - o * split) * chunk, end = begin + chunk < w.count ? begin + chunk : w.count;
      at = place_of_output(w, o);
      const typename Policy::Fixed fixed[1] = {p.fixed(o)};
      int64_t rest = begin;
      if (vectors) {
        typename Policy::Part many[V];
        for (auto& m : many) m = p.nothing();
        rest = begin + (end - begin) / V * V;
        fold_range<V>(w, p, at.in, begin + int64_t{lane} * V, rest, int64_t{width} * V, 1, fixed, many);
        for (int j = 0; j < V; ++j) acc = p.combine(acc, p.widen(many[j]));
      }
      typename Policy::Part one[1] = {p.nothing()};
      fold_range<1>(w, p, at.in, rest + lane, end, width, 1, fixed, one);
      acc = p.combine(acc, p.widen(one[0]));
    }
    acc = width > 32 ? block_reduce(acc, partial, combine) : warp_reduce(acc, combine, width);
    if (lane != 0 || task >= tasks) continue;
    if (split > 1) parts[task] = acc;
    else p.store(acc, o, at.out);
  }
}

// Blocks with `width` threads side by side, V columns each, and the other threads below them.
template <int V, class Policy>
SINDRI_DEVICE void fold_columns_by(const FoldWalk& w, const Policy& p, typename Policy::Acc* parts, int width, int64_t chunk, int64_t split) {
  using Acc = typename Policy::Acc;
  SINDRI_SHARED(Acc, rows, kThreads * V);
  const int down = kThreads / width, t = static_cast<int>(threadIdx.x), tx = t % width, ty = t / width, last = w.kept - 1;
  const int64_t columns = w.kept_size[last].value, blocks = (columns + int64_t{width} * V - 1) / (int64_t{width} * V);
  const int64_t tasks = w.outputs / columns * blocks * split;
  for (int64_t task = blockIdx.x; task < tasks; task += gridDim.x) {
    const int64_t stack = task / split, piece = task - stack * split, outer = stack / blocks, c = ((stack - outer * blocks) * width + tx) * V;
    const int64_t o = outer * columns + c, begin = piece * chunk, end = begin + chunk < w.count ? begin + chunk : w.count;
    FoldPlace at;
    Acc acc[V];
    for (Acc& a : acc) a = p.identity();
    if (c < columns) {
      at = place_of_output(w, o);
      typename Policy::Fixed fixed[V];
      typename Policy::Part part[V];
      for (int j = 0; j < V; ++j) fixed[j] = p.fixed(o + j), part[j] = p.nothing();
      fold_range<V>(w, p, at.in, begin + ty, end, down, 0, fixed, part);
      for (int j = 0; j < V; ++j) acc[j] = p.widen(part[j]);
    }
    for (int j = 0; j < V; ++j) rows[j * kThreads + t] = acc[j];
    for (int half = down / 2; half > 0; half /= 2) {
      __syncthreads();
      if (ty >= half) continue;
      for (int j = 0; j < V; ++j) {
        acc[j] = p.combine(acc[j], static_cast<Acc>(rows[j * kThreads + t + half * width]));
        rows[j * kThreads + t] = acc[j];
      }
    }
    if (ty == 0 && c < columns) {
      for (int j = 0; j < V; ++j) {
        if (split > 1) parts[(o + j) * split + piece] = acc[j];
        else p.store(acc[j], o + j, at.out + j * w.out_stride[last]);
      }
    }
    __syncthreads();  // rows of the next task
  }
}
template <class Policy> __global__ void fold_columns(FoldWalk w, Policy p, typename Policy::Acc* parts, int width, int64_t chunk, int64_t split, bool vectors) {
  if (vectors) fold_columns_by<kVector<typename Policy::Element>>(w, p, parts, width, chunk, split);
  else fold_columns_by<1>(w, p, parts, width, chunk, split);
}

// One warp per output combines its parts.
template <class Policy> SINDRI_DEVICE void combine_parts(const FoldWalk& w, const Policy& p, const typename Policy::Acc* parts, int64_t split) {
  using Acc = typename Policy::Acc;
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const int64_t warps = global_threads() / 32;
  for (int64_t o = global_thread() / 32; o < w.outputs; o += warps) {
    Acc acc = p.identity();
    for (int64_t s = lane; s < split; s += 32) acc = p.combine(acc, parts[o * split + s]);
    acc = warp_reduce(acc, [&p](const Acc& a, const Acc& b) { return p.combine(a, b); });
    if (lane == 0) p.store(acc, o, place_of_output(w, o).out);
  }
}
template <class Policy> __global__ void fold_parts(FoldWalk w, Policy p, const typename Policy::Acc* parts, int64_t split) {
  combine_parts(w, p, parts, split);
}

template <class Policy> int64_t fold_workspace(const Policy&, const FoldPlan& plan) {
  return plan.split > 1 ? plan.walk.outputs * plan.split * static_cast<int64_t>(sizeof(typename Policy::Acc)) : 0;
}

/// Number of kernels that run_fold launches.
inline int fold_launches(const FoldPlan& plan) { return plan.walk.outputs == 0 ? 0 : plan.split > 1 ? 2 : 1; }

/// Number of blocks that share the work of a plan by columns.
inline int64_t column_tasks(const FoldPlan& plan, int vector) {
  const int64_t columns = plan.walk.kept_size[plan.walk.kept - 1].value;
  return plan.walk.outputs / columns * ceil_div(columns, int64_t{plan.width} * vector) * plan.split;
}

/// Enqueues the reduction on the call's stream. `aligned`: all operands of the policy may be read in vectors.
/// `workspace`: fold_workspace bytes, 16-byte aligned.
template <class Policy> void run_fold(const Call& call, const FoldPlan& plan, const Policy& policy, bool aligned, void* workspace) {
  using Acc = typename Policy::Acc;
  const FoldWalk& w = plan.walk;
  if (w.outputs == 0) return;
  constexpr int64_t kMostBlocks = 132 * 32;
  auto* const parts = static_cast<Acc*>(plan.split > 1 ? workspace : nullptr);
  const bool vectors = plan.vectors && aligned;
  int64_t tasks = 0;
  if (plan.columns) tasks = column_tasks(plan, vectors ? kVector<typename Policy::Element> : 1);
  else tasks = ceil_div(w.outputs * plan.split, kThreads / plan.width);
  const Grid grid{dim3(static_cast<unsigned>(std::min(tasks, kMostBlocks))), dim3(kThreads), 0};
  launch(call, grid, plan.columns ? fold_columns<Policy> : fold_rows<Policy>, w, policy, parts, plan.width, plan.chunk, plan.split, vectors);
  if (plan.split > 1) launch(call, grid_for(w.outputs * 32), fold_parts<Policy>, w, policy, static_cast<const Acc*>(parts), plan.split);
}

}  // namespace sindri::cuda
