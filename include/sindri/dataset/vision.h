// Image transforms (MindSpore: dataset.vision). Images are uint8 or float32, [H, W, C] with C = 1 or 3, or [H, W], unless said.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "sindri/dataset/transforms.h"

namespace sindri::dataset::vision {

/// Interpolation. kLinear: OpenCV's two taps, no antialiasing when shrinking. kCubic, kArea, kNearest: as OpenCV.
enum class Inter { kNearest, kLinear, kCubic, kArea };
inline constexpr Inter kBilinear = Inter::kLinear;
inline constexpr Inter kBicubic = Inter::kCubic;

/// Where RandomCrop's padding takes its pixels from.
enum class Border { kConstant, kEdge, kReflect, kSymmetric };

/// Height and width; one number means a square, or for Resize the shorter edge.
struct Size {
  Size(int64_t edge) : height(edge), width(-1) {}  // NOLINT(google-explicit-constructor)
  Size(int64_t h, int64_t w) : height(h), width(w) {}
  int64_t height, width;
};

/// File bytes [n] -> uint8 [H, W, 3] RGB. JPEG, PNG, BMP, TIFF, WebP by their first bytes, whatever the name; grey is expanded,
/// CMYK converted, the orientation tag ignored. Truncated or damaged files and those above 64 Mpixel are bad samples.
class SINDRI_API Decode : public Transform {
 public:
  Decode();
};

/// What becomes of float(long) / short * size, the length of the longer edge: cut to a whole number, as in MindSpore 2.x and torchvision, or
/// rounded, as in MindSpore 1.x.
enum class LongEdge { kCut, kRound };

/// One number: the shorter edge becomes `size`, the other follows. Two: exactly these.
class SINDRI_API Resize : public Transform {
 public:
  explicit Resize(Size size, Inter interpolation = Inter::kLinear, LongEdge long_edge = LongEdge::kCut);
};

/// The middle [h, w]; offset (H - h) / 2, (W - w) / 2. A smaller image is padded with 0, the odd pixel above and left.
class SINDRI_API CenterCrop : public Transform {
 public:
  explicit CenterCrop(Size size);
};

/// Of RandomCrop: padding and fill.
struct RandomCropOptions {
  /// {all}, {left and right, top and bottom} or {left, top, right, bottom}.
  std::vector<int64_t> padding = {};
  bool pad_if_needed = false;
  /// One value per channel, or one for all.
  std::vector<int64_t> fill_value = {0};
  Border padding_mode = Border::kConstant;
};
/// Pads, then cuts [h, w] at a uniform place.
class SINDRI_API RandomCrop : public Transform {
 public:
  explicit RandomCrop(Size size, RandomCropOptions options = {});
};

/// Of RandomResizedCrop and RandomCropDecodeResize: area, aspect and interpolation.
struct RandomResizedCropOptions {
  std::array<double, 2> scale = {0.08, 1.0};
  std::array<double, 2> ratio = {3.0 / 4.0, 4.0 / 3.0};
  Inter interpolation = Inter::kLinear;
  int max_attempts = 10;
};
/// A random area and aspect, resized to `size`.
class SINDRI_API RandomResizedCrop : public Transform {
 public:
  explicit RandomResizedCrop(Size size, RandomResizedCropOptions options = {});
};
/// File bytes in; the same pixels as Decode then RandomResizedCrop with the same draws.
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

/// float32: x * rescale + shift.
class SINDRI_API Rescale : public Transform {
 public:
  Rescale(double rescale, double shift);
};

/// float32: x * (1 / std) - mean / std per channel, in the input's units (0 to 255 for uint8). One value stands for all channels.
/// is_hwc=false: the input is [C, H, W].
class SINDRI_API Normalize : public Transform {
 public:
  Normalize(std::vector<double> mean, std::vector<double> std, bool is_hwc = true);
};

/// [H, W, C] -> [C, H, W]; [H, W] stays as it is.
class SINDRI_API HWC2CHW : public Transform {
 public:
  HWC2CHW();
};

}  // namespace sindri::dataset::vision
