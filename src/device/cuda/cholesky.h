// Cholesky's factor of one matrix by one thread block. Used by *_cuda.cu files of several op families, on both platforms of
// language.h. All threads of the block must call these functions; blocks are whole warps. w may be shared or global memory.
#pragma once

#include "src/device/cuda/language.h"

namespace sindri::cuda {

/// w [n, n] has rows that are ld apart and holds the upper triangle of a symmetric matrix. Replaces this triangle by
/// Lᵀ. Returns -1, or the index of the pivot that is not above 0 (or, with `finite`, not finite). Starts and ends with
/// a barrier.
template <class T, class M> SINDRI_DEVICE int64_t cholesky_upper(M&& w, int64_t ld, int64_t n, bool finite = false) {
  const int64_t thread = threadIdx.x, threads = blockDim.x, lane = thread % 32, warp = thread / 32, warps = threads / 32;
  for (int64_t k = 0; k < n; ++k) {
    __syncthreads();
    const T pivot = w[k * ld + k];
    if (!(pivot > 0) || (finite && !isfinite(pivot))) return k;
    const T root = sqrt(pivot);
    __syncthreads();
    for (int64_t j = k + thread; j < n; j += threads) w[k * ld + j] = j == k ? root : w[k * ld + j] / root;
    __syncthreads();
    for (int64_t i = k + 1 + warp; i < n; i += warps) {
      const T factor = w[k * ld + i];
      for (int64_t j = i + lane; j < n; j += 32) w[i * ld + j] -= factor * w[k * ld + j];
    }
  }
  __syncthreads();
  return -1;
}

/// Given Lᵀ in the upper triangle of w and 0 below the diagonal, computes L⁻¹ in the lower triangle including the
/// diagonal. Starts and ends with a barrier.
template <class T, class M> SINDRI_DEVICE void invert_factor(M&& w, int64_t ld, int64_t n) {
  const int64_t thread = threadIdx.x, threads = blockDim.x, lane = thread % 32, warp = thread / 32, warps = threads / 32;
  __syncthreads();
  for (int64_t i = thread; i < n; i += threads) w[i * ld + i] = T(1) / w[i * ld + i];
  for (int64_t k = 0; k < n; ++k) {  // row k, after the rows above were subtracted, is divided by its diagonal element
    __syncthreads();
    const T scale = w[k * ld + k];
    for (int64_t j = thread; j < k; j += threads) w[k * ld + j] *= scale;
    __syncthreads();
    for (int64_t i = k + 1 + warp; i < n; i += warps) {
      const T factor = w[k * ld + i];
      for (int64_t j = lane; j <= k; j += 32) w[i * ld + j] -= factor * w[k * ld + j];
    }
  }
  __syncthreads();
}

}  // namespace sindri::cuda
