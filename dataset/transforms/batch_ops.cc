// Transforms of a whole batch of images with its one-hot labels: MixUp (arXiv:1710.09412) and CutMix (arXiv:1905.04899).
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numbers>
#include <numeric>
#include <opencv2/core.hpp>

#include "dataset/row.h"
#include "sindri/dataset/augment.h"

namespace sindri::dataset {

namespace {

/// Gamma(alpha, 1) by Marsaglia and Tsang (2000); for alpha below 1 multiplied by a power of a uniform number.
double draw_gamma(PhiloxSequence& draws, double alpha) {
  if (alpha < 1) return draw_gamma(draws, alpha + 1) * std::pow(1 - draws.next_double(), 1 / alpha);
  const double d = alpha - 1.0 / 3, c = 1 / std::sqrt(9 * d);
  for (;;) {
    const double x = std::sqrt(-2 * std::log(1 - draws.next_double())) * std::cos(2 * std::numbers::pi * draws.next_double());
    const double v = std::pow(1 + c * x, 3);
    if (v > 0 && std::log(1 - draws.next_double()) < 0.5 * x * x + d - d * v + d * std::log(v)) return d * v;
  }
}
double draw_beta(PhiloxSequence& draws, double alpha) {
  const double a = draw_gamma(draws, alpha), b = draw_gamma(draws, alpha);
  return a + b > 0 ? a / (a + b) : 0.5;
}

std::vector<int64_t> shuffled(int64_t n, PhiloxSequence& draws) {
  std::vector<int64_t> order(static_cast<size_t>(n));
  std::iota(order.begin(), order.end(), int64_t{0});
  for (size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[draws.next_below(i)]);
  return order;
}

class MixOp : public RowOp {
 public:
  MixOp(std::string who, double alpha) : who_(std::move(who)), alpha_(alpha) {
    if (!(alpha > 0)) throw ValueError(fmt::format("{}: alpha must be positive, got {}", who_, alpha));
  }
  bool random() const override { return true; }
  int num_inputs() const override { return 2; }
  int num_outputs() const override { return 2; }
  std::vector<ColumnInfo> infer(std::span<const ColumnInfo> in) const override {
    if (in.size() != 2)
      throw ValueError(fmt::format("{}: two columns are expected, images and one-hot labels, got {}", who_, in.size()), "",
                       "give input_columns=[\"image\", \"label\"]");
    const bool ranks = (!in[0].rank_known || in[0].shape.rank() == 4) && (!in[1].rank_known || in[1].shape.rank() == 2 || in[1].shape.rank() == 3);
    if (!ranks) throw ShapeError(message(in[0].shape.str(), in[1].shape.str()), "", fix());
    ColumnInfo labels = in[1];
    labels.dtype = DType::kFloat32;
    labels.dtype_known = true;
    return {in[0], labels};
  }

 protected:
  void check(const RowCall& call) const {
    const Shape &images = call.inputs[0].shape, &labels = call.inputs[1].shape;
    if (images.rank() != 4 || images.numel() == 0 || (labels.rank() != 2 && labels.rank() != 3) || labels[0] != images[0])
      throw BadSample(message(images.str(), labels.str()), "", fix());
  }
  /// The labels as float32, in scratch.
  static const float* labels_of(RowCall& call) {
    const Value& v = call.inputs[1];
    const int64_t n = v.shape.numel();
    float* const out = reinterpret_cast<float*>(call.scratch.arena.allocate(n * 4));
    dispatch_dtype(v.dtype, [&]<class T>() {
      for (int64_t i = 0; i < n; ++i) out[i] = static_cast<float>(reinterpret_cast<const T*>(v.data)[i]);
    });
    return out;
  }
  std::string who_;
  double alpha_;

 private:
  std::string message(const std::string& images, const std::string& labels) const {
    return fmt::format("{}: images [N, H, W, C] and labels [N, classes] are expected, got {} and {}", who_, images, labels);
  }
  static const char* fix() { return "use OneHot on the labels, and batch() before this"; }
};

class MixUpOp : public MixOp {
 public:
  explicit MixUpOp(double alpha) : MixOp("MixUpBatch", alpha) {}
  std::string str() const override { return fmt::format("MixUpBatch({})", alpha_); }
  void run(RowCall& call) const override {
    check(call);
    const Value &in = call.inputs[0], labels = call.inputs[1];
    PhiloxSequence draws = call.draws();
    const double weight = draw_beta(draws, alpha_);
    const int64_t n = in.shape[0], image = in.shape.numel() / n, classes = labels.shape.numel() / n;
    const std::vector<int64_t> other = shuffled(n, draws);
    uint8_t* const out = call.output(0, in.dtype, in.shape);
    dispatch_dtype(in.dtype, [&]<class T>() { mix(reinterpret_cast<const T*>(in.data), other, image, weight, reinterpret_cast<T*>(out)); });
    const float* const from = labels_of(call);
    mix(from, other, classes, weight, reinterpret_cast<float*>(call.output(1, DType::kFloat32, labels.shape)));
  }

 private:
  template <class T> static void mix(const T* x, const std::vector<int64_t>& other, int64_t size, double weight, T* y) {
    const float a = static_cast<float>(weight), b = static_cast<float>(1 - weight);
    for (size_t i = 0; i < other.size(); ++i) {
      const T *mine = x + static_cast<int64_t>(i) * size, *theirs = x + other[i] * size;
      T* const to = y + static_cast<int64_t>(i) * size;
      for (int64_t k = 0; k < size; ++k) {
        const float mixed = a * static_cast<float>(mine[k]) + b * static_cast<float>(theirs[k]);
        if constexpr (std::is_same_v<T, uint8_t>) to[k] = cv::saturate_cast<uint8_t>(mixed);
        else to[k] = static_cast<T>(mixed);
      }
    }
  }
};

class CutMixOp : public MixOp {
 public:
  CutMixOp(bool channels_last, double alpha, double prob) : MixOp("CutMixBatch", alpha), last_(channels_last), prob_(prob) {
    if (!(prob >= 0 && prob <= 1)) throw ValueError(fmt::format("CutMixBatch: prob must be from 0 to 1, got {}", prob));
  }
  std::string str() const override { return fmt::format("CutMixBatch({}, {}, {})", last_ ? "NHWC" : "NCHW", alpha_, prob_); }
  void run(RowCall& call) const override {
    check(call);
    const Value &in = call.inputs[0], labels = call.inputs[1];
    PhiloxSequence draws = call.draws();
    const int64_t n = in.shape[0], classes = labels.shape.numel() / n, image = in.nbytes() / n;
    const int64_t height = in.shape[last_ ? 1 : 2], width = in.shape[last_ ? 2 : 3];
    const std::vector<int64_t> other = shuffled(n, draws);
    const float* const from = labels_of(call);
    uint8_t* const out = call.output(0, in.dtype, in.shape);
    std::memcpy(out, in.data, static_cast<size_t>(in.nbytes()));
    float* const to = reinterpret_cast<float*>(call.output(1, DType::kFloat32, labels.shape));
    std::memcpy(to, from, static_cast<size_t>(labels.shape.numel()) * 4);
    for (int64_t i = 0; i < n; ++i) {
      if (draws.next_double() >= prob_) continue;
      const double side = 1 - draw_beta(draws, alpha_);
      const int64_t y = static_cast<int64_t>(draws.next_below(static_cast<uint64_t>(height))),
                    x = static_cast<int64_t>(draws.next_below(static_cast<uint64_t>(width)));
      const int64_t h = static_cast<int64_t>(static_cast<double>(height) * side), w = static_cast<int64_t>(static_cast<double>(width) * side);
      const int64_t top = std::max<int64_t>(0, y - h / 2), left = std::max<int64_t>(0, x - w / 2);
      const int64_t bottom = std::min(height, y - h / 2 + h), right = std::min(width, x - w / 2 + w);
      const int64_t j = other[static_cast<size_t>(i)];
      paste(in, out + i * image, in.data + j * image, top, left, bottom, right);
      const float share = static_cast<float>((bottom - top) * (right - left)) / static_cast<float>(height * width);
      for (int64_t k = 0; k < classes; ++k) to[i * classes + k] = (1 - share) * from[i * classes + k] + share * from[j * classes + k];
    }
  }

 private:
  void paste(const Value& in, uint8_t* to, const uint8_t* from, int64_t top, int64_t left, int64_t bottom, int64_t right) const {
    const int64_t planes = last_ ? 1 : in.shape[1], height = in.shape[last_ ? 1 : 2], width = in.shape[last_ ? 2 : 3];
    const int64_t pixel = static_cast<int64_t>(dtype_size(in.dtype)) * (last_ ? in.shape[3] : 1);
    for (int64_t c = 0; c < planes; ++c) {
      for (int64_t y = top; y < bottom; ++y) {
        const int64_t at = ((c * height + y) * width + left) * pixel;
        if (right > left) std::memcpy(to + at, from + at, static_cast<size_t>((right - left) * pixel));
      }
    }
  }
  bool last_;
  double prob_;
};

}  // namespace

namespace vision {
Transform MixUpBatch(double alpha) { return Transform(std::make_shared<MixUpOp>(alpha)); }
Transform CutMixBatch(bool channels_last, double alpha, double prob) { return Transform(std::make_shared<CutMixOp>(channels_last, alpha, prob)); }
}  // namespace vision

}  // namespace sindri::dataset
