// Image transforms (MindSpore: dataset.vision). Unless stated otherwise, images are uint8 or float32, [H, W, C] with C
// = 1 or 3, or [H, W]. Constructors throw ValueError for arguments out of range; an unsuitable row is a bad sample
// (BadSample).
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "sindri/dataset/transforms.h"

namespace sindri::dataset::vision {

/// Interpolation as in OpenCV. kLinear uses two taps, without antialiasing when shrinking.
enum class Inter { kNearest, kLinear, kCubic, kArea };
inline constexpr Inter kBilinear = Inter::kLinear;  ///< MindSpore's name of kLinear
inline constexpr Inter kBicubic = Inter::kCubic;  ///< MindSpore's name of kCubic

/// Source of padding pixels: a constant, the edge pixel, or reflection without (kReflect) or with (kSymmetric) the edge
/// pixel.
enum class Border { kConstant, kEdge, kReflect, kSymmetric };

/// Height and width. One number means a square, or for Resize the shorter edge.
struct Size {
  Size(int64_t edge) : height(edge), width(-1) {}  // NOLINT(google-explicit-constructor)
  Size(int64_t h, int64_t w) : height(h), width(w) {}
  int64_t height, width;
};

/// Decodes file bytes [n] to uint8 [H, W, 3] RGB. JPEG, PNG, BMP, TIFF and WebP are recognised by their first bytes,
/// whatever the name. Grey is expanded to RGB, CMYK is converted to RGB, and the orientation tag is ignored. Truncated
/// or damaged files and images above 64 Mpixel are bad samples.
class SINDRI_API Decode : public Transform {
 public:
  Decode();
};

/// Rounding of the new length of the longer edge, float(long) / short * size. kCut truncates, as in MindSpore 2.x and
/// torchvision; kRound rounds, as in MindSpore 1.x.
enum class LongEdge { kCut, kRound };

/// Resizes. One number: the shorter edge gets this length, the other follows. Two numbers: exactly this size.
class SINDRI_API Resize : public Transform {
 public:
  explicit Resize(Size size, Inter interpolation = Inter::kLinear, LongEdge long_edge = LongEdge::kCut);
};

/// Crops the centre [h, w], at ((H - h) / 2, (W - w) / 2). A smaller image is padded with 0; if the padding is odd, the
/// extra pixel is at the top or left.
class SINDRI_API CenterCrop : public Transform {
 public:
  explicit CenterCrop(Size size);
};

/// Options of RandomCrop.
struct RandomCropOptions {
  /// {all}, {left and right, top and bottom} or {left, top, right, bottom}.
  std::vector<int64_t> padding = {};
  /// Whether an image that is smaller than the crop is padded; if not, it is a bad sample.
  bool pad_if_needed = false;
  /// One value per channel, or one for all.
  std::vector<int64_t> fill_value = {0};
  Border padding_mode = Border::kConstant;  ///< where the padding's pixels come from
};
/// Pads, then crops [h, w] at a uniformly drawn position.
class SINDRI_API RandomCrop : public Transform {
 public:
  explicit RandomCrop(Size size, RandomCropOptions options = {});
};

/// Options of RandomResizedCrop and RandomCropDecodeResize.
struct RandomResizedCropOptions {
  /// Range of the crop's share of the area.
  std::array<double, 2> scale = {0.08, 1.0};
  /// Range of the crop's width divided by its height.
  std::array<double, 2> ratio = {3.0 / 4.0, 4.0 / 3.0};
  Inter interpolation = Inter::kLinear;
  /// Attempts to draw a crop that fits; after that, the largest centred crop with a permitted ratio is used.
  int max_attempts = 10;
};
/// Crops a random area with a random aspect ratio and resizes it to `size`.
class SINDRI_API RandomResizedCrop : public Transform {
 public:
  explicit RandomResizedCrop(Size size, RandomResizedCropOptions options = {});
};
/// Takes file bytes; returns the same pixels as Decode followed by RandomResizedCrop with the same draws.
class SINDRI_API RandomCropDecodeResize : public Transform {
 public:
  explicit RandomCropDecodeResize(Size size, RandomResizedCropOptions options = {});
};

/// Mirrors left and right with probability `prob`.
class SINDRI_API RandomHorizontalFlip : public Transform {
 public:
  explicit RandomHorizontalFlip(double prob = 0.5);
};
/// Mirrors left and right.
class SINDRI_API HorizontalFlip : public Transform {
 public:
  HorizontalFlip();
};

/// x * rescale + shift, as float32.
class SINDRI_API Rescale : public Transform {
 public:
  Rescale(double rescale, double shift);
};

/// x * (1 / std) - mean / std per channel, as float32, in the input's units (0 to 255 for uint8). One value applies to
/// all channels. is_hwc=false: the input is [C, H, W].
class SINDRI_API Normalize : public Transform {
 public:
  Normalize(std::vector<double> mean, std::vector<double> std, bool is_hwc = true);
};

/// Transposes [H, W, C] to [C, H, W]; [H, W] stays unchanged.
class SINDRI_API HWC2CHW : public Transform {
 public:
  HWC2CHW();
};

}  // namespace sindri::dataset::vision
