// Index tensors on CUDA devices.
#pragma once

#include "src/device/cuda/divisor.h"
#include "src/device/cuda/launch.h"

namespace sindri::cuda {

/// An int32 or int64 tensor whose elements are rows of a dimension of `size`; negative ones count from the end where `wrap`.
struct Indices {
  const void* data = nullptr;
  int64_t size = 0;
  bool wide = false, wrap = false;
};
inline Indices indices_of(const Buffer& b, int64_t size, bool wrap) { return {b.data, size, b.meta->dtype == DType::kInt64, wrap}; }

/// The row that index i names, from 0 to size - 1; -1 for one out of range, after which memory must not be touched.
SINDRI_DEVICE int64_t row_at(const Indices& x, int64_t i) {
  int64_t k = x.wide ? static_cast<const int64_t*>(x.data)[i] : static_cast<const int32_t*>(x.data)[i];
  if (k < 0 && x.wrap) k += x.size;
  return k >= 0 && k < x.size ? k : -1;
}

/// gather_elements: element i of the indices picks element `at(i)` of the tensor.
struct Picks {
  Indices indices;
  int rank = 0, axis = 0;
  Divisor size[Shape::kMaxRank];  // of the indices
  int64_t stride[Shape::kMaxRank] = {};  // of the tensor
};
SINDRI_DEVICE int64_t picked_at(const Picks& p, int64_t i) {
  const int64_t row = row_at(p.indices, i);
  if (row < 0) return -1;
  int64_t at = row * p.stride[p.axis];
  for (int d = p.rank - 1; d >= 0; --d) {
    const int64_t q = d > 0 ? p.size[d].quotient(i) : 0;
    if (d != p.axis) at += (i - q * p.size[d].value) * p.stride[d];
    i = q;
  }
  return at;
}
inline Picks picks_of(const Buffer& indices, const Shape& tensor, int axis) {
  Picks p;
  p.indices = indices_of(indices, tensor[axis], true);
  p.rank = tensor.rank();
  p.axis = axis;
  const Shape strides = contiguous_strides(tensor), &shape = indices.meta->shape;
  for (int d = 0; d < p.rank; ++d) {
    p.size[d] = Divisor(shape[d], shape.numel());
    p.stride[d] = strides[d];
  }
  return p;
}

}  // namespace sindri::cuda
