// Matrix products in tiles of 64 x 64 by blocks of 256 threads, for the CUDA kernels of this folder. Operands come from functions, so that they may be
// gathered, transposed or padded on the way. Sums are in the element type with fused multiply-adds, in the order of the depth.
#pragma once

#include "src/device/cuda/launch.h"

namespace sindri::curvature {

using namespace cuda;

inline constexpr int64_t kTile = 64, kDepth = 16, kTileThreads = 256;

template <class T> struct alignas(16) Four { T e[4]; };

/// The index along which neighbouring lanes load an operand: that of the tile's edge (rows of the left, columns of the right operand), or that of the sum
/// (depth).
enum class Along { kEdge, kSum };

/// Shared memory of one operand: [kDepth][kTile], with padding between rows of depth against bank conflicts.
#define SINDRI_TILE_OPERAND(T, name) SINDRI_SHARED(Four<T>, name, kDepth*(kTile / 4 + 1))

/// The product of rows 4·(thread / 16) … + 3 of a tile with its columns 4·(thread % 16) … + 3 over the depth [begin, end). left(i, k) returns elements i … i +
/// 3 of the tile at depth k, for i a multiple of 4; right likewise. Synchronises at the start and the end, so that a and b may be used again.
template <Along kLeft, Along kRight, class T, class A, class B, class Left, class Right>
SINDRI_DEVICE void multiply_tile(A&& a, B&& b, int64_t begin, int64_t end, Left&& left, Right&& right, T (&sum)[4][4]) {
  constexpr int kRow = kTile / 4 + 1;
  const int thread = static_cast<int>(threadIdx.x);
  const int left_k = kLeft == Along::kEdge ? thread / 16 : thread % 16, left_i = kLeft == Along::kEdge ? thread % 16 : thread / 16;
  const int right_k = kRight == Along::kEdge ? thread / 16 : thread % 16, right_i = kRight == Along::kEdge ? thread % 16 : thread / 16;
  const Four<T> zero{};
  Four<T> next_a = begin + left_k < end ? left(4 * left_i, begin + left_k) : zero, next_b = begin + right_k < end ? right(4 * right_i, begin + right_k) : zero;
  for (int64_t k = begin; k < end; k += kDepth) {
    __syncthreads();
    a[left_k * kRow + left_i] = next_a;
    b[right_k * kRow + right_i] = next_b;
    __syncthreads();
    const int64_t after = k + kDepth;  // loads in flight while this piece is multiplied
    if (after < end) {
      next_a = after + left_k < end ? left(4 * left_i, after + left_k) : zero;
      next_b = after + right_k < end ? right(4 * right_i, after + right_k) : zero;
    }
    for (int d = 0; d < kDepth; ++d) {
      const Four<T> x = a[d * kRow + thread / 16], y = b[d * kRow + thread % 16];
      for (int i = 0; i < 4; ++i)
        for (int j = 0; j < 4; ++j) sum[i][j] = fma(x.e[i], y.e[j], sum[i][j]);
    }
  }
}

/// Calls f for float or double; the op's infer function has rejected all other types.
template <class F> void with_type(DType t, F&& f) {
  if (t == DType::kFloat64) f.template operator()<double>();
  else f.template operator()<float>();
}

}  // namespace sindri::curvature
