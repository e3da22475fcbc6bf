// gram and conv2d_gram.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "ops/curvature/blocks.h"
#include "sindri/core/error.h"
#include "sindri/op/bind.h"
#include "sindri/ops/curvature.h"
#include "src/op/quick_call.h"

namespace sindri {
namespace curvature {

Window window_of(const Conv2dGramAttrs& a, const TensorMeta& x) {
  const auto numbers = [&](const char* what, const std::vector<int64_t>& v, size_t count, int64_t least) {
    if (v.size() != count || std::any_of(v.begin(), v.end(), [least](int64_t i) { return i < least; }))
      throw ValueError(fmt::format("conv2d_gram: {} must be {} numbers of at least {}, got [{}]", what, count, least, fmt::join(v, ", ")));
  };
  numbers("kernel", a.kernel, 2, 1), numbers("stride", a.stride, 2, 1), numbers("pad", a.pad, 4, 0), numbers("dilation", a.dilation, 2, 1);
  check_rank("conv2d_gram", x, "x", 4);
  const Shape& s = x.shape;
  if (a.groups < 1 || s[1] % a.groups != 0) throw ShapeError(fmt::format("conv2d_gram: {} channels cannot be divided into {} groups", s[1], a.groups));
  Window w{.n = s[0],
           .c = s[1],
           .h = s[2],
           .w = s[3],
           .oh = 0,
           .ow = 0,
           .kh = a.kernel[0],
           .kw = a.kernel[1],
           .stride_h = a.stride[0],
           .stride_w = a.stride[1],
           .pad_top = a.pad[0],
           .pad_left = a.pad[2],
           .dilation_h = a.dilation[0],
           .dilation_w = a.dilation[1],
           .groups = a.groups,
           .ones = a.ones};
  const int64_t room_h = w.h + a.pad[0] + a.pad[1] - w.dilation_h * (w.kh - 1) - 1, room_w = w.w + a.pad[2] + a.pad[3] - w.dilation_w * (w.kw - 1) - 1;
  if (room_h < 0 || room_w < 0)
    throw ShapeError(fmt::format("conv2d_gram: a kernel of {}x{} does not fit into {} with that padding and dilation", w.kh, w.kw, x.str()));
  w.oh = room_h / w.stride_h + 1, w.ow = room_w / w.stride_w + 1;
  return w;
}

Window window_of_matrix(const TensorMeta& x, bool ones) {
  return {.n = x.shape[0],
          .c = x.shape[1],
          .h = 1,
          .w = 1,
          .oh = 1,
          .ow = 1,
          .kh = 1,
          .kw = 1,
          .stride_h = 1,
          .stride_w = 1,
          .pad_top = 0,
          .pad_left = 0,
          .dilation_h = 1,
          .dilation_w = 1,
          .groups = 1,
          .ones = ones};
}

void check_factors(const char* op, Span<const TensorMeta> in, size_t least, int64_t d) {
  if (in.size() != least + 1) check_arity(op, in, least);
  check_rank(op, in[0], "blocks", 3);
  check_same_dtype(op, in);
  if (in[0].dtype != DType::kFloat32 && in[0].dtype != DType::kFloat64)
    throw DTypeError(fmt::format("{}: blocks must be float32 or float64, got {}", op, in[0].str()));
  const Shape& s = in[0].shape;
  const int64_t count = Blocks::of(d, s[2]).count();
  if (s[1] != s[2] || s[2] > d || d < 0 || (count == 0 ? s[0] != 0 : s[0] % count != 0))
    throw ShapeError(fmt::format("{}: blocks {} are not those of factors of width {}", op, in[0].str(), d), "", "they come from gram or conv2d_gram");
  if (in.size() > least && in[least].shape != Shape{s[0]})
    throw ShapeError(fmt::format("{}: mine is {}, there are {} blocks", op, in[least].str(), s[0]), "", "one number for each block");
}

}  // namespace curvature

namespace {

using namespace curvature;

TensorMeta blocks_meta(const char* op, const TensorMeta& x, int64_t groups, int64_t d, int64_t block) {
  check_floating(op, x, "x");
  if (block < 0) throw ValueError(fmt::format("{}: block must not be negative, got {}", op, block), "", "0 keeps the whole matrix");
  const Blocks b = Blocks::of(d, block);
  return {{groups * b.count(), b.b, b.b}, is_half(x.dtype) ? DType::kFloat32 : x.dtype, Layout::kContiguous, x.device};
}

const OpDef& kGram = register_op({
    .name = "gram",
    .doc = "x [rows, d] -> diagonal blocks of x^T·x of width b = min(block, d) (block 0: d), [ceil(d/b), b, b], exactly symmetric, zero beyond d. float32 for "
           "16-bit x. ones: of [x, 1], whose width is d + 1. No gradient.",
    .attrs = attrs_type<GramAttrs>(),
    .traits = {.amp = AmpClass::kFollow, .saves_in = kSavesNone},
    .infer = [](const Attrs& attrs, Span<const TensorMeta> in) -> std::vector<TensorMeta> {
      check_arity("gram", in, 1);
      check_rank("gram", in[0], "x", 2);
      const GramAttrs& a = attrs.as<GramAttrs>();
      return {blocks_meta("gram", in[0], 1, window_of_matrix(in[0], a.ones).d(), a.block)};
    },
    .flops = [](const Attrs&, Span<const TensorMeta> in, Span<const TensorMeta> out) { return out[0].numel() * in[0].shape[0] * 2; },
});

const OpDef& kConv2dGram = register_op({
    .name = "conv2d_gram",
    .doc = "x [N, C, H, W] -> gram of the rows that a convolution with that kernel, stride, pad, dilation and groups reads, one per sample and output "
           "position, with d = C/groups·KH·KW elements in the order of a weight's: [groups·ceil(d/b), b, b]; with `ones`, a trailing 1, so d + 1. Throws "
           "ShapeError if the kernel does not fit. No gradient.",
    .attrs = attrs_type<Conv2dGramAttrs>(),
    .traits = {.amp = AmpClass::kFollow, .layout = LayoutRule::kChannelsLastPreferred, .saves_in = kSavesNone, .layout_weights = 1u << 16},
    .infer = [](const Attrs& attrs, Span<const TensorMeta> in) -> std::vector<TensorMeta> {
      check_arity("conv2d_gram", in, 1);
      const Window w = window_of(attrs.as<Conv2dGramAttrs>(), in[0]);
      return {blocks_meta("conv2d_gram", in[0], w.groups, w.d(), attrs.as<Conv2dGramAttrs>().block)};
    },
    .flops = [](const Attrs& attrs, Span<const TensorMeta> in,
                Span<const TensorMeta> out) { return out[0].numel() * window_of(attrs.as<Conv2dGramAttrs>(), in[0]).rows() * 2; },
});

}  // namespace

Tensor ops::gram(const Tensor& x, int64_t block, bool ones) { return bind_one(kGram, Attrs::of(GramAttrs{block, ones}), {&x}); }
Tensor ops::conv2d_gram(const Tensor& x, const std::vector<int64_t>& kernel, const Conv2dAttrs& conv, int64_t block, bool ones) {
  return bind_one(kConv2dGram, Attrs::of(Conv2dGramAttrs{kernel, conv.stride, conv.pad, conv.dilation, conv.groups, block, ones}), {&x});
}

}  // namespace sindri
