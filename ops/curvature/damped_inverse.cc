// damped_inverse.
#include <fmt/format.h>

#include "ops/curvature/blocks.h"
#include "sindri/core/error.h"
#include "sindri/op/bind.h"
#include "sindri/ops/curvature.h"

namespace sindri {
namespace {

using namespace curvature;

std::vector<TensorMeta> infer_inverse(const Attrs& attrs, Span<const TensorMeta> in) {
  check_factors("damped_inverse", in, 3, attrs.as<DampedInverseAttrs>().d);
  const Shape& s = in[0].shape;
  if (in[1].numel() != 1) throw ShapeError(fmt::format("damped_inverse: damping must be one number, got {}", in[1].str()));
  if (in[2].shape != s) throw ShapeError(fmt::format("damped_inverse: previous is {}, the blocks {}", in[2].str(), in[0].str()));
  return {{s, in[0].dtype, Layout::kContiguous, in[0].device}, {Shape{}, in[0].dtype, Layout::kContiguous, in[0].device}};
}

const OpDef& kDampedInverse = register_op({
    .name = "damped_inverse",
    .doc = "blocks [k·ceil(d/b), b, b] of gram, damping (a scalar), previous as blocks -> (block + damping·I)^-1, exactly symmetric, zero beyond d; and a "
           "scalar, 1 if a block was not positive definite or not finite and `previous` is returned instead, else 0. mine [k·ceil(d/b)], optional: blocks for "
           "which it is 0 are skipped, their inverse is 0. No gradient.",
    .attrs = attrs_type<DampedInverseAttrs>(),
    .traits = {.amp = AmpClass::kFp32, .saves_in = kSavesNone},
    .infer = infer_inverse,
    .flops = [](const Attrs&, Span<const TensorMeta> in, Span<const TensorMeta>) { return 2 * in[0].numel() * (in[0].shape.rank() == 3 ? in[0].shape[2] : 0); },
});

}  // namespace

std::pair<Tensor, Tensor> ops::damped_inverse(const Tensor& blocks, const Tensor& damping, const Tensor& previous, int64_t d, const Tensor& mine) {
  std::vector<Tensor> in = {blocks, damping, previous};
  if (mine.defined()) in.push_back(mine);
  const std::vector<Tensor> out = sindri::bind(kDampedInverse, Attrs::of(DampedInverseAttrs{d}), in);
  return {out[0], out[1]};
}

}  // namespace sindri
