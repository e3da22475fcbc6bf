// embedding and its gradient, which adds rows of dy into a table of zeros.
#include <fmt/format.h>

#include "ops/shape/shape_ops.h"
#include "sindri/core/error.h"
#include "sindri/op/bind.h"
#include "sindri/ops/shape.h"
#include "src/op/quick_call.h"

namespace sindri {
namespace {

using namespace shape_ops;

Tensor embedding_grad(const Tensor& dy, const Tensor& ids, int64_t rows);

const OpDef& kEmbedding = register_op({
    .name = "embedding",
    .doc = "Rows of a table [V, D] picked by int32 or int64 ids: ids.shape + [D]. Throws ValueError for an id outside [0, V).",
    .traits = {.layout = LayoutRule::kContiguousOnly, .saves_in = saves(1)},
    .infer = [](const Attrs&, Span<const TensorMeta> in) -> std::vector<TensorMeta> {
      check_arity("embedding", in, 2);
      check_rank("embedding", in[0], "table", 2);
      check_indices("embedding", in[1]);
      const Shape out = gather_shape("embedding", in[0].shape, in[1].shape, 0);
      check_shape("embedding", out, in[0].dtype);
      return {{out, in[0].dtype, Layout::kContiguous, in[0].device}};
    },
    .vjp = [](const VjpContext& c) -> std::vector<Tensor> {
      return {c.needs[0] ? embedding_grad(c.dout[0], c.in[1], c.in[0].shape()[0]) : Tensor{}, Tensor{}};
    },
});

std::vector<TensorMeta> infer_embedding_grad(const Attrs& attrs, Span<const TensorMeta> in) {
  check_arity("embedding_grad", in, 2);
  check_floating("embedding_grad", in[0], "dy");
  check_indices("embedding_grad", in[1]);
  const int rank = in[1].shape.rank();
  Shape ids = in[0].shape;
  if (ids.rank() == rank + 1) ids.erase(rank);
  if (in[0].shape.rank() != rank + 1 || ids != in[1].shape)
    throw ShapeError(fmt::format("embedding_grad: dy {} must have the shape of ids {} and one dimension more", in[0].str(), in[1].str()));
  const Shape out{attrs.as<EmbeddingGradAttrs>().rows, in[0].shape.back()};
  check_shape("embedding_grad", out, in[0].dtype);
  return {{out, in[0].dtype, Layout::kContiguous, in[0].device}};
}

const OpDef& kEmbeddingGrad = register_op({
    .name = "embedding_grad",
    .doc = "Gradient of the table of embedding: zeros [rows, D] with dy[i] added to row ids[i], in order of i.",
    .attrs = attrs_type<EmbeddingGradAttrs>(),
    .traits = {.layout = LayoutRule::kContiguousOnly, .saves_in = saves(1)},
    .infer = infer_embedding_grad,
    .vjp = [](const VjpContext& c) -> std::vector<Tensor> {
      return {c.needs[0] ? ops::embedding(c.dout[0], c.in[1]) : Tensor{}, Tensor{}};
    },
});

Tensor embedding_grad(const Tensor& dy, const Tensor& ids, int64_t rows) { return bind_one(kEmbeddingGrad, Attrs::of(EmbeddingGradAttrs{rows}), {dy, ids}); }

}  // namespace

Tensor ops::embedding(const Tensor& table, const Tensor& ids) { return bind_one(kEmbedding, Attrs(), {&table, &ids}); }

}  // namespace sindri
