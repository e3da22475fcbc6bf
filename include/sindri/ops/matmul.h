// Matrix products.
#pragma once
#include "sindri/core/tensor.h"
#include "sindri/export.h"

namespace sindri::ops {

/// op(a) · op(b) of two matrices: a [M, K] (or [K, M] when transpose_a), b [K, N] (or [N, K]) -> [M, N]. Same float dtype.
SINDRI_API Tensor matmul(const Tensor& a, const Tensor& b, bool transpose_a = false, bool transpose_b = false);
/// As matmul over the last two dimensions of tensors of rank >= 2; the leading dimensions broadcast.
SINDRI_API Tensor batch_matmul(const Tensor& a, const Tensor& b, bool transpose_a = false, bool transpose_b = false);

}  // namespace sindri::ops
