// conv2d and the ops that follow it as one op: bias, residual and relu. Also the op that folds a batch norm with fixed statistics
// into weight and bias. Both are created by the graph compiler (src/graph/passes/fuse_conv.cc) and have no gradients.
#include <fmt/format.h>

#include "ops/conv/conv_geometry.h"
#include "sindri/core/error.h"

namespace sindri {
namespace {

using conv::Conv2dBiasActAttrs, conv::FoldBatchNormAttrs;

// Shape [channels], in the type of x or, for half x, in float32.
void check_vector(const char* op, const TensorMeta& m, const char* which, int64_t channels, DType x) {
  const DType wide = x == DType::kFloat64 ? x : DType::kFloat32;
  if (m.shape == Shape{channels} && (m.dtype == wide || m.dtype == x)) return;
  throw ShapeError(fmt::format("{}: {} must be {}[{}], got {}", op, which, dtype_name(wide), channels, m.str()));
}

std::vector<TensorMeta> infer_bias_act(const Attrs& attrs, Span<const TensorMeta> in) {
  const char* op = "conv2d_bias_act";
  if (in.size() != 4) check_arity(op, in, 3);
  check_floating(op, in[0], "input");
  check_same_dtype(op, in.subspan(0, 2));
  TensorMeta y = in[0];
  y.shape = conv::make_geometry(op, conv::common_attrs(attrs.as<Conv2dBiasActAttrs>()), in[0].shape, in[1].shape).y_shape();
  check_vector(op, in[2], "bias", y.shape[1], in[0].dtype);
  if (in.size() == 4 && (in[3].shape != y.shape || in[3].dtype != y.dtype))
    throw ShapeError(fmt::format("{}: residual {} must be like the result {}", op, in[3].str(), y.str()));
  return {y};
}

std::vector<TensorMeta> infer_fold(const Attrs& attrs, Span<const TensorMeta> in) {
  const char* op = "fold_batch_norm";
  check_arity(op, in, 5);
  check_rank(op, in[0], "weight", 4);
  check_floating(op, in[0], "weight");
  if (!(attrs.as<FoldBatchNormAttrs>().eps >= 0)) throw ValueError(fmt::format("{}: eps must be at least 0, got {}", op, attrs.as<FoldBatchNormAttrs>().eps));
  const char* names[] = {"", "gamma", "beta", "mean", "var"};
  for (size_t i = 1; i < 5; ++i) check_vector(op, in[i], names[i], in[0].shape[0], in[0].dtype);
  return {in[0], in[2]};
}

// Only rank-4 operands have a layout; bias has one dimension.
const OpDef& kBiasAct = register_op({
    .name = "conv2d_bias_act",
    .doc = "x [N, C, H, W], w [O, C/groups, KH, KW], bias [O] in the type of x or float32, and optionally residual like y -> y [N, O, OH, OW]: "
           "conv2d(x, w) + bias + residual, with relu max(…, 0). Rounded to the type of x at the end. Made by the graph compiler; not differentiable.",
    .attrs = attrs_type<Conv2dBiasActAttrs>(),
    .traits = {.amp = AmpClass::kLower,
               .layout = LayoutRule::kChannelsLastPreferred,
               .saves_in = kSavesNone,
               .layout_weights = 1u << 1,
               .may_overwrite = [](const Attrs&, size_t, size_t, size_t in) { return in == 3; },
               .role = OpRole::kConv2dBiasAct},
    .infer = infer_bias_act,
    // The convolution, plus bias, residual and relu if present.
    .flops = [](const Attrs& attrs, Span<const TensorMeta> in, Span<const TensorMeta> out) -> int64_t {
      const int64_t behind = static_cast<int64_t>(in.size()) - 2 + (attrs.as<Conv2dBiasActAttrs>().relu ? 1 : 0);
      return out[0].numel() * (2 * in[1].shape[1] * in[1].shape[2] * in[1].shape[3] + behind);
    },
});

const OpDef& kFold = register_op({
    .name = "fold_batch_norm",
    .doc = "w [O, C/groups, KH, KW], gamma, beta, mean, var [O] -> w·s, beta - mean·s with s = gamma·rsqrt(var + eps) per output channel: a convolution with "
           "these equals a convolution with w followed by batch_norm_infer. Made by the graph compiler; not differentiable.",
    .attrs = attrs_type<FoldBatchNormAttrs>(),
    .traits = {.amp = AmpClass::kFp32, .saves_in = kSavesNone, .role = OpRole::kFoldBatchNorm},
    .infer = infer_fold,
});

}  // namespace
}  // namespace sindri
