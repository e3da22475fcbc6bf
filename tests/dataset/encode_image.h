// Image files for tests, written by the formats' libraries with the settings of OpenCV's writers: cv::Mat, BGR or grey, to bytes.
#pragma once

#include <png.h>
#include <tiffio.h>
#include <webp/encode.h>

#include <cstdio>  // jpeglib.h needs it
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <opencv2/core.hpp>
#include <stdexcept>
#include <string>
#include <vector>

#include <jpeglib.h>

namespace sindri::dataset {

/// Rows of RGB (or grey) bytes of a BGR (or grey) image.
inline std::vector<uint8_t> rgb_bytes(const cv::Mat& m) {
  const int c = m.channels();
  std::vector<uint8_t> out(m.total() * static_cast<size_t>(c));
  for (size_t i = 0; i < m.total(); ++i)
    for (int k = 0; k < c; ++k)
      out[i * static_cast<size_t>(c) + static_cast<size_t>(k)] = m.data[i * static_cast<size_t>(c) + static_cast<size_t>(c == 1 ? k : c - 1 - k)];
  return out;
}

inline std::vector<uint8_t> encode_jpeg(const cv::Mat& m, int quality = 95, bool progressive = false) {
  jpeg_compress_struct info{};
  jpeg_error_mgr error{};
  info.err = jpeg_std_error(&error);
  jpeg_create_compress(&info);
  unsigned char* memory = nullptr;
  unsigned long size = 0;
  jpeg_mem_dest(&info, &memory, &size);
  info.image_width = static_cast<JDIMENSION>(m.cols);
  info.image_height = static_cast<JDIMENSION>(m.rows);
  info.input_components = m.channels();
  info.in_color_space = m.channels() == 1 ? JCS_GRAYSCALE : JCS_RGB;
  jpeg_set_defaults(&info);
  jpeg_set_quality(&info, quality, TRUE);
  if (progressive) jpeg_simple_progression(&info);
  jpeg_start_compress(&info, TRUE);
  std::vector<uint8_t> rows = rgb_bytes(m);
  while (info.next_scanline < info.image_height) {
    JSAMPROW row = &rows[static_cast<size_t>(info.next_scanline) * info.image_width * static_cast<size_t>(m.channels())];
    jpeg_write_scanlines(&info, &row, 1);
  }
  jpeg_finish_compress(&info);
  std::vector<uint8_t> bytes(memory, memory + size);
  jpeg_destroy_compress(&info);
  std::free(memory);
  return bytes;
}

struct PngForm {
  int color_type = PNG_COLOR_TYPE_RGB, bits = 8;
  bool interlaced = false;
  int palette = 0;  // number of its colours: index i is (i, 2 i, 255 - i)
};
/// `rows` as PNG stores them: big-endian, packed.
inline std::vector<uint8_t> encode_png(int height, int width, const PngForm& form, const std::vector<uint8_t>& rows) {
  std::vector<uint8_t> out;
  png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, nullptr, nullptr, nullptr);
  png_infop info = png_create_info_struct(png);
  png_set_write_fn(
      png, &out,
      [](png_structp p, png_bytep data, size_t n) {
        auto* to = static_cast<std::vector<uint8_t>*>(png_get_io_ptr(p));
        to->insert(to->end(), data, data + n);
      },
      nullptr);
  png_set_IHDR(png, info, static_cast<uint32_t>(width), static_cast<uint32_t>(height), form.bits, form.color_type,
               form.interlaced ? PNG_INTERLACE_ADAM7 : PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
  std::vector<png_color> palette;
  for (int i = 0; i < form.palette; ++i) palette.push_back({static_cast<uint8_t>(i), static_cast<uint8_t>(2 * i), static_cast<uint8_t>(255 - i)});
  if (form.palette > 0) png_set_PLTE(png, info, palette.data(), form.palette);
  png_write_info(png, info);
  const size_t stride = rows.size() / static_cast<size_t>(height);
  std::vector<png_bytep> pointers;
  for (int y = 0; y < height; ++y) pointers.push_back(const_cast<png_bytep>(&rows[static_cast<size_t>(y) * stride]));
  png_write_image(png, pointers.data());
  png_write_end(png, nullptr);
  png_destroy_write_struct(&png, &info);
  return out;
}

/// Lossless.
inline std::vector<uint8_t> encode_webp(const cv::Mat& m) {
  uint8_t* memory = nullptr;
  const std::vector<uint8_t> rows = rgb_bytes(m);
  const size_t n = WebPEncodeLosslessRGB(rows.data(), m.cols, m.rows, m.cols * 3, &memory);
  std::vector<uint8_t> out(memory, memory + n);
  WebPFree(memory);
  return out;
}

struct TiffForm {
  int bits = 8, photometric = PHOTOMETRIC_RGB, compression = COMPRESSION_LZW, rows_per_strip = 4, sample_format = SAMPLEFORMAT_UINT;
};
/// `rows` as TIFF stores them, in this machine's byte order; the number of channels follows from their length.
inline std::vector<uint8_t> encode_tiff(int height, int width, const TiffForm& form, std::vector<uint8_t> rows) {
  char name[] = "/tmp/sindri-tiff-XXXXXX";
  const int file = ::mkstemp(name);
  if (file < 0) throw std::runtime_error("mkstemp failed");
  TIFF* tiff = TIFFFdOpen(file, name, "w");
  const size_t stride = rows.size() / static_cast<size_t>(height);
  TIFFSetField(tiff, TIFFTAG_IMAGEWIDTH, width);
  TIFFSetField(tiff, TIFFTAG_IMAGELENGTH, height);
  TIFFSetField(tiff, TIFFTAG_BITSPERSAMPLE, form.bits);
  TIFFSetField(tiff, TIFFTAG_SAMPLESPERPIXEL, static_cast<int>(stride * 8 / static_cast<size_t>(form.bits * width)));
  TIFFSetField(tiff, TIFFTAG_SAMPLEFORMAT, form.sample_format);
  TIFFSetField(tiff, TIFFTAG_PHOTOMETRIC, form.photometric);
  TIFFSetField(tiff, TIFFTAG_PLANARCONFIG, PLANARCONFIG_CONTIG);
  TIFFSetField(tiff, TIFFTAG_COMPRESSION, form.compression);
  TIFFSetField(tiff, TIFFTAG_ROWSPERSTRIP, form.rows_per_strip);
  for (int y = 0; y < height; ++y) TIFFWriteScanline(tiff, &rows[static_cast<size_t>(y) * stride], static_cast<uint32_t>(y), 0);
  TIFFClose(tiff);
  std::ifstream in(name, std::ios::binary);
  std::vector<uint8_t> out{std::istreambuf_iterator<char>(in), {}};
  std::remove(name);
  return out;
}

/// Header, palette and rows as given; rows consist of whole 32-bit words, the last row first.
inline std::vector<uint8_t> encode_bmp(int height, int width, int bits, uint32_t compression, const std::vector<uint8_t>& palette,
                                       const std::vector<uint8_t>& rows) {
  std::vector<uint8_t> out{'B', 'M'};
  const auto put = [&](uint32_t v, int n) {
    for (int i = 0; i < n; ++i) out.push_back(static_cast<uint8_t>(v >> (8 * i)));
  };
  put(static_cast<uint32_t>(54 + palette.size() + rows.size()), 4);
  put(0, 4);
  put(static_cast<uint32_t>(54 + palette.size()), 4);
  put(40, 4);
  put(static_cast<uint32_t>(width), 4);
  put(static_cast<uint32_t>(height), 4);
  put(1, 2);
  put(static_cast<uint32_t>(bits), 2);
  put(compression, 4);
  for (int i = 0; i < 5; ++i) put(0, 4);
  out.insert(out.end(), palette.begin(), palette.end());
  out.insert(out.end(), rows.begin(), rows.end());
  return out;
}
inline std::vector<uint8_t> encode_bmp(const cv::Mat& m) {
  const size_t row = static_cast<size_t>(m.cols) * 3, stride = (row + 3) / 4 * 4;
  std::vector<uint8_t> rows(stride * static_cast<size_t>(m.rows));
  for (int y = 0; y < m.rows; ++y) std::memcpy(&rows[static_cast<size_t>(m.rows - 1 - y) * stride], m.ptr(y), row);
  return encode_bmp(m.rows, m.cols, 24, 0, {}, rows);
}

/// The format follows from the file name's suffix: .jpg (grey or colour), .png, .webp, .tiff, .bmp (colour).
inline std::vector<uint8_t> encoded(const cv::Mat& m, const std::string& suffix = ".jpg") {
  if (suffix == ".jpg") return encode_jpeg(m);
  if (suffix == ".png") return encode_png(m.rows, m.cols, {.color_type = m.channels() == 1 ? PNG_COLOR_TYPE_GRAY : PNG_COLOR_TYPE_RGB}, rgb_bytes(m));
  if (suffix == ".webp") return encode_webp(m);
  if (suffix == ".tiff") return encode_tiff(m.rows, m.cols, {}, rgb_bytes(m));
  if (suffix == ".bmp") return encode_bmp(m);
  throw std::runtime_error("no writer of " + suffix + " files");
}
inline void write_image(const std::string& path, const cv::Mat& m) {
  const std::vector<uint8_t> file = encoded(m, path.substr(path.rfind('.')));
  std::ofstream out(path, std::ios::binary);
  out.write(reinterpret_cast<const char*>(file.data()), static_cast<std::streamsize>(file.size()));
  if (!out) throw std::runtime_error("cannot write " + path);
}

}  // namespace sindri::dataset
