// Reads, encodes and writes image files outside a pipeline (MindSpore: dataset.vision.read_image, encode_jpeg,
// write_png, …).
#pragma once

#include <string>

#include "sindri/core/tensor.h"
#include "sindri/export.h"

namespace sindri::dataset::vision {

/// Channels that read_image() returns: as stored, one channel of grey, or RGB.
enum class ImageReadMode { kUnchanged, kGrayscale, kColor };

/// Bytes of a regular file, uint8 [n]. Throws IoError.
SINDRI_API Tensor read_file(const std::string& path);

/// Creates or replaces a file with the bytes uint8 [n]. A previous file stays unchanged until all bytes are written; a
/// symbolic link stays a link. Throws DTypeError, ShapeError, or IoError if the path is not a regular file or writing
/// fails.
SINDRI_API void write_file(const std::string& path, const Tensor& data);

/// Image of a JPEG, PNG, BMP, TIFF or WebP file, recognised by its first bytes, as [H, W, C] without alpha.
///
/// kUnchanged: C is 1 for grey images and 3 (RGB) for others. The type is uint8, or int32 for 16-bit samples of PNG and
/// TIFF files and float32 for TIFF's float samples. The camera's orientation (EXIF) is ignored. kGrayscale, kColor:
/// uint8 with 1 or 3 channels, rotated as the orientation in JPEG and PNG files says. Grey is 0.299 R + 0.587 G + 0.114
/// B, truncated for PNG and rounded for other formats; for JPEG it is the stored luminance. Throws IoError, or
/// BadSample for a file that is not an image, is damaged, truncated or unsupported, or has more than 64 million pixels.
SINDRI_API Tensor read_image(const std::string& path, ImageReadMode mode = ImageReadMode::kUnchanged);

/// Encodes an image uint8 [H, W], [H, W, 1] or [H, W, 3] (RGB) as a JPEG file, uint8 [n]. quality is 1 to 100. Chroma
/// is stored at half the resolution. Throws DTypeError, ShapeError (also for sides above 65500, the limit of JPEG) or
/// ValueError.
SINDRI_API Tensor encode_jpeg(const Tensor& image, int quality = 75);

/// Encodes an image as a PNG file, without loss. compression_level 0 stores the rows; 1 to 9 all compress runs of equal
/// bytes, which is fast, and is what MindSpore's encoder produces. Sides are at most 1,000,000. Throws the same errors
/// as encode_jpeg.
SINDRI_API Tensor encode_png(const Tensor& image, int compression_level = 6);

/// Writes encode_jpeg() to a file, whatever its suffix. Throws the same errors as encode_jpeg and write_file.
SINDRI_API void write_jpeg(const std::string& path, const Tensor& image, int quality = 75);

/// Writes encode_png() to a file, whatever its suffix. Throws the same errors as encode_png and write_file.
SINDRI_API void write_png(const std::string& path, const Tensor& image, int compression_level = 6);

}  // namespace sindri::dataset::vision
