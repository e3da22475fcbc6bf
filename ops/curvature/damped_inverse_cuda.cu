// damped_inverse on CUDA devices: M + damping·I = L·Lᵀ, X = L⁻¹, M⁻¹ = Xᵀ·X. Blocks that fit into shared memory (up to about 230 float32 rows on an H100) are
// inverted by one thread block each. Wider blocks are stored in the workspace and factored in panels of 64 columns. All thread blocks share the products of a
// panel; this takes about 3·d/64 launches. A flag in device memory records whether a block could be inverted. The last kernel reads it and otherwise returns
// `previous`.
#include "ops/curvature/blocks.h"
#include "ops/curvature/tiles_cuda.h"
#include "src/device/cuda/cholesky.h"

namespace sindri::damped_inverse_cuda {
namespace {

using namespace curvature;

template <class T> struct Job {
  const T *m, *damping, *previous, *mine;  // mine may be null
  T *y, *failed;
  unsigned* flag;
  T *w, *x;  // for wide blocks: A, which becomes L below the diagonal blocks, and L⁻¹; [total, b, b]
  int64_t d, b, count, total;

  // Width of block z without padding; 0 for a block of another rank.
  SINDRI_DEVICE int64_t width(int64_t z) const {
    if (mine != nullptr && mine[z] == T(0)) return 0;
    const int64_t left = d - z % count * b;
    return left < b ? left : b;
  }
};

// ----- blocks that fit into shared memory -----

template <class T> __global__ void invert(Job<T> p, int64_t ld) {
  SINDRI_DYNAMIC_SHARED(T, w);
  const int64_t thread = threadIdx.x, threads = blockDim.x, b = p.b;
  for (int64_t z = blockIdx.x; z < p.total; z += gridDim.x) {
    const int64_t n = p.width(z);
    const T* const m = p.m + z * b * b;
    T* const y = p.y + z * b * b;
    __syncthreads();
    for (int64_t e = thread; e < n * n; e += threads) {
      const int64_t i = e / n, j = e % n;
      if (j < i) w[i * ld + j] = T(0);
      if (j <= i) w[j * ld + i] = m[i * b + j] + (i == j ? *p.damping : T(0));
    }
    const bool positive = cholesky_upper<T>(w, ld, n, true) < 0;
    if (!positive) {
      if (thread == 0) (void)atomicExch(p.flag, 1u);
      continue;
    }
    invert_factor<T>(w, ld, n);
    for (int64_t e = thread; e < b * b; e += threads) {
      const int64_t i = e / b, j = e % b;
      if (i >= n || j >= n) y[e] = T(0);
      if (i >= n || j > i) continue;
      T sum = 0;
      for (int64_t k = i; k < n; ++k) sum += w[k * ld + i] * w[k * ld + j];
      y[i * b + j] = sum;
      y[j * b + i] = sum;
      if (i == j && !isfinite(sum)) (void)atomicExch(p.flag, 1u);
    }
  }
}

// ----- wide blocks -----

template <class T> __global__ void begin_wide(Job<T> p) {
  const int64_t size = p.b * p.b;
  for (int64_t e = global_thread(); e < p.total * size; e += global_threads()) {
    const int64_t z = e / size, i = e % size / p.b, j = e % p.b, n = p.width(z);
    p.w[e] = i < n && j <= i ? p.m[e] + (i == j ? *p.damping : T(0)) : T(0);
    p.x[e] = T(0);
  }
}

// Factors the diagonal block of `panel` columns and rows and writes the factor's inverse to x.
template <class T> __global__ void diagonal(Job<T> p, int64_t begin) {
  constexpr int64_t kStride = kTile + 1;
  SINDRI_SHARED(T, tile, kTile * kStride);
  const int64_t z = blockIdx.x, n = p.width(z), left = n - begin, size = left < kTile ? left : kTile;
  if (size <= 0) return;
  const int64_t at = (z * p.b + begin) * p.b + begin;
  for (int64_t e = threadIdx.x; e < size * size; e += blockDim.x) {
    const int64_t i = e / size, j = e % size;
    if (j < i) tile[i * kStride + j] = T(0);
    if (j <= i) tile[j * kStride + i] = p.w[at + i * p.b + j];
  }
  if (cholesky_upper<T>(tile, kStride, size, true) >= 0) {
    if (threadIdx.x == 0) (void)atomicExch(p.flag, 1u);
    return;
  }
  invert_factor<T>(tile, kStride, size);
  for (int64_t e = threadIdx.x; e < size * size; e += blockDim.x) {
    const int64_t i = e / size, j = e % size;
    if (j <= i) p.x[at + i * p.b + j] = tile[i * kStride + j];
  }
}

// Four neighbouring rows (or columns) of a [b, b] matrix from `row` on in one column (row); 0 beyond b.
template <class T> SINDRI_DEVICE Four<T> four_rows(const T* a, int64_t b, int64_t row, int64_t column) {
  Four<T> v{};
  for (int k = 0; k < 4; ++k)
    if (row + k < b && column < b) v.e[k] = a[(row + k) * b + column];
  return v;
}
template <class T> SINDRI_DEVICE Four<T> four_columns(const T* a, int64_t b, int64_t row, int64_t column) {
  Four<T> v{};
  for (int k = 0; k < 4; ++k)
    if (row < b && column + k < b) v.e[k] = a[row * b + column + k];
  return v;
}
// Calls f(row, column, value) for this thread's part of the tile at (row, column) that is inside [b, b].
template <class T, class F> SINDRI_DEVICE void each_of_tile(int64_t b, int64_t row, int64_t column, const T (&sum)[4][4], F&& f) {
  for (int i = 0; i < 4; ++i)
    for (int j = 0; j < 4; ++j) {
      const int64_t r = row + threadIdx.x / 16 * 4 + i, c = column + threadIdx.x % 16 * 4 + j;
      if (r < b && c < b) f(r, c, sum[i][j]);
    }
}

// Below the panel: L = A·(L_pp)⁻ᵀ in place, since a tile reads only itself and x.
template <class T> __global__ void __launch_bounds__(kTileThreads) below(Job<T> p, int64_t begin, int64_t tiles) {
  SINDRI_TILE_OPERAND(T, a);
  SINDRI_TILE_OPERAND(T, b);
  const int64_t z = blockIdx.x / tiles, row = begin + kTile + blockIdx.x % tiles * kTile;
  if (row >= p.width(z)) return;
  T* const w = p.w + z * p.b * p.b;
  const T* const x = p.x + z * p.b * p.b;
  T sum[4][4] = {};
  multiply_tile<Along::kSum, Along::kSum>(
      a, b, 0, kTile, [&](int64_t i, int64_t k) { return four_rows(w, p.b, row + i, begin + k); },
      [&](int64_t j, int64_t k) { return four_rows(x, p.b, begin + j, begin + k); }, sum);
  __syncthreads();  // all threads have read
  each_of_tile(p.b, row, begin, sum, [&](int64_t r, int64_t c, T v) {
    if (c < begin + kTile) w[r * p.b + c] = v;
  });
}

// The remaining part: A -= L·Lᵀ with the panel's columns of L, for tiles below and on the diagonal.
template <class T> __global__ void __launch_bounds__(kTileThreads) trailing(Job<T> p, int64_t begin, int64_t tiles) {
  SINDRI_TILE_OPERAND(T, a);
  SINDRI_TILE_OPERAND(T, b);
  const int64_t z = blockIdx.x / (tiles * tiles), tile = blockIdx.x % (tiles * tiles), row = begin + kTile + tile / tiles * kTile,
                column = begin + kTile + tile % tiles * kTile;
  if (column > row || row >= p.width(z)) return;
  T* const w = p.w + z * p.b * p.b;
  T sum[4][4] = {};
  multiply_tile<Along::kSum, Along::kSum>(
      a, b, 0, kTile, [&](int64_t i, int64_t k) { return four_rows(w, p.b, row + i, begin + k); },
      [&](int64_t j, int64_t k) { return four_rows(w, p.b, column + j, begin + k); }, sum);
  each_of_tile(p.b, row, column, sum, [&](int64_t r, int64_t c, T v) {
    if (c <= r) w[r * p.b + c] -= v;
  });
}

// Rows of X from `row` on, left of the diagonal: -X_ii·(L[i, ..i]·X[..i, ..i]), one tile of columns per block.
template <class T> __global__ void __launch_bounds__(kTileThreads) inverse_rows(Job<T> p, int64_t row, int64_t tiles) {
  SINDRI_TILE_OPERAND(T, a);
  SINDRI_TILE_OPERAND(T, b);
  const int64_t z = blockIdx.x / tiles, column = blockIdx.x % tiles * kTile;
  if (row >= p.width(z)) return;
  const T* const w = p.w + z * p.b * p.b;
  T* const x = p.x + z * p.b * p.b;
  T sum[4][4] = {};
  multiply_tile<Along::kSum, Along::kEdge>(
      a, b, column, row, [&](int64_t i, int64_t k) { return four_rows(w, p.b, row + i, k); },
      [&](int64_t j, int64_t k) { return four_columns(x, p.b, k, column + j); }, sum);
  each_of_tile(p.b, row, column, sum, [&](int64_t r, int64_t c, T v) { x[r * p.b + c] = v; });
  __syncthreads();
  T product[4][4] = {};
  multiply_tile<Along::kSum, Along::kEdge>(
      a, b, 0, kTile, [&](int64_t i, int64_t k) { return four_rows(x, p.b, row + i, row + k); },
      [&](int64_t j, int64_t k) { return four_columns(x, p.b, row + k, column + j); }, product);
  __syncthreads();
  each_of_tile(p.b, row, column, product, [&](int64_t r, int64_t c, T v) { x[r * p.b + c] = -v; });
}

// Xᵀ·X: computes tiles below and on the diagonal and mirrors them.
template <class T> __global__ void __launch_bounds__(kTileThreads) squares(Job<T> p, int64_t tiles) {
  SINDRI_TILE_OPERAND(T, a);
  SINDRI_TILE_OPERAND(T, b);
  const int64_t z = blockIdx.x / (tiles * tiles), tile = blockIdx.x % (tiles * tiles), row = tile / tiles * kTile, column = tile % tiles * kTile;
  if (column > row) return;
  const T* const x = p.x + z * p.b * p.b;
  T* const y = p.y + z * p.b * p.b;
  T sum[4][4] = {};
  multiply_tile<Along::kEdge, Along::kEdge>(
      a, b, row, p.width(z), [&](int64_t i, int64_t k) { return four_columns(x, p.b, k, row + i); },
      [&](int64_t j, int64_t k) { return four_columns(x, p.b, k, column + j); }, sum);
  each_of_tile(p.b, row, column, sum, [&](int64_t r, int64_t c, T v) {
    if (c > r) return;
    y[r * p.b + c] = v;
    y[c * p.b + r] = v;
    if (r == c && !isfinite(v)) (void)atomicExch(p.flag, 1u);
  });
}

// ----- both -----

template <class T> __global__ void finish(Job<T> p) {
  const bool failed = *p.flag != 0;
  if (global_thread() == 0) *p.failed = failed ? T(1) : T(0);
  for (int64_t e = global_thread(); failed && e < p.total * p.b * p.b; e += global_threads()) p.y[e] = p.previous[e];
}

constexpr int64_t kFlagBytes = 256;

int64_t workspace(const KernelQuery& q) { return kFlagBytes + 2 * q.in[0].numel() * (q.in[0].dtype == DType::kFloat64 ? 8 : 4); }

template <class T> void launch_wide(const Call& call, const Job<T>& p) {
  const auto grid = [&](int64_t blocks) { return Grid{dim3(static_cast<unsigned>(p.total * blocks)), dim3(kTileThreads), 0}; };
  launch(call, grid_for(p.total * p.b * p.b), begin_wide<T>, p);
  for (int64_t begin = 0; begin < p.b; begin += kTile) {
    launch(call, grid(1), diagonal<T>, p, begin);
    const int64_t tiles = ceil_div(p.b - begin, kTile) - 1;
    if (tiles == 0) break;
    launch(call, grid(tiles), below<T>, p, begin, tiles);
    launch(call, grid(tiles * tiles), trailing<T>, p, begin, tiles);
  }
  const int64_t tiles = ceil_div(p.b, kTile);
  for (int64_t i = 1; i < tiles; ++i) launch(call, grid(i), inverse_rows<T>, p, i * kTile, i);
  launch(call, grid(tiles * tiles), squares<T>, p, tiles);
}

template <class T> void run_as(const Call& call) {
  const Shape& s = call.in[0].meta->shape;
  const int64_t size = s[0] * s[2] * s[2];
  const Blocks blocks = Blocks::of(call.query.attrs.as<DampedInverseAttrs>().d, s[2]);
  auto* const work = static_cast<char*>(call.workspace);
  Job<T> p{.m = call.input<T>(0),
           .damping = call.input<T>(1),
           .previous = call.input<T>(2),
           .mine = call.in.size() > 3 ? call.input<T>(3) : nullptr,
           .y = call.output<T>(0),
           .failed = call.output<T>(1),
           .flag = reinterpret_cast<unsigned*>(work),
           .w = reinterpret_cast<T*>(work + kFlagBytes),
           .x = reinterpret_cast<T*>(work + kFlagBytes) + size,
           .d = blocks.d,
           .b = s[2],
           .count = blocks.count(),
           .total = s[0]};
  fill_bytes(call, p.flag, 0, kFlagBytes);
  if (size > 0) {
    const int64_t ld = p.b | 1, bytes = p.b * ld * static_cast<int64_t>(sizeof(T));
    int most = 0;
    check(cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, call.stream.device().index), call.query.op.name, call.stream.device());
    if (bytes > most - 2048) launch_wide(call, p);
    else
      launch(call,
             {dim3(static_cast<unsigned>(std::min<int64_t>(p.total, 132 * 8))),
              dim3(p.b <= 8        ? 32
                       : p.b <= 32 ? 128
                                   : 256),
              static_cast<size_t>(bytes)},
             invert<T>, p, ld);
  }
  launch(call, grid_for(std::max<int64_t>(size, 1)), finish<T>, p);
}

void run(const Call& call) {
  with_type(call.in[0].meta->dtype, [&]<class T>() { run_as<T>(call); });
}

const bool kInverse = register_cuda_kernel({.op = "damped_inverse", .run = run, .workspace = workspace});

}  // namespace
}  // namespace sindri::damped_inverse_cuda
