// Image files outside a pipeline. Files are decoded directly in the requested form, so that grey uses the format's own luminance.
#include "sindri/dataset/image_files.h"

#include <fmt/format.h>

#include <cstring>
#include <string_view>
#include <utility>
#include <vector>

#include "dataset/codec/decode.h"
#include "dataset/codec/encode.h"
#include "dataset/codec/jpeg.h"
#include "dataset/codec/orientation.h"
#include "dataset/source.h"

namespace sindri::dataset::vision {

namespace {

struct Pixels {
  ImageSize size;
  PixelForm form;
  std::vector<uint8_t> pixels;  // rows of width * channels samples
  int64_t count() const { return size.height * size.width; }
};

Pixels blank(ImageSize size, PixelForm form) {
  return {size, form, std::vector<uint8_t>(static_cast<size_t>(size.height * size.width * form.channels * form.bytes))};
}

// OpenCV's 14-bit weights, rounded.
uint8_t grey_of(int r, int g, int b) { return static_cast<uint8_t>((4899 * r + 9617 * g + 1868 * b + (1 << 13)) >> 14); }

Pixels to_grey(const Pixels& rgb) {
  Pixels out = blank(rgb.size, {1, 1});
  for (size_t i = 0; i < out.pixels.size(); ++i) out.pixels[i] = grey_of(rgb.pixels[3 * i], rgb.pixels[3 * i + 1], rgb.pixels[3 * i + 2]);
  return out;
}

// For images whose three channels are equal.
Pixels one_of_three(const Pixels& rgb) {
  Pixels out = blank(rgb.size, {1, 1});
  for (size_t i = 0; i < out.pixels.size(); ++i) out.pixels[i] = rgb.pixels[3 * i];
  return out;
}

Pixels read_jpeg(const std::vector<uint8_t>& file, ImageReadMode mode) {
  JpegDecoder decoder;
  const ImageSize size = decoder.open(file.data(), static_cast<int64_t>(file.size()));
  const bool cmyk = decoder.components() == 4, grey = mode == ImageReadMode::kGrayscale || (mode == ImageReadMode::kUnchanged && decoder.components() == 1);
  Pixels out = blank(size, {grey && !cmyk ? 1 : 3, 1});
  if (!cmyk) {
    decoder.decode_channels(out.form.channels, out.pixels.data());
    return out;
  }
  std::vector<uint8_t> inks(static_cast<size_t>(out.count()) * 4);
  decoder.decode_channels(4, inks.data());
  const int flip = decoder.inverted() ? 0 : 255;
  for (size_t i = 0; i < inks.size() / 4; ++i) {
    const int k = inks[4 * i + 3] ^ flip;
    for (size_t c = 0; c < 3; ++c) out.pixels[3 * i + c] = static_cast<uint8_t>(k - ((255 - (inks[4 * i + c] ^ flip)) * k >> 8));
  }
  return grey ? to_grey(out) : out;
}

Pixels read_png(const std::vector<uint8_t>& file, ImageSize size, ImageReadMode mode) {
  const int64_t bytes = static_cast<int64_t>(file.size());
  const PixelForm form = mode == ImageReadMode::kUnchanged ? png_form(file.data(), bytes) : PixelForm{mode == ImageReadMode::kColor ? 3 : 1, 1};
  Pixels out = blank(size, form);
  decode_png(file.data(), bytes, size, form, out.pixels.data());
  return out;
}

Pixels read_tiff(const std::vector<uint8_t>& file, ImageSize size, ImageReadMode mode) {
  const int64_t bytes = static_cast<int64_t>(file.size());
  const PixelForm form = tiff_form(file.data(), bytes);
  if (form.bytes > 1 && mode == ImageReadMode::kUnchanged) {
    Pixels out = blank(size, form);
    decode_tiff_samples(file.data(), bytes, size, form, out.pixels.data());
    return out;
  }
  if (form.bytes == 4) throw_unsupported("TIFF", "samples that are floats, which mode UNCHANGED reads");
  Pixels out = blank(size, {3, 1});
  decode_tiff(file.data(), bytes, size, out.pixels.data());
  if (mode == ImageReadMode::kColor || (mode == ImageReadMode::kUnchanged && form.channels == 3)) return out;
  return form.channels == 1 ? one_of_three(out) : to_grey(out);
}

Pixels read_image(const std::vector<uint8_t>& file, ImageReadMode mode) {
  const int64_t bytes = static_cast<int64_t>(file.size());
  if (JpegDecoder::is_jpeg(file.data(), bytes)) return read_jpeg(file, mode);
  const ImageHeader header = check_image_header(file.data(), bytes);
  const std::string_view format = header.format;
  if (format == "PNG") return read_png(file, header.size, mode);
  if (format == "TIFF") return read_tiff(file, header.size, mode);
  Pixels out = blank(header.size, {3, 1});
  decode_rgb(file.data(), bytes, header, out.pixels.data());
  const bool grey = format == "BMP" && bmp_is_grey(file.data(), bytes);
  if (mode == ImageReadMode::kColor || (mode == ImageReadMode::kUnchanged && !grey)) return out;
  return grey ? one_of_three(out) : to_grey(out);
}

// Applies the EXIF orientation: 2 to 4 mirror or rotate, 5 to 8 do the same with rows and columns exchanged.
Pixels turned(Pixels in, int orientation) {
  if (orientation == 1) return in;
  const bool swaps = orientation >= 5;
  Pixels out = blank(swaps ? ImageSize{in.size.width, in.size.height} : in.size, in.form);
  const bool from_right = orientation == 2 || orientation == 3 || orientation == 7 || orientation == 8;
  const bool from_below = orientation == 3 || orientation == 4 || orientation == 6 || orientation == 7;
  const size_t pixel = static_cast<size_t>(in.form.channels * in.form.bytes);
  uint8_t* to = out.pixels.data();
  for (int64_t y = 0; y < out.size.height; ++y) {
    for (int64_t x = 0; x < out.size.width; ++x, to += pixel) {
      int64_t row = swaps ? x : y, column = swaps ? y : x;
      if (from_below) row = in.size.height - 1 - row;
      if (from_right) column = in.size.width - 1 - column;
      std::memcpy(to, &in.pixels[static_cast<size_t>(row * in.size.width + column) * pixel], pixel);
    }
  }
  return out;
}

Tensor to_tensor(const Pixels& p) {
  const Shape shape{p.size.height, p.size.width, p.form.channels};
  if (p.form.bytes == 4) return Tensor::from_data(shape, DType::kFloat32, p.pixels.data());
  if (p.form.bytes == 1) return Tensor::from_data(shape, DType::kUInt8, p.pixels.data());
  Tensor out = Tensor::empty(shape, DType::kInt32);
  int32_t* to = out.mutable_data<int32_t>();
  for (size_t i = 0; i < p.pixels.size() / 2; ++i) {
    uint16_t v;
    std::memcpy(&v, &p.pixels[2 * i], 2);
    to[i] = v;
  }
  return out;
}

// uint8 on the host, contiguous.
Tensor plain_bytes(const Tensor& t, const char* what, const char* who) {
  if (!t.defined()) throw ValueError(fmt::format("{} is an undefined tensor", what), who);
  if (t.dtype() != DType::kUInt8) throw DTypeError(fmt::format("{} must be uint8, got {}", what, dtype_name(t.dtype())), who, "round it and cast it to uint8");
  return t.to(Device{}).contiguous();
}

struct Rows {
  Tensor pixels;
  ImageSize size;
  int channels;
};
Rows rows_of(const Tensor& image, int64_t most, const char* format, const char* who) {
  const Tensor t = plain_bytes(image, "image", who);
  const Shape& s = t.shape();
  const int64_t channels = s.rank() == 3 ? s[2] : 1;
  if ((s.rank() != 2 && s.rank() != 3) || (channels != 1 && channels != 3) || t.numel() == 0)
    throw ShapeError(fmt::format("image must be [H, W], [H, W, 1] or [H, W, 3] with pixels, got {}", s.str()), who);
  if (s[0] > most || s[1] > most)
    throw ShapeError(fmt::format("image has {} x {} pixels, the sides of a {} file are at most {}", s[1], s[0], format, most), who,
                     "make the image smaller, or split it");
  return {t, {s[0], s[1]}, static_cast<int>(channels)};
}

Tensor as_tensor(const std::vector<uint8_t>& bytes) { return Tensor::from_vector({static_cast<int64_t>(bytes.size())}, bytes); }

std::vector<uint8_t> jpeg_of(const Tensor& image, int quality, const char* who) {
  if (quality < 1 || quality > 100) throw ValueError(fmt::format("quality must be from 1 to 100, got {}", quality), who);
  const Rows r = rows_of(image, kMaxJpegSide, "JPEG", who);
  return make_jpeg(r.pixels.data<uint8_t>(), r.size, r.channels, quality);
}
std::vector<uint8_t> png_of(const Tensor& image, int level, const char* who) {
  if (level < 0 || level > 9) throw ValueError(fmt::format("compression_level must be from 0 to 9, got {}", level), who);
  const Rows r = rows_of(image, kMaxPngSide, "PNG", who);
  return make_png(r.pixels.data<uint8_t>(), r.size, r.channels, level);
}

void write(const std::string& path, const std::vector<uint8_t>& file, const char* who) {
  write_plain_file(path, file.data(), static_cast<int64_t>(file.size()), who);
}

}  // namespace

Tensor read_file(const std::string& path) { return as_tensor(read_plain_file(path, "read_file")); }

void write_file(const std::string& path, const Tensor& data) {
  const Tensor t = plain_bytes(data, "data", "write_file");
  if (t.shape().rank() != 1) throw ShapeError(fmt::format("data must be [n], got {}", t.shape().str()), "write_file", "reshape it to one dimension");
  write_plain_file(path, t.data<uint8_t>(), t.numel(), "write_file");
}

Tensor read_image(const std::string& path, ImageReadMode mode) {
  const std::vector<uint8_t> file = read_plain_file(path, "read_image");
  try {
    Pixels p = read_image(file, mode);
    return to_tensor(mode == ImageReadMode::kUnchanged ? p : turned(std::move(p), orientation(file.data(), static_cast<int64_t>(file.size()))));
  } catch (const BadSample& e) {
    const std::string& fix = e.fix();
    throw BadSample(fmt::format("cannot read {}: {}", path, e.message()), "read_image", fix.substr(0, fix.find(", or set data.on_corrupt")));
  }
}

Tensor encode_jpeg(const Tensor& image, int quality) { return as_tensor(jpeg_of(image, quality, "encode_jpeg")); }

Tensor encode_png(const Tensor& image, int compression_level) { return as_tensor(png_of(image, compression_level, "encode_png")); }

void write_jpeg(const std::string& path, const Tensor& image, int quality) { write(path, jpeg_of(image, quality, "write_jpeg"), "write_jpeg"); }

void write_png(const std::string& path, const Tensor& image, int compression_level) { write(path, png_of(image, compression_level, "write_png"), "write_png"); }

}  // namespace sindri::dataset::vision
