// block_precondition on CUDA devices: all blocks of a layer in two launches of 64 x 64 tiles. The first multiplies the gradient by A⁻¹ into the
// workspace, the second multiplies that by G⁻¹.
#include "ops/curvature/blocks.h"
#include "ops/curvature/tiles_cuda.h"

namespace sindri::block_precondition_cuda {
namespace {

using namespace curvature;

struct Sizes {
  int64_t groups, rows, columns;  // number of groups; rows of a group; columns of the gradient
  int64_t a_block, a_count, a_tiles;  // A's blocks: width, number, and tiles across one block
  int64_t g_block, g_count, g_tiles;
  int64_t row_tiles, column_tiles;  // tiles of a group's gradient
};

// Calls f(row, column, value) for this thread's part of a tile.
template <class T, class F> SINDRI_DEVICE void each_of_tile(const T (&sum)[4][4], F&& f) {
  for (int i = 0; i < 4; ++i)
    for (int j = 0; j < 4; ++j) f(static_cast<int64_t>(threadIdx.x / 16 * 4 + i), static_cast<int64_t>(threadIdx.x % 16 * 4 + j), sum[i][j]);
}

/// half[r, c] = scale·Σ grad[r, k]·a_inv[k, c] within the blocks of A.
template <class T> __global__ void __launch_bounds__(kTileThreads) times_a(Sizes s, const T* grad, const T* a_inv, T* half, T scale) {
  SINDRI_TILE_OPERAND(T, a);
  SINDRI_TILE_OPERAND(T, b);
  int64_t at = blockIdx.x;
  const int64_t tile = at % s.a_tiles;
  at /= s.a_tiles;
  const int64_t block = at % s.a_count;
  at /= s.a_count;
  const int64_t row = at % s.row_tiles * kTile, group = at / s.row_tiles, begin = block * s.a_block, column = tile * kTile;
  const int64_t left = s.columns - begin, width = left < s.a_block ? left : s.a_block;
  const T* const g = grad + group * s.rows * s.columns;
  const T* const inverse = a_inv + (group * s.a_count + block) * s.a_block * s.a_block;
  T* const to = half + group * s.rows * s.columns;
  T sum[4][4] = {};
  multiply_tile<Along::kSum, Along::kEdge>(
      a, b, 0, width,
      [&](int64_t i, int64_t k) {
        Four<T> v{};
        for (int e = 0; e < 4; ++e)
          if (row + i + e < s.rows) v.e[e] = g[(row + i + e) * s.columns + begin + k];
        return v;
      },
      [&](int64_t j, int64_t k) {
        Four<T> v{};
        for (int e = 0; e < 4; ++e)
          if (column + j + e < width) v.e[e] = inverse[k * s.a_block + column + j + e];
        return v;
      },
      sum);
  each_of_tile(sum, [&](int64_t i, int64_t j, T v) {
    if (row + i < s.rows && column + j < width) to[(row + i) * s.columns + begin + column + j] = v * scale;
  });
}

/// u[r, c] = Σ g_inv[r, k]·half[k, c] within the blocks of G.
template <class T> __global__ void __launch_bounds__(kTileThreads) g_times(Sizes s, const T* g_inv, const T* half, T* u) {
  SINDRI_TILE_OPERAND(T, a);
  SINDRI_TILE_OPERAND(T, b);
  int64_t at = blockIdx.x;
  const int64_t column = at % s.column_tiles * kTile;
  at /= s.column_tiles;
  const int64_t row = at % s.g_tiles * kTile, factor = at / s.g_tiles, group = factor / s.g_count, begin = factor % s.g_count * s.g_block;
  const int64_t left = s.rows - begin, width = left < s.g_block ? left : s.g_block;
  const T* const inverse = g_inv + factor * s.g_block * s.g_block;
  const int64_t first = (group * s.rows + begin) * s.columns;
  T sum[4][4] = {};
  multiply_tile<Along::kSum, Along::kEdge>(
      a, b, 0, width,
      [&](int64_t i, int64_t k) {
        Four<T> v{};
        for (int e = 0; e < 4; ++e)
          if (row + i + e < width) v.e[e] = inverse[(row + i + e) * s.g_block + k];
        return v;
      },
      [&](int64_t j, int64_t k) {
        Four<T> v{};
        for (int e = 0; e < 4; ++e)
          if (column + j + e < s.columns) v.e[e] = half[first + k * s.columns + column + j + e];
        return v;
      },
      sum);
  each_of_tile(sum, [&](int64_t i, int64_t j, T v) {
    if (row + i < width && column + j < s.columns) u[first + (row + i) * s.columns + column + j] = v;
  });
}

int64_t workspace(const KernelQuery& q) { return q.in.size() == 3 ? q.in[0].numel() * (q.in[0].dtype == DType::kFloat64 ? 8 : 4) : 0; }

void run(const Call& call) {
  if (call.out[0].meta->numel() == 0) return;
  const auto& attrs = call.query.attrs.as<BlockPreconditionAttrs>();
  const bool has_g = call.in.size() == 3;
  const Shape& grad = call.in[0].meta->shape;
  const int64_t rows = grad[0] / attrs.groups;
  const Blocks a = Blocks::of(grad[1], call.in[1].meta->shape[2]), g = Blocks::of(rows, has_g ? call.in[2].meta->shape[2] : 0);
  const Sizes s{
      attrs.groups, rows, grad[1], a.b, a.count(), ceil_div(a.b, kTile), g.b, g.count(), ceil_div(g.b, kTile), ceil_div(rows, kTile), ceil_div(grad[1], kTile)};
  const auto grid = [](int64_t blocks) { return Grid{dim3(static_cast<unsigned>(blocks)), dim3(kTileThreads), 0}; };
  with_type(call.in[0].meta->dtype, [&]<class T>() {
    T* const half = has_g ? static_cast<T*>(call.workspace) : call.output<T>(0);
    launch(call, grid(s.groups * s.row_tiles * s.a_count * s.a_tiles), times_a<T>, s, call.input<T>(0), call.input<T>(1), half, static_cast<T>(attrs.scale));
    if (has_g) launch(call, grid(s.groups * s.g_count * s.g_tiles * s.column_tiles), g_times<T>, s, call.input<T>(2), half, call.output<T>(0));
  });
}

const bool kPrecondition = register_cuda_kernel({.op = "block_precondition", .run = run, .workspace = workspace});

}  // namespace
}  // namespace sindri::block_precondition_cuda
