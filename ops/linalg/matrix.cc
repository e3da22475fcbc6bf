// See matrix.h.
#include "ops/linalg/matrix.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "sindri/core/error.h"
#include "sindri/ops/elementwise.h"
#include "sindri/ops/shape.h"
#include "src/device/cpu/parallel.h"

namespace sindri::linalg {

void check_matrix(const char* op, const TensorMeta& m, const char* which) {
  if (m.shape.rank() < 2) throw ShapeError(fmt::format("{}: {} must have at least 2 dimensions, got {}", op, which, m.str()));
  if (m.dtype != DType::kFloat32 && m.dtype != DType::kFloat64)
    throw DTypeError(fmt::format("{}: {} must be float32 or float64, got {}", op, which, m.str()), "", "convert it with ops::cast");
}

void check_square(const char* op, const TensorMeta& m, const char* which) {
  check_matrix(op, m, which);
  const int r = m.shape.rank();
  if (m.shape[r - 1] != m.shape[r - 2]) throw ShapeError(fmt::format("{}: {} must be square in its last two dimensions, got {}", op, which, m.str()));
}

Shape with_matrix(const Shape& s, int64_t rows, int64_t columns) {
  Shape out;
  for (int d = 0; d < s.rank() - 2; ++d) out.push_back(s[d]);
  out.push_back(rows);
  if (columns >= 0) out.push_back(columns);
  return out;
}

Stack stack_of(const Shape& shape) {
  const int r = shape.rank();
  Stack s{1, shape[r - 2], shape[r - 1]};
  for (int d = 0; d < r - 2; ++d) s.batch *= shape[d];
  return s;
}

std::string batch_text(const Shape& shape, int64_t index) {
  if (shape.rank() == 2) return "";
  std::vector<int64_t> at(static_cast<size_t>(shape.rank() - 2));
  for (int d = shape.rank() - 3; d >= 0; index /= shape[d--]) at[static_cast<size_t>(d)] = index % shape[d];
  return fmt::format(" [{}]", fmt::join(at, ", "));
}

void for_each_matrix(int64_t batch, int64_t cost, const std::function<int64_t(int64_t)>& f, const std::function<void(int64_t, int64_t)>& fail) {
  std::vector<int64_t> failed(static_cast<size_t>(batch), -1);
  parallel_for(batch, std::max<int64_t>(1, 100000 / std::max<int64_t>(1, cost)), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) failed[static_cast<size_t>(i)] = f(i);
  });
  for (int64_t i = 0; i < batch; ++i) {
    if (failed[static_cast<size_t>(i)] >= 0) fail(i, failed[static_cast<size_t>(i)]);
  }
}

void throw_element(const char* op, const TensorMeta& a, int64_t at, double value) {
  const Stack s = stack_of(a.shape);
  const int64_t n = s.rows * s.columns, e = at % n;
  throw ValueError(fmt::format("{}: matrix{} has the element {} at row {}, column {}", op, batch_text(a.shape, at / n), value, e / s.columns, e % s.columns));
}

void check_finite(const char* op, const Buffer& a) {
  const auto check = [&](const auto* p) {
    for (int64_t i = 0; i < a.meta->numel(); ++i)
      if (!std::isfinite(p[i])) throw_element(op, *a.meta, i, static_cast<double>(p[i]));
  };
  if (a.meta->dtype == DType::kFloat32) check(a.as<float>());
  else check(a.as<double>());
}

void throw_not_positive(const TensorMeta& a, int64_t matrix, int64_t pivot) {
  throw ValueError(fmt::format("cholesky: matrix{} of {} is not positive definite: pivot {} is not above 0", batch_text(a.shape, matrix), a.str(), pivot), "",
                   "add a multiple of the identity (damping)");
}
void throw_singular(const TensorMeta& a, int64_t matrix, int64_t column) {
  throw ValueError(fmt::format("inverse: matrix{} of {} is singular: no pivot in column {}", batch_text(a.shape, matrix), a.str(), column), "",
                   "add a multiple of the identity (damping)");
}
void throw_not_converged(const TensorMeta& a, int64_t matrix) {
  throw ValueError(fmt::format("eigh: the iteration did not converge on matrix{} of {}", batch_text(a.shape, matrix), a.str()));
}

Tensor transposed(const Tensor& x) {
  std::vector<int64_t> perm(static_cast<size_t>(x.rank()));
  for (size_t i = 0; i < perm.size(); ++i) perm[i] = static_cast<int64_t>(i);
  std::swap(perm[perm.size() - 1], perm[perm.size() - 2]);
  return ops::transpose(x, perm);
}

Tensor triangle_mask(const Tensor& like, int64_t n, double below, double on, double above) {
  const Tensor i = ops::arange(0, static_cast<double>(n)), row = ops::reshape(i, {n, 1}), column = ops::reshape(i, {1, n});
  const auto constant = [&](double v) { return ops::full({}, v, like.dtype()); };
  return ops::where(ops::equal(row, column), constant(on), ops::where(ops::greater(row, column), constant(below), constant(above)));
}

}  // namespace sindri::linalg
