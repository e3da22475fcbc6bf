// Activation checkpointing of a function (Chen et al. 2016, arXiv:1604.06174).
#pragma once
#include <string>
#include <vector>

#include "sindri/export.h"
#include "sindri/op/op_def.h"
#include "sindri/op/parameter.h"
#include "sindri/op/tensor_fn.h"

namespace sindri::nn {

/// Runs f(in) as one record of the tapes in force. The values inside are not kept; when a gradient needs them, f runs
/// again under the scope "recompute/name". The second run reads Parameters (`params` and any other that f reads),
/// random state and casts as they were in the first run, and writes none of them. Gradients go to arguments, Parameters
/// and outside tensors that f holds. f must live as long as the tapes; every backward pass calls it again.
SINDRI_API TensorList recompute_function(TensorFn f, Span<const Tensor> in, const std::vector<Parameter*>& params, const std::string& name);

}  // namespace sindri::nn
