// Rotating, shearing, distorting and blurring images.
#include "dataset/transforms/warps.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <opencv2/imgproc.hpp>

#include "dataset/transforms/pixel_op.h"
#include "dataset/transforms/resize.h"

namespace sindri::dataset {

cv::Scalar fill_colour(const char* who, const std::vector<double>& fill) {
  if (fill.size() == 1) return cv::Scalar::all(fill[0]);
  if (fill.size() == 3) return {fill[0], fill[1], fill[2]};
  throw ValueError(fmt::format("{}: the fill value has {} numbers, expected 1 or 3", who, fill.size()));
}

int opencv_mode(vision::Inter inter) {
  static constexpr int kModes[] = {cv::INTER_NEAREST, cv::INTER_LINEAR, cv::INTER_CUBIC, cv::INTER_AREA};
  return kModes[static_cast<int>(inter)];
}

namespace {

double radians(double degrees) { return degrees * CV_PI / 180; }

void warp_by(const cv::Mat& in, cv::Mat& out, const std::array<double, 6>& matrix, vision::Inter inter, const cv::Scalar& fill) {
  cv::warpAffine(in, out, cv::Mat(2, 3, CV_64F, const_cast<double*>(matrix.data())), out.size(), opencv_mode(inter), cv::BORDER_CONSTANT, fill);
}

/// Counterclockwise.
void rotate(const cv::Mat& in, cv::Mat& out, double degrees, const vision::RotateOptions& o, const cv::Scalar& fill) {
  const double cos = std::cos(radians(degrees)), sin = std::sin(radians(degrees));
  const double x = o.center.empty() ? (in.cols - 1) / 2.0 : o.center[0], y = o.center.empty() ? (in.rows - 1) / 2.0 : o.center[1];
  std::array<double, 6> m = {cos, sin, (1 - cos) * x - sin * y, -sin, cos, sin * x + (1 - cos) * y};
  if (o.expand) {
    const double width = std::abs(in.cols * cos) + std::abs(in.rows * sin), height = std::abs(in.cols * sin) + std::abs(in.rows * cos);
    m[2] += (width - in.cols) / 2;
    m[5] += (height - in.rows) / 2;
    if (height + 0.5 > 32767 || width + 0.5 > 32767)
      throw BadSample(fmt::format("Rotate: the turned image of {} x {} would have more than 32767 pixels a side", in.rows, in.cols));
    out.create(static_cast<int>(height + 0.5), static_cast<int>(width + 0.5), in.type());
  }
  warp_by(in, out, m, o.interpolation, fill);
}

std::string fill_str(const std::vector<double>& fill) { return fmt::format("({})", fmt::join(fill, ", ")); }

}  // namespace

void warp_affine(const cv::Mat& in, cv::Mat& out, const AffineNumbers& n, vision::Inter inter, const cv::Scalar& fill) {
  const double x = (in.cols - 1) / 2.0, y = (in.rows - 1) / 2.0;
  const double turn = radians(n.degrees), sx = radians(n.shear_x), sy = radians(n.shear_y);
  const double a = n.scale * std::cos(turn - sy) / std::cos(sy);
  const double b = n.scale * (-std::cos(turn - sy) * std::tan(sx) / std::cos(sy) - std::sin(turn));
  const double c = n.scale * std::sin(turn - sy) / std::cos(sy);
  const double d = n.scale * (-std::sin(turn - sy) * std::tan(sx) / std::cos(sy) + std::cos(turn));
  warp_by(in, out, {a, b, x + n.translate_x - a * x - b * y, c, d, y + n.translate_y - c * x - d * y}, inter, fill);
}

namespace vision {

Transform Warp(const std::vector<double>& matrix, Inter interpolation, const std::vector<double>& fill) {
  if (matrix.size() != 6 && matrix.size() != 9) throw ValueError(fmt::format("Warp: the matrix has {} numbers, expected 6 or 9", matrix.size()));
  const cv::Scalar colour = fill_colour("Warp", fill);
  return pixel_transform({.who = "Warp", .parameters = fmt::format("[{}], {}, {}", fmt::join(matrix, ", "), inter_name(interpolation), fill_str(fill))},
                         [matrix, mode = opencv_mode(interpolation), colour](const cv::Mat& in, cv::Mat& out, PhiloxSequence&) {
                           const cv::Mat map(static_cast<int>(matrix.size() / 3), 3, CV_64F, const_cast<double*>(matrix.data()));
                           if (matrix.size() == 6) cv::warpAffine(in, out, map, out.size(), mode, cv::BORDER_CONSTANT, colour);
                           else cv::warpPerspective(in, out, map, out.size(), mode, cv::BORDER_CONSTANT, colour);
                           return true;
                         });
}

Transform Rotate(Range degrees, const RotateOptions& o) {
  const bool random = degrees[0] != degrees[1];
  const char* const who = random ? "RandomRotation" : "Rotate";
  if (!(degrees[0] <= degrees[1])) throw ValueError(fmt::format("{}: degrees must be in ascending order, got ({}, {})", who, degrees[0], degrees[1]));
  if (!o.center.empty() && o.center.size() != 2) throw ValueError(fmt::format("{}: center needs 2 numbers, got {}", who, o.center.size()));
  const cv::Scalar colour = fill_colour(who, o.fill);
  return pixel_transform({.who = who,
                          .parameters = fmt::format("({}, {}), {}, expand={}, center=({}), fill={}", degrees[0], degrees[1], inter_name(o.interpolation),
                                                    o.expand, fmt::join(o.center, ", "), fill_str(o.fill)),
                          .random = random,
                          .batches = true,
                          .size_is_drawn = o.expand},
                         [degrees, o, colour, random](const cv::Mat& in, cv::Mat& out, PhiloxSequence& draws) {
                           rotate(in, out, random ? draw_between(draws, degrees[0], degrees[1]) : degrees[0], o, colour);
                           return true;
                         });
}

Transform Affine(const AffineRanges& r, Inter interpolation, const std::vector<double>& fill) {
  bool random = false;
  std::string text;
  for (const Range& range : {r.degrees, r.translate[0], r.translate[1], r.scale, r.shear[0], r.shear[1]}) {
    if (!(range[0] <= range[1])) throw ValueError(fmt::format("Affine: a range must be in ascending order, got ({}, {})", range[0], range[1]));
    random |= range[0] != range[1];
    text += fmt::format("({}, {}), ", range[0], range[1]);
  }
  if (!(r.scale[0] > 0)) throw ValueError(fmt::format("Affine: scale must be positive, got {}", r.scale[0]));
  const cv::Scalar colour = fill_colour("Affine", fill);
  return pixel_transform(
      {.who = random ? "RandomAffine" : "Affine", .parameters = fmt::format("{}{}, {}", text, inter_name(interpolation), fill_str(fill)), .random = random},
      [r, interpolation, colour](const cv::Mat& in, cv::Mat& out, PhiloxSequence& draws) {
        const auto pick = [&](const Range& range) { return draw_between(draws, range[0], range[1]); };
        AffineNumbers n;
        n.degrees = pick(r.degrees);
        n.scale = pick(r.scale);
        n.translate_x = pick(r.translate[0]) * in.cols;
        n.translate_y = pick(r.translate[1]) * in.rows;
        n.shear_x = pick(r.shear[0]);
        n.shear_y = pick(r.shear[1]);
        warp_affine(in, out, n, interpolation, colour);
        return true;
      });
}

Transform RandomPerspective(double distortion, double prob, Inter interpolation) {
  if (!(distortion >= 0 && distortion <= 1) || !(prob >= 0 && prob <= 1))
    throw ValueError(fmt::format("RandomPerspective: distortion and prob must be from 0 to 1, got {} and {}", distortion, prob));
  return pixel_transform({.who = "RandomPerspective", .parameters = fmt::format("{}, {}, {}", distortion, prob, inter_name(interpolation)), .random = true},
                         [distortion, prob, mode = opencv_mode(interpolation)](const cv::Mat& in, cv::Mat& out, PhiloxSequence& draws) {
                           if (draws.next_double() >= prob) return false;
                           const float right = static_cast<float>(in.cols - 1), bottom = static_cast<float>(in.rows - 1);
                           const cv::Point2f corners[4] = {{0, 0}, {right, 0}, {right, bottom}, {0, bottom}};
                           static constexpr float kInwards[4][2] = {{1, 1}, {-1, 1}, {-1, -1}, {1, -1}};
                           const auto inwards = [&](int edge) {
                             const int most = static_cast<int>(distortion * (edge / 2));
                             return static_cast<float>(draws.next_below(static_cast<uint64_t>(most + 1)));
                           };
                           cv::Point2f moved[4];
                           for (int i = 0; i < 4; ++i)
                             moved[i] = corners[i] + cv::Point2f(kInwards[i][0] * inwards(in.cols), kInwards[i][1] * inwards(in.rows));
                           cv::warpPerspective(in, out, cv::getPerspectiveTransform(corners, moved), out.size(), mode, cv::BORDER_CONSTANT);
                           return true;
                         });
}

Transform GaussianBlur(Size kernel, double sigma_x, double sigma_y) {
  const int64_t across = kernel.width < 0 ? kernel.height : kernel.width;
  for (int64_t n : {kernel.height, across}) {
    if (n < 1 || n % 2 == 0 || n > 4095)
      throw ValueError(fmt::format("GaussianBlur: the kernel is {} x {}, expected odd sizes up to 4095", kernel.height, across));
  }
  const cv::Size size(static_cast<int>(across), static_cast<int>(kernel.height));
  return pixel_transform({.who = "GaussianBlur", .parameters = fmt::format("({}, {}), ({}, {})", across, kernel.height, sigma_x, sigma_y)},
                         [size, sigma_x, sigma_y](const cv::Mat& in, cv::Mat& out, PhiloxSequence&) {
                           cv::GaussianBlur(in, out, size, sigma_x, sigma_y);
                           return true;
                         });
}

Transform ResizedCrop(std::array<int64_t, 4> box, Size size, Inter interpolation) {
  const Size to = size.width < 0 ? Size(size.height, size.height) : size;
  const auto [top, left, height, width] = box;
  if (top < 0 || left < 0 || height < 1 || width < 1 || to.height < 1 || to.width < 1 || to.height > kMaxResizedSide || to.width > kMaxResizedSide)
    throw ValueError("ResizedCrop: the window or the size is out of range");
  return pixel_transform({.who = "ResizedCrop",
                          .parameters = fmt::format("({}), ({}, {}), {}", fmt::join(box, ", "), to.height, to.width, inter_name(interpolation)),
                          .size =
                              [to](const PixelDims& d) {
                                return PixelDims{to.height, to.width, d.channels};
                              }},
                         [box, mode = opencv_mode(interpolation)](const cv::Mat& in, cv::Mat& out, PhiloxSequence&) {
                           if (box[0] + box[2] > in.rows || box[1] + box[3] > in.cols) {
                             throw BadSample(fmt::format("ResizedCrop: the crop of {} x {} at ({}, {}) is beyond the image of {} x {}", box[2], box[3], box[0],
                                                         box[1], in.rows, in.cols));
                           }
                           const cv::Rect window(static_cast<int>(box[1]), static_cast<int>(box[0]), static_cast<int>(box[3]), static_cast<int>(box[2]));
                           cv::resize(in(window), out, out.size(), 0, 0, mode);
                           return true;
                         });
}

Transform RandomResize(Size size, LongEdge long_edge) {
  if (size.height < 1 || (size.width != -1 && size.width < 1) || size.height > kMaxResizedSide || size.width > kMaxResizedSide)
    throw ValueError("RandomResize: a size is not from 1 to 65536");
  return pixel_transform({.who = "RandomResize",
                          .parameters = fmt::format("({}, {}), {}", size.height, size.width, long_edge == LongEdge::kRound ? "rounded" : "cut"),
                          .random = true,
                          .batches = true,
                          .size =
                              [size, long_edge](const PixelDims& d) {
                                if (size.width > 0) return PixelDims{size.height, size.width, d.channels};
                                if (d.height < 1 || d.width < 1) return PixelDims{-1, -1, d.channels};
                                const auto [h, w] = size_by_short_edge(d.height, d.width, size.height, long_edge);
                                return PixelDims{h, w, d.channels};
                              }},
                         [](const cv::Mat& in, cv::Mat& out, PhiloxSequence& draws) {
                           cv::resize(in, out, out.size(), 0, 0, opencv_mode(static_cast<Inter>(draws.next_below(4))));
                           return true;
                         });
}

}  // namespace vision
}  // namespace sindri::dataset
