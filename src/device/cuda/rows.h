// Helpers for kernels that process rows: each row is read by a team of 1 to 32 lanes or by a block. For softmax and
// similar ops, row_stats computes a row's statistics in one pass: the largest element so far and the sum of
// exponentials relative to it (Milakov and Gimelshein 2018, "Online normalizer calculation for softmax"). A second pass
// reads the row again, from the caches.
#pragma once

#include <algorithm>
#include <bit>

#include "src/device/cuda/launch.h"
#include "src/device/cuda/reduce.h"
#include "src/device/cuda/vector.h"

namespace sindri::cuda {

/// The largest element so far (NaN wins) and the sum of e^(x - max).
template <class T> struct RowStats { T max, sum; };
template <class T> SINDRI_DEVICE RowStats<T> no_stats() { return {T(-INFINITY), T(0)}; }
// The number subtracted before the exponential while the sum grows: 0 instead of infinities and NaN.
template <class T> SINDRI_DEVICE T row_shift(T max) { return isfinite(max) ? max : T(0); }

struct MergeStats {
  template <class T> SINDRI_DEVICE RowStats<T> operator()(const RowStats<T>& a, const RowStats<T>& b) const {
    const T max = Larger()(a.max, b.max), to = row_shift(max);
    return {max, moved(a, to) + moved(b, to)};
  }
  template <class T> SINDRI_DEVICE static T moved(const RowStats<T>& a, T to) {
    const T from = row_shift(a.max);
    return a.sum == T(0) || from == to ? a.sum : a.sum * exp(from - to);
  }
};
template <class T, int V> SINDRI_DEVICE void take_elements(RowStats<T>* s, const T (&v)[V]) {
  T max = v[0];
  for (int j = 1; j < V; ++j) max = Larger()(max, v[j]);
  max = Larger()(s->max, max);
  const T shift = row_shift(max);
  T sum = MergeStats::moved(*s, shift);
  for (int j = 0; j < V; ++j) sum += exp(v[j] - shift);
  *s = {max, sum};
}
/// Completes a row's statistics. A row that contains NaN or +inf, or only -inf, has no probabilities, so its sum becomes NaN.
template <class T> SINDRI_DEVICE RowStats<T> complete(const RowStats<T>& s) { return {s.max, isfinite(s.max) ? s.sum : T(NAN)}; }

/// The threads that share a row: `lane` of `width`, a power of two up to 32 or the whole block.
struct Team {
  int lane, width;
};
template <class T, class Shared, class Combine> SINDRI_DEVICE T team_reduce(const Team& t, T v, Shared&& partial, Combine&& combine) {
  return t.width > 32 ? block_reduce(v, partial, combine) : warp_reduce(v, combine, t.width);
}

/// Returns the statistics of a row of n elements, in every thread of its team. All threads of the block must call it;
/// threads without a row pass n = 0.
template <class T, class E, class Shared> SINDRI_DEVICE RowStats<T> row_stats(const E* x, int64_t n, const Team& team, bool vectors, Shared&& partial) {
  RowStats<T> s = no_stats<T>();
  for_lane<E>(n, team.lane, team.width, vectors, [&](auto many, int64_t i) {
    constexpr int V = decltype(many)::value;
    const auto e = load_vector<V>(x + i);
    T v[V];
    for (int j = 0; j < V; ++j) v[j] = load(e.e[j]);
    take_elements(&s, v);
  });
  return complete(team_reduce(team, s, partial, MergeStats()));
}

/// How rows of n elements are distributed.
struct RowGrid {
  int width = 1;
  bool vectors = false;
  Grid grid;
};
/// `pointers`: the operands that are read and written in vectors of E.
template <class E, class... P> RowGrid grid_for_rows(int64_t rows, int64_t n, const P*... pointers) {
  RowGrid g;
  g.vectors = n % kVector<E> == 0 && aligned_for_vectors<E>(pointers...);
  const int64_t lanes = ceil_div(n, g.vectors ? kVector<E> : 2);
  g.width = n > 2048 ? kThreads : static_cast<int>(std::bit_ceil(static_cast<uint64_t>(std::clamp<int64_t>(lanes, 1, 32))));
  constexpr int64_t kMostBlocks = 132 * 32;
  const int64_t blocks = std::clamp<int64_t>(ceil_div(rows, kThreads / g.width), 1, kMostBlocks);
  g.grid = {dim3(static_cast<unsigned>(blocks)), dim3(kThreads), 0};
  return g;
}
/// Calls f(row, team, whether the row exists) for the rows of this thread; the threads of a block make the same number of calls.
template <class F> SINDRI_DEVICE void for_rows(int64_t rows, int width, F&& f) {
  const int teams = static_cast<int>(blockDim.x) / width;
  const Team team{static_cast<int>(threadIdx.x) % width, width};
  for (int64_t first = static_cast<int64_t>(blockIdx.x) * teams; first < rows; first += static_cast<int64_t>(gridDim.x) * teams) {
    const int64_t row = first + threadIdx.x / width;
    f(row, team, row < rows);
  }
}

}  // namespace sindri::cuda
