// Format and size of an image file from its first bytes, so that huge ones are refused before anything is allocated.
#pragma once

#include <cstdint>
#include <optional>

#include "dataset/codec/jpeg.h"

namespace sindri::dataset {

struct ImageHeader {
  const char* format;
  ImageSize size;
};
/// PNG, BMP, GIF, WebP, TIFF; nothing for other bytes or a header cut short.
std::optional<ImageHeader> read_image_header(const uint8_t* data, int64_t bytes);

/// The same for a file that shall be decoded. Throws BadSample where it is no image, one of GIF, without pixels or above kMaxPixels.
ImageHeader check_image_header(const uint8_t* data, int64_t bytes);

}  // namespace sindri::dataset
