// ravel_indices: converts index tensors, one per dimension, to positions in the flat tensor. Each index is checked against its own
// dimension, since the position alone no longer shows an invalid one. Positions are int64 whatever the indices' type, so that they do not
// wrap in large tensors.
#include <fmt/format.h>

#include "ops/shape/shape_ops.h"
#include "sindri/core/error.h"
#include "sindri/op/bind.h"
#include "sindri/ops/shape.h"

namespace sindri {
namespace {

using namespace shape_ops;

const OpDef& kRavelIndices = register_op({
    .name = "ravel_indices",
    .doc = "One int32 or int64 tensor of indices per dimension of `dims`, broadcast together -> int64 row-major positions in a tensor of that "
           "shape; negative indices count from the end if `wrap` is set. Throws ValueError for an index out of range, naming its dimension (by `axes`, "
           "if given).",
    .attrs = attrs_type<RavelIndicesAttrs>(),
    .traits = {.saves_in = kSavesNone},
    .infer = [](const Attrs& attrs, Span<const TensorMeta> in) -> std::vector<TensorMeta> {
      const auto& a = attrs.as<RavelIndicesAttrs>();
      if (in.empty() || in.size() != static_cast<size_t>(a.dims.rank()))
        throw ValueError(fmt::format("ravel_indices: dims {} need {} tensors of indices, got {}", a.dims.str(), a.dims.rank(), in.size()));
      if (!a.axes.empty() && a.axes.size() != in.size())
        throw ValueError(fmt::format("ravel_indices: {} axes are named for dims {}", a.axes.size(), a.dims.str()));
      check_shape("ravel_indices", a.dims, DType::kUInt8);
      Shape out;
      for (const TensorMeta& m : in) {
        check_indices("ravel_indices", m);
        out = broadcast_shapes(out, m.shape, "ravel_indices");
      }
      check_shape("ravel_indices", out, DType::kInt64);
      return {{out, DType::kInt64, Layout::kContiguous, in[0].device}};
    },
});

}  // namespace

Tensor ops::ravel_indices(const std::vector<Tensor>& indices, const Shape& dims, bool wrap, const std::vector<int64_t>& axes) {
  return bind(kRavelIndices, Attrs::of(RavelIndicesAttrs{dims, wrap, axes}), Span<const Tensor>(indices))[0];
}

}  // namespace sindri
