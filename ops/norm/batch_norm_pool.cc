// Batch normalisation, relu and max pooling as one op, and its gradient: the stem of residual networks. The graph compiler replaces the separate ops by it
// (src/graph/passes/fuse_norm_pool.cc); results are bitwise identical, with less memory traffic. Users write the separate ops, which have gradient rules; these
// ops have none.
#include <fmt/format.h>

#include "ops/norm/norm_common.h"
#include "sindri/core/error.h"
#include "sindri/ops/pool.h"

namespace sindri::ops {
namespace {

// The pooled shape by the rule of max_pool2d, which rejects windows that do not fit.
TensorMeta pooled(const char* op, const BatchNormPoolAttrs& a, const TensorMeta& x) {
  check_batch_norm_input(op, x, a.eps);
  check_rank(op, x, "x", 4);
  const TensorMeta y = find_op("max_pool2d").infer(Attrs::of(Pool2dAttrs{a.kernel, a.stride, a.pad, a.ceil_mode}), {&x, 1})[0];
  if (a.kernel[0] * a.kernel[1] > kNoPlace)
    throw ValueError(fmt::format("{}: windows may have at most {} elements, got {} x {}", op, kNoPlace, a.kernel[0], a.kernel[1]));
  return y;
}
TensorMeta places_of(TensorMeta y) {
  y.dtype = DType::kUInt8;
  return y;
}
void check_is(const char* op, const TensorMeta& t, const TensorMeta& wanted, const char* which) {
  if (t.shape != wanted.shape || t.dtype != wanted.dtype) throw ShapeError(fmt::format("{}: {} must be {}, got {}", op, which, wanted.str(), t.str()));
}

std::vector<TensorMeta> infer_pool(const Attrs& attrs, Span<const TensorMeta> in) {
  const char* op = "batch_norm_pool";
  check_arity(op, in, 3);
  const TensorMeta y = pooled(op, attrs.as<BatchNormPoolAttrs>(), in[0]);
  check_channels(op, in[0], in[1], "gamma");
  check_channels(op, in[0], in[2], "beta");
  return {y, places_of(y), per_channel(in[0]), per_channel(in[0])};
}

std::vector<TensorMeta> infer_pool_grad(const Attrs& attrs, Span<const TensorMeta> in) {
  const char* op = "batch_norm_pool_grad";
  if (in.size() != 7) check_arity(op, in, 6);
  const TensorMeta y = pooled(op, attrs.as<BatchNormPoolAttrs>(), in[2]);
  check_is(op, in[0], y, "dy");
  check_is(op, in[1], places_of(y), "places");
  const char* names[] = {"dy", "places", "x", "gamma", "mean", "var"};
  for (size_t i = 3; i < 6; ++i) check_channels(op, in[2], in[i], names[i]);
  if (in.size() == 7) check_is(op, in[6], y, "dy2");
  return {in[2], in[3], in[3]};
}

const OpDef& kPool = register_op({
    .name = "batch_norm_pool",
    .doc = "x [N, C, H, W], gamma [C], beta [C] -> y [N, C, OH, OW], places as y, mean [C], var [C]: y = max_pool2d(relu(batch_norm_train(x))), with each step "
           "rounded to the type of x. places is the maximum's place in its window, or 255 where y is not positive; windows have 255 elements at most. Made by "
           "the graph compiler; not differentiable.",
    .attrs = attrs_type<BatchNormPoolAttrs>(),
    .traits = {.amp = AmpClass::kFp32, .layout = LayoutRule::kFollowInput0, .saves_in = kSavesNone},
    .infer = infer_pool,
});

const OpDef& kPoolGrad = register_op({
    .name = "batch_norm_pool_grad",
    .doc = "dy and places [N, C, OH, OW] of batch_norm_pool, x [N, C, H, W], gamma, mean, var [C] and optionally dy2 as dy -> dx, dgamma, dbeta: the gradient "
           "batch_norm_grad(max_pool2d_grad(dy + dy2)), with dy + dy2 and each element of the pooling's gradient rounded to the type of x. Made by the graph "
           "compiler; not differentiable.",
    .attrs = attrs_type<BatchNormPoolAttrs>(),
    .traits = {.amp = AmpClass::kFp32,
               .layout = LayoutRule::kFollowInput0,
               .saves_in = kSavesNone,
               .layout_lead = 2,
               // Each element of x is last read where dx's element is written.
               .may_overwrite = [](const Attrs&, size_t, size_t out, size_t in) { return out == 0 && in == 2; }},
    .infer = infer_pool_grad,
});

}  // namespace
}  // namespace sindri::ops
