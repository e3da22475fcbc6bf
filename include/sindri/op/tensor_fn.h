// A function of tensors: what grad differentiates and compile traces.
#pragma once
#include <functional>
#include <span>
#include <vector>

#include "sindri/core/tensor.h"

namespace sindri {

/// Arguments or results of a function of tensors.
using TensorList = std::vector<Tensor>;
/// A function of tensors.
using TensorFn = std::function<TensorList(std::span<const Tensor>)>;

}  // namespace sindri
