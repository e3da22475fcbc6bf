// Dense linear algebra over the last two dimensions; leading dimensions are a batch. Tensors are float32 or float64.
// Throws ShapeError for fewer dimensions and for a matrix that must be square but is not, DTypeError for other types.
#pragma once
#include <tuple>
#include <utility>

#include "sindri/core/tensor.h"
#include "sindri/export.h"

namespace sindri::ops {

/// Lower triangular L with L·Lᵀ = a for symmetric positive definite a [.., n, n], of which the lower triangle is read.
/// Throws ValueError, naming the batch index and the pivot, if a is not positive definite.
SINDRI_API Tensor cholesky(const Tensor& a);
/// Solves op(a)·x = b for triangular a [.., n, n] and b [.., n, m]; op transposes a if `transpose`. Only the triangle
/// that `lower` selects is read, without its diagonal if `unit_diagonal`.
SINDRI_API Tensor triangular_solve(const Tensor& a, const Tensor& b, bool lower = true, bool transpose = false, bool unit_diagonal = false);
/// Inverse of a [.., n, n], by LU with partial pivoting. Throws ValueError for a singular matrix.
SINDRI_API Tensor inverse(const Tensor& a);
/// LU decomposition of a [.., n, n] with partial pivoting. Returns three tensors: L (unit diagonal, not stored) and U
/// in one matrix [.., n, n]; the row of a that each row of L·U equals, [.., n] (int64); and the sign of that
/// permutation, [..]. A singular matrix has a zero on U's diagonal.
SINDRI_API std::tuple<Tensor, Tensor, Tensor> lu(const Tensor& a);
/// Eigenvalues [.., n], ascending, and eigenvectors in columns [.., n, n] of symmetric a [.., n, n]. Throws ValueError
/// for elements that are not finite.
SINDRI_API std::pair<Tensor, Tensor> eigh(const Tensor& a);
/// Thin SVD of a [.., m, n] = u·diag(s)·vᵀ with k = min(m, n): u [.., m, k], s [.., k] descending, v [.., n, k]. Throws
/// ValueError for elements that are not finite.
SINDRI_API std::tuple<Tensor, Tensor, Tensor> svd(const Tensor& a);
/// QR decomposition of a [.., m, n] with k = min(m, n): q [.., m, k] with orthonormal columns and upper triangular r
/// [.., k, n]. With `complete`, q is [.., m, m] and r is [.., m, n].
SINDRI_API std::pair<Tensor, Tensor> qr(const Tensor& a, bool complete = false);

}  // namespace sindri::ops
