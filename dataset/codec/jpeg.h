// JPEG by libjpeg-turbo, called directly: one decompressor per worker, errors as exceptions.
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
  /// Reads the header. Throws BadSample for damaged files and images above kMaxPixels.
  ImageSize open(const uint8_t* data, int64_t bytes);
  /// Decodes the opened file into RGB rows of width * 3 bytes. Throws BadSample for truncated or damaged data.
  /// Increments `warnings` for damage that does not affect the image (extraneous bytes before a marker).
  void decode(uint8_t* rgb, int64_t* warnings);

  /// Number of components of the opened file: 1 (grey), 3, or 4 (CMYK).
  int components() const;
  /// Whether the CMYK components are inverted, as Adobe writes them.
  bool inverted() const;
  /// Decodes the opened file without converting to RGB. channels 3: RGB; 1: the stored luminance; 4: CMYK, only for files with 4 components.
  /// Rows have width * channels bytes.
  void decode_channels(int channels, uint8_t* out);

  /// The box that decode_window() decodes for a window of the image. It contains the window and a margin, with which the window's pixels equal those of a full
  /// decode. Its width is 0 if only a full decode is possible (progressive, CMYK, ...).
  struct Box {
    int64_t top = 0, left = 0, height = 0, width = 0;
  };
  Box window_box(int64_t top, int64_t left, int64_t height, int64_t width) const;
  /// Decodes the box that window_box() returned into RGB rows of box.width * 3 bytes, and stops there.
  void decode_window(const Box& box, uint8_t* rgb, int64_t* warnings);

  struct State;

 private:
  std::unique_ptr<State> state_;
};

}  // namespace sindri::dataset
