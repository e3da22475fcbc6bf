// Shared by the CUDA kernels of this folder. One thread block processes one matrix of a batch at a time; errors name matrices as on the CPU.
#pragma once

#include <bit>
#include <deque>
#include <mutex>
#include <string>

#include "ops/linalg/matrix.h"
#include "src/device/cuda/errors.h"
#include "src/device/cuda/launch.h"
#include "src/device/cuda/reduce.h"

namespace sindri::linalg {

using namespace cuda;

/// The number of blocks per launch, and the number of threads for a matrix whose longer side is n. A block processes every gridDim.x-th matrix.
inline int64_t blocks_for(int64_t batch) { return std::min<int64_t>(batch, 132 * 8); }
inline unsigned threads_for(int64_t n) { return n <= 8 ? 32 : n <= 32 ? 128 : n <= 200 ? 256 : 1024; }
inline Grid grid_for_matrices(int64_t batch, int64_t n, int64_t shared = 0) {
  return {dim3(static_cast<unsigned>(blocks_for(batch))), dim3(threads_for(n)), static_cast<size_t>(shared)};
}
/// Elements between rows of a matrix in shared memory: an odd number, so that columns use all banks.
inline int64_t shared_stride(int64_t columns) { return columns | 1; }
/// Whether a matrix fits into dynamic shared memory, besides 2 KiB of static shared memory.
template <class T> bool fits_shared(const Call& call, int64_t rows, int64_t columns) {
  int most = 0;
  check(cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, call.stream.device().index), call.query.op.name, call.stream.device());
  return rows * shared_stride(columns) * static_cast<int64_t>(sizeof(T)) <= most - 2048;
}

/// Calls f for float or double; the op's infer function has rejected all other types.
template <class F> void with_type(DType t, F&& f) {
  if (t == DType::kFloat32) f.template operator()<float>();
  else f.template operator()<double>();
}

/// The site at which a kernel reports (matrix, cause) for operand 0.
inline ErrorSite stack_site(const Call& call, ErrorThrower thrower) {
  static std::mutex mutex;
  static std::deque<TensorMeta> kept;  // errors are raised after the call, so entries are kept: one per shape
  TensorMeta meta = *call.in[0].meta;
  meta.device = {};
  const std::lock_guard lock(mutex);
  auto at = std::find(kept.begin(), kept.end(), meta);
  if (at == kept.end()) at = kept.insert(kept.end(), meta);
  return error_site(call, thrower, {reinterpret_cast<int64_t>(&*at)});
}
inline const TensorMeta& meta_of(const ErrorFound& e) { return *reinterpret_cast<const TensorMeta*>(e.known[0]); }

/// Throws the CPU's error for an element that is not finite; `found` holds its index in the tensor and its bit pattern.
[[noreturn]] inline void throw_not_finite(const ErrorFound& e) { throw_element(e.op, meta_of(e), e.found[0], std::bit_cast<double>(e.found[1])); }

/// Whether all elements of the matrix at a are finite, in every thread of the block. Reports the first that is not. `base`: the matrix's offset in the tensor.
template <class T, class Partial> SINDRI_DEVICE bool check_finite(const T* a, int64_t count, int64_t base, const ErrorSite& site, Partial&& partial) {
  int64_t first = count;
  for (int64_t i = threadIdx.x; i < count && first == count; i += blockDim.x)
    if (!isfinite(a[i])) first = i;
  first = block_reduce(first, partial, Smaller());
  if (first < count && threadIdx.x == 0) report(site, base + first, __double_as_longlong(static_cast<double>(a[first])));
  return first == count;
}

/// Written by a kernel after it has reported an error.
template <class T> SINDRI_DEVICE void fill_nan(T* to, int64_t count) {
  for (int64_t i = threadIdx.x; i < count; i += blockDim.x) to[i] = static_cast<T>(__uint_as_float(0x7fc00000u));
}

}  // namespace sindri::linalg
