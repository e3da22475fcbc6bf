// LeNet-5 (LeCun et al. 1998) as in MindSpore's sample: 32x32 images, ReLU, max pooling, convolutions without bias.
#include "models/common.h"
#include "sindri/nn/nn.h"
#include "sindri/ops/elementwise.h"

namespace sindri::models {

namespace {

class LeNet final : public nn::Cell {
 public:
  LeNet(const NetworkSize& size, const SettingValues& v)
      : Cell("LeNet"),
        conv1_(child("conv1", conv(v, size.in_channels, 6))),
        conv2_(child("conv2", conv(v, 6, 16))),
        pool_(child("max_pool2d", nn::MaxPool2d::make({.kernel_size = 2, .stride = 2}))),
        flatten_(child("flatten", nn::Flatten::make())),
        fc1_(child("fc1", dense(v, 16 * 5 * 5, 120))),
        fc2_(child("fc2", dense(v, 120, 84))),
        fc3_(child("fc3", dense(v, 84, size.num_classes))) {}

  // [N, C, 32, 32] -> [N, num_classes]
  Tensor construct(const Tensor& x) override {
    Tensor y = (*pool_)(ops::relu((*conv1_)(x)));
    y = (*pool_)(ops::relu((*conv2_)(y)));
    y = ops::relu((*fc1_)((*flatten_)(y)));
    return (*fc3_)(ops::relu((*fc2_)(y)));
  }

 private:
  static std::shared_ptr<nn::Conv2d> conv(const SettingValues& v, int64_t in, int64_t out) {
    return nn::Conv2d::make(
        {.in_channels = in, .out_channels = out, .kernel_size = 5, .pad_mode = "valid", .weight_init = init_or(v.get_string("conv_init"), "he_uniform")});
  }
  static std::shared_ptr<nn::Dense> dense(const SettingValues& v, int64_t in, int64_t out) {
    return nn::Dense::make({.in_channels = in,
                            .out_channels = out,
                            .weight_init = init_or(v.get_string("dense_init"), nn::Normal(0.02)),
                            .bias_init = v.get_string("dense_init") == "torch" ? torch_bias(in) : "zeros"});
  }
  std::shared_ptr<nn::Conv2d> conv1_, conv2_;
  std::shared_ptr<nn::MaxPool2d> pool_;
  std::shared_ptr<nn::Flatten> flatten_;
  std::shared_ptr<nn::Dense> fc1_, fc2_, fc3_;
};

const auto& kLeNet = networks().add({
    .name = "lenet",
    .doc = "LeNet-5 (LeCun et al. 1998) with ReLU and max pooling",
    .settings = {variant_setting("mindspore"), conv_init_setting(), dense_init_setting()},
    .check = check_inits,
    .facts = {.input = {1, 32, 32}, .num_classes = 10},
    .make = [](const NetworkSize& size, const SettingValues& v) -> nn::CellPtr { return std::make_shared<LeNet>(size, v); },
});

}  // namespace

}  // namespace sindri::models
