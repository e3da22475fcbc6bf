// qr on CUDA devices by Householder reflections, in double for both types: one thread block per matrix. The matrix is stored by columns in the workspace, and a
// warp reflects one column at a time.
#include "ops/linalg/batch_cuda.h"

namespace sindri::qr_cuda {
namespace {

using namespace linalg;

struct Sizes {
  int64_t m, n, k, least, batch, work;
};

// Column x (whose first relevant row is j) minus tau·(v·x)·v with v = [1, reflector[j + 1] …]. Run by one warp.
SINDRI_DEVICE void reflect(double* x, const double* reflector, double tau, int64_t j, int64_t m) {
  const int64_t lane = threadIdx.x % 32;
  double dot = lane == 0 ? x[j] : 0;
  for (int64_t i = j + 1 + lane; i < m; i += 32) dot += reflector[i] * x[i];
  dot = tau * warp_sum(dot);
  if (lane == 0) x[j] -= dot;
  for (int64_t i = j + 1 + lane; i < m; i += 32) x[i] -= dot * reflector[i];
  __syncwarp();  // the next reflection may start at another lane
}

/// work of a block: the matrix by columns [n][m], which becomes r above the diagonal and the reflectors below it, their factors [least], q by columns [k][m].
template <class T> __global__ void qr(const T* a, T* q_out, T* r_out, double* work, Sizes z) {
  SINDRI_SHARED(double, partial, 32);
  const int64_t thread = threadIdx.x, threads = blockDim.x, lane = thread % 32, warp = thread / 32, warps = threads / 32, m = z.m, n = z.n;
  double *const w = work + blockIdx.x * z.work, *const taus = w + m * n, *const q = taus + z.least;
  for (int64_t matrix = blockIdx.x; matrix < z.batch; matrix += gridDim.x) {
    __syncthreads();
    for (int64_t e = thread; e < m * n; e += threads) w[e % n * m + e / n] = static_cast<double>(a[matrix * m * n + e]);
    for (int64_t j = 0; j < z.least; ++j) {
      __syncthreads();
      double* const x = w + j * m;
      double squares = 0;
      for (int64_t i = j + 1 + thread; i < m; i += threads) squares += x[i] * x[i];
      squares = block_sum(squares, partial);
      const double head = x[j];
      // A column that is 0 below its first element needs no reflection.
      const double norm = sqrt(head * head + squares), diagonal = squares == 0 ? head : head >= 0 ? -norm : norm;
      const double tau = squares == 0 ? 0 : (diagonal - head) / diagonal;
      __syncthreads();
      for (int64_t i = j + 1 + thread; i < m && squares != 0; i += threads) x[i] /= head - diagonal;
      if (thread == 0) x[j] = diagonal, taus[j] = tau;
      __syncthreads();
      for (int64_t c = j + 1 + warp; c < n && tau != 0; c += warps) reflect(w + c * m, x, tau, j, m);
    }
    __syncthreads();
    for (int64_t c = warp; c < z.k; c += warps) {  // column c of Q: the reflections applied to the unit vector, last one first; later ones do not affect it
      double* const x = q + c * m;
      for (int64_t i = lane; i < m; i += 32) x[i] = i == c ? 1 : 0;
      __syncwarp();
      for (int64_t j = c < z.least ? c : z.least - 1; j >= 0; --j) reflect(x, w + j * m, taus[j], j, m);
      for (int64_t i = lane; i < m; i += 32) q_out[(matrix * m + i) * z.k + c] = static_cast<T>(x[i]);
    }
    for (int64_t e = thread; e < z.k * n; e += threads) r_out[matrix * z.k * n + e] = static_cast<T>(e / n <= e % n ? w[e % n * m + e / n] : 0.0);
  }
}

Sizes sizes_of(const KernelQuery& q) {
  const Stack s = stack_of(q.in[0].shape);
  Sizes z{s.rows, s.columns, 0, std::min(s.rows, s.columns), s.batch, 0};
  z.k = q.attrs.as<QrAttrs>().complete ? z.m : z.least;
  z.work = z.m * z.n + z.least + z.m * z.k;
  return z;
}
int64_t workspace(const KernelQuery& q) {
  const Sizes z = sizes_of(q);
  return blocks_for(z.batch) * z.work * 8;
}

void run(const Call& call) {
  const Sizes z = sizes_of(call.query);
  if (z.batch == 0 || z.m == 0 || z.k == 0) return;
  with_type(call.in[0].meta->dtype, [&]<class T>() {
    launch(call, grid_for_matrices(z.batch, std::max(z.m, z.n)), qr<T>, call.input<T>(0), call.output<T>(0), call.output<T>(1),
           static_cast<double*>(call.workspace), z);
  });
}

const bool kQr = register_cuda_kernel({.op = "qr", .run = run, .workspace = workspace});

}  // namespace
}  // namespace sindri::qr_cuda
