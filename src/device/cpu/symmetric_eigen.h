// Eigenvalues and eigenvectors of one symmetric matrix, in double.
#pragma once

#define EIGEN_DONT_PARALLELIZE
#include <Eigen/Dense>

namespace sindri {

using RowMajorMatrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

/// Of symmetric, finite a: eigenvalues, ascending, and eigenvectors in columns, of which the component of largest magnitude is positive. By Eigen's
/// tridiagonal QR, or, `plain`, by cyclic Jacobi rotations. False where the iteration did not converge.
bool symmetric_eigen(const RowMajorMatrix& a, bool plain, Eigen::VectorXd* w, RowMajorMatrix* v);

}  // namespace sindri
