// Image transforms for augmentation (MindSpore: dataset.vision): colours, warps, crops, erased parts, policies,
// choices. Unless stated otherwise, images are [H, W] or [H, W, C] with 1 to 4 channels, uint8 or a float type; "RGB"
// means that 3 channels are required. The Random transforms draw from (seed, pass, position) alone. All throw
// ValueError for arguments out of range; an unsuitable row is a bad sample (BadSample).
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "sindri/dataset/vision.h"

namespace sindri::dataset::vision {

/// Lower and upper bound.
using Range = std::array<double, 2>;

// Colours and levels.

/// Brightness: x * factor.
SINDRI_API Transform AdjustBrightness(double factor);
/// Contrast: mean * (1 - factor) + x * factor, with the mean of the greyscale image. RGB.
SINDRI_API Transform AdjustContrast(double factor);
/// Saturation: grey * (1 - factor) + x * factor. RGB.
SINDRI_API Transform AdjustSaturation(double factor);
/// Rotates the hue by a fraction of a full circle, -0.5 to 0.5. RGB.
SINDRI_API Transform AdjustHue(double factor);
/// Sharpness: blurred * (1 - factor) + x * factor.
SINDRI_API Transform AdjustSharpness(double factor);
/// Gamma correction. uint8: gain * x^gamma with x scaled to 0 … 1; floats: (gain * x)^gamma, clipped to 0 … 1.
SINDRI_API Transform AdjustGamma(double gamma, double gain = 1);
/// Inverts levels: 255 - x.
SINDRI_API Transform Invert();
/// Keeps the upper `bits` bits, 0 to 8. uint8.
SINDRI_API Transform Posterize(int bits);
/// Inverts the levels in the range: 255 - x for x from low to high.
SINDRI_API Transform Solarize(Range threshold);
/// Equalises the histogram of each channel. uint8.
SINDRI_API Transform Equalize();
/// Stretches each channel to 0 … 255, ignoring `cutoff` percent of the pixels at both ends and the levels in `ignore`.
/// uint8.
SINDRI_API Transform AutoContrast(double cutoff = 0, const std::vector<int>& ignore = {});
/// Greyscale, 0.299 R + 0.587 G + 0.114 B in 1 or 3 equal channels. RGB.
SINDRI_API Transform Grayscale(int channels = 1);
/// Converts an image with the channels `from` to the channels `to` ("RGB", "BGRA", "GRAY"). An added alpha is opaque:
/// 255, or 1 in float images.
SINDRI_API Transform ConvertColor(const std::string& from, const std::string& to);

/// Changes brightness, contrast, saturation and hue by factors drawn from their ranges, in random order; neutral ranges
/// are skipped. RGB.
SINDRI_API Transform RandomColorAdjust(Range brightness, Range contrast, Range saturation, Range hue);
/// AdjustSaturation by a factor drawn from the range. RGB.
SINDRI_API Transform RandomColor(Range degrees);
/// AdjustSharpness by a factor drawn from the range.
SINDRI_API Transform RandomSharpness(Range degrees);
/// Posterize to a number of bits drawn from least_bits to most_bits. uint8.
SINDRI_API Transform RandomPosterize(int least_bits, int most_bits);
/// Inverts the levels in a random part of low … high.
SINDRI_API Transform RandomSolarize(int low, int high);
/// Invert with probability prob.
SINDRI_API Transform RandomInvert(double prob);
/// Grayscale with probability prob, keeping the number of channels, 1 or 3.
SINDRI_API Transform RandomGrayscale(double prob);
/// Equalize with probability prob. uint8.
SINDRI_API Transform RandomEqualize(double prob);
/// AutoContrast with probability prob. uint8.
SINDRI_API Transform RandomAutoContrast(double cutoff, const std::vector<int>& ignore, double prob);
/// AdjustSharpness by `degree` with probability prob.
SINDRI_API Transform RandomAdjustSharpness(double degree, double prob);
/// Adds one colour to all pixels, along the principal components of ImageNet's colours, with normally distributed
/// weights of standard deviation alpha (Krizhevsky et al. 2012). RGB.
SINDRI_API Transform RandomLighting(double alpha);

// Positions and shapes.

/// Moves the pixel at (x, y) to matrix * (x, y, 1). The matrix is given row by row, with 6 values for an affine map and
/// 9 for a perspective one. `fill` has one value, or three.
SINDRI_API Transform Warp(const std::vector<double>& matrix, Inter interpolation, const std::vector<double>& fill);
/// Options of Rotate.
struct RotateOptions {
  Inter interpolation = Inter::kNearest;
  /// Enlarges the result so that it contains the whole rotated image.
  bool expand = false;
  /// Centre (x, y); empty: the image's centre.
  std::vector<double> center = {};
  /// Value of pixels from outside the image: one value, or three.
  std::vector<double> fill = {0};
};
/// Rotates counterclockwise by degrees drawn uniformly from the range.
SINDRI_API Transform Rotate(Range degrees, const RotateOptions& options);
/// Ranges of RandomAffine.
struct AffineRanges {
  /// Clockwise rotation in degrees.
  Range degrees = {0, 0};
  /// Fractions of width and height.
  std::array<Range, 2> translate = {};
  /// Factor, above 0.
  Range scale = {1, 1};
  /// Degrees along x and y.
  std::array<Range, 2> shear = {};
};
/// Shears, scales and rotates clockwise around the centre, then translates, with amounts drawn uniformly from the
/// ranges.
SINDRI_API Transform Affine(const AffineRanges& ranges, Inter interpolation, const std::vector<double>& fill);
/// With probability prob, moves each corner inwards by up to `distortion` of half the image.
SINDRI_API Transform RandomPerspective(double distortion, double prob, Inter interpolation);
/// Gaussian blur with odd kernel sizes. A sigma of 0 is computed from the size n: ((n - 1) / 2 - 1) * 0.3 + 0.8.
SINDRI_API Transform GaussianBlur(Size kernel, double sigma_x, double sigma_y);
/// Mirrors top to bottom. Any element type.
SINDRI_API Transform VerticalFlip();
/// VerticalFlip with probability prob. Any element type.
SINDRI_API Transform RandomVerticalFlip(double prob);
/// Adds (left, top, right, bottom) pixels. Any element type.
SINDRI_API Transform Pad(std::array<int64_t, 4> sides, const std::vector<int64_t>& fill, Border border);
/// Pads to a size. `offset` is the (top, left) position of the image; empty: centred. Any element type.
SINDRI_API Transform PadToSize(Size size, const std::vector<int64_t>& offset, const std::vector<int64_t>& fill, Border border);
/// Crops [height, width] at (top, left). Any element type.
SINDRI_API Transform Crop(int64_t top, int64_t left, Size size);
/// Crop followed by Resize.
SINDRI_API Transform ResizedCrop(std::array<int64_t, 4> top_left_height_width, Size size, Inter interpolation);
/// Resizes with Pillow's filters, cubic or triangle, which widen when an image shrinks. `long_edge` as in Resize.
SINDRI_API Transform PillowResize(Size size, bool cubic, LongEdge long_edge);
/// Resizes with an interpolation drawn for each image.
SINDRI_API Transform RandomResize(Size size, LongEdge long_edge);
/// Splits into rows * columns patches, row by row, each an output. A remainder is padded with `fill`, or dropped.
SINDRI_API Transform SlicePatches(int rows, int columns, bool drop, int64_t fill);
/// Five outputs: the four corners and the centre; with `mirrored`, ten: these five, followed by the same five of the
/// flipped image. `vertical` flips top to bottom.
SINDRI_API Transform CornerCrops(Size size, bool mirrored, bool vertical);

// Erased parts.

/// Fills a rectangle of [H, W, C] with `value`.
SINDRI_API Transform Erase(std::array<int64_t, 4> top_left_height_width, const std::vector<double>& value);
/// Sets `patches` squares of side `length` to 0 around uniformly drawn positions. Any element type.
SINDRI_API Transform CutOut(int64_t length, int patches, bool is_hwc);
/// Options of RandomErasing.
struct RandomErasingOptions {
  /// Probability of erasing.
  double prob = 0.5;
  /// Ranges of the rectangle's share of the area and of its height divided by its width.
  Range scale = {0.02, 0.33}, ratio = {0.3, 3.3};
  /// One value, or one per channel; empty: normal noise.
  std::vector<double> value = {0};
  /// Attempts to draw a rectangle that fits; after that the image stays unchanged.
  int max_attempts = 10;
};
/// Fills a random rectangle of [C, H, W] with probability `prob`.
SINDRI_API Transform RandomErasing(const RandomErasingOptions& options);

// Types and layouts.

/// Converts [H, W, C] or [H, W], uint8 or floats, to [C, H, W] divided by 255, float32, float16 or float64.
SINDRI_API Transform ToTensor(DType output_type);
/// (x - mean) / std followed by a channel of zeros, float32 or float16.
SINDRI_API Transform NormalizePad(const std::vector<double>& mean, const std::vector<double>& std, DType output_type, bool is_hwc);

// Policies for uint8 RGB images.

/// Applies num_ops operations drawn from 14, all with strength `magnitude` of `bins` (RandAugment, arXiv:1909.13719).
SINDRI_API Transform RandAugment(int num_ops, int magnitude, int bins, Inter interpolation, const std::vector<double>& fill);
/// Applies one of the 14 operations with random strength (TrivialAugment, arXiv:2103.10158).
SINDRI_API Transform TrivialAugmentWide(int bins, Inter interpolation, const std::vector<double>& fill);
/// Applies one of the 25 published sub-policies for "imagenet", "cifar10" or "svhn" (AutoAugment, arXiv:1805.09501).
SINDRI_API Transform AutoAugment(const std::string& policy, Inter interpolation, const std::vector<double>& fill);

// Choices among transforms of one column.

/// Transforms applied in sequence.
using Chain = std::vector<Transform>;
/// Applies all transforms with probability prob, otherwise none.
SINDRI_API Transform RandomApply(const Chain& transforms, double prob);
/// Applies one of the chains, drawn at random.
SINDRI_API Transform RandomChoice(const std::vector<Chain>& chains);
/// Applies all chains in random order.
SINDRI_API Transform RandomOrder(const std::vector<Chain>& chains);
/// Draws `count` different chains and applies each with probability 1/2.
SINDRI_API Transform UniformAugment(const std::vector<Chain>& chains, int count);
/// Applies one of the sub-policies, drawn at random. Each chain of a sub-policy is applied with its own probability.
SINDRI_API Transform RandomSelectSubpolicy(const std::vector<std::vector<std::pair<Chain, double>>>& policy);

// With bounding boxes: columns (image, boxes [N, 4 or more] of (x, y, width, height, …) in pixels, inside the image).
// Boxes that a crop removes entirely are dropped; if none remains, one box of zeros replaces them.

/// Flips image and boxes with probability prob, top to bottom if `vertical`, else left to right.
SINDRI_API Transform FlipWithBoxes(double prob, bool vertical);
/// Resizes the image and scales the boxes with it.
SINDRI_API Transform ResizeWithBoxes(const Transform& resize);
/// Crops the image, and clips and scales the boxes with it. `crop` is RandomCrop, CenterCrop or RandomResizedCrop.
SINDRI_API Transform CropWithBoxes(const Transform& crop);
/// Applies transforms that keep size and type to the parts of the image inside some boxes, a random fraction `ratio` of
/// all.
SINDRI_API Transform BoundingBoxAugment(const Chain& transforms, double ratio);

// Batches: columns (images [N, …] of rank 4, one-hot labels); labels become float32.

/// Mixes the images and labels of the batch with those of a permutation of it, with a weight drawn from Beta(alpha,
/// alpha) (MixUp, arXiv:1710.09412).
SINDRI_API Transform MixUpBatch(double alpha);
/// Pastes boxes of other images with probability prob and mixes labels by area; alpha as in MixUpBatch (CutMix,
/// arXiv:1905.04899).
SINDRI_API Transform CutMixBatch(bool channels_last, double alpha, double prob);

}  // namespace sindri::dataset::vision
