// cholesky, triangular_solve, lu and inverse on CUDA devices, in the arithmetic of the element type. One thread block processes a matrix (for triangular_solve
// up to 32 columns of b): in shared memory up to about 230 float32 rows on an H100, above that in place in the result. A step of the elimination is one or two
// barriers and one update of the remaining part, with rows over warps and columns over lanes. A matrix of many thousands of rows occupies one multiprocessor
// for seconds; it is not spread over several.
#include "ops/linalg/batch_cuda.h"
#include "src/device/cuda/cholesky.h"

namespace sindri::factor_cuda {
namespace {

using namespace linalg;

// The position of a thread in its block: lanes run along rows.
struct Team {
  int64_t thread, threads, lane, warp, warps;
};
SINDRI_DEVICE Team team() {
  return {static_cast<int64_t>(threadIdx.x), static_cast<int64_t>(blockDim.x), static_cast<int64_t>(threadIdx.x % 32), static_cast<int64_t>(threadIdx.x / 32),
          static_cast<int64_t>(blockDim.x / 32)};
}

// ----- cholesky -----

template <class T, bool kShared> __global__ void cholesky(const T* a, T* l, int64_t n, int64_t stride, int64_t batch, ErrorSite site) {
  SINDRI_DYNAMIC_SHARED(T, tile);
  const Team t = team();
  for (int64_t m = blockIdx.x; m < batch; m += gridDim.x) {
    const T* const from = a + m * n * n;
    T* const to = l + m * n * n;
    __syncthreads();
    const auto factor = [&](auto w, int64_t ld) {
      for (int64_t e = t.thread; e < n * n; e += t.threads)
        if (e % n <= e / n) w[e % n * ld + e / n] = from[e];
      return cholesky_upper<T>(w, ld, n);
    };
    int64_t failed;
    if constexpr (kShared) failed = factor(tile, stride);
    else failed = factor(to, n);
    if (failed >= 0) {
      if (t.thread == 0) report(site, m, failed);
      fill_nan(to, n * n);
      continue;
    }
    for (int64_t e = t.thread; e < n * n; e += t.threads) {
      const int64_t i = e / n, j = e % n;
      if constexpr (kShared) {
        to[e] = j <= i ? static_cast<T>(tile[j * stride + i]) : T(0);
      } else if (j < i) {
        to[e] = to[j * n + i];
        to[j * n + i] = T(0);
      }
    }
  }
}

[[noreturn]] void say_not_positive(const ErrorFound& e) { throw_not_positive(meta_of(e), e.found[0], e.found[1]); }

void run_cholesky(const Call& call) {
  const Stack s = stack_of(call.in[0].meta->shape);
  const int64_t n = s.rows;
  if (n == 0 || s.batch == 0) return;
  with_type(call.in[0].meta->dtype, [&]<class T>() {
    const ErrorSite site = stack_site(call, say_not_positive);
    const int64_t stride = shared_stride(n);
    if (fits_shared<T>(call, n, n))
      launch(call, grid_for_matrices(s.batch, n, n * stride * static_cast<int64_t>(sizeof(T))), cholesky<T, true>, call.input<T>(0), call.output<T>(0), n,
             stride, s.batch, site);
    else launch(call, grid_for_matrices(s.batch, n), cholesky<T, false>, call.input<T>(0), call.output<T>(0), n, n, s.batch, site);
  });
}

// ----- triangular_solve -----

struct Solve {
  int64_t n, m, tiles, width;  // width: columns per block, a power of two
  bool forward, transpose, unit;
};

// x is initialised with b; each step subtracts the finished row from the remaining ones. Rows are divided by the diagonal only at the end. Other rows need
// x[i]/a[i][i], but no thread changes row i any more, so a step needs one barrier.
template <class T> __global__ void solve(const T* a_all, const T* b_all, T* x_all, Solve s) {
  const int64_t matrix = blockIdx.x / s.tiles, column = blockIdx.x % s.tiles * s.width + threadIdx.x % s.width, group = threadIdx.x / s.width,
                groups = blockDim.x / s.width;
  const T* const a = a_all + matrix * s.n * s.n;
  const T* const b = b_all + matrix * s.n * s.m;
  T* const x = x_all + matrix * s.n * s.m;
  const bool there = column < s.m;
  for (int64_t i = group; i < s.n && there; i += groups) x[i * s.m + column] = b[i * s.m + column];
  for (int64_t step = 0; step < s.n; ++step) {
    __syncthreads();
    if (!there) continue;
    const int64_t i = s.forward ? step : s.n - 1 - step;
    const T value = s.unit ? x[i * s.m + column] : x[i * s.m + column] / a[i * s.n + i];
    for (int64_t left = step + 1 + group; left < s.n; left += groups) {
      const int64_t r = s.forward ? left : s.n - 1 - left;
      x[r * s.m + column] -= (s.transpose ? a[i * s.n + r] : a[r * s.n + i]) * value;
    }
  }
  __syncthreads();
  if (s.unit || !there) return;
  for (int64_t i = group; i < s.n; i += groups) x[i * s.m + column] /= a[i * s.n + i];
}

void run_solve(const Call& call) {
  const auto& attrs = call.query.attrs.as<TriangularSolveAttrs>();
  const Stack s = stack_of(call.in[1].meta->shape);
  if (s.rows == 0 || s.columns == 0 || s.batch == 0) return;
  int64_t width = 1;
  while (width < s.columns && width < 32) width *= 2;
  const Solve how{s.rows, s.columns, ceil_div(s.columns, width), width, attrs.lower != attrs.transpose, attrs.transpose, attrs.unit_diagonal};
  const auto threads = static_cast<unsigned>(std::clamp<int64_t>(ceil_div(s.rows * width, 32) * 32, 32, 256));
  with_type(call.in[0].meta->dtype, [&]<class T>() {
    launch(call, {dim3(static_cast<unsigned>(s.batch * how.tiles)), dim3(threads), 0}, solve<T>, call.input<T>(0), call.input<T>(1), call.output<T>(0), how);
  });
}

// ----- lu and inverse -----

// The row from k on with the largest element in column k, and that magnitude, in every thread. Starts with a barrier.
template <class T, class M, class Partial> SINDRI_DEVICE Indexed<T> pivot_of(M&& w, int64_t ld, int64_t n, int64_t k, Partial&& partial) {
  __syncthreads();
  Indexed<T> best{-1, T(0)};
  for (int64_t i = k + threadIdx.x; i < n; i += blockDim.x) best = FirstOf<true>()(best, Indexed<T>{i, abs(static_cast<T>(w[i * ld + k]))});
  return block_reduce(best, partial, FirstOf<true>());
}

// Starts and ends with a barrier.
template <class T, class M> SINDRI_DEVICE void swap_rows(M&& w, int64_t ld, int64_t n, int64_t i, int64_t k) {
  __syncthreads();
  for (int64_t j = threadIdx.x; j < n && i != k; j += blockDim.x) {
    const T x = w[i * ld + j];
    w[i * ld + j] = static_cast<T>(w[k * ld + j]);
    w[k * ld + j] = x;
  }
  __syncthreads();
}

template <class T, class M, class Partial> SINDRI_DEVICE T eliminate(M&& w, int64_t ld, int64_t n, int64_t* rows, Partial&& partial) {
  const Team t = team();
  T sign = 1;
  for (int64_t i = t.thread; i < n; i += t.threads) rows[i] = i;
  for (int64_t k = 0; k < n; ++k) {
    const Indexed<T> best = pivot_of<T>(w, ld, n, k, partial);
    if (best.value == T(0)) continue;  // a column without a pivot is unchanged
    if (best.index != k) {
      sign = -sign;
      if (t.thread == 0) {
        const int64_t row = rows[k];
        rows[k] = rows[best.index];
        rows[best.index] = row;
      }
    }
    swap_rows<T>(w, ld, n, best.index, k);
    const T pivot = w[k * ld + k];
    for (int64_t i = k + 1 + t.thread; i < n; i += t.threads) w[i * ld + k] = w[i * ld + k] / pivot;
    __syncthreads();
    for (int64_t i = k + 1 + t.warp; i < n; i += t.warps) {
      const T factor = w[i * ld + k];
      for (int64_t j = k + 1 + t.lane; j < n; j += 32) w[i * ld + j] -= factor * w[k * ld + j];
    }
  }
  __syncthreads();
  return sign;
}

template <class T, bool kShared> __global__ void lu(const T* a, T* packed, int64_t* rows, T* sign, int64_t n, int64_t stride, int64_t batch) {
  SINDRI_DYNAMIC_SHARED(T, tile);
  SINDRI_SHARED(Indexed<T>, partial, 32);
  const Team t = team();
  for (int64_t m = blockIdx.x; m < batch; m += gridDim.x) {
    const T* const from = a + m * n * n;
    T* const to = packed + m * n * n;
    __syncthreads();
    const auto factor = [&](auto w, int64_t ld) {
      for (int64_t e = t.thread; e < n * n; e += t.threads) w[e / n * ld + e % n] = from[e];
      return eliminate<T>(w, ld, n, rows + m * n, partial);
    };
    T s;
    if constexpr (kShared) {
      s = factor(tile, stride);
      for (int64_t e = t.thread; e < n * n; e += t.threads) to[e] = tile[e / n * stride + e % n];
    } else {
      s = factor(to, n);
    }
    if (t.thread == 0) sign[m] = s;
  }
}

template <class T> __global__ void fill_ones(T* to, int64_t n) {
  for (int64_t i = global_thread(); i < n; i += global_threads()) to[i] = T(1);
}

void run_lu(const Call& call) {
  const Stack s = stack_of(call.in[0].meta->shape);
  const int64_t n = s.rows;
  if (s.batch == 0) return;
  with_type(call.in[0].meta->dtype, [&]<class T>() {
    const int64_t stride = shared_stride(n);
    if (n == 0) launch(call, grid_for(s.batch), fill_ones<T>, call.output<T>(2), s.batch);  // the determinant of an empty matrix
    else if (fits_shared<T>(call, n, n))
      launch(call, grid_for_matrices(s.batch, n, n * stride * static_cast<int64_t>(sizeof(T))), lu<T, true>, call.input<T>(0), call.output<T>(0),
             call.output<int64_t>(1), call.output<T>(2), n, stride, s.batch);
    else
      launch(call, grid_for_matrices(s.batch, n), lu<T, false>, call.input<T>(0), call.output<T>(0), call.output<int64_t>(1), call.output<T>(2), n, n, s.batch);
  });
}

// Gauss-Jordan elimination in place with partial pivoting. Rows are exchanged during elimination and columns back at the end. factors, exchanged: memory for n
// elements. Returns -1, or the column without a pivot. Ends with a barrier.
template <class T, class M, class Partial> SINDRI_DEVICE int64_t invert(M&& w, int64_t ld, int64_t n, T* factors, int64_t* exchanged, Partial&& partial) {
  const Team t = team();
  for (int64_t c = 0; c < n; ++c) {
    const Indexed<T> best = pivot_of<T>(w, ld, n, c, partial);
    if (!(best.value > T(0))) return c;
    if (t.thread == 0) exchanged[c] = best.index;
    swap_rows<T>(w, ld, n, best.index, c);
    const T pivot = w[c * ld + c];
    for (int64_t i = t.thread; i < n; i += t.threads) factors[i] = w[i * ld + c];
    __syncthreads();
    for (int64_t j = t.thread; j < n; j += t.threads) {
      w[c * ld + j] = j == c ? 1 / pivot : w[c * ld + j] / pivot;
      if (j != c) w[j * ld + c] = T(0);
    }
    __syncthreads();
    for (int64_t i = t.warp; i < n; i += t.warps) {
      const T factor = factors[i];
      if (i == c) continue;
      for (int64_t j = t.lane; j < n; j += 32) w[i * ld + j] -= factor * w[c * ld + j];
    }
  }
  __syncthreads();
  for (int64_t i = t.thread; i < n; i += t.threads)
    for (int64_t c = n - 1; c >= 0; --c) {
      const int64_t k = exchanged[c];
      if (k == c) continue;
      const T x = w[i * ld + c];
      w[i * ld + c] = static_cast<T>(w[i * ld + k]);
      w[i * ld + k] = x;
    }
  __syncthreads();
  return -1;
}

/// work: n int64_t and n T per block.
template <class T, bool kShared> __global__ void inverse(const T* a, T* y, int64_t* work, int64_t n, int64_t stride, int64_t batch, ErrorSite site) {
  SINDRI_DYNAMIC_SHARED(T, tile);
  SINDRI_SHARED(Indexed<T>, partial, 32);
  const Team t = team();
  int64_t* const exchanged = work + blockIdx.x * 2 * n;
  T* const factors = reinterpret_cast<T*>(exchanged + n);
  for (int64_t m = blockIdx.x; m < batch; m += gridDim.x) {
    const T* const from = a + m * n * n;
    T* const to = y + m * n * n;
    __syncthreads();
    const auto run = [&](auto w, int64_t ld) {
      for (int64_t e = t.thread; e < n * n; e += t.threads) w[e / n * ld + e % n] = from[e];
      return invert<T>(w, ld, n, factors, exchanged, partial);
    };
    int64_t failed;
    if constexpr (kShared) failed = run(tile, stride);
    else failed = run(to, n);
    if (failed >= 0) {
      if (t.thread == 0) report(site, m, failed);
      fill_nan(to, n * n);
    } else if constexpr (kShared) {
      for (int64_t e = t.thread; e < n * n; e += t.threads) to[e] = tile[e / n * stride + e % n];
    }
  }
}

[[noreturn]] void say_singular(const ErrorFound& e) { throw_singular(meta_of(e), e.found[0], e.found[1]); }

int64_t inverse_workspace(const KernelQuery& q) {
  const Stack s = stack_of(q.in[0].shape);
  return blocks_for(s.batch) * s.rows * 16;
}

void run_inverse(const Call& call) {
  const Stack s = stack_of(call.in[0].meta->shape);
  const int64_t n = s.rows;
  if (n == 0 || s.batch == 0) return;
  with_type(call.in[0].meta->dtype, [&]<class T>() {
    const ErrorSite site = stack_site(call, say_singular);
    const int64_t stride = shared_stride(n);
    auto* const work = static_cast<int64_t*>(call.workspace);
    if (fits_shared<T>(call, n, n))
      launch(call, grid_for_matrices(s.batch, n, n * stride * static_cast<int64_t>(sizeof(T))), inverse<T, true>, call.input<T>(0), call.output<T>(0), work, n,
             stride, s.batch, site);
    else launch(call, grid_for_matrices(s.batch, n), inverse<T, false>, call.input<T>(0), call.output<T>(0), work, n, n, s.batch, site);
  });
}

const bool kCholesky = register_cuda_kernel({.op = "cholesky", .run = run_cholesky});
const bool kSolve = register_cuda_kernel({.op = "triangular_solve", .run = run_solve});
const bool kLu = register_cuda_kernel({.op = "lu", .run = run_lu});
const bool kInverse = register_cuda_kernel({.op = "inverse", .run = run_inverse, .workspace = inverse_workspace});

}  // namespace
}  // namespace sindri::factor_cuda
