// Batch and layer normalisation.
#pragma once
#include <array>

#include "sindri/core/tensor.h"
#include "sindri/export.h"

namespace sindri::ops {

/// Result of batch_norm_train: the normalised tensor and the statistics it used.
struct BatchNormOut {
  Tensor y;  ///< of x's shape and type
  Tensor mean;  ///< [C] batch mean, float32 (float64 for float64 x)
  Tensor var;  ///< [C] batch variance, biased (divided by the count), of mean's type
};
/// Batch norm in training, over every dimension but 1: y = (x - mean)·rsqrt(var + eps)·gamma + beta for x [N, C, ...]
/// of rank 2 to 5, gamma and beta [C]. All outputs are differentiable in x. Statistics are computed in one pass in
/// float32 (float64 for float64 x). Throws ShapeError if shapes do not match, ValueError for a negative eps.
SINDRI_API BatchNormOut batch_norm_train(const Tensor& x, const Tensor& gamma, const Tensor& beta, double eps = 1e-5);
/// Batch norm with given statistics, mean and var [C]: (x - mean)·rsqrt(var + eps)·gamma + beta. Differentiable in x,
/// gamma and beta. Throws the same errors as batch_norm_train.
SINDRI_API Tensor batch_norm_infer(const Tensor& x, const Tensor& gamma, const Tensor& beta, const Tensor& mean, const Tensor& var, double eps = 1e-5);
/// Normalises over dimension begin_norm_axis and all after it; gamma and beta have exactly those dimensions. Throws
/// ShapeError if they do not, ValueError for a negative eps.
SINDRI_API Tensor layer_norm(const Tensor& x, const Tensor& gamma, const Tensor& beta, int64_t begin_norm_axis = -1, double eps = 1e-7);

}  // namespace sindri::ops
