// Image transforms for augmentation (MindSpore: dataset.vision): colours, warps, parts left out, policies, choices. Images are [H, W] or [H, W, C] with 1
// to 4 channels, uint8 or of a float type, unless said; what is meant for RGB needs 3. Those named Random draw from (seed, pass, position) alone. All
// throw ValueError for arguments out of range; a row that does not suit is a bad sample.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "sindri/dataset/vision.h"

namespace sindri::dataset::vision {

using Range = std::array<double, 2>;

// Colours and levels.

/// x * factor.
SINDRI_API Transform AdjustBrightness(double factor);
/// mean * (1 - factor) + x * factor, mean being that of the grey image. RGB.
SINDRI_API Transform AdjustContrast(double factor);
/// grey * (1 - factor) + x * factor. RGB.
SINDRI_API Transform AdjustSaturation(double factor);
/// Turns the hue by a part of a circle, -0.5 to 0.5. RGB.
SINDRI_API Transform AdjustHue(double factor);
/// blurred * (1 - factor) + x * factor.
SINDRI_API Transform AdjustSharpness(double factor);
/// uint8: gain * x^gamma for x from 0 to 1; floats: (gain * x)^gamma, cut to 0 … 1.
SINDRI_API Transform AdjustGamma(double gamma, double gain = 1);
/// 255 - x.
SINDRI_API Transform Invert();
/// Keeps the upper bits, 0 to 8. uint8.
SINDRI_API Transform Posterize(int bits);
/// 255 - x for x from low to high.
SINDRI_API Transform Solarize(Range threshold);
/// Spreads the histogram of each channel. uint8.
SINDRI_API Transform Equalize();
/// Stretches each channel to 0 … 255 without `cutoff` percent of the pixels at both ends and the levels in `ignore`. uint8.
SINDRI_API Transform AutoContrast(double cutoff = 0, const std::vector<int>& ignore = {});
/// 0.299 R + 0.587 G + 0.114 B in 1 or 3 equal channels. RGB.
SINDRI_API Transform Grayscale(int channels = 1);
/// Channels as `to` names them ("RGB", "BGRA", "GRAY") of an image of channels `from`; an alpha that is added is 255.
SINDRI_API Transform ConvertColor(const std::string& from, const std::string& to);

/// Brightness, contrast, saturation and hue by factors from their ranges, in random order; neutral ranges are left out. RGB.
SINDRI_API Transform RandomColorAdjust(Range brightness, Range contrast, Range saturation, Range hue);
SINDRI_API Transform RandomColor(Range degrees);
SINDRI_API Transform RandomSharpness(Range degrees);
SINDRI_API Transform RandomPosterize(int least_bits, int most_bits);
/// Inverts a random part of the range of levels.
SINDRI_API Transform RandomSolarize(int low, int high);
SINDRI_API Transform RandomInvert(double prob);
SINDRI_API Transform RandomGrayscale(double prob);
SINDRI_API Transform RandomEqualize(double prob);
SINDRI_API Transform RandomAutoContrast(double cutoff, const std::vector<int>& ignore, double prob);
SINDRI_API Transform RandomAdjustSharpness(double degree, double prob);
/// Adds one colour along the principal components of ImageNet's, each by a normal number of standard deviation alpha. RGB.
SINDRI_API Transform RandomLighting(double alpha);

// Places and shapes.

/// The pixel at (x, y) comes to matrix * (x, y, 1): 6 numbers, row by row, for an affine map, 9 for a perspective one. `fill`: one number, or three.
SINDRI_API Transform Warp(const std::vector<double>& matrix, Inter interpolation, const std::vector<double>& fill);
/// Of Rotate: interpolation, size of the result, centre and fill.
struct RotateOptions {
  Inter interpolation = Inter::kNearest;
  /// The result holds the whole turned image.
  bool expand = false;
  /// (x, y); none: the middle.
  std::vector<double> center = {};
  std::vector<double> fill = {0};
};
/// Turns counterclockwise by a uniform number of degrees from the range.
SINDRI_API Transform Rotate(Range degrees, const RotateOptions& options);
/// What RandomAffine draws from.
struct AffineRanges {
  Range degrees = {0, 0};
  /// In parts of width and height.
  std::array<Range, 2> translate = {};
  Range scale = {1, 1};
  /// In degrees, along x and y.
  std::array<Range, 2> shear = {};
};
/// Around the middle: shears, scales, turns clockwise, then moves, by uniform draws from the ranges.
SINDRI_API Transform Affine(const AffineRanges& ranges, Inter interpolation, const std::vector<double>& fill);
/// With probability prob: each corner moved inwards by up to `distortion` of half the image.
SINDRI_API Transform RandomPerspective(double distortion, double prob, Inter interpolation);
/// Kernel sizes are odd. A sigma of 0 goes by the size: ((n - 1) / 2 - 1) * 0.3 + 0.8.
SINDRI_API Transform GaussianBlur(Size kernel, double sigma_x, double sigma_y);
SINDRI_API Transform VerticalFlip();
SINDRI_API Transform RandomVerticalFlip(double prob);
/// Adds (left, top, right, bottom) pixels. Any element type.
SINDRI_API Transform Pad(std::array<int64_t, 4> sides, const std::vector<int64_t>& fill, Border border);
/// Pads to a size; `offset` (top, left) of the image, none: in the middle. Any element type.
SINDRI_API Transform PadToSize(Size size, const std::vector<int64_t>& offset, const std::vector<int64_t>& fill, Border border);
/// [height, width] at (top, left). Any element type.
SINDRI_API Transform Crop(int64_t top, int64_t left, Size size);
/// Crop, then Resize.
SINDRI_API Transform ResizedCrop(std::array<int64_t, 4> top_left_height_width, Size size, Inter interpolation);
/// Pillow's filters, which widen when an image shrinks: cubic or triangle. `long_edge` as in Resize.
SINDRI_API Transform PillowResize(Size size, bool cubic, LongEdge long_edge);
/// Resize by an interpolation that is drawn for each image.
SINDRI_API Transform RandomResize(Size size, LongEdge long_edge);
/// rows * columns patches, row by row, each an output; what does not divide is padded with `fill`, or dropped.
SINDRI_API Transform SlicePatches(int rows, int columns, bool drop, int64_t fill);
/// Five outputs: the four corners and the middle; with `mirrored` ten: those of the flipped image behind them.
SINDRI_API Transform CornerCrops(Size size, bool mirrored, bool vertical);

// Parts left out.

/// Fills a rectangle of [H, W, C].
SINDRI_API Transform Erase(std::array<int64_t, 4> top_left_height_width, const std::vector<double>& value);
/// Blackens squares around uniform places. Any element type.
SINDRI_API Transform CutOut(int64_t length, int patches, bool is_hwc);
/// Of RandomErasing: how often, how large and with what.
struct RandomErasingOptions {
  double prob = 0.5;
  Range scale = {0.02, 0.33}, ratio = {0.3, 3.3};
  /// One number, or one per channel; none: normal noise.
  std::vector<double> value = {0};
  int max_attempts = 10;
};
/// Fills a random rectangle of [C, H, W].
SINDRI_API Transform RandomErasing(const RandomErasingOptions& options);

// Types and layout.

/// [H, W, C] or [H, W] of uint8 or floats -> [C, H, W], divided by 255, as float32, float16 or float64.
SINDRI_API Transform ToTensor(DType output_type);
/// (x - mean) / std and a channel of zeros behind, float32 or float16.
SINDRI_API Transform NormalizePad(const std::vector<double>& mean, const std::vector<double>& std, DType output_type, bool is_hwc);

// Policies. uint8 RGB.

/// num_ops operations out of 14, of one strength.
SINDRI_API Transform RandAugment(int num_ops, int magnitude, int bins, Inter interpolation, const std::vector<double>& fill);
/// One operation of random strength.
SINDRI_API Transform TrivialAugmentWide(int bins, Inter interpolation, const std::vector<double>& fill);
/// One of the 25 published sub-policies for "imagenet", "cifar10" or "svhn" (arXiv:1805.09501).
SINDRI_API Transform AutoAugment(const std::string& policy, Inter interpolation, const std::vector<double>& fill);

// Choices among transforms of one column.

using Chain = std::vector<Transform>;
/// All with probability prob, or none.
SINDRI_API Transform RandomApply(const Chain& transforms, double prob);
/// One of the chains.
SINDRI_API Transform RandomChoice(const std::vector<Chain>& chains);
/// All chains in random order.
SINDRI_API Transform RandomOrder(const std::vector<Chain>& chains);
/// `count` different chains, each with probability 1/2.
SINDRI_API Transform UniformAugment(const std::vector<Chain>& chains, int count);
/// One of the sub-policies, whose chains have probabilities of their own.
SINDRI_API Transform RandomSelectSubpolicy(const std::vector<std::vector<std::pair<Chain, double>>>& policy);

// With bounding boxes: columns (image, boxes [N, 4 or more] of float32 (x, y, width, height, …)). Boxes that a crop leaves nothing of are dropped; where
// none is left, one box of zeros stands in.

SINDRI_API Transform FlipWithBoxes(double prob, bool vertical);
SINDRI_API Transform ResizeWithBoxes(const Transform& resize);
SINDRI_API Transform CropWithBoxes(const Transform& crop);
/// Applies a transform to the parts of the image in a `ratio` of the boxes.
SINDRI_API Transform BoundingBoxAugment(const Chain& transforms, double ratio);

// Batches: columns (images [N, …], one-hot labels).

/// Images and labels mixed with a permutation of the batch by a weight from Beta(alpha, alpha).
SINDRI_API Transform MixUpBatch(double alpha);
/// Boxes of other images pasted in with probability prob; labels follow the area.
SINDRI_API Transform CutMixBatch(bool channels_last, double alpha, double prob);

}  // namespace sindri::dataset::vision
