// block_precondition.
#include <fmt/format.h>

#include "ops/curvature/blocks.h"
#include "sindri/core/error.h"
#include "sindri/op/bind.h"
#include "sindri/ops/curvature.h"

namespace sindri {
namespace {

using namespace curvature;

void check_blocks(const TensorMeta& inverse, const char* which, int64_t groups, int64_t d, const TensorMeta& grad) {
  check_rank("block_precondition", inverse, which, 3);
  const Shape& s = inverse.shape;
  const Blocks blocks = Blocks::of(d, s[2]);
  if (s[1] != s[2] || s[2] > d || s[0] != groups * blocks.count())
    throw ShapeError(fmt::format("block_precondition: {} is {}, which are not the blocks of {} factors of width {} (gradient {})", which, inverse.str(), groups,
                                 d, grad.str()));
}

std::vector<TensorMeta> infer_precondition(const Attrs& attrs, Span<const TensorMeta> in) {
  if (in.size() != 3) check_arity("block_precondition", in, 2);
  check_same_dtype("block_precondition", in);
  check_rank("block_precondition", in[0], "the gradient", 2);
  if (in[0].dtype != DType::kFloat32 && in[0].dtype != DType::kFloat64)
    throw DTypeError(fmt::format("block_precondition: the gradient must be float32 or float64, got {}", in[0].str()));
  const int64_t groups = attrs.as<BlockPreconditionAttrs>().groups, rows = in[0].shape[0];
  if (groups < 1 || rows % groups != 0) throw ShapeError(fmt::format("block_precondition: {} rows cannot be divided into {} groups", rows, groups));
  check_blocks(in[1], "a_inv", groups, in[0].shape[1], in[0]);
  if (in.size() == 3) check_blocks(in[2], "g_inv", groups, rows / groups, in[0]);
  return {{in[0].shape, in[0].dtype, Layout::kContiguous, in[0].device}};
}

const OpDef& kBlockPrecondition = register_op({
    .name = "block_precondition",
    .doc = "grad [groups·dG, dA], a_inv [groups·ceil(dA/bA), bA, bA], g_inv [groups·ceil(dG/bG), bG, bG] (optional: the identity) -> "
           "scale·g_inv·grad·a_inv, block row r and block column c being g_inv[r]·grad[r, c]·a_inv[c]. No gradient.",
    .attrs = attrs_type<BlockPreconditionAttrs>(),
    .traits = {.amp = AmpClass::kFp32, .saves_in = kSavesNone},
    .infer = infer_precondition,
    .flops = [](const Attrs&, Span<const TensorMeta> in,
                Span<const TensorMeta>) { return 2 * in[0].numel() * (in[1].shape[2] + (in.size() == 3 ? in[2].shape[2] : 0)); },
});

}  // namespace

Tensor ops::block_precondition(const Tensor& grad, const Tensor& g_inv, const Tensor& a_inv, int64_t groups, double scale) {
  std::vector<Tensor> in = {grad, a_inv};
  if (g_inv.defined()) in.push_back(g_inv);
  return sindri::bind(kBlockPrecondition, Attrs::of(BlockPreconditionAttrs{groups, scale}), in)[0];
}

}  // namespace sindri
