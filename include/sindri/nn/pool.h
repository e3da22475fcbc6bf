// Pooling layers over the last two dimensions of [N, C, H, W].
#pragma once
#include <memory>
#include <string>

#include "sindri/nn/cell.h"
#include "sindri/nn/size.h"

namespace sindri::nn {

/// Options of MaxPool2d.
struct MaxPool2dOptions {
  Size2 kernel_size = 1;  ///< height, width
  Size2 stride = 1;  ///< rows, columns; PyTorch's default is the kernel size
  std::string pad_mode = "valid";  ///< valid, same (as Conv2d; pads with -inf) or pad
  Pad4 padding = 0;  ///< with pad_mode "pad" only; at most half the kernel
  bool ceil_mode = false;  ///< rounds the output size up; not with pad_mode "same"
};

/// Largest value of each window, [N, C, H, W] -> [N, C, OH, OW] (MindSpore: nn.MaxPool2d).
class SINDRI_API MaxPool2d final : public Cell {
 public:
  using Options = MaxPool2dOptions;
  /// Throws ValueError for contradictory options.
  explicit MaxPool2d(Options o);
  static std::shared_ptr<MaxPool2d> make(Options o) { return std::make_shared<MaxPool2d>(std::move(o)); }
  Tensor construct(const Tensor& x) override;
  std::string describe() const override;

 private:
  Options options_;
};

/// Options of AvgPool2d.
struct AvgPool2dOptions {
  Size2 kernel_size = 1;  ///< height, width
  Size2 stride = 1;  ///< rows, columns
  std::string pad_mode = "valid";  ///< valid, same (as Conv2d) or pad
  Pad4 padding = 0;  ///< with pad_mode "pad" only; at most half the kernel
  bool ceil_mode = false;  ///< rounds the output size up; not with pad_mode "same"
  bool count_include_pad = true;  ///< padding counts in the divisor; with pad_mode "pad" only, "same" never counts it
};

/// Mean of each window, [N, C, H, W] -> [N, C, OH, OW] (MindSpore: nn.AvgPool2d).
class SINDRI_API AvgPool2d final : public Cell {
 public:
  using Options = AvgPool2dOptions;
  /// Throws ValueError for contradictory options.
  explicit AvgPool2d(Options o);
  static std::shared_ptr<AvgPool2d> make(Options o) { return std::make_shared<AvgPool2d>(std::move(o)); }
  Tensor construct(const Tensor& x) override;
  std::string describe() const override;

 private:
  Options options_;
};

/// Options of AdaptiveAvgPool2d.
struct AdaptiveAvgPool2dOptions {
  Size2 output_size = 0;  ///< height, width; required
};

/// Means of windows sized to give [N, C, h, w] for any input [N, C, H, W] (MindSpore: nn.AdaptiveAvgPool2d).
class SINDRI_API AdaptiveAvgPool2d final : public Cell {
 public:
  using Options = AdaptiveAvgPool2dOptions;
  /// Throws ValueError for a missing size.
  explicit AdaptiveAvgPool2d(Options o);
  static std::shared_ptr<AdaptiveAvgPool2d> make(Options o) { return std::make_shared<AdaptiveAvgPool2d>(o); }
  Tensor construct(const Tensor& x) override;
  std::string describe() const override;

 private:
  Options options_;
};

/// Mean over H and W, [N, C, H, W] -> [N, C, 1, 1].
class SINDRI_API GlobalAvgPool final : public Cell {
 public:
  GlobalAvgPool() : Cell("GlobalAvgPool") {}
  static std::shared_ptr<GlobalAvgPool> make() { return std::make_shared<GlobalAvgPool>(); }
  Tensor construct(const Tensor& x) override;
};

}  // namespace sindri::nn
