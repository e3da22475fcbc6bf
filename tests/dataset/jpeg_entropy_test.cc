// The entropy decoder against libjpeg-turbo's, which decodes the same bytes here: pixels of good files, and the outcome for damaged ones.
#include <gtest/gtest.h>

#include <csetjmp>
#include <cstdio>
#include <optional>

#include <jerror.h>
#include <jpeglib.h>  // needs <cstdio>

#include "dataset/codec/jpeg.h"
#include "dataset/codec/jpeg_entropy.h"
#include "tests/dataset/helpers.h"

namespace sindri::dataset::jpeg_entropy_tests {
namespace {

using Bytes = std::vector<uint8_t>;

struct Form {
  int h = 1, v = 1, channels = 3, quality = 90;
  unsigned restart = 0;  // MCUs between markers
  bool optimised = false;
  bool noise = false;  // coefficients of every size
};

Bytes encode(int height, int width, int seed, const Form& form) {
  jpeg_compress_struct info{};
  jpeg_error_mgr errors{};
  info.err = jpeg_std_error(&errors);
  jpeg_create_compress(&info);
  unsigned char* memory = nullptr;
  unsigned long size = 0;
  jpeg_mem_dest(&info, &memory, &size);
  info.image_height = static_cast<JDIMENSION>(height);
  info.image_width = static_cast<JDIMENSION>(width);
  info.input_components = form.channels;
  info.in_color_space = form.channels == 1 ? JCS_GRAYSCALE : form.channels == 4 ? JCS_CMYK : JCS_RGB;
  jpeg_set_defaults(&info);
  jpeg_set_quality(&info, form.quality, TRUE);
  info.comp_info[0].h_samp_factor = form.h;
  info.comp_info[0].v_samp_factor = form.v;
  info.restart_interval = form.restart;
  info.optimize_coding = form.optimised ? TRUE : FALSE;
  jpeg_start_compress(&info, TRUE);
  PhiloxSequence draws(static_cast<uint64_t>(seed), 3, 0, 0);
  Bytes row(static_cast<size_t>(width * form.channels));
  for (int y = 0; y < height; ++y) {
    for (size_t i = 0; i < row.size(); ++i) {
      const double wave = 128 + 90 * std::sin((y * 3 + static_cast<double>(i) * (1 + seed % 5)) / 17.0);
      row[i] = static_cast<uint8_t>(form.noise ? draws.next_below(256) : static_cast<uint64_t>(wave));
    }
    JSAMPROW rows = row.data();
    jpeg_write_scanlines(&info, &rows, 1);
  }
  jpeg_finish_compress(&info);
  jpeg_destroy_compress(&info);
  Bytes out(memory, memory + size);
  std::free(memory);
  return out;
}

struct Errors {
  jpeg_error_mgr base;  // first: libjpeg passes a pointer to it
  std::jmp_buf jump;
};
void leave(j_common_ptr info) { std::longjmp(reinterpret_cast<Errors*>(info->err)->jump, 1); }
void leave_if_damaged(j_common_ptr info, int level) {
  const int code = info->err->msg_code;
  if (level < 0 && code != JWRN_EXTRANEOUS_DATA && code != JWRN_ADOBE_XFORM && code != JWRN_JFIF_MAJOR && code != JWRN_BOGUS_ICC) leave(info);
}

// No C++ object with a destructor lives here: errors longjmp out.
bool library_rows(jpeg_decompress_struct* info, Errors* errors, const uint8_t* data, size_t size, uint8_t* rgb, size_t room) {
  if (setjmp(errors->jump) != 0) return false;
  jpeg_mem_src(info, data, size);
  jpeg_read_header(info, TRUE);
  if (static_cast<size_t>(info->image_height) * info->image_width * 3 > room || info->num_components == 4) leave(reinterpret_cast<j_common_ptr>(info));
  info->out_color_space = JCS_RGB;
  jpeg_start_decompress(info);
  while (info->output_scanline < info->output_height) {
    JSAMPROW row = rgb + static_cast<size_t>(info->output_scanline) * info->output_width * 3;
    jpeg_read_scanlines(info, &row, 1);
  }
  jpeg_finish_decompress(info);
  return true;
}

// The pixels as the library alone decodes them; empty for a damaged file.
std::optional<Bytes> by_library(const Bytes& file, size_t room) {
  Errors errors{};
  jpeg_decompress_struct info{};
  info.err = jpeg_std_error(&errors.base);
  errors.base.error_exit = leave;
  errors.base.emit_message = leave_if_damaged;
  jpeg_create_decompress(&info);
  Bytes rgb(room);
  const bool whole = library_rows(&info, &errors, file.data(), file.size(), rgb.data(), room);
  jpeg_destroy_decompress(&info);
  return whole ? std::optional(rgb) : std::nullopt;
}

std::optional<Bytes> by_decoder(JpegDecoder* decoder, const Bytes& file, size_t room) {
  try {
    const ImageSize size = decoder->open(file.data(), static_cast<int64_t>(file.size()));
    if (static_cast<size_t>(size.height * size.width * 3) > room) return {};
    Bytes rgb(room);
    int64_t warnings = 0;
    decoder->decode(rgb.data(), &warnings);
    return rgb;
  } catch (const BadSample&) { return {}; }
}

const std::vector<Form>& forms() {
  static const std::vector<Form> list = {{},
                                         {2, 2},
                                         {2, 1, 3, 50},
                                         {1, 2, 3, 100},
                                         {2, 2, 3, 100, 0, true, true},
                                         {2, 2, 3, 30, 0, true},
                                         {1, 1, 1, 95, 0, false, true},
                                         {1, 1, 1, 5},
                                         {2, 2, 3, 90, 1},
                                         {2, 2, 3, 100, 3, true, true},
                                         {1, 1, 3, 75, 20, true},
                                         {1, 1, 1, 90, 7, false, true},
                                         {4, 1, 3, 90}};
  return list;
}

TEST(JpegEntropy, GivesTheLibrarysPixels) {
  JpegDecoder decoder;
  for (const Form& form : forms()) {
    for (int i = 0; i < 24; ++i) {
      const int h = i < 12 ? 1 + i * 5 : 60 + i * 3, w = i < 12 ? 70 - i * 5 : 50 + i * 7;
      const Bytes file = encode(h, w, i, form);
      const size_t room = static_cast<size_t>(h * w * 3);
      EXPECT_EQ(by_decoder(&decoder, file, room), by_library(file, room))
          << h << " x " << w << ", " << form.h << "x" << form.v << ", quality " << form.quality << ", restart " << form.restart;
    }
  }
}

TEST(JpegEntropy, ServesWhatItIsFor) {
  const char* const asked = std::getenv("SINDRI_JPEG_ENTROPY");
  if (asked != nullptr) GTEST_SKIP() << "SINDRI_JPEG_ENTROPY is set";
  const auto serves = [](const Bytes& file) {
    jpeg_error_mgr errors{};
    jpeg_decompress_struct info{};
    info.err = jpeg_std_error(&errors);
    jpeg_create_decompress(&info);
    jpeg_mem_src(&info, file.data(), file.size());
    jpeg_read_header(&info, TRUE);
    const bool yes = JpegEntropy::serves(&info);
    jpeg_destroy_decompress(&info);
    return yes;
  };
  EXPECT_TRUE(serves(encode(20, 20, 1, {2, 2})));
  EXPECT_FALSE(serves(encode_jpeg(picture(20, 20, 1), 90, true))) << "progressive";
}

// Each byte changed in some way, and every length: an error if the library finds damage, else its pixels. Neither decoder checks the bytes after a scan's last
// MCU. Codes that are not in the table are an error here; the library's fast loop treats them as zeros.
TEST(JpegEntropy, TakesDamageAsTheLibraryDoes) {
  JpegDecoder decoder;
  int64_t whole = 0, damaged = 0, stricter = 0;
  for (const Form& form : forms()) {
    const Bytes file = encode(33, 47, 5, form);
    const size_t room = 33 * 47 * 3;
    const auto compare = [&](const Bytes& bytes, const std::string& what) {
      const auto want = by_library(bytes, room), got = by_decoder(&decoder, bytes, room);
      EXPECT_TRUE(want || !got) << "the library refuses it: " << what << ", " << form.h << "x" << form.v << ", quality " << form.quality << ", restart "
                                << form.restart;
      stricter += want && !got ? 1 : 0;
      if (got && want) { EXPECT_EQ(*got, *want) << what; }
      ++(want ? whole : damaged);
    };
    const size_t step = std::max<size_t>(1, file.size() / 700);
    for (size_t n = 0; n < file.size(); n += step) {
      compare({file.begin(), file.begin() + static_cast<std::ptrdiff_t>(n)}, "cut after byte " + std::to_string(n));
      Bytes changed = file;
      changed[n] ^= static_cast<uint8_t>(1 + n * 37 % 255);
      compare(changed, "byte " + std::to_string(n) + " changed");
      changed = file;
      changed.erase(changed.begin() + static_cast<std::ptrdiff_t>(n));
      compare(changed, "byte " + std::to_string(n) + " missing");
    }
  }
  EXPECT_GT(whole, 1000);
  EXPECT_GT(damaged, 1000);
  EXPECT_LT(stricter, whole / 100);
}

}  // namespace
}  // namespace sindri::dataset::jpeg_entropy_tests
