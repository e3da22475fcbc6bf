// A stable sort of numbered keys on CUDA devices, for sums over what has the same key: radix sort by 8 bits a pass, in an order that depends on nothing but the keys.
#pragma once

#include "src/device/cuda/launch.h"

namespace sindri::cuda {

/// Keys and the position each had, twice, and what a pass counts. K is uint32_t, or uint64_t for keys or positions beyond 2^32.
template <class K> struct RowSort {
  int64_t n = 0;
  K *keys = nullptr, *positions = nullptr;  // of the sorted keys, when all is done
  K *other_keys = nullptr, *other_positions = nullptr;
  K *counts = nullptr, *totals = nullptr;

  RowSort(int64_t count, void* workspace);
  /// Bytes of the workspace, a multiple of 256.
  static int64_t bytes(int64_t count);
  /// Sorts `keys`, which lie below `bound`; `positions` holds 0, 1, … or what takes their place.
  void run(const Call& call, uint64_t bound);
};

extern template struct RowSort<uint32_t>;
extern template struct RowSort<uint64_t>;

}  // namespace sindri::cuda
