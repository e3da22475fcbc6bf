// cholesky and triangular_solve on the CPU: Eigen's blocked algorithms, with textbook loops as reference.
#include <algorithm>
#include <cmath>
#include <vector>

#include "ops/linalg/eigen.h"
#include "ops/linalg/matrix.h"

namespace sindri::cholesky_kernels {
namespace {

using namespace linalg;

// Calls f with a null pointer to the C++ type of a float32 or float64 tensor.
template <class F> void with_type(DType t, F&& f) {
  if (t == DType::kFloat32) f(static_cast<float*>(nullptr));
  else f(static_cast<double*>(nullptr));
}

// Column by column in double. Returns -1, or the first pivot that is not positive.
template <class T> int64_t factor(const T* a, T* l, int64_t n) {
  std::vector<double> f(static_cast<size_t>(n * n), 0.0);
  for (int64_t j = 0; j < n; ++j) {
    for (int64_t i = j; i < n; ++i) {
      double s = static_cast<double>(a[i * n + j]);
      for (int64_t k = 0; k < j; ++k) s -= f[static_cast<size_t>(i * n + k)] * f[static_cast<size_t>(j * n + k)];
      if (i == j && !(s > 0)) return j;
      f[static_cast<size_t>(i * n + j)] = i == j ? std::sqrt(s) : s / f[static_cast<size_t>(j * n + j)];
    }
  }
  std::transform(f.begin(), f.end(), l, [](double v) { return static_cast<T>(v); });
  return -1;
}

template <class T> int64_t factor_eigen(const T* a, T* l, int64_t n) {
  MatrixMap<T> out(l, n, n);
  out = ConstMatrixMap<T>(a, n, n);
  const Eigen::LLT<Eigen::Ref<Matrix<T>>> llt(out);
  bool positive = llt.info() == Eigen::Success;
  for (int64_t i = 0; i < n && positive; ++i) positive = l[i * n + i] > 0;  // Eigen accepts NaN
  if (!positive) return factor(a, l, n);  // finds the failing pivot
  out.template triangularView<Eigen::StrictlyUpper>().setZero();
  return -1;
}

template <bool kEigen> void cholesky(const KernelQuery& q, Span<const Buffer> in, Span<const Buffer> out) {
  const Stack s = stack_of(q.in[0].shape);
  if (s.rows == 0) return;
  with_type(q.in[0].dtype, [&](auto* type) {
    using T = std::remove_pointer_t<decltype(type)>;
    for_each_matrix(
        s.batch, s.rows * s.rows * s.rows / 3,
        [&](int64_t i) {
          const T* a = in[0].as<T>() + i * s.rows * s.rows;
          T* l = out[0].as<T>() + i * s.rows * s.rows;
          return kEigen ? factor_eigen(a, l, s.rows) : factor(a, l, s.rows);
        },
        [&](int64_t i, int64_t pivot) { throw_not_positive(q.in[0], i, pivot); });
  });
}

// Forward or backward substitution in double, row by row.
template <class T> void solve(const T* a, const T* b, T* x, int64_t n, int64_t m, const TriangularSolveAttrs& attrs) {
  const bool forward = attrs.lower != attrs.transpose;
  std::vector<double> y(static_cast<size_t>(n * m));
  for (int64_t step = 0; step < n; ++step) {
    const int64_t i = forward ? step : n - 1 - step;
    for (int64_t c = 0; c < m; ++c) {
      double s = static_cast<double>(b[i * m + c]);
      for (int64_t done = 0; done < step; ++done) {
        const int64_t k = forward ? done : n - 1 - done;
        s -= static_cast<double>(attrs.transpose ? a[k * n + i] : a[i * n + k]) * y[static_cast<size_t>(k * m + c)];
      }
      y[static_cast<size_t>(i * m + c)] = attrs.unit_diagonal ? s : s / static_cast<double>(a[i * n + i]);
    }
  }
  std::transform(y.begin(), y.end(), x, [](double v) { return static_cast<T>(v); });
}

template <class T> void solve_eigen(const T* a_data, const T* b, T* x_data, int64_t n, int64_t m, const TriangularSolveAttrs& attrs) {
  const ConstMatrixMap<T> a(a_data, n, n);
  MatrixMap<T> x(x_data, n, m);
  x = ConstMatrixMap<T>(b, n, m);
  const auto with = [&](const auto& op, bool lower) {
    if (lower && attrs.unit_diagonal) op.template triangularView<Eigen::UnitLower>().solveInPlace(x);
    else if (lower) op.template triangularView<Eigen::Lower>().solveInPlace(x);
    else if (attrs.unit_diagonal) op.template triangularView<Eigen::UnitUpper>().solveInPlace(x);
    else op.template triangularView<Eigen::Upper>().solveInPlace(x);
  };
  if (attrs.transpose) with(a.transpose(), !attrs.lower);
  else with(a, attrs.lower);
}

template <bool kEigen> void triangular_solve(const KernelQuery& q, Span<const Buffer> in, Span<const Buffer> out) {
  const auto& attrs = q.attrs.as<TriangularSolveAttrs>();
  const Stack s = stack_of(q.in[1].shape);
  if (s.rows == 0 || s.columns == 0) return;
  with_type(q.in[0].dtype, [&](auto* type) {
    using T = std::remove_pointer_t<decltype(type)>;
    for_each_matrix(
        s.batch, s.rows * s.rows * s.columns,
        [&](int64_t i) -> int64_t {
          const T *a = in[0].as<T>() + i * s.rows * s.rows, *b = in[1].as<T>() + i * s.rows * s.columns;
          T* x = out[0].as<T>() + i * s.rows * s.columns;
          if (kEigen) solve_eigen(a, b, x, s.rows, s.columns, attrs);
          else solve(a, b, x, s.rows, s.columns, attrs);
          return -1;
        },
        [](int64_t, int64_t) {});
  });
}

const bool kCholesky = register_kernel({.op = "cholesky", .name = "eigen", .simple = cholesky<true>});
const bool kCholeskyReference = register_kernel({.op = "cholesky", .name = "reference", .priority = kReferencePriority, .simple = cholesky<false>});
const bool kSolve = register_kernel({.op = "triangular_solve", .name = "eigen", .simple = triangular_solve<true>});
const bool kSolveReference =
    register_kernel({.op = "triangular_solve", .name = "reference", .priority = kReferencePriority, .simple = triangular_solve<false>});

}  // namespace
}  // namespace sindri::cholesky_kernels
