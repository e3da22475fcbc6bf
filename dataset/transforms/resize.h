// Resizing through OpenCV, which calls into one thread.
#pragma once

#include "dataset/transforms/vision_ops.h"

namespace sindri::dataset {

const char* inter_name(vision::Inter i);
/// Resizes a window that lies inside the image call.inputs[0] to output 0, [height, width(, C)].
void resize_window(RowCall& call, const ImageDims& d, const Window& window, int64_t height, int64_t width, vision::Inter inter);

}  // namespace sindri::dataset
