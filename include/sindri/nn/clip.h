// Clipping of values and gradients, written with ops.
#pragma once
#include "sindri/autograd/grad.h"
#include "sindri/export.h"
#include "sindri/ops/reduce.h"

namespace sindri::nn {

/// min(max(x, lo), hi). Throws ValueError when lo > hi.
SINDRI_API Tensor clip_by_value(const Tensor& x, double lo, double hi);
/// x scaled so that its L2 norm (over `axes`; empty: all) is at most clip_norm. Throws ValueError unless clip_norm > 0.
SINDRI_API Tensor clip_by_norm(const Tensor& x, double clip_norm, const ops::Axes& axes = {});
/// L2 norm of all tensors together, float32 (float64 when one of them is).
SINDRI_API Tensor global_norm(const TensorList& xs);
/// Every tensor times clip_norm/max(global_norm, clip_norm) (Pascanu et al. 2013). Throws ValueError unless clip_norm > 0.
SINDRI_API TensorList clip_by_global_norm(const TensorList& xs, double clip_norm = 1.0);

}  // namespace sindri::nn
