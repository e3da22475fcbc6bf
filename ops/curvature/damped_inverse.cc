// damped_inverse.
#include <fmt/format.h>

#include "ops/curvature/blocks.h"
#include "sindri/core/error.h"
#include "sindri/op/bind.h"
#include "sindri/ops/curvature.h"

namespace sindri {
namespace {

using namespace curvature;

std::vector<TensorMeta> infer(const Attrs& attrs, Span<const TensorMeta> in) {
  if (in.size() != 4) check_arity("damped_inverse", in, 3);
  check_rank("damped_inverse", in[0], "blocks", 3);
  check_same_dtype("damped_inverse", in);
  if (in[0].dtype != DType::kFloat32 && in[0].dtype != DType::kFloat64)
    throw DTypeError(fmt::format("damped_inverse: blocks must be float32 or float64, got {}", in[0].str()));
  const Shape& s = in[0].shape;
  const int64_t d = attrs.as<DampedInverseAttrs>().d, count = Blocks::of(d, s[2]).count();
  if (s[1] != s[2] || s[2] > d || d < 0 || (count == 0 ? s[0] != 0 : s[0] % count != 0))
    throw ShapeError(fmt::format("damped_inverse: blocks {} are not those of factors of width {}", in[0].str(), d), "", "they come from gram or conv2d_gram");
  if (in[1].numel() != 1) throw ShapeError(fmt::format("damped_inverse: damping must be one number, got {}", in[1].str()));
  if (in[2].shape != s) throw ShapeError(fmt::format("damped_inverse: previous is {}, the blocks {}", in[2].str(), in[0].str()));
  if (in.size() == 4 && in[3].shape != Shape{s[0]})
    throw ShapeError(fmt::format("damped_inverse: mine is {}, there are {} blocks", in[3].str(), s[0]), "", "one number for each block");
  return {{s, in[0].dtype, Layout::kContiguous, in[0].device}, {Shape{}, in[0].dtype, Layout::kContiguous, in[0].device}};
}

const OpDef& kDampedInverse = register_op({
    .name = "damped_inverse",
    .doc = "blocks [k·ceil(d/b), b, b] of gram, damping (a scalar), previous as blocks -> (block + damping·I)^-1, exactly symmetric, zero beyond d; and a "
           "scalar, 1 where a block was not positive definite or not finite and all of previous is given instead, else 0. mine [k·ceil(d/b)], which may be "
           "left out: blocks of which it is 0 are not looked at, their inverse is 0. No gradient.",
    .attrs = attrs_type<DampedInverseAttrs>(),
    .traits = {.amp = AmpClass::kFp32, .saves_in = kSavesNone},
    .infer = infer,
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
