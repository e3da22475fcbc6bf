// Networks by name: sizes, names of parameters, variants, output shapes, refusals.
#include "sindri/models/models.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "sindri/core/error.h"
#include "sindri/core/rng.h"
#include "sindri/nn/norm.h"

namespace sindri::models {
namespace {

// torchvision's counts for the ImageNet ResNets; the others by the layer formulas of their papers (CIFAR networks with 1x1 shortcuts).
TEST(Models, ParameterCounts) {
  const std::map<std::string, int64_t> counts = {
      {"resnet18", 11689512}, {"resnet34", 21797672}, {"resnet50", 25557032}, {"resnet101", 44549160}, {"resnet152", 60192808}, {"resnet18_cifar", 11173962},
      {"resnet20", 272474},   {"resnet32", 466906},   {"resnet56", 855770},   {"lenet", 61684},        {"mlp", 669706},         {"digits", 25978}};
  // Constant weights: drawing those of the large networks would take most of the time.
  for (const auto& [name, count] : counts) {
    ModelOptions o{.dense_init = "zeros"};
    if (name != "mlp") o.conv_init = "zeros";
    EXPECT_EQ(create(name, o)->num_parameters(), count) << name;
  }
  EXPECT_EQ(create("seresnet50", {.variant = "torchvision", .conv_init = "zeros"})->num_parameters(), 28088024);
}

std::set<std::string> names_of(const std::string& net, const ModelOptions& o) {
  std::set<std::string> out;
  for (const auto& [name, p] : create(net, o)->parameters_and_names()) out.insert(name);
  return out;
}

TEST(Models, ParameterNamesAreMindSpores) {
  const ModelOptions zeros{.conv_init = "zeros", .dense_init = "zeros"};
  const auto resnet50 = names_of("resnet50", zeros);
  for (const char* name :
       {"conv1.weight", "bn1.gamma", "bn1.beta", "bn1.moving_mean", "bn1.moving_variance", "layer1.0.conv1.weight", "layer1.0.bn3.gamma",
        "layer1.0.down_sample_layer.0.weight", "layer1.0.down_sample_layer.1.gamma", "layer4.2.conv3.weight", "end_point.weight", "end_point.bias"})
    EXPECT_TRUE(resnet50.contains(name)) << name;
  EXPECT_EQ(resnet50.size(), 53u * 5 + 2) << "53 convolutions with their batch norms, one dense layer";
  const auto resnet18 = names_of("resnet18", zeros);
  for (const char* name : {"layer1.0.bn1d.gamma", "layer4.1.bn2d.beta", "layer2.0.down_sample_layer.1.moving_mean"})
    EXPECT_TRUE(resnet18.contains(name)) << name;
  EXPECT_FALSE(resnet18.contains("layer1.0.down_sample_layer.0.weight")) << "no shortcut where shapes agree";
  const auto se = names_of("seresnet50", zeros);
  for (const char* name : {"conv1_0.weight", "bn1_0.gamma", "conv1_2.weight", "layer2.0.e2.0.weight", "layer3.5.se_dense_0.weight", "layer4.2.se_dense_1.bias"})
    EXPECT_TRUE(se.contains(name)) << name;
  EXPECT_FALSE(se.contains("layer3.0.se_dense_0.weight"));
  const auto lenet = names_of("lenet", zeros);
  for (const char* name : {"conv1.weight", "conv2.weight", "fc1.weight", "fc1.bias", "fc3.bias"}) EXPECT_TRUE(lenet.contains(name)) << name;
  EXPECT_FALSE(lenet.contains("conv1.bias"));
}

TEST(Models, OutputShapes) {
  for (const char* name : {"lenet", "mlp", "digits", "resnet20", "resnet18_cifar"}) {
    const Shape in = input_shape(name);
    Shape batch = {2};
    for (int64_t d : in) batch.push_back(d);
    EXPECT_EQ((*create(name, {.num_classes = 7}))(Tensor::zeros(batch)).shape(), (Shape{2, 7})) << name;
  }
  // Odd sizes exercise both paddings; images smaller than the networks' default and constant weights save time.
  for (const char* variant : {"mindspore", "torchvision"}) {
    for (const char* name : {"resnet18", "resnet50", "seresnet50"}) {
      const ModelOptions o{.num_classes = 5, .variant = variant, .conv_init = "zeros", .dense_init = "zeros"};
      EXPECT_EQ((*create(name, o))(Tensor::zeros({1, 3, 33, 35})).shape(), (Shape{1, 5})) << name;
    }
  }
  EXPECT_EQ((*create("resnet20", {.in_channels = 1}))(Tensor::zeros({1, 1, 32, 32})).shape(), (Shape{1, 10}));
}

TEST(Models, VariantsDifferInPaddingAndEps) {
  const ModelOptions zeros{.conv_init = "zeros", .dense_init = "zeros"};
  const auto stem = [&](const std::string& variant) {
    ModelOptions o = zeros;
    o.variant = variant;
    return create("resnet18", o)->tree();
  };
  EXPECT_THAT(
      stem(""),
      ::testing::HasSubstr(
          "(conv1): Conv2d(3, 64, kernel_size=[7, 7], stride=[2, 2], pad_mode='same', has_bias=false)\n  (bn1): BatchNorm2d(64, eps=0.0001, momentum=0.9)"));
  EXPECT_THAT(stem("torchvision"),
              ::testing::HasSubstr("pad_mode='pad', padding=[3, 3, 3, 3], has_bias=false)\n  (bn1): BatchNorm2d(64, eps=1e-05, momentum=0.9)"));
}

TEST(Models, SameSeedSameWeights) {
  set_seed(3);
  const auto a = create("resnet20")->get_parameters()[0]->stored().to_vector<float>();
  set_seed(3);
  EXPECT_EQ(create("resnet20")->get_parameters()[0]->stored().to_vector<float>(), a);
}

TEST(Models, ZeroInitResidual) {
  auto net = create("resnet20", {.zero_init_residual = true});
  for (const auto& [name, p] : net->parameters_and_names()) {
    if (!name.ends_with("d.gamma")) continue;
    EXPECT_EQ(p->stored().to_vector<double>()[0], name.ends_with("bn2d.gamma") ? 0 : 1) << name;
  }
}

TEST(Models, Refusals) {
  try {
    create("resnet5O");
    FAIL();
  } catch (const ValueError& e) { EXPECT_THAT(e.fix(), ::testing::HasSubstr("'resnet50'")); }
  EXPECT_THROW(create("resnet20", {.variant = "torch"}), ValueError);
  EXPECT_THROW(create("resnet20", {.num_classes = -1}), ValueError);
  EXPECT_THROW(create("resnet20", {.conv_init = "xavier"}), ValueError);
  EXPECT_THROW(create("lenet", {.variant = "torchvision"}), ValueError);
  EXPECT_NO_THROW(create("lenet", {.variant = "mindspore"}));
  EXPECT_THROW(create("mlp", {.conv_init = "zeros"}), ValueError);
  EXPECT_THROW(create("digits", {.zero_init_residual = true}), ValueError);
  EXPECT_THROW(input_shape("vgg"), ValueError);
  EXPECT_EQ(names().size(), 13u);
  EXPECT_EQ(default_num_classes("resnet50"), 1000);
}

// A network does not declare settings that it has no use for, and so refuses them by name.
TEST(Models, OptionsAreSettingsThatNetworksDeclare) {
  const auto message = [](const std::string& name, const ModelOptions& o) -> std::string {
    try {
      create(name, o);
    } catch (const ValueError& e) { return e.what(); }
    return "no ValueError";
  };
  EXPECT_THAT(message("mlp", {.conv_init = "zeros"}), ::testing::HasSubstr("mlp has no setting 'conv_init'"));
  EXPECT_THAT(message("digits", {.zero_init_residual = true}), ::testing::HasSubstr("digits has no setting 'zero_init_residual'"));
  EXPECT_THAT(message("lenet", {.variant = "torchvision"}), ::testing::HasSubstr("lenet.variant: expected mindspore, got 'torchvision'"));
  EXPECT_THAT(message("resnet20", {.dense_init = "xavier"}), ::testing::HasSubstr("initializer 'xavier' is not known | resnet20.dense_init"));
  EXPECT_THAT(message("resnet20", {.settings = {{"depth", int64_t{3}}}}), ::testing::HasSubstr("resnet20 has no setting 'depth'"));
  const auto first_gamma = [](const ModelOptions& o) {
    const nn::CellPtr net = create("resnet20", o);  // a temporary would be destroyed before the loop begins
    for (const auto& [name, p] : net->parameters_and_names())
      if (name.ends_with("bn2d.gamma")) return p->stored().to_vector<double>()[0];
    return -1.0;
  };
  EXPECT_EQ(first_gamma({.settings = {{"zero_init_residual", true}}}), 0);
  EXPECT_EQ(first_gamma({}), 1);
}

TEST(Models, EveryNetworkTellsWhatItIs) {
  for (const std::string& name : networks().names()) {
    const auto& network = networks().find(name);
    EXPECT_FALSE(network.doc.empty()) << name;
    EXPECT_EQ(network.facts.input.rank(), 3u) << name;
    EXPECT_GT(network.facts.num_classes, 1) << name;
    EXPECT_NE(networks().info(name).find("dense_init"), nullptr) << name;
  }
}

}  // namespace
}  // namespace sindri::models
