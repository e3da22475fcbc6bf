// Networks with fewer batch norms: the removed and the kept ones, the normalised head, centralised gradients.
#include <gtest/gtest.h>

#include <cmath>

#include "sindri/core/error.h"
#include "sindri/models/models.h"
#include "sindri/nn/nn.h"
#include "sindri/ops/reduce.h"
#include "tests/boost/training.h"

namespace sindri::less_bn_test {
namespace {

using Settings = std::map<std::string, SettingValue>;
train::BoostAlgorithmPtr less_bn(const Settings& settings = {}) { return train::boosts().make("less_bn", settings); }

int norms(nn::Cell& net) {
  int n = 0;
  for (const auto& [path, cell] : net.cells_and_names())
    if (auto* norm = dynamic_cast<nn::BatchNorm*>(cell)) n += norm->bypassed() ? 0 : 1;
  return n;
}

TEST(LessBatchNorm, Of53TwentyOneAreLeft) {
  const nn::CellPtr net = models::create("resnet50", {});
  EXPECT_EQ(norms(*net), 53);
  const size_t before = net->get_parameters().size();
  less_bn({{"fn_flag", false}})->prepare(*net);
  EXPECT_EQ(norms(*net), 21);
  EXPECT_EQ(net->get_parameters().size(), before - 4u * 32u);
  for (const auto& [path, p] : net->parameters_and_names()) EXPECT_EQ(path.find("layer1.0.bn1."), std::string::npos);
  less_bn({{"fn_flag", false}})->prepare(*net);  // applying it again changes nothing
  EXPECT_EQ(norms(*net), 21);
}

TEST(LessBatchNorm, BlocksOfTwoOnRequest) {
  const nn::CellPtr net = models::create("resnet20", {});
  const int all = norms(*net);
  less_bn()->prepare(*net);
  EXPECT_EQ(norms(*net), all);
  less_bn({{"basic", true}})->prepare(*net);
  EXPECT_EQ(norms(*net), all - 9);
}

TEST(LessBatchNorm, TheHeadIsNormalised) {
  const auto dense = nn::Dense::make({.in_channels = 3, .out_channels = 2, .bias_init = "ones"});
  dense->weight().store(Tensor::from_values({2, 3}, {3, 0, 4, 0, 2, 0}));
  const nn::CellPtr net = nn::SequentialCell::make({dense});
  less_bn({{"fn_scale", 2.0}})->prepare(*net);
  const std::vector<double> y = (*net)(Tensor::from_values({2, 3}, {1, 2, 2, 0, 0, 0})).to_vector<double>();
  EXPECT_NEAR(y[0], 2 * (3.0 + 8.0) / 15, 1e-6);
  EXPECT_NEAR(y[1], 2 * 2.0 / 3, 1e-6);
  EXPECT_EQ(y[2], 0);  // a row of zeros counts as having length 0.01
  const auto params = net->trainable_params();
  ASSERT_EQ(params.size(), 2u);
  EXPECT_EQ(params[1]->name(), "0.multiplier");
}

// 4096·5² is beyond float16.
TEST(LessBatchNorm, TheHeadsSquaresAreFormedInFloat32) {
  const auto dense = nn::Dense::make({.in_channels = 4096, .out_channels = 2, .weight_init = "he_uniform"});
  const nn::CellPtr net = nn::SequentialCell::make({dense});
  less_bn()->prepare(*net);
  const Tensor x = Tensor::full({1, 4096}, 5);
  const std::vector<double> whole = (*net)(x).to_vector<double>();
  net->to_float(DType::kFloat16);
  const std::vector<double> half = (*net)(ops::cast(x, DType::kFloat16)).to_vector<double>();
  for (size_t i = 0; i < whole.size(); ++i) EXPECT_NEAR(half[i], whole[i], 5e-3);
  EXPECT_GT(std::abs(whole[0]) + std::abs(whole[1]), 1e-2);
}

TEST(LessBatchNorm, GradientsAreCentralised) {
  test::BoostedTraining t({less_bn({{"fn_flag", false}})}), plain({});
  Gradients g;
  for (const Parameter* p : t.optimizer->parameters()) g.of_params.push_back(ops::random_normal(p->shape()));
  const TensorList before = g.of_params;
  const Gradients after = t.step.transform_gradients(g);
  bool any = false;
  for (size_t i = 0; i < before.size(); ++i) {
    const Parameter& p = *t.optimizer->parameters()[i];
    if (p.shape().rank() < 2 || p.name().find("bias") != std::string::npos) {
      EXPECT_EQ(after.of_params[i].to_vector<double>(), before[i].to_vector<double>());
      continue;
    }
    if (p.shape().rank() == 4 && p.shape()[1] == 1) continue;
    any = true;
    std::vector<int64_t> axes;
    for (int d = 1; d < p.shape().rank(); ++d) axes.push_back(d);
    for (const double s : ops::sum(after.of_params[i], axes).to_vector<double>()) EXPECT_NEAR(s, 0, 1e-5);
  }
  EXPECT_TRUE(any);
}

// Kernels with one channel are depthwise only in grouped convolutions: the first layer of a network for grey images has such kernels, too.
TEST(LessBatchNorm, OnlyGroupedConvolutionsKeepTheirMean) {
  const auto net = nn::SequentialCell::make({nn::Conv2d::make({.in_channels = 1, .out_channels = 4, .kernel_size = 3}),
                                             nn::Conv2d::make({.in_channels = 4, .out_channels = 4, .kernel_size = 3, .group = 4}),
                                             nn::Conv2d::make({.in_channels = 4, .out_channels = 8, .kernel_size = 3, .group = 2})});
  train::TrainStep step;
  step.transform_gradients = [](Gradients g) { return g; };
  const train::BuildContext context{.parameters = net->trainable_params(), .grouped_weights = train::grouped_weights(*net)};
  less_bn({{"fn_flag", false}})->apply(step, context);
  Gradients g;
  for (const Parameter* p : context.parameters) g.of_params.push_back(ops::full(p->shape(), 1, DType::kFloat32));
  const Gradients after = step.transform_gradients(g);
  ASSERT_EQ(after.of_params.size(), 3u);
  EXPECT_EQ(after.of_params[0].to_vector<double>()[0], 0);
  EXPECT_EQ(after.of_params[1].to_vector<double>()[0], 1);
  EXPECT_EQ(after.of_params[2].to_vector<double>()[0], 1);
}

}  // namespace
}  // namespace sindri::less_bn_test
