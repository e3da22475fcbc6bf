// THOR: natural gradients from Kronecker-factored curvature, refreshed once in a while.
#pragma once
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "sindri/optim/optimizer.h"

namespace sindri::optim {

/// Options of Thor. The first twelve are MindSpore's nn.thor, with its defaults.
struct ThorOptions {
  LearningRate learning_rate = 0.1;
  /// λ ≥ 0 by update: a number, a table with one entry per update of the training, or a schedule. Each factor gets the square root of it on its
  /// diagonal (of λ/positions for convolutions) before it is inverted.
  LearningRate damping = 0.03;
  double momentum = 0.9;
  WeightDecay weight_decay = 0;  ///< of every parameter that decay_filter takes, added behind the preconditioning
  double loss_scale = 1;
  /// How many items the loss of one rank (of one virtual rank) is the mean of, for a mean over tokens tokens; 0: the samples of the batch.
  int64_t batch_size = 0;
  bool use_nesterov = false;
  std::function<bool(const Parameter&)> decay_filter = {};  ///< which parameters decay; undefined: all
  bool enable_clip_grad = false;  ///< each tensor's step before momentum has a norm of at most 1
  int64_t frequency = 100;  ///< curvature is taken and inverted at updates 0, frequency, 2·frequency, …; 1: at each
  int64_t block_size = 128;  ///< a factor keeps its diagonal blocks of this width; 0: the whole factor
  /// How much of the running average of a factor stays at a refresh; 0: the factors of one batch alone. It begins with the first batch's.
  double factor_decay = 0;
  /// κ > 0: all preconditioned gradients are multiplied by min(1, sqrt(κ/(lr²·Σ<U, g>))) (KAISA's kl_clip); 0: off.
  double kl_clip = 0;
  /// {ω1, ω2}: a parameter's curvature is kept where the trace of its Fisher block changed by at most ω1 relative to the last one that was
  /// taken, and for good once it changed by less than ω2 (THOR, AAAI 2021, "trace rule"); empty: never kept.
  std::vector<double> trace_rule = {};
  /// The bias that is added to a layer's result is part of its weight: A gets a row and column for an input that is always 1 (K-FAC, section 3.1).
  bool fold_bias = false;
  /// "factored": A and G get √λ each. "joint": A⊗G gets λ, by eigenvectors of both instead of inverses, which are some nine times as many operations; λ may then change with
  /// every step.
  std::string damping_form = "factored";
  /// "standard": E[aᵀa] and E[gᵀg] over samples and positions. "batch_mean": convolutions take both of the means over the batch, as MindSpore on GPU does; it
  /// is cheaper by the size of the batch, and of low rank.
  std::string statistics = "standard";
  /// 0: all layers are refreshed in one step. k: a k-th of them in each of k steps, evenly spread over `frequency` (the first refresh is of all).
  int64_t stagger = 0;
  /// Over ranks and virtual ranks: "factor_mean": factors are averaged, then inverted; "inverse_mean": every part's own inverses are averaged.
  std::string reduce = "factor_mean";
  /// Who inverts averaged factors: "replicate": every rank all of them; "shard": each block on the rank that has least to do; "auto": shard where that is
  /// quicker by the widths of the blocks (above 512). The results have the same bits.
  std::string distribute = "auto";
  /// Last layers of the buckets in which factors are averaged, counted from 0 among the layers with factors (nn.thor's split_indices); empty: one bucket.
  std::vector<int64_t> split_indices = {};
  /// "mindspore": what MindSpore 2.10 computes on a GPU, for comparison: batch_mean, A of a matrix product divided by its width instead of by its rows,
  /// inverse_mean.
  std::string compat = {};
  GradClip grad_clip = {};
};

/// THOR (Chen et al., AAAI 2021; MindSpore: nn.thor): for the weights of matrix products and convolutions and for embedding tables
///
///   U = G⁻¹·dW·A⁻¹,   A = E[aᵀa],  G = E[gᵀg]      a: what the weight meets, g: the gradient of one sample with respect to its result
///
/// with damped factors of one mini-batch that are reused for `frequency` updates; gamma and beta of layer norms by a diagonal rule; other parameters
/// take their gradient. Behind that come weight decay, clipping and momentum: v = momentum·v + U; w -= lr·v. What a weight meets is read from the
/// uses that the training step keeps (ParamUse), so that networks stay as they are.
///
/// State: `moments.<param>`, momentum; from the first refresh on `matrix_a_inv.<param>` and `matrix_g_inv.<param>` ([blocks, width, width]; an
/// embedding's matrix_a_inv is a vector; with joint damping `matrix_a_vectors.<param>`, `matrix_a_values.<param>` and so on), thor_ready, with factor_decay
/// `matrix_a.<param>`, `matrix_g.<param>`, and with trace_rule `thor_trace.<param>`.
class SINDRI_API Thor final : public Optimizer {
 public:
  using Options = ThorOptions;
  /// Throws ValueError for numbers out of range, and as Optimizer.
  Thor(Params params, const Options& o);
  ~Thor() override;

  bool wants_uses() const override { return true; }
  /// The natural gradients, and unscaled ones of everything else. A step that refreshes nothing needs no uses once knows_layers().
  Gradients precondition(Gradients g) override;
  /// Whether a step with uses has been seen (traced or run), so that it is known what each parameter belongs to.
  bool knows_layers() const;
  /// 0: curvature is taken and inverted; 1: what is there is used; 2 + p: piece p of `stagger` is refreshed. Throws ValueError behind the end of a table of dampings.
  int variant(int64_t step) const override;
  std::string variant_name(int variant) const override;
  /// How many parameters are preconditioned, the memory of their inverses, and the layers that hold most of it; how inversions are shared out.
  std::vector<std::string> report() const override;
  /// The traces of A and G of every layer, as of its last refresh (before damping).
  std::vector<Measure> measures() const override;
  bool measures_anew(int variant) const override;
  /// Kind, widths and memory by parameter.
  std::vector<std::vector<std::string>> holdings() const override;
  std::vector<Parameter*> state() override;
  void expect_state(const std::map<std::string, TensorMeta>& stored) override;
  /// Another damping from the next step on. Throws ValueError for a negative one.
  void set_damping(const LearningRate& damping);
  /// Another frequency from the next step on. Throws ValueError below 1.
  void set_frequency(int64_t frequency);

  /// Curvature of one parameter.
  struct Curvature {
    std::string param;
    std::string kind;  ///< "matmul", "conv2d", "embedding"
    int64_t a_dim = 0, g_dim = 0;  ///< widths of the factors
    int64_t bytes = 0;  ///< of the inverses
  };
  /// What is preconditioned, in the order of parameters(); empty before the first refresh.
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

/// Thor of a network's trainable parameters, by the arguments of MindSpore's nn.thor and with its defaults. net: a Cell, or what has trainable_params().
/// Throws as optim::Thor.
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
