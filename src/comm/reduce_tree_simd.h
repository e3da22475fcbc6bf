// The inner loops of sums (reduce_tree.cc): combine rows of values, stored back to back in memory that fits the cache.
#pragma once

#include <cstdint>

#include "src/device/cpu/simd.h"

namespace sindri::comm {

/// Element types of the loops; halves produce float32. In DType's order.
enum class RowType : int { kBool, kUInt8, kInt32, kInt64, kFloat16, kBFloat16, kFloat32, kFloat64 };
enum class RowOp : int { kSum, kMax, kMin, kProd };

}  // namespace sindri::comm

// out = a ⊕ b, out = (a ⊕ b) ⊕ (c ⊕ d) and out = a, element by element; out may be any of the rows of the same type.
SINDRI_SIMD_DECLARE(void fold_rows(comm::RowType type, comm::RowOp op, const void* const* rows, int number, void* out, int64_t n);)
SINDRI_SIMD_DECLARE(void scale_row_f32(float* values, int64_t n, float factor);)
SINDRI_SIMD_DECLARE(void scale_row_f64(double* values, int64_t n, double factor);)
