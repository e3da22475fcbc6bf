// The order of sums in weight gradients: rows (pixels, tiles) form blocks whose operands stay in a cache, and blocks form pieces with a sum each.
#pragma once

#include <algorithm>
#include <cstdint>

#include "src/device/cpu/parallel.h"

namespace sindri::conv {

/// Blocks and pieces depend on the shape only, so that results are bitwise identical for any number of threads. All blocks but the last
/// have the same size, so that threads finish together.
struct Pieces {
  int64_t rows, block, blocks_per_piece, pieces;

  /// sum_bytes: size of the sum of a piece; about: approximate number of rows per block.
  Pieces(int64_t rows_, int64_t about, int64_t sum_bytes) : rows(rows_) {
    constexpr int64_t kLeastBlock = 24;
    const int64_t wanted = sum_bytes <= (1 << 20) ? 8 : sum_bytes <= (4 << 20) ? 4 : 2, most = wanted * about;
    blocks_per_piece = std::max<int64_t>(1, (rows + most / 2) / most);
    block = std::max(kLeastBlock, fixed_chunks(rows, wanted * blocks_per_piece));
    pieces = fixed_chunks(fixed_chunks(rows, block), blocks_per_piece);
  }
  /// Calls f(first row, rows, whether it is not the first of the piece) for each block of a piece.
  template <class F> void for_blocks(int64_t piece, F&& f) const {
    const int64_t begin = piece * blocks_per_piece * block, end = std::min(rows, begin + blocks_per_piece * block);
    for (int64_t first = begin; first < end; first += block) f(first, std::min(block, end - first), first > begin);
  }
};

}  // namespace sindri::conv
