// How a camera was held, as EXIF says it.
#pragma once

#include <cstdint>

namespace sindri::dataset {

/// EXIF's number of the orientation in a JPEG or PNG file: 1 for upright to 8; 1 too where there is none, or it cannot be read.
int orientation(const uint8_t* data, int64_t bytes);

}  // namespace sindri::dataset
