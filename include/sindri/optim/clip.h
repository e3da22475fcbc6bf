// Clipping of values and gradients, written with ops. Norms of integers and half types are computed in float32; results keep the types of
// what is clipped.
#pragma once
#include "sindri/autograd/grad.h"
#include "sindri/export.h"
#include "sindri/ops/reduce.h"

namespace sindri::optim {

/// min(max(x, lo), hi). Throws ValueError when lo > hi.
SINDRI_API Tensor clip_by_value(const Tensor& x, double lo, double hi);
/// x scaled so that its L2 norm (over `axes`; empty: all) is at most clip_norm. Throws ValueError unless clip_norm > 0.
SINDRI_API Tensor clip_by_norm(const Tensor& x, double clip_norm, const ops::Axes& axes = {});
/// The same for a scalar tensor, whose value is not looked at.
SINDRI_API Tensor clip_by_norm(const Tensor& x, const Tensor& clip_norm, const ops::Axes& axes = {});
/// L2 norm of all tensors together, float32 (float64 when one of them is): their squares are added up in their order. Throws ValueError for none.
SINDRI_API Tensor global_norm(const TensorList& xs);
/// Every tensor times clip_norm/max(global_norm, clip_norm) (Pascanu et al. 2013). Throws ValueError unless clip_norm > 0.
SINDRI_API TensorList clip_by_global_norm(const TensorList& xs, double clip_norm = 1.0);
/// The same for a scalar tensor, whose value is not looked at; `norm`: that of all tensors, where it is known already.
SINDRI_API TensorList clip_by_global_norm(const TensorList& xs, const Tensor& clip_norm, const Tensor& norm = {});
/// (sum |x|^p)^(1/p) over all tensors together, the largest |x| for an infinite p; type and errors as global_norm, and ValueError unless p > 0.
SINDRI_API Tensor total_norm(const TensorList& xs, double p);
/// Every tensor times min(1, max_norm/(norm + 1e-6)): what MindSpore 2's ops.clip_by_norm and PyTorch's clip_grad_norm_ do with total_norm.
SINDRI_API TensorList clip_by_total_norm(const TensorList& xs, double max_norm, const Tensor& norm);

}  // namespace sindri::optim
