// The transforms of colours and levels; colour.cc does their arithmetic.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <opencv2/imgproc.hpp>

#include "dataset/transforms/colour.h"
#include "dataset/transforms/pixel_op.h"
#include "sindri/dataset/augment.h"

namespace sindri::dataset::vision {

namespace {

const std::vector<int> kRgb = {3};

void check_between(const char* who, const char* name, double value, double low, double high) {
  if (!(value >= low && value <= high)) throw ValueError(fmt::format("{}: {} must be from {} to {}, got {}", who, name, low, high, value));
}

void check_rising(const char* who, const char* name, const Range& r, double low, double high) {
  check_between(who, name, r[0], low, high);
  check_between(who, name, r[1], r[0], high);
}

std::string range_str(const Range& r) { return fmt::format("({}, {})", r[0], r[1]); }

/// A transform without random parameters.
template <class F> Transform fixed(std::string who, std::string parameters, std::vector<int> channels, bool bytes_only, F f) {
  return pixel_transform({.who = std::move(who), .parameters = std::move(parameters), .bytes_only = bytes_only, .channels = std::move(channels)},
                         [f](const cv::Mat& in, cv::Mat& out, PhiloxSequence&) {
                           f(in, out);
                           return true;
                         });
}

/// f(in, out) with probability prob.
template <class F> Transform sometimes(std::string who, double prob, const std::string& parameters, std::vector<int> channels, bool bytes_only, F f) {
  check_between(who.c_str(), "prob", prob, 0, 1);
  return pixel_transform({.who = std::move(who),
                          .parameters = fmt::format("{}prob={}", parameters, prob),
                          .random = true,
                          .bytes_only = bytes_only,
                          .channels = std::move(channels)},
                         [prob, f](const cv::Mat& in, cv::Mat& out, PhiloxSequence& draws) {
                           if (draws.next_double() >= prob) return false;
                           f(in, out);
                           return true;
                         });
}

/// f(in, out, factor) with a uniform factor.
template <class F> Transform drawn(std::string who, Range degrees, std::vector<int> channels, F f) {
  check_rising(who.c_str(), "degrees", degrees, 0, 1e30);
  return pixel_transform({.who = std::move(who), .parameters = range_str(degrees), .random = true, .channels = std::move(channels)},
                         [degrees, f](const cv::Mat& in, cv::Mat& out, PhiloxSequence& draws) {
                           f(in, out, draw_between(draws, degrees[0], degrees[1]));
                           return true;
                         });
}

using Adjustment = void (*)(const cv::Mat&, cv::Mat&, double);

Transform adjusted(const char* who, double factor, std::vector<int> channels, Adjustment f) {
  check_between(who, "the factor", factor, 0, 1e30);
  return fixed(who, fmt::format("{}", factor), std::move(channels), false, [f, factor](const cv::Mat& in, cv::Mat& out) { f(in, out, factor); });
}

void check_ignore(const char* who, double cutoff, const std::vector<int>& ignore) {
  check_between(who, "cutoff", cutoff, 0, 50);
  for (int level : ignore) check_between(who, "ignore", level, 0, 255);
}

}  // namespace

Transform AdjustBrightness(double factor) { return adjusted("AdjustBrightness", factor, {}, &colour::brightness); }
Transform AdjustContrast(double factor) { return adjusted("AdjustContrast", factor, kRgb, &colour::contrast); }
Transform AdjustSaturation(double factor) { return adjusted("AdjustSaturation", factor, kRgb, &colour::saturation); }
Transform AdjustSharpness(double factor) { return adjusted("AdjustSharpness", factor, {}, &colour::sharpness); }

Transform AdjustHue(double factor) {
  check_between("AdjustHue", "the factor", factor, -0.5, 0.5);
  return fixed("AdjustHue", fmt::format("{}", factor), kRgb, false, [factor](const cv::Mat& in, cv::Mat& out) { colour::hue(in, out, factor); });
}

Transform AdjustGamma(double gamma, double gain) {
  check_between("AdjustGamma", "gamma", gamma, 0, 1e30);
  return fixed("AdjustGamma", fmt::format("{}, {}", gamma, gain), {}, false,
               [gamma, gain](const cv::Mat& in, cv::Mat& out) { colour::gamma(in, out, gamma, gain); });
}

Transform Invert() { return fixed("Invert", "", {}, false, &colour::invert); }

Transform Posterize(int bits) {
  check_between("Posterize", "bits", bits, 0, 8);
  return fixed("Posterize", fmt::format("{}", bits), {}, true, [bits](const cv::Mat& in, cv::Mat& out) { colour::posterize(in, out, bits); });
}

Transform Solarize(Range threshold) {
  check_rising("Solarize", "threshold", threshold, 0, 255);
  return fixed("Solarize", range_str(threshold), {}, false,
               [threshold](const cv::Mat& in, cv::Mat& out) { colour::solarize(in, out, threshold[0], threshold[1]); });
}

Transform Equalize() { return fixed("Equalize", "", {}, true, &colour::equalize); }

Transform AutoContrast(double cutoff, const std::vector<int>& ignore) {
  check_ignore("AutoContrast", cutoff, ignore);
  return fixed("AutoContrast", fmt::format("{}, [{}]", cutoff, fmt::join(ignore, ", ")), {}, true,
               [cutoff, ignore](const cv::Mat& in, cv::Mat& out) { colour::auto_contrast(in, out, cutoff, ignore); });
}

Transform Grayscale(int channels) {
  if (channels != 1 && channels != 3) throw ValueError(fmt::format("Grayscale: the number of channels must be 1 or 3, got {}", channels));
  return pixel_transform({.who = "Grayscale",
                          .parameters = fmt::format("{}", channels),
                          .channels = kRgb,
                          .size =
                              [channels](const PixelDims& d) {
                                return PixelDims{d.height, d.width, channels};
                              }},
                         [](const cv::Mat& in, cv::Mat& out, PhiloxSequence&) {
                           colour::grey(in, out);
                           return true;
                         });
}

Transform ConvertColor(const std::string& from, const std::string& to) {
  const int takes = from == "GRAY" ? 1 : static_cast<int>(from.size()), gives = to == "GRAY" ? 0 : static_cast<int>(to.size());
  // The source channel of each channel of the result; -1: opaque.
  std::vector<int> source;
  for (char c : gives == 0 ? std::string() : to) {
    const size_t at = from.find(c);
    source.push_back(from == "GRAY" ? (c == 'A' ? -1 : 0) : at == std::string::npos ? -1 : static_cast<int>(at));
  }
  const int grey_code = from == "BGR" ? cv::COLOR_BGR2GRAY : from == "RGB" ? cv::COLOR_RGB2GRAY : from == "BGRA" ? cv::COLOR_BGRA2GRAY : cv::COLOR_RGBA2GRAY;
  return pixel_transform({.who = "ConvertColor",
                          .parameters = from + "2" + to,
                          .channels = {takes},
                          .size =
                              [gives](const PixelDims& d) {
                                return PixelDims{d.height, d.width, gives};
                              }},
                         [source, grey_code, gives](const cv::Mat& in, cv::Mat& out, PhiloxSequence&) {
                           if (gives == 0) {
                             cv::cvtColor(in, out, grey_code);
                             return true;
                           }
                           std::vector<int> pairs;
                           for (int k = 0; k < gives; ++k) {
                             if (source[static_cast<size_t>(k)] >= 0) pairs.insert(pairs.end(), {source[static_cast<size_t>(k)], k});
                           }
                           // Opaque is the largest value of integers, and 1 for floats, as in cv::cvtColor.
                           if (static_cast<int>(pairs.size()) < 2 * gives) out.setTo(cv::Scalar::all(in.depth() == CV_8U ? 255 : 1));
                           cv::mixChannels(&in, 1, &out, 1, pairs.data(), pairs.size() / 2);
                           return true;
                         });
}

Transform RandomColorAdjust(Range brightness, Range contrast, Range saturation, Range hue) {
  const char* const who = "RandomColorAdjust";
  struct Part {
    Adjustment f;
    Range range;
  };
  std::vector<Part> parts;
  const auto add = [&](const char* name, Adjustment f, const Range& r, double neutral, double low, double high) {
    check_rising(who, name, r, low, high);
    if (r[0] != neutral || r[1] != neutral) parts.push_back({f, r});
  };
  add("brightness", &colour::brightness, brightness, 1, 0, 1e30);
  add("contrast", &colour::contrast, contrast, 1, 0, 1e30);
  add("saturation", &colour::saturation, saturation, 1, 0, 1e30);
  add("hue", &colour::hue, hue, 0, -0.5, 0.5);
  return pixel_transform({.who = who,
                          .parameters = fmt::format("{}, {}, {}, {}", range_str(brightness), range_str(contrast), range_str(saturation), range_str(hue)),
                          .random = true,
                          .channels = kRgb},
                         [parts](const cv::Mat& in, cv::Mat& out, PhiloxSequence& draws) {
                           if (parts.empty()) return false;
                           std::array<size_t, 4> order{};
                           std::iota(order.begin(), order.end(), size_t{0});
                           for (size_t i = parts.size(); i > 1; --i) std::swap(order[i - 1], order[draws.next_below(i)]);
                           cv::Mat between[2];
                           const cv::Mat* from = &in;
                           for (size_t i = 0; i < parts.size(); ++i) {
                             const Part& p = parts[order[i]];
                             cv::Mat& to = i + 1 == parts.size() ? out : between[i % 2];
                             if (to.empty()) to.create(in.rows, in.cols, in.type());
                             p.f(*from, to, draw_between(draws, p.range[0], p.range[1]));
                             from = &to;
                           }
                           return true;
                         });
}

Transform RandomColor(Range degrees) { return drawn("RandomColor", degrees, kRgb, &colour::saturation); }
Transform RandomSharpness(Range degrees) { return drawn("RandomSharpness", degrees, {}, &colour::sharpness); }

Transform RandomPosterize(int least, int most) {
  check_between("RandomPosterize", "bits", least, 1, 8);
  check_between("RandomPosterize", "bits", most, least, 8);
  return pixel_transform({.who = "RandomPosterize", .parameters = fmt::format("({}, {})", least, most), .random = true, .bytes_only = true},
                         [least, most](const cv::Mat& in, cv::Mat& out, PhiloxSequence& draws) {
                           colour::posterize(in, out, least + static_cast<int>(draws.next_below(static_cast<uint64_t>(most - least + 1))));
                           return true;
                         });
}

Transform RandomSolarize(int low, int high) {
  check_between("RandomSolarize", "threshold", low, 0, 255);
  check_between("RandomSolarize", "threshold", high, low, 255);
  return pixel_transform({.who = "RandomSolarize", .parameters = fmt::format("({}, {})", low, high), .random = true},
                         [low, high](const cv::Mat& in, cv::Mat& out, PhiloxSequence& draws) {
                           const auto level = [&] { return low + static_cast<int>(draws.next_below(static_cast<uint64_t>(high - low + 1))); };
                           const int a = level(), b = level();
                           colour::solarize(in, out, std::min(a, b), a == b ? 255 : std::max(a, b));
                           return true;
                         });
}

Transform RandomInvert(double prob) { return sometimes("RandomInvert", prob, "", {}, false, &colour::invert); }
Transform RandomGrayscale(double prob) { return sometimes("RandomGrayscale", prob, "", {1, 3}, false, &colour::grey); }
Transform RandomEqualize(double prob) { return sometimes("RandomEqualize", prob, "", {}, true, &colour::equalize); }

Transform RandomAutoContrast(double cutoff, const std::vector<int>& ignore, double prob) {
  check_ignore("RandomAutoContrast", cutoff, ignore);
  return sometimes("RandomAutoContrast", prob, fmt::format("{}, [{}], ", cutoff, fmt::join(ignore, ", ")), {}, true,
                   [cutoff, ignore](const cv::Mat& in, cv::Mat& out) { colour::auto_contrast(in, out, cutoff, ignore); });
}

Transform RandomAdjustSharpness(double degree, double prob) {
  check_between("RandomAdjustSharpness", "degree", degree, 0, 1e30);
  return sometimes("RandomAdjustSharpness", prob, fmt::format("{}, ", degree), {}, false,
                   [degree](const cv::Mat& in, cv::Mat& out) { colour::sharpness(in, out, degree); });
}

Transform RandomLighting(double alpha) {
  check_between("RandomLighting", "alpha", alpha, 0, 1e30);
  return pixel_transform({.who = "RandomLighting", .parameters = fmt::format("{}", alpha), .random = true, .channels = kRgb},
                         [alpha](const cv::Mat& in, cv::Mat& out, PhiloxSequence& draws) {
                           // Eigenvalues times eigenvectors of ImageNet's colours (Krizhevsky et al. 2012).
                           static constexpr double kParts[3][3] = {{55.46 * -0.5675, 4.794 * 0.7192, 1.148 * 0.4009},
                                                                   {55.46 * -0.5808, 4.794 * -0.0045, 1.148 * -0.8140},
                                                                   {55.46 * -0.5836, 4.794 * -0.6948, 1.148 * 0.4203}};
                           double weights[3];
                           for (double& w : weights) {
                             const double radius = std::sqrt(-2 * std::log(1 - draws.next_double()));
                             w = alpha * radius * std::cos(2 * CV_PI * draws.next_double());
                           }
                           cv::Scalar colour;
                           for (int c = 0; c < 3; ++c) colour[c] = kParts[c][0] * weights[0] + kParts[c][1] * weights[1] + kParts[c][2] * weights[2];
                           cv::add(in, colour, out);
                           return true;
                         });
}

}  // namespace sindri::dataset::vision
