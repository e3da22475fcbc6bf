// JPEG by libjpeg-turbo, directly: one decompressor per worker, its errors as exceptions.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

namespace sindri::dataset {

inline constexpr int64_t kMaxPixels = 64'000'000;

struct ImageSize {
  int64_t height = 0, width = 0;
};

class JpegDecoder {
 public:
  JpegDecoder();
  ~JpegDecoder();
  JpegDecoder(const JpegDecoder&) = delete;
  JpegDecoder& operator=(const JpegDecoder&) = delete;
  static bool is_jpeg(const uint8_t* data, int64_t bytes) { return bytes >= 3 && data[0] == 0xff && data[1] == 0xd8 && data[2] == 0xff; }
  /// Reads the header. Throws BadSample: damaged, or above kMaxPixels.
  ImageSize open(const uint8_t* data, int64_t bytes);
  /// Decodes what open() saw into RGB rows of width * 3 bytes. Throws BadSample for truncated or damaged data.
  /// `warnings` counts damage that does not touch the picture (extraneous bytes before a marker).
  void decode(uint8_t* rgb, int64_t* warnings);

  /// Components of the file that open() saw: 1 (grey), 3, or 4 (CMYK).
  int components() const;
  /// Whether its CMYK components are inverted, as Adobe writes them.
  bool inverted() const;
  /// Decodes what open() saw without making RGB of all: `channels` 3: RGB; 1: the stored luminance; 4: CMYK, for files of 4 components only.
  /// Rows of width * channels bytes.
  void decode_channels(int channels, uint8_t* out);

  /// What decode_window() would decode for a window of the picture: a box that holds it, with the margin that makes its pixels equal
  /// those of a full decode. Empty width where only a full decode will do (progressive, CMYK, ...).
  struct Box {
    int64_t top = 0, left = 0, height = 0, width = 0;
  };
  Box window_box(int64_t top, int64_t left, int64_t height, int64_t width) const;
  /// Decodes the box that window_box() gave into RGB rows of box.width * 3 bytes, and stops there.
  void decode_window(const Box& box, uint8_t* rgb, int64_t* warnings);

  struct State;

 private:
  std::unique_ptr<State> state_;
};

}  // namespace sindri::dataset
