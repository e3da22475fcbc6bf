// Images as stored made the input of a net.
#pragma once
#include <vector>

#include "sindri/core/tensor.h"
#include "sindri/export.h"

namespace sindri::ops {

/// The most channels that images of image_input may have.
inline constexpr int kMostImageChannels = 4;
/// image uint8 [N, H, W, C] -> [N, C, H, W] of `dtype` (float32 or a half type): x * (1 / std) - mean / std in float32 per channel, as the transform Normalize,
/// then one rounding. mean and std in the image's units, one value each or one per channel. `flip`, where given: uint8 [N], mirrors images left and right
/// where it is not 0.
SINDRI_API Tensor image_input(const Tensor& image, const std::vector<double>& mean, const std::vector<double>& std, DType dtype = DType::kFloat32,
                              const Tensor& flip = {});

}  // namespace sindri::ops
