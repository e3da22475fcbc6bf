// Pooling layers over the last two dimensions of [N, C, H, W].
#pragma once
#include <memory>
#include <string>

#include "sindri/nn/cell.h"
#include "sindri/nn/size.h"

namespace sindri::nn {

/// Of MaxPool2d: window, stride and padding.
struct MaxPool2dOptions {
  Size2 kernel_size = 1;
  Size2 stride = 1;  ///< 1 unless given (PyTorch: the kernel size)
  std::string pad_mode = "valid";  ///< valid, same (as Conv2d; pads with -inf) or pad
  Pad4 padding = 0;  ///< with pad_mode "pad" only; at most half the kernel
  bool ceil_mode = false;  ///< not with pad_mode "same"
};

/// The largest value in each window of [N, C, H, W] (MindSpore: nn.MaxPool2d).
class SINDRI_API MaxPool2d final : public Cell {
 public:
  using Options = MaxPool2dOptions;
  explicit MaxPool2d(Options o);
  static std::shared_ptr<MaxPool2d> make(Options o) { return std::make_shared<MaxPool2d>(std::move(o)); }
  Tensor construct(const Tensor& x) override;
  std::string describe() const override;

 private:
  Options options_;
};

/// Of AvgPool2d: window, stride and padding.
struct AvgPool2dOptions {
  Size2 kernel_size = 1;
  Size2 stride = 1;
  std::string pad_mode = "valid";
  Pad4 padding = 0;
  bool ceil_mode = false;
  bool count_include_pad = true;  ///< with pad_mode "pad"; "same" never counts its padding
};

/// The mean of each window of [N, C, H, W] (MindSpore: nn.AvgPool2d).
class SINDRI_API AvgPool2d final : public Cell {
 public:
  using Options = AvgPool2dOptions;
  explicit AvgPool2d(Options o);
  static std::shared_ptr<AvgPool2d> make(Options o) { return std::make_shared<AvgPool2d>(std::move(o)); }
  Tensor construct(const Tensor& x) override;
  std::string describe() const override;

 private:
  Options options_;
};

/// Of AdaptiveAvgPool2d: the size of the result.
struct AdaptiveAvgPool2dOptions {
  Size2 output_size = 0;  ///< required
};

/// Means of windows that give [N, C, h, w] of any input (MindSpore: nn.AdaptiveAvgPool2d).
class SINDRI_API AdaptiveAvgPool2d final : public Cell {
 public:
  using Options = AdaptiveAvgPool2dOptions;
  explicit AdaptiveAvgPool2d(Options o);
  static std::shared_ptr<AdaptiveAvgPool2d> make(Options o) { return std::make_shared<AdaptiveAvgPool2d>(o); }
  Tensor construct(const Tensor& x) override;
  std::string describe() const override;

 private:
  Options options_;
};

/// Mean over H and W: [N, C, H, W] -> [N, C, 1, 1].
class SINDRI_API GlobalAvgPool final : public Cell {
 public:
  GlobalAvgPool() : Cell("GlobalAvgPool") {}
  static std::shared_ptr<GlobalAvgPool> make() { return std::make_shared<GlobalAvgPool>(); }
  Tensor construct(const Tensor& x) override;
};

}  // namespace sindri::nn
