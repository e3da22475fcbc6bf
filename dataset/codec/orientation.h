// The orientation of the camera, from EXIF.
#pragma once

#include <cstdint>

namespace sindri::dataset {

/// Returns the EXIF orientation of a JPEG or PNG file, 1 (upright) to 8. Returns 1 if there is none or it cannot be read.
int orientation(const uint8_t* data, int64_t bytes);

}  // namespace sindri::dataset
