// A stable sort of numbered keys on CUDA devices, for sums over elements with the same key: radix sort with 8 bits per pass, in an order that depends only on
// the keys.
#pragma once

#include "src/device/cuda/launch.h"

namespace sindri::cuda {

/// Keys and the position of each, twice, and the counts of a pass. K is uint32_t, or uint64_t for keys or positions beyond 2^32.
template <class K> struct RowSort {
  int64_t n = 0;
  K *keys = nullptr, *positions = nullptr;  // of the sorted keys, after all passes
  K *other_keys = nullptr, *other_positions = nullptr;
  K *counts = nullptr, *totals = nullptr;

  RowSort(int64_t count, void* workspace);
  /// Bytes of the workspace, a multiple of 256.
  static int64_t bytes(int64_t count);
  /// Sorts `keys`, which are below `bound`; `positions` holds 0, 1, … or values to move along with the keys.
  void run(const Call& call, uint64_t bound);
};

extern template struct RowSort<uint32_t>;
extern template struct RowSort<uint64_t>;

}  // namespace sindri::cuda
