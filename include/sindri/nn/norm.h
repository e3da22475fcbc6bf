// Normalisation layers.
#pragma once
#include <memory>
#include <optional>
#include <string>

#include "sindri/nn/cell.h"
#include "sindri/nn/initializer.h"

namespace sindri::nn {

/// Options of batch norms.
struct BatchNormOptions {
  int64_t num_features = 0;  ///< required
  double eps = 1e-5;  ///< added to the variance
  double momentum = 0.9;  ///< weight of the OLD moving value (PyTorch's momentum is 1 - this)
  bool affine = true;  ///< false: gamma and beta are not trained
  Init gamma_init = "ones";  ///< initial values of gamma
  Init beta_init = "zeros";  ///< initial values of beta
  Init moving_mean_init = "zeros";  ///< initial values of moving_mean
  Init moving_var_init = "ones";  ///< initial values of moving_variance
  /// Unset: batch statistics in training, moving statistics otherwise. Set: always batch (true) or moving (false)
  /// statistics.
  std::optional<bool> use_batch_statistics = std::nullopt;
};

/// Batch norm over every dimension but 1 (MindSpore: nn.BatchNorm2d). Parameters gamma and beta and buffers moving_mean
/// and moving_variance, each [C]. With batch statistics, moving = momentum·moving + (1 - momentum)·batch. This update
/// uses the unbiased batch variance (divided by count - 1, or by 1 for a count of 1), as MindSpore's CPU kernel and
/// PyTorch do; y itself is normalised with the biased variance.
class SINDRI_API BatchNorm : public Cell {
 public:
  using Options = BatchNormOptions;
  Tensor construct(const Tensor& x) override;
  std::string describe() const override;
  /// Options as given.
  const Options& options() const { return options_; }
  /// Sets BatchNormOptions::use_batch_statistics. Graphs that were traced before keep the old value.
  void use_batch_statistics(std::optional<bool> use) { options_.use_batch_statistics = use; }
  /// Computes statistics and their gradient over the batches of a group of ranks (sindri/comm/communicator.h), each
  /// weighted by its size; empty: over this rank's batch alone. All members must run the layer at the same time.
  void set_sync_group(std::string group) { sync_group_ = std::move(group); }
  /// Group of set_sync_group.
  const std::string& sync_group() const { return sync_group_; }
  /// Removes the layer's parameters and makes it return its input (networks with fewer batch norms). Call it before
  /// anything refers to the parameters.
  void bypass();
  /// Whether the layer is bypassed.
  bool bypassed() const { return gamma_ == nullptr; }
  // Not available in a bypassed layer.
  Parameter& gamma() { return *gamma_; }
  Parameter& beta() { return *beta_; }
  Parameter& moving_mean() { return *moving_mean_; }
  Parameter& moving_variance() { return *moving_variance_; }

 protected:
  /// Throws ValueError for missing options and values out of range.
  BatchNorm(std::string class_name, int min_rank, int max_rank, Options o);

 private:
  Tensor over_group(const Tensor& x);
  template <class Factor> void update_moving(const Tensor& mean, const Tensor& var, const Factor& unbias);
  Options options_;
  std::string sync_group_;
  int min_rank_, max_rank_;
  Parameter *gamma_, *beta_, *moving_mean_, *moving_variance_;
};

/// Batch norm of x [N, C] or [N, C, L] (MindSpore: nn.BatchNorm1d).
class SINDRI_API BatchNorm1d final : public BatchNorm {
 public:
  explicit BatchNorm1d(Options o) : BatchNorm("BatchNorm1d", 2, 3, std::move(o)) {}
  static std::shared_ptr<BatchNorm1d> make(Options o) { return std::make_shared<BatchNorm1d>(std::move(o)); }
};

/// Batch norm of x [N, C, H, W] (MindSpore: nn.BatchNorm2d).
class SINDRI_API BatchNorm2d final : public BatchNorm {
 public:
  explicit BatchNorm2d(Options o) : BatchNorm("BatchNorm2d", 4, 4, std::move(o)) {}
  static std::shared_ptr<BatchNorm2d> make(Options o) { return std::make_shared<BatchNorm2d>(std::move(o)); }
};

/// Options of LayerNorm.
struct LayerNormOptions {
  Shape normalized_shape = {};  ///< required: shape of gamma and beta
  int64_t begin_norm_axis = -1;  ///< first dimension of the statistics, which extend to the last
  int64_t begin_params_axis = -1;  ///< first dimension of gamma and beta
  Init gamma_init = "ones";  ///< initial values of gamma
  Init beta_init = "zeros";  ///< initial values of beta
  double epsilon = 1e-7;  ///< added to the variance (PyTorch: 1e-5)
};

/// Layer norm (Ba et al. 2016; MindSpore: nn.LayerNorm). Parameters gamma and beta of normalized_shape.
class SINDRI_API LayerNorm final : public Cell {
 public:
  using Options = LayerNormOptions;
  /// Throws ValueError for a missing shape and an epsilon that is not positive.
  explicit LayerNorm(Options o);
  static std::shared_ptr<LayerNorm> make(Options o) { return std::make_shared<LayerNorm>(std::move(o)); }
  Tensor construct(const Tensor& x) override;
  std::string describe() const override;

 private:
  Options options_;
  Parameter *gamma_, *beta_;
};

}  // namespace sindri::nn
