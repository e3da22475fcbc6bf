// Policies that draw operations and their strengths: RandAugment (arXiv:1909.13719), TrivialAugment (arXiv:2103.10158), AutoAugment (arXiv:1805.09501).
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <opencv2/core.hpp>
#include <span>

#include "dataset/transforms/colour.h"
#include "dataset/transforms/pixel_op.h"
#include "dataset/transforms/resize.h"
#include "dataset/transforms/warps.h"

namespace sindri::dataset {

namespace {

enum class Op {
  kIdentity,
  kShearX,
  kShearY,
  kTranslateX,
  kTranslateY,
  kRotate,
  kBrightness,
  kColor,
  kContrast,
  kSharpness,
  kPosterize,
  kSolarize,
  kAutoContrast,
  kEqualize,
  kInvert
};
// RandAugment and TrivialAugment choose from all operations but Invert.
constexpr int kChoices = 14;

/// The maximum strengths of the operations.
struct Strengths {
  double shear, translate_x, translate_y, rotate, colour;  // radians, pixels, degrees, and deviation from a factor of 1
  int bits;  // number of bits to remove
};

bool has_sign(Op op) { return op >= Op::kShearX && op <= Op::kSharpness; }

/// Entry `bin` of `bins` steps from zero to the maximum strength.
double strength(Op op, const Strengths& most, int bin, int bins) {
  const double part = bins > 1 ? static_cast<double>(bin) / (bins - 1) : 0;
  switch (op) {
    case Op::kShearX:
    case Op::kShearY: return part * most.shear;
    case Op::kTranslateX: return part * most.translate_x;
    case Op::kTranslateY: return part * most.translate_y;
    case Op::kRotate: return part * most.rotate;
    case Op::kBrightness:
    case Op::kColor:
    case Op::kContrast:
    case Op::kSharpness: return part * most.colour;
    case Op::kPosterize: return 8 - std::nearbyint(part * most.bits);
    case Op::kSolarize: return 255 * (1 - part);
    default: return 0;
  }
}

struct Look {
  vision::Inter inter;
  cv::Scalar fill;
};

void apply(Op op, double m, const cv::Mat& in, cv::Mat& out, const Look& look) {
  AffineNumbers a;
  switch (op) {
    case Op::kIdentity: in.copyTo(out); return;
    case Op::kShearX: a.shear_x = m * 180 / CV_PI; break;
    case Op::kShearY: a.shear_y = m * 180 / CV_PI; break;
    case Op::kTranslateX: a.translate_x = std::trunc(m); break;
    case Op::kTranslateY: a.translate_y = std::trunc(m); break;
    case Op::kRotate: a.degrees = -m; break;
    case Op::kBrightness: colour::brightness(in, out, 1 + m); return;
    case Op::kColor: colour::saturation(in, out, 1 + m); return;
    case Op::kContrast: colour::contrast(in, out, 1 + m); return;
    case Op::kSharpness: colour::sharpness(in, out, 1 + m); return;
    case Op::kPosterize: colour::posterize(in, out, static_cast<int>(m)); return;
    case Op::kSolarize: colour::solarize(in, out, m, 255); return;
    case Op::kAutoContrast: colour::auto_contrast(in, out, 0, {}); return;
    case Op::kEqualize: colour::equalize(in, out); return;
    case Op::kInvert: colour::invert(in, out); return;
  }
  warp_affine(in, out, a, look.inter, look.fill);
}

double with_sign(Op op, double m, PhiloxSequence& draws) { return has_sign(op) && draws.next_below(2) == 1 ? -m : m; }

Strengths usual(const cv::Mat& in) { return {0.3, 150.0 / 331.0 * in.cols, 150.0 / 331.0 * in.rows, 30, 0.9, 4}; }

struct Part {
  Op op;
  double prob;
  int bin;  // strength: one of 10 bins
};
struct Subpolicy {
  Part parts[2];
};

constexpr Subpolicy kImagenet[25] = {
    {{{Op::kPosterize, 0.4, 8}, {Op::kRotate, 0.6, 9}}},  {{{Op::kSolarize, 0.6, 5}, {Op::kAutoContrast, 0.6, 0}}},
    {{{Op::kEqualize, 0.8, 0}, {Op::kEqualize, 0.6, 0}}}, {{{Op::kPosterize, 0.6, 7}, {Op::kPosterize, 0.6, 6}}},
    {{{Op::kEqualize, 0.4, 0}, {Op::kSolarize, 0.2, 4}}}, {{{Op::kEqualize, 0.4, 0}, {Op::kRotate, 0.8, 8}}},
    {{{Op::kSolarize, 0.6, 3}, {Op::kEqualize, 0.6, 0}}}, {{{Op::kPosterize, 0.8, 5}, {Op::kEqualize, 1.0, 0}}},
    {{{Op::kRotate, 0.2, 3}, {Op::kSolarize, 0.6, 8}}},   {{{Op::kEqualize, 0.6, 0}, {Op::kPosterize, 0.4, 6}}},
    {{{Op::kRotate, 0.8, 8}, {Op::kColor, 0.4, 0}}},      {{{Op::kRotate, 0.4, 9}, {Op::kEqualize, 0.6, 0}}},
    {{{Op::kEqualize, 0.0, 0}, {Op::kEqualize, 0.8, 0}}}, {{{Op::kInvert, 0.6, 0}, {Op::kEqualize, 1.0, 0}}},
    {{{Op::kColor, 0.6, 4}, {Op::kContrast, 1.0, 8}}},    {{{Op::kRotate, 0.8, 8}, {Op::kColor, 1.0, 2}}},
    {{{Op::kColor, 0.8, 8}, {Op::kSolarize, 0.8, 7}}},    {{{Op::kSharpness, 0.4, 7}, {Op::kInvert, 0.6, 0}}},
    {{{Op::kShearX, 0.6, 5}, {Op::kEqualize, 1.0, 0}}},   {{{Op::kColor, 0.4, 0}, {Op::kEqualize, 0.6, 0}}},
    {{{Op::kEqualize, 0.4, 0}, {Op::kSolarize, 0.2, 4}}}, {{{Op::kSolarize, 0.6, 5}, {Op::kAutoContrast, 0.6, 0}}},
    {{{Op::kInvert, 0.6, 0}, {Op::kEqualize, 1.0, 0}}},   {{{Op::kColor, 0.6, 4}, {Op::kContrast, 1.0, 8}}},
    {{{Op::kEqualize, 0.8, 0}, {Op::kEqualize, 0.6, 0}}},
};
constexpr Subpolicy kCifar10[25] = {
    {{{Op::kInvert, 0.1, 0}, {Op::kContrast, 0.2, 6}}},         {{{Op::kRotate, 0.7, 2}, {Op::kTranslateX, 0.3, 9}}},
    {{{Op::kSharpness, 0.8, 1}, {Op::kSharpness, 0.9, 3}}},     {{{Op::kShearY, 0.5, 8}, {Op::kTranslateY, 0.7, 9}}},
    {{{Op::kAutoContrast, 0.5, 0}, {Op::kEqualize, 0.9, 0}}},   {{{Op::kShearY, 0.2, 7}, {Op::kPosterize, 0.3, 7}}},
    {{{Op::kColor, 0.4, 3}, {Op::kBrightness, 0.6, 7}}},        {{{Op::kSharpness, 0.3, 9}, {Op::kBrightness, 0.7, 9}}},
    {{{Op::kEqualize, 0.6, 0}, {Op::kEqualize, 0.5, 0}}},       {{{Op::kContrast, 0.6, 7}, {Op::kSharpness, 0.6, 5}}},
    {{{Op::kColor, 0.7, 7}, {Op::kTranslateX, 0.5, 8}}},        {{{Op::kEqualize, 0.3, 0}, {Op::kAutoContrast, 0.4, 0}}},
    {{{Op::kTranslateY, 0.4, 3}, {Op::kSharpness, 0.2, 6}}},    {{{Op::kBrightness, 0.9, 6}, {Op::kColor, 0.2, 8}}},
    {{{Op::kSolarize, 0.5, 2}, {Op::kInvert, 0.0, 0}}},         {{{Op::kEqualize, 0.2, 0}, {Op::kAutoContrast, 0.6, 0}}},
    {{{Op::kEqualize, 0.2, 0}, {Op::kEqualize, 0.6, 0}}},       {{{Op::kColor, 0.9, 9}, {Op::kEqualize, 0.6, 0}}},
    {{{Op::kAutoContrast, 0.8, 0}, {Op::kSolarize, 0.2, 8}}},   {{{Op::kBrightness, 0.1, 3}, {Op::kColor, 0.7, 0}}},
    {{{Op::kSolarize, 0.4, 5}, {Op::kAutoContrast, 0.9, 0}}},   {{{Op::kTranslateY, 0.9, 9}, {Op::kTranslateY, 0.7, 9}}},
    {{{Op::kAutoContrast, 0.9, 0}, {Op::kSolarize, 0.8, 3}}},   {{{Op::kEqualize, 0.8, 0}, {Op::kInvert, 0.1, 0}}},
    {{{Op::kTranslateY, 0.7, 9}, {Op::kAutoContrast, 0.9, 0}}},
};
constexpr Subpolicy kSvhn[25] = {
    {{{Op::kShearX, 0.9, 4}, {Op::kInvert, 0.2, 0}}},       {{{Op::kShearY, 0.9, 8}, {Op::kInvert, 0.7, 0}}},
    {{{Op::kEqualize, 0.6, 0}, {Op::kSolarize, 0.6, 6}}},   {{{Op::kInvert, 0.9, 0}, {Op::kEqualize, 0.6, 0}}},
    {{{Op::kEqualize, 0.6, 0}, {Op::kRotate, 0.9, 3}}},     {{{Op::kShearX, 0.9, 4}, {Op::kAutoContrast, 0.8, 0}}},
    {{{Op::kShearY, 0.9, 8}, {Op::kInvert, 0.4, 0}}},       {{{Op::kShearY, 0.9, 5}, {Op::kSolarize, 0.2, 6}}},
    {{{Op::kInvert, 0.9, 0}, {Op::kAutoContrast, 0.8, 0}}}, {{{Op::kEqualize, 0.6, 0}, {Op::kRotate, 0.9, 3}}},
    {{{Op::kShearX, 0.9, 4}, {Op::kSolarize, 0.3, 3}}},     {{{Op::kShearY, 0.8, 8}, {Op::kInvert, 0.7, 0}}},
    {{{Op::kEqualize, 0.9, 0}, {Op::kTranslateY, 0.6, 6}}}, {{{Op::kInvert, 0.9, 0}, {Op::kEqualize, 0.6, 0}}},
    {{{Op::kContrast, 0.3, 3}, {Op::kRotate, 0.8, 4}}},     {{{Op::kInvert, 0.8, 0}, {Op::kTranslateY, 0.0, 2}}},
    {{{Op::kShearY, 0.7, 6}, {Op::kSolarize, 0.4, 8}}},     {{{Op::kInvert, 0.6, 0}, {Op::kRotate, 0.8, 4}}},
    {{{Op::kShearY, 0.3, 7}, {Op::kTranslateX, 0.9, 3}}},   {{{Op::kShearX, 0.1, 6}, {Op::kInvert, 0.6, 0}}},
    {{{Op::kSolarize, 0.7, 2}, {Op::kTranslateY, 0.6, 7}}}, {{{Op::kShearY, 0.8, 4}, {Op::kInvert, 0.8, 0}}},
    {{{Op::kShearX, 0.7, 9}, {Op::kTranslateY, 0.8, 3}}},   {{{Op::kShearY, 0.8, 5}, {Op::kAutoContrast, 0.7, 0}}},
    {{{Op::kShearX, 0.7, 2}, {Op::kInvert, 0.1, 0}}},
};

std::string look_str(vision::Inter inter, const std::vector<double>& fill) { return fmt::format("{}, ({})", inter_name(inter), fmt::join(fill, ", ")); }

}  // namespace

namespace vision {

Transform RandAugment(int num_ops, int magnitude, int bins, Inter interpolation, const std::vector<double>& fill) {
  if (num_ops < 0) throw ValueError(fmt::format("RandAugment: num_ops must not be negative, got {}", num_ops));
  if (bins < 2) throw ValueError(fmt::format("RandAugment: num_magnitude_bins must be at least 2, got {}", bins));
  if (magnitude < 0 || magnitude >= bins) throw ValueError(fmt::format("RandAugment: magnitude must be from 0 to {}, got {}", bins - 1, magnitude));
  const Look look{interpolation, fill_colour("RandAugment", fill)};
  return pixel_transform({.who = "RandAugment",
                          .parameters = fmt::format("{}, {}, {}, {}", num_ops, magnitude, bins, look_str(interpolation, fill)),
                          .random = true,
                          .bytes_only = true,
                          .channels = {3}},
                         [=](const cv::Mat& in, cv::Mat& out, PhiloxSequence& draws) {
                           cv::Mat between[2];
                           const cv::Mat* from = &in;
                           for (int i = 0; i < num_ops; ++i) {
                             const Op op = static_cast<Op>(draws.next_below(kChoices));
                             const double m = with_sign(op, strength(op, usual(in), magnitude, bins), draws);
                             cv::Mat& to = i + 1 == num_ops ? out : between[i % 2];
                             if (to.empty()) to.create(in.rows, in.cols, in.type());
                             apply(op, m, *from, to, look);
                             from = &to;
                           }
                           return num_ops > 0;
                         });
}

Transform TrivialAugmentWide(int bins, Inter interpolation, const std::vector<double>& fill) {
  if (bins < 2) throw ValueError(fmt::format("TrivialAugmentWide: num_magnitude_bins must be at least 2, got {}", bins));
  const Look look{interpolation, fill_colour("TrivialAugmentWide", fill)};
  return pixel_transform({.who = "TrivialAugmentWide",
                          .parameters = fmt::format("{}, {}", bins, look_str(interpolation, fill)),
                          .random = true,
                          .bytes_only = true,
                          .channels = {3}},
                         [=](const cv::Mat& in, cv::Mat& out, PhiloxSequence& draws) {
                           const Op op = static_cast<Op>(draws.next_below(kChoices));
                           const int bin = static_cast<int>(draws.next_below(static_cast<uint64_t>(bins)));
                           const Strengths most{0.99, 32, 32, 135, 0.99, 6};
                           apply(op, with_sign(op, strength(op, most, bin, bins), draws), in, out, look);
                           return true;
                         });
}

Transform AutoAugment(const std::string& policy, Inter interpolation, const std::vector<double>& fill) {
  const std::span<const Subpolicy> table = policy == "imagenet" ? std::span(kImagenet) : policy == "cifar10" ? std::span(kCifar10) : std::span(kSvhn);
  if (policy != "imagenet" && policy != "cifar10" && policy != "svhn")
    throw ValueError(fmt::format("AutoAugment: policy '{}' is not known", policy), "", "use imagenet, cifar10 or svhn");
  const Look look{interpolation, fill_colour("AutoAugment", fill)};
  return pixel_transform(
      {.who = "AutoAugment", .parameters = fmt::format("{}, {}", policy, look_str(interpolation, fill)), .random = true, .bytes_only = true, .channels = {3}},
      [=](const cv::Mat& in, cv::Mat& out, PhiloxSequence& draws) {
        constexpr int kBins = 10;
        cv::Mat between;
        const cv::Mat* from = &in;
        for (const Part& p : table[draws.next_below(table.size())].parts) {
          if (draws.next_double() >= p.prob) continue;
          cv::Mat& to = from == &in ? out : between;
          if (to.empty()) to.create(in.rows, in.cols, in.type());
          apply(p.op, with_sign(p.op, strength(p.op, usual(in), p.bin, kBins), draws), *from, to, look);
          from = &to;
        }
        if (from == &between) between.copyTo(out);
        return from != &in;
      });
}

}  // namespace vision
}  // namespace sindri::dataset
