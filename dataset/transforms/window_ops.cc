// Parts of images: windows, borders, patches, erased rectangles. Pixels are only moved, so any element type works.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numbers>
#include <optional>

#include "dataset/transforms/pixel_op.h"
#include "dataset/transforms/vision_ops.h"
#include "sindri/dataset/augment.h"

namespace sindri::dataset {

namespace {

// The source index of a border pixel; -1: the fill value.
int64_t border_index(int64_t i, int64_t n, vision::Border border) {
  if (i >= 0 && i < n) return i;
  if (border == vision::Border::kConstant) return -1;
  if (border == vision::Border::kEdge) return std::clamp<int64_t>(i, 0, n - 1);
  if (n == 1) return 0;
  const int64_t period = border == vision::Border::kReflect ? 2 * (n - 1) : 2 * n;  // reflect: the edge pixel is not repeated
  int64_t m = i % period;
  if (m < 0) m += period;
  return m < n ? m : border == vision::Border::kReflect ? period - m : period - 1 - m;
}

template <class T> void copy_window_of(const T* src, const ImageDims& d, const Window& w, vision::Border border, const std::vector<int64_t>& fill, T* dst) {
  const int64_t c = d.channels;
  // Columns [inside0, inside1) of the window are inside the image and copied as one run.
  const int64_t inside0 = std::clamp<int64_t>(-w.left, 0, w.width), inside1 = std::clamp<int64_t>(d.width - w.left, inside0, w.width);
  for (int64_t y = 0; y < w.height; ++y) {
    const int64_t sy = border_index(w.top + y, d.height, border);
    T* row = dst + y * w.width * c;
    auto outside = [&](int64_t from, int64_t to) {
      for (int64_t x = from; x < to; ++x) {
        const int64_t sx = sy < 0 ? -1 : border_index(w.left + x, d.width, border);
        for (int64_t k = 0; k < c; ++k) {
          row[x * c + k] = sx < 0 ? static_cast<T>(fill[fill.size() == 1 ? 0 : static_cast<size_t>(k)]) : src[(sy * d.width + sx) * c + k];
        }
      }
    };
    if (sy < 0) {
      outside(0, w.width);
      continue;
    }
    outside(0, inside0);
    if (inside1 > inside0)
      std::memcpy(row + inside0 * c, src + (sy * d.width + w.left + inside0) * c, static_cast<size_t>((inside1 - inside0) * c) * sizeof(T));
    outside(inside1, w.width);
  }
}

}  // namespace

ImageDims any_image(const Value& v, const std::string& who) {
  if ((v.shape.rank() != 2 && v.shape.rank() != 3) || v.shape.numel() == 0)
    throw BadSample(fmt::format("{}: the input is {}, expected an image [H, W] or [H, W, C] with pixels", who, value_str(v)), "", "put Decode before it");
  return {v.shape[0], v.shape[1], v.shape.rank() == 3 ? v.shape[2] : 1};
}

void check_any_image(const ColumnInfo& c, const std::string& who) {
  if (c.rank_known && c.shape.rank() != 2 && c.shape.rank() != 3)
    throw ShapeError(fmt::format("{}: column '{}' has shape {}, expected an image [H, W] or [H, W, C]", who, c.name, c.shape.str()), "",
                     c.shape.rank() == 1 ? "put Decode before it" : "put it before batch()");
}

void copy_window(const Value& in, const ImageDims& d, const Window& w, vision::Border border, const std::vector<int64_t>& fill, uint8_t* out) {
  dispatch_dtype(in.dtype, [&]<class T>() { copy_window_of(reinterpret_cast<const T*>(in.data), d, w, border, fill, reinterpret_cast<T*>(out)); });
}

namespace {

std::vector<int64_t> checked_fill(const std::string& who, const std::vector<int64_t>& fill) {
  if (fill.size() != 1 && fill.size() != 3) throw ValueError(fmt::format("{}: the fill value has {} numbers, expected 1 or 3", who, fill.size()));
  return fill;
}

const char* border_name(vision::Border b) {
  static constexpr const char* kNames[] = {"CONSTANT", "EDGE", "REFLECT", "SYMMETRIC"};
  return kNames[static_cast<int>(b)];
}

/// The output is a window of the image that depends on its size and may extend past its edges.
class WindowOp : public RowOp {
 public:
  using Place = std::function<Window(const ImageDims&)>;
  /// `fixed`: the size of the result if it does not depend on the image, else -1.
  WindowOp(std::string who, std::string parameters, Place place, vision::Border border, const std::vector<int64_t>& fill, vision::Size fixed = {-1, -1})
      : who_(std::move(who)), parameters_(std::move(parameters)), place_(std::move(place)), border_(border), fill_(checked_fill(who_, fill)), fixed_(fixed) {}
  std::string str() const override { return fmt::format("{}({})", who_, parameters_); }
  std::vector<ColumnInfo> infer(std::span<const ColumnInfo> in) const override {
    check_any_image(in[0], who_);
    ColumnInfo c = in[0];
    if (!c.rank_known) return {c};
    Window w{0, 0, fixed_.height, fixed_.width};
    if (c.shape[0] > 0 && c.shape[1] > 0) w = place_({c.shape[0], c.shape[1], 1});
    c.shape[0] = w.height;
    c.shape[1] = w.width;
    return {c};
  }
  void run(RowCall& call) const override {
    const Value& in = call.inputs[0];
    const ImageDims d = any_image(in, who_);
    if (fill_.size() == 3 && d.channels > 3) throw BadSample(fmt::format("{}: the image {} has more channels than the fill value", who_, value_str(in)));
    const Window w = place_(d);
    Shape shape = in.shape;
    shape[0] = w.height;
    shape[1] = w.width;
    copy_window(in, d, w, border_, fill_, call.output(0, in.dtype, shape));
  }

 private:
  std::string who_, parameters_;
  Place place_;
  vision::Border border_;
  std::vector<int64_t> fill_;
  vision::Size fixed_;
};

class VerticalFlipOp : public RowOp {
 public:
  VerticalFlipOp(double prob, bool is_random) : prob_(prob), random_(is_random) {}
  std::string str() const override { return random_ ? fmt::format("RandomVerticalFlip(prob={})", prob_) : "VerticalFlip()"; }
  bool random() const override { return random_; }
  std::vector<ColumnInfo> infer(std::span<const ColumnInfo> in) const override {
    if (!in[0].rank_known || !is_batch(in[0].shape)) check_any_image(in[0], str());
    return {in[0]};
  }
  void run(RowCall& call) const override {
    const Value& in = call.inputs[0];
    if (is_batch(in.shape)) return run_each(*this, call);
    const ImageDims d = any_image(in, str());
    if (random_ && call.draws().next_double() >= prob_) return call.forward(0, in);
    uint8_t* const out = call.output(0, in.dtype, in.shape);
    const int64_t row = in.nbytes() / d.height;
    for (int64_t y = 0; y < d.height; ++y) std::memcpy(out + y * row, in.data + (d.height - 1 - y) * row, static_cast<size_t>(row));
  }

 private:
  double prob_;
  bool random_;
};

/// Several windows of equal size, each an output.
class SeveralWindowsOp : public RowOp {
 public:
  /// Outputs from number `flipped` on are windows of the flipped image.
  using Places = std::function<std::vector<Window>(const ImageDims&)>;
  SeveralWindowsOp(std::string who, std::string parameters, int count, int flipped, bool vertical, int64_t fill, Places places)
      : who_(std::move(who)),
        parameters_(std::move(parameters)),
        count_(count),
        flipped_(flipped),
        vertical_(vertical),
        fill_({fill}),
        places_(std::move(places)) {}
  std::string str() const override { return fmt::format("{}({})", who_, parameters_); }
  int num_outputs() const override { return count_; }
  std::vector<ColumnInfo> infer(std::span<const ColumnInfo> in) const override {
    check_any_image(in[0], who_);
    ColumnInfo c = in[0];
    if (c.rank_known) {
      Window w{0, 0, -1, -1};
      if (c.shape[0] > 0 && c.shape[1] > 0) w = places_({c.shape[0], c.shape[1], 1})[0];
      c.shape[0] = w.height;
      c.shape[1] = w.width;
    }
    return std::vector<ColumnInfo>(static_cast<size_t>(count_), c);
  }
  void run(RowCall& call) const override {
    Value in = call.inputs[0];
    const ImageDims d = any_image(in, who_);
    const std::vector<Window> places = places_(d);
    Shape shape = in.shape;
    shape[0] = places[0].height;
    shape[1] = places[0].width;
    for (int k = 0; k < count_; ++k) {
      if (k == flipped_) in = flipped(call, d);
      copy_window(in, d, places[static_cast<size_t>(k)], vision::Border::kConstant, fill_, call.output(static_cast<size_t>(k), in.dtype, shape));
    }
  }

 private:
  Value flipped(RowCall& call, const ImageDims& d) const {
    const Value& in = call.inputs[0];
    Value out = in;
    uint8_t* const memory = call.scratch.arena.allocate(in.nbytes());
    const int64_t row = in.nbytes() / d.height, pixel = row / d.width;
    for (int64_t y = 0; y < d.height; ++y) {
      const uint8_t* const from = in.data + (vertical_ ? d.height - 1 - y : y) * row;
      if (vertical_) std::memcpy(memory + y * row, from, static_cast<size_t>(row));
      for (int64_t x = 0; !vertical_ && x < d.width; ++x)
        std::memcpy(memory + y * row + x * pixel, from + (d.width - 1 - x) * pixel, static_cast<size_t>(pixel));
    }
    out.data = memory;
    return out;
  }

  std::string who_, parameters_;
  int count_, flipped_;
  bool vertical_;
  std::vector<int64_t> fill_;
  Places places_;
};

/// Copies the image, then fills rectangles in it.
class FillOp : public RowOp {
 public:
  struct Box {
    int64_t top, left, height, width;
    std::vector<double> value;  // one, or one for each channel; empty: normal noise
  };
  using Boxes = std::function<std::vector<Box>(int64_t height, int64_t width, PhiloxSequence& draws)>;
  FillOp(std::string who, std::string parameters, bool is_random, bool channels_last, int least_rank, Boxes boxes)
      : who_(std::move(who)), parameters_(std::move(parameters)), random_(is_random), last_(channels_last), least_rank_(least_rank), boxes_(std::move(boxes)) {}
  std::string str() const override { return fmt::format("{}({})", who_, parameters_); }
  bool random() const override { return random_; }
  std::vector<ColumnInfo> infer(std::span<const ColumnInfo> in) const override {
    if (in[0].rank_known && (in[0].shape.rank() < least_rank_ || in[0].shape.rank() > 3))
      throw ShapeError(fmt::format("{}: column '{}' has shape {}, expected {}", who_, in[0].name, in[0].shape.str(), layout()));
    return {in[0]};
  }
  void run(RowCall& call) const override {
    const Value& in = call.inputs[0];
    const int rank = in.shape.rank();
    if (rank < least_rank_ || rank > 3 || in.shape.numel() == 0)
      throw BadSample(fmt::format("{}: the input is {}, expected {}", who_, value_str(in), layout()));
    const int64_t channels = rank == 2 ? 1 : in.shape[last_ ? 2 : 0];
    const int64_t height = in.shape[last_ || rank == 2 ? 0 : 1], width = in.shape[last_ || rank == 2 ? 1 : 2];
    PhiloxSequence draws = call.draws();
    const std::vector<Box> boxes = boxes_(height, width, draws);
    if (boxes.empty()) return call.forward(0, in);
    uint8_t* const out = call.output(0, in.dtype, in.shape);
    std::memcpy(out, in.data, static_cast<size_t>(in.nbytes()));
    dispatch_dtype(in.dtype, [&]<class T>() {
      for (const Box& b : boxes) fill<T>(reinterpret_cast<T*>(out), b, height, width, channels, draws);
    });
  }

 private:
  const char* layout() const { return last_ ? "an image [H, W] or [H, W, C]" : least_rank_ == 3 ? "an array [C, H, W]" : "an image [C, H, W] or [H, W]"; }
  template <class T> void fill(T* out, const Box& b, int64_t height, int64_t width, int64_t channels, PhiloxSequence& draws) const {
    if (b.value.size() > 1 && channels > 1 && static_cast<int64_t>(b.value.size()) != channels)
      throw BadSample(fmt::format("{}: {} values for an image of {} channels", who_, b.value.size(), channels));
    const auto noise = [&] { return std::sqrt(-2 * std::log(1 - draws.next_double())) * std::cos(2 * std::numbers::pi * draws.next_double()); };
    for (int64_t k = 0; k < channels; ++k) {
      const double level = b.value.empty() ? 0 : b.value[b.value.size() == 1 ? 0 : static_cast<size_t>(k)];
      const T constant = static_cast<T>(level);
      for (int64_t y = b.top; y < b.top + b.height; ++y) {
        T* const row = last_ ? out + (y * width + b.left) * channels + k : out + (k * height + y) * width + b.left;
        const int64_t step = last_ ? channels : 1;
        for (int64_t x = 0; x < b.width; ++x) row[x * step] = b.value.empty() ? static_cast<T>(noise()) : constant;
      }
    }
  }

  std::string who_, parameters_;
  bool random_, last_;
  int least_rank_;
  Boxes boxes_;
};

std::optional<FillOp::Box> erased_box(const vision::RandomErasingOptions& o, int64_t height, int64_t width, PhiloxSequence& draws) {
  if (draws.next_double() >= o.prob) return {};
  for (int i = 0; i < o.max_attempts; ++i) {
    const double area = draw_between(draws, o.scale[0], o.scale[1]) * static_cast<double>(height * width);
    const double aspect = std::exp(draw_between(draws, std::log(o.ratio[0]), std::log(o.ratio[1])));
    const int64_t h = std::llround(std::sqrt(area * aspect)), w = std::llround(std::sqrt(area / aspect));
    if (h < 1 || h >= height || w < 1 || w >= width) continue;
    const int64_t y = static_cast<int64_t>(draws.next_below(static_cast<uint64_t>(height - h + 1)));
    const int64_t x = static_cast<int64_t>(draws.next_below(static_cast<uint64_t>(width - w + 1)));
    return FillOp::Box{y, x, h, w, o.value};
  }
  return {};
}

}  // namespace

namespace vision {

Transform VerticalFlip() { return Transform(std::make_shared<VerticalFlipOp>(1.0, false)); }
Transform RandomVerticalFlip(double prob) {
  if (!(prob >= 0 && prob <= 1)) throw ValueError(fmt::format("RandomVerticalFlip: prob must be from 0 to 1, got {}", prob));
  return Transform(std::make_shared<VerticalFlipOp>(prob, true));
}

Transform Pad(std::array<int64_t, 4> s, const std::vector<int64_t>& fill, Border border) {
  for (int64_t v : s) {
    if (v < 0 || v > 65536) throw ValueError(fmt::format("Pad: padding {} is not from 0 to 65536", v));
  }
  return Transform(std::make_shared<WindowOp>(
      "Pad", fmt::format("({}), ({}), {}", fmt::join(s, ", "), fmt::join(fill, ", "), border_name(border)),
      [s](const ImageDims& d) {
        return Window{-s[1], -s[0], d.height + s[1] + s[3], d.width + s[0] + s[2]};
      },
      border, fill));
}

Transform PadToSize(Size size, const std::vector<int64_t>& offset, const std::vector<int64_t>& fill, Border border) {
  const Size to = size.width < 0 ? Size(size.height, size.height) : size;
  if (to.height < 1 || to.width < 1 || to.height > 65536 || to.width > 65536) throw ValueError("PadToSize: a size is not from 1 to 65536");
  if (!offset.empty() && offset.size() != 2) throw ValueError(fmt::format("PadToSize: offset needs 2 numbers, got {}", offset.size()));
  return Transform(std::make_shared<WindowOp>(
      "PadToSize", fmt::format("({}, {}), ({}), ({}), {}", to.height, to.width, fmt::join(offset, ", "), fmt::join(fill, ", "), border_name(border)),
      [to, offset](const ImageDims& d) {
        const int64_t down = to.height - d.height, right = to.width - d.width;
        const int64_t top = offset.empty() ? down / 2 : offset[0], left = offset.empty() ? right / 2 : offset[1];
        if (down < 0 || right < 0 || top > down || left > right) {
          throw BadSample(
              fmt::format("PadToSize: an image of {} x {} at ({}, {}) does not fit into {} x {}", d.height, d.width, top, left, to.height, to.width), "",
              "resize first");
        }
        return Window{-top, -left, to.height, to.width};
      },
      border, fill, to));
}

Transform Crop(int64_t top, int64_t left, Size size) {
  const Size to = size.width < 0 ? Size(size.height, size.height) : size;
  if (top < 0 || left < 0 || to.height < 1 || to.width < 1) throw ValueError("Crop: the window lies outside every image");
  return Transform(std::make_shared<WindowOp>(
      "Crop", fmt::format("({}, {}), ({}, {})", top, left, to.height, to.width),
      [=](const ImageDims& d) {
        if (top + to.height > d.height || left + to.width > d.width)
          throw BadSample(fmt::format("Crop: {} x {} at ({}, {}) is beyond the image of {} x {}", to.height, to.width, top, left, d.height, d.width));
        return Window{top, left, to.height, to.width};
      },
      Border::kConstant, std::vector<int64_t>{0}, to));
}

Transform SlicePatches(int rows, int columns, bool drop, int64_t fill) {
  if (rows < 1 || columns < 1 || rows > 4096 || columns > 4096) throw ValueError(fmt::format("SlicePatches: {} x {} patches", rows, columns));
  return Transform(std::make_shared<SeveralWindowsOp>(
      "SlicePatches", fmt::format("{}, {}, {}, {}", rows, columns, drop ? "DROP" : "PAD", fill), rows * columns, -1, false, fill, [=](const ImageDims& d) {
        if (rows > d.height || columns > d.width)
          throw BadSample(fmt::format("SlicePatches: an image of {} x {} cannot be cut into {} x {} patches", d.height, d.width, rows, columns));
        const int64_t h = drop ? d.height / rows : (d.height + rows - 1) / rows, w = drop ? d.width / columns : (d.width + columns - 1) / columns;
        std::vector<Window> out;
        for (int64_t i = 0; i < rows * columns; ++i) out.push_back({i / columns * h, i % columns * w, h, w});
        return out;
      }));
}

Transform CornerCrops(Size size, bool mirrored, bool vertical) {
  const Size to = size.width < 0 ? Size(size.height, size.height) : size;
  if (to.height < 1 || to.width < 1) throw ValueError("CornerCrops: a size must be at least 1");
  return Transform(std::make_shared<SeveralWindowsOp>(
      mirrored ? "TenCrop" : "FiveCrop", fmt::format("({}, {}){}", to.height, to.width, vertical ? ", vertical" : ""), mirrored ? 10 : 5, mirrored ? 5 : -1,
      vertical, 0, [to, mirrored](const ImageDims& d) {
        const int64_t down = d.height - to.height, right = d.width - to.width;
        if (down < 0 || right < 0)
          throw BadSample(fmt::format("crops of {} x {} are larger than the image of {} x {}", to.height, to.width, d.height, d.width), "", "resize first");
        const auto half = [](int64_t n) { return std::llrint(static_cast<double>(n) / 2); };  // half pixels round to even, as in Python
        std::vector<Window> out;
        for (int k = 0; k < (mirrored ? 2 : 1); ++k) {
          for (const auto& [y, x] : {std::pair<int64_t, int64_t>{0, 0}, {0, right}, {down, 0}, {down, right}, {half(down), half(right)}})
            out.push_back({y, x, to.height, to.width});
        }
        return out;
      }));
}

Transform Erase(std::array<int64_t, 4> b, const std::vector<double>& value) {
  if (value.empty()) throw ValueError("Erase: value is empty");
  return Transform(std::make_shared<FillOp>("Erase", fmt::format("({}), ({})", fmt::join(b, ", "), fmt::join(value, ", ")), false, true, 2,
                                            [b, value](int64_t height, int64_t width, PhiloxSequence&) {
                                              if (b[0] + b[2] > height || b[1] + b[3] > width) {
                                                throw BadSample(fmt::format("Erase: the rectangle of {} x {} at ({}, {}) is beyond the image of {} x {}", b[2],
                                                                            b[3], b[0], b[1], height, width));
                                              }
                                              return std::vector<FillOp::Box>{{b[0], b[1], b[2], b[3], value}};
                                            }));
}

Transform CutOut(int64_t length, int patches, bool is_hwc) {
  if (length < 1 || patches < 1) throw ValueError(fmt::format("CutOut: length and num_patches must be at least 1, got {} and {}", length, patches));
  return Transform(std::make_shared<FillOp>("CutOut", fmt::format("{}, {}, is_hwc={}", length, patches, is_hwc), true, is_hwc, 2,
                                            [=](int64_t height, int64_t width, PhiloxSequence& draws) {
                                              std::vector<FillOp::Box> out;
                                              for (int i = 0; i < patches; ++i) {
                                                const int64_t y = static_cast<int64_t>(draws.next_below(static_cast<uint64_t>(height))) - length / 2;
                                                const int64_t x = static_cast<int64_t>(draws.next_below(static_cast<uint64_t>(width))) - length / 2;
                                                const int64_t top = std::max<int64_t>(0, y), left = std::max<int64_t>(0, x);
                                                out.push_back({top, left, std::min(height, y + length) - top, std::min(width, x + length) - left, {0.0}});
                                              }
                                              return out;
                                            }));
}

Transform RandomErasing(const RandomErasingOptions& o) {
  if (!(o.prob >= 0 && o.prob <= 1) || !(o.scale[0] >= 0 && o.scale[1] >= o.scale[0]) || !(o.ratio[0] > 0 && o.ratio[1] >= o.ratio[0]))
    throw ValueError("RandomErasing: prob must be from 0 to 1, scale and ratio must be in ascending order and not negative");
  return Transform(std::make_shared<FillOp>("RandomErasing",
                                            fmt::format("{}, ({}), ({}), ({}), {}", o.prob, fmt::join(o.scale, ", "), fmt::join(o.ratio, ", "),
                                                        o.value.empty() ? "random" : fmt::format("{}", fmt::join(o.value, ", ")), o.max_attempts),
                                            true, false, 3, [o](int64_t height, int64_t width, PhiloxSequence& draws) {
                                              const auto box = erased_box(o, height, width, draws);
                                              return box ? std::vector<FillOp::Box>{*box} : std::vector<FillOp::Box>{};
                                            }));
}

}  // namespace vision
}  // namespace sindri::dataset
