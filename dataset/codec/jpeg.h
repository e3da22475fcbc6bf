// JPEG by libjpeg-turbo, directly: one decompressor per worker, its errors as exceptions (dataset.md 5.2).
#pragma once

#include <cstdint>
#include <memory>
#include <string>

namespace sindri::dataset {

inline constexpr int64_t kMaxPixels = 64'000'000;

struct ImageSize { int64_t height = 0, width = 0; };

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

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace sindri::dataset
