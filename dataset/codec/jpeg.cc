// libjpeg reports errors by calling error_exit, which must not return. It leaves functions here by longjmp; those functions hold no C++ objects.
#include "dataset/codec/jpeg.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <csetjmp>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <vector>

#include <jerror.h>
#include <jpeglib.h>  // needs <cstdio> and <cstddef> before it

#include "dataset/codec/jpeg_entropy.h"
#include "dataset/codec/jpeg_segments.h"
#include "sindri/dataset/dataset.h"

namespace sindri::dataset {

namespace {

struct ErrorManager {
  jpeg_error_mgr base;  // first: libjpeg passes a pointer to it
  std::jmp_buf jump;
  char message[JMSG_LENGTH_MAX];
  int64_t harmless;  // number of warnings that do not affect the image
};

ErrorManager& manager(j_common_ptr info) { return *reinterpret_cast<ErrorManager*>(info->err); }

void error_exit(j_common_ptr info) {
  info->err->format_message(info, manager(info).message);
  std::longjmp(manager(info).jump, 1);
}

// The library fills missing or invalid data with grey and only warns; such warnings end the decode here. Warnings that do not
// affect the image (stray bytes before a marker, odd header fields) are counted.
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
  // The file that open() read, its size, and its restart segments if it has any.
  const uint8_t* data = nullptr;
  size_t bytes = 0;
  bool seekable = false;
  JpegSegments segments;
  JpegEntropy entropy;
};

namespace {

// The standard Huffman tables, which files without tables use (frames of Motion JPEG).
struct UsualCodes {
  std::array<JHUFF_TBL, 2> dc{}, ac{};
  UsualCodes() {
    jpeg_compress_struct info{};
    jpeg_error_mgr errors{};
    info.err = jpeg_std_error(&errors);
    jpeg_create_compress(&info);
    info.in_color_space = JCS_RGB;
    info.input_components = 3;
    jpeg_set_defaults(&info);
    for (size_t i = 0; i < 2; ++i) {
      dc[i] = *info.dc_huff_tbl_ptrs[i];
      ac[i] = *info.ac_huff_tbl_ptrs[i];
    }
    jpeg_destroy_compress(&info);
  }
};

// The library keeps tables from one file to the next, so a file with damaged tables would be decoded with another file's. Resets Huffman tables to
// the standard ones, or none, and quantisation steps to values that has_steps() rejects.
void forget_tables(jpeg_decompress_struct* info) {
  static const UsualCodes usual;
  for (size_t i = 0; i < NUM_HUFF_TBLS; ++i) {
    if (JHUFF_TBL* const t = info->dc_huff_tbl_ptrs[i]; t != nullptr) *t = i < 2 ? usual.dc[i] : JHUFF_TBL{};
    if (JHUFF_TBL* const t = info->ac_huff_tbl_ptrs[i]; t != nullptr) *t = i < 2 ? usual.ac[i] : JHUFF_TBL{};
  }
  for (JQUANT_TBL* const t : info->quant_tbl_ptrs) {
    if (t != nullptr) t->quantval[0] = 0;
  }
}

bool has_steps(const jpeg_decompress_struct& info) {
  for (int i = 0; i < info.num_components; ++i) {
    const int at = info.comp_info[i].quant_tbl_no;
    if (at < 0 || at >= NUM_QUANT_TBLS || info.quant_tbl_ptrs[at] == nullptr || info.quant_tbl_ptrs[at]->quantval[0] == 0) return false;
  }
  return true;
}

bool read_header(jpeg_decompress_struct* info, ErrorManager* error, const uint8_t* data, size_t bytes) {
  if (setjmp(error->jump) != 0) return false;
  jpeg_abort_decompress(info);
  forget_tables(info);
  jpeg_mem_src(info, data, bytes);
  jpeg_read_header(info, TRUE);
  if (!info->progressive_mode && jpeg_has_multiple_scans(info) == 0 && !has_steps(*info)) ERREXIT1(info, JERR_NO_QUANT_TABLE, 0);
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

// part: the location of the scan's data if it does not follow its header.
bool read_rows(JpegDecoder::State* state, const JpegSegments::Part* part, uint8_t* rgb, uint8_t* cmyk_row) {
  if (setjmp(state->error.jump) != 0) return false;
  jpeg_decompress_struct* const info = &state->info;
  const bool cmyk = cmyk_row != nullptr;
  info->out_color_space = cmyk ? JCS_CMYK : JCS_RGB;
  info->dct_method = JDCT_ISLOW;
  info->do_fancy_upsampling = TRUE;
  jpeg_start_decompress(info);
  if (part == nullptr) state->entropy.take_over(info);
  else if (!state->entropy.take_over(info, part->segments)) ERREXIT(info, JERR_CANT_SUSPEND);
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

bool read_channels(JpegDecoder::State* state, int channels, uint8_t* out) {
  if (setjmp(state->error.jump) != 0) return false;
  jpeg_decompress_struct* const info = &state->info;
  info->out_color_space = channels == 1 ? JCS_GRAYSCALE : channels == 4 ? JCS_CMYK : JCS_RGB;
  info->dct_method = JDCT_ISLOW;
  info->do_fancy_upsampling = TRUE;
  jpeg_start_decompress(info);
  state->entropy.take_over(info);
  const size_t stride = static_cast<size_t>(info->output_width) * static_cast<size_t>(channels);
  while (info->output_scanline < info->output_height) {
    JSAMPROW row = out + info->output_scanline * stride;
    jpeg_read_scanlines(info, &row, 1);
  }
  jpeg_finish_decompress(info);
  return true;
}

// The box's columns are whole iMCUs already, so jpeg_crop_scanline changes neither left nor width. The skip starts at row 0, an iMCU boundary, and ends on one.
bool read_box(JpegDecoder::State* state, const JpegDecoder::Box* box, uint8_t* rgb) {
  if (setjmp(state->error.jump) != 0) return false;
  jpeg_decompress_struct* const info = &state->info;
  info->out_color_space = JCS_RGB;
  info->dct_method = JDCT_ISLOW;
  info->do_fancy_upsampling = TRUE;
  jpeg_start_decompress(info);
  state->entropy.take_over(info);
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
  state_->info.client_data = &state_->entropy;
}

JpegDecoder::~JpegDecoder() { jpeg_destroy_decompress(&state_->info); }

ImageSize JpegDecoder::open(const uint8_t* data, int64_t bytes) {
  state_->error.harmless = 0;
  if (!read_header(&state_->info, &state_->error, data, static_cast<size_t>(bytes)))
    throw BadSample(fmt::format("damaged JPEG: {}", state_->error.message), "", "replace the file, or set data.on_corrupt: replace");
  const ImageSize size{state_->info.image_height, state_->info.image_width};
  state_->data = data;
  state_->bytes = static_cast<size_t>(bytes);
  state_->seekable = false;
  if (size.height * size.width > kMaxPixels)
    throw BadSample(fmt::format("the image has {} x {} pixels, the limit is 64 million", size.width, size.height), "", "make the image smaller");
  return size;
}

void JpegDecoder::decode(uint8_t* rgb, int64_t* warnings) {
  const bool cmyk = state_->info.num_components == 4;
  if (cmyk) state_->cmyk_row.resize(static_cast<size_t>(state_->info.image_width) * 4);
  if (!read_rows(state_.get(), nullptr, rgb, cmyk ? state_->cmyk_row.data() : nullptr))
    throw BadSample(fmt::format("damaged JPEG: {}", state_->error.message), "", "replace the file, or set data.on_corrupt: replace");
  *warnings += state_->error.harmless;
}

int JpegDecoder::components() const { return state_->info.num_components; }

bool JpegDecoder::inverted() const { return state_->info.saw_Adobe_marker != 0; }

void JpegDecoder::decode_channels(int channels, uint8_t* out) {
  if (!read_channels(state_.get(), channels, out))
    throw BadSample(fmt::format("damaged JPEG: {}", state_->error.message), "", "replace the file, or set data.on_corrupt: replace");
}

JpegDecoder::Box JpegDecoder::window_box(int64_t top, int64_t left, int64_t height, int64_t width) const {
  const jpeg_decompress_struct& info = state_->info;
  if (info.progressive_mode || info.arith_code || (info.num_components != 1 && info.num_components != 3)) return {};
  const bool segmented = info.restart_interval > 0 && state_->segments.find(state_->data, state_->bytes);
  state_->seekable = segmented && JpegEntropy::serves(&state_->info);
  if (state_->seekable) {
    // Whole segments, with the same margin on all sides.
    const JpegSegments& s = state_->segments;
    const int64_t down = s.mcu_height(), across = s.segment_width();
    Box b;
    b.top = std::max<int64_t>(0, top / down - 1) * down;
    b.left = std::max<int64_t>(0, left - s.mcu_width()) / across * across;
    b.height = std::min<int64_t>(info.image_height, ((top + height + down - 1) / down + 1) * down) - b.top;
    b.width = std::min<int64_t>(info.image_width, (left + width + s.mcu_width() + across - 1) / across * across) - b.left;
    return b;
  }
  // If segments are missing, later ones are decoded to the wrong place, which is detected only at the end of the image: decode all of it.
  if (info.restart_interval > 0 && !state_->segments.complete())
    return {.top = 0, .left = 0, .height = static_cast<int64_t>(info.image_height), .width = static_cast<int64_t>(info.image_width)};
  const int64_t w = info.image_width, mcu_h = info.max_v_samp_factor * DCTSIZE, mcu_w = info.max_h_samp_factor * DCTSIZE;
  // Smoothed chroma at the window's edge needs its neighbours: one iMCU row above and one iMCU column on each side. Below the
  // window the library reads as far as it needs.
  Box b;
  b.top = std::max<int64_t>(0, top / mcu_h - 1) * mcu_h;
  b.left = std::max<int64_t>(0, left / mcu_w - 1) * mcu_w;
  b.width = std::min(w, ((left + width + mcu_w - 1) / mcu_w + 1) * mcu_w) - b.left;
  b.height = top + height - b.top;
  return b;
}

void JpegDecoder::decode_window(const Box& box, uint8_t* rgb, int64_t* warnings) {
  if (state_->seekable) {
    const JpegSegments::Part part = state_->segments.part(box.top, box.left, box.top + box.height, box.left + box.width);
    if (!read_header(&state_->info, &state_->error, part.header.data(), part.header.size()) || !read_rows(state_.get(), &part, rgb, nullptr))
      throw BadSample(fmt::format("damaged JPEG: {}", state_->error.message), "", "replace the file, or set data.on_corrupt: replace");
    *warnings += state_->error.harmless;
    return;
  }
  if (!read_box(state_.get(), &box, rgb))
    throw BadSample(fmt::format("damaged JPEG: {}", state_->error.message), "", "replace the file, or set data.on_corrupt: replace");
  *warnings += state_->error.harmless;
}

}  // namespace sindri::dataset
