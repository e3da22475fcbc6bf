// image_input: converts images of bytes to a network's input, in one pass over the bytes.
#include "ops/shape/image_input.h"

#include <fmt/format.h>

#include <cmath>

#include "ops/shape/shape_ops.h"
#include "sindri/core/error.h"
#include "sindri/op/bind.h"
#include "sindri/ops/image.h"

namespace sindri {
namespace {

using namespace shape_ops;

void check_channel_values(const ImageInputAttrs& a, int64_t channels) {
  for (const auto* v : {&a.mean, &a.std}) {
    if (v->size() != 1 && static_cast<int64_t>(v->size()) != channels)
      throw ValueError(fmt::format("image_input: mean and std need 1 or {} values, got {}", channels, v->size()));
  }
  for (const double m : a.mean)
    if (!std::isfinite(m)) throw ValueError(fmt::format("image_input: mean must be finite, got {}", m));
  for (const double s : a.std)
    if (!(s > 0) || !std::isfinite(s)) throw ValueError(fmt::format("image_input: std must be positive, got {}", s));
}

std::vector<TensorMeta> infer_image_input(const Attrs& attrs, Span<const TensorMeta> in) {
  const auto& a = attrs.as<ImageInputAttrs>();
  if (in.size() != 2) check_arity("image_input", in, 1);
  const TensorMeta& x = in[0];
  if (x.shape.rank() != 4 || x.dtype != DType::kUInt8) throw ShapeError(fmt::format("image_input: image must be uint8 [N, H, W, C], got {}", x.str()));
  const int64_t channels = x.shape[3];
  if (channels < 1 || channels > kMostImageChannels)
    throw ShapeError(fmt::format("image_input: images have 1 to {} channels in the last dimension, got {}", kMostImageChannels, x.str()));
  if (a.dtype != DType::kFloat32 && !is_half(a.dtype))
    throw DTypeError(fmt::format("image_input: dtype must be float32 or a half type, got {}", dtype_name(a.dtype)));
  check_channel_values(a, channels);
  if (in.size() == 2 && (in[1].shape != Shape{x.shape[0]} || in[1].dtype != DType::kUInt8))
    throw ShapeError(fmt::format("image_input: flip must be uint8 [{}], got {}", x.shape[0], in[1].str()));
  return {{Shape{x.shape[0], channels, x.shape[1], x.shape[2]}, a.dtype, Layout::kContiguous, x.device}};
}

const OpDef& kImageInput = register_op({
    .name = "image_input",
    .doc =
        "image uint8 [N, H, W, C], C at most 4, and optionally flip uint8 [N] -> [N, C, H, W] of type `dtype` (float32 or a half type): x * (1 / std) - mean / "
        "std per channel in float32, rounded once to `dtype`; images are mirrored left and right where flip is not 0. Not differentiable: uint8 has no "
        "gradient.",
    .attrs = attrs_type<ImageInputAttrs>(),
    .traits = {.layout = LayoutRule::kContiguousOnly, .saves_in = kSavesNone},
    .infer = infer_image_input,
});

}  // namespace

Tensor ops::image_input(const Tensor& image, const std::vector<double>& mean, const std::vector<double>& std, DType dtype, const Tensor& flip) {
  const Attrs attrs = Attrs::of(ImageInputAttrs{mean, std, dtype});
  return flip.defined() ? bind_one(kImageInput, attrs, {image, flip}) : bind_one(kImageInput, attrs, {image});
}

}  // namespace sindri
