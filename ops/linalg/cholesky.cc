// cholesky and triangular_solve.
#include <fmt/format.h>

#include "ops/linalg/matrix.h"
#include "sindri/core/error.h"
#include "sindri/op/bind.h"
#include "sindri/ops/elementwise.h"
#include "sindri/ops/linalg.h"
#include "sindri/ops/matmul.h"
#include "sindri/ops/shape.h"
#include "src/op/quick_call.h"

namespace sindri {
namespace {

using namespace linalg;

// Murray 2016, "Differentiation of the Cholesky decomposition", eq. (10): with P = Φ(Lᵀ·dL), Φ the lower triangle with its diagonal
// halved, S = L⁻ᵀ·P·L⁻¹ and da = (S + Sᵀ)/2. The gradient is that of a symmetric a: each off-diagonal pair shares its derivative.
std::vector<Tensor> cholesky_vjp(const VjpContext& c) {
  const Tensor& l = c.out[0];
  const Tensor p = ops::mul(ops::batch_matmul(l, c.dout[0], true), triangle_mask(l, l.dim(-1), 1, 0.5, 0));
  const Tensor half = ops::triangular_solve(l, p, true, true);  // L⁻ᵀ·P
  const Tensor s = ops::triangular_solve(l, transposed(half), true, true);  // Sᵀ = L⁻ᵀ·(L⁻ᵀ·P)ᵀ
  return {ops::mul(ops::add(s, transposed(s)), 0.5)};
}

const OpDef& kCholesky = register_op({
    .name = "cholesky",
    .doc = "Lower triangular L with L·Lᵀ = a for symmetric positive definite a [.., n, n]; the lower triangle is read. Throws ValueError "
           "naming the batch index and the pivot when a is not positive definite.",
    .traits = {.amp = AmpClass::kFp32, .saves_in = kSavesNone, .saves_out = saves(0)},
    .infer = [](const Attrs&, Span<const TensorMeta> in) -> std::vector<TensorMeta> {
      check_arity("cholesky", in, 1);
      check_square("cholesky", in[0], "the input");
      return {{in[0].shape, in[0].dtype, Layout::kContiguous, in[0].device}};
    },
    .vjp = cholesky_vjp,
});

std::vector<TensorMeta> infer_solve(const Attrs&, Span<const TensorMeta> in) {
  check_arity("triangular_solve", in, 2);
  check_square("triangular_solve", in[0], "a");
  check_matrix("triangular_solve", in[1], "b");
  check_same_dtype("triangular_solve", in);
  const Shape &a = in[0].shape, &b = in[1].shape;
  if (a.rank() != b.rank() || with_matrix(a, a.back(), b.back()) != b)
    throw ShapeError(fmt::format("triangular_solve: a {} needs b of shape {}, got {}", in[0].str(), with_matrix(a, a.back(), b.back()).str(), in[1].str()));
  return {{b, in[1].dtype, Layout::kContiguous, in[1].device}};
}

// x = op(a)⁻¹·b: db = op(a)⁻ᵀ·dx, and d op(a) = -db·xᵀ within the triangle that is read.
std::vector<Tensor> solve_vjp(const VjpContext& c) {
  const auto& a = c.attrs.as<TriangularSolveAttrs>();
  const Tensor db = ops::triangular_solve(c.in[0], c.dout[0], a.lower, !a.transpose, a.unit_diagonal);
  if (!c.needs[0]) return {Tensor{}, db};
  const Tensor &x = c.out[0], product = a.transpose ? ops::batch_matmul(x, db, false, true) : ops::batch_matmul(db, x, false, true);
  return {ops::mul(product, triangle_mask(x, x.dim(-2), a.lower ? -1 : 0, a.unit_diagonal ? 0 : -1, a.lower ? 0 : -1)), db};
}

const OpDef& kSolve = register_op({
    .name = "triangular_solve",
    .doc = "x with op(a)·x = b for triangular a [.., n, n] and b [.., n, m], where op is the transpose if requested. Only the named triangle is read, and the "
           "diagonal is not read if it is unit. A zero on the diagonal gives infinities, like a division by 0.",
    .attrs = attrs_type<TriangularSolveAttrs>(),
    .traits = {.amp = AmpClass::kFp32, .saves_in = saves(0), .saves_out = saves(0)},
    .infer = infer_solve,
    .vjp = solve_vjp,
});

}  // namespace

Tensor ops::cholesky(const Tensor& a) { return bind_one(kCholesky, Attrs(), {&a}); }
Tensor ops::triangular_solve(const Tensor& a, const Tensor& b, bool lower, bool transpose, bool unit_diagonal) {
  return bind_one(kSolve, Attrs::of(TriangularSolveAttrs{lower, transpose, unit_diagonal}), {a, b});
}

}  // namespace sindri
