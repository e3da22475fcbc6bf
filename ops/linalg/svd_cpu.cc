// svd on the CPU, in double for both types: Eigen's two-sided Jacobi (after QR) for small matrices and divide and conquer for
// large ones, and one-sided Jacobi rotations as reference.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "ops/linalg/eigen.h"
#include "ops/linalg/matrix.h"
#include "sindri/core/error.h"

namespace sindri {
namespace {

using namespace linalg;
using Dense = Eigen::MatrixXd;

struct Factors {
  Dense u, v;
  Eigen::VectorXd s;
};

// Replaces column c of u, whose singular value is 0, by a unit vector orthogonal to columns 0 … c-1.
void complete(Dense* u, int64_t c) {
  for (int64_t e = 0; e < u->rows(); ++e) {
    Eigen::VectorXd x = Eigen::VectorXd::Unit(u->rows(), e);
    for (int pass = 0; pass < 2; ++pass)
      for (int64_t k = 0; k < c; ++k) x -= u->col(k).dot(x) * u->col(k);
    if (x.norm() < 0.5 / std::sqrt(static_cast<double>(u->rows()))) continue;
    u->col(c) = x.normalized();
    return;
  }
}

// Hestenes 1958: rotates pairs of columns of a (m >= n) until all are orthogonal; their lengths are the singular values.
Factors one_sided_jacobi(Dense a) {
  const int64_t n = a.cols();
  Dense v = Dense::Identity(n, n);
  bool done = false;
  for (int sweep = 0; sweep < 60 && !done; ++sweep) {
    done = true;
    for (int64_t p = 0; p < n; ++p)
      for (int64_t q = p + 1; q < n; ++q) {
        const double pp = a.col(p).squaredNorm(), qq = a.col(q).squaredNorm(), pq = a.col(p).dot(a.col(q));
        if (std::abs(pq) <= 1e-16 * std::sqrt(pp * qq)) continue;
        done = false;
        const double zeta = (qq - pp) / (2 * pq), t = (zeta >= 0 ? 1 : -1) / (std::abs(zeta) + std::sqrt(1 + zeta * zeta)), c = 1 / std::sqrt(1 + t * t);
        const Eigen::JacobiRotation<double> r(c, c * t);
        a.applyOnTheRight(p, q, r);
        v.applyOnTheRight(p, q, r);
      }
  }
  std::vector<int64_t> order(static_cast<size_t>(n));
  std::iota(order.begin(), order.end(), int64_t{0});
  std::stable_sort(order.begin(), order.end(), [&](int64_t i, int64_t j) { return a.col(i).norm() > a.col(j).norm(); });
  Factors f{Dense(a.rows(), n), Dense(n, n), Eigen::VectorXd(n)};
  for (int64_t i = 0; i < n; ++i) {
    const int64_t from = order[static_cast<size_t>(i)];
    f.s(i) = a.col(from).norm();
    f.v.col(i) = v.col(from);
    if (f.s(i) > 1e-15 * f.s(0)) f.u.col(i) = a.col(from) / f.s(i);
    else complete(&f.u, i);
  }
  return f;
}

Factors reference(const Dense& a) {
  if (a.rows() >= a.cols()) return one_sided_jacobi(a);
  Factors f = one_sided_jacobi(a.transpose());
  std::swap(f.u, f.v);
  return f;
}

Factors eigen(const Dense& a) {
  constexpr unsigned kThin = Eigen::ComputeThinU | Eigen::ComputeThinV;
  if (a.rows() * a.cols() <= 32 * 32) {
    const Eigen::JacobiSVD<Dense> svd(a, kThin);
    return {svd.matrixU(), svd.matrixV(), svd.singularValues()};
  }
  const Eigen::BDCSVD<Dense> svd(a, kThin);
  return {svd.matrixU(), svd.matrixV(), svd.singularValues()};
}

// A pair of singular vectors is determined up to a common sign: the first component of u of largest magnitude (to 1 part in
// 10^9) is made positive.
void fix_sign(Factors* f, int64_t column) {
  const double largest = f->u.col(column).cwiseAbs().maxCoeff();
  for (int64_t i = 0; i < f->u.rows(); ++i) {
    if (std::abs(f->u(i, column)) < largest * (1 - 1e-9)) continue;
    if (f->u(i, column) > 0) return;
    f->u.col(column) *= -1;
    f->v.col(column) *= -1;
    return;
  }
}

template <bool kEigen, class T> void svd(const KernelQuery& q, Span<const Buffer> in, Span<const Buffer> out) {
  const Stack s = stack_of(q.in[0].shape);
  const int64_t k = std::min(s.rows, s.columns);
  if (k == 0) return;
  check_finite("svd", in[0]);
  for_each_matrix(
      s.batch, 20 * s.rows * s.columns * k,
      [&](int64_t i) -> int64_t {
        const Dense a = ConstMatrixMap<T>(in[0].as<T>() + i * s.rows * s.columns, s.rows, s.columns).template cast<double>();
        Factors f = kEigen ? eigen(a) : reference(a);
        for (int64_t c = 0; c < k; ++c) fix_sign(&f, c);
        MatrixMap<T>(out[0].as<T>() + i * s.rows * k, s.rows, k) = f.u.cast<T>();
        Eigen::Map<Eigen::Matrix<T, Eigen::Dynamic, 1>>(out[1].as<T>() + i * k, k) = f.s.cast<T>();
        MatrixMap<T>(out[2].as<T>() + i * s.columns * k, s.columns, k) = f.v.cast<T>();
        return -1;
      },
      [](int64_t, int64_t) {});
}

template <bool kEigen> void run(const KernelQuery& q, Span<const Buffer> in, Span<const Buffer> out) {
  if (q.in[0].dtype == DType::kFloat32) svd<kEigen, float>(q, in, out);
  else svd<kEigen, double>(q, in, out);
}

const bool kSvd = register_kernel({.op = "svd", .name = "eigen", .simple = run<true>});
const bool kReference = register_kernel({.op = "svd", .name = "reference", .priority = kReferencePriority, .simple = run<false>});

}  // namespace
}  // namespace sindri
