// Dense.
#pragma once
#include <memory>
#include <string>

#include "sindri/nn/cell.h"
#include "sindri/nn/initializer.h"

namespace sindri::nn {

/// Of Dense: channels, initial values, bias and activation.
struct DenseOptions {
  int64_t in_channels = 0;  ///< required
  int64_t out_channels = 0;  ///< required
  Init weight_init = "normal";
  Init bias_init = "zeros";
  bool has_bias = true;
  std::string activation = "";  ///< a name for get_activation, or none
};

/// y = activation(x·Wᵀ + b): x [..., in] -> [..., out]. Parameters weight [out, in] and bias [out].
class SINDRI_API Dense final : public Cell {
 public:
  using Options = DenseOptions;
  explicit Dense(Options o);
  static std::shared_ptr<Dense> make(Options o) { return std::make_shared<Dense>(std::move(o)); }
  Tensor construct(const Tensor& x) override;
  std::string describe() const override;
  /// From now on y = activation(multiplier·(x/‖x‖)·(W/‖W‖)ᵀ), rows of both of length 1 (‖v‖² at least 1e-4): the bias is gone, the multiplier is
  /// trained. Before anything refers to the bias.
  void normalize(double multiplier);
  Parameter& weight() { return *weight_; }
  /// Null without bias.
  Parameter* bias() { return bias_; }

 private:
  Options options_;
  Parameter* weight_ = nullptr;
  Parameter* bias_ = nullptr;
  Parameter* multiplier_ = nullptr;  ///< of one that is normalized
  CellPtr activation_;
};

}  // namespace sindri::nn
