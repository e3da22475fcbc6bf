// What the uses of a Parameter say of its curvature. Private to optim/thor/.
#pragma once
#include <span>
#include <vector>

#include "sindri/autograd/grad.h"

namespace sindri::optim::thor {

enum class Kind {
  kPlain,  ///< no rule: its gradient is taken as it is
  kMatrix,  ///< of a matrix product
  kConv,
  kEmbedding,
  kNorm,  ///< gamma or beta of a layer norm
  kFolded,  ///< a bias that is a column of the weight it stands beside
};

/// A parameter with the uses that one step made of it, all of one kind and size.
struct Layer {
  Parameter* param = nullptr;
  Kind kind = Kind::kPlain;
  std::vector<const ParamUse*> uses = {};
  int64_t groups = 1;  ///< of a convolution; each has factors of its own
  int64_t a_dim = 0;  ///< width of A (of one group); an embedding's number of rows
  int64_t g_dim = 0;  ///< width of G (of one group)
  int64_t positions = 1;  ///< how many output positions of a sample share a weight
  bool transposed = false;  ///< a matrix that is stored [a_dim, g_dim]; without a folded bias, which is one more of a_dim
  ptrdiff_t bias = -1;  ///< which of the layers is folded into this one

  bool factored() const { return kind == Kind::kMatrix || kind == Kind::kConv || kind == Kind::kEmbedding; }
};

/// params with their uses. One whose uses differ in kind or size (a table that is also a classifier's weight), or have no rule, is plain. fold_bias: what is
/// added to all results of a matrix product or convolution, and to nothing else, becomes a part of it.
std::vector<Layer> layers_of(const std::vector<Parameter*>& params, std::span<const ParamUse> uses, bool fold_bias);

/// What a use gives the factors: sums over `rows` of products of rows, in diagonal blocks of width `block` (0: whole), [blocks, width, width],
/// [groups·blocks, width, width] for convolutions. An embedding's a is how often each row was asked for.
struct Moments {
  Tensor a, g;  ///< g of the output's gradient as the tape has it, scaled by the loss scale and the mean over samples
  int64_t rows = 0;
};
/// batch_means: of convolutions, of the means over the batch (MindSpore's ThorGpu).
Moments moments_of(const Layer& layer, const ParamUse& use, int64_t block, bool batch_means);

/// What acts on a gradient: damped inverses, or, where there are g_values, eigenvectors with their eigenvalues and the damping that these get. An embedding's
/// a is a vector: the inverse of A's diagonal, or that diagonal.
struct Inverses {
  Tensor a, g, a_values, g_values, lambda;
};
/// (positions·A⊗G)⁻¹ of the gradient, in the parameter's shape and the gradient's type, and of the bias that is folded in. bias: undefined where none is.
std::pair<Tensor, Tensor> preconditioned(const Layer& layer, const Tensor& grad, const Tensor& bias, const Inverses& inverses);

}  // namespace sindri::optim::thor
