// Operations from image to image, computed by OpenCV or by loops here. Their common part is here, so that each consists of its size rule and its
// pixel function.
#pragma once

#include <functional>
#include <opencv2/core.hpp>
#include <string>
#include <vector>

#include "dataset/row.h"
#include "sindri/dataset/transforms.h"

namespace sindri::dataset {

/// An image's size; channels 0: [H, W]. -1: not known in advance.
struct PixelDims {
  int64_t height = 0, width = 0, channels = 0;
};

/// The inputs and outputs that an operation supports.
struct PixelRules {
  std::string who;  // "AdjustHue", for messages
  std::string parameters;  // "0.2", follows it in the fingerprint
  bool random = false;
  bool bytes_only = false;  // uint8 only; otherwise also float32, and other floats converted to it
  std::vector<int> channels = {};  // supported ones; empty: 1 to 4
  bool batches = false;  // also supports [..., H, W, C], image by image with the same draws
  std::function<PixelDims(const PixelDims&)> size = {};  // of the result; empty: the input's
  bool size_is_drawn = false;  // `out` is empty and allocated by the function
};

/// Fills `out`, which has the size that the rules give; returns false to leave the image unchanged. Runs on several threads at once.
using PixelFunction = std::function<bool(const cv::Mat& in, cv::Mat& out, PhiloxSequence& draws)>;

Transform pixel_transform(PixelRules rules, PixelFunction function);

/// Uniform in [low, high).
inline double draw_between(PhiloxSequence& draws, double low, double high) { return low + (high - low) * draws.next_double(); }

/// Separate seeds for operations that run inside another one, each numbered.
class InnerDraws {
 public:
  explicit InnerDraws(PhiloxSequence& draws) : key_(draws.next_u64()) {}
  DrawKey next() { return {key_, number_++, 0, 0}; }

 private:
  uint64_t key_;
  uint32_t number_ = 0;
};

}  // namespace sindri::dataset
