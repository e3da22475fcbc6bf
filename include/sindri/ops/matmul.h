// Matrix products.
#pragma once
#include "sindri/core/tensor.h"
#include "sindri/export.h"

namespace sindri::ops {

/// Matrix product op(a)·op(b): a [M, K] ([K, M] if transpose_a), b [K, N] ([N, K] if transpose_b) -> [M, N]. Both have
/// the same float type. Throws ShapeError if inner dimensions differ.
SINDRI_API Tensor matmul(const Tensor& a, const Tensor& b, bool transpose_a = false, bool transpose_b = false);
/// matmul over the last two dimensions of tensors of rank >= 2; the leading dimensions broadcast.
SINDRI_API Tensor batch_matmul(const Tensor& a, const Tensor& b, bool transpose_a = false, bool transpose_b = false);

}  // namespace sindri::ops
