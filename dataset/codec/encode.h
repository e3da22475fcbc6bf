// Image encoders: from rows of 8 bits with one channel (grey) or three (RGB) to the bytes of a file.
#pragma once

#include <cstdint>
#include <vector>

#include "dataset/codec/jpeg.h"

namespace sindri::dataset {

inline constexpr int64_t kMaxJpegSide = 65500;  // libjpeg's JPEG_MAX_DIMENSION
inline constexpr int64_t kMaxPngSide = 1'000'000;  // libpng's default limit, which readers use

/// quality: 1 to 100. Chroma has half the resolution; the Huffman codes are the standard ones. Sides: 1 to kMaxJpegSide.
std::vector<uint8_t> make_jpeg(const uint8_t* pixels, ImageSize size, int channels, int quality);
/// Level 0 stores rows uncompressed; levels 1 to 9 compress differences of neighbours by run lengths. Sides: 1 to kMaxPngSide.
std::vector<uint8_t> make_png(const uint8_t* pixels, ImageSize size, int channels, int level);

}  // namespace sindri::dataset
