// THOR: natural gradients from Kronecker-factored curvature that is refreshed periodically.
#pragma once
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "sindri/optim/optimizer.h"

namespace sindri::optim {

/// Options of Thor. The fields up to `frequency`, and `split_indices`, are arguments of MindSpore's nn.thor, where
/// batch_size is 32 by default.
struct ThorOptions {
  LearningRate learning_rate = 0.1;
  /// Damping λ ≥ 0 per update: a number, a table with one entry per update of the run, or a schedule. √λ is added to the diagonal
  /// of each factor before inversion. For convolutions it is √(λ/positions), with the number of output positions (height times
  /// width).
  LearningRate damping = 0.03;
  double momentum = 0.9;
  WeightDecay weight_decay = 0;  ///< of every parameter that decay_filter selects; added after preconditioning
  double loss_scale = 1;  ///< gradients are divided by it
  /// Number of items over which the loss of one rank (or virtual rank) is a mean: the number of tokens if it is a mean over
  /// tokens. 0: the number of samples in the batch.
  int64_t batch_size = 0;
  bool use_nesterov = false;  ///< w -= lr·(U + momentum·v)
  std::function<bool(const Parameter&)> decay_filter = {};  ///< selects the parameters that decay; undefined: all
  bool enable_clip_grad = false;  ///< limits the norm of each tensor's step before momentum to 1
  int64_t frequency = 100;  ///< curvature is computed and inverted at updates 0, frequency, 2·frequency, …; 1: at each
  int64_t block_size = 128;  ///< width of the diagonal blocks that are kept of a factor; 0: the whole factor
  /// Weight of a factor's running average at a refresh; 0: only the factors of one batch. The average starts with the
  /// first batch's factors.
  double factor_decay = 0;
  /// κ > 0: multiplies all preconditioned gradients by min(1, sqrt(κ/(lr²·Σ⟨U, g⟩))) (KAISA's kl_clip); 0: off.
  double kl_clip = 0;
  /// {ω1, ω2} of the "trace rule" (THOR, AAAI 2021). A parameter's curvature is kept if the trace of its Fisher block
  /// changed by at most ω1 relative to the trace when it was last computed. It is kept for good once the trace changed
  /// by less than ω2. Empty: never kept.
  std::vector<double> trace_rule = {};
  /// Treats the bias added to a layer's result as part of its weight: A gets a row and column for an input that is
  /// always 1 (K-FAC, section 3.1).
  bool fold_bias = false;
  /// "factored": A and G get √λ each. "joint": A⊗G gets λ, computed with eigenvectors of both instead of inverses. That
  /// takes about nine times as many operations; λ may then change with every step.
  std::string damping_form = "factored";
  /// "standard": E[aᵀa] and E[gᵀg] over samples and positions. "batch_mean": for convolutions, a and g are first averaged over
  /// the batch, as in MindSpore on GPUs. This reduces the cost by the batch size, and the factors have low rank.
  std::string statistics = "standard";
  /// 0: refreshes all layers in one step. k: refreshes a k-th of the layers in each of k steps, evenly spread over `frequency`;
  /// the first refresh covers all layers.
  int64_t stagger = 0;
  /// Reduction over ranks and virtual ranks. "factor_mean": averages factors, then inverts them. "inverse_mean": inverts the
  /// factors of every rank and virtual rank, then averages the inverses.
  std::string reduce = "factor_mean";
  /// Which ranks invert averaged factors. "replicate": every rank inverts all. "shard": each block is inverted by the
  /// rank with the least work. "auto": shard if that is faster for the blocks' widths (above 512). Results are bitwise
  /// identical.
  std::string distribute = "auto";
  /// Last layers of the buckets in which factors are averaged, counted from 0 among the layers with factors (nn.thor's
  /// split_indices); empty: one bucket.
  std::vector<int64_t> split_indices = {};
  /// "mindspore": computes what MindSpore 2.10 computes on a GPU, for comparison: batch_mean, inverse_mean, and A of a
  /// matrix product divided by its width instead of its rows.
  std::string compat = {};
  GradClip grad_clip = {};
};

/// THOR (Chen et al., AAAI 2021; MindSpore: nn.thor). For the weights of matrix products and convolutions and for
/// embedding tables it computes
///
///   U = G⁻¹·dW·A⁻¹,   A = E[aᵀa],  G = E[gᵀg]      a: input of the weight, g: gradient of one sample with respect to the output
///
/// with damped factors computed from one mini-batch and reused for `frequency` updates. gamma and beta of layer norms follow a
/// diagonal rule; other parameters use their plain gradient. Weight decay, clipping and momentum are applied afterwards: v =
/// momentum·v + U; w -= lr·v. The training step records the inputs of each weight (ParamUse), so networks need no changes.
///
/// State: `moments.<param>` (v) and momentum; after the first refresh also `matrix_a_inv.<param>` and `matrix_g_inv.<param>`
/// ([blocks, width, width]; an embedding's matrix_a_inv is a vector) and thor_ready. Joint damping stores
/// `matrix_a_vectors.<param>`, `matrix_a_values.<param>` and so on instead. factor_decay adds `matrix_a.<param>` and
/// `matrix_g.<param>`; trace_rule adds `thor_trace.<param>`.
class SINDRI_API Thor final : public Optimizer {
 public:
  using Options = ThorOptions;
  /// Throws ValueError for values out of range and for options that exclude each other, and the same errors as Optimizer.
  Thor(Params params, const Options& o);
  ~Thor() override;

  bool wants_uses() const override { return true; }
  /// Returns natural gradients, and unscaled gradients of all other parameters. A step without a refresh needs no uses once
  /// knows_layers() is true.
  Gradients precondition(Gradients g) override;
  /// Whether a step with uses was traced or run, so that the layer of each parameter is known.
  bool knows_layers() const;
  /// 0: computes and inverts curvature; 1: reuses it; 2 + p: refreshes piece p of `stagger`. Throws ValueError past the
  /// end of a table of dampings.
  int variant(int64_t step) const override;
  std::string variant_name(int variant) const override;
  /// Lines with the number of preconditioned parameters, the memory of their inverses and the layers with most of it, and how
  /// inversions are divided among ranks.
  std::vector<std::string> report() const override;
  /// Traces of A and G of every layer at its last refresh, before damping.
  std::vector<Measure> measures() const override;
  bool remeasures(int variant) const override;
  /// Kind, widths and memory of each parameter.
  std::vector<std::vector<std::string>> holdings() const override;
  std::vector<Parameter*> state() override;
  void expect_state(const std::map<std::string, TensorMeta>& stored) override;
  /// Changes the damping from the next step on. Throws ValueError for a negative one.
  void set_damping(const LearningRate& damping);
  /// Changes the frequency from the next step on. Throws ValueError below 1.
  void set_frequency(int64_t frequency);

  /// Curvature of one parameter.
  struct Curvature {
    std::string param;  ///< name of the parameter
    std::string kind;  ///< "matmul", "conv2d" or "embedding"
    int64_t a_dim = 0, g_dim = 0;  ///< widths of the factors
    int64_t bytes = 0;  ///< memory of the inverses
  };
  /// Preconditioned parameters, in the order of parameters(); empty before the first refresh.
  std::vector<Curvature> curvature() const;

 protected:
  std::vector<Slot> slots() const override { return {{.prefix = "moments"}}; }
  bool filters_decay() const override { return false; }
  Tensor update(const Parameter& p, const Tensor& grad, const Tensor& lr, double weight_decay, const UpdateControl& control,
                const std::vector<Parameter*>& state) override;

 private:
  struct Impl;
  std::unique_ptr<Impl> thor_;
};

}  // namespace sindri::optim

namespace sindri {

/// Makes Thor for a network's trainable parameters, with the arguments of MindSpore's nn.thor and their defaults. net is a Cell,
/// or another type with trainable_params(). Throws the same errors as optim::Thor.
template <class Net> std::shared_ptr<optim::Thor> thor(Net& net, const optim::LearningRate& learning_rate, const optim::LearningRate& damping, double momentum,
                                                       double weight_decay = 0, double loss_scale = 1, int64_t batch_size = 32, bool use_nesterov = false,
                                                       std::function<bool(const Parameter&)> decay_filter = {}, std::vector<int64_t> split_indices = {},
                                                       bool enable_clip_grad = false, int64_t frequency = 100) {
  optim::ThorOptions o;
  o.learning_rate = learning_rate, o.damping = damping, o.momentum = momentum, o.weight_decay = weight_decay, o.loss_scale = loss_scale;
  o.batch_size = batch_size, o.use_nesterov = use_nesterov, o.decay_filter = std::move(decay_filter), o.split_indices = std::move(split_indices);
  o.enable_clip_grad = enable_clip_grad, o.frequency = frequency;
  return std::make_shared<optim::Thor>(optim::Params(net.trainable_params()), o);
}

}  // namespace sindri
