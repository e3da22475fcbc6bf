// Reading: the markers of ITU-T T.81, annex B, as far as segments need them. Writing: libjpeg-turbo copies the coefficients.
#include "dataset/codec/jpeg_segments.h"

#include <fmt/format.h>

#include <algorithm>
#include <csetjmp>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include <jpeglib.h>  // needs <cstdio> and <cstddef> before it

#include "sindri/dataset/dataset.h"

namespace sindri::dataset {

namespace {
size_t two_bytes(const uint8_t* p) { return static_cast<size_t>(p[0]) << 8 | p[1]; }
int64_t divided_up(int64_t a, int64_t b) { return (a + b - 1) / b; }
}  // namespace

bool JpegSegments::read_frame(const uint8_t* s, size_t length) {
  if (length < 8 || s[2] != 8) return false;
  const size_t components = s[7];
  if ((components != 1 && components != 3) || length != 8 + 3 * components) return false;
  height_ = static_cast<int64_t>(two_bytes(s + 3));
  width_ = static_cast<int64_t>(two_bytes(s + 5));
  int64_t across = 1, down = 1;
  for (size_t c = 0; c < components; ++c) {
    const int64_t h = s[8 + 3 * c + 1] >> 4, v = s[8 + 3 * c + 1] & 15;
    if (h < 1 || h > 4 || v < 1 || v > 4) return false;
    across = std::max(across, h);
    down = std::max(down, v);
  }
  if (components == 1 && (across != 1 || down != 1)) return false;  // its MCU is one block, whatever the sampling factors are
  mcu_width_ = 8 * across;
  mcu_height_ = 8 * down;
  return height_ > 0 && width_ > 0;
}

// Copies the header segments that affect pixels; metadata such as comments and EXIF thumbnails is dropped.
bool JpegSegments::read_header(const uint8_t* data, size_t bytes, size_t* scan) {
  if (bytes < 4 || data[0] != 0xff || data[1] != 0xd8) return false;
  header_.assign(data, data + 2);
  size_at_ = 0;
  interval_ = 0;
  size_t components = 0;
  for (size_t at = 2; at + 4 <= bytes;) {
    if (data[at] != 0xff) return false;
    const uint8_t marker = data[at + 1];
    if (marker == 0xff) {  // fill byte
      ++at;
      continue;
    }
    const size_t length = two_bytes(data + at + 2);
    if (length < 2 || at + 2 + length > bytes) return false;
    const uint8_t* const body = data + at + 2;  // starts with the length
    const bool frame = marker == 0xc0 || marker == 0xc1;
    if (marker >= 0xc2 && marker <= 0xcf && marker != 0xc4 && marker != 0xc8 && marker != 0xcc) return false;  // progressive, arithmetic, …
    if (frame) {
      if (size_at_ != 0 || !read_frame(body, length)) return false;
      components = body[7];
      size_at_ = header_.size() + 5;
    } else if (marker == 0xdd) {
      if (length != 4) return false;
      interval_ = static_cast<int64_t>(two_bytes(body + 2));
    } else if (marker == 0xda && (length < 3 || body[2] != components)) {
      return false;  // several scans
    }
    const bool wanted = frame || marker == 0xdb || marker == 0xc4 || marker == 0xdd || marker == 0xda || marker == 0xe0 || marker == 0xee;
    if (wanted) header_.insert(header_.end(), data + at, data + at + 2 + length);
    at += 2 + length;
    if (marker == 0xda) {
      *scan = at;
      return size_at_ != 0 && interval_ > 0;
    }
  }
  return false;
}

bool JpegSegments::find_markers(const uint8_t* data, size_t bytes, size_t scan) {
  const auto wanted = static_cast<size_t>(divided_up(per_row_ * rows_, interval_));
  begins_.clear();
  begins_.push_back(scan);
  const uint8_t *p = data + scan, *const end = data + bytes;
  while (p + 1 < end) {
    p = static_cast<const uint8_t*>(std::memchr(p, 0xff, static_cast<size_t>(end - p) - 1));
    if (p == nullptr) return false;
    const uint8_t marker = p[1];
    if (marker == 0) {
      p += 2;
      continue;
    }
    if (marker == 0xff) {
      ++p;
      continue;
    }
    const size_t behind = static_cast<size_t>(p - data) + 2;
    if (marker == 0xd9) {
      begins_.push_back(behind);
      return begins_.size() == wanted + 1;
    }
    // Markers that are not in order: leave the file to the ordinary decoder, which reports the error.
    if (marker < 0xd0 || marker > 0xd7 || (begins_.size() - 1) % 8 != static_cast<size_t>(marker - 0xd0) || begins_.size() >= wanted) return false;
    begins_.push_back(behind);
    p += 2;
  }
  return false;
}

bool JpegSegments::find(const uint8_t* data, size_t bytes) {
  data_ = data;
  complete_ = false;
  size_t scan = 0;
  if (!read_header(data, bytes, &scan)) return false;
  per_row_ = divided_up(width_, mcu_width_);
  rows_ = divided_up(height_, mcu_height_);
  complete_ = find_markers(data, bytes, scan);
  return complete_ && per_row_ % interval_ == 0 && per_row_ > interval_;
}

JpegSegments::Part JpegSegments::part(int64_t top, int64_t left, int64_t bottom, int64_t right) {
  part_.assign(header_.begin(), header_.end());
  const int64_t h = bottom - top, w = right - left;
  for (const auto& [at, v] : {std::pair{size_at_, h}, {size_at_ + 2, w}}) {
    part_[at] = static_cast<uint8_t>(v >> 8);
    part_[at + 1] = static_cast<uint8_t>(v & 255);
  }
  part_.push_back(0xff);
  part_.push_back(0xd9);
  part_segments_.clear();
  const int64_t across = per_row_ / interval_, first = left / segment_width(), last = divided_up(right, segment_width());
  for (int64_t y = top / mcu_height_; y < divided_up(bottom, mcu_height_); ++y) {
    for (int64_t x = first; x < last; ++x) {
      const size_t k = static_cast<size_t>(y * across + x);
      part_segments_.emplace_back(data_ + begins_[k], begins_[k + 1] - 2 - begins_[k]);
    }
  }
  return {part_, part_segments_};
}

namespace {

struct WriterErrors {
  jpeg_error_mgr base;  // first: libjpeg passes a pointer to it
  std::jmp_buf jump;
  char message[JMSG_LENGTH_MAX];
};
void writer_exit(j_common_ptr info) {
  auto& e = *reinterpret_cast<WriterErrors*>(info->err);
  info->err->format_message(info, e.message);
  std::longjmp(e.jump, 1);
}
// Damage that other readers fill with grey must not be written as if it were part of the image.
void writer_warning(j_common_ptr info, int level) {
  if (level < 0) writer_exit(info);
}

/// MCUs between markers: the divisor of a row's number of MCUs that comes closest to 32 pixels.
unsigned marker_interval(int64_t per_row, int64_t mcu_width) {
  int64_t best = per_row;
  for (int64_t n = 1; n <= per_row; ++n) {
    if (per_row % n == 0 && std::abs(n * mcu_width - 32) < std::abs(best * mcu_width - 32)) best = n;
  }
  return static_cast<unsigned>(best);
}

enum class Moved { kDone, kUnsuited, kDamaged };

// Holds no C++ object with a destructor, since errors leave it by longjmp.
Moved move_coefficients(const uint8_t* data, size_t bytes, jpeg_decompress_struct* in, jpeg_compress_struct* out, WriterErrors* errors, unsigned char** memory,
                        unsigned long* size) {
  if (setjmp(errors->jump) != 0) return Moved::kDamaged;
  jpeg_mem_src(in, data, bytes);
  for (int m = 0; m < 16; ++m) jpeg_save_markers(in, JPEG_APP0 + m, 0xffff);
  jpeg_save_markers(in, JPEG_COM, 0xffff);
  jpeg_read_header(in, TRUE);
  const bool suits = !in->progressive_mode && !in->arith_code && in->data_precision == 8 && (in->num_components == 1 || in->num_components == 3) &&
      (in->num_components == 3 || (in->max_h_samp_factor == 1 && in->max_v_samp_factor == 1)) && in->comps_in_scan == in->num_components;
  if (!suits) return Moved::kUnsuited;
  jvirt_barray_ptr* const coefficients = jpeg_read_coefficients(in);
  jpeg_mem_dest(out, memory, size);
  jpeg_copy_critical_parameters(in, out);
  out->optimize_coding = TRUE;
  const int64_t mcu_width = 8 * static_cast<int64_t>(in->max_h_samp_factor);
  out->restart_interval = marker_interval(divided_up(in->image_width, mcu_width), mcu_width);
  jpeg_write_coefficients(out, coefficients);
  for (jpeg_saved_marker_ptr m = in->marker_list; m != nullptr; m = m->next) {
    // libjpeg writes the JFIF and Adobe markers itself.
    const bool jfif = m->marker == JPEG_APP0 && m->data_length >= 5 && std::memcmp(m->data, "JFIF", 5) == 0;
    const bool adobe = m->marker == JPEG_APP0 + 14 && m->data_length >= 5 && std::memcmp(m->data, "Adobe", 5) == 0;
    if (!(jfif && out->write_JFIF_header) && !(adobe && out->write_Adobe_marker)) jpeg_write_marker(out, m->marker, m->data, m->data_length);
  }
  jpeg_finish_compress(out);
  jpeg_finish_decompress(in);
  return Moved::kDone;
}

}  // namespace

std::vector<uint8_t> make_seekable(const uint8_t* data, size_t bytes) {
  WriterErrors errors{};
  jpeg_decompress_struct in{};
  jpeg_compress_struct out{};
  in.err = out.err = jpeg_std_error(&errors.base);
  errors.base.error_exit = writer_exit;
  errors.base.emit_message = writer_warning;
  unsigned char* memory = nullptr;
  unsigned long size = 0;
  jpeg_create_decompress(&in);
  jpeg_create_compress(&out);
  const Moved moved = move_coefficients(data, bytes, &in, &out, &errors, &memory, &size);
  std::vector<uint8_t> result;
  if (moved == Moved::kDone) result.assign(memory, memory + size);
  jpeg_destroy_compress(&out);
  jpeg_destroy_decompress(&in);
  std::free(memory);
  if (moved == Moved::kDamaged) throw BadSample(fmt::format("damaged JPEG: {}", errors.message), "", "replace the file");
  return result;
}

}  // namespace sindri::dataset
