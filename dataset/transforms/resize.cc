// cv::resize on memory of ours, and which decoder reads a file.
#include "dataset/transforms/resize.h"

#include <fmt/format.h>

#include <cstring>
#include <opencv2/core.hpp>
#include <opencv2/imgproc.hpp>

#include "dataset/codec/decode.h"
#include "dataset/codec/image_header.h"
#include "dataset/codec/jpeg.h"

namespace sindri::dataset {

// OpenCV's own pool would compete with our workers; each call runs on the thread that makes it.
void single_threaded_opencv() {
  static const bool done = [] {
    cv::setNumThreads(1);
    return true;
  }();
  (void)done;
}

namespace {

cv::Mat mat(const uint8_t* data, const ImageDims& d, DType dtype) {
  const int type = CV_MAKETYPE(dtype == DType::kUInt8 ? CV_8U : CV_32F, static_cast<int>(d.channels));
  return {static_cast<int>(d.height), static_cast<int>(d.width), type, const_cast<uint8_t*>(data)};
}

}  // namespace

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
  try {
    const cv::Mat src =
        mat(in.data, d, in.dtype)(cv::Rect(static_cast<int>(w.left), static_cast<int>(w.top), static_cast<int>(w.width), static_cast<int>(w.height)));
    cv::Mat dst = mat(out, {height, width, d.channels}, in.dtype);
    cv::resize(src, dst, dst.size(), 0, 0, kModes[static_cast<int>(inter)]);
    if (dst.data != out) throw InternalError("cv::resize did not write to the given memory");
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
