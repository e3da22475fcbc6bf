// Functions on one image by OpenCV: warping, blurring, colours.
#include <fmt/format.h>

#include <map>
#include <opencv2/core.hpp>
#include <opencv2/imgproc.hpp>

#include "dataset/transforms/vision_ops.h"
#include "sindri/dataset/vision.h"

namespace sindri::dataset::vision {

namespace {

constexpr int kModes[] = {cv::INTER_NEAREST, cv::INTER_LINEAR, cv::INTER_CUBIC, cv::INTER_AREA};
constexpr int64_t kMaxSide = 32767;  // OpenCV counts the pixels of a warp in 16 bits

cv::Mat as_mat(const Tensor& t, const char* who) {
  if (t.dtype() != DType::kUInt8 && t.dtype() != DType::kFloat32)
    throw DTypeError(fmt::format("{}: the image is {}, expected uint8 or float32", who, dtype_name(t.dtype())));
  if (t.rank() < 2 || t.rank() > 3 || t.numel() == 0 || (t.rank() == 3 && t.dim(2) > 4))
    throw ShapeError(fmt::format("{}: the image has shape {}, expected [H, W] or [H, W, C] with up to 4 channels", who, t.shape().str()));
  if (t.dim(0) > kMaxSide || t.dim(1) > kMaxSide)
    throw ShapeError(fmt::format("{}: the image has shape {}, expected at most {} pixels a side", who, t.shape().str(), kMaxSide));
  const int type = CV_MAKETYPE(t.dtype() == DType::kUInt8 ? CV_8U : CV_32F, static_cast<int>(t.rank() == 3 ? t.dim(2) : 1));
  return {static_cast<int>(t.dim(0)), static_cast<int>(t.dim(1)), type, const_cast<void*>(t.raw_data())};
}

/// Runs `f(source, result)` of OpenCV, with a result of this size and these channels (0: [H, W]).
template <class F> Tensor apply(const char* who, const Tensor& image, int64_t height, int64_t width, int64_t channels, F&& f) {
  if (height < 1 || width < 1 || height > kMaxSide || width > kMaxSide)
    throw ValueError(fmt::format("{}: the result would have {} x {} pixels, expected 1 to {} a side", who, height, width, kMaxSide));
  single_threaded_opencv();
  const Tensor dense = image.contiguous();
  const cv::Mat source = as_mat(dense, who);
  const Tensor out = Tensor::zeros(channels == 0 ? Shape{height, width} : Shape{height, width, channels}, image.dtype());
  cv::Mat result = as_mat(out, who);
  try {
    f(source, result);
  } catch (const cv::Exception& e) { throw BadSample(fmt::format("{}: {}", who, e.what())); }
  if (result.data != out.raw_data()) throw InternalError(fmt::format("{}: OpenCV did not write to the given memory", who));
  return out;
}

int64_t channels_of(const Tensor& image) { return image.rank() == 3 ? image.dim(2) : 0; }

}  // namespace

Tensor warp(const Tensor& image, const std::vector<double>& matrix, Size size, Inter interpolation, const std::vector<double>& fill) {
  if (matrix.size() != 6 && matrix.size() != 9) throw ValueError(fmt::format("warp: the matrix has {} numbers, expected 6 or 9", matrix.size()));
  if (fill.size() != 1 && fill.size() != 3) throw ValueError(fmt::format("warp: the fill value has {} numbers, expected 1 or 3", fill.size()));
  const cv::Mat map(static_cast<int>(matrix.size() / 3), 3, CV_64F, const_cast<double*>(matrix.data()));
  const cv::Scalar colour = fill.size() == 1 ? cv::Scalar::all(fill[0]) : cv::Scalar(fill[0], fill[1], fill[2]);
  const int mode = kModes[static_cast<int>(interpolation)];
  return apply("warp", image, size.height, size.width < 0 ? size.height : size.width, channels_of(image), [&](const cv::Mat& from, cv::Mat& to) {
    if (matrix.size() == 6) cv::warpAffine(from, to, map, to.size(), mode, cv::BORDER_CONSTANT, colour);
    else cv::warpPerspective(from, to, map, to.size(), mode, cv::BORDER_CONSTANT, colour);
  });
}

Tensor gaussian_blur(const Tensor& image, Size kernel, double sigma_x, double sigma_y) {
  const int64_t across = kernel.width < 0 ? kernel.height : kernel.width;
  for (int64_t n : {kernel.height, across}) {
    if (n < 1 || n % 2 == 0 || n > 4095)
      throw ValueError(fmt::format("gaussian_blur: the kernel is {} x {}, expected odd sizes up to 4095", kernel.height, across));
  }
  return apply("gaussian_blur", image, image.dim(0), image.dim(1), channels_of(image), [&](const cv::Mat& from, cv::Mat& to) {
    cv::GaussianBlur(from, to, {static_cast<int>(across), static_cast<int>(kernel.height)}, sigma_x, sigma_y);
  });
}

Tensor turn_hue(const Tensor& image, double circles) {
  if (image.rank() != 3 || image.dim(2) != 3 || image.dtype() != DType::kUInt8)
    throw ShapeError(fmt::format("turn_hue: the image is {}, expected uint8 [H, W, 3]", image.meta().str()));
  const int shift = static_cast<int>(circles * 255);
  return apply("turn_hue", image, image.dim(0), image.dim(1), 3, [&](const cv::Mat& from, cv::Mat& to) {
    cv::Mat hsv;
    cv::cvtColor(from, hsv, cv::COLOR_RGB2HSV_FULL);
    for (int y = 0; y < hsv.rows; ++y) {
      auto* row = hsv.ptr<cv::Vec3b>(y);
      for (int x = 0; x < hsv.cols; ++x) row[x][0] = static_cast<uint8_t>(row[x][0] + shift);  // modulo 256
    }
    cv::cvtColor(hsv, to, cv::COLOR_HSV2RGB_FULL);
  });
}

}  // namespace sindri::dataset::vision
