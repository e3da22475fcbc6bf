// Batch normalisation with the relu (and the addition of a residual) that follows it, and its gradient. The graph compiler
// replaces the separate ops by it (src/graph/passes/fuse_norm_act.cc): bitwise identical results, fewer bytes. Users write the
// separate ops, which have gradient rules; these have none.
#include <fmt/format.h>

#include "ops/norm/norm_common.h"
#include "sindri/core/error.h"

namespace sindri::ops {
namespace {

void check_alike(const char* op, const TensorMeta& x, const TensorMeta& t, const char* which) {
  if (t.shape != x.shape || t.dtype != x.dtype) throw ShapeError(fmt::format("{}: {} {} must be like x {}", op, which, t.str(), x.str()));
}

std::vector<TensorMeta> infer_relu(const Attrs& attrs, Span<const TensorMeta> in) {
  const char* op = "batch_norm_relu";
  if (in.size() != 4) check_arity(op, in, 3);
  const auto& a = attrs.as<BatchNormReluAttrs>();
  check_batch_norm_input(op, in[0], a.eps);
  check_channels(op, in[0], in[1], "gamma");
  check_channels(op, in[0], in[2], "beta");
  if (in.size() == 4) check_alike(op, in[0], in[3], "residual");
  std::vector<TensorMeta> out = {in[0], per_channel(in[0]), per_channel(in[0])};
  if (a.mask) out.push_back(mask_of(in[0]));
  return out;
}

std::vector<TensorMeta> infer_relu_grad(const Attrs& attrs, Span<const TensorMeta> in) {
  const char* op = "batch_norm_relu_grad";
  const auto& a = attrs.as<BatchNormReluGradAttrs>();
  check_arity(op, in, static_cast<int>(a.num_inputs()));
  check_batch_norm_input(op, in[1], a.eps);
  check_alike(op, in[1], in[0], "dy");
  const char* names[] = {"dy", "x", "gamma", "beta", "mean", "var"};
  for (size_t i = 2; i < 6; ++i) check_channels(op, in[1], in[i], names[i]);
  if (a.mask && !a.residual) throw ValueError("batch_norm_relu_grad: mask needs residual; without it relu's mask is recomputed from x");
  if (a.mask && (in[6].shape != mask_of(in[1]).shape || in[6].dtype != DType::kUInt8))
    throw ShapeError(fmt::format("{}: mask must be {}, got {}", op, mask_of(in[1]).str(), in[6].str()));
  for (size_t i = a.mask ? 7 : 6; i < in.size(); ++i) check_alike(op, in[1], in[i], i == 6 && a.residual ? "y" : "dy2");
  std::vector<TensorMeta> out = {in[1], in[2], in[3]};
  if (a.gives_g()) out.push_back(in[1]);
  return out;
}

// Only the first pass reads dy, y and dy2; it writes g. The second reads g (or dy) and x and writes dx.
bool grad_may_overwrite(const Attrs& attrs, size_t num_inputs, size_t out, size_t in) {
  const auto& a = attrs.as<BatchNormReluGradAttrs>();
  if (!a.gives_g()) return out == 0 && in == 0;
  return out == 3 ? in == 0 : out == 0 && in == num_inputs - 1;
}

const OpDef& kRelu = register_op({
    .name = "batch_norm_relu",
    .doc = "x [N, C, ...], gamma [C], beta [C] and optionally residual as x -> y as x, mean [C], var [C]: y = relu(batch_norm_train(x) + residual), with each "
           "step rounded to the type of x. With `mask` also uint8 [ceil(numel/8)]: bit i%8 of byte i/8 is set if element i of y, in memory order, is positive "
           "or NaN. Made by the graph compiler; not differentiable.",
    .attrs = attrs_type<BatchNormReluAttrs>(),
    .traits = {.amp = AmpClass::kFp32, .layout = LayoutRule::kFollowInput0, .saves_in = kSavesNone, .role = OpRole::kBatchNormRelu},
    .infer = infer_relu,
});

const OpDef& kReluGrad = register_op({
    .name = "batch_norm_relu_grad",
    .doc = "dy, x [N, C, ...], gamma, beta, mean, var [C], with `residual` y (with `mask` its mask), with `sum` dy2 -> dx, dgamma, dbeta of batch_norm_relu "
           "and, with either, the "
           "gradient g of the residual: g = relu_grad(dy + dy2), dx = batch_norm_grad(g). Without `residual`, relu's mask is recomputed from x. Made by the "
           "graph compiler; not differentiable.",
    .attrs = attrs_type<BatchNormReluGradAttrs>(),
    .traits = {.amp = AmpClass::kFp32,
               .layout = LayoutRule::kFollowInput0,
               .saves_in = kSavesNone,
               .may_overwrite = grad_may_overwrite,
               .role = OpRole::kBatchNormReluGrad},
    .infer = infer_relu_grad,
});

}  // namespace
}  // namespace sindri::ops
