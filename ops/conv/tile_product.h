// Sums of outer products of bfloat16 rows with the tiles of CpuIsa::kAvx512Amx, to be called there only.
#pragma once

#include <cstdint>

namespace sindri::conv {

/// Columns of a panel; rows come in steps of kTileDepth.
inline constexpr int64_t kTileColumns = 16, kTileDepth = 32;

/// Panels of kTileColumns columns of a row-major matrix of bfloat16 whose `rows` rows (a multiple of kTileDepth) begin where `row` points. A step of
/// panel p lies at to + (p · rows + step · kTileDepth) · kTileColumns. Columns up to `padded` are zeros; a null row is one of zeros.
/// As a right operand: pairs of rows, column by column; as a left one: columns one behind the other.
void pack_tiles_right(const uint16_t* const* row, int64_t rows, int64_t columns, int64_t padded, uint16_t* to);
void pack_tiles_left(const uint16_t* const* row, int64_t rows, int64_t columns, int64_t padded, uint16_t* to);

/// sum [m, n] (+)= left^T · right over the `rows` rows of both, in panels; both m and n padded to multiples of 32, rows of sum n_padded floats apart.
void multiply_tiles(const uint16_t* left, const uint16_t* right, int64_t rows, int64_t m_padded, int64_t n_padded, float* sum, bool accumulate);

}  // namespace sindri::conv
