// Tensors made from attributes alone: full and arange. They have no inputs, so graphs fold them into constants.
#include <fmt/format.h>

#include <cmath>

#include "ops/shape/shape_ops.h"
#include "sindri/core/error.h"
#include "sindri/op/bind.h"
#include "sindri/ops/shape.h"
#include "src/op/quick_call.h"

namespace sindri {
namespace {

using namespace shape_ops;

const OpDef& kFull = register_op({
    .name = "full",
    .doc = "A tensor of this shape with every element `value`, converted to dtype as cast does.",
    .attrs = attrs_type<FullAttrs>(),
    .traits = {.saves_in = kSavesNone},
    .infer = [](const Attrs& attrs, Span<const TensorMeta> in) -> std::vector<TensorMeta> {
      check_arity("full", in, 0);
      const auto& a = attrs.as<FullAttrs>();
      check_shape("full", a.shape, a.dtype);
      check_value("full", a.value, a.dtype);
      return {{a.shape, a.dtype, Layout::kContiguous, {}}};
    },
});

std::vector<TensorMeta> infer_arange(const Attrs& attrs, Span<const TensorMeta> in) {
  check_arity("arange", in, 0);
  const auto& a = attrs.as<ArangeAttrs>();
  if (a.step == 0 || !std::isfinite(a.start) || !std::isfinite(a.stop) || !std::isfinite(a.step))
    throw ValueError(fmt::format("arange: start {}, stop {} and step {} must be finite, and step not 0", a.start, a.stop, a.step));
  if (a.dtype == DType::kBool) throw DTypeError("arange: bool has no range");
  const double n = std::max(0.0, std::ceil((a.stop - a.start) / a.step));
  if (!(n < 0x1p60)) throw ValueError(fmt::format("arange: from {} to {} in steps of {} has too many elements", a.start, a.stop, a.step));
  if (n > 0) {
    check_value("arange", a.start, a.dtype);
    check_value("arange", a.start + (n - 1) * a.step, a.dtype);
  }
  return {{Shape{static_cast<int64_t>(n)}, a.dtype, Layout::kContiguous, {}}};
}

const OpDef& kArange = register_op({
    .name = "arange",
    .doc = "start, start + step, … below (for a negative step above) stop, computed in float64 and converted to dtype.",
    .attrs = attrs_type<ArangeAttrs>(),
    .traits = {.saves_in = kSavesNone},
    .infer = infer_arange,
});

}  // namespace

namespace ops {

Tensor full(const Shape& shape, double value, DType dtype) { return bind_one(kFull, recent_attrs(FullAttrs{shape, value, dtype})); }
Tensor zeros_like(const Tensor& x) { return full(x.shape(), 0, x.dtype()); }
Tensor ones_like(const Tensor& x) { return full(x.shape(), 1, x.dtype()); }
Tensor arange(double start, double stop, double step, DType dtype) { return bind_one(kArange, Attrs::of(ArangeAttrs{start, stop, step, dtype})); }

}  // namespace ops
}  // namespace sindri
