// Resizing with OpenCV on the calling thread.
#pragma once

#include <utility>

#include "dataset/transforms/vision_ops.h"

namespace sindri::dataset {

inline constexpr int64_t kMaxResizedSide = 65536;
/// (height, width) after scaling the shorter edge to `edge`.
std::pair<int64_t, int64_t> size_by_short_edge(int64_t height, int64_t width, int64_t edge, vision::LongEdge long_edge);
const char* inter_name(vision::Inter i);
/// Height, width and channels of an image that resize_window supports: any number of channels (AREA: up to 4); any element type with NEAREST, otherwise
/// uint8, bool, int32 and floats. Throws BadSample.
ImageDims resizable_image(const Value& v, const char* who, vision::Inter inter);
/// The same check for what is known in advance. Throws ShapeError or DTypeError.
void check_resizable(const ColumnInfo& c, const char* who, vision::Inter inter);
/// Resizes a window inside the image call.inputs[0] to output 0, [height, width(, C)].
void resize_window(RowCall& call, const ImageDims& d, const Window& window, int64_t height, int64_t width, vision::Inter inter);

}  // namespace sindri::dataset
