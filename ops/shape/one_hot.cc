// one_hot: rows with one nonzero element.
#include <fmt/format.h>

#include "ops/shape/shape_ops.h"
#include "sindri/core/error.h"
#include "sindri/op/bind.h"
#include "sindri/ops/shape.h"

namespace sindri {
namespace {

using namespace shape_ops;

const OpDef& kOneHot = register_op({
    .name = "one_hot",
    .doc = "indices.shape + [depth]: `on` at the index, `off` elsewhere; an index outside [0, depth) gives a row of `off`.",
    .attrs = attrs_type<OneHotAttrs>(),
    .traits = {.saves_in = kSavesNone},
    .infer = [](const Attrs& attrs, Span<const TensorMeta> in) -> std::vector<TensorMeta> {
      check_arity("one_hot", in, 1);
      check_indices("one_hot", in[0]);
      const auto& a = attrs.as<OneHotAttrs>();
      if (a.depth < 0) throw ValueError(fmt::format("one_hot: depth {} is negative", a.depth));
      check_value("one_hot", a.on, a.dtype);
      check_value("one_hot", a.off, a.dtype);
      Shape out = in[0].shape;
      out.push_back(a.depth);
      check_shape("one_hot", out, a.dtype);
      return {{out, a.dtype, Layout::kContiguous, in[0].device}};
    },
});

}  // namespace

Tensor ops::one_hot(const Tensor& indices, int64_t depth, double on, double off, DType dtype) {
  return bind_one(kOneHot, Attrs::of(OneHotAttrs{depth, on, off, dtype}), {indices});
}

}  // namespace sindri
