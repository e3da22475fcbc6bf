// A multilayer perceptron of two hidden layers of 512 for 28x28 images.
#include "models/registry.h"
#include "sindri/core/error.h"
#include "sindri/nn/nn.h"
#include "sindri/ops/elementwise.h"

namespace sindri::models {

namespace {

class Mlp final : public nn::Cell {
 public:
  explicit Mlp(const ModelOptions& o)
      : Cell("Mlp"),
        flatten_(child("flatten", nn::Flatten::make())),
        fc1_(child("fc1", dense(o, o.in_channels * 28 * 28, 512))),
        fc2_(child("fc2", dense(o, 512, 512))),
        fc3_(child("fc3", dense(o, 512, o.num_classes))) {}

  // [N, C, 28, 28] or [N, C·784] -> [N, num_classes]
  Tensor construct(const Tensor& x) override { return (*fc3_)(ops::relu((*fc2_)(ops::relu((*fc1_)((*flatten_)(x)))))); }

 private:
  // PyTorch's layer default: N(0, 0.01) makes three dense layers in a row start almost flat.
  static std::shared_ptr<nn::Dense> dense(const ModelOptions& o, int64_t in, int64_t out) {
    const bool torch = o.dense_init.empty() || o.dense_init == "torch";
    return nn::Dense::make({.in_channels = in,
                            .out_channels = out,
                            .weight_init = init_or(torch ? "torch" : o.dense_init, "normal"),
                            .bias_init = torch ? torch_bias(in) : "zeros"});
  }
  std::shared_ptr<nn::Flatten> flatten_;
  std::shared_ptr<nn::Dense> fc1_, fc2_, fc3_;
};

const bool kRegistered = register_models({{"mlp", {1, 28, 28}, 10, [](const std::string& name, const ModelOptions& o) -> nn::CellPtr {
                                             refuse_resnet_options(name, o);
                                             if (!o.conv_init.empty()) throw ValueError(name + " has no convolutions for conv_init '" + o.conv_init + "'");
                                             return std::make_shared<Mlp>(o);
                                           }}});

}  // namespace

}  // namespace sindri::models
