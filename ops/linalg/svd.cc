// svd: thin singular value decomposition.
#include <algorithm>

#include "ops/linalg/matrix.h"
#include "sindri/op/bind.h"
#include "sindri/ops/elementwise.h"
#include "sindri/ops/linalg.h"
#include "sindri/ops/matmul.h"
#include "sindri/ops/shape.h"

namespace sindri {
namespace {

using namespace linalg;

Tensor plus(const Tensor& a, const Tensor& b) { return a.defined() ? ops::add(a, b) : b; }

// x - y·yᵀ·x: the part of x's columns orthogonal to the span of y's columns.
Tensor outside(const Tensor& x, const Tensor& y) { return ops::sub(x, ops::batch_matmul(y, ops::batch_matmul(y, x, true))); }

// F∘(qᵀ·dq - dqᵀ·q) with F_ij = 1/(s_j² - s_i²) off the diagonal.
Tensor turning(const Tensor& s, const Tensor& q, const Tensor& dq) {
  const int64_t k = s.dim(-1);
  const Tensor square = ops::square(s), gap = ops::sub(ops::expand_dims(square, -2), ops::expand_dims(square, -1));
  const Tensor f = ops::div(triangle_mask(s, k, 1, 0, 1), ops::add(gap, triangle_mask(s, k, 0, 1, 0)));
  const Tensor m = ops::batch_matmul(q, dq, true);
  return ops::mul(f, ops::sub(m, transposed(m)));
}

// Townsend 2016, "Differentiating the singular value decomposition", section 3: with the thin factors and S = diag(s)
//   da = U·(J_u·S + S·J_v + diag(ds))·Vᵀ + (I - U·Uᵀ)·dU·S⁻¹·Vᵀ + U·S⁻¹·dVᵀ·(I - V·Vᵀ).
// With dU or dV, da exists only if the singular values are distinct (and above 0 if a is not square).
std::vector<Tensor> vjp(const VjpContext& c) {
  const Tensor &u = c.out[0], &s = c.out[1], &v = c.out[2], &du = c.dout[0], &ds = c.dout[1], &dv = c.dout[2];
  const int64_t m = u.dim(-2), n = v.dim(-2), k = s.dim(-1);
  const Tensor row = ops::expand_dims(s, -2), column = ops::expand_dims(s, -1);  // ·S and S·
  Tensor inner, da;
  if (ds.defined()) inner = ops::mul(ops::expand_dims(ds, -1), triangle_mask(s, k, 0, 1, 0));
  if (du.defined()) inner = plus(inner, ops::mul(turning(s, u, du), row));
  if (dv.defined()) inner = plus(inner, ops::mul(column, turning(s, v, dv)));
  da = ops::batch_matmul(ops::batch_matmul(u, inner), v, false, true);
  if (du.defined() && m > k) da = ops::add(da, ops::batch_matmul(ops::div(outside(du, u), row), v, false, true));
  if (dv.defined() && n > k) da = ops::add(da, ops::batch_matmul(ops::div(u, row), outside(dv, v), false, true));
  return {da};
}

const OpDef& kSvd = register_op({
    .name = "svd",
    .doc = "Thin SVD of a [.., m, n]: u [.., m, k], s [.., k] descending, v [.., n, k] with a = u·diag(s)·vᵀ, k = min(m, n). The component "
           "of largest magnitude of each column of u is positive. Throws ValueError for NaN or infinite elements.",
    .traits = {.amp = AmpClass::kFp32, .saves_in = kSavesNone, .saves_out = saves(0, 1, 2)},
    .infer = [](const Attrs&, Span<const TensorMeta> in) -> std::vector<TensorMeta> {
      check_arity("svd", in, 1);
      check_matrix("svd", in[0], "the input");
      const Stack s = stack_of(in[0].shape);
      const int64_t k = std::min(s.rows, s.columns);
      const auto out = [&](int64_t rows, int64_t columns) {
        return TensorMeta{with_matrix(in[0].shape, rows, columns), in[0].dtype, Layout::kContiguous, in[0].device};
      };
      return {out(s.rows, k), out(k, -1), out(s.columns, k)};
    },
    .vjp = vjp,
});

}  // namespace

std::tuple<Tensor, Tensor, Tensor> ops::svd(const Tensor& a) {
  std::vector<Tensor> out = bind(kSvd, Attrs(), {a});
  return {out[0], out[1], out[2]};
}

}  // namespace sindri
