// Image files outside a pipeline: reading, encoding and writing them (MindSpore: dataset.vision.read_image, encode_jpeg, write_png, …).
#pragma once

#include <string>

#include "sindri/core/tensor.h"
#include "sindri/export.h"

namespace sindri::dataset::vision {

/// What read_image() makes of a picture: its channels as they are stored, one of grey, or RGB.
enum class ImageReadMode { kUnchanged, kGrayscale, kColor };

/// The bytes of a plain file, uint8 [n]. Throws IoError.
SINDRI_API Tensor read_file(const std::string& path);

/// Makes or replaces a file with the bytes uint8 [n]: until all of them are written a previous file stays as it was. A symbolic link stays
/// one. Throws DTypeError, ShapeError, or IoError where there is something other than a plain file, or nothing can be written.
SINDRI_API void write_file(const std::string& path, const Tensor& data);

/// The picture of a JPEG, PNG, BMP, TIFF or WebP file, told by its first bytes, [H, W, C]; alpha is left out.
///
/// kUnchanged: C is 1 for grey pictures and 3 (RGB) for others; uint8, or where PNG and TIFF files hold more, int32 for their 16 bits
/// and float32 for TIFF's. The orientation that a camera noted (EXIF) is not looked at. kGrayscale, kColor: uint8 with 1 or 3 channels, turned
/// as noted in JPEG and PNG files. Grey is 0.299 R + 0.587 G + 0.114 B, rounded, for PNG cut off; of JPEG the stored luminance.
/// Throws IoError; BadSample for what is no image, damaged or cut off, of a kind that is not read, or above 64 million pixels.
SINDRI_API Tensor read_image(const std::string& path, ImageReadMode mode = ImageReadMode::kUnchanged);

/// The file that a picture uint8 [H, W], [H, W, 1] or [H, W, 3] (RGB) gives, as uint8 [n]. quality: 1 to 100, with chroma at half the
/// resolution. Throws DTypeError, ShapeError (also for sides above 65500, which JPEG does not have) or ValueError.
SINDRI_API Tensor encode_jpeg(const Tensor& image, int quality = 75);

/// The same without loss; compression_level 0 stores the rows, 1 to 9 all compress runs of equal bytes, which is quick (and what MindSpore's
/// give). Sides are at most 1,000,000.
SINDRI_API Tensor encode_png(const Tensor& image, int compression_level = 6);

/// write_file() of encode_jpeg(), whatever the name ends in.
SINDRI_API void write_jpeg(const std::string& path, const Tensor& image, int quality = 75);

/// write_file() of encode_png(), whatever the name ends in.
SINDRI_API void write_png(const std::string& path, const Tensor& image, int compression_level = 6);

}  // namespace sindri::dataset::vision
