// softmax, log_softmax and their gradients on CUDA devices. Memory traffic: x (or dy and y) once from memory, once more from the caches if a row or a block of
// columns fits there, and the result once. Sums in float; double for float64.
#include <string_view>

#include "ops/loss/loss_common.h"
#include "src/device/cuda/compensated.h"
#include "src/device/cuda/rows.h"

namespace sindri::cuda {
namespace {

// s: the statistics of the row.
template <class T> SINDRI_DEVICE T normalised(T x, const RowStats<T>& s, T last, bool log) { return log ? (x - s.max) - last : exp(x - s.max) * last; }
// The logarithm or the inverse of the sum, an argument of `normalised`.
template <class T> SINDRI_DEVICE T last_of(const RowStats<T>& s, bool log_softmax) { return log_softmax ? log(s.sum) : T(1) / s.sum; }
// The term that the gradient sums, and the gradient: dx = y·(dy - sum(dy·y)), or dx = dy - e^y·sum(dy) for log_softmax.
template <class T> SINDRI_DEVICE T grad_term(T dy, T y, bool log) { return log ? dy : dy * y; }
template <class T> SINDRI_DEVICE T grad_of(T dy, T y, T sum, bool log) { return log ? dy - exp(y) * sum : y * (dy - sum); }

template <class E> __global__ void softmax_rows(const E* x, E* y, int64_t rows, int64_t n, bool log, int width, bool vectors) {
  using T = Number<E>;
  SINDRI_SHARED(RowStats<T>, partial, 32);
  for_rows(rows, width, [&](int64_t row, const Team& team, bool there) {
    const E* const from = x + row * n;
    const int64_t count = there ? n : 0;
    const RowStats<T> s = row_stats<T>(from, count, team, vectors, partial);
    const T last = last_of(s, log);
    for_lane<E>(count, team.lane, team.width, vectors, [&](auto many, int64_t i) {
      auto e = load_vector<decltype(many)::value>(from + i);
      for (E& v : e.e) v = store_as<E>(normalised<T>(load(v), s, last, log));
      store_vector(y + row * n + i, e);
    });
  });
}

template <class E> __global__ void softmax_grad_rows(const E* dy, const E* y, E* dx, int64_t rows, int64_t n, bool log, int width, bool vectors) {
  using T = Number<E>;
  SINDRI_SHARED(T, partial, 32);
  for_rows(rows, width, [&](int64_t row, const Team& team, bool there) {
    const int64_t base = row * n, count = there ? n : 0;
    Compensated<T> own;
    for_lane<E>(count, team.lane, team.width, vectors, [&](auto many, int64_t i) {
      constexpr int V = decltype(many)::value;
      const auto g = load_vector<V>(dy + base + i), v = load_vector<V>(y + base + i);
      for (int j = 0; j < V; ++j) own.add(grad_term<T>(load(g.e[j]), load(v.e[j]), log));
    });
    const T sum = team_reduce(team, own.sum, partial, Add());
    for_lane<E>(count, team.lane, team.width, vectors, [&](auto many, int64_t i) {
      constexpr int V = decltype(many)::value;
      const auto g = load_vector<V>(dy + base + i), v = load_vector<V>(y + base + i);
      ElementVector<E, V> d;
      for (int j = 0; j < V; ++j) d.e[j] = store_as<E>(grad_of<T>(load(g.e[j]), load(v.e[j]), sum, log));
      store_vector(dx + base + i, d);
    });
  });
}

// ----- along a dimension other than the last: [outer, n, inner]; `across` neighbouring threads of a block cover `inner`, and its rows of threads cover n -----

struct Columns {
  int64_t outer, n, inner;
  int across;  // neighbouring threads that process neighbouring columns
  int64_t blocks;  // number of blocks of columns

  struct Place {
    int64_t at;  // offset of the column's first element
    int64_t first, step;  // this thread's elements along n: first, first + step, …
    bool there;
  };
  SINDRI_DEVICE Place place(int64_t task) const {
    const int64_t o = task / blocks, c = (task - o * blocks) * across + threadIdx.x % across;
    return {o * n * inner + c, threadIdx.x / across, blockDim.x / across, c < inner};
  }
};

// The combination of the values of all threads of a column, returned in each of them. `all` is shared memory with one value per thread.
template <class T, class Shared, class Combine> SINDRI_DEVICE T reduce_column(T v, int across, Shared&& all, Combine&& combine) {
  const int down = static_cast<int>(blockDim.x) / across, t = static_cast<int>(threadIdx.x), ty = t / across;
  all[t] = v;
  for (int half = down / 2; half > 0; half /= 2) {
    __syncthreads();
    if (ty >= half) continue;
    v = combine(v, static_cast<T>(all[t + half * across]));
    all[t] = v;
  }
  __syncthreads();
  v = all[t % across];
  __syncthreads();  // before the next use
  return v;
}

template <class E> __global__ void softmax_columns(const E* x, E* y, Columns c, bool log) {
  using T = Number<E>;
  SINDRI_SHARED(RowStats<T>, all, kThreads);
  for (int64_t task = blockIdx.x; task < c.outer * c.blocks; task += gridDim.x) {
    const Columns::Place p = c.place(task);
    RowStats<T> s = no_stats<T>();
    for (int64_t k = p.first; p.there && k < c.n; k += p.step) {
      const T v[1] = {load(x[p.at + k * c.inner])};
      take_elements(&s, v);
    }
    s = complete(reduce_column(s, c.across, all, MergeStats()));
    const T last = last_of(s, log);
    for (int64_t k = p.first; p.there && k < c.n; k += p.step) y[p.at + k * c.inner] = store_as<E>(normalised<T>(load(x[p.at + k * c.inner]), s, last, log));
  }
}

template <class E> __global__ void softmax_grad_columns(const E* dy, const E* y, E* dx, Columns c, bool log) {
  using T = Number<E>;
  SINDRI_SHARED(T, all, kThreads);
  for (int64_t task = blockIdx.x; task < c.outer * c.blocks; task += gridDim.x) {
    const Columns::Place p = c.place(task);
    Compensated<T> own;
    for (int64_t k = p.first; p.there && k < c.n; k += p.step) own.add(grad_term<T>(load(dy[p.at + k * c.inner]), load(y[p.at + k * c.inner]), log));
    const T sum = reduce_column(own.sum, c.across, all, Add());
    for (int64_t k = p.first; p.there && k < c.n; k += p.step) {
      const int64_t at = p.at + k * c.inner;
      dx[at] = store_as<E>(grad_of<T>(load(dy[at]), load(y[at]), sum, log));
    }
  }
}

// ----- host code -----

Columns columns_of(const ops::AxisView& v, Grid* grid) {
  const auto power = [](int64_t n, int64_t most) { return static_cast<int>(std::bit_ceil(static_cast<uint64_t>(std::clamp<int64_t>(n, 1, most)))); };
  Columns c{v.outer, v.width, v.inner, 1, 1};
  // A thread has at least about eight elements of a long dimension. If the dimension is short, the block's threads are used for columns instead.
  const int down = power(ceil_div(v.width, 8), kThreads / power(v.inner, 32));
  c.across = std::min(power(v.inner, kThreads), kThreads / down);
  c.blocks = ceil_div(v.inner, c.across);
  const int threads = std::max(32, c.across * down);
  *grid = {dim3(static_cast<unsigned>(std::min<int64_t>(c.outer * c.blocks, 132 * 32))), dim3(static_cast<unsigned>(threads)), 0};
  return c;
}

template <bool kLog> void run_softmax(const Call& call) {
  const ops::AxisView v = ops::axis_view(call.query.in[0].shape, call.query.attrs.as<ops::SoftmaxAttrs>().axis, call.query.op.name);
  if (call.query.in[0].numel() == 0) return;
  dispatch_floating_element(call.query.in[0].dtype, [&]<class E>() {
    const E* const x = call.input<E>(0);
    E* const y = call.output<E>(0);
    if (v.inner == 1) {
      const RowGrid g = grid_for_rows<E>(v.outer, v.width, x, y);
      launch(call, g.grid, softmax_rows<E>, x, y, v.outer, v.width, kLog, g.width, g.vectors);
    } else {
      Grid grid;
      const Columns c = columns_of(v, &grid);
      launch(call, grid, softmax_columns<E>, x, y, c, kLog);
    }
  });
}

template <bool kLog> void run_softmax_grad(const Call& call) {
  const ops::AxisView v = ops::axis_view(call.query.in[0].shape, call.query.attrs.as<ops::SoftmaxAttrs>().axis, call.query.op.name);
  if (call.query.in[0].numel() == 0) return;
  dispatch_floating_element(call.query.in[0].dtype, [&]<class E>() {
    const E *const dy = call.input<E>(0), *const y = call.input<E>(1);
    E* const dx = call.output<E>(0);
    if (v.inner == 1) {
      const RowGrid g = grid_for_rows<E>(v.outer, v.width, dy, y, dx);
      launch(call, g.grid, softmax_grad_rows<E>, dy, y, dx, v.outer, v.width, kLog, g.width, g.vectors);
    } else {
      Grid grid;
      const Columns c = columns_of(v, &grid);
      launch(call, grid, softmax_grad_columns<E>, dy, y, dx, c, kLog);
    }
  });
}

const bool kSoftmax = register_cuda_kernel({.op = "softmax", .run = run_softmax<false>});
const bool kLogSoftmax = register_cuda_kernel({.op = "log_softmax", .run = run_softmax<true>});
const bool kSoftmaxGrad = register_cuda_kernel({.op = "softmax_grad", .run = run_softmax_grad<false>});
const bool kLogSoftmaxGrad = register_cuda_kernel({.op = "log_softmax_grad", .run = run_softmax_grad<true>});

}  // namespace
}  // namespace sindri::cuda
