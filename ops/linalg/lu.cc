// lu: triangular factors of square matrices, from which determinants and solutions are computed.
#include "ops/linalg/matrix.h"
#include "sindri/op/bind.h"
#include "sindri/ops/elementwise.h"
#include "sindri/ops/linalg.h"
#include "sindri/ops/matmul.h"
#include "sindri/ops/shape.h"

namespace sindri {
namespace {

using namespace linalg;

// de Hoog, Anderssen & Lukas 2011, "Differentiation of matrix functionals using triangular factorization": with P·a = L·U, g_L the gradient below
// the diagonal and g_U the gradient on and above it,
//   P·da = L⁻ᵀ·(tril(Lᵀ·g_L, -1) + triu(g_U·Uᵀ))·U⁻ᵀ.
// The sign is constant wherever it is differentiable.
std::vector<Tensor> vjp(const VjpContext& c) {
  if (!c.dout[0].defined()) return {Tensor{}};
  const Tensor &packed = c.out[0], &rows = c.out[1], &g = c.dout[0];
  const int64_t n = packed.dim(-1);
  const Tensor below = triangle_mask(packed, n, 1, 0, 0), from = triangle_mask(packed, n, 0, 1, 1);
  const Tensor l = ops::add(ops::mul(packed, below), triangle_mask(packed, n, 0, 1, 0)), u = ops::mul(packed, from);
  const Tensor lower = ops::mul(ops::batch_matmul(l, ops::mul(g, below), true), below);
  const Tensor upper = ops::mul(ops::batch_matmul(ops::mul(g, from), u, false, true), from);
  const Tensor left = ops::triangular_solve(packed, ops::add(lower, upper), true, true, true);  // L⁻ᵀ·(…)
  const Tensor both = transposed(ops::triangular_solve(packed, transposed(left), false));  // …·U⁻ᵀ = (U⁻¹·…ᵀ)ᵀ
  return {ops::batch_matmul(ops::one_hot(rows, n, 1, 0, packed.dtype()), both, true)};
}

const OpDef& kLu = register_op({
    .name = "lu",
    .doc = "LU by partial pivoting of a [.., n, n]: L (unit diagonal, not stored) and U in one matrix [.., n, n], the rows of a that the rows of L·U are "
           "[.., n] (int64), and the sign of that permutation [..] in a's type. A singular matrix has a zero on U's diagonal, where the gradient is NaN.",
    .traits = {.amp = AmpClass::kFp32, .saves_in = kSavesNone, .saves_out = saves(0, 1)},
    .infer = [](const Attrs&, Span<const TensorMeta> in) -> std::vector<TensorMeta> {
      check_arity("lu", in, 1);
      check_square("lu", in[0], "the input");
      const Shape& s = in[0].shape;
      Shape batch;
      for (int d = 0; d < s.rank() - 2; ++d) batch.push_back(s[d]);
      const auto out = [&](const Shape& shape, DType type) { return TensorMeta{shape, type, Layout::kContiguous, in[0].device}; };
      return {out(s, in[0].dtype), out(with_matrix(s, s.back(), -1), DType::kInt64), out(batch, in[0].dtype)};
    },
    .vjp = vjp,
});

}  // namespace

std::tuple<Tensor, Tensor, Tensor> ops::lu(const Tensor& a) {
  std::vector<Tensor> out = bind(kLu, Attrs(), {a});
  return {out[0], out[1], out[2]};
}

}  // namespace sindri
