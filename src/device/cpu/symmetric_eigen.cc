#include "src/device/cpu/symmetric_eigen.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <vector>

namespace sindri {

namespace {

// Rotates rows and columns p and q of a so that a(p, q) becomes 0 (Golub and Van Loan, section 8.5.2).
void rotate(RowMajorMatrix* a, RowMajorMatrix* v, int64_t p, int64_t q) {
  const double theta = ((*a)(q, q) - (*a)(p, p)) / (2 * (*a)(p, q));
  const double t = (theta >= 0 ? 1 : -1) / (std::abs(theta) + std::sqrt(theta * theta + 1)), c = 1 / std::sqrt(t * t + 1), s = t * c;
  const int64_t n = a->rows();
  const auto turn = [&](double& x, double& y) {
    const double old = x;
    x = c * old - s * y;
    y = s * old + c * y;
  };
  for (int64_t k = 0; k < n; ++k) turn((*a)(k, p), (*a)(k, q));
  for (int64_t k = 0; k < n; ++k) turn((*a)(p, k), (*a)(q, k));
  for (int64_t k = 0; k < n; ++k) turn((*v)(k, p), (*v)(k, q));
}

bool jacobi(RowMajorMatrix a, Eigen::VectorXd* w, RowMajorMatrix* v) {
  const int64_t n = a.rows();
  RowMajorMatrix vectors = RowMajorMatrix::Identity(n, n);
  const double scale = a.norm();
  bool done = false;
  for (int sweep = 0; sweep < 60 && !done; ++sweep) {
    done = true;
    for (int64_t p = 0; p < n; ++p)
      for (int64_t q = p + 1; q < n; ++q) {
        if (std::abs(a(p, q)) <= 1e-16 * scale) continue;
        done = false;
        rotate(&a, &vectors, p, q);
      }
  }
  std::vector<int64_t> order(static_cast<size_t>(n));
  std::iota(order.begin(), order.end(), int64_t{0});
  std::sort(order.begin(), order.end(), [&](int64_t i, int64_t j) { return a(i, i) < a(j, j); });
  w->resize(n);
  v->resize(n, n);
  for (int64_t i = 0; i < n; ++i) {
    (*w)(i) = a(order[static_cast<size_t>(i)], order[static_cast<size_t>(i)]);
    v->col(i) = vectors.col(order[static_cast<size_t>(i)]);
  }
  return done;
}

bool eigen(const RowMajorMatrix& a, Eigen::VectorXd* w, RowMajorMatrix* v) {
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> solver{Eigen::MatrixXd(a)};
  if (solver.info() != Eigen::Success) return false;
  *w = solver.eigenvalues();
  *v = solver.eigenvectors();
  return true;
}

// An eigenvector is determined up to its sign: the first component of largest magnitude (to 1 part in 10^9) is made positive.
void fix_sign(RowMajorMatrix* v, int64_t column) {
  const double largest = v->col(column).cwiseAbs().maxCoeff();
  for (int64_t i = 0; i < v->rows(); ++i) {
    if (std::abs((*v)(i, column)) < largest * (1 - 1e-9)) continue;
    if ((*v)(i, column) < 0) v->col(column) *= -1;
    return;
  }
}

}  // namespace

bool symmetric_eigen(const RowMajorMatrix& a, bool plain, Eigen::VectorXd* w, RowMajorMatrix* v) {
  if (!(plain ? jacobi(a, w, v) : eigen(a, w, v))) return false;
  for (int64_t c = 0; c < a.rows(); ++c) fix_sign(v, c);
  return true;
}

}  // namespace sindri
