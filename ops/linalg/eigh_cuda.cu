// eigh on CUDA devices, in double for both types: cyclic Jacobi by one thread block per matrix (src/device/cuda/jacobi.h), in shared memory up to about 170
// rows on an H100.
#include "ops/linalg/batch_cuda.h"
#include "src/device/cuda/jacobi.h"

namespace sindri::eigh_cuda {
namespace {

using namespace linalg;

/// work: doubles per block: n·n of eigenvectors, n + 1 of rotations, and n·n of the matrix if it is not in shared memory.
template <class T, bool kShared> __global__ void eigh(const T* a, T* values, T* vectors, double* work, int64_t work_size, int64_t n, int64_t stride,
                                                      int64_t batch, ErrorSite site, ErrorSite not_converged) {
  SINDRI_DYNAMIC_SHARED(double, tile);
  SINDRI_SHARED(double, partial, 32);
  SINDRI_SHARED(int64_t, partial_index, 32);
  double* const v = work + blockIdx.x * work_size;
  double* const rotations = v + n * n;
  const int64_t thread = threadIdx.x, threads = blockDim.x;
  for (int64_t m = blockIdx.x; m < batch; m += gridDim.x) {
    const T* const from = a + m * n * n;
    __syncthreads();
    if (!check_finite(from, n * n, m * n * n, site, partial_index)) {
      fill_nan(values + m * n, n);
      fill_nan(vectors + m * n * n, n * n);
      continue;
    }
    const auto run = [&](auto w, int64_t ld) {
      for (int64_t e = thread; e < n * n; e += threads) {
        const int64_t i = e / n, j = e % n;
        if (j > i) continue;  // only the lower triangle is read
        w[i * ld + j] = static_cast<double>(from[e]);
        if (i != j) w[j * ld + i] = static_cast<double>(from[e]);
      }
      __syncthreads();
      const bool done = jacobi_eigen(w, ld, v, n, rotations, partial);
      if (!done && thread == 0) report(not_converged, m, 0);
      for (int64_t i = thread / 32; i < n; i += threads / 32) {
        const auto value = [&](int64_t k) -> double { return w[k * ld + k]; };
        const int64_t place = place_in_order<true>(value, i, n);
        const double sign = positive_largest(v + i * n, n);
        if (thread % 32 == 0) values[m * n + place] = static_cast<T>(value(i));
        for (int64_t r = thread % 32; r < n; r += 32) vectors[(m * n + r) * n + place] = static_cast<T>(sign * v[i * n + r]);
      }
    };
    if constexpr (kShared) run(tile, stride);
    else run(rotations + n + 1, n);
  }
}

[[noreturn]] void say_not_converged(const ErrorFound& e) { throw_not_converged(meta_of(e), e.found[0]); }

int64_t work_size(int64_t n) { return n * n + n + 1 + (n < 64 ? 0 : n * n); }  // smaller ones fit into any device's shared memory
int64_t workspace(const KernelQuery& q) {
  const Stack s = stack_of(q.in[0].shape);
  return blocks_for(s.batch) * work_size(s.rows) * 8;
}

void run(const Call& call) {
  const Stack s = stack_of(call.in[0].meta->shape);
  const int64_t n = s.rows;
  if (n == 0 || s.batch == 0) return;
  with_type(call.in[0].meta->dtype, [&]<class T>() {
    const ErrorSite site = stack_site(call, throw_not_finite), not_converged = stack_site(call, say_not_converged);
    auto* const work = static_cast<double*>(call.workspace);
    const int64_t stride = shared_stride(n);
    if (fits_shared<double>(call, n, n))
      launch(call, grid_for_matrices(s.batch, n, n * stride * 8), eigh<T, true>, call.input<T>(0), call.output<T>(0), call.output<T>(1), work, work_size(n), n,
             stride, s.batch, site, not_converged);
    else
      launch(call, grid_for_matrices(s.batch, n), eigh<T, false>, call.input<T>(0), call.output<T>(0), call.output<T>(1), work, work_size(n), n, n, s.batch,
             site, not_converged);
  });
}

const bool kEigh = register_cuda_kernel({.op = "eigh", .run = run, .workspace = workspace});

}  // namespace
}  // namespace sindri::eigh_cuda
