// Reads and checks index tensors before any data is moved, so that an invalid index leaves no half-written result.
#pragma once

#include <vector>

#include "sindri/op/kernel.h"

namespace sindri::shape_ops {

/// Index i of an int32 or int64 buffer.
inline int64_t index_at(const Buffer& b, int64_t i) { return b.meta->dtype == DType::kInt32 ? b.as<int32_t>()[i] : b.as<int64_t>()[i]; }

/// The indices as rows in [0, size). With `wrap` negative ones count from the end. Throws ValueError that names the first
/// index out of range and its position, and the dimension that it indexes unless that is clear (-1).
std::vector<int64_t> read_indices(const char* op, const Buffer& indices, int64_t size, bool wrap, int64_t dimension = -1);
/// Throws read_indices' ValueError for index `k` at flat position `i` of a tensor of indices of this shape.
[[noreturn]] SINDRI_API void throw_bad_index(const char* op, int64_t k, int64_t i, const Shape& shape, int64_t size, bool wrap, int64_t dimension);

}  // namespace sindri::shape_ops
