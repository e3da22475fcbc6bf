// cv::resize on this library's memory, and the choice of a file's decoder.
#include "dataset/transforms/resize.h"

#include <fmt/format.h>

#include <cstring>
#include <opencv2/core.hpp>
#include <opencv2/imgproc.hpp>

#include "dataset/codec/decode.h"
#include "dataset/codec/image_header.h"
#include "dataset/codec/jpeg.h"

namespace sindri::dataset {

// OpenCV's thread pool would compete with the workers, so each call runs on the calling thread.
void single_threaded_opencv() {
  static const bool done = [] {
    cv::setNumThreads(1);
    return true;
  }();
  (void)done;
}

namespace {

// The depth in which cv::resize processes a type. Integers and half types are converted to float32 and rounded at the end as OpenCV rounds 16-bit
// integers. NEAREST only moves pixels, so it works on their bytes.
int opencv_depth(DType t, vision::Inter inter) {
  if (inter == vision::Inter::kNearest) {
    static constexpr int kBySize[] = {0, CV_8U, CV_16U, 0, CV_32S, 0, 0, 0, CV_64F};
    return kBySize[dtype_size(t)];
  }
  return t == DType::kUInt8 || t == DType::kBool ? CV_8U : t == DType::kFloat64 ? CV_64F : CV_32F;
}

bool passes_as_float32(DType t, vision::Inter inter) {
  return inter != vision::Inter::kNearest && (t == DType::kInt32 || t == DType::kFloat16 || t == DType::kBFloat16);
}

cv::Mat mat(const uint8_t* data, const ImageDims& d, int depth) {
  return {static_cast<int>(d.height), static_cast<int>(d.width), CV_MAKETYPE(depth, static_cast<int>(d.channels)), const_cast<uint8_t*>(data)};
}

const uint8_t* as_float32(const Value& in, Scratch& scratch) {
  const int64_t n = in.shape.numel();
  float* const out = reinterpret_cast<float*>(scratch.arena.allocate(n * 4));
  dispatch_dtype(in.dtype, [&]<class T>() {
    for (int64_t i = 0; i < n; ++i) out[i] = static_cast<float>(reinterpret_cast<const T*>(in.data)[i]);
  });
  return reinterpret_cast<const uint8_t*>(out);
}

void from_float32(const uint8_t* pixels, int64_t n, DType dtype, uint8_t* out) {
  const float* const x = reinterpret_cast<const float*>(pixels);
  if (dtype == DType::kInt32) {
    for (int64_t i = 0; i < n; ++i) reinterpret_cast<int32_t*>(out)[i] = cv::saturate_cast<int>(x[i]);
  } else if (dtype == DType::kFloat16) {
    for (int64_t i = 0; i < n; ++i) reinterpret_cast<float16*>(out)[i] = x[i];
  } else {
    for (int64_t i = 0; i < n; ++i) reinterpret_cast<bfloat16*>(out)[i] = x[i];
  }
}

constexpr int64_t kMostChannels = CV_CN_MAX;

int64_t most_channels(vision::Inter inter) { return inter == vision::Inter::kArea ? 4 : kMostChannels; }

bool resizes(DType t, vision::Inter inter) { return t != DType::kInt64 || inter == vision::Inter::kNearest; }

constexpr const char* kTypeFix = "use NEAREST, or TypeCast before it";

}  // namespace

ImageDims resizable_image(const Value& v, const char* who, vision::Inter inter) {
  const ImageDims d = any_image(v, who);
  if (!resizes(v.dtype, inter))
    throw BadSample(fmt::format("{}: the image is {}, which {} cannot resize", who, dtype_name(v.dtype), inter_name(inter)), "", kTypeFix);
  if (d.channels > most_channels(inter))
    throw BadSample(fmt::format("{}: the image {} has more than {} channels, the most with {}", who, value_str(v), most_channels(inter), inter_name(inter)));
  return d;
}

void check_resizable(const ColumnInfo& c, const char* who, vision::Inter inter) {
  check_any_image(c, who);
  if (c.dtype_known && !resizes(c.dtype, inter))
    throw DTypeError(fmt::format("{}: column '{}' is {}, which {} cannot resize", who, c.name, dtype_name(c.dtype), inter_name(inter)), "", kTypeFix);
  if (c.rank_known && c.shape.rank() == 3 && c.shape[2] > most_channels(inter))
    throw ShapeError(fmt::format("{}: column '{}' has shape {}, more than {} channels", who, c.name, c.shape.str(), most_channels(inter)));
}

const char* inter_name(vision::Inter i) {
  static constexpr const char* kNames[] = {"NEAREST", "LINEAR", "CUBIC", "AREA"};
  return kNames[static_cast<int>(i)];
}

void resize_window(RowCall& call, const ImageDims& d, const Window& w, int64_t height, int64_t width, vision::Inter inter) {
  single_threaded_opencv();
  const Value& in = call.inputs[0];
  Shape shape = in.shape;
  shape[0] = height;
  shape[1] = width;
  uint8_t* out = call.output(0, in.dtype, shape);
  static constexpr int kModes[] = {cv::INTER_NEAREST, cv::INTER_LINEAR, cv::INTER_CUBIC, cv::INTER_AREA};
  const bool converted = passes_as_float32(in.dtype, inter);
  const int depth = opencv_depth(in.dtype, inter);
  try {
    const cv::Mat src = mat(converted ? as_float32(in, call.scratch) : in.data, d,
                            depth)(cv::Rect(static_cast<int>(w.left), static_cast<int>(w.top), static_cast<int>(w.width), static_cast<int>(w.height)));
    uint8_t* const memory = converted ? call.scratch.arena.allocate(shape.numel() * 4) : out;
    cv::Mat dst = mat(memory, {height, width, d.channels}, depth);
    cv::resize(src, dst, dst.size(), 0, 0, kModes[static_cast<int>(inter)]);
    if (dst.data != memory) throw InternalError("cv::resize did not write to the given memory");
    if (converted) from_float32(memory, shape.numel(), in.dtype, out);
  } catch (const cv::Exception& e) { throw BadSample(fmt::format("resizing {} x {} to {} x {} failed: {}", w.height, w.width, height, width, e.what())); }
}

namespace {

Value decode_other(const Value& bytes, Scratch& scratch) {
  const ImageHeader header = check_image_header(bytes.data, bytes.nbytes());
  Value v{nullptr, DType::kUInt8, {header.size.height, header.size.width, 3}};
  uint8_t* out = scratch.arena.allocate(v.nbytes());
  decode_rgb(bytes.data, bytes.nbytes(), header, out);
  v.data = out;
  return v;
}

}  // namespace

OpenedImage open_image(const Value& bytes, Scratch& scratch) {
  if (bytes.dtype != DType::kUInt8 || bytes.shape.rank() != 1)
    throw BadSample(fmt::format("Decode: the input is {}, expected file bytes uint8 [n]", value_str(bytes)));
  if (!JpegDecoder::is_jpeg(bytes.data, bytes.nbytes())) {
    ++scratch.counters.decoded_full;
    const Value pixels = decode_other(bytes, scratch);
    return {false, pixels.shape[0], pixels.shape[1], pixels};
  }
  const ImageSize size = scratch.jpeg->open(bytes.data, bytes.nbytes());
  return {true, size.height, size.width, {}};
}

namespace {
Value decode_whole(const OpenedImage& image, Scratch& scratch) {
  if (!image.jpeg) return image.pixels;
  ++scratch.counters.decoded_full;
  Value v{nullptr, DType::kUInt8, {image.height, image.width, 3}};
  uint8_t* out = scratch.arena.allocate(v.nbytes());
  scratch.jpeg->decode(out, &scratch.counters.decode_warnings);
  v.data = out;
  return v;
}
}  // namespace

DecodedWindow decode_window(const OpenedImage& image, int64_t top, int64_t left, int64_t height, int64_t width, Scratch& scratch) {
  JpegDecoder::Box box;
  if (image.jpeg) box = scratch.jpeg->window_box(top, left, height, width);
  if (box.width == 0) return {decode_whole(image, scratch), 0, 0};
  ++scratch.counters.decoded_window;
  Value v{nullptr, DType::kUInt8, {box.height, box.width, 3}};
  uint8_t* out = scratch.arena.allocate(v.nbytes());
  scratch.jpeg->decode_window(box, out, &scratch.counters.decode_warnings);
  v.data = out;
  return {v, box.top, box.left};
}

Value decode_image(const Value& bytes, Scratch& scratch) { return decode_whole(open_image(bytes, scratch), scratch); }

}  // namespace sindri::dataset
