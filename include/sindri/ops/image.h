// Stored images as the input of a network.
#pragma once
#include <vector>

#include "sindri/core/tensor.h"
#include "sindri/export.h"

namespace sindri::ops {

/// Largest number of channels of the images that image_input takes.
inline constexpr int kMostImageChannels = 4;
/// Converts stored images to the input of a network: image uint8 [N, H, W, C] -> [N, C, H, W] of `dtype` (float32 or a
/// half type). Computes x * (1 / std) - mean / std per channel in float32, as the transform Normalize does, then rounds
/// once. mean and std are in the image's units, one value each or one per channel. `flip` is optional, uint8 [N]: a
/// value other than 0 mirrors that image left to right. Throws ShapeError or DTypeError for other tensors, ValueError
/// for a wrong number of means and for std that is not positive.
SINDRI_API Tensor image_input(const Tensor& image, const std::vector<double>& mean, const std::vector<double>& std, DType dtype = DType::kFloat32,
                              const Tensor& flip = {});

}  // namespace sindri::ops
