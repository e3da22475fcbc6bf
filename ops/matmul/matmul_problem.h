// The sizes of a (batched) matrix product, checked once and shared by matmul, batch_matmul and their kernels. Private to ops/matmul/.
#pragma once

#include <cstdint>
#include <vector>

#include "sindri/export.h"
#include "sindri/op/attrs.h"
#include "sindri/op/kernel.h"

namespace sindri::matmul {

struct MatmulAttrs {
  bool transpose_a = false, transpose_b = false;
  SINDRI_ATTRS(MatmulAttrs, transpose_a, transpose_b)
};

/// C [batch…, m, n] = A [batch…, m, k] · B [batch…, k, n], all row-major; the strides, in elements, express transposes.
struct Problem {
  int64_t m, n, k;
  int64_t a_row, a_col, b_row, b_col;
  Shape batch;  ///< leading dimensions of the result
  Shape a_batch, b_batch;  ///< those of A and B, padded with ones to the same rank
  std::vector<int64_t> a_offset, b_offset;  ///< first element of each matrix of the batch

  int64_t matrices() const { return static_cast<int64_t>(a_offset.size()); }
  bool empty() const { return m == 0 || n == 0 || k == 0 || matrices() == 0; }
};

/// Checks shapes; throws ShapeError that names `op`. `batched`: rank >= 2 with broadcasting, else rank 2 exactly.
Problem make_problem(const char* op, bool batched, const MatmulAttrs& attrs, const Shape& a, const Shape& b);
SINDRI_API Problem problem_of(const KernelQuery& q);

}  // namespace sindri::matmul
