// eigh: eigenvalues and eigenvectors of symmetric matrices.
#include "ops/linalg/matrix.h"
#include "sindri/op/bind.h"
#include "sindri/ops/elementwise.h"
#include "sindri/ops/linalg.h"
#include "sindri/ops/matmul.h"
#include "sindri/ops/shape.h"

namespace sindri {
namespace {

using namespace linalg;

// Giles 2008, section 3.1, for symmetric a: da = V·(diag(dw) + F∘(Vᵀ·dV))·Vᵀ with F_ij = 1/(w_j - w_i) off the diagonal,
// symmetrised. With dV, da is finite only if the eigenvalues are distinct; otherwise it is infinite or NaN, like the derivative
// itself.
std::vector<Tensor> vjp(const VjpContext& c) {
  const Tensor &w = c.out[0], &v = c.out[1], &dw = c.dout[0], &dv = c.dout[1];
  const int64_t n = w.dim(-1);
  Tensor inner;
  if (dw.defined()) inner = ops::mul(ops::expand_dims(dw, -1), triangle_mask(w, n, 0, 1, 0));
  if (dv.defined()) {
    const Tensor eye = triangle_mask(w, n, 0, 1, 0), off = triangle_mask(w, n, 1, 0, 1);
    const Tensor f = ops::div(off, ops::add(ops::sub(ops::expand_dims(w, -2), ops::expand_dims(w, -1)), eye));
    const Tensor turned = ops::mul(f, ops::batch_matmul(v, dv, true));
    inner = inner.defined() ? ops::add(inner, turned) : turned;
  }
  const Tensor da = ops::batch_matmul(ops::batch_matmul(v, inner), v, false, true);
  return {ops::mul(ops::add(da, transposed(da)), 0.5)};
}

const OpDef& kEigh = register_op({
    .name = "eigh",
    .doc = "Ascending eigenvalues [.., n] and eigenvectors in columns [.., n, n] of symmetric a [.., n, n]; the lower triangle is read. The "
           "component of largest magnitude of each eigenvector is positive. Throws ValueError for NaN or infinite elements.",
    .traits = {.amp = AmpClass::kFp32, .saves_in = kSavesNone, .saves_out = saves(0, 1)},
    .infer = [](const Attrs&, Span<const TensorMeta> in) -> std::vector<TensorMeta> {
      check_arity("eigh", in, 1);
      check_square("eigh", in[0], "the input");
      const TensorMeta& a = in[0];
      return {{with_matrix(a.shape, a.shape.back(), -1), a.dtype, Layout::kContiguous, a.device}, {a.shape, a.dtype, Layout::kContiguous, a.device}};
    },
    .vjp = vjp,
});

}  // namespace

std::pair<Tensor, Tensor> ops::eigh(const Tensor& a) {
  std::vector<Tensor> out = bind(kEigh, Attrs(), {a});
  return {out[0], out[1]};
}

}  // namespace sindri
