// strided_copy on CUDA devices: see strided_copy.h.
#pragma once

#include "src/device/cuda/launch.h"

namespace sindri::cuda {

/// dst[Σ i_d·dst_strides_d] = src[Σ i_d·src_strides_d] for every index i of `shape`, elements of `size` bytes (1, 2, 4 or 8), on the call's stream.
/// dst strides are positive and must map each index to a different element; src strides may be 0 (repeat) or negative.
void strided_copy(const Call& call, const Shape& shape, void* dst, const Shape& dst_strides, const void* src, const Shape& src_strides, size_t size);

}  // namespace sindri::cuda
