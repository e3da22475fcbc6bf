// See resnet.h.
#include "models/resnet.h"

#include <cmath>

#include "sindri/ops/elementwise.h"
#include "sindri/ops/pool.h"
#include "sindri/ops/shape.h"

namespace sindri::models {

namespace {

constexpr int64_t kExpansion = 4;  // output channels of a bottleneck per inner channel

std::shared_ptr<nn::Conv2d> conv(const ResNetStyle& s, int64_t in, int64_t out, int64_t kernel, int64_t stride = 1) {
  const int64_t pad = s.same_padding ? 0 : kernel / 2;
  return nn::Conv2d::make({.in_channels = in,
                           .out_channels = out,
                           .kernel_size = kernel,
                           .stride = stride,
                           .pad_mode = s.same_padding ? "same" : "pad",
                           .padding = pad,
                           .weight_init = s.conv_init});
}

std::shared_ptr<nn::BatchNorm2d> norm(const ResNetStyle& s, int64_t channels, bool last = false) {
  return nn::BatchNorm2d::make({.num_features = channels, .eps = s.eps, .momentum = 0.9, .gamma_init = last && s.zero_init_residual ? "zeros" : "ones"});
}

std::shared_ptr<nn::Dense> dense(const ResNetStyle& s, int64_t in, int64_t out) {
  return nn::Dense::make({.in_channels = in, .out_channels = out, .weight_init = s.dense_init, .bias_init = s.torch_dense_bias ? torch_bias(in) : "zeros"});
}

std::shared_ptr<nn::MaxPool2d> max_pool(const ResNetStyle& s, int64_t kernel) {
  if (s.same_padding || kernel == 2) return nn::MaxPool2d::make({.kernel_size = kernel, .stride = 2, .pad_mode = "same"});
  return nn::MaxPool2d::make({.kernel_size = kernel, .stride = 2, .pad_mode = "pad", .padding = kernel / 2});
}

// The shortcut if shape or channels change; null for the identity.
std::shared_ptr<nn::SequentialCell> shortcut(const ResNetStyle& s, int64_t in, int64_t out, int64_t stride, bool pooled) {
  if (stride == 1 && in == out) return nullptr;
  if (pooled && stride != 1) return nn::SequentialCell::make(max_pool(s, 2), conv(s, in, out, 1), norm(s, out));
  return nn::SequentialCell::make(conv(s, in, out, 1, stride), norm(s, out));
}

class BasicBlock final : public nn::Cell {
 public:
  BasicBlock(const ResNetStyle& s, int64_t in, int64_t out, int64_t stride)
      : Cell("BasicBlock"),
        conv1_(child("conv1", conv(s, in, out, 3, stride))),
        bn1_(child("bn1d", norm(s, out))),
        conv2_(child("conv2", conv(s, out, out, 3))),
        bn2_(child("bn2d", norm(s, out, true))),
        shortcut_(shortcut(s, in, out, stride, false)) {
    if (shortcut_ != nullptr) add_child("down_sample_layer", shortcut_);
    bn1_->add_flag("inner_norm_of_two", true);
  }

  Tensor construct(const Tensor& x) override {
    const Tensor y = (*bn2_)((*conv2_)(ops::relu((*bn1_)((*conv1_)(x)))));
    return ops::relu(ops::add(y, shortcut_ != nullptr ? (*shortcut_)(x) : x));
  }

 private:
  std::shared_ptr<nn::Conv2d> conv1_;
  std::shared_ptr<nn::BatchNorm2d> bn1_;
  std::shared_ptr<nn::Conv2d> conv2_;
  std::shared_ptr<nn::BatchNorm2d> bn2_;
  std::shared_ptr<nn::SequentialCell> shortcut_;
};

struct BottleneckOptions {
  int64_t reduction = 0;  // reduction of squeeze-and-excitation; 0: none
  bool pooled = false;  // stride by 2x2 pooling after the 3x3 convolution and before the shortcut's convolution
};

// 1x1, 3x3 (with the stride), 1x1.
class Bottleneck final : public nn::Cell {
 public:
  Bottleneck(const ResNetStyle& s, int64_t in, int64_t out, int64_t stride, const BottleneckOptions& o) : Cell("Bottleneck") {
    const int64_t inner = out / kExpansion;
    conv1_ = child("conv1", conv(s, in, inner, 1));
    bn1_ = child("bn1", norm(s, inner));
    if (o.pooled && stride != 1) {
      e2_ = child("e2", nn::SequentialCell::make(conv(s, inner, inner, 3), norm(s, inner), nn::ReLU::make(), max_pool(s, 2)));
    } else {
      conv2_ = child("conv2", conv(s, inner, inner, 3, stride));
      bn2_ = child("bn2", norm(s, inner));
    }
    bn1_->add_flag("inner_norm", true);
    if (bn2_ != nullptr) bn2_->add_flag("inner_norm", true);
    if (e2_ != nullptr)
      for (const auto& [name, part] : e2_->children())
        if (std::dynamic_pointer_cast<nn::BatchNorm>(part) != nullptr) part->add_flag("inner_norm", true);
    conv3_ = child("conv3", conv(s, inner, out, 1));
    bn3_ = child("bn3", norm(s, out, true));
    if (o.reduction > 0) {
      se_dense_0_ = child("se_dense_0", dense(s, out, out / o.reduction));
      se_dense_1_ = child("se_dense_1", dense(s, out / o.reduction, out));
    }
    shortcut_ = shortcut(s, in, out, stride, o.pooled);
    if (shortcut_ != nullptr) add_child("down_sample_layer", shortcut_);
  }

  Tensor construct(const Tensor& x) override {
    Tensor y = ops::relu((*bn1_)((*conv1_)(x)));
    y = e2_ != nullptr ? (*e2_)(y) : ops::relu((*bn2_)((*conv2_)(y)));
    y = (*bn3_)((*conv3_)(y));
    if (se_dense_0_ != nullptr) y = excite(y);
    return ops::relu(ops::add(y, shortcut_ != nullptr ? (*shortcut_)(x) : x));
  }

 private:
  // Scales channels by a function of their means.
  Tensor excite(const Tensor& y) {
    const Tensor means = ops::flatten(ops::global_avg_pool2d(y));  // [N, C]
    const Tensor weights = ops::sigmoid((*se_dense_1_)(ops::relu((*se_dense_0_)(means))));
    return ops::mul(y, ops::reshape(weights, {y.dim(0), y.dim(1), 1, 1}));
  }
  std::shared_ptr<nn::Conv2d> conv1_, conv2_, conv3_;
  std::shared_ptr<nn::BatchNorm2d> bn1_, bn2_, bn3_;
  std::shared_ptr<nn::SequentialCell> e2_, shortcut_;
  std::shared_ptr<nn::Dense> se_dense_0_, se_dense_1_;
};

}  // namespace

ResNet::ResNet(const ResNetSpec& spec, const ResNetStyle& style, int64_t in_channels, int64_t num_classes) : Cell("ResNet") {
  int64_t channels = spec.stem == ResNetSpec::Stem::kCifar ? spec.widths[0] : 64;
  const auto add_stem = [&](const std::string& suffix, int64_t in, int64_t out, int64_t kernel, int64_t stride, const std::string& bn) {
    stem_.push_back(child("conv1" + suffix, conv(style, in, out, kernel, stride)));
    stem_.push_back(child(bn, norm(style, out)));
  };
  if (spec.stem == ResNetSpec::Stem::kThreeConvs) {
    add_stem("_0", in_channels, 32, 3, 2, "bn1_0");
    add_stem("_1", 32, 32, 3, 1, "bn1_1");
    add_stem("_2", 32, 64, 3, 1, "bn1");
  } else if (spec.stem == ResNetSpec::Stem::kImageNet) {
    add_stem("", in_channels, 64, 7, 2, "bn1");
  } else {
    add_stem("", in_channels, channels, 3, 1, "bn1");
  }
  if (spec.stem != ResNetSpec::Stem::kCifar) maxpool_ = child("maxpool", max_pool(style, 3));
  for (size_t i = 0; i < spec.layers.size(); ++i) {
    stages_.push_back(child("layer" + std::to_string(i + 1), stage(spec, style, i, channels)));
    channels = spec.widths[i];
  }
  end_point_ = child("end_point", dense(style, channels, num_classes));
}

std::shared_ptr<nn::SequentialCell> ResNet::stage(const ResNetSpec& spec, const ResNetStyle& style, size_t index, int64_t in) {
  std::vector<nn::CellPtr> blocks;
  const int64_t out = spec.widths[index], count = spec.layers[index];
  for (int64_t b = 0; b < count; ++b) {
    const int64_t from = b == 0 ? in : out, stride = b == 0 && index > 0 ? 2 : 1;
    if (spec.block == ResNetSpec::Block::kBasic) {
      blocks.push_back(std::make_shared<BasicBlock>(style, from, out, stride));
      continue;
    }
    BottleneckOptions o;
    o.pooled = spec.squeeze == ResNetSpec::Squeeze::kZoo;
    if (spec.squeeze == ResNetSpec::Squeeze::kAll) o.reduction = 16;
    if (o.pooled && index >= 2 && b == count - 1) o.reduction = 4;
    blocks.push_back(std::make_shared<Bottleneck>(style, from, out, stride, o));
  }
  return nn::SequentialCell::make(std::move(blocks));
}

Tensor ResNet::construct(const Tensor& x) {
  Tensor y = x;
  for (size_t i = 0; i < stem_.size(); i += 2) y = ops::relu((*stem_[i + 1])((*stem_[i])(y)));
  if (maxpool_ != nullptr) y = (*maxpool_)(y);
  for (const nn::CellPtr& s : stages_) y = (*s)(y);
  return (*end_point_)(ops::flatten(ops::global_avg_pool2d(y)));
}

namespace {

using Block = ResNetSpec::Block;
using Stem = ResNetSpec::Stem;
using Squeeze = ResNetSpec::Squeeze;

ResNetSpec imagenet(Block block, std::vector<int64_t> layers, Squeeze squeeze = Squeeze::kNone) {
  const int64_t k = block == Block::kBottleneck ? kExpansion : 1;
  return {.block = block,
          .stem = squeeze == Squeeze::kZoo ? Stem::kThreeConvs : Stem::kImageNet,
          .squeeze = squeeze,
          .layers = std::move(layers),
          .widths = {64 * k, 128 * k, 256 * k, 512 * k}};
}
ResNetSpec cifar(std::vector<int64_t> layers, std::vector<int64_t> widths) {
  return {.block = Block::kBasic, .stem = Stem::kCifar, .layers = std::move(layers), .widths = std::move(widths)};
}

// The variant decides padding and eps, and weight initialisation unless settings give it: MindSpore's scripts use Xavier and a
// truncated normal, torchvision He (fan_out) and PyTorch's default for dense layers.
ResNetStyle style_of(const SettingValues& v, bool torch) {
  const std::string &conv_init = v.get_string("conv_init"), &dense_init = v.get_string("dense_init");
  ResNetStyle s;
  s.same_padding = !torch;
  s.eps = torch ? 1e-5 : 1e-4;
  s.zero_init_residual = v.get_bool("zero_init_residual");
  s.conv_init = init_or(conv_init, torch ? nn::Init(nn::HeNormal(0, "fan_out", "relu")) : nn::Init("xavier_uniform"));
  s.dense_init = init_or(dense_init, torch ? nn::Init(nn::HeUniform(std::sqrt(5.0))) : nn::Init("truncatednormal"));
  s.torch_dense_bias = dense_init == "torch" || (dense_init.empty() && torch);
  return s;
}

// published_as: the variant used if the setting is empty.
void add(const char* name, const char* doc, const NetworkFacts& facts, const std::string& published_as, ResNetSpec (*spec)(bool torch)) {
  networks().add({
      .name = name,
      .doc = doc,
      .settings = {variant_setting("mindspore|torchvision"),
                   conv_init_setting(),
                   dense_init_setting(),
                   {.name = "zero_init_residual",
                    .type = SettingType::kBool,
                    .fallback = "false",
                    .doc = "initialise gamma of each block's last batch norm to 0, so that every block starts as the identity"}},
      .check = check_inits,
      .facts = facts,
      .make = [=](const NetworkSize& size, const SettingValues& v) -> nn::CellPtr {
        const std::string& given = v.get_string("variant");
        const bool torch = (given.empty() ? published_as : given) == "torchvision";
        return std::make_shared<ResNet>(spec(torch), style_of(v, torch), size.in_channels, size.num_classes);
      },
  });
}
void add_imagenet(const char* name, const char* doc, ResNetSpec (*spec)(bool torch)) {
  add(name, doc, {.input = {3, 224, 224}, .num_classes = 1000, .conv_norm = true}, "mindspore", spec);
}
void add_cifar(const char* name, const char* doc, ResNetSpec (*spec)(bool torch)) {
  add(name, doc, {.input = {3, 32, 32}, .num_classes = 10, .conv_norm = true}, "torchvision", spec);
}

const bool kRegistered = [] {
  add_imagenet("resnet18", "residual network of basic blocks (He et al. 2016)", [](bool) { return imagenet(Block::kBasic, {2, 2, 2, 2}); });
  add_imagenet("resnet34", "residual network of basic blocks (He et al. 2016)", [](bool) { return imagenet(Block::kBasic, {3, 4, 6, 3}); });
  add_imagenet("resnet50", "residual network of bottlenecks (He et al. 2016)", [](bool) { return imagenet(Block::kBottleneck, {3, 4, 6, 3}); });
  add_imagenet("resnet101", "residual network of bottlenecks (He et al. 2016)", [](bool) { return imagenet(Block::kBottleneck, {3, 4, 23, 3}); });
  add_imagenet("resnet152", "residual network of bottlenecks (He et al. 2016)", [](bool) { return imagenet(Block::kBottleneck, {3, 8, 36, 3}); });
  add_imagenet("seresnet50", "ResNet-50 with squeeze-and-excitation (Hu et al. 2018)", [](bool torch) {
    return imagenet(Block::kBottleneck, {3, 4, 6, 3}, torch ? Squeeze::kAll : Squeeze::kZoo);
  });
  add_cifar("resnet18_cifar", "ResNet-18 for small images, with one 3x3 convolution in front", [](bool) { return cifar({2, 2, 2, 2}, {64, 128, 256, 512}); });
  add_cifar("resnet20", "narrow residual network for small images (He et al. 2016)", [](bool) { return cifar({3, 3, 3}, {16, 32, 64}); });
  add_cifar("resnet32", "narrow residual network for small images (He et al. 2016)", [](bool) { return cifar({5, 5, 5}, {16, 32, 64}); });
  add_cifar("resnet56", "narrow residual network for small images (He et al. 2016)", [](bool) { return cifar({9, 9, 9}, {16, 32, 64}); });
  return true;
}();

}  // namespace

}  // namespace sindri::models
