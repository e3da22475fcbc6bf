// The separate image operations: crops, flips, resizing, arithmetic, layout.
#include "sindri/dataset/vision.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "dataset/transforms/pixels_simd.h"
#include "dataset/transforms/resize.h"
#include "dataset/transforms/vision_ops.h"

namespace sindri::dataset {

ImageDims image_dims(const Value& v, const char* who) {
  const bool type = v.dtype == DType::kUInt8 || v.dtype == DType::kFloat32;
  if (type && v.shape.rank() == 2 && v.shape.numel() > 0) return {v.shape[0], v.shape[1], 1};
  if (type && v.shape.rank() == 3 && (v.shape[2] == 1 || v.shape[2] == 3) && v.shape.numel() > 0) return {v.shape[0], v.shape[1], v.shape[2]};
  throw BadSample(fmt::format("{}: the input is {}, expected uint8 or float32 [H, W], [H, W, 1] or [H, W, 3], not empty", who, value_str(v)), "",
                  "put Decode before it");
}

std::pair<int64_t, int64_t> size_by_short_edge(int64_t height, int64_t width, int64_t edge, vision::LongEdge long_edge) {
  const float exact = static_cast<float>(std::max(height, width)) / static_cast<float>(std::min(height, width)) * static_cast<float>(edge);
  // Limited to a size that is rejected anyway, because a larger number may not fit in 64 bits.
  const float bounded = std::min(exact, static_cast<float>(4 * kMaxResizedSide));
  const int64_t longer = long_edge == vision::LongEdge::kRound ? std::lround(bounded) : static_cast<int64_t>(bounded);
  return height <= width ? std::pair(edge, longer) : std::pair(longer, edge);
}

std::vector<ColumnInfo> infer_each(const RowOp& op, const ColumnInfo& c) {
  const int lead = c.shape.rank() - 3;
  ColumnInfo one = c;
  one.shape = Shape{c.shape[lead], c.shape[lead + 1], c.shape[lead + 2]};
  const ColumnInfo made = op.infer(std::span<const ColumnInfo>(&one, 1))[0];
  ColumnInfo out = made;
  std::vector<int64_t> dims(c.shape.begin(), c.shape.begin() + lead);
  for (int64_t n : made.shape) dims.push_back(n);
  out.shape = Shape(dims);
  return {out};
}

void run_each(const RowOp& op, RowCall& call) {
  const Value& in = call.inputs[0];
  const int lead = in.shape.rank() - 3;
  Value one{in.data, in.dtype, {in.shape[lead], in.shape[lead + 1], in.shape[lead + 2]}};
  const int64_t bytes = one.nbytes();
  if (in.shape.numel() == 0) throw BadSample(fmt::format("{}: the batch {} has no images, or none with pixels", op.str(), value_str(in)));
  uint8_t* out = nullptr;
  for (int64_t i = 0, n = in.nbytes() / bytes; i < n; ++i) {
    one.data = in.data + i * bytes;
    Value made;
    RowCall inner(call.scratch, call.draws_key, std::span<const Value>(&one, 1), std::span<Value>(&made, 1), {});
    op.run(inner);
    if (out == nullptr) {
      std::vector<int64_t> dims(in.shape.begin(), in.shape.begin() + lead);
      for (int64_t k : made.shape) dims.push_back(k);
      out = call.output(0, made.dtype, Shape(dims));
    }
    std::memcpy(out + i * made.nbytes(), made.data, static_cast<size_t>(made.nbytes()));
  }
}

namespace {

std::string size_str(const vision::Size& s) { return s.width < 0 ? fmt::format("{}", s.height) : fmt::format("({}, {})", s.height, s.width); }

vision::Size checked(vision::Size s, const char* who) {
  if (s.height < 1 || (s.width != -1 && s.width < 1) || s.height > 65536 || s.width > 65536)
    throw ValueError(fmt::format("{}: size {} is not from 1 to 65536", who, size_str(s)));
  return s;
}
vision::Size square(vision::Size s) { return s.width < 0 ? vision::Size(s.height, s.height) : s; }

Shape with_size(const ColumnInfo& c, int64_t h, int64_t w) {
  Shape s = c.shape;
  s[0] = h;
  s[1] = w;
  return s;
}

class RandomCropOp : public CropOp {
 public:
  RandomCropOp(vision::Size size, vision::RandomCropOptions o) : o_(std::move(o)) {
    const vision::Size s = square(checked(size, "RandomCrop"));
    height = s.height;
    width = s.width;
    border = o_.padding_mode;
    fill = o_.fill_value;
    if (fill.size() != 1 && fill.size() != 3) throw ValueError(fmt::format("RandomCrop: fill_value needs 1 or 3 values, got {}", fill.size()));
    for (int64_t f : fill) {
      if (f < 0 || f > 255) throw ValueError(fmt::format("RandomCrop: fill_value {} is not from 0 to 255", f));
    }
    const auto& p = o_.padding;
    for (int64_t v : p) {
      if (v < 0 || v > 65536) throw ValueError(fmt::format("RandomCrop: padding {} is not from 0 to 65536", v));
    }
    if (p.empty()) pad_ = {0, 0, 0, 0};
    else if (p.size() == 1) pad_ = {p[0], p[0], p[0], p[0]};
    else if (p.size() == 2) pad_ = {p[0], p[1], p[0], p[1]};
    else if (p.size() == 4) pad_ = {p[0], p[1], p[2], p[3]};
    else throw ValueError(fmt::format("RandomCrop: padding needs 1, 2 or 4 values, got {}", p.size()));
  }
  bool random() const override { return true; }
  std::string str() const override {
    static constexpr const char* kModes[] = {"CONSTANT", "EDGE", "REFLECT", "SYMMETRIC"};
    return fmt::format("RandomCrop(size=({}, {}), padding=({}), pad_if_needed={}, fill_value=({}), padding_mode={})", height, width, fmt::join(pad_, ", "),
                       o_.pad_if_needed, fmt::join(fill, ", "), kModes[static_cast<int>(border)]);
  }
  Window window(const ImageDims& d, PhiloxSequence draws) const override {
    auto [left, top, right, bottom] = pad_;
    if (o_.pad_if_needed && d.height + top + bottom < height) {
      const int64_t more = height - d.height - top - bottom;
      top += more;
      bottom += more;
    }
    if (o_.pad_if_needed && d.width + left + right < width) {
      const int64_t more = width - d.width - left - right;
      left += more;
      right += more;
    }
    const int64_t places_y = d.height + top + bottom - height + 1, places_x = d.width + left + right - width + 1;
    if (places_y < 1 || places_x < 1) {
      throw BadSample(fmt::format("RandomCrop: the crop of {} x {} does not fit into the padded image of {} x {}", height, width, d.height + top + bottom,
                                  d.width + left + right),
                      "", "resize first, or set padding or pad_if_needed");
    }
    const int64_t x = static_cast<int64_t>(draws.next_below(static_cast<uint64_t>(places_x)));
    const int64_t y = static_cast<int64_t>(draws.next_below(static_cast<uint64_t>(places_y)));
    return {y - top, x - left, height, width};
  }

 private:
  vision::RandomCropOptions o_;
  std::array<int64_t, 4> pad_{};  // left, top, right, bottom
};

class CenterCropOp : public CropOp {
 public:
  explicit CenterCropOp(vision::Size size) {
    const vision::Size s = square(checked(size, "CenterCrop"));
    height = s.height;
    width = s.width;
  }
  std::string str() const override { return fmt::format("CenterCrop(size=({}, {}))", height, width); }
  Window window(const ImageDims& d, PhiloxSequence) const override {
    if (height - d.height > 3 * d.height || width - d.width > 3 * d.width) {
      throw BadSample(
          fmt::format("CenterCrop: {} x {} out of an image of {} x {} would be more than 3 times its size in padding", height, width, d.height, d.width), "",
          "resize first");
    }
    auto place = [](int64_t have, int64_t want) { return have >= want ? (have - want) / 2 : -((want - have + 1) / 2); };
    return {place(d.height, height), place(d.width, width), height, width};
  }
};

class ResizeOp : public RowOp {
 public:
  ResizeOp(vision::Size size, vision::Inter inter, vision::LongEdge long_edge) : size_(checked(size, "Resize")), inter_(inter), long_edge_(long_edge) {}
  std::string str() const override {
    const bool rounds = size_.width <= 0 && long_edge_ == vision::LongEdge::kRound;
    return fmt::format("Resize(size={}, interpolation={}{})", size_str(size_), inter_name(inter_), rounds ? ", long edge rounded" : "");
  }
  std::vector<ColumnInfo> infer(std::span<const ColumnInfo> in) const override {
    ColumnInfo c = in[0];
    if (c.rank_known && is_batch(c.shape)) return infer_each(*this, c);
    check_resizable(c, "Resize", inter_);
    if (!c.rank_known) return {c};
    if (size_.width > 0) c.shape = with_size(c, size_.height, size_.width);
    else if (c.shape[0] > 0 && c.shape[1] > 0) {
      const auto [h, w] = resized(c.shape[0], c.shape[1]);
      c.shape = with_size(c, h, w);
    } else {
      c.shape = with_size(c, -1, -1);
    }
    return {c};
  }
  void run(RowCall& call) const override {
    if (is_batch(call.inputs[0].shape)) return run_each(*this, call);
    const ImageDims d = resizable_image(call.inputs[0], "Resize", inter_);
    const auto [h, w] = resized(d.height, d.width);
    if (h > kMaxSide || w > kMaxSide || h * w > kMaxPixels)
      throw BadSample(fmt::format("Resize: {} x {} would become {} x {}, too large", d.height, d.width, h, w));
    resize_window(call, d, {0, 0, d.height, d.width}, h, w, inter_);
  }

 private:
  static constexpr int64_t kMaxSide = kMaxResizedSide, kMaxPixels = 64'000'000;
  std::pair<int64_t, int64_t> resized(int64_t h, int64_t w) const {
    if (size_.width > 0) return {size_.height, size_.width};
    return size_by_short_edge(h, w, size_.height, long_edge_);
  }
  vision::Size size_;
  vision::Inter inter_;
  vision::LongEdge long_edge_;
};

class RandomResizedCropOp : public RowOp {
 public:
  RandomResizedCropOp(vision::Size size, vision::RandomResizedCropOptions o, bool decodes)
      : size_(square(checked(size, "RandomResizedCrop"))), o_(o), decodes_(decodes) {
    const auto& [s0, s1] = o.scale;
    const auto& [r0, r1] = o.ratio;
    if (!(s0 > 0) || !(s1 >= s0) || !std::isfinite(s1))
      throw ValueError(fmt::format("{}: scale ({}, {}) is not a positive range", name(), s0, s1), "", "e.g. (0.08, 1.0)");
    if (!(r0 > 0) || !(r1 >= r0) || !std::isfinite(r1))
      throw ValueError(fmt::format("{}: ratio ({}, {}) is not a positive range", name(), r0, r1), "", "e.g. (3/4, 4/3)");
    if (o.max_attempts < 1 || o.max_attempts > 10000) throw ValueError(fmt::format("{}: max_attempts must be from 1 to 10000, got {}", name(), o.max_attempts));
  }
  bool random() const override { return true; }
  std::string str() const override {
    return fmt::format("{}(size=({}, {}), scale=({}, {}), ratio=({}, {}), interpolation={}, max_attempts={})", name(), size_.height, size_.width, o_.scale[0],
                       o_.scale[1], o_.ratio[0], o_.ratio[1], inter_name(o_.interpolation), o_.max_attempts);
  }
  std::vector<ColumnInfo> infer(std::span<const ColumnInfo> in) const override {
    ColumnInfo c = in[0];
    if (decodes_) {
      if ((c.dtype_known && c.dtype != DType::kUInt8) || (c.rank_known && c.shape.rank() != 1))
        throw ShapeError(fmt::format("{}: column '{}' is {}{}, expected file bytes uint8 [n]", name(), c.name, dtype_name(c.dtype), c.shape.str()), "",
                         "use RandomResizedCrop for decoded images");
      c.shape = {size_.height, size_.width, 3};
      c.rank_known = c.dtype_known = true;
      return {c};
    }
    if (c.rank_known && is_batch(c.shape)) return infer_each(*this, c);
    check_resizable(c, name(), o_.interpolation);
    if (c.rank_known) c.shape = with_size(c, size_.height, size_.width);
    return {c};
  }
  void run(RowCall& call) const override {
    if (!decodes_) {
      if (is_batch(call.inputs[0].shape)) return run_each(*this, call);
      const ImageDims d = resizable_image(call.inputs[0], name(), o_.interpolation);
      return resize_window(call, d, crop_box(d, call.draws()), size_.height, size_.width, o_.interpolation);
    }
    const OpenedImage image = open_image(call.inputs[0], call.scratch);
    Window w = crop_box({image.height, image.width, 3}, call.draws());
    const DecodedWindow part = decode_window(image, w.top, w.left, w.height, w.width, call.scratch);
    w.top -= part.top;
    w.left -= part.left;
    RowCall inner = call;
    inner.inputs = std::span<const Value>(&part.pixels, 1);
    resize_window(inner, {part.pixels.shape[0], part.pixels.shape[1], 3}, w, size_.height, size_.width, o_.interpolation);
  }
  bool decodes() const { return decodes_; }
  Window window(const ImageDims& d, PhiloxSequence draws) const { return crop_box(d, draws); }
  std::shared_ptr<const RowOp> decoding() const { return decodes_ ? nullptr : std::make_shared<RandomResizedCropOp>(size_, o_, true); }

 private:
  const char* name() const { return decodes_ ? "RandomCropDecodeResize" : "RandomResizedCrop"; }

  // Four words per attempt: area, aspect, x, y.
  Window crop_box(const ImageDims& d, PhiloxSequence draws) const {
    const double area = static_cast<double>(d.height) * static_cast<double>(d.width);
    const double log0 = std::log(o_.ratio[0]), log1 = std::log(o_.ratio[1]);
    auto below = [](uint32_t u, int64_t n) { return static_cast<int64_t>((static_cast<uint64_t>(u) * static_cast<uint64_t>(n)) >> 32); };
    for (int i = 0; i < o_.max_attempts; ++i) {
      const double u0 = draws.next_float(), u1 = draws.next_float();
      const uint32_t u2 = draws.next_u32(), u3 = draws.next_u32();
      const double a = area * (o_.scale[0] + u0 * (o_.scale[1] - o_.scale[0])), r = std::exp(log0 + u1 * (log1 - log0));
      const int64_t w = std::llround(std::sqrt(a * r)), h = std::llround(static_cast<double>(w) / r);
      if (w < 1 || h < 1 || w > d.width || h > d.height) continue;
      return {below(u3, d.height - h + 1), below(u2, d.width - w + 1), h, w};
    }
    const double ratio = static_cast<double>(d.width) / static_cast<double>(d.height);
    int64_t h = d.height, w = d.width;
    if (ratio < o_.ratio[0]) h = std::clamp<int64_t>(std::llround(static_cast<double>(w) / o_.ratio[0]), 1, d.height);
    else if (ratio > o_.ratio[1]) w = std::clamp<int64_t>(std::llround(static_cast<double>(h) * o_.ratio[1]), 1, d.width);
    return {(d.height - h) / 2, (d.width - w) / 2, h, w};
  }

  vision::Size size_;
  vision::RandomResizedCropOptions o_;
  bool decodes_;
};

class DecodeOp : public RowOp {
 public:
  std::string str() const override { return "Decode()"; }
  std::vector<ColumnInfo> infer(std::span<const ColumnInfo> in) const override {
    ColumnInfo c = in[0];
    if ((c.dtype_known && c.dtype != DType::kUInt8) || (c.rank_known && c.shape.rank() != 1))
      throw ShapeError(fmt::format("Decode: column '{}' is {}{}, expected file bytes uint8 [n]", c.name, dtype_name(c.dtype), c.shape.str()), "",
                       c.shape.rank() == 3 ? "the images are decoded already: remove Decode" : "give it the image column");
    c.dtype = DType::kUInt8;
    c.shape = {-1, -1, 3};
    c.rank_known = c.dtype_known = true;
    return {c};
  }
  void run(RowCall& call) const override { call.forward(0, decode_image(call.inputs[0], call.scratch)); }
};

}  // namespace

std::shared_ptr<const RowOp> fuse_decode_crop(const RowOp& decode, const RowOp& crop) {
  const auto* resized_crop = dynamic_cast<const RandomResizedCropOp*>(&crop);
  if (dynamic_cast<const DecodeOp*>(&decode) == nullptr || resized_crop == nullptr) return nullptr;
  return resized_crop->decoding();
}

std::function<Window(const ImageDims&, PhiloxSequence)> window_of(const RowOp& crop) {
  if (const auto* c = dynamic_cast<const CropOp*>(&crop)) return [c](const ImageDims& d, PhiloxSequence draws) { return c->window(d, draws); };
  const auto* r = dynamic_cast<const RandomResizedCropOp*>(&crop);
  if (r == nullptr || r->decodes()) return {};
  return [r](const ImageDims& d, PhiloxSequence draws) { return r->window(d, draws); };
}

std::vector<ColumnInfo> CropOp::infer(std::span<const ColumnInfo> in) const {
  ColumnInfo c = in[0];
  if (c.rank_known && is_batch(c.shape)) return infer_each(*this, c);
  check_any_image(c, "crop");
  if (c.rank_known) c.shape = with_size(c, height, width);
  return {c};
}

void CropOp::run(RowCall& call) const {
  const Value& in = call.inputs[0];
  if (is_batch(in.shape)) return run_each(*this, call);
  const ImageDims d = any_image(in, "crop");
  if (fill.size() > 1 && d.channels > static_cast<int64_t>(fill.size()))
    throw BadSample(fmt::format("crop: the image {} has more channels than the fill value", value_str(in)));
  const Window w = window(d, call.draws());
  Shape shape = in.shape;
  shape[0] = height;
  shape[1] = width;
  uint8_t* out = call.output(0, in.dtype, shape);
  copy_window(in, d, w, border, fill, out);
}

std::string FlipOp::str() const { return random_ ? fmt::format("RandomHorizontalFlip(prob={})", prob) : "HorizontalFlip()"; }
std::vector<ColumnInfo> FlipOp::infer(std::span<const ColumnInfo> in) const {
  if (!in[0].rank_known || !is_batch(in[0].shape)) check_any_image(in[0], "RandomHorizontalFlip");
  return {in[0]};
}
void FlipOp::run(RowCall& call) const {
  const Value& in = call.inputs[0];
  if (is_batch(in.shape)) return run_each(*this, call);
  const ImageDims d = any_image(in, "RandomHorizontalFlip");
  if (!flips(call.draws())) return call.forward(0, in);
  uint8_t* out = call.output(0, in.dtype, in.shape);
  const int64_t pixel = d.channels * static_cast<int64_t>(dtype_size(in.dtype)), row = d.width * pixel;
  const auto reverse = SINDRI_SIMD_CALL(pixels_reverse);
  for (int64_t y = 0; y < d.height; ++y) reverse(in.data + y * row, d.width, pixel, out + y * row);
}

std::string RescaleOp::str() const { return fmt::format("Rescale({}, {})", scale, bias); }
std::vector<ColumnInfo> RescaleOp::infer(std::span<const ColumnInfo> in) const {
  ColumnInfo c = in[0];
  c.dtype = DType::kFloat32;
  c.dtype_known = true;
  return {c};
}
void RescaleOp::run(RowCall& call) const {
  const Value& in = call.inputs[0];
  float* out = reinterpret_cast<float*>(call.output(0, DType::kFloat32, in.shape));
  const int64_t n = in.shape.numel();
  dispatch_dtype(in.dtype, [&]<class T>() {
    const T* const x = reinterpret_cast<const T*>(in.data);
    for (int64_t i = 0; i < n; ++i) out[i] = static_cast<float>(x[i]) * scale + bias;
  });
}

NormalizeOp::NormalizeOp(std::vector<double> mean, std::vector<double> std, bool is_hwc) : hwc(is_hwc), mean_(std::move(mean)), std_(std::move(std)) {
  if (mean_.size() != std_.size() || mean_.empty())
    throw ValueError(fmt::format("Normalize: {} means and {} standard deviations, expected one of each, or one per channel", mean_.size(), std_.size()));
  for (size_t i = 0; i < mean_.size(); ++i) {
    if (!(std_[i] > 0) || !std::isfinite(std_[i]) || !std::isfinite(mean_[i]))
      throw ValueError(fmt::format("Normalize: mean {} and std {} of channel {}: std must be positive", mean_[i], std_[i], i));
    const float m = static_cast<float>(mean_[i]), s = static_cast<float>(std_[i]);
    scale.push_back(1.0f / s);
    bias.push_back(-(m / s));
  }
}
std::string NormalizeOp::str() const { return fmt::format("Normalize(mean=({}), std=({}), is_hwc={})", fmt::join(mean_, ", "), fmt::join(std_, ", "), hwc); }
std::vector<ColumnInfo> NormalizeOp::infer(std::span<const ColumnInfo> in) const {
  ColumnInfo c = in[0];
  if (c.rank_known && is_batch(c.shape)) return infer_each(*this, c);
  if (c.rank_known) {
    const int64_t channels = c.shape.rank() == 2 ? 1 : c.shape.rank() == 3 ? c.shape[hwc ? 2 : 0] : 0;
    if (channels == 0 || (channels > 0 && scale.size() > 1 && channels != static_cast<int64_t>(scale.size())))
      throw ShapeError(fmt::format("Normalize: column '{}' has shape {} (is_hwc={}), the mean has {} values", c.name, c.shape.str(), hwc, scale.size()), "",
                       c.shape.rank() < 2 ? "put Decode before it" : "give one mean and std per channel");
  }
  c.dtype = DType::kFloat32;
  c.dtype_known = true;
  return {c};
}
void NormalizeOp::run(RowCall& call) const {
  const Value& in = call.inputs[0];
  const int rank = in.shape.rank();
  if (is_batch(in.shape)) return run_each(*this, call);
  if (rank != 2 && rank != 3) throw BadSample(fmt::format("Normalize: the input is {}, expected an image", value_str(in)));
  const int64_t channels = rank == 2 ? 1 : in.shape[hwc ? 2 : 0];
  if (scale.size() > 1 && channels != static_cast<int64_t>(scale.size()))
    throw BadSample(fmt::format("Normalize: the image {} has {} channels, the mean has {} values", value_str(in), channels, scale.size()));
  float* out = reinterpret_cast<float*>(call.output(0, DType::kFloat32, in.shape));
  const int64_t plane = channels == 0 ? 0 : in.shape.numel() / channels;
  dispatch_dtype(in.dtype, [&]<class T>() {
    const T* const x = reinterpret_cast<const T*>(in.data);
    const bool one = scale.size() == 1;
    for (int64_t k = 0; k < channels; ++k) {
      const float a = scale[one ? 0 : static_cast<size_t>(k)], b = bias[one ? 0 : static_cast<size_t>(k)];
      const int64_t first = hwc ? k : k * plane, step = hwc ? channels : 1;
      for (int64_t i = 0; i < plane; ++i) out[first + i * step] = static_cast<float>(x[first + i * step]) * a + b;
    }
  });
}

std::vector<ColumnInfo> HwcToChwOp::infer(std::span<const ColumnInfo> in) const {
  ColumnInfo c = in[0];
  if (!c.rank_known) return {c};
  if (c.shape.rank() == 2) return {c};
  if (c.shape.rank() != 3)
    throw ShapeError(fmt::format("HWC2CHW: column '{}' has shape {}, expected [H, W, C] or [H, W]", c.name, c.shape.str()), "",
                     "put it after Decode and before batch()");
  c.shape = {c.shape[2], c.shape[0], c.shape[1]};
  return {c};
}
void HwcToChwOp::run(RowCall& call) const {
  const Value& in = call.inputs[0];
  if (in.shape.rank() == 2) return call.forward(0, in);
  if (in.shape.rank() != 3) throw BadSample(fmt::format("HWC2CHW: the input is {}, expected [H, W, C] or [H, W]", value_str(in)));
  const int64_t h = in.shape[0], w = in.shape[1], c = in.shape[2];
  uint8_t* out = call.output(0, in.dtype, {c, h, w});
  auto transpose = [&](auto* dst) {
    const auto* src = reinterpret_cast<decltype(dst)>(const_cast<uint8_t*>(in.data));
    for (int64_t k = 0; k < c; ++k) {
      for (int64_t i = 0; i < h * w; ++i) dst[k * h * w + i] = src[i * c + k];
    }
  };
  switch (dtype_size(in.dtype)) {
    case 1: transpose(out); break;
    case 2: transpose(reinterpret_cast<uint16_t*>(out)); break;
    case 4: transpose(reinterpret_cast<uint32_t*>(out)); break;
    default: transpose(reinterpret_cast<uint64_t*>(out)); break;
  }
}

namespace vision {

Decode::Decode() : Transform(std::make_shared<DecodeOp>()) {}
Resize::Resize(Size size, Inter interpolation, LongEdge long_edge) : Transform(std::make_shared<ResizeOp>(size, interpolation, long_edge)) {}
CenterCrop::CenterCrop(Size size) : Transform(std::make_shared<CenterCropOp>(size)) {}
RandomCrop::RandomCrop(Size size, RandomCropOptions options) : Transform(std::make_shared<RandomCropOp>(size, std::move(options))) {}
RandomResizedCrop::RandomResizedCrop(Size size, RandomResizedCropOptions options) : Transform(std::make_shared<RandomResizedCropOp>(size, options, false)) {}
RandomCropDecodeResize::RandomCropDecodeResize(Size size, RandomResizedCropOptions options)
    : Transform(std::make_shared<RandomResizedCropOp>(size, options, true)) {}
namespace {
double checked_prob(double p) {
  if (!(p >= 0 && p <= 1)) throw ValueError(fmt::format("RandomHorizontalFlip: prob must be from 0 to 1, got {}", p));
  return p;
}
}  // namespace
RandomHorizontalFlip::RandomHorizontalFlip(double prob) : Transform(std::make_shared<FlipOp>(checked_prob(prob), true)) {}
HorizontalFlip::HorizontalFlip() : Transform(std::make_shared<FlipOp>(1.0, false)) {}
Rescale::Rescale(double rescale, double shift) : Transform(std::make_shared<RescaleOp>(static_cast<float>(rescale), static_cast<float>(shift))) {}
Normalize::Normalize(std::vector<double> mean, std::vector<double> std, bool is_hwc)
    : Transform(std::make_shared<NormalizeOp>(std::move(mean), std::move(std), is_hwc)) {}
HWC2CHW::HWC2CHW() : Transform(std::make_shared<HwcToChwOp>()) {}

}  // namespace vision
}  // namespace sindri::dataset
