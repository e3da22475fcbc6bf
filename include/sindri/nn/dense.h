// Fully connected layer.
#pragma once
#include <memory>
#include <string>

#include "sindri/nn/cell.h"
#include "sindri/nn/initializer.h"

namespace sindri::nn {

/// Options of Dense.
struct DenseOptions {
  int64_t in_channels = 0;  ///< required
  int64_t out_channels = 0;  ///< required
  Init weight_init = "normal";  ///< initial values of the weight
  Init bias_init = "zeros";  ///< initial values of the bias
  bool has_bias = true;  ///< adds a bias
  std::string activation = "";  ///< name for get_activation; empty: none
};

/// y = activation(x·Wᵀ + b) for x [..., in] -> [..., out] (MindSpore: nn.Dense). Parameters weight [out, in] and, with
/// has_bias, bias [out].
class SINDRI_API Dense final : public Cell {
 public:
  using Options = DenseOptions;
  /// Throws ValueError for missing options and unknown names.
  explicit Dense(Options o);
  static std::shared_ptr<Dense> make(Options o) { return std::make_shared<Dense>(std::move(o)); }
  Tensor construct(const Tensor& x) override;
  std::string describe() const override;
  /// Changes the layer to y = activation(multiplier·(x/‖x‖)·(W/‖W‖)ᵀ) with rows of x and W normalised to length 1 (‖v‖²
  /// at least 1e-4). Removes the bias; `multiplier` is the initial value of a trained parameter. Call it before
  /// anything refers to the bias.
  void normalize(double multiplier);
  /// Parameter [out, in].
  Parameter& weight() { return *weight_; }
  /// Parameter [out]; null without bias.
  Parameter* bias() { return bias_; }

 private:
  Options options_;
  Parameter* weight_ = nullptr;
  Parameter* bias_ = nullptr;
  Parameter* multiplier_ = nullptr;  ///< null unless normalize() was called
  CellPtr activation_;
};

}  // namespace sindri::nn
