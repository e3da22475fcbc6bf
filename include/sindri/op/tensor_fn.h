// A function of tensors: what grad differentiates and compile traces.
#pragma once
#include <functional>
#include <span>
#include <vector>

#include "sindri/core/tensor.h"

namespace sindri {

using TensorList = std::vector<Tensor>;
using TensorFn = std::function<TensorList(std::span<const Tensor>)>;

}  // namespace sindri
