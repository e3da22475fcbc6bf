// block_eigen.
#include <fmt/format.h>

#include "ops/curvature/blocks.h"
#include "sindri/core/error.h"
#include "sindri/op/bind.h"
#include "sindri/ops/curvature.h"

namespace sindri {
namespace {

using namespace curvature;

std::vector<TensorMeta> infer_eigen(const Attrs& attrs, Span<const TensorMeta> in) {
  check_factors("block_eigen", in, 3, attrs.as<BlockEigenAttrs>().d);
  const Shape& s = in[0].shape;
  if (in[1].shape != s || in[2].shape != Shape{s[0], s[2]})
    throw ShapeError(fmt::format("block_eigen: vectors are {}, values {}, the blocks {}", in[1].str(), in[2].str(), in[0].str()));
  return {{s, in[0].dtype, Layout::kContiguous, in[0].device},
          {in[2].shape, in[0].dtype, Layout::kContiguous, in[0].device},
          {Shape{}, in[0].dtype, Layout::kContiguous, in[0].device}};
}

const OpDef& kBlockEigen = register_op({
    .name = "block_eigen",
    .doc = "blocks [k·ceil(d/b), b, b] of gram, vectors as blocks, values [k·ceil(d/b), b] -> eigenvectors of every block in columns (zero beyond d), "
           "eigenvalues, "
           "ascending and at least 0, and a scalar, 1 if a block was not finite and the previous vectors and values are returned instead, else 0. mine "
           "[k·ceil(d/b)], optional: blocks for which it is 0 are skipped and give 0. No gradient.",
    .attrs = attrs_type<BlockEigenAttrs>(),
    .traits = {.amp = AmpClass::kFp32, .saves_in = kSavesNone},
    .infer = infer_eigen,
    .flops = [](const Attrs&, Span<const TensorMeta> in, Span<const TensorMeta>) { return 9 * in[0].numel() * (in[0].shape.rank() == 3 ? in[0].shape[2] : 0); },
});

}  // namespace

std::tuple<Tensor, Tensor, Tensor> ops::block_eigen(const Tensor& blocks, const Tensor& vectors, const Tensor& values, int64_t d, const Tensor& mine) {
  std::vector<Tensor> in = {blocks, vectors, values};
  if (mine.defined()) in.push_back(mine);
  const std::vector<Tensor> out = sindri::bind(kBlockEigen, Attrs::of(BlockEigenAttrs{d}), in);
  return {out[0], out[1], out[2]};
}

}  // namespace sindri
