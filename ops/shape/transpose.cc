// transpose: permutes dimensions.
#include "ops/shape/shape_ops.h"
#include "sindri/op/bind.h"
#include "sindri/ops/shape.h"
#include "src/op/quick_call.h"

namespace sindri {
namespace {

using namespace shape_ops;

const OpDef& kTranspose = register_op({
    .name = "transpose",
    .doc = "Dimension i of the result is dimension perm[i] of x. Throws ValueError unless perm names every dimension once.",
    .attrs = attrs_type<TransposeAttrs>(),
    .traits = {.layout = LayoutRule::kContiguousOnly, .saves_in = kSavesNone, .rearranges = true},
    .infer = [](const Attrs& attrs, Span<const TensorMeta> in) -> std::vector<TensorMeta> {
      check_arity("transpose", in, 1);
      Shape out;
      for (int a : resolve_perm(in[0].shape, attrs.as<TransposeAttrs>().perm)) out.push_back(in[0].shape[a]);
      return {{out, in[0].dtype, Layout::kContiguous, in[0].device}};
    },
    .vjp = [](const VjpContext& c) -> std::vector<Tensor> {
      const std::vector<int> perm = resolve_perm(c.in[0].shape(), c.attrs.as<TransposeAttrs>().perm);
      std::vector<int64_t> inverse(perm.size());
      for (size_t i = 0; i < perm.size(); ++i) inverse[static_cast<size_t>(perm[i])] = static_cast<int64_t>(i);
      return {ops::transpose(c.dout[0], inverse)};
    },
});

}  // namespace

Tensor ops::transpose(const Tensor& x, const std::vector<int64_t>& perm) { return bind_one(kTranspose, recent_attrs(TransposeAttrs{perm}), {&x}); }

}  // namespace sindri
