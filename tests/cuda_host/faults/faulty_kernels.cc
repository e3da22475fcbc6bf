// See faulty_kernels.h. Written like *_cuda.cu files.
#include "cuda_host/faults/faulty_kernels.h"

#include "src/device/cuda/language.h"

namespace sindri::cuda_host::faulty {
namespace {

using namespace sindri::cuda;

constexpr int kBlock = 64;

enum class Fault {
  kNone,
  kNoBarrierAfterWrite,
  kNoBarrierBeforeRead,
  kBarrierInBranch,
  kBarrierAfterReturn,
  kSharedTooLong,
  kSharedNotWritten,
  kTailTooLong,
  kTailTooShort,
  kWrongStride,
  kRowTooMany,
  kShuffleInBranch,
  kShuffleMaskWithoutSelf,
  kTwoKindsOfExchange,
  kNoSyncwarp,
  kRaceOfWriters,
  kNothingWritten,
  kNarrowIndex,
};

template <Fault fault> __global__ void row_sums(const float* x, float* y, int rows, int columns) {
  SINDRI_SHARED(float, partial, kBlock);
  SINDRI_SHARED(float, total, 1);
  const int t = static_cast<int>(threadIdx.x);
  if constexpr (fault == Fault::kBarrierAfterReturn) {
    if (t >= columns % kBlock) return;
  }
  const int last_row = fault == Fault::kRowTooMany ? rows + 1 : rows;
  for (int r = static_cast<int>(blockIdx.x); r < last_row; r += static_cast<int>(gridDim.x)) {
    float sum = 0;
    const int columns_read = fault == Fault::kTailTooShort ? columns / 4 * 4 : fault == Fault::kTailTooLong && r == rows - 1 ? columns + 4 : columns;
    const int stride = fault == Fault::kWrongStride ? columns - 1 : columns;
    for (int c = t; c < columns_read; c += kBlock) sum += x[static_cast<int64_t>(r) * stride + c];
    if constexpr (fault == Fault::kNarrowIndex) sum += static_cast<float>(static_cast<int8_t>(columns) != columns);
    if (fault != Fault::kSharedNotWritten || t % 2 == 0) partial[fault == Fault::kSharedTooLong ? t + 1 : t] = sum;
    if constexpr (fault == Fault::kBarrierInBranch) {
      if (t < kBlock / 2) __syncthreads();
    } else if constexpr (fault != Fault::kNoBarrierAfterWrite) {
      __syncthreads();
    }
    if (t < 32) {
      float v = static_cast<float>(partial[t]) + static_cast<float>(partial[t + 32]);
      if constexpr (fault == Fault::kShuffleInBranch) {
        if (t < 16) v += __shfl_xor_sync(0xffffffffu, v, 16);
      } else if constexpr (fault == Fault::kShuffleMaskWithoutSelf) {
        v += __shfl_xor_sync(0xffffu, v, 8);
      } else if constexpr (fault == Fault::kTwoKindsOfExchange) {
        if (t < 16) v += __shfl_xor_sync(0xffffffffu, v, 16);
        else v += __shfl_down_sync(0xffffffffu, v, 16);
      } else if constexpr (fault == Fault::kNoSyncwarp) {
        partial[t] = v;
        v += static_cast<float>(partial[t ^ 16]);
      } else {
        v += __shfl_xor_sync(0xffffffffu, v, 16);
      }
      for (int by = 8; by > 0; by /= 2) v += __shfl_xor_sync(0xffffffffu, v, by);
      if (fault == Fault::kRaceOfWriters || t == 0) total[0] = v;
    }
    if constexpr (fault != Fault::kNoBarrierBeforeRead) __syncthreads();
    if (t == kBlock - 1 && fault != Fault::kNothingWritten) y[r] = 2 * static_cast<float>(total[0]);
    __syncthreads();
  }
}

template <Fault fault> Case a_case(const char* name, const char* says) {
  return {name,
          [name](cudaStream_t stream, const float* x, float* y, int rows, int columns) {
            return cuda_host::launch(stream, name, {dim3(2), dim3(kBlock), 0},
                                     [=] { row_sums<fault>(cuda_host::translated(x), cuda_host::translated(y), rows, columns); });
          },
          says};
}

}  // namespace

const std::vector<Case>& cases() {
  static const std::vector<Case> all = {
      a_case<Fault::kNone>("", ""),
      a_case<Fault::kNoBarrierAfterWrite>("no barrier after a write", "race in shared memory: "),
      a_case<Fault::kNoBarrierBeforeRead>("no barrier before a read by another warp", "race in shared memory: "),
      a_case<Fault::kBarrierInBranch>("a barrier in a branch", "the kernel breaks a rule of the CUDA language"),
      a_case<Fault::kBarrierAfterReturn>("a barrier after some have returned", "the kernel breaks a rule of the CUDA language"),
      a_case<Fault::kSharedTooLong>("an element after the end of shared memory", "is outside of its 64 elements of shared memory"),
      a_case<Fault::kSharedNotWritten>("shared memory that nobody wrote", ""),
      a_case<Fault::kTailTooLong>("a tail that is too long", ""),
      a_case<Fault::kTailTooShort>("a tail that is too short", ""),
      a_case<Fault::kWrongStride>("a wrong stride", ""),
      a_case<Fault::kRowTooMany>("a row too many", ""),
      a_case<Fault::kShuffleInBranch>("a shuffle in a branch", "warp"),
      a_case<Fault::kShuffleMaskWithoutSelf>("a mask without the lane itself", "is not in its own mask"),
      a_case<Fault::kTwoKindsOfExchange>("two kinds of exchange", "lanes of a warp are at"),
      a_case<Fault::kNoSyncwarp>("a warp that does not synchronise", "race in shared memory: "),
      a_case<Fault::kRaceOfWriters>("all lanes write one element", "race in shared memory: "),
      a_case<Fault::kNothingWritten>("a result that is not written", ""),
      a_case<Fault::kNarrowIndex>("an index that is too narrow", ""),
  };
  return all;
}

}  // namespace sindri::cuda_host::faulty
