// Eigenvalues and eigenvectors of one symmetric matrix, in double.
#pragma once

#define EIGEN_DONT_PARALLELIZE
#include <Eigen/Dense>

namespace sindri {

using RowMajorMatrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

/// For a symmetric, finite a, computes the eigenvalues, ascending, and the eigenvectors as columns, with a positive
/// component of largest magnitude. Uses Eigen's tridiagonal QR or, if `plain`, cyclic Jacobi rotations. Returns false
/// if the iteration did not converge.
bool symmetric_eigen(const RowMajorMatrix& a, bool plain, Eigen::VectorXd* w, RowMajorMatrix* v);

}  // namespace sindri
