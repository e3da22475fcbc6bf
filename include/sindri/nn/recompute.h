// Activation checkpointing of a function (Chen et al. 2016, arXiv:1604.06174).
#pragma once
#include <string>
#include <vector>

#include "sindri/export.h"
#include "sindri/op/op_def.h"
#include "sindri/op/parameter.h"
#include "sindri/op/tensor_fn.h"

namespace sindri::nn {

/// f(in) as one record of the tapes in force, whose values are not kept but computed again, under the scope "recompute/name", when a gradient
/// needs them. The second run sees the Parameters that f reads (`params` and any other), the random state and the casts as the first one
/// did, and writes none of them; gradients go to arguments, to Parameters and to tensors from outside that f holds. f must live as long as
/// the tapes; it is called again for every backward pass.
SINDRI_API TensorList recompute_function(TensorFn f, Span<const Tensor> in, const std::vector<Parameter*>& params, const std::string& name);

}  // namespace sindri::nn
