// The image operations as the planner sees them: the properties that fuse_ops needs, and shared helpers.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "dataset/row.h"
#include "sindri/dataset/vision.h"

namespace sindri::dataset {

/// File bytes -> uint8 [H, W, 3] in scratch. Throws BadSample.
Value decode_image(const Value& bytes, Scratch& scratch);

/// A decoded image of which only a box may be present; `top` and `left` of the box in the whole image.
struct DecodedWindow {
  Value pixels;
  int64_t top = 0, left = 0;
};
/// Size of an image file in memory. JPEG files keep their header open in scratch.jpeg for decode_window.
struct OpenedImage {
  bool jpeg = false;
  int64_t height = 0, width = 0;
  Value pixels;
};
/// Reads a JPEG's header; other formats are decoded at once. Throws BadSample.
OpenedImage open_image(const Value& bytes, Scratch& scratch);
/// Pixels of at least this window, equal to those of a full decode.
DecodedWindow decode_window(const OpenedImage& image, int64_t top, int64_t left, int64_t height, int64_t width, Scratch& scratch);

/// RandomCropDecodeResize for Decode followed by RandomResizedCrop; null for other pairs.
std::shared_ptr<const RowOp> fuse_decode_crop(const RowOp& decode, const RowOp& crop);

/// Height, width and channels of an image value; [H, W] has one channel. Throws BadSample for anything else.
struct ImageDims {
  int64_t height, width, channels;
};
ImageDims image_dims(const Value& v, const char* who);

/// The same for operations that only move pixels: any element type, any number of channels.
ImageDims any_image(const Value& v, const std::string& who);
void check_any_image(const ColumnInfo& c, const std::string& who);

/// Batches of images [..., H, W, C], four dimensions or more: operations that support them run each image with the same draws.
inline bool is_batch(const Shape& s) { return s.rank() > 3; }
/// The result that `op` infers for a batch: the leading dimensions, followed by the result for one image.
std::vector<ColumnInfo> infer_each(const RowOp& op, const ColumnInfo& c);
/// Runs `op` on each image of call.inputs[0]; the results, of one shape, form output 0. Throws BadSample for an empty batch.
void run_each(const RowOp& op, RowCall& call);

/// A window of an image. It may extend past the edges, where the value is `fill`.
struct Window {
  int64_t top, left, height, width;
};

/// Copies a window of an image of any element type. `fill` has one number, or one for each channel.
void copy_window(const Value& in, const ImageDims& d, const Window& w, vision::Border border, const std::vector<int64_t>& fill, uint8_t* out);

class CropOp : public RowOp {  // RandomCrop and CenterCrop: the output is a window of the input
 public:
  std::vector<ColumnInfo> infer(std::span<const ColumnInfo> in) const override;
  void run(RowCall& call) const override;
  virtual Window window(const ImageDims& d, PhiloxSequence draws) const = 0;
  vision::Border border = vision::Border::kConstant;
  std::vector<int64_t> fill = {0};
  int64_t height = 0, width = 0;
};

/// The window that a crop selects for these draws; empty if the operation is not a crop.
std::function<Window(const ImageDims&, PhiloxSequence)> window_of(const RowOp& crop);

class FlipOp : public RowOp {
 public:
  FlipOp(double probability, bool is_random) : prob(probability), random_(is_random) {}
  std::string str() const override;
  bool random() const override { return random_; }
  std::vector<ColumnInfo> infer(std::span<const ColumnInfo> in) const override;
  void run(RowCall& call) const override;
  bool flips(PhiloxSequence draws) const { return !random_ || draws.next_float() < static_cast<float>(prob); }
  const double prob;

 private:
  bool random_;
};

class RescaleOp : public RowOp {
 public:
  RescaleOp(float rescale, float shift) : scale(rescale), bias(shift) {}
  std::string str() const override;
  std::vector<ColumnInfo> infer(std::span<const ColumnInfo> in) const override;
  void run(RowCall& call) const override;
  const float scale, bias;
};

class NormalizeOp : public RowOp {
 public:
  NormalizeOp(std::vector<double> mean, std::vector<double> std, bool is_hwc);
  std::string str() const override;
  std::vector<ColumnInfo> infer(std::span<const ColumnInfo> in) const override;
  void run(RowCall& call) const override;
  size_t channels() const { return scale.size(); }  // 1: the same for all
  std::vector<float> scale, bias;  // 1 / std, -mean / std
  const bool hwc;

 private:
  std::vector<double> mean_, std_;
};

/// Must be called before OpenCV is used.
void single_threaded_opencv();

class HwcToChwOp : public RowOp {
 public:
  std::string str() const override { return "HWC2CHW()"; }
  std::vector<ColumnInfo> infer(std::span<const ColumnInfo> in) const override;
  void run(RowCall& call) const override;
};

class TypeCastOp : public RowOp {
 public:
  explicit TypeCastOp(DType t) : to(t) {}
  std::string str() const override;
  std::vector<ColumnInfo> infer(std::span<const ColumnInfo> in) const override;
  void run(RowCall& call) const override;
  const DType to;
};

}  // namespace sindri::dataset
