// Transforms that change the element type and the order of dimensions at the end of a chain: ToTensor, NormalizePad.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <vector>

#include "dataset/transforms/tail_simd.h"
#include "dataset/transforms/vision_ops.h"
#include "sindri/dataset/augment.h"

namespace sindri::dataset {

namespace {

class ToTensorOp : public RowOp {
 public:
  explicit ToTensorOp(DType to) : to_(to) {
    if (to != DType::kFloat32 && to != DType::kFloat16 && to != DType::kFloat64)
      throw DTypeError(fmt::format("ToTensor: the type must be float32, float16 or float64, got {}", dtype_name(to)));
  }
  std::string str() const override { return fmt::format("ToTensor({})", dtype_name(to_)); }
  std::vector<ColumnInfo> infer(std::span<const ColumnInfo> in) const override {
    ColumnInfo c = in[0];
    if (c.rank_known && c.shape.rank() != 2 && c.shape.rank() != 3)
      throw ShapeError(fmt::format("ToTensor: column '{}' has shape {}, expected an image [H, W] or [H, W, C]", c.name, c.shape.str()));
    if (c.rank_known) c.shape = c.shape.rank() == 2 ? Shape{1, c.shape[0], c.shape[1]} : Shape{c.shape[2], c.shape[0], c.shape[1]};
    c.dtype = to_;
    c.dtype_known = true;
    return {c};
  }
  void run(RowCall& call) const override {
    const Value& in = call.inputs[0];
    if (in.shape.rank() != 2 && in.shape.rank() != 3)
      throw BadSample(fmt::format("ToTensor: the input is {}, expected an image [H, W] or [H, W, C]", value_str(in)), "", "put Decode before it");
    const int64_t h = in.shape[0], w = in.shape[1], c = in.shape.rank() == 3 ? in.shape[2] : 1;
    uint8_t* const out = call.output(0, to_, {c, h, w});
    if (in.dtype == DType::kUInt8 && to_ == DType::kFloat32 && (c == 1 || c == 3))
      return bytes_to_float32(call, in.data, h, w, c, reinterpret_cast<float*>(out));
    dispatch_dtype(in.dtype, [&]<class From>() {
      const From* x = reinterpret_cast<const From*>(in.data);
      dispatch_dtype(to_, [&]<class To>() {
        To* y = reinterpret_cast<To*>(out);
        for (int64_t k = 0; k < c; ++k) {
          for (int64_t i = 0; i < h * w; ++i) y[k * h * w + i] = static_cast<To>(static_cast<float>(x[i * c + k]) * kScale);
        }
      });
    });
  }

 private:
  static constexpr float kScale = 1.0f / 255.0f;
  static void bytes_to_float32(RowCall& call, const uint8_t* x, int64_t h, int64_t w, int64_t c, float* y) {
    const TailArithmetic f{.rescale = true, .normalize = false, .a = kScale, .b = 0, .scale = {}, .bias = {}};
    const int64_t n = tail_rows(h, w * c);
    uint8_t* const planes = call.scratch.arena.allocate(n * w * c);
    for (int64_t row = 0; row < h; row += n) {
      const int64_t rows = std::min(n, h - row);
      SINDRI_SIMD_CALL(tail_split)(x + row * w * c, w * c, 1, rows * w, c, planes, rows * w, rows * w);
      for (int64_t k = 0; k < c; ++k) SINDRI_SIMD_CALL(tail_arithmetic_row)(planes + k * rows * w, rows * w, f, k, y + (k * h + row) * w);
    }
  }
  DType to_;
};

class NormalizePadOp : public RowOp {
 public:
  NormalizePadOp(const std::vector<double>& mean, const std::vector<double>& std, DType to, bool hwc)
      : mean_(mean.begin(), mean.end()), std_(std.begin(), std.end()), to_(to), hwc_(hwc) {
    if (mean.empty() || mean.size() != std.size())
      throw ValueError(fmt::format("NormalizePad: mean and std need equal lengths, got {} and {}", mean.size(), std.size()));
    if (to != DType::kFloat32 && to != DType::kFloat16)
      throw DTypeError(fmt::format("NormalizePad: the type must be float32 or float16, got {}", dtype_name(to)));
  }
  std::string str() const override {
    return fmt::format("NormalizePad(({}), ({}), {}, is_hwc={})", fmt::join(mean_, ", "), fmt::join(std_, ", "), dtype_name(to_), hwc_);
  }
  std::vector<ColumnInfo> infer(std::span<const ColumnInfo> in) const override {
    ColumnInfo c = in[0];
    if (c.rank_known) {
      if (c.shape.rank() != 3 || (c.shape[axis()] >= 0 && c.shape[axis()] != channels())) throw ShapeError(message(c.shape));
      c.shape[axis()] = channels() + 1;
    }
    c.dtype = to_;
    c.dtype_known = true;
    return {c};
  }
  void run(RowCall& call) const override {
    const Value& in = call.inputs[0];
    if (in.shape.rank() != 3 || in.shape[axis()] != channels()) throw BadSample(message(in.shape));
    Shape shape = in.shape;
    shape[axis()] = channels() + 1;
    uint8_t* const out = call.output(0, to_, shape);
    const int64_t c = channels(), pixels = in.shape.numel() / c;
    dispatch_dtype(in.dtype, [&]<class From>() {
      const From* x = reinterpret_cast<const From*>(in.data);
      const auto write = [&](auto* y) {
        for (int64_t k = 0; k <= c; ++k) {
          auto* to = hwc_ ? y + k : y + k * pixels;
          const From* from = hwc_ ? x + k : x + k * pixels;
          const int64_t to_step = hwc_ ? c + 1 : 1, from_step = hwc_ ? c : 1;
          using To = std::remove_reference_t<decltype(*to)>;
          if (k == c) {
            for (int64_t i = 0; i < pixels; ++i) to[i * to_step] = static_cast<To>(0.0f);
            continue;
          }
          const float m = mean_[static_cast<size_t>(k)], s = std_[static_cast<size_t>(k)];
          for (int64_t i = 0; i < pixels; ++i) to[i * to_step] = static_cast<To>((static_cast<float>(from[i * from_step]) - m) / s);
        }
      };
      if (to_ == DType::kFloat32) write(reinterpret_cast<float*>(out));
      else write(reinterpret_cast<float16*>(out));
    });
  }

 private:
  int axis() const { return hwc_ ? 2 : 0; }
  int64_t channels() const { return static_cast<int64_t>(mean_.size()); }
  std::string message(const Shape& s) const {
    return fmt::format("NormalizePad: the image has shape {}, an image with {} channels is expected", s.str(), channels());
  }
  std::vector<float> mean_, std_;
  DType to_;
  bool hwc_;
};

}  // namespace

namespace vision {
Transform ToTensor(DType output_type) { return Transform(std::make_shared<ToTensorOp>(output_type)); }
Transform NormalizePad(const std::vector<double>& mean, const std::vector<double>& std, DType output_type, bool is_hwc) {
  return Transform(std::make_shared<NormalizePadOp>(mean, std, output_type, is_hwc));
}
}  // namespace vision

}  // namespace sindri::dataset
