// Format and size of an image file from its first bytes, so that huge images are rejected before anything is allocated.
#pragma once

#include <cstdint>
#include <optional>

#include "dataset/codec/jpeg.h"

namespace sindri::dataset {

struct ImageHeader {
  const char* format;
  ImageSize size;
};
/// Recognises PNG, BMP, GIF, WebP and TIFF; empty for other bytes or a truncated header.
std::optional<ImageHeader> read_image_header(const uint8_t* data, int64_t bytes);

/// The same for a file to be decoded. Throws BadSample if it is not an image, is a GIF, has no pixels or more than kMaxPixels.
ImageHeader check_image_header(const uint8_t* data, int64_t bytes);

}  // namespace sindri::dataset
