// See row_sort_cuda.h. A pass has three steps: each block counts the digits of its 2,048 keys; the counts of each digit are summed over the blocks; each block
// writes its keys after those before them. Within a block a key's rank is the number of earlier keys with the same digit: keys of its warp are counted by
// votes, keys of earlier warps by the warps' counts. Memory traffic: 4 reads and 2 writes of a key or position for each 8 bits.
#include "ops/shape/row_sort_cuda.h"

#include <bit>
#include <utility>

namespace sindri::cuda {
namespace {

constexpr int kDigits = 256, kWarps = kThreads / 32, kRounds = 8, kKeys = kThreads * kRounds;  // per block
static_assert(kThreads == kDigits, "a thread for each digit");

template <class K> SINDRI_DEVICE int digit_of(K key, int shift) { return static_cast<int>((key >> shift) & (kDigits - 1)); }

// counts[digit][block]
template <class K> __global__ void count_digits(const K* keys, int64_t n, int shift, K* counts) {
  SINDRI_SHARED(unsigned, count, kDigits);
  count[threadIdx.x] = 0u;
  __syncthreads();
  for (int r = 0; r < kRounds; ++r) {
    const int64_t i = static_cast<int64_t>(blockIdx.x) * kKeys + r * kThreads + threadIdx.x;
    if (i < n) atomicAdd(count + digit_of(keys[i], shift), 1u);
  }
  __syncthreads();
  counts[static_cast<int64_t>(threadIdx.x) * gridDim.x + blockIdx.x] = static_cast<K>(static_cast<unsigned>(count[threadIdx.x]));
}

// Sum of the values of the threads before this one, plus its own.
template <class K, class S> SINDRI_DEVICE K running_sum(K v, S shared) {
  const auto t = static_cast<int>(threadIdx.x);
  shared[t] = v;
  __syncthreads();
  for (int by = 1; by < kThreads; by *= 2) {
    const K before = t >= by ? static_cast<K>(shared[t - by]) : K(0);
    __syncthreads();
    v += before;
    shared[t] = v;
    __syncthreads();
  }
  return v;
}

// One warp per digit d: replaces counts[d] by the sum over earlier blocks, and sets totals[d] to the sum over all.
template <class K> __global__ void add_up_counts(K* counts, int64_t blocks, K* totals) {
  const int64_t digit = global_thread() / 32;
  const auto lane = static_cast<int>(threadIdx.x % 32);
  K* const row = counts + digit * blocks;
  K before = 0;
  for (int64_t at = 0; at < blocks; at += 32) {
    const int64_t i = at + lane;
    const K own = i < blocks ? row[i] : K(0);
    K sum = own;
    for (int by = 1; by < 32; by *= 2) {
      const K of_earlier = __shfl_up_sync(~0u, sum, static_cast<unsigned>(by));
      if (lane >= by) sum += of_earlier;
    }
    if (i < blocks) row[i] = before + sum - own;
    before += __shfl_sync(~0u, sum, 31);
  }
  if (lane == 0) totals[digit] = before;
}

template <class K>
__global__ void move_keys(const K* keys, const K* positions, int64_t n, int shift, const K* counts, const K* totals, K* to_keys, K* to_positions) {
  SINDRI_SHARED(K, sums, kThreads);
  SINDRI_SHARED(K, place, kWarps * kDigits);  // by warp and digit: number of keys, then their start
  const auto t = static_cast<int>(threadIdx.x);
  const int warp = t / 32, lane = t % 32;
  const K total = totals[t];
  K next = running_sum(total, sums) - total + counts[static_cast<int64_t>(t) * gridDim.x + blockIdx.x];  // position of the next key whose digit is t
  for (int r = 0; r < kRounds; ++r) {
    const int64_t i = static_cast<int64_t>(blockIdx.x) * kKeys + r * kThreads + t;
    const bool there = i < n;
    const K key = there ? keys[i] : K(0);
    const int digit = digit_of(key, shift);
    unsigned same = __ballot_sync(~0u, there ? 1 : 0);
    for (int bit = 0; bit < 8; ++bit) {
      const int set = (digit >> bit) & 1;
      const unsigned with = __ballot_sync(~0u, set);
      same &= set != 0 ? with : ~with;
    }
    const int rank = __popc(same & ((1u << lane) - 1));
    for (int w = 0; w < kWarps; ++w) place[w * kDigits + t] = K(0);
    __syncthreads();
    if (there && rank == 0) place[warp * kDigits + digit] = static_cast<K>(__popc(same));
    __syncthreads();
    for (int w = 0; w < kWarps; ++w) {
      const K count = place[w * kDigits + t];
      place[w * kDigits + t] = next;
      next += count;
    }
    __syncthreads();
    if (there) {
      const K to = static_cast<K>(place[warp * kDigits + digit]) + static_cast<K>(rank);
      to_keys[to] = key;
      to_positions[to] = positions[i];
    }
    __syncthreads();
  }
}

// A few keys are sorted by rank: each thread counts the keys before its own.
constexpr int64_t kFew = 1024;
template <class K> __global__ void rank_keys(const K* keys, const K* positions, int64_t n, K* to_keys, K* to_positions) {
  for (int64_t i = global_thread(); i < n; i += global_threads()) {
    const K key = keys[i];
    int64_t rank = 0;
    for (int64_t j = 0; j < n; ++j) rank += keys[j] < key || (keys[j] == key && j < i) ? 1 : 0;
    to_keys[rank] = key;
    to_positions[rank] = positions[i];
  }
}

constexpr int64_t padded(int64_t bytes) { return ceil_div(bytes, 256) * 256; }

}  // namespace

template <class K> int64_t RowSort<K>::bytes(int64_t count) {
  const auto size = static_cast<int64_t>(sizeof(K));
  return 4 * padded(count * size) + padded(ceil_div(count, kKeys) * kDigits * size) + padded(kDigits * size);
}

template <class K> RowSort<K>::RowSort(int64_t count, void* workspace) : n(count) {
  char* at = static_cast<char*>(workspace);
  const auto take = [&](int64_t elements) {
    K* const p = reinterpret_cast<K*>(at);
    at += padded(elements * static_cast<int64_t>(sizeof(K)));
    return p;
  };
  keys = take(n);
  positions = take(n);
  other_keys = take(n);
  other_positions = take(n);
  counts = take(ceil_div(n, kKeys) * kDigits);
  totals = take(kDigits);
}

template <class K> void RowSort<K>::run(const Call& call, uint64_t bound) {
  if (n <= kFew) {
    launch(call, grid_for(n, 1, 64), rank_keys<K>, keys, positions, n, other_keys, other_positions);
    std::swap(keys, other_keys);
    std::swap(positions, other_positions);
    return;
  }
  const int64_t blocks = ceil_div(n, kKeys);
  const Grid grid{dim3(static_cast<unsigned>(blocks)), dim3(kThreads), 0};
  for (int shift = 0; shift < static_cast<int>(std::bit_width(bound)); shift += 8) {
    launch(call, grid, count_digits<K>, keys, n, shift, counts);
    launch(call, {dim3(kDigits / kWarps), dim3(kThreads), 0}, add_up_counts<K>, counts, blocks, totals);
    launch(call, grid, move_keys<K>, keys, positions, n, shift, counts, totals, other_keys, other_positions);
    std::swap(keys, other_keys);
    std::swap(positions, other_positions);
  }
}

template struct RowSort<uint32_t>;
template struct RowSort<uint64_t>;

}  // namespace sindri::cuda
