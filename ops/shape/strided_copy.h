// The implementation of transpose, slice, concat, split, pad and broadcast_to: copies a box of elements between two
// strided arrangements, in parallel, with tiles if rows of one side are columns of the other.
#pragma once

#include <cstddef>
#include <cstdint>

#include "sindri/core/shape.h"

namespace sindri::shape_ops {

/// dst[Σ i_d·dst_strides_d] = src[Σ i_d·src_strides_d] for every index i of `shape`, elements of `size` bytes (1, 2, 4 or 8).
/// dst strides must map each index to a different element; src strides may be 0 (repeat) and either may be negative.
void strided_copy(const Shape& shape, void* dst, const Shape& dst_strides, const void* src, const Shape& src_strides, size_t size);

/// Sets n elements to the one at `value`.
void fill_elements(void* dst, int64_t n, const void* value, size_t size);

}  // namespace sindri::shape_ops
