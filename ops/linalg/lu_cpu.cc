// lu on the CPU: Eigen's blocked algorithm, and elimination in double as reference.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>
#include <vector>

#include "ops/linalg/eigen.h"
#include "ops/linalg/matrix.h"

namespace sindri::lu_kernels {
namespace {

using namespace linalg;

// Step k = 0 … n-1 divides column k below the diagonal by the pivot and updates the elements to the right of it. A column without a pivot is unchanged.
template <class T> void eliminate(const T* a, T* packed, int64_t* rows, int64_t n) {
  std::vector<double> w(a, a + n * n);
  const auto at = [&](int64_t i, int64_t j) -> double& { return w[static_cast<size_t>(i * n + j)]; };
  std::iota(rows, rows + n, int64_t{0});
  for (int64_t k = 0; k < n; ++k) {
    int64_t best = k;
    for (int64_t i = k + 1; i < n; ++i)
      if (std::abs(at(i, k)) > std::abs(at(best, k))) best = i;
    if (at(best, k) == 0) continue;
    if (best != k) {
      for (int64_t j = 0; j < n; ++j) std::swap(at(k, j), at(best, j));
      std::swap(rows[k], rows[best]);
    }
    for (int64_t i = k + 1; i < n; ++i) {
      at(i, k) /= at(k, k);
      for (int64_t j = k + 1; j < n; ++j) at(i, j) -= at(i, k) * at(k, j);
    }
  }
  std::transform(w.begin(), w.end(), packed, [](double v) { return static_cast<T>(v); });
}

template <class T> void factor_eigen(const T* a, T* packed, int64_t* rows, int64_t n) {
  const Eigen::PartialPivLU<Matrix<T>> lu{ConstMatrixMap<T>(a, n, n)};
  MatrixMap<T>(packed, n, n) = lu.matrixLU();
  for (int64_t i = 0; i < n; ++i) rows[lu.permutationP().indices()(i)] = i;
}

// -1 for an odd number of exchanges: a cycle of length k consists of k - 1 exchanges.
int sign_of(const int64_t* rows, int64_t n) {
  std::vector<bool> seen(static_cast<size_t>(n), false);
  int sign = 1;
  for (int64_t i = 0; i < n; ++i)
    for (int64_t j = rows[i]; !seen[static_cast<size_t>(i)] && j != i; j = rows[j]) {
      seen[static_cast<size_t>(j)] = true;
      sign = -sign;
    }
  return sign;
}

template <bool kEigen, class T> void lu(const KernelQuery& q, Span<const Buffer> in, Span<const Buffer> out) {
  const Stack s = stack_of(q.in[0].shape);
  const int64_t n = s.rows, size = n * n;
  T* const sign = out[2].as<T>();
  if (n == 0) return std::fill_n(sign, s.batch, T{1}), void();  // the determinant of an empty matrix
  for_each_matrix(
      s.batch, size * n / 3,
      [&](int64_t i) {
        const T* const a = in[0].as<T>() + i * size;
        int64_t* const rows = out[1].as<int64_t>() + i * n;
        if (kEigen) factor_eigen(a, out[0].as<T>() + i * size, rows, n);
        else eliminate(a, out[0].as<T>() + i * size, rows, n);
        sign[i] = static_cast<T>(sign_of(rows, n));
        return int64_t{-1};
      },
      [](int64_t, int64_t) {});
}

template <bool kEigen> void run(const KernelQuery& q, Span<const Buffer> in, Span<const Buffer> out) {
  if (q.in[0].dtype == DType::kFloat32) lu<kEigen, float>(q, in, out);
  else lu<kEigen, double>(q, in, out);
}

const bool kLu = register_kernel({.op = "lu", .name = "eigen", .simple = run<true>});
const bool kReference = register_kernel({.op = "lu", .name = "reference", .priority = kReferencePriority, .simple = run<false>});

}  // namespace
}  // namespace sindri::lu_kernels
