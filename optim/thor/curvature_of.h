// The curvature that the uses of a Parameter determine. Private to optim/thor/.
#pragma once
#include <span>
#include <vector>

#include "sindri/autograd/grad.h"

namespace sindri::optim::thor {

enum class Kind {
  kPlain,  ///< no rule: the gradient is used unchanged
  kMatrix,  ///< an operand of a matrix product
  kConv,
  kEmbedding,
  kNorm,  ///< gamma or beta of a layer norm
  kFolded,  ///< a bias that is an extra column of its weight
};

/// A parameter and its uses in one step, all of one kind and size.
struct Layer {
  Parameter* param = nullptr;
  Kind kind = Kind::kPlain;
  std::vector<const ParamUse*> uses = {};
  int64_t groups = 1;  ///< groups of a convolution; each group has separate factors
  int64_t a_dim = 0;  ///< width of A (of one group); an embedding's number of rows
  int64_t g_dim = 0;  ///< width of G (of one group)
  int64_t positions = 1;  ///< number of output positions of a sample that share a weight
  bool transposed = false;  ///< a matrix stored as [a_dim, g_dim]; a folded bias is not stored but counts in a_dim
  ptrdiff_t bias = -1;  ///< index of the layer folded into this one; -1: none

  bool factored() const { return kind == Kind::kMatrix || kind == Kind::kConv || kind == Kind::kEmbedding; }
};

/// Returns params with their uses. A parameter is plain if it has no rule, or if its uses differ in kind or size (a table that is also a classifier's weight).
/// fold_bias: a parameter that is added to all results of one matrix product or convolution, and to nothing else, becomes a part of that weight.
std::vector<Layer> layers_of(const std::vector<Parameter*>& params, std::span<const ParamUse> uses, bool fold_bias);

/// The contribution of one use to the factors: products of rows, summed over `rows`, in diagonal blocks of width `block` (0: one block). Shape [blocks, width,
/// width]; for convolutions [groups·blocks, width, width]. An embedding's a counts how often each row was looked up.
struct Moments {
  Tensor a, g;  ///< g: from the output's gradient as on the tape, which includes the loss scale and the mean over samples
  int64_t rows = 0;
};
/// batch_means: for convolutions, uses the means over the batch (MindSpore's ThorGpu).
Moments moments_of(const Layer& layer, const ParamUse& use, int64_t block, bool batch_means);

/// The matrices that act on a gradient: damped inverses or, if g_values is defined, eigenvectors, their eigenvalues and the damping to add to these. An
/// embedding's a is a vector: the inverse of A's diagonal or, with eigenvalues, the diagonal itself.
struct Inverses {
  Tensor a, g, a_values, g_values, lambda;
};
/// Multiplies the gradients of a weight and of its folded bias (undefined if there is none) by (positions·A⊗G)⁻¹. Each result has its parameter's shape and its
/// gradient's type.
std::pair<Tensor, Tensor> preconditioned(const Layer& layer, const Tensor& grad, const Tensor& bias, const Inverses& inverses);

}  // namespace sindri::optim::thor
