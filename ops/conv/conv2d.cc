// conv2d and its two gradients. Each of the three is linear in either argument, and they share one trilinear form
//   <g, conv2d(x, w)> = <conv2d_input_grad(g, w), x> = <conv2d_weight_grad(g, x), w>
// so the gradient rule of each is written with the other two, and so are second derivatives.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <limits>
#include <string_view>

#include "ops/conv/conv_geometry.h"
#include "sindri/core/error.h"
#include "sindri/op/bind.h"
#include "src/op/quick_call.h"

namespace sindri {

namespace conv {

namespace {

// Keeps sums of products of attributes and dimensions within 64 bits.
constexpr int64_t kMaxAttr = std::numeric_limits<int32_t>::max();

void check_list(const char* op, const char* name, const std::vector<int64_t>& v, size_t length, int64_t least) {
  if (v.size() != length)
    throw ValueError(fmt::format("{}: {} needs {} values, got [{}]", op, name, length, fmt::join(v, ", ")), "",
                     length == 2 ? "give rows and columns" : "give top, bottom, left and right");
  for (int64_t x : v) {
    if (x < least || x > kMaxAttr) throw ValueError(fmt::format("{}: {} must lie in [{}, {}], got [{}]", op, name, least, kMaxAttr, fmt::join(v, ", ")));
  }
}

int64_t output_size(const char* op, const char* axis, int64_t in, int64_t before, int64_t after, int64_t kernel, int64_t stride, int64_t dilation) {
  const int64_t padded = in + before + after, span = dilation * (kernel - 1) + 1;
  if (padded < span)
    throw ShapeError(fmt::format("{}: the kernel spans {} {} (size {}, dilation {}), the input has {} with padding ({} + {} + {})", op, span, axis, kernel,
                                 dilation, padded, in, before, after),
                     "", "use a smaller kernel or dilation, or more padding");
  return (padded - span) / stride + 1;
}

void check_rank4(const char* op, const char* which, const Shape& s) {
  if (s.rank() != 4) throw ShapeError(fmt::format("{}: {} must have 4 dimensions, got {}", op, which, s.str()));
  for (int64_t d : s) {
    if (d < 0 || d > kMaxAttr) throw ShapeError(fmt::format("{}: {} has a dimension outside [0, {}]: {}", op, which, kMaxAttr, s.str()));
  }
}

}  // namespace

ConvGeometry make_geometry(const char* op, const ops::Conv2dAttrs& a, const Shape& x, const Shape& w) {
  check_list(op, "stride", a.stride, 2, 1);
  check_list(op, "pad", a.pad, 4, 0);
  check_list(op, "dilation", a.dilation, 2, 1);
  check_rank4(op, "input", x);
  check_rank4(op, "weight", w);
  if (a.groups < 1 || a.groups > kMaxAttr) throw ValueError(fmt::format("{}: groups must be at least 1, got {}", op, a.groups));
  if (w[2] < 1 || w[3] < 1) throw ShapeError(fmt::format("{}: the kernel of weight {} is empty", op, w.str()));
  if (x[1] != w[1] * a.groups) {
    const bool splits = w[1] > 0 && x[1] % w[1] == 0;
    throw ShapeError(fmt::format("{}: input has {} channels, weight {} expects {} (groups={})", op, x[1], w.str(), w[1] * a.groups, a.groups), "",
                     splits ? fmt::format("check in_channels, or set groups={}", x[1] / w[1]) : "check in_channels");
  }
  if (w[0] % a.groups != 0) throw ShapeError(fmt::format("{}: weight {} has {} output channels, which {} groups do not divide", op, w.str(), w[0], a.groups));
  ConvGeometry g{};
  g.n = x[0], g.c = x[1], g.h = x[2], g.w = x[3];
  g.o = w[0], g.kh = w[2], g.kw = w[3], g.groups = a.groups;
  g.stride_h = a.stride[0], g.stride_w = a.stride[1];
  g.pad_top = a.pad[0], g.pad_bottom = a.pad[1], g.pad_left = a.pad[2], g.pad_right = a.pad[3];
  g.dilation_h = a.dilation[0], g.dilation_w = a.dilation[1];
  g.oh = output_size(op, "rows", g.h, g.pad_top, g.pad_bottom, g.kh, g.stride_h, g.dilation_h);
  g.ow = output_size(op, "columns", g.w, g.pad_left, g.pad_right, g.kw, g.stride_w, g.dilation_w);
  return g;
}

bool relu_of(const KernelQuery& q) { return std::string_view(q.op.name) == "conv2d_bias_act" && q.attrs.as<Conv2dBiasActAttrs>().relu; }

Direction direction_of(const KernelQuery& q) {
  const std::string_view name = q.op.name;
  return name == "conv2d" || name == "conv2d_bias_act" ? Direction::kForward : name == "conv2d_input_grad" ? Direction::kInputGrad : Direction::kWeightGrad;
}

ConvGeometry geometry_of(const KernelQuery& q) {
  switch (direction_of(q)) {
    case Direction::kForward: {
      const bool fused = std::string_view(q.op.name) == "conv2d_bias_act";
      const ops::Conv2dAttrs a = fused ? common_attrs(q.attrs.as<Conv2dBiasActAttrs>()) : q.attrs.as<ops::Conv2dAttrs>();
      return make_geometry(q.op.name, a, q.in[0].shape, q.in[1].shape);
    }
    case Direction::kInputGrad: return make_geometry(q.op.name, common_attrs(q.attrs.as<Conv2dInputGradAttrs>()), q.out[0].shape, q.in[1].shape);
    default: return make_geometry(q.op.name, common_attrs(q.attrs.as<Conv2dWeightGradAttrs>()), q.in[1].shape, q.out[0].shape);
  }
}

}  // namespace conv

namespace {

using conv::Conv2dInputGradAttrs, conv::Conv2dWeightGradAttrs, conv::common_attrs, conv::ConvGeometry;

void check_operands(const char* op, Span<const TensorMeta> in, const char* first, const char* second) {
  check_arity(op, in, 2);
  check_floating(op, in[0], first);
  check_floating(op, in[1], second);
  check_same_dtype(op, in);
}

void check_dy(const char* op, const ConvGeometry& g, const Shape& dy) {
  if (dy == g.y_shape()) return;
  throw ShapeError(fmt::format("{}: dy has shape {}, the convolution of input {} with weight {} gives {}", op, dy.str(), g.x_shape().str(), g.w_shape().str(),
                               g.y_shape().str()),
                   "", "pass the stride, pad, dilation and groups of the forward convolution");
}

std::vector<TensorMeta> infer_forward(const Attrs& attrs, Span<const TensorMeta> in) {
  check_operands("conv2d", in, "input", "weight");
  TensorMeta y = in[0];
  y.shape = conv::make_geometry("conv2d", attrs.as<ops::Conv2dAttrs>(), in[0].shape, in[1].shape).y_shape();
  return {y};
}

std::vector<TensorMeta> infer_input_grad(const Attrs& attrs, Span<const TensorMeta> in) {
  const char* op = "conv2d_input_grad";
  check_operands(op, in, "dy", "weight");
  const auto& a = attrs.as<Conv2dInputGradAttrs>();
  check_dy(op, conv::make_geometry(op, common_attrs(a), a.x_shape, in[1].shape), in[0].shape);
  TensorMeta dx = in[0];
  dx.shape = a.x_shape;
  return {dx};
}

std::vector<TensorMeta> infer_weight_grad(const Attrs& attrs, Span<const TensorMeta> in) {
  const char* op = "conv2d_weight_grad";
  check_operands(op, in, "dy", "input");
  const auto& a = attrs.as<Conv2dWeightGradAttrs>();
  check_dy(op, conv::make_geometry(op, common_attrs(a), in[1].shape, a.w_shape), in[0].shape);
  TensorMeta dw = in[0];
  dw.shape = a.w_shape;
  return {dw};
}

// in: x, w
std::vector<Tensor> vjp_forward(const VjpContext& c) {
  const auto& a = c.attrs.as<ops::Conv2dAttrs>();
  return {c.needs[0] ? ops::conv2d_input_grad(c.dout[0], c.in[1], c.in[0].shape(), a) : Tensor{},
          c.needs[1] ? ops::conv2d_weight_grad(c.dout[0], c.in[0], c.in[1].shape(), a) : Tensor{}};
}

// in: dy, w; dout has the shape of x
std::vector<Tensor> vjp_input_grad(const VjpContext& c) {
  const ops::Conv2dAttrs a = common_attrs(c.attrs.as<Conv2dInputGradAttrs>());
  return {c.needs[0] ? ops::conv2d(c.dout[0], c.in[1], a) : Tensor{}, c.needs[1] ? ops::conv2d_weight_grad(c.in[0], c.dout[0], c.in[1].shape(), a) : Tensor{}};
}

// in: dy, x; dout has the shape of w
std::vector<Tensor> vjp_weight_grad(const VjpContext& c) {
  const ops::Conv2dAttrs a = common_attrs(c.attrs.as<Conv2dWeightGradAttrs>());
  return {c.needs[0] ? ops::conv2d(c.in[1], c.dout[0], a) : Tensor{}, c.needs[1] ? ops::conv2d_input_grad(c.in[0], c.dout[0], c.in[1].shape(), a) : Tensor{}};
}

// Each element of y takes C/groups·KH·KW multiplications and additions, padding included. Each gradient takes as many as y.
int64_t flops(const Shape& y, const Shape& w) { return 2 * y.numel() * w[1] * w[2] * w[3]; }

constexpr uint32_t kWeightInput1 = 1u << 1, kWeightOutput0 = 1u << 16;

const OpDef& kConv2d = register_op({
    .name = "conv2d",
    .doc = "x [N, C, H, W], w [O, C/groups, KH, KW] -> y [N, O, OH, OW], OH = (H + top + bottom - dilation*(KH-1) - 1)/stride + 1.\n"
           "y[n, o, i, j] = sum over c, p, q of x[n, c, i*stride + p*dilation - top, j*stride + q*dilation - left] * w[o, c, p, q]: cross-correlation,\n"
           "as in MindSpore's Conv2D and PyTorch. pad: top, bottom, left, right. An infinity in w (or in dy, for the gradients) gives infinity or NaN next to "
           "padding, depending on whether the kernel multiplies the zeros or skips them. Throws ShapeError if channels, groups or sizes do not match.",
    .attrs = attrs_type<ops::Conv2dAttrs>(),
    .traits = {.amp = AmpClass::kLower, .layout = LayoutRule::kChannelsLastPreferred, .layout_weights = kWeightInput1, .role = OpRole::kConv2d},
    .infer = infer_forward,
    .vjp = vjp_forward,
    .flops = [](const Attrs&, Span<const TensorMeta> in, Span<const TensorMeta> out) { return flops(out[0].shape, in[1].shape); },
});

const OpDef& kInputGrad = register_op({
    .name = "conv2d_input_grad",
    .doc = "Gradient of conv2d with respect to x: dy [N, O, OH, OW], w [O, C/groups, KH, KW] -> dx of shape x_shape.",
    .attrs = attrs_type<Conv2dInputGradAttrs>(),
    .traits = {.amp = AmpClass::kLower, .layout = LayoutRule::kChannelsLastPreferred, .layout_weights = kWeightInput1},
    .infer = infer_input_grad,
    .vjp = vjp_input_grad,
    .flops = [](const Attrs&, Span<const TensorMeta> in, Span<const TensorMeta>) { return flops(in[0].shape, in[1].shape); },
});

const OpDef& kWeightGrad = register_op({
    .name = "conv2d_weight_grad",
    .doc = "Gradient of conv2d with respect to w: dy [N, O, OH, OW], x [N, C, H, W] -> dw of shape w_shape.",
    .attrs = attrs_type<Conv2dWeightGradAttrs>(),
    .traits = {.amp = AmpClass::kLower, .layout = LayoutRule::kChannelsLastPreferred, .layout_weights = kWeightOutput0},
    .infer = infer_weight_grad,
    .vjp = vjp_weight_grad,
    .flops = [](const Attrs&, Span<const TensorMeta> in, Span<const TensorMeta> out) { return flops(in[0].shape, out[0].shape); },
});

}  // namespace

namespace ops {

Tensor conv2d(const Tensor& x, const Tensor& w, const Conv2dAttrs& attrs) { return bind_one(kConv2d, recent_attrs(attrs), {&x, &w}); }

Tensor conv2d_input_grad(const Tensor& dy, const Tensor& w, const Shape& x_shape, const Conv2dAttrs& a) {
  return bind_one(kInputGrad, recent_attrs(Conv2dInputGradAttrs{a.stride, a.pad, a.dilation, a.groups, x_shape}), {&dy, &w});
}

Tensor conv2d_weight_grad(const Tensor& dy, const Tensor& x, const Shape& w_shape, const Conv2dAttrs& a) {
  return bind_one(kWeightGrad, recent_attrs(Conv2dWeightGradAttrs{a.stride, a.pad, a.dilation, a.groups, w_shape}), {&dy, &x});
}

}  // namespace ops

}  // namespace sindri
