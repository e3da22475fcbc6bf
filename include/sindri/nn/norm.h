// Normalisation layers.
#pragma once
#include <memory>
#include <optional>
#include <string>

#include "sindri/nn/cell.h"
#include "sindri/nn/initializer.h"

namespace sindri::nn {

/// Of batch norms: features, epsilon, momentum, initial values and which statistics are used.
struct BatchNormOptions {
  int64_t num_features = 0;  ///< required
  double eps = 1e-5;
  double momentum = 0.9;  ///< weight of the OLD moving value (PyTorch's momentum is 1 - this)
  bool affine = true;  ///< false: gamma and beta are not trained
  Init gamma_init = "ones";
  Init beta_init = "zeros";
  Init moving_mean_init = "zeros";
  Init moving_var_init = "ones";
  /// Unset: batch statistics in training, moving ones otherwise. Set: always the one or the other.
  std::optional<bool> use_batch_statistics = std::nullopt;
};

/// Parameters gamma, beta and buffers moving_mean, moving_variance, each [C].
/// Where the batch's are used, moving = momentum·moving + (1 - momentum)·batch, where the batch variance is the unbiased one (divided by
/// count - 1; by 1 for a count of 1), as MindSpore's CPU kernel and PyTorch do; y itself is normalised with the biased one.
class SINDRI_API BatchNorm : public Cell {
 public:
  using Options = BatchNormOptions;
  Tensor construct(const Tensor& x) override;
  std::string describe() const override;
  const Options& options() const { return options_; }
  /// See BatchNormOptions. A graph that was traced before does not see it.
  void use_batch_statistics(std::optional<bool> use) { options_.use_batch_statistics = use; }
  /// A group of ranks (sindri/comm/communicator.h) whose batches are one for the statistics, each by its size, and for the gradient; empty: this
  /// rank's batch alone. All members run the layer at the same time.
  void set_sync_group(std::string group) { sync_group_ = std::move(group); }
  const std::string& sync_group() const { return sync_group_; }
  /// From now on the layer hands its input on, and its parameters are gone (networks with fewer batch norms). Before anything refers to them.
  void bypass();
  bool bypassed() const { return gamma_ == nullptr; }
  // Not of a layer that is bypassed.
  Parameter& gamma() { return *gamma_; }
  Parameter& beta() { return *beta_; }
  Parameter& moving_mean() { return *moving_mean_; }
  Parameter& moving_variance() { return *moving_variance_; }

 protected:
  BatchNorm(std::string class_name, int min_rank, int max_rank, Options o);

 private:
  Tensor over_group(const Tensor& x);
  template <class Factor> void update_moving(const Tensor& mean, const Tensor& var, const Factor& unbias);
  Options options_;
  std::string sync_group_;
  int min_rank_, max_rank_;
  Parameter *gamma_, *beta_, *moving_mean_, *moving_variance_;
};

/// x [N, C] or [N, C, L].
class SINDRI_API BatchNorm1d final : public BatchNorm {
 public:
  explicit BatchNorm1d(Options o) : BatchNorm("BatchNorm1d", 2, 3, std::move(o)) {}
  static std::shared_ptr<BatchNorm1d> make(Options o) { return std::make_shared<BatchNorm1d>(std::move(o)); }
};

/// x [N, C, H, W].
class SINDRI_API BatchNorm2d final : public BatchNorm {
 public:
  explicit BatchNorm2d(Options o) : BatchNorm("BatchNorm2d", 4, 4, std::move(o)) {}
  static std::shared_ptr<BatchNorm2d> make(Options o) { return std::make_shared<BatchNorm2d>(std::move(o)); }
};

/// Of LayerNorm: the shape that is normalised, epsilon and initial values.
struct LayerNormOptions {
  Shape normalized_shape = {};  ///< required: shape of gamma and beta
  int64_t begin_norm_axis = -1;  ///< statistics run over the dimensions from here on
  int64_t begin_params_axis = -1;  ///< gamma and beta apply from here on
  Init gamma_init = "ones";
  Init beta_init = "zeros";
  double epsilon = 1e-7;  ///< PyTorch: 1e-5
};

/// Parameters gamma and beta of normalized_shape (Ba et al. 2016).
class SINDRI_API LayerNorm final : public Cell {
 public:
  using Options = LayerNormOptions;
  explicit LayerNorm(Options o);
  static std::shared_ptr<LayerNorm> make(Options o) { return std::make_shared<LayerNorm>(std::move(o)); }
  Tensor construct(const Tensor& x) override;
  std::string describe() const override;

 private:
  Options options_;
  Parameter *gamma_, *beta_;
};

}  // namespace sindri::nn
