// Padding and option checks shared by convolution and pooling layers.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "sindri/core/tensor.h"
#include "sindri/nn/size.h"

namespace sindri::nn {

/// Throws ValueError unless pad_mode is same, valid or pad, and padding is consistent with it.
void check_pad_mode(const char* who, const std::string& pad_mode, const Pad4& padding);
/// Throws ValueError unless both numbers are at least 1.
void check_size(const char* who, const char* what, const Size2& s);
/// Returns the padding top, bottom, left, right of a window op on x [N, C, H, W]. "same" depends on the input: the
/// output has ceil(in/stride) elements, and of an odd total the larger half is at the bottom and right.
std::vector<int64_t> pads_for(const char* who, const Tensor& x, const std::string& pad_mode, const Pad4& padding, const Size2& kernel, const Size2& stride,
                              const Size2& dilation = 1);
std::string size_text(const Size2& s);

}  // namespace sindri::nn
