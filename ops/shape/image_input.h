// Shared by the kernels of image_input.
#pragma once
#include <vector>

#include "sindri/core/dtype.h"
#include "sindri/op/attrs.h"
#include "sindri/ops/image.h"

namespace sindri::shape_ops {

struct ImageInputAttrs {
  std::vector<double> mean = {0}, std = {1};
  DType dtype = DType::kFloat32;
  SINDRI_ATTRS(ImageInputAttrs, mean, std, dtype)
};

using ops::kMostImageChannels;

/// y = x * scale + shift, each step rounded to float32: bitwise identical to the transform Normalize.
struct ImageScale {
  float scale[kMostImageChannels], shift[kMostImageChannels];
};
inline ImageScale image_scale(const ImageInputAttrs& a) {
  ImageScale out{};
  for (size_t c = 0; c < kMostImageChannels; ++c) {
    const size_t k = a.mean.size() == 1 ? 0 : c, l = a.std.size() == 1 ? 0 : c;
    if (k >= a.mean.size() || l >= a.std.size()) break;
    const float m = static_cast<float>(a.mean[k]), s = static_cast<float>(a.std[l]);
    out.scale[c] = 1.0f / s;
    out.shift[c] = -(m / s);
  }
  return out;
}

}  // namespace sindri::shape_ops
