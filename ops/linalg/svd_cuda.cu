// svd on CUDA devices, in double for both types: one-sided Jacobi (Hestenes 1958) by one thread block per matrix. A round rotates disjoint pairs of columns,
// one warp per pair. Columns are contiguous in the workspace, so that lanes read neighbours.
#include "ops/linalg/batch_cuda.h"
#include "src/device/cuda/jacobi.h"

namespace sindri::svd_cuda {
namespace {

using namespace linalg;

struct Sizes {
  int64_t rows, columns, batch;  // of a
  int64_t m, n;  // of the matrix whose columns are rotated: a, or its transpose if that is taller
  int64_t work;  // doubles per block
};

// Rotates the columns of x [m, n] (column i at x + i·m) until all are orthogonal, and with them those of v, initially the identity.
template <class Partial> SINDRI_DEVICE void rotate_columns(double* x, double* v, int64_t m, int64_t n, Partial&& partial) {
  const int64_t half = (n + 1) / 2, players = 2 * half, lane = threadIdx.x % 32, warp = threadIdx.x / 32, warps = blockDim.x / 32;
  for (int sweep = 0; sweep < 60; ++sweep) {
    double rotated = 0;
    for (int64_t round = 0; round < players - 1; ++round) {
      __syncthreads();
      for (int64_t k = warp; k < half; k += warps) {
        const IndexPair pair = tournament_pair(players, round, k);
        if (pair.q >= n) continue;
        double *const p = x + pair.p * m, *const q = x + pair.q * m;
        double pp = 0, qq = 0, pq = 0;
        for (int64_t i = lane; i < m; i += 32) pp += p[i] * p[i], qq += q[i] * q[i], pq += p[i] * q[i];
        pp = warp_sum(pp), qq = warp_sum(qq), pq = warp_sum(pq);
        if (abs(pq) <= 1e-15 * sqrt(pp) * sqrt(qq)) continue;
        rotated = 1;
        const double t = jacobi_tangent((qq - pp) / (2 * pq));
        Rotation r;
        r.c = 1 / sqrt(1 + t * t);
        r.s = r.c * t;
        for (int64_t i = lane; i < m; i += 32) r.turn(p + i, q + i);
        for (int64_t i = lane; i < n; i += 32) r.turn(v + pair.p * n + i, v + pair.q * n + i);
      }
    }
    if (block_reduce(rotated, partial, Larger()) == 0) break;
  }
  __syncthreads();
}

// Sets column c of u to a unit vector orthogonal to columns 0 … c - 1, which are orthonormal and have m elements each. It starts from the first coordinate
// vector with a sufficient remainder. Serial in c; only used for rank-deficient matrices.
template <class Partial> SINDRI_DEVICE void complete_column(double* u, int64_t m, int64_t c, Partial&& partial) {
  double* const x = u + c * m;
  for (int64_t e = 0; e < m; ++e) {
    __syncthreads();
    for (int64_t i = threadIdx.x; i < m; i += blockDim.x) x[i] = i == e ? 1 : 0;
    for (int pass = 0; pass < 2; ++pass)
      for (int64_t k = 0; k < c; ++k) {
        double dot = 0;  // each thread reads and writes only its own elements
        for (int64_t i = threadIdx.x; i < m; i += blockDim.x) dot += u[k * m + i] * x[i];
        dot = block_sum(dot, partial);
        for (int64_t i = threadIdx.x; i < m; i += blockDim.x) x[i] -= dot * u[k * m + i];
      }
    double squares = 0;
    for (int64_t i = threadIdx.x; i < m; i += blockDim.x) squares += x[i] * x[i];
    const double norm = sqrt(block_sum(squares, partial));
    if (norm < 0.5 / sqrt(static_cast<double>(m))) continue;
    for (int64_t i = threadIdx.x; i < m; i += blockDim.x) x[i] /= norm;
    break;
  }
  __syncthreads();
}

/// work of a block: x [m, n] and v [n, n] by columns, u [m, n] by columns in the order of the singular values, n norms, n positions.
template <class T> __global__ void svd(const T* a, T* u_out, T* s_out, T* v_out, double* work, Sizes z, ErrorSite site) {
  SINDRI_SHARED(double, partial, 32);
  SINDRI_SHARED(int64_t, partial_index, 32);
  const int64_t thread = threadIdx.x, threads = blockDim.x, lane = thread % 32, warp = thread / 32, warps = threads / 32, m = z.m, n = z.n;
  const bool swapped = z.rows < z.columns;
  double *const x = work + blockIdx.x * z.work, *const v = x + m * n, *const u = v + n * n, *const norms = u + m * n, *const places = norms + n;
  for (int64_t matrix = blockIdx.x; matrix < z.batch; matrix += gridDim.x) {
    const int64_t size = z.rows * z.columns;
    const T* const from = a + matrix * size;
    T *const to_u = u_out + matrix * z.rows * n, *const to_s = s_out + matrix * n, *const to_v = v_out + matrix * z.columns * n;
    __syncthreads();
    if (!check_finite(from, size, matrix * size, site, partial_index)) {
      fill_nan(to_u, z.rows * n);
      fill_nan(to_s, n);
      fill_nan(to_v, z.columns * n);
      continue;
    }
    for (int64_t e = thread; e < size; e += threads) {
      const int64_t i = e / z.columns, j = e % z.columns;
      x[swapped ? i * m + j : j * m + i] = static_cast<double>(from[e]);
    }
    for (int64_t e = thread; e < n * n; e += threads) v[e] = e / n == e % n ? 1 : 0;
    rotate_columns(x, v, m, n, partial);
    for (int64_t c = warp; c < n; c += warps) {
      double squares = 0;
      for (int64_t i = lane; i < m; i += 32) squares += x[c * m + i] * x[c * m + i];
      squares = warp_sum(squares);
      if (lane == 0) norms[c] = sqrt(squares);
    }
    __syncthreads();
    double largest = 0;
    for (int64_t c = thread; c < n; c += threads) {
      places[c] = static_cast<double>(place_in_order<false>([&](int64_t k) { return norms[k]; }, c, n));
      largest = max(largest, norms[c]);
    }
    const double least = 1e-15 * block_reduce(largest, partial, Larger());
    __syncthreads();
    double missing = 0;
    for (int64_t c = warp; c < n; c += warps) {
      const auto place = static_cast<int64_t>(places[c]);
      if (norms[c] > least)
        for (int64_t i = lane; i < m; i += 32) u[place * m + i] = x[c * m + i] / norms[c];
      else missing += 1;  // per lane
    }
    const int64_t rank = n - static_cast<int64_t>(block_sum(missing, partial) / 32);  // columns of norm 0 come last
    __syncthreads();
    for (int64_t c = rank; c < n; ++c) complete_column(u, m, c, partial);
    for (int64_t c = warp; c < n; c += warps) {
      const auto place = static_cast<int64_t>(places[c]);
      const double *const left = swapped ? v + c * n : u + place * m, *const right = swapped ? u + place * m : v + c * n;
      const double sign = positive_largest(left, z.rows);
      if (lane == 0) to_s[place] = static_cast<T>(norms[c]);
      for (int64_t i = lane; i < z.rows; i += 32) to_u[i * n + place] = static_cast<T>(sign * left[i]);
      for (int64_t i = lane; i < z.columns; i += 32) to_v[i * n + place] = static_cast<T>(sign * right[i]);
    }
  }
}

Sizes sizes_of(const TensorMeta& a) {
  const Stack s = stack_of(a.shape);
  Sizes z{s.rows, s.columns, s.batch, std::max(s.rows, s.columns), std::min(s.rows, s.columns), 0};
  z.work = 2 * z.m * z.n + z.n * z.n + 2 * z.n;
  return z;
}
int64_t workspace(const KernelQuery& q) {
  const Sizes z = sizes_of(q.in[0]);
  return blocks_for(z.batch) * z.work * 8;
}

void run(const Call& call) {
  const Sizes z = sizes_of(*call.in[0].meta);
  if (z.n == 0 || z.batch == 0) return;
  with_type(call.in[0].meta->dtype, [&]<class T>() {
    launch(call, grid_for_matrices(z.batch, z.m), svd<T>, call.input<T>(0), call.output<T>(0), call.output<T>(1), call.output<T>(2),
           static_cast<double*>(call.workspace), z, stack_site(call, throw_not_finite));
  });
}

const bool kSvd = register_cuda_kernel({.op = "svd", .run = run, .workspace = workspace});

}  // namespace
}  // namespace sindri::svd_cuda
