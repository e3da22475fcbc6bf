// inverse on the CPU: Eigen's LU, and Gauss-Jordan elimination in double as reference.
#include <cmath>
#include <utility>
#include <vector>

#include "ops/linalg/eigen.h"
#include "ops/linalg/matrix.h"

namespace sindri::inverse_kernels {
namespace {

using namespace linalg;

// Returns -1, or the column without a pivot.
template <class T> int64_t invert(const T* a, T* y, int64_t n) {
  const int64_t width = 2 * n;
  std::vector<double> w(static_cast<size_t>(n * width), 0.0);  // [a | I]
  const auto at = [&](int64_t i, int64_t j) -> double& { return w[static_cast<size_t>(i * width + j)]; };
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t j = 0; j < n; ++j) at(i, j) = static_cast<double>(a[i * n + j]);
    at(i, n + i) = 1;
  }
  for (int64_t c = 0; c < n; ++c) {
    int64_t best = c;
    for (int64_t i = c + 1; i < n; ++i)
      if (std::abs(at(i, c)) > std::abs(at(best, c))) best = i;
    if (!(std::abs(at(best, c)) > 0)) return c;
    for (int64_t j = 0; j < width; ++j) std::swap(at(c, j), at(best, j));
    const double pivot = at(c, c);
    for (int64_t j = 0; j < width; ++j) at(c, j) /= pivot;
    for (int64_t i = 0; i < n; ++i) {
      const double factor = at(i, c);
      if (i == c || factor == 0) continue;
      for (int64_t j = 0; j < width; ++j) at(i, j) -= factor * at(c, j);
    }
  }
  for (int64_t i = 0; i < n; ++i)
    for (int64_t j = 0; j < n; ++j) y[i * n + j] = static_cast<T>(at(i, n + j));
  return -1;
}

template <class T> int64_t invert_eigen(const T* a, T* y, int64_t n) {
  const Eigen::PartialPivLU<Matrix<T>> lu{ConstMatrixMap<T>(a, n, n)};
  for (int64_t i = 0; i < n; ++i)
    if (!(std::abs(lu.matrixLU()(i, i)) > 0)) return i;
  MatrixMap<T>(y, n, n) = lu.inverse();
  return -1;
}

template <bool kEigen, class T> void inverse(const KernelQuery& q, Span<const Buffer> in, Span<const Buffer> out) {
  const Stack s = stack_of(q.in[0].shape);
  if (s.rows == 0) return;
  for_each_matrix(
      s.batch, s.rows * s.rows * s.rows,
      [&](int64_t i) {
        const T* a = in[0].as<T>() + i * s.rows * s.rows;
        T* y = out[0].as<T>() + i * s.rows * s.rows;
        return kEigen ? invert_eigen(a, y, s.rows) : invert(a, y, s.rows);
      },
      [&](int64_t i, int64_t pivot) { throw_singular(q.in[0], i, pivot); });
}

template <bool kEigen> void run(const KernelQuery& q, Span<const Buffer> in, Span<const Buffer> out) {
  if (q.in[0].dtype == DType::kFloat32) inverse<kEigen, float>(q, in, out);
  else inverse<kEigen, double>(q, in, out);
}

const bool kInverse = register_kernel({.op = "inverse", .name = "eigen", .simple = run<true>});
const bool kReference = register_kernel({.op = "inverse", .name = "reference", .priority = kReferencePriority, .simple = run<false>});

}  // namespace
}  // namespace sindri::inverse_kernels
