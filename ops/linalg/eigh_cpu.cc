// eigh on the CPU, in double for both types: Eigen's tridiagonal QR, and cyclic Jacobi rotations as reference.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "ops/linalg/eigen.h"
#include "ops/linalg/matrix.h"
#include "sindri/core/error.h"

namespace sindri::eigh_kernels {
namespace {

using namespace linalg;
using Dense = Matrix<double>;
using Vector = Eigen::VectorXd;

// Rotates rows and columns p and q of a so that a(p, q) becomes 0 (Golub and Van Loan, section 8.5.2).
void rotate(Dense* a, Dense* v, int64_t p, int64_t q) {
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

bool jacobi(Dense a, Vector* w, Dense* v) {
  const int64_t n = a.rows();
  Dense vectors = Dense::Identity(n, n);
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

bool eigen(const Dense& a, Vector* w, Dense* v) {
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> solver{Eigen::MatrixXd(a)};
  if (solver.info() != Eigen::Success) return false;
  *w = solver.eigenvalues();
  *v = solver.eigenvectors();
  return true;
}

// An eigenvector is determined up to its sign: the first component of largest magnitude (to 1 part in 10^9) is made positive.
void fix_sign(Dense* v, int64_t column) {
  const double largest = v->col(column).cwiseAbs().maxCoeff();
  for (int64_t i = 0; i < v->rows(); ++i) {
    if (std::abs((*v)(i, column)) < largest * (1 - 1e-9)) continue;
    if ((*v)(i, column) < 0) v->col(column) *= -1;
    return;
  }
}

template <bool kEigen, class T> void eigh(const KernelQuery& q, Span<const Buffer> in, Span<const Buffer> out) {
  const Stack s = stack_of(q.in[0].shape);
  if (s.rows == 0) return;
  check_finite("eigh", in[0]);
  for_each_matrix(
      s.batch, 20 * s.rows * s.rows * s.rows,
      [&](int64_t i) -> int64_t {
        const Dense lower = ConstMatrixMap<T>(in[0].as<T>() + i * s.rows * s.rows, s.rows, s.rows).template cast<double>();
        const Dense a = lower.selfadjointView<Eigen::Lower>();
        Vector w;
        Dense v;
        if (!(kEigen ? eigen(a, &w, &v) : jacobi(a, &w, &v))) return 0;
        for (int64_t c = 0; c < s.rows; ++c) fix_sign(&v, c);
        Eigen::Map<Eigen::Matrix<T, Eigen::Dynamic, 1>>(out[0].as<T>() + i * s.rows, s.rows) = w.cast<T>();
        MatrixMap<T>(out[1].as<T>() + i * s.rows * s.rows, s.rows, s.rows) = v.cast<T>();
        return -1;
      },
      [&](int64_t i, int64_t) {
        throw ValueError(fmt::format("eigh: the iteration did not converge on matrix{} of {}", batch_text(q.in[0].shape, i), q.in[0].str()));
      });
}

template <bool kEigen> void run(const KernelQuery& q, Span<const Buffer> in, Span<const Buffer> out) {
  if (q.in[0].dtype == DType::kFloat32) eigh<kEigen, float>(q, in, out);
  else eigh<kEigen, double>(q, in, out);
}

const bool kEigh = register_kernel({.op = "eigh", .name = "eigen", .simple = run<true>});
const bool kReference = register_kernel({.op = "eigh", .name = "reference", .priority = kReferencePriority, .simple = run<false>});

}  // namespace
}  // namespace sindri::eigh_kernels
