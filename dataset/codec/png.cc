// PNG by libpng. Its errors leave functions here by longjmp; those functions hold no C++ objects.
#include <png.h>

#include <bit>
#include <csetjmp>
#include <cstdio>
#include <cstring>

#include "dataset/codec/decode.h"

namespace sindri::dataset {

namespace {

struct PngInput {
  const uint8_t* data;
  size_t left;
  char message[160];
};

void on_error(png_structp png, png_const_charp message) {
  std::snprintf(static_cast<PngInput*>(png_get_error_ptr(png))->message, sizeof PngInput::message, "%s", message);
  png_longjmp(png, 1);
}
void on_warning(png_structp, png_const_charp) {}  // odd chunks that do not affect the image

void read(png_structp png, png_bytep out, size_t bytes) {
  PngInput* in = static_cast<PngInput*>(png_get_io_ptr(png));
  if (bytes > in->left) png_error(png, "the file ends within the image");
  std::memcpy(out, in->data, bytes);
  in->data += bytes;
  in->left -= bytes;
}

bool read_rows(png_structp png, png_infop info, ImageSize size, PixelForm form, uint8_t* out) {
  if (setjmp(png_jmpbuf(png)) != 0) return false;
  png_read_info(png, info);
  if (png_get_image_width(png, info) != size.width || png_get_image_height(png, info) != size.height) png_error(png, "two sizes in one file");
  if (png_get_bit_depth(png, info) == 16) {
    if (form.bytes == 1) png_set_strip_16(png);
    else if constexpr (std::endian::native == std::endian::little) png_set_swap(png);
  }
  png_set_strip_alpha(png);
  if (png_get_color_type(png, info) == PNG_COLOR_TYPE_PALETTE) png_set_palette_to_rgb(png);
  if ((png_get_color_type(png, info) & PNG_COLOR_MASK_COLOR) == 0) {
    if (png_get_bit_depth(png, info) < 8) png_set_expand_gray_1_2_4_to_8(png);
    if (form.channels == 3) png_set_gray_to_rgb(png);
  } else if (form.channels == 1) {
    png_set_rgb_to_gray(png, PNG_ERROR_ACTION_NONE, 0.299, 0.587);
  }
  const int passes = png_set_interlace_handling(png);
  png_read_update_info(png, info);
  const size_t stride = static_cast<size_t>(size.width) * static_cast<size_t>(form.channels * form.bytes);
  if (png_get_rowbytes(png, info) != stride) png_error(png, "an unsupported colour form");
  for (int pass = 0; pass < passes; ++pass) {
    for (int64_t y = 0; y < size.height; ++y) png_read_row(png, out + static_cast<size_t>(y) * stride, nullptr);
  }
  png_read_end(png, nullptr);
  return true;
}

}  // namespace

PixelForm png_form(const uint8_t* data, int64_t bytes) {
  if (bytes < 26) throw_damaged("PNG", "the file ends within its header");
  return {data[25] == PNG_COLOR_TYPE_GRAY ? 1 : 3, data[24] == 16 ? 2 : 1};
}

void decode_png(const uint8_t* data, int64_t bytes, ImageSize size, PixelForm form, uint8_t* out) {
  PngInput in{data, static_cast<size_t>(bytes), "out of memory"};
  png_structp png = png_create_read_struct(PNG_LIBPNG_VER_STRING, &in, on_error, on_warning);
  png_infop info = png != nullptr ? png_create_info_struct(png) : nullptr;
  bool whole = false;
  if (info != nullptr) {
    png_set_read_fn(png, &in, read);
    whole = read_rows(png, info, size, form, out);
  }
  png_destroy_read_struct(&png, &info, nullptr);
  if (!whole) throw_damaged("PNG", in.message);
}

}  // namespace sindri::dataset
