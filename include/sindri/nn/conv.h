// 2-D convolution layer.
#pragma once
#include <memory>
#include <string>

#include "sindri/nn/cell.h"
#include "sindri/nn/initializer.h"
#include "sindri/nn/size.h"

namespace sindri::nn {

/// Options of Conv2d, with MindSpore's defaults: pad_mode "same", no bias, N(0, 0.01²). PyTorch's defaults: no padding,
/// a bias, HeUniform(sqrt(5)).
struct Conv2dOptions {
  int64_t in_channels = 0;  ///< required
  int64_t out_channels = 0;  ///< required
  Size2 kernel_size = 0;  ///< required
  Size2 stride = 1;  ///< rows, columns
  /// same: output ceil(in/stride), with odd padding at the bottom and right; valid: no padding; pad: `padding` zeros.
  std::string pad_mode = "same";
  Pad4 padding = 0;  ///< zeros at top, bottom, left, right; with pad_mode "pad" only
  Size2 dilation = 1;  ///< rows, columns
  int64_t group = 1;  ///< channels are divided into this many groups
  bool has_bias = false;  ///< adds a bias per output channel
  Init weight_init = "normal";  ///< initial values of the weight
  Init bias_init = "zeros";  ///< initial values of the bias
};

/// 2-D convolution, x [N, in, H, W] -> [N, out, OH, OW] (MindSpore: nn.Conv2d). Parameters weight [out, in/group, kh,
/// kw] and, with has_bias, bias [out].
class SINDRI_API Conv2d final : public Cell {
 public:
  using Options = Conv2dOptions;
  explicit Conv2d(Options o);
  /// Throws ValueError for missing or contradictory options.
  static std::shared_ptr<Conv2d> make(Options o) { return std::make_shared<Conv2d>(std::move(o)); }
  Tensor construct(const Tensor& x) override;
  std::string describe() const override;
  /// Options as given.
  const Options& options() const { return options_; }
  /// Parameter [out, in/group, kh, kw].
  Parameter& weight() { return *weight_; }
  /// Parameter [out]; null without bias.
  Parameter* bias() { return bias_; }

 private:
  Options options_;
  Parameter* weight_ = nullptr;
  Parameter* bias_ = nullptr;
};

}  // namespace sindri::nn
