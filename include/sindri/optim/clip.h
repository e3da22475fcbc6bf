// Clipping of values and gradients, written with ops. Norms of integers and half types are computed in float32; results
// keep the types of the clipped tensors.
#pragma once
#include "sindri/autograd/grad.h"
#include "sindri/export.h"
#include "sindri/ops/reduce.h"

namespace sindri::optim {

/// min(max(x, lo), hi) (MindSpore: ops.clip_by_value). Throws ValueError if lo > hi.
SINDRI_API Tensor clip_by_value(const Tensor& x, double lo, double hi);
/// Scales x so that its L2 norm (over `axes`; empty: all) is at most clip_norm. Throws ValueError unless clip_norm > 0.
SINDRI_API Tensor clip_by_norm(const Tensor& x, double clip_norm, const ops::Axes& axes = {});
/// The same for a scalar tensor clip_norm, whose value is not checked.
SINDRI_API Tensor clip_by_norm(const Tensor& x, const Tensor& clip_norm, const ops::Axes& axes = {});
/// L2 norm of all tensors together, float32, or float64 if one of them is. Adds the squares in the order of the
/// tensors. Throws ValueError if there are none.
SINDRI_API Tensor global_norm(const TensorList& xs);
/// Multiplies every tensor by clip_norm/max(global_norm, clip_norm) (Pascanu et al. 2013). Throws ValueError unless
/// clip_norm > 0, and the same errors as global_norm.
SINDRI_API TensorList clip_by_global_norm(const TensorList& xs, double clip_norm = 1.0);
/// The same for a scalar tensor clip_norm, whose value is not checked. `norm` is the norm of all tensors if it is known
/// already.
SINDRI_API TensorList clip_by_global_norm(const TensorList& xs, const Tensor& clip_norm, const Tensor& norm = {});
/// p-norm of all tensors together, (sum |x|^p)^(1/p), or the largest |x| for an infinite p. The type and the errors are
/// those of global_norm. Also throws ValueError unless p > 0.
SINDRI_API Tensor total_norm(const TensorList& xs, double p);
/// Multiplies every tensor by min(1, max_norm/(norm + 1e-6)). With total_norm this is MindSpore 2's ops.clip_by_norm
/// and PyTorch's clip_grad_norm_.
SINDRI_API TensorList clip_by_total_norm(const TensorList& xs, double max_norm, const Tensor& norm);

}  // namespace sindri::optim
