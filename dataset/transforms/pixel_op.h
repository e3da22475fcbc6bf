// Operations from image to image that OpenCV or loops of ours compute: what they share is here, so that each is its rule for sizes and its pixels.
#pragma once

#include <functional>
#include <opencv2/core.hpp>
#include <string>
#include <vector>

#include "dataset/row.h"
#include "sindri/dataset/transforms.h"

namespace sindri::dataset {

/// An image's size; channels 0: [H, W]. -1: not known ahead.
struct PixelDims {
  int64_t height = 0, width = 0, channels = 0;
};

/// What an operation takes and gives.
struct PixelRules {
  std::string who;  // "AdjustHue", for messages
  std::string parameters;  // "0.2", beside it in the fingerprint
  bool random = false;
  bool bytes_only = false;  // uint8 alone; else float32 too, and the other floats by way of it
  std::vector<int> channels = {};  // accepted ones; none: 1 to 4
  bool batches = false;  // takes [..., H, W, C] too, image by image with the same draws
  std::function<PixelDims(const PixelDims&)> size = {};  // of the result; none: the input's
  bool size_is_drawn = false;  // `out` is empty and made by the function
};

/// Fills `out`, which has the size of the rules; false: the image stays as it is. Runs on several threads at once.
using PixelFunction = std::function<bool(const cv::Mat& in, cv::Mat& out, PhiloxSequence& draws)>;

Transform pixel_transform(PixelRules rules, PixelFunction function);

/// Uniform in [low, high).
inline double draw_between(PhiloxSequence& draws, double low, double high) { return low + (high - low) * draws.next_double(); }

/// A seed of its own for operations that run inside another one, each numbered.
class InnerDraws {
 public:
  explicit InnerDraws(PhiloxSequence& draws) : key_(draws.next_u64()) {}
  DrawKey next() { return {key_, number_++, 0, 0}; }

 private:
  uint64_t key_;
  uint32_t number_ = 0;
};

}  // namespace sindri::dataset
