// qr: orthogonal times upper triangular.
#include <fmt/format.h>

#include <algorithm>

#include "ops/linalg/matrix.h"
#include "sindri/core/error.h"
#include "sindri/op/bind.h"
#include "sindri/ops/elementwise.h"
#include "sindri/ops/linalg.h"
#include "sindri/ops/matmul.h"
#include "sindri/ops/shape.h"

namespace sindri {
namespace {

using namespace linalg;

Tensor columns(const Tensor& x, int64_t begin, int64_t end) {
  std::vector<int64_t> from(static_cast<size_t>(x.rank()), 0), to(x.shape().begin(), x.shape().end());
  from.back() = begin;
  to.back() = end;
  return ops::slice(x, from, to);
}

Tensor or_zeros(const Tensor& gradient, const Tensor& like) { return gradient.defined() ? gradient : ops::zeros_like(like); }

// q [.., m, n] with orthonormal columns, r [.., n, n]: the gradient of a = q·r is (dq + q·sym)·r⁻ᵀ, where sym is symmetric with the lower triangle of
// r·drᵀ - dqᵀ·q (Walter and Lehmann 2012, "Algorithmic differentiation of linear algebra functions").
Tensor tall_gradient(const Tensor& q, const Tensor& r, const Tensor& dq, const Tensor& dr) {
  const int64_t n = r.dim(-1);
  const Tensor m = ops::sub(ops::batch_matmul(r, dr, false, true), ops::batch_matmul(dq, q, true));
  const Tensor below = ops::mul(m, triangle_mask(r, n, 1, 0, 0)), on = ops::mul(m, triangle_mask(r, n, 0, 1, 0));
  const Tensor inner = ops::add(dq, ops::batch_matmul(q, ops::add(ops::add(below, on), transposed(below))));
  return transposed(ops::triangular_solve(r, transposed(inner), false));
}

std::vector<Tensor> vjp(const VjpContext& c) {
  const Tensor &q = c.out[0], &r = c.out[1];
  const int64_t m = c.in[0].dim(-2), n = c.in[0].dim(-1);
  if (q.dim(-1) > n)
    throw ValueError(fmt::format("qr: the complete factors of {} have no gradient, because the last columns of q are not unique", c.in[0].shape().str()), "",
                     "use the reduced factors");
  const Tensor dq = or_zeros(c.dout[0], q), dr = or_zeros(c.dout[1], r);
  if (m >= n) return {tall_gradient(q, r, dq, dr)};
  // Wide: a = [x y], r = [u v], x = q·u, y = q·v. A change of q also changes v = qᵀ·y.
  const Tensor u = columns(r, 0, m), v = columns(r, m, n), du = columns(dr, 0, m), dv = columns(dr, m, n);
  const Tensor y = ops::batch_matmul(q, v);
  const Tensor dx = tall_gradient(q, u, ops::add(dq, ops::batch_matmul(y, dv, false, true)), du);
  return {ops::concat({dx, ops::batch_matmul(q, dv)}, -1)};
}

const OpDef& kQr = register_op({
    .name = "qr",
    .doc = "a [.., m, n] = q·r by Householder reflections, with k = min(m, n): q [.., m, k] with orthonormal columns and upper triangular r [.., k, n]; "
           "`complete`: q [.., m, m] and r [.., m, n]. Signs follow LAPACK: most diagonal elements of r are negative. The gradient exists if the first k "
           "columns of a are independent; for complete factors only if m <= n.",
    .attrs = attrs_type<QrAttrs>(),
    .traits = {.amp = AmpClass::kFp32, .saves_in = kSavesNone, .saves_out = saves(0, 1)},
    .infer = [](const Attrs& attrs, Span<const TensorMeta> in) -> std::vector<TensorMeta> {
      check_arity("qr", in, 1);
      check_matrix("qr", in[0], "the input");
      const Stack s = stack_of(in[0].shape);
      const int64_t k = attrs.as<QrAttrs>().complete ? s.rows : std::min(s.rows, s.columns);
      const auto out = [&](int64_t rows, int64_t columns) {
        return TensorMeta{with_matrix(in[0].shape, rows, columns), in[0].dtype, Layout::kContiguous, in[0].device};
      };
      return {out(s.rows, k), out(k, s.columns)};
    },
    .vjp = vjp,
});

}  // namespace

std::pair<Tensor, Tensor> ops::qr(const Tensor& a, bool complete) {
  std::vector<Tensor> out = bind(kQr, Attrs::of(QrAttrs{complete}), {a});
  return {out[0], out[1]};
}

}  // namespace sindri
