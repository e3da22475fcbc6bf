// libjpeg reports errors by calling error_exit, which must not return: it jumps out of functions here that hold no C++ objects.
#include "dataset/codec/jpeg.h"

#include <fmt/format.h>

#include <algorithm>
#include <csetjmp>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <vector>

#include <jerror.h>
#include <jpeglib.h>  // needs <cstdio> and <cstddef> before it

#include "sindri/dataset/dataset.h"

namespace sindri::dataset {

namespace {

struct ErrorManager {
  jpeg_error_mgr base;  // first: libjpeg hands out a pointer to it
  std::jmp_buf jump;
  char message[JMSG_LENGTH_MAX];
  int64_t harmless;  // warnings that leave the picture whole
};

ErrorManager& manager(j_common_ptr info) { return *reinterpret_cast<ErrorManager*>(info->err); }

void error_exit(j_common_ptr info) {
  info->err->format_message(info, manager(info).message);
  std::longjmp(manager(info).jump, 1);
}

// Where data is missing or wrong the library would fill with grey and go on: such warnings end the decode. Those that leave the
// picture whole (stray bytes before a marker, odd header fields) are counted.
void emit_message(j_common_ptr info, int level) {
  if (level >= 0) return;
  switch (info->err->msg_code) {
    case JWRN_EXTRANEOUS_DATA:
    case JWRN_ADOBE_XFORM:
    case JWRN_JFIF_MAJOR:
    case JWRN_BOGUS_ICC: ++manager(info).harmless; return;
    default: error_exit(info);
  }
}

void output_message(j_common_ptr) {}

}  // namespace

struct JpegDecoder::State {
  jpeg_decompress_struct info{};
  ErrorManager error{};
  std::vector<uint8_t> cmyk_row;
};

namespace {

bool read_header(jpeg_decompress_struct* info, ErrorManager* error, const uint8_t* data, size_t bytes) {
  if (setjmp(error->jump) != 0) return false;
  jpeg_abort_decompress(info);
  jpeg_mem_src(info, data, bytes);
  jpeg_read_header(info, TRUE);
  return true;
}

// R = K * C / 255 for Adobe's inverted CMYK, (255 - C)(255 - K) / 255 otherwise.
void cmyk_to_rgb(const uint8_t* in, uint8_t* out, int64_t width, bool inverted) {
  for (int64_t x = 0; x < width; ++x) {
    const int k = inverted ? in[4 * x + 3] : 255 - in[4 * x + 3];
    for (int c = 0; c < 3; ++c) {
      const int v = inverted ? in[4 * x + c] : 255 - in[4 * x + c];
      out[3 * x + c] = static_cast<uint8_t>(v * k / 255);
    }
  }
}

bool read_rows(jpeg_decompress_struct* info, ErrorManager* error, uint8_t* rgb, uint8_t* cmyk_row) {
  if (setjmp(error->jump) != 0) return false;
  const bool cmyk = cmyk_row != nullptr;
  info->out_color_space = cmyk ? JCS_CMYK : JCS_RGB;
  info->dct_method = JDCT_ISLOW;
  info->do_fancy_upsampling = TRUE;
  jpeg_start_decompress(info);
  const size_t stride = static_cast<size_t>(info->output_width) * 3;
  while (info->output_scanline < info->output_height) {
    const JDIMENSION y = info->output_scanline;
    if (cmyk) {
      JSAMPROW row = cmyk_row;
      jpeg_read_scanlines(info, &row, 1);
      cmyk_to_rgb(cmyk_row, rgb + y * stride, info->output_width, info->saw_Adobe_marker != 0);
    } else {
      JSAMPROW rows[8];
      JDIMENSION n = 0;
      for (; n < 8 && y + n < info->output_height; ++n) rows[n] = rgb + (y + n) * stride;
      jpeg_read_scanlines(info, rows, n);
    }
  }
  jpeg_finish_decompress(info);
  return true;
}

// Columns of the box were rounded to whole iMCUs already, so jpeg_crop_scanline changes neither left nor width. The skip begins at row 0,
// an iMCU boundary, and ends on one.
bool read_box(jpeg_decompress_struct* info, ErrorManager* error, const JpegDecoder::Box* box, uint8_t* rgb) {
  if (setjmp(error->jump) != 0) return false;
  info->out_color_space = JCS_RGB;
  info->dct_method = JDCT_ISLOW;
  info->do_fancy_upsampling = TRUE;
  jpeg_start_decompress(info);
  JDIMENSION left = static_cast<JDIMENSION>(box->left), width = static_cast<JDIMENSION>(box->width);
  if (box->left > 0 || box->width < info->output_width) jpeg_crop_scanline(info, &left, &width);
  if (left != box->left || width != box->width) ERREXIT(info, JERR_WIDTH_OVERFLOW);
  if (box->top > 0) jpeg_skip_scanlines(info, static_cast<JDIMENSION>(box->top));
  const size_t stride = static_cast<size_t>(box->width) * 3;
  for (int64_t y = 0; y < box->height;) {
    JSAMPROW rows[8];
    JDIMENSION n = 0;
    for (; n < 8 && y + n < box->height; ++n) rows[n] = rgb + static_cast<size_t>(y + n) * stride;
    y += jpeg_read_scanlines(info, rows, n);
  }
  jpeg_abort_decompress(info);
  return true;
}

}  // namespace

JpegDecoder::JpegDecoder() : state_(std::make_unique<State>()) {
  state_->info.err = jpeg_std_error(&state_->error.base);
  state_->error.base.error_exit = error_exit;
  state_->error.base.emit_message = emit_message;
  state_->error.base.output_message = output_message;
  if (setjmp(state_->error.jump) != 0) throw InternalError(fmt::format("libjpeg cannot start: {}", state_->error.message));
  jpeg_create_decompress(&state_->info);
}

JpegDecoder::~JpegDecoder() { jpeg_destroy_decompress(&state_->info); }

ImageSize JpegDecoder::open(const uint8_t* data, int64_t bytes) {
  state_->error.harmless = 0;
  if (!read_header(&state_->info, &state_->error, data, static_cast<size_t>(bytes)))
    throw BadSample(fmt::format("damaged JPEG: {}", state_->error.message), "", "replace the file, or set data.on_corrupt: replace");
  const ImageSize size{state_->info.image_height, state_->info.image_width};
  if (size.height * size.width > kMaxPixels)
    throw BadSample(fmt::format("the image has {} x {} pixels, the limit is 64 million", size.width, size.height), "", "make the picture smaller");
  return size;
}

void JpegDecoder::decode(uint8_t* rgb, int64_t* warnings) {
  const bool cmyk = state_->info.num_components == 4;
  if (cmyk) state_->cmyk_row.resize(static_cast<size_t>(state_->info.image_width) * 4);
  if (!read_rows(&state_->info, &state_->error, rgb, cmyk ? state_->cmyk_row.data() : nullptr))
    throw BadSample(fmt::format("damaged JPEG: {}", state_->error.message), "", "replace the file, or set data.on_corrupt: replace");
  *warnings += state_->error.harmless;
}

JpegDecoder::Box JpegDecoder::window_box(int64_t top, int64_t left, int64_t height, int64_t width) const {
  const jpeg_decompress_struct& info = state_->info;
  if (info.progressive_mode || info.arith_code || (info.num_components != 1 && info.num_components != 3)) return {};
  const int64_t w = info.image_width, mcu_h = info.max_v_samp_factor * DCTSIZE, mcu_w = info.max_h_samp_factor * DCTSIZE;
  // Smoothed chroma at the window's edge needs its neighbours: one iMCU row above, one iMCU column on each side. Below, the library
  // itself reads on as far as it must.
  Box b;
  b.top = std::max<int64_t>(0, top / mcu_h - 1) * mcu_h;
  b.left = std::max<int64_t>(0, left / mcu_w - 1) * mcu_w;
  b.width = std::min(w, ((left + width + mcu_w - 1) / mcu_w + 1) * mcu_w) - b.left;
  b.height = top + height - b.top;
  return b;
}

void JpegDecoder::decode_window(const Box& box, uint8_t* rgb, int64_t* warnings) {
  if (!read_box(&state_->info, &state_->error, &box, rgb))
    throw BadSample(fmt::format("damaged JPEG: {}", state_->error.message), "", "replace the file, or set data.on_corrupt: replace");
  *warnings += state_->error.harmless;
}

}  // namespace sindri::dataset
