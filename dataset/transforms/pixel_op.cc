// Wraps a function on cv::Mat as an operation: checks, memory, other float types.
#include "dataset/transforms/pixel_op.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstring>

#include "dataset/transforms/vision_ops.h"

namespace sindri::dataset {

namespace {

constexpr int64_t kMaxImageSide = 32767;  // OpenCV stores pixel coordinates of a warp in 16 bits

bool is_float_image(DType t) { return t == DType::kFloat32 || t == DType::kFloat64 || t == DType::kFloat16 || t == DType::kBFloat16; }

class PixelOp : public RowOp {
 public:
  PixelOp(PixelRules rules, PixelFunction function) : rules_(std::move(rules)), function_(std::move(function)) {}
  std::string str() const override { return fmt::format("{}({})", rules_.who, rules_.parameters); }
  bool random() const override { return rules_.random; }

  std::vector<ColumnInfo> infer(std::span<const ColumnInfo> in) const override {
    ColumnInfo c = in[0];
    if (c.dtype_known && !takes(c.dtype)) throw DTypeError(type_message(c.dtype), "", type_fix());
    if (!c.rank_known) return {c};
    if (rules_.batches && is_batch(c.shape)) return infer_each(*this, c);
    if (!takes_shape(c.shape)) throw ShapeError(shape_message(c.shape), "", c.shape.rank() == 1 ? "put Decode before it" : "put it before HWC2CHW and batch()");
    const PixelDims d = result_dims(dims_of(c.shape));
    c.shape = d.channels == 0 ? Shape{d.height, d.width} : Shape{d.height, d.width, d.channels};
    return {c};
  }

  void run(RowCall& call) const override {
    single_threaded_opencv();
    const Value& in = call.inputs[0];
    if (!takes(in.dtype)) throw BadSample(type_message(in.dtype), "", type_fix());
    if (rules_.batches && is_batch(in.shape)) return run_each(*this, call);
    if (!takes_shape(in.shape) || in.shape.numel() == 0) throw BadSample(shape_message(in.shape), "", "put Decode before it");
    const PixelDims d = dims_of(in.shape);
    if (d.height > kMaxImageSide || d.width > kMaxImageSide)
      throw BadSample(fmt::format("{}: the image is {}, expected at most {} pixels a side", rules_.who, value_str(in), kMaxImageSide));
    const bool direct = in.dtype == DType::kUInt8 || in.dtype == DType::kFloat32;
    const uint8_t* pixels = direct ? in.data : to_float32(call, in);
    PhiloxSequence draws = call.draws();
    try {
      const cv::Mat from = mat_of(pixels, d, in.dtype);
      if (rules_.size_is_drawn) return run_sized_by_function(call, from, d, draws);
      const PixelDims r = result_dims(d);
      if (r.height < 1 || r.width < 1 || r.height > kMaxImageSide || r.width > kMaxImageSide)
        throw BadSample(fmt::format("{}: the result would have {} x {} pixels, expected 1 to {} a side", rules_.who, r.height, r.width, kMaxImageSide));
      const Shape shape = r.channels == 0 ? Shape{r.height, r.width} : Shape{r.height, r.width, r.channels};
      uint8_t* const memory = direct ? call.output(0, in.dtype, shape) : call.scratch.arena.allocate(shape.numel() * 4);
      cv::Mat to = mat_of(memory, r, in.dtype);
      if (!function_(from, to, draws)) return call.forward(0, in);
      if (to.data != memory) throw InternalError(fmt::format("{}: the result was not written to the given memory", rules_.who));
      if (!direct) from_float32(call, memory, in.dtype, shape);
    } catch (const cv::Exception& e) { throw BadSample(fmt::format("{}: {}", rules_.who, e.what())); }
  }

 private:
  bool takes(DType t) const { return t == DType::kUInt8 || (!rules_.bytes_only && is_float_image(t)); }
  bool takes_shape(const Shape& s) const {
    if (s.rank() != 2 && s.rank() != 3) return false;
    const int64_t c = s.rank() == 2 ? 1 : s[2];
    if (c < 0) return true;  // not known yet
    if (rules_.channels.empty()) return c >= 1 && c <= 4;
    return std::find(rules_.channels.begin(), rules_.channels.end(), static_cast<int>(c)) != rules_.channels.end();
  }
  std::string type_message(DType t) const {
    return fmt::format("{}: the image is {}, expected uint8{}", rules_.who, dtype_name(t), rules_.bytes_only ? "" : " or floats");
  }
  static const char* type_fix() { return "put it before Rescale, Normalize and ToTensor, or TypeCast before it"; }
  std::string shape_message(const Shape& s) const {
    const std::string channels = rules_.channels.empty() ? std::string("1 to 4") : fmt::format("{}", fmt::join(rules_.channels, " or "));
    return fmt::format("{}: the image has shape {}, expected [H, W] or [H, W, C] with {} channels", rules_.who, s.str(), channels);
  }
  static PixelDims dims_of(const Shape& s) { return {s[0], s[1], s.rank() == 3 ? s[2] : 0}; }
  PixelDims result_dims(const PixelDims& d) const {
    if (rules_.size_is_drawn) return {-1, -1, d.channels};
    return rules_.size ? rules_.size(d) : d;
  }
  static cv::Mat mat_of(const uint8_t* data, const PixelDims& d, DType dtype) {
    const int channels = std::max(1, static_cast<int>(d.channels));
    return {static_cast<int>(d.height), static_cast<int>(d.width), CV_MAKETYPE(dtype == DType::kUInt8 ? CV_8U : CV_32F, channels), const_cast<uint8_t*>(data)};
  }
  static const uint8_t* to_float32(RowCall& call, const Value& in) {
    const int64_t n = in.shape.numel();
    float* const out = reinterpret_cast<float*>(call.scratch.arena.allocate(n * 4));
    dispatch_dtype(in.dtype, [&]<class T>() {
      for (int64_t i = 0; i < n; ++i) out[i] = static_cast<float>(reinterpret_cast<const T*>(in.data)[i]);
    });
    return reinterpret_cast<const uint8_t*>(out);
  }
  static void from_float32(RowCall& call, const uint8_t* pixels, DType dtype, const Shape& shape) {
    uint8_t* const out = call.output(0, dtype, shape);
    const int64_t n = shape.numel();
    dispatch_dtype(dtype, [&]<class T>() {
      for (int64_t i = 0; i < n; ++i) reinterpret_cast<T*>(out)[i] = static_cast<T>(reinterpret_cast<const float*>(pixels)[i]);
    });
  }

  // The result is allocated by OpenCV, then copied.
  void run_sized_by_function(RowCall& call, const cv::Mat& from, const PixelDims& d, PhiloxSequence& draws) const {
    const Value& in = call.inputs[0];
    cv::Mat to;
    if (!function_(from, to, draws)) return call.forward(0, in);
    if (!to.isContinuous()) to = to.clone();
    const Shape shape = d.channels == 0 ? Shape{to.rows, to.cols} : Shape{to.rows, to.cols, d.channels};
    if (in.dtype != DType::kUInt8 && in.dtype != DType::kFloat32) return from_float32(call, to.data, in.dtype, shape);
    uint8_t* const out = call.output(0, in.dtype, shape);
    std::memcpy(out, to.data, to.total() * to.elemSize());
  }

  PixelRules rules_;
  PixelFunction function_;
};

}  // namespace

Transform pixel_transform(PixelRules rules, PixelFunction function) { return Transform(std::make_shared<PixelOp>(std::move(rules), std::move(function))); }

}  // namespace sindri::dataset
