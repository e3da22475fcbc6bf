// A multilayer perceptron with two hidden layers of width 512 for 28x28 images.
#include "models/common.h"
#include "sindri/nn/nn.h"
#include "sindri/ops/elementwise.h"

namespace sindri::models {

namespace {

class Mlp final : public nn::Cell {
 public:
  Mlp(const NetworkSize& size, const SettingValues& v)
      : Cell("Mlp"),
        flatten_(child("flatten", nn::Flatten::make())),
        fc1_(child("fc1", dense(v, size.in_channels * 28 * 28, 512))),
        fc2_(child("fc2", dense(v, 512, 512))),
        fc3_(child("fc3", dense(v, 512, size.num_classes))) {}

  // [N, C, 28, 28] or [N, C·784] -> [N, num_classes]
  Tensor construct(const Tensor& x) override { return (*fc3_)(ops::relu((*fc2_)(ops::relu((*fc1_)((*flatten_)(x)))))); }

 private:
  // PyTorch's default for dense layers. With N(0, 0.01) the outputs of three dense layers in sequence are nearly constant at first.
  static std::shared_ptr<nn::Dense> dense(const SettingValues& v, int64_t in, int64_t out) {
    const std::string& init = v.get_string("dense_init");
    const bool torch = init.empty() || init == "torch";
    return nn::Dense::make(
        {.in_channels = in, .out_channels = out, .weight_init = init_or(torch ? "torch" : init, "normal"), .bias_init = torch ? torch_bias(in) : "zeros"});
  }
  std::shared_ptr<nn::Flatten> flatten_;
  std::shared_ptr<nn::Dense> fc1_, fc2_, fc3_;
};

const auto& kMlp = networks().add({
    .name = "mlp",
    .doc = "two hidden layers of 512",
    .settings = {variant_setting("mindspore"), dense_init_setting()},
    .check = check_dense_init,
    .facts = {.input = {1, 28, 28}, .num_classes = 10},
    .make = [](const NetworkSize& size, const SettingValues& v) -> nn::CellPtr { return std::make_shared<Mlp>(size, v); },
});

}  // namespace

}  // namespace sindri::models
