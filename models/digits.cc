// A small convolutional network for the 8x8 handwritten digits of the quickstart: about 26,000 parameters.
#include <cmath>

#include "models/common.h"
#include "sindri/nn/nn.h"
#include "sindri/ops/elementwise.h"

namespace sindri::models {

namespace {

class Digits final : public nn::Cell {
 public:
  Digits(const NetworkSize& size, const SettingValues& v)
      : Cell("Digits"),
        conv1_(child("conv1", conv(v, size.in_channels, 16))),
        bn1_(child("bn1", nn::BatchNorm2d::make({.num_features = 16}))),
        conv2_(child("conv2", conv(v, 16, 32))),
        bn2_(child("bn2", nn::BatchNorm2d::make({.num_features = 32}))),
        conv3_(child("conv3", conv(v, 32, 64))),
        bn3_(child("bn3", nn::BatchNorm2d::make({.num_features = 64}))),
        pool_(child("pool", nn::MaxPool2d::make({.kernel_size = 2, .stride = 2}))),
        flatten_(child("flatten", nn::Flatten::make())),
        fc_(child("fc",
                  nn::Dense::make({.in_channels = 64 * 2 * 2,
                                   .out_channels = size.num_classes,
                                   .weight_init = init_or(v.get_string("dense_init"), nn::HeUniform(std::sqrt(5.0))),
                                   .bias_init = torch_bias(256)}))) {}

  // [N, C, 8, 8] -> [N, num_classes]
  Tensor construct(const Tensor& x) override {
    Tensor y = ops::relu((*bn1_)((*conv1_)(x)));
    y = (*pool_)(ops::relu((*bn2_)((*conv2_)(y))));  // [N, 32, 4, 4]
    y = (*pool_)(ops::relu((*bn3_)((*conv3_)(y))));  // [N, 64, 2, 2]
    return (*fc_)((*flatten_)(y));
  }

 private:
  static std::shared_ptr<nn::Conv2d> conv(const SettingValues& v, int64_t in, int64_t out) {
    return nn::Conv2d::make({.in_channels = in,
                             .out_channels = out,
                             .kernel_size = 3,
                             .pad_mode = "pad",
                             .padding = 1,
                             .weight_init = init_or(v.get_string("conv_init"), "he_normal")});
  }
  std::shared_ptr<nn::Conv2d> conv1_;
  std::shared_ptr<nn::BatchNorm2d> bn1_;
  std::shared_ptr<nn::Conv2d> conv2_;
  std::shared_ptr<nn::BatchNorm2d> bn2_;
  std::shared_ptr<nn::Conv2d> conv3_;
  std::shared_ptr<nn::BatchNorm2d> bn3_;
  std::shared_ptr<nn::MaxPool2d> pool_;
  std::shared_ptr<nn::Flatten> flatten_;
  std::shared_ptr<nn::Dense> fc_;
};

const auto& kDigits = networks().add({
    .name = "digits",
    .doc = "three convolutions, for the 8x8 digits of the quickstart",
    .settings = {variant_setting("mindspore"), conv_init_setting(), dense_init_setting()},
    .check = check_inits,
    .facts = {.input = {1, 8, 8}, .num_classes = 10, .conv_norm = true},
    .make = [](const NetworkSize& size, const SettingValues& v) -> nn::CellPtr { return std::make_shared<Digits>(size, v); },
});

}  // namespace

}  // namespace sindri::models
