// Shared by the linear algebra ops: attributes, checks, and batches of matrices [.., rows, columns].
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "sindri/core/tensor.h"
#include "sindri/export.h"
#include "sindri/op/attrs.h"
#include "sindri/op/kernel.h"
#include "sindri/op/op_def.h"

namespace sindri::linalg {

struct TriangularSolveAttrs {
  bool lower = true, transpose = false, unit_diagonal = false;
  SINDRI_ATTRS(TriangularSolveAttrs, lower, transpose, unit_diagonal)
};

struct QrAttrs {
  bool complete = false;
  SINDRI_ATTRS(QrAttrs, complete)
};

/// Throws unless m has at least two dimensions and is float32 or float64.
void check_matrix(const char* op, const TensorMeta& m, const char* which);
/// As above, and also throws unless the last two dimensions are equal.
void check_square(const char* op, const TensorMeta& m, const char* which);
/// Shape with the last two dimensions replaced; `columns` -1 leaves one dimension.
Shape with_matrix(const Shape& s, int64_t rows, int64_t columns);

struct Stack {
  int64_t batch, rows, columns;
};
SINDRI_API Stack stack_of(const Shape& shape);

/// "[2, 0]" for matrix `index` of a batch, "" for a single matrix.
SINDRI_API std::string batch_text(const Shape& shape, int64_t index);

/// Runs f(i) for every matrix of a batch, in parallel if there is enough work; `cost`: approximate number of multiplications
/// per matrix. f returns -1, or the position of its failure. Then throws the result of fail(i, f's value) for the first
/// failure in batch order, whichever thread found it.
void for_each_matrix(int64_t batch, int64_t cost, const std::function<int64_t(int64_t)>& f, const std::function<void(int64_t, int64_t)>& fail);

/// Throws ValueError for a matrix with NaN or infinite elements, on which iterative methods may not converge.
void check_finite(const char* op, const Buffer& a);
/// Throws check_finite's error for element `at` of a batch of matrices, which has the value `value`.
[[noreturn]] SINDRI_API void throw_element(const char* op, const TensorMeta& a, int64_t at, double value);
// Errors of kernels for a matrix that they cannot process, on every device.
[[noreturn]] SINDRI_API void throw_not_positive(const TensorMeta& a, int64_t matrix, int64_t pivot);
[[noreturn]] SINDRI_API void throw_singular(const TensorMeta& a, int64_t matrix, int64_t column);
[[noreturn]] SINDRI_API void throw_not_converged(const TensorMeta& a, int64_t matrix);

// For gradient rules.
/// Exchanges the last two dimensions.
Tensor transposed(const Tensor& x);
/// [n, n] of x's type: `below` under the diagonal, `on` on it, `above` over it.
Tensor triangle_mask(const Tensor& like, int64_t n, double below, double on, double above);

}  // namespace sindri::linalg
