// Iteration over tensors by logical index, for kernels that move elements.
#pragma once

#include <cstring>

#include "sindri/core/tensor.h"

namespace sindri::shape_ops {

/// Distance in elements between neighbours along each logical dimension, in the tensor's physical order.
inline Shape physical_strides(const TensorMeta& m) {
  if (m.layout != Layout::kChannelsLast) return contiguous_strides(m.shape);
  const int64_t c = m.shape[1], h = m.shape[2], w = m.shape[3];
  return {h * w * c, 1, w * c, c};
}

/// Strides of a tensor along the dimensions of a larger shape that it broadcasts to; 0 for repeated dimensions.
inline Shape repeated_strides(const TensorMeta& small, const Shape& large) {
  const Shape own = physical_strides(small);
  Shape s = Shape::filled(large.rank(), 0);
  const int shift = large.rank() - small.shape.rank();
  for (int d = 0; d < small.shape.rank(); ++d) {
    if (small.shape[d] != 1) s[d + shift] = own[d];
  }
  return s;
}

/// Calls f(index) for every index of `shape` in row-major order.
template <class F> void for_each_index(const Shape& shape, F&& f) {
  if (shape.numel() == 0) return;
  Shape index = Shape::filled(shape.rank(), 0);
  for (;;) {
    f(static_cast<const Shape&>(index));
    int d = shape.rank() - 1;
    for (; d >= 0 && ++index[d] == shape[d]; --d) index[d] = 0;
    if (d < 0) return;
  }
}

inline int64_t offset_of(const Shape& index, const Shape& strides) {
  int64_t offset = 0;
  for (int d = 0; d < index.rank(); ++d) offset += index[d] * strides[d];
  return offset;
}

/// dst[i] = src[j] for elements of `size` bytes.
inline void copy_element(void* dst, int64_t i, const void* src, int64_t j, size_t size) {
  std::memcpy(static_cast<char*>(dst) + i * static_cast<int64_t>(size), static_cast<const char*>(src) + j * static_cast<int64_t>(size), size);
}

}  // namespace sindri::shape_ops
