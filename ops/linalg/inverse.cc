// inverse of square matrices.
#include "ops/linalg/matrix.h"
#include "sindri/op/bind.h"
#include "sindri/ops/elementwise.h"
#include "sindri/ops/linalg.h"
#include "sindri/ops/matmul.h"
#include "src/op/quick_call.h"

namespace sindri {
namespace {

using namespace linalg;

const OpDef& kInverse = register_op({
    .name = "inverse",
    .doc = "a⁻¹ for a [.., n, n], by LU with partial pivoting. Throws ValueError naming the batch index and the pivot for a singular matrix.",
    .traits = {.amp = AmpClass::kFp32, .saves_in = kSavesNone, .saves_out = saves(0)},
    .infer = [](const Attrs&, Span<const TensorMeta> in) -> std::vector<TensorMeta> {
      check_arity("inverse", in, 1);
      check_square("inverse", in[0], "the input");
      return {{in[0].shape, in[0].dtype, Layout::kContiguous, in[0].device}};
    },
    // Giles 2008, section 2.2.3: da = -Yᵀ·dY·Yᵀ.
    .vjp = [](const VjpContext& c) -> std::vector<Tensor> {
      return {ops::neg(ops::batch_matmul(ops::batch_matmul(c.out[0], c.dout[0], true), c.out[0], false, true))};
    },
});

}  // namespace

Tensor ops::inverse(const Tensor& a) { return bind_one(kInverse, Attrs(), {&a}); }

}  // namespace sindri
