// Decoders of the image formats beside JPEG, into RGB rows of width * 3 bytes, whatever the file's colour form: grey and palettes are
// expanded, 16 bits become 8, alpha is left out (the colours are those stored, not blended with a ground). PNG and TIFF give other forms too.
#pragma once

#include <cstdint>
#include <string>

#include "dataset/codec/image_header.h"

namespace sindri::dataset {

/// How the samples of a picture lie in memory.
struct PixelForm {
  int channels = 3;  // 1: grey, 3: RGB
  int bytes = 1;  // of a sample: 1, 2 (a whole number in this machine's byte order) or 4 (a float)
};

/// By the format that check_image_header() found.
void decode_rgb(const uint8_t* data, int64_t bytes, const ImageHeader& header, uint8_t* rgb);

/// `size` is what read_image_header() found, with at most kMaxPixels; `rgb` holds that many pixels. All throw BadSample for damaged or truncated
/// data, for colour forms that are not read, and where the file's size is another than its header's.
/// As it is stored, but for alpha: grey as one channel of 1 or 2 bytes, anything else as three.
PixelForm png_form(const uint8_t* data, int64_t bytes);
/// In a form of 1 or 2 bytes a sample, the latter only where the file has 16 bits. Colours as grey: 0.299 R + 0.587 G + 0.114 B, cut off.
void decode_png(const uint8_t* data, int64_t bytes, ImageSize size, PixelForm form, uint8_t* out);
void decode_webp(const uint8_t* data, int64_t bytes, ImageSize size, uint8_t* rgb);
/// The first picture of the file.
void decode_tiff(const uint8_t* data, int64_t bytes, ImageSize size, uint8_t* rgb);
/// As it is stored: grey, 16 bits and floats where libtiff's RGBA reader would give others. One byte a sample where the picture is none of these.
PixelForm tiff_form(const uint8_t* data, int64_t bytes);
/// The samples of a picture whose tiff_form() has more than 1 byte a sample, as they are stored.
void decode_tiff_samples(const uint8_t* data, int64_t bytes, ImageSize size, PixelForm form, uint8_t* out);
/// 1, 4, 8, 16, 24 and 32 bits a pixel, not run-length encoded.
void decode_bmp(const uint8_t* data, int64_t bytes, ImageSize size, uint8_t* rgb);

/// Whether all colours are grey ones of a palette.
bool bmp_is_grey(const uint8_t* data, int64_t bytes);

[[noreturn]] void throw_damaged(const char* format, const std::string& why);
[[noreturn]] void throw_unsupported(const char* format, const std::string& what);

}  // namespace sindri::dataset
