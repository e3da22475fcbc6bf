// block_eigen on CUDA devices: Jacobi rotations in double, one thread block per matrix (src/device/cuda/jacobi.h), in shared memory up to about 170 rows on an
// H100. A flag in device memory records whether all matrices were finite and converged. The last kernel reads it and otherwise returns the previous `vectors`
// and `values`.
#include "ops/curvature/blocks.h"
#include "ops/curvature/tiles_cuda.h"
#include "src/device/cuda/jacobi.h"

namespace sindri::block_eigen_cuda {
namespace {

using namespace curvature;

template <class T> struct Job {
  const T *m, *old_vectors, *old_values, *mine;  // mine may be null
  T *vectors, *values, *failed;
  unsigned* flag;
  double* work;
  int64_t d, b, count, total, work_size;
};

/// work of a block: n·n eigenvectors, n + 1 rotations, and the matrix if it is not in shared memory.
template <class T, bool kShared> __global__ void decompose(Job<T> p, int64_t stride) {
  SINDRI_DYNAMIC_SHARED(double, tile);
  SINDRI_SHARED(double, partial, 32);
  double* const v = p.work + blockIdx.x * p.work_size;
  double* const rotations = v + p.b * p.b;
  const int64_t thread = threadIdx.x, threads = blockDim.x, b = p.b;
  for (int64_t z = blockIdx.x; z < p.total; z += gridDim.x) {
    const int64_t left = p.d - z % p.count * b, n = p.mine != nullptr && p.mine[z] == T(0) ? 0 : left < b ? left : b;
    const T* const from = p.m + z * b * b;
    T *const vectors = p.vectors + z * b * b, *const values = p.values + z * b;
    for (int64_t e = thread; e < b * b; e += threads)
      if (e / b >= n || e % b >= n) vectors[e] = T(0);
    for (int64_t e = n + thread; e < b; e += threads) values[e] = T(0);
    if (n == 0) continue;
    const auto run = [&](auto w, int64_t ld) {
      double bad = 0;
      __syncthreads();
      for (int64_t e = thread; e < n * n; e += threads) {
        const int64_t i = e / n, j = e % n;
        w[i * ld + j] = static_cast<double>(from[i * b + j]);
        if (!isfinite(from[i * b + j])) bad = 1;
      }
      const bool finite = block_reduce(bad, partial, Larger()) == 0;
      __syncthreads();
      if (!finite || !jacobi_eigen(w, ld, v, n, rotations, partial)) {
        if (thread == 0) (void)atomicExch(p.flag, 1u);
        return;
      }
      for (int64_t i = thread / 32; i < n; i += threads / 32) {
        const auto value = [&](int64_t k) -> double { return w[k * ld + k]; };
        const int64_t place = place_in_order<true>(value, i, n);
        const double sign = positive_largest(v + i * n, n), own = value(i);
        if (thread % 32 == 0) values[place] = static_cast<T>(own > 0 ? own : 0.0);
        for (int64_t r = thread % 32; r < n; r += 32) vectors[r * b + place] = static_cast<T>(sign * v[i * n + r]);
      }
    };
    if constexpr (kShared) run(tile, stride);
    else run(rotations + b + 1, n);
  }
}

template <class T> __global__ void finish(Job<T> p) {
  const bool failed = *p.flag != 0;
  if (global_thread() == 0) *p.failed = failed ? T(1) : T(0);
  for (int64_t e = global_thread(); failed && e < p.total * p.b * p.b; e += global_threads()) {
    p.vectors[e] = p.old_vectors[e];
    if (e < p.total * p.b) p.values[e] = p.old_values[e];
  }
}

constexpr int64_t kFlagBytes = 256;
int64_t blocks_of(int64_t total) { return std::min<int64_t>(total, 132 * 2); }
int64_t work_size(int64_t b) { return b * b + b + 1 + (b < 64 ? 0 : b * b); }  // smaller ones fit into any device's shared memory
int64_t workspace(const KernelQuery& q) { return kFlagBytes + blocks_of(q.in[0].shape[0]) * work_size(q.in[0].shape[2]) * 8; }

template <class T> void run_as(const Call& call) {
  const Shape& s = call.in[0].meta->shape;
  const Blocks blocks = Blocks::of(call.query.attrs.as<BlockEigenAttrs>().d, s[2]);
  auto* const work = static_cast<char*>(call.workspace);
  const Job<T> p{.m = call.input<T>(0),
                 .old_vectors = call.input<T>(1),
                 .old_values = call.input<T>(2),
                 .mine = call.in.size() > 3 ? call.input<T>(3) : nullptr,
                 .vectors = call.output<T>(0),
                 .values = call.output<T>(1),
                 .failed = call.output<T>(2),
                 .flag = reinterpret_cast<unsigned*>(work),
                 .work = reinterpret_cast<double*>(work + kFlagBytes),
                 .d = blocks.d,
                 .b = s[2],
                 .count = blocks.count(),
                 .total = s[0],
                 .work_size = work_size(s[2])};
  fill_bytes(call, p.flag, 0, kFlagBytes);
  if (p.total * p.b > 0) {
    const int64_t stride = p.b | 1, bytes = p.b * stride * 8;
    int most = 0;
    check(cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, call.stream.device().index), call.query.op.name, call.stream.device());
    const dim3 grid(static_cast<unsigned>(blocks_of(p.total))), threads(p.b <= 8 ? 32 : p.b <= 32 ? 128 : p.b <= 200 ? 256 : 1024);
    if (bytes <= most - 2048) launch(call, {grid, threads, static_cast<size_t>(bytes)}, decompose<T, true>, p, stride);
    else launch(call, {grid, threads, 0}, decompose<T, false>, p, stride);
  }
  launch(call, grid_for(std::max<int64_t>(p.total * p.b * p.b, 1)), finish<T>, p);
}

void run(const Call& call) {
  with_type(call.in[0].meta->dtype, [&]<class T>() { run_as<T>(call); });
}

const bool kEigen = register_cuda_kernel({.op = "block_eigen", .run = run, .workspace = workspace});

}  // namespace
}  // namespace sindri::block_eigen_cuda
