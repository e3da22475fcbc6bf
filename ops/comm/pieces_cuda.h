// Processes many tensors in one launch, for the CUDA kernels of this folder: a table of pieces is the kernel's argument and is processed in chunks.
#pragma once

#include <limits>
#include <memory>
#include <vector>

#include "src/device/cuda/launch.h"

namespace sindri::comm_ops {

inline constexpr int64_t kChunk = 16384;  ///< elements per block
inline constexpr int kMostPieces = 512;  ///< per launch

/// The work of a block: elements [begin, end) of an entry.
template <class Entry> struct Table {
  int entries = 0;
  Entry entry[kMostPieces];  ///< Entry has `numel` and `first_block`
};
template <class Entry> struct Chunk {
  const Entry& entry;
  int64_t begin, end;
};

/// Returns the chunk of this block.
template <class Entry> SINDRI_DEVICE Chunk<Entry> chunk_of(const Table<Entry>& table) {
  int low = 0, high = table.entries;
  while (high - low > 1) {
    const int middle = (low + high) / 2;
    if (table.entry[middle].first_block <= blockIdx.x) low = middle;
    else high = middle;
  }
  const Entry& e = table.entry[low];
  const int64_t begin = (blockIdx.x - e.first_block) * kChunk;
  return {e, begin, begin + kChunk < e.numel ? begin + kChunk : e.numel};
}

/// Calls start(table, blocks) for as many tables as `entries` need. Skips empty entries.
template <class Entry, class Start> void for_tables(Span<const Entry> entries, Start&& start) {
  const auto table = std::make_unique<Table<Entry>>();
  int64_t blocks = 0;
  const auto go = [&] {
    if (blocks > 0) start(*table, blocks);
    table->entries = 0;
    blocks = 0;
  };
  for (const Entry& e : entries) {
    const int64_t chunks = cuda::ceil_div(e.numel, kChunk);
    if (chunks == 0) continue;
    if (table->entries == kMostPieces || blocks + chunks > std::numeric_limits<int32_t>::max()) go();
    table->entry[table->entries] = e;
    table->entry[table->entries++].first_block = static_cast<uint32_t>(blocks);
    blocks += chunks;
  }
  go();
}
inline cuda::Grid grid_of(int64_t blocks) { return {dim3(static_cast<unsigned>(blocks)), dim3(cuda::kThreads), 0}; }

/// to[i] = from[i]·factor, rounded to the type of `to`.
struct Move {
  const void* from;
  void* to;
  int64_t numel;
  uint32_t first_block;
};
template <class From, class To, class Factor> __global__ void move_scaled(const __grid_constant__ Table<Move> table, Factor factor) {
  const Chunk<Move> c = chunk_of(table);
  const From* const from = static_cast<const From*>(c.entry.from);
  To* const to = static_cast<To*>(c.entry.to);
  for (int64_t i = c.begin + threadIdx.x; i < c.end; i += blockDim.x) to[i] = cuda::store_as<To>(cuda::load(from[i]) * factor);
}
template <class From, class To> void launch_moves(const cuda::Call& call, const std::vector<Move>& moves, double factor) {
  using Factor = cuda::Number<From>;
  for_tables<Move>(moves, [&](const Table<Move>& table, int64_t blocks) {
    cuda::launch(call, grid_of(blocks), move_scaled<From, To, Factor>, table, static_cast<Factor>(factor));
  });
}

}  // namespace sindri::comm_ops
