// JPEG by libjpeg-turbo and PNG by libpng, with the settings of OpenCV's writers, which MindSpore calls. Errors of the libraries leave
// functions here by longjmp; those functions hold no C++ objects.
#include "dataset/codec/encode.h"

#include <fmt/format.h>
#include <png.h>
#include <zlib.h>

#include <csetjmp>
#include <cstdio>
#include <cstdlib>

#include <jpeglib.h>  // needs <cstdio> before it

#include "sindri/core/error.h"

namespace sindri::dataset {

namespace {

struct JpegErrors {
  jpeg_error_mgr base;  // first: libjpeg passes a pointer to it
  std::jmp_buf jump;
  char message[JMSG_LENGTH_MAX];
};

void on_jpeg_error(j_common_ptr info) {
  auto* errors = reinterpret_cast<JpegErrors*>(info->err);
  info->err->format_message(info, errors->message);
  std::longjmp(errors->jump, 1);
}
void on_jpeg_message(j_common_ptr) {}

struct JpegOutput {
  jpeg_compress_struct info{};
  JpegErrors errors{};
  unsigned char* memory = nullptr;
  unsigned long bytes = 0;
  JpegOutput() = default;
  ~JpegOutput() {
    jpeg_destroy_compress(&info);
    std::free(memory);
  }
  JpegOutput(const JpegOutput&) = delete;
  JpegOutput& operator=(const JpegOutput&) = delete;
};

bool write_jpeg_rows(JpegOutput* out, const uint8_t* pixels, ImageSize size, int channels, int quality) {
  jpeg_compress_struct* const info = &out->info;
  info->err = jpeg_std_error(&out->errors.base);
  out->errors.base.error_exit = on_jpeg_error;
  out->errors.base.output_message = on_jpeg_message;
  if (setjmp(out->errors.jump) != 0) return false;
  jpeg_create_compress(info);
  jpeg_mem_dest(info, &out->memory, &out->bytes);
  info->image_width = static_cast<JDIMENSION>(size.width);
  info->image_height = static_cast<JDIMENSION>(size.height);
  info->input_components = channels;
  info->in_color_space = channels == 1 ? JCS_GRAYSCALE : JCS_RGB;
  jpeg_set_defaults(info);
  jpeg_set_quality(info, quality, TRUE);
  jpeg_start_compress(info, TRUE);
  const size_t stride = static_cast<size_t>(size.width) * static_cast<size_t>(channels);
  while (info->next_scanline < info->image_height) {
    JSAMPROW row = const_cast<JSAMPROW>(pixels + info->next_scanline * stride);  // read only
    jpeg_write_scanlines(info, &row, 1);
  }
  jpeg_finish_compress(info);
  return true;
}

struct PngOutput {
  std::vector<uint8_t> file;
  char message[160] = "out of memory";
};

void on_png_error(png_structp png, png_const_charp message) {
  std::snprintf(static_cast<PngOutput*>(png_get_error_ptr(png))->message, sizeof PngOutput::message, "%s", message);
  png_longjmp(png, 1);
}
void on_png_warning(png_structp, png_const_charp) {}

// Exceptions must not pass through the library, which is C.
bool append(std::vector<uint8_t>* file, const uint8_t* data, size_t n) noexcept {
  try {
    file->insert(file->end(), data, data + n);
    return true;
  } catch (...) { return false; }
}
void on_png_bytes(png_structp png, png_bytep data, size_t n) {
  if (!append(&static_cast<PngOutput*>(png_get_io_ptr(png))->file, data, n)) png_error(png, "out of memory");
}
void on_png_flush(png_structp) {}

bool write_png_rows(png_structp png, png_infop info, const uint8_t* pixels, ImageSize size, int channels, int level) {
  if (setjmp(png_jmpbuf(png)) != 0) return false;
  png_set_compression_level(png, level);
  png_set_compression_strategy(png, Z_RLE);
  png_set_IHDR(png, info, static_cast<png_uint_32>(size.width), static_cast<png_uint_32>(size.height), 8,
               channels == 1 ? PNG_COLOR_TYPE_GRAY : PNG_COLOR_TYPE_RGB, PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
  png_write_info(png, info);
  const size_t stride = static_cast<size_t>(size.width) * static_cast<size_t>(channels);
  for (int64_t y = 0; y < size.height; ++y) png_write_row(png, pixels + static_cast<size_t>(y) * stride);
  png_write_end(png, info);
  return true;
}

}  // namespace

std::vector<uint8_t> make_jpeg(const uint8_t* pixels, ImageSize size, int channels, int quality) {
  JpegOutput out;
  if (!write_jpeg_rows(&out, pixels, size, channels, quality)) {
    out.memory = nullptr;  // may be a buffer that the library has replaced by a larger one
    throw InternalError(fmt::format("libjpeg cannot encode: {}", out.errors.message));
  }
  return {out.memory, out.memory + out.bytes};
}

std::vector<uint8_t> make_png(const uint8_t* pixels, ImageSize size, int channels, int level) {
  PngOutput out;
  png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, &out, on_png_error, on_png_warning);
  png_infop info = png != nullptr ? png_create_info_struct(png) : nullptr;
  bool whole = false;
  if (info != nullptr) {
    png_set_write_fn(png, &out, on_png_bytes, on_png_flush);
    whole = write_png_rows(png, info, pixels, size, channels, level);
  }
  png_destroy_write_struct(&png, &info);
  if (!whole) throw InternalError(fmt::format("libpng cannot encode: {}", out.message));
  return std::move(out.file);
}

}  // namespace sindri::dataset
