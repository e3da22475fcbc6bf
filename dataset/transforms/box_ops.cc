// Transforms of an image together with its bounding boxes.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "dataset/transforms/inner_ops.h"
#include "dataset/transforms/vision_ops.h"
#include "sindri/dataset/augment.h"

namespace sindri::dataset {

namespace {

/// (x, y, width, height, …) of each box, checked against the image.
struct Boxes {
  int64_t count = 0, columns = 0;
  std::vector<float> values;
  float* at(int64_t i) { return values.data() + i * columns; }
};

Boxes read_boxes(const Value& v, const ImageDims& d, const std::string& who) {
  if (v.shape.rank() != 2 || v.shape[1] < 4 || v.shape[0] < 1)
    throw BadSample(fmt::format("{}: the boxes are {}, expected [N, 4 or more] of (x, y, width, height)", who, value_str(v)));
  Boxes b{v.shape[0], v.shape[1], {}};
  const int64_t n = v.shape.numel();
  b.values.resize(static_cast<size_t>(n));
  dispatch_dtype(v.dtype, [&]<class T>() {
    for (int64_t i = 0; i < n; ++i) b.values[static_cast<size_t>(i)] = static_cast<float>(reinterpret_cast<const T*>(v.data)[i]);
  });
  for (int64_t i = 0; i < b.count; ++i) {
    const float* x = b.at(i);
    const bool inside =
        x[0] >= 0 && x[1] >= 0 && x[2] > 0 && x[3] > 0 && x[0] + x[2] <= static_cast<float>(d.width) && x[1] + x[3] <= static_cast<float>(d.height);
    if (!inside) {
      throw BadSample(fmt::format("{}: box {} is ({}, {}, {}, {}), not inside the image of {} x {}", who, i, x[0], x[1], x[2], x[3], d.height, d.width), "",
                      "boxes are (x, y, width, height) in pixels");
    }
  }
  return b;
}

void write_boxes(RowCall& call, const Boxes& b) {
  const DType to = call.inputs[1].dtype;
  const Shape shape{b.count, b.columns};
  uint8_t* const out = call.output(1, to, shape);
  dispatch_dtype(to, [&]<class T>() {
    for (int64_t i = 0; i < shape.numel(); ++i) reinterpret_cast<T*>(out)[i] = static_cast<T>(b.values[static_cast<size_t>(i)]);
  });
}

/// Base class: input and output are an image and its boxes.
class BoxOp : public RowOp {
 public:
  int num_inputs() const override { return 2; }
  int num_outputs() const override { return 2; }
  std::vector<ColumnInfo> infer(std::span<const ColumnInfo> in) const override {
    if (in.size() != 2) throw ValueError(fmt::format("{}: expected 2 columns, the image and its boxes, got {}", str(), in.size()));
    if (in[1].rank_known && (in[1].shape.rank() != 2 || (in[1].shape[1] >= 0 && in[1].shape[1] < 4)))
      throw ShapeError(fmt::format("{}: column '{}' has shape {}, expected boxes [N, 4 or more]", str(), in[1].name, in[1].shape.str()));
    ColumnInfo boxes = in[1];
    if (drops() && boxes.rank_known) boxes.shape[0] = -1;
    return {infer_image(in[0]), boxes};
  }

 protected:
  virtual ColumnInfo infer_image(const ColumnInfo& image) const = 0;
  virtual bool drops() const { return false; }
};

class FlipBoxesOp : public BoxOp {
 public:
  FlipBoxesOp(double prob, bool vertical)
      : flip_(vertical ? vision::VerticalFlip() : static_cast<Transform>(vision::HorizontalFlip())), prob_(prob), vertical_(vertical) {
    if (!(prob >= 0 && prob <= 1)) throw ValueError(fmt::format("{}: prob must be from 0 to 1, got {}", str(), prob));
  }
  std::string str() const override { return fmt::format("Random{}FlipWithBBox(prob={})", vertical_ ? "Vertical" : "Horizontal", prob_); }
  bool random() const override { return true; }
  void run(RowCall& call) const override {
    const ImageDims d = image_dims(call.inputs[0], str().c_str());
    Boxes b = read_boxes(call.inputs[1], d, str());
    if (call.draws().next_double() >= prob_) {
      call.forward(0, call.inputs[0]);
      return call.forward(1, call.inputs[1]);
    }
    const size_t place = vertical_ ? 1 : 0;
    const float edge = static_cast<float>(vertical_ ? d.height : d.width);
    for (int64_t i = 0; i < b.count; ++i) b.at(i)[place] = edge - b.at(i)[place] - b.at(i)[place + 2];
    Value image;
    RowCall inner(call.scratch, {}, call.inputs.first(1), std::span<Value>(&image, 1), {});
    flip_.op()->run(inner);
    call.forward(0, image);
    write_boxes(call, b);
  }

 protected:
  ColumnInfo infer_image(const ColumnInfo& image) const override { return flip_.op()->infer(std::span<const ColumnInfo>(&image, 1))[0]; }

 private:
  Transform flip_;
  double prob_;
  bool vertical_;
};

class ResizeBoxesOp : public BoxOp {
 public:
  explicit ResizeBoxesOp(Transform resize) : resize_(std::move(resize)) {}
  std::string str() const override { return resize_.str() + " WithBBox"; }
  bool random() const override { return resize_.op()->random(); }
  void run(RowCall& call) const override {
    const ImageDims d = image_dims(call.inputs[0], str().c_str());
    Boxes b = read_boxes(call.inputs[1], d, str());
    Value image;
    RowCall inner(call.scratch, call.draws_key, call.inputs.first(1), std::span<Value>(&image, 1), {});
    resize_.op()->run(inner);
    const float x = static_cast<float>(image.shape[1]) / static_cast<float>(d.width), y = static_cast<float>(image.shape[0]) / static_cast<float>(d.height);
    for (int64_t i = 0; i < b.count; ++i) {
      for (size_t k : {size_t{0}, size_t{2}}) {
        b.at(i)[k] *= x;
        b.at(i)[k + 1] *= y;
      }
    }
    call.forward(0, image);
    write_boxes(call, b);
  }

 protected:
  ColumnInfo infer_image(const ColumnInfo& image) const override { return resize_.op()->infer(std::span<const ColumnInfo>(&image, 1))[0]; }

 private:
  Transform resize_;
};

/// RandomCrop, CenterCrop or RandomResizedCrop: boxes are clipped to the window and scaled with it.
class CropBoxesOp : public BoxOp {
 public:
  explicit CropBoxesOp(Transform crop) : crop_(std::move(crop)), window_(window_of(*crop_.op())) {
    if (!window_) throw ValueError(fmt::format("CropWithBoxes: {} is not a crop", crop_.str()));
  }
  std::string str() const override { return crop_.str() + " WithBBox"; }
  bool random() const override { return crop_.op()->random(); }
  void run(RowCall& call) const override {
    const ImageDims d = image_dims(call.inputs[0], str().c_str());
    Boxes b = read_boxes(call.inputs[1], d, str());
    const Window w = window_(d, call.draws());
    Value image;
    RowCall inner(call.scratch, call.draws_key, call.inputs.first(1), std::span<Value>(&image, 1), {});
    crop_.op()->run(inner);
    const float x = static_cast<float>(image.shape[1]) / static_cast<float>(w.width), y = static_cast<float>(image.shape[0]) / static_cast<float>(w.height);
    Boxes kept{0, b.columns, {}};
    for (int64_t i = 0; i < b.count; ++i) {
      float* box = b.at(i);
      const float left = std::clamp(box[0] - static_cast<float>(w.left), 0.0f, static_cast<float>(w.width));
      const float top = std::clamp(box[1] - static_cast<float>(w.top), 0.0f, static_cast<float>(w.height));
      const float right = std::clamp(box[0] + box[2] - static_cast<float>(w.left), 0.0f, static_cast<float>(w.width));
      const float bottom = std::clamp(box[1] + box[3] - static_cast<float>(w.top), 0.0f, static_cast<float>(w.height));
      if (right <= left || bottom <= top) continue;
      box[0] = left * x;
      box[1] = top * y;
      box[2] = (right - left) * x;
      box[3] = (bottom - top) * y;
      kept.values.insert(kept.values.end(), box, box + b.columns);
      ++kept.count;
    }
    if (kept.count == 0) {
      kept.values.assign(static_cast<size_t>(b.columns), 0.0f);
      kept.count = 1;
    }
    call.forward(0, image);
    write_boxes(call, kept);
  }

 protected:
  ColumnInfo infer_image(const ColumnInfo& image) const override { return crop_.op()->infer(std::span<const ColumnInfo>(&image, 1))[0]; }
  bool drops() const override { return true; }

 private:
  Transform crop_;
  std::function<Window(const ImageDims&, PhiloxSequence)> window_;
};

class BoxAugmentOp : public BoxOp {
 public:
  BoxAugmentOp(vision::Chain chain, double ratio) : chain_(std::move(chain)), ratio_(ratio) {
    check_chain("BoundingBoxAugment", chain_);
    if (!(ratio >= 0 && ratio <= 1)) throw ValueError(fmt::format("BoundingBoxAugment: ratio must be from 0 to 1, got {}", ratio));
  }
  std::string str() const override { return fmt::format("BoundingBoxAugment({}, ratio={})", chain_str(chain_), ratio_); }
  bool random() const override { return true; }
  void run(RowCall& call) const override {
    const Value& in = call.inputs[0];
    const ImageDims d = image_dims(in, "BoundingBoxAugment");
    Boxes b = read_boxes(call.inputs[1], d, "BoundingBoxAugment");
    PhiloxSequence draws = call.draws();
    InnerDraws inner(draws);
    uint8_t* const out = call.output(0, in.dtype, in.shape);
    std::memcpy(out, in.data, static_cast<size_t>(in.nbytes()));
    std::vector<int64_t> order(static_cast<size_t>(b.count));
    for (size_t i = 0; i < order.size(); ++i) order[i] = static_cast<int64_t>(i);
    for (size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[draws.next_below(i)]);
    const size_t chosen = static_cast<size_t>(std::ceil(ratio_ * static_cast<double>(b.count)));
    for (size_t i = 0; i < chosen; ++i) augment(call, inner, d, in, b.at(order[i]), out);
    call.forward(1, call.inputs[1]);
  }

 protected:
  ColumnInfo infer_image(const ColumnInfo& image) const override { return image; }

 private:
  void augment(RowCall& call, InnerDraws& inner, const ImageDims& d, const Value& in, const float* box, uint8_t* out) const {
    const Window w{static_cast<int64_t>(box[1]), static_cast<int64_t>(box[0]), std::max<int64_t>(1, static_cast<int64_t>(box[3])),
                   std::max<int64_t>(1, static_cast<int64_t>(box[2]))};
    Value part = in;
    part.shape[0] = w.height;
    part.shape[1] = w.width;
    uint8_t* const memory = call.scratch.arena.allocate(part.nbytes());
    Value whole = in;
    whole.data = out;
    copy_window(whole, d, w, vision::Border::kConstant, {0}, memory);
    part.data = memory;
    const Value changed = run_chain(chain_, call, inner, part);
    if (changed.dtype != in.dtype || !(changed.shape == part.shape))
      throw BadSample(fmt::format("BoundingBoxAugment: a box of {} became {}", value_str(part), value_str(changed)), "",
                      "use transforms that keep size and type");
    const size_t row = static_cast<size_t>(part.nbytes() / w.height);
    const int64_t pixel = static_cast<int64_t>(row) / w.width, whole_row = d.width * pixel;
    for (int64_t y = 0; y < w.height; ++y) std::memcpy(out + (w.top + y) * whole_row + w.left * pixel, changed.data + static_cast<size_t>(y) * row, row);
  }
  vision::Chain chain_;
  double ratio_;
};

}  // namespace

namespace vision {
Transform FlipWithBoxes(double prob, bool vertical) { return Transform(std::make_shared<FlipBoxesOp>(prob, vertical)); }
Transform ResizeWithBoxes(const Transform& resize) { return Transform(std::make_shared<ResizeBoxesOp>(resize)); }
Transform CropWithBoxes(const Transform& crop) { return Transform(std::make_shared<CropBoxesOp>(crop)); }
Transform BoundingBoxAugment(const Chain& transforms, double ratio) { return Transform(std::make_shared<BoxAugmentOp>(transforms, ratio)); }
}  // namespace vision

}  // namespace sindri::dataset
