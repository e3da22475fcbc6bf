// Vectorised loops over a tile of n elements with contiguous operands. elementwise_tiles_cpu.cc makes operands contiguous.
#pragma once

#include <cstdint>

#include "src/device/cpu/simd.h"

namespace sindri::elementwise {

enum class UnaryId : int {
#define UNARY(id, ...) id,
#define UNARY_WITH(id, ...) id,
#include "ops/elementwise/unary.def"
#undef UNARY
#undef UNARY_WITH
};
enum class BinaryId : int {
#define BINARY(id, ...) id,
#define BINARY_WITH(id, ...) id,
#define BINARY_FLAT(id, ...) id,
#include "ops/elementwise/binary.def"
#undef BINARY
#undef BINARY_WITH
#undef BINARY_FLAT
};

/// p: the op's attributes as numbers.
using TileFn = void (*)(const void* const* in, void* out, int64_t n, const double* p);

}  // namespace sindri::elementwise

// The loop for an element type (a DType as int); null if the op does not support it. where and cast are selected by their operand types.
SINDRI_SIMD_DECLARE(elementwise::TileFn unary_tile(elementwise::UnaryId id, int dtype);)
SINDRI_SIMD_DECLARE(elementwise::TileFn binary_tile(elementwise::BinaryId id, int dtype);)
SINDRI_SIMD_DECLARE(elementwise::TileFn where_tile(int element_size);)
SINDRI_SIMD_DECLARE(elementwise::TileFn cast_tile(int from, int to);)
