// Crop, flip, Rescale, Normalize, HWC2CHW and TypeCast of a uint8 image in one pass over the output, written into the batch slot.
#include "dataset/transforms/fused_tail.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstring>
#include <optional>

#include "dataset/transforms/pixels_simd.h"
#include "dataset/transforms/tail_simd.h"
#include "dataset/transforms/vision_ops.h"

namespace sindri::dataset {

namespace {

class FusedTailOp : public RowOp {
 public:
  explicit FusedTailOp(std::span<const FusePart> parts) : parts_(parts.begin(), parts.end()) {
    for (const auto& p : parts_) {
      if (const auto* crop = dynamic_cast<const CropOp*>(p.op.get())) crop_ = crop, crop_number_ = p.number;
      else if (const auto* flip = dynamic_cast<const FlipOp*>(p.op.get())) flips_.emplace_back(flip, p.number);
      else if (const auto* rescale = dynamic_cast<const RescaleOp*>(p.op.get())) f_.rescale = true, f_.a = rescale->scale, f_.b = rescale->bias;
      else if (const auto* normalize = dynamic_cast<const NormalizeOp*>(p.op.get())) set_normalize(*normalize);
      else if (dynamic_cast<const HwcToChwOp*>(p.op.get()) != nullptr) chw_ = true;
      else if (const auto* cast = dynamic_cast<const TypeCastOp*>(p.op.get())) to_ = cast->to;
    }
  }

  std::string str() const override {
    std::vector<std::string> names;
    for (const auto& p : parts_) names.push_back(p.op->str());
    return fmt::format("{}", fmt::join(names, " + "));
  }
  bool random() const override {
    return std::any_of(parts_.begin(), parts_.end(), [](const auto& p) { return p.op->random(); });
  }
  std::vector<ColumnInfo> infer(std::span<const ColumnInfo> in) const override {
    std::vector<ColumnInfo> c(in.begin(), in.end());
    for (const auto& p : parts_) c = p.op->infer(c);
    return c;
  }

  void run(RowCall& call) const override {
    const Value& in = call.inputs[0];
    const bool usual = in.dtype == DType::kUInt8 && in.shape.rank() == 3 && (in.shape[2] == 1 || in.shape[2] == 3) && in.shape.numel() > 0 &&
        (!f_.normalize || channels_ == 1 || static_cast<int64_t>(channels_) == in.shape[2]);
    if (usual) run_fused(call);
    else run_parts(call);
  }

 private:
  void set_normalize(const NormalizeOp& n) {
    f_.normalize = true;
    channels_ = n.channels();
    for (size_t c = 0; c < 3 && (c < channels_ || channels_ == 1); ++c) {  // images with more channels use run_parts
      f_.scale[c] = n.scale[channels_ == 1 ? 0 : c];
      f_.bias[c] = n.bias[channels_ == 1 ? 0 : c];
    }
  }

  static PhiloxSequence draws(const RowCall& call, uint32_t number) {
    DrawKey key = call.draws_key;
    key.op = number;
    return key.sequence();
  }

  // Runs each part separately, for inputs that the loops below do not support (float images, [H, W], other channels, batches).
  void run_parts(RowCall& call) const {
    Value value = call.inputs[0];
    for (size_t i = 0; i < parts_.size(); ++i) {
      DrawKey key = call.draws_key;
      key.op = parts_[i].number;
      RowCall part = call;
      const bool last = i + 1 == parts_.size();
      Value out;
      RowCall inner(call.scratch, key, std::span<const Value>(&value, 1), std::span<Value>(&out, 1), {});
      if (last) {
        part.draws_key = key;
        part.inputs = std::span<const Value>(&value, 1);
        parts_[i].op->run(part);
      } else {
        parts_[i].op->run(inner);
        value = out;
      }
    }
  }

  void run_fused(RowCall& call) const {
    const Value& in = call.inputs[0];
    const ImageDims d{in.shape[0], in.shape[1], in.shape[2]};
    Window w{0, 0, d.height, d.width};
    if (crop_ != nullptr) w = crop_->window(d, draws(call, crop_number_));
    bool flip = false;
    for (const auto& [op, number] : flips_) flip ^= op->flips(draws(call, number));
    const int64_t c = d.channels, plane = w.height * w.width;
    uint8_t* out = call.output(0, to_, chw_ ? Shape{c, w.height, w.width} : Shape{w.height, w.width, c});
    if (!chw_) return write_pixels(call, d, w, flip, out);
    const int64_t size = static_cast<int64_t>(dtype_size(to_));
    // A group of the window's rows as byte planes; also one plane as floats if the output is not float32.
    const int64_t n = tail_rows(w.height, c * w.width);
    uint8_t* const planes = call.scratch.arena.allocate(n * c * w.width);
    uint8_t* const laid = flip ? call.scratch.arena.allocate(n * c * w.width) : planes;
    float* const floats = to_ == DType::kFloat32 ? nullptr : reinterpret_cast<float*>(call.scratch.arena.allocate(n * w.width * 4));
    const auto arithmetic = SINDRI_SIMD_CALL(tail_arithmetic_row);
    for (int64_t y = 0; y < w.height; y += n) {
      const int64_t rows = std::min(n, w.height - y), part = rows * w.width;
      load_rows(call.inputs[0], d, {w.top + y, w.left, rows, w.width}, laid, planes);
      for (int64_t k = 0; k < c; ++k) {
        uint8_t* const to = out + (k * plane + y * w.width) * size;
        arithmetic(planes + k * part, part, f_, k, floats == nullptr ? reinterpret_cast<float*>(to) : floats);
        if (floats != nullptr) store_row(floats, part, to);
      }
    }
  }

  // Channels last: processed row by row, or the whole image at once if nothing is cropped or mirrored.
  void write_pixels(RowCall& call, const ImageDims& d, const Window& w, bool flip, uint8_t* out) const {
    const Value& in = call.inputs[0];
    const int64_t c = d.channels, size = static_cast<int64_t>(dtype_size(to_));
    const bool whole = !flip && to_ == DType::kFloat32 && w.top == 0 && w.left == 0 && w.height == d.height && w.width == d.width;
    const int64_t rows = whole ? 1 : w.height, n = whole ? in.shape.numel() : w.width * c;
    uint8_t* const bytes = whole ? nullptr : call.scratch.arena.allocate(n);
    float* const floats = to_ == DType::kFloat32 ? nullptr : reinterpret_cast<float*>(call.scratch.arena.allocate(n * 4));
    const auto arithmetic = SINDRI_SIMD_CALL(tail_interleaved);
    for (int64_t y = 0; y < rows; ++y) {
      const uint8_t* const from = whole ? in.data : pixel_row(in, d, w, y, flip, bytes);
      arithmetic(from, n, c, f_, floats == nullptr ? reinterpret_cast<float*>(out) + y * n : floats);
      if (floats != nullptr) store_row(floats, n, out + y * n * size);
    }
  }

  // Row y of the window, mirrored if requested: a pointer into the image if possible, else a copy in `memory`.
  const uint8_t* pixel_row(const Value& in, const ImageDims& d, const Window& w, int64_t y, bool flip, uint8_t* memory) const {
    const int64_t sy = w.top + y, c = d.channels;
    const int64_t x0 = sy < 0 || sy >= d.height ? w.width : std::clamp<int64_t>(-w.left, 0, w.width);
    const int64_t x1 = x0 == w.width ? w.width : std::clamp<int64_t>(d.width - w.left, x0, w.width);
    const uint8_t* const inside = x1 <= x0 ? nullptr : in.data + (sy * d.width + w.left + x0) * c;
    if (x0 == 0 && x1 == w.width && !flip) return inside;
    if (x0 > 0 || x1 < w.width) {
      const auto& fill = crop_->fill;
      for (int64_t i = 0; i < w.width * c; ++i) memory[i] = static_cast<uint8_t>(fill[fill.size() == 1 ? 0 : static_cast<size_t>(i % c)]);
    }
    if (inside == nullptr) return memory;
    uint8_t* const to = memory + (flip ? w.width - x1 : x0) * c;
    if (flip) SINDRI_SIMD_CALL(pixels_reverse)(inside, x1 - x0, c, to);
    else std::memcpy(to, inside, static_cast<size_t>((x1 - x0) * c));
    return memory;
  }

  // The window as c byte planes, with the fill value outside the image. Mirrored if `laid` is separate memory: the rows are written to it in reverse
  // order, then each plane is reversed as a whole, since short rows would not fill vectors.
  void load_rows(const Value& in, const ImageDims& d, const Window& w, uint8_t* laid, uint8_t* planes) const {
    const bool flip = laid != planes;
    const int64_t y0 = std::clamp<int64_t>(-w.top, 0, w.height), y1 = std::clamp<int64_t>(d.height - w.top, y0, w.height);
    const int64_t x0 = std::clamp<int64_t>(-w.left, 0, w.width), x1 = std::clamp<int64_t>(d.width - w.left, x0, w.width);
    const int64_t plane = w.height * w.width, c = d.channels;
    if (x0 > 0 || x1 < w.width || y0 > 0 || y1 < w.height) {
      const auto& fill = crop_->fill;
      for (int64_t k = 0; k < c; ++k)
        std::memset(laid + k * plane, static_cast<int>(fill[fill.size() == 1 ? 0 : static_cast<size_t>(k)]), static_cast<size_t>(plane));
    }
    if (y1 > y0 && x1 > x0) {
      const uint8_t* const from = in.data + ((w.top + y0) * d.width + w.left + x0) * c;
      uint8_t* const to = laid + (flip ? w.height - 1 - y0 : y0) * w.width + x0;
      SINDRI_SIMD_CALL(tail_split)(from, d.width * c, y1 - y0, x1 - x0, c, to, flip ? -w.width : w.width, plane);
    }
    for (int64_t k = 0; flip && k < c; ++k) SINDRI_SIMD_CALL(pixels_reverse)(laid + k * plane, plane, 1, planes + k * plane);
  }

  void store_row(const float* row, int64_t n, uint8_t* out) const {
    auto store = [&](auto* y) {
      for (int64_t i = 0; i < n; ++i) y[i] = row[i];
    };
    if (to_ == DType::kFloat16) store(reinterpret_cast<float16*>(out));
    else store(reinterpret_cast<bfloat16*>(out));
  }

  std::vector<FusePart> parts_;
  const CropOp* crop_ = nullptr;
  uint32_t crop_number_ = 0;
  std::vector<std::pair<const FlipOp*, uint32_t>> flips_;
  TailArithmetic f_{};
  size_t channels_ = 1;
  bool chw_ = false;
  DType to_ = DType::kFloat32;
};

// The order of parts in a tail. Flips may repeat; all others occur once.
enum TailPart { kCrop, kFlip, kRescale, kNormalize, kLayout, kCast };

std::optional<TailPart> tail_part(const RowOp& op) {
  if (const auto* crop = dynamic_cast<const CropOp*>(&op)) { return crop->border == vision::Border::kConstant ? std::optional(kCrop) : std::nullopt; }
  if (dynamic_cast<const FlipOp*>(&op) != nullptr) return kFlip;
  if (dynamic_cast<const RescaleOp*>(&op) != nullptr) return kRescale;
  if (const auto* n = dynamic_cast<const NormalizeOp*>(&op)) return n->hwc ? std::optional(kNormalize) : std::nullopt;
  if (dynamic_cast<const HwcToChwOp*>(&op) != nullptr) return kLayout;
  if (const auto* cast = dynamic_cast<const TypeCastOp*>(&op)) return is_half(cast->to) || cast->to == DType::kFloat32 ? std::optional(kCast) : std::nullopt;
  return {};
}

}  // namespace

Fused fuse_ops(std::span<const FusePart> parts) {
  if (parts.size() >= 2) {
    // Decode and crop: only the window is decoded.
    if (auto op = fuse_decode_crop(*parts[0].op, *parts[1].op)) return {std::move(op), 2, parts[1].number};
  }
  int last = -1;
  size_t n = 0, useful = 0;
  bool arithmetic = false;
  for (; n < parts.size(); ++n) {
    const std::optional<TailPart> p = tail_part(*parts[n].op);
    if (!p || *p < last || (*p == last && *p != kFlip)) break;
    last = *p;
    arithmetic |= *p == kRescale || *p == kNormalize || *p == kCast;
    if (arithmetic) useful = n + 1;  // without arithmetic the result would stay uint8
  }
  // Rescale or Normalize alone also gain from the loops over bytes. A TypeCast alone is not fused: its input may be a label.
  const bool alone = useful == 1 && (*tail_part(*parts[0].op) == kRescale || *tail_part(*parts[0].op) == kNormalize);
  if (useful < 2 && !alone) return {};
  return {std::make_shared<FusedTailOp>(parts.first(useful)), useful, parts[0].number};
}

}  // namespace sindri::dataset
