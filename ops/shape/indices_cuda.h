// Index tensors on CUDA devices.
#pragma once

#include "src/device/cuda/divisor.h"
#include "src/device/cuda/errors.h"
#include "src/device/cuda/launch.h"

namespace sindri::cuda {

/// An int32 or int64 tensor whose elements are rows of a dimension of `size`. With `wrap` negative ones count from the end.
struct Indices {
  const void* data;
  int64_t size;
  bool wide, wrap;
  ErrorSite site;
};
/// `dimension` is the name of the indexed dimension in messages about invalid indices; -1 if it is clear.
Indices indices_of(const Call& call, const Buffer& b, int64_t size, bool wrap, int64_t dimension = -1);
/// Reports invalid ones among n indices, for calls whose result is empty and whose kernels do not run.
void check_rows(const Call& call, const Indices& indices, int64_t n);

/// The row of index i, from 0 to size - 1; -1 if it is out of range, in which case memory must not be accessed. Threads with `reports` report it.
SINDRI_DEVICE int64_t row_at(const Indices& x, int64_t i, bool reports = true) {
  const int64_t k = x.wide ? static_cast<const int64_t*>(x.data)[i] : static_cast<const int32_t*>(x.data)[i];
  const int64_t row = k < 0 && x.wrap ? k + x.size : k;
  if (row >= 0 && row < x.size) return row;
  if (reports) report(x.site, k, i);
  return -1;
}

/// gather_elements: element i of the indices selects element `at(i)` of the tensor.
struct Picks {
  Indices indices{};
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
inline Picks picks_of(const Call& call, const Buffer& indices, const Shape& tensor, int axis) {
  Picks p;
  p.indices = indices_of(call, indices, tensor[axis], true);
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
