// Writes existing pixels as PNG files. Images are read by dataset, and plots are drawn by `app/plot.cc`.
#pragma once

#include <cstdint>
#include <string>

namespace sindri::train {

/// Returns a PNG of rows of 8-bit pixels with one, three or four channels. Throws InternalError if zlib runs out of memory.
std::string png(int64_t height, int64_t width, int64_t channels, const std::string& rows);

}  // namespace sindri::train
