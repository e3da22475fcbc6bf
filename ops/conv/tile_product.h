// Sums of outer products of bfloat16 rows with the tiles of CpuIsa::kAvx512Amx. Call only on processors that have them.
#pragma once

#include <cstdint>

namespace sindri::conv {

/// Columns of a panel; rows are processed in steps of kTileDepth.
inline constexpr int64_t kTileColumns = 16, kTileDepth = 32;

/// Packs a row-major bfloat16 matrix, whose `rows` rows (a multiple of kTileDepth) start at the pointers in `row`, into panels of kTileColumns
/// columns. A step of panel p is at to + (p · rows + step · kTileDepth) · kTileColumns. Columns up to `padded` are zeros; a null row is all zeros.
/// Right operands are stored as pairs of rows, column by column; left operands column after column.
void pack_tiles_right(const uint16_t* const* row, int64_t rows, int64_t columns, int64_t padded, uint16_t* to);
void pack_tiles_left(const uint16_t* const* row, int64_t rows, int64_t columns, int64_t padded, uint16_t* to);

/// sum [m, n] (+)= left^T · right over the `rows` rows of both, in panels. Both m and n are padded to multiples of 32; rows of sum are n_padded floats apart.
void multiply_tiles(const uint16_t* left, const uint16_t* right, int64_t rows, int64_t m_padded, int64_t n_padded, float* sum, bool accumulate);

}  // namespace sindri::conv
