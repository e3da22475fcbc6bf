// Eigen as used by the kernels of this folder: row-major maps, and no threads of Eigen, which would make results depend on their number.
#pragma once

#define EIGEN_DONT_PARALLELIZE
#include <Eigen/Dense>

namespace sindri::linalg {

template <class T> using Matrix = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
template <class T> using MatrixMap = Eigen::Map<Matrix<T>>;
template <class T> using ConstMatrixMap = Eigen::Map<const Matrix<T>>;

}  // namespace sindri::linalg
