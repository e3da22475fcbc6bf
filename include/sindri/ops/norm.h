// Batch and layer normalisation.
#pragma once
#include <array>

#include "sindri/core/tensor.h"
#include "sindri/export.h"

namespace sindri::ops {

/// What batch norm gives: the normalised tensor, and the statistics that it used.
struct BatchNormOut {
  Tensor y;  ///< as x
  Tensor mean;  ///< [C] float32 (float64 for float64 x), batch mean
  Tensor var;  ///< [C] batch variance, biased (divided by the count)
};
/// Training form over every dimension but 1 (x [N, C, ...], rank 2 to 5): y = (x - mean)·rsqrt(var + eps)·gamma + beta.
/// gamma, beta [C]. All outputs are differentiable in x. One pass statistics in float32 (float64 for float64).
SINDRI_API BatchNormOut batch_norm_train(const Tensor& x, const Tensor& gamma, const Tensor& beta, double eps = 1e-5);
/// Inference form with given statistics [C]; differentiable in x, gamma and beta.
SINDRI_API Tensor batch_norm_infer(const Tensor& x, const Tensor& gamma, const Tensor& beta, const Tensor& mean, const Tensor& var, double eps = 1e-5);
/// Normalises over the dimensions from begin_norm_axis on; gamma and beta have exactly those dimensions.
SINDRI_API Tensor layer_norm(const Tensor& x, const Tensor& gamma, const Tensor& beta, int64_t begin_norm_axis = -1, double eps = 1e-7);

}  // namespace sindri::ops
