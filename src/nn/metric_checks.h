// Checks shared by all metrics.
#pragma once
#include <vector>

#include "sindri/core/tensor.h"

namespace sindri::nn {

/// Throws ValueError unless update() was given `count` tensors.
void check_inputs(const char* who, const std::vector<Tensor>& in, size_t count);
/// Throws ValueError if eval() is called before anything was counted.
void check_counted(const char* who, bool counted);

}  // namespace sindri::nn
