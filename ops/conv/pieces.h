// How weight gradients are summed: rows (pixels, tiles) in blocks whose operands stay in a cache, blocks in pieces with a sum each.
#pragma once

#include <algorithm>
#include <cstdint>

#include "src/device/cpu/parallel.h"

namespace sindri::conv {

/// Blocks and pieces depend on the shape only, so that any number of threads gives the same bits. Blocks are of one size, but for the last:
/// threads get done together.
struct Pieces {
  int64_t rows, block, blocks_per_piece, pieces;

  /// sum_bytes: what every piece adds up for itself; block: rows of a block, about.
  Pieces(int64_t rows_, int64_t about, int64_t sum_bytes) : rows(rows_) {
    constexpr int64_t kLeastBlock = 24;
    const int64_t wanted = sum_bytes <= (1 << 20) ? 8 : sum_bytes <= (4 << 20) ? 4 : 2, most = wanted * about;
    blocks_per_piece = std::max<int64_t>(1, (rows + most / 2) / most);
    block = std::max(kLeastBlock, fixed_chunks(rows, wanted * blocks_per_piece));
    pieces = fixed_chunks(fixed_chunks(rows, block), blocks_per_piece);
  }
  /// f(first row, rows, whether it is not the first of the piece) for each block of a piece.
  template <class F> void for_blocks(int64_t piece, F&& f) const {
    const int64_t begin = piece * blocks_per_piece * block, end = std::min(rows, begin + blocks_per_piece * block);
    for (int64_t first = begin; first < end; first += block) f(first, std::min(block, end - first), first > begin);
  }
};

}  // namespace sindri::conv
