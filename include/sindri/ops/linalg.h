// Dense linear algebra over the last two dimensions (leading dimensions are a batch). float32 and float64.
#pragma once
#include <tuple>
#include <utility>

#include "sindri/core/tensor.h"
#include "sindri/export.h"

namespace sindri::ops {

/// Lower triangular L with L·Lᵀ = a; a symmetric positive definite (the lower triangle is read). Throws ValueError naming the
/// batch index and the pivot when it is not.
SINDRI_API Tensor cholesky(const Tensor& a);
/// Solves op(a)·x = b for triangular a [.., n, n], b [.., n, m].
SINDRI_API Tensor triangular_solve(const Tensor& a, const Tensor& b, bool lower = true, bool transpose = false, bool unit_diagonal = false);
/// Throws ValueError for a singular matrix.
SINDRI_API Tensor inverse(const Tensor& a);
/// Partial pivoting of a [.., n, n]: L (unit diagonal, not stored) and U in one matrix, the rows of a that the rows of L·U are
/// [.., n] (int64), and the sign of that permutation [..]. A singular matrix has a zero on U's diagonal.
SINDRI_API std::tuple<Tensor, Tensor, Tensor> lu(const Tensor& a);
/// Symmetric eigenproblem: ascending eigenvalues [.., n] and eigenvectors in columns [.., n, n].
SINDRI_API std::pair<Tensor, Tensor> eigh(const Tensor& a);
/// Thin SVD: u [.., m, k], s [.., k] descending, v [.., n, k], a = u·diag(s)·vᵀ, k = min(m, n).
SINDRI_API std::tuple<Tensor, Tensor, Tensor> svd(const Tensor& a);
/// a [.., m, n] = q·r, k = min(m, n): q [.., m, k] with orthonormal columns, r [.., k, n] upper triangular; complete: [.., m, m] and [.., m, n].
SINDRI_API std::pair<Tensor, Tensor> qr(const Tensor& a, bool complete = false);

}  // namespace sindri::ops
