// Residual networks (He et al. 2016; squeeze-and-excitation: Hu et al. 2018), described by data and built from two kinds of block.
#pragma once
#include <string>
#include <vector>

#include "models/common.h"
#include "sindri/nn/nn.h"

namespace sindri::models {

/// The differences between variants, and weight initialisation.
struct ResNetStyle {
  bool same_padding = true;  // pad_mode "same"; otherwise explicit padding k/2
  double eps = 1e-4;  // of batch norm
  bool zero_init_residual = false;
  nn::Init conv_init = "xavier_uniform", dense_init = "truncatednormal";
  bool torch_dense_bias = false;  // U(±1/sqrt(fan_in)) instead of zeros
};

struct ResNetSpec {
  enum class Block { kBasic, kBottleneck };
  enum class Stem { kImageNet, kThreeConvs, kCifar };  // 7x7 stride 2 and pool; three 3x3 (stride 2) and pool; one 3x3
  /// kZoo, as in MindSpore's SE-ResNet-50: SE in the last block of stages 3 and 4 (reduction 4), strides by pooling. kAll, as in
  /// the paper: SE in every block, reduction 16.
  enum class Squeeze { kNone, kZoo, kAll };
  Block block = Block::kBottleneck;
  Stem stem = Stem::kImageNet;
  Squeeze squeeze = Squeeze::kNone;
  std::vector<int64_t> layers;  // blocks per stage
  std::vector<int64_t> widths;  // output channels per stage
};

/// Parameter names are MindSpore's: conv1.weight, bn1.gamma, layer1.0.conv1.weight, layer1.0.down_sample_layer.0.weight,
/// end_point.weight. As in MindSpore, the batch norms of basic blocks are bn1d and bn2d.
class ResNet final : public nn::Cell {
 public:
  ResNet(const ResNetSpec& spec, const ResNetStyle& style, int64_t in_channels, int64_t num_classes);
  /// [N, C, H, W] -> [N, num_classes]
  Tensor construct(const Tensor& x) override;

 private:
  std::shared_ptr<nn::SequentialCell> stage(const ResNetSpec& spec, const ResNetStyle& style, size_t index, int64_t in);
  std::vector<nn::CellPtr> stem_, stages_;  // stem: conv, bn, conv, bn, …
  nn::CellPtr maxpool_;
  std::shared_ptr<nn::Dense> end_point_;
};

}  // namespace sindri::models
