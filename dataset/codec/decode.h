// Decoders of the image formats other than JPEG. Their output is RGB rows of width * 3 bytes, whatever the file's colour form: grey and palettes are expanded,
// 16 bits become 8, and alpha is dropped (stored colours are not blended with a background). PNG and TIFF can also be decoded to other forms.
#pragma once

#include <cstdint>
#include <string>

#include "dataset/codec/image_header.h"

namespace sindri::dataset {

/// The layout of an image's samples in memory.
struct PixelForm {
  int channels = 3;  // 1: grey, 3: RGB
  int bytes = 1;  // per sample: 1, 2 (an integer in this machine's byte order) or 4 (a float)
};

/// Decodes in the format that check_image_header() found.
void decode_rgb(const uint8_t* data, int64_t bytes, const ImageHeader& header, uint8_t* rgb);

/// In these functions `size` is the size that read_image_header() found, at most kMaxPixels, and `rgb` has room for that many pixels. All functions throw
/// BadSample for damaged or truncated data, for unsupported colour forms, and if the file's size differs from its header's.
///
/// Returns the form of the stored samples without alpha: one channel of 1 or 2 bytes for grey images, three channels for all others.
PixelForm png_form(const uint8_t* data, int64_t bytes);
/// Decodes to 1 or 2 bytes per sample; 2 only if the file has 16 bits. Colours become grey as 0.299 R + 0.587 G + 0.114 B, truncated.
void decode_png(const uint8_t* data, int64_t bytes, ImageSize size, PixelForm form, uint8_t* out);
void decode_webp(const uint8_t* data, int64_t bytes, ImageSize size, uint8_t* rgb);
/// Decodes the first image of the file.
void decode_tiff(const uint8_t* data, int64_t bytes, ImageSize size, uint8_t* rgb);
/// The form as stored, for grey, 16-bit and float images, which libtiff's RGBA reader would convert. All other images have one byte per sample.
PixelForm tiff_form(const uint8_t* data, int64_t bytes);
/// Decodes the samples of an image whose tiff_form() has more than 1 byte per sample, unconverted.
void decode_tiff_samples(const uint8_t* data, int64_t bytes, ImageSize size, PixelForm form, uint8_t* out);
/// Supports 1, 4, 8, 16, 24 and 32 bits per pixel without run-length encoding.
void decode_bmp(const uint8_t* data, int64_t bytes, ImageSize size, uint8_t* rgb);

/// Whether the image has a palette that contains only greys.
bool bmp_is_grey(const uint8_t* data, int64_t bytes);

[[noreturn]] void throw_damaged(const char* format, const std::string& why);
[[noreturn]] void throw_unsupported(const char* format, const std::string& what);

}  // namespace sindri::dataset
