// Decoders of the image formats beside JPEG, all into RGB rows of width * 3 bytes, whatever the file's colour form:
// grey and palettes are expanded, 16 bits become 8, alpha is left out (the colours are those stored, not blended with a ground).
#pragma once

#include <cstdint>
#include <string>

#include "dataset/codec/image_header.h"

namespace sindri::dataset {

/// `size` is what read_image_header() found, with at most kMaxPixels; `rgb` holds that many pixels. All throw BadSample for damaged or truncated
/// data, for colour forms that are not read, and where the file's size is another than its header's.
void decode_png(const uint8_t* data, int64_t bytes, ImageSize size, uint8_t* rgb);
void decode_webp(const uint8_t* data, int64_t bytes, ImageSize size, uint8_t* rgb);
/// The first picture of the file.
void decode_tiff(const uint8_t* data, int64_t bytes, ImageSize size, uint8_t* rgb);
/// 1, 4, 8, 16, 24 and 32 bits a pixel, not run-length encoded.
void decode_bmp(const uint8_t* data, int64_t bytes, ImageSize size, uint8_t* rgb);

[[noreturn]] void throw_damaged(const char* format, const std::string& why);
[[noreturn]] void throw_unsupported(const char* format, const std::string& what);

}  // namespace sindri::dataset
