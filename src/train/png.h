// PNG files of pixels that are there already. Not for reading images (dataset) and not for drawing (app/picture).
#pragma once

#include <cstdint>
#include <string>

namespace sindri::train {

/// A PNG of rows of 8-bit pixels with one, three or four channels. Throws InternalError where zlib has no memory.
std::string png(int64_t height, int64_t width, int64_t channels, const std::string& rows);

}  // namespace sindri::train
