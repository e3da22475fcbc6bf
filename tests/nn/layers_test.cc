// Layers against plain loops or the ops they use, their defaults, and their refusals.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "sindri/core/error.h"
#include "sindri/graph/compile.h"
#include "sindri/nn/nn.h"
#include "sindri/ops/conv.h"
#include "sindri/ops/elementwise.h"
#include "sindri/ops/norm.h"
#include "sindri/ops/random.h"
#include "sindri/ops/reduce.h"

namespace sindri::nn {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

Tensor ramp(const Shape& shape, double scale = 0.1) {
  std::vector<double> v(static_cast<size_t>(shape.numel()));
  for (size_t i = 0; i < v.size(); ++i) v[i] = scale * (static_cast<double>((i * 7919) % 101) - 50);
  return Tensor::from_values(shape, v);
}

void expect_near(const Tensor& a, const Tensor& b, double tol) {
  ASSERT_EQ(a.shape(), b.shape());
  const auto x = a.to_vector<double>(), y = b.to_vector<double>();
  for (size_t i = 0; i < x.size(); ++i) ASSERT_NEAR(x[i], y[i], tol) << i;
}

TEST(Conv2d, DefaultsAreMindSpores) {
  auto conv = Conv2d::make({.in_channels = 3, .out_channels = 8, .kernel_size = {3, 5}});
  EXPECT_EQ(conv->weight().shape(), (Shape{8, 3, 3, 5}));
  EXPECT_EQ(conv->bias(), nullptr);
  EXPECT_EQ((*conv)(ramp({2, 3, 9, 7})).shape(), (Shape{2, 8, 9, 7}));
  EXPECT_THAT(conv->describe(), HasSubstr("Conv2d(3, 8, kernel_size=[3, 5], stride=[1, 1], pad_mode='same'"));
}

TEST(Conv2d, SamePadsTheBottomAndRightFirst) {
  auto conv = Conv2d::make({.in_channels = 1, .out_channels = 1, .kernel_size = 3, .stride = 2, .weight_init = "ones"});
  // Height 6: output 3, total padding 1, at the bottom. Width 5: output 3, padding 1 and 1.
  const Tensor x = ramp({1, 1, 6, 5});
  const Tensor want = ops::conv2d(x, Tensor::full({1, 1, 3, 3}, 1), {.stride = {2, 2}, .pad = {0, 1, 1, 1}});
  expect_near((*conv)(x), want, 0);
  for (int64_t side = 1; side < 12; ++side) EXPECT_EQ((*conv)(ramp({1, 1, side, side})).dim(2), (side + 1) / 2) << side;
}

TEST(Conv2d, BiasGroupsPaddingAndDilation) {
  auto conv = Conv2d::make({.in_channels = 4,
                            .out_channels = 6,
                            .kernel_size = 3,
                            .pad_mode = "pad",
                            .padding = {1, 0, 2, 1},
                            .dilation = {1, 2},
                            .group = 2,
                            .has_bias = true,
                            .bias_init = 0.5});
  const Tensor x = ramp({2, 4, 8, 9});
  const Tensor plain = ops::conv2d(x, conv->weight().value(), {.pad = {1, 0, 2, 1}, .dilation = {1, 2}, .groups = 2});
  expect_near((*conv)(x), plain + 0.5, 0);
  EXPECT_THAT(conv->describe(), HasSubstr("padding=[1, 0, 2, 1], dilation=[1, 2], group=2, has_bias=true"));
}

TEST(Conv2d, Refusals) {
  EXPECT_THROW(Conv2d::make({.out_channels = 1, .kernel_size = 3}), ValueError);
  EXPECT_THROW(Conv2d::make({.in_channels = 1, .kernel_size = 3}), ValueError);
  EXPECT_THROW(Conv2d::make({.in_channels = 1, .out_channels = 1}), ValueError);
  EXPECT_THROW(Conv2d::make({.in_channels = 1, .out_channels = 1, .kernel_size = 3, .stride = 0}), ValueError);
  EXPECT_THROW(Conv2d::make({.in_channels = 1, .out_channels = 1, .kernel_size = 3, .padding = 1}), ValueError);
  EXPECT_THROW(Conv2d::make({.in_channels = 1, .out_channels = 1, .kernel_size = 3, .pad_mode = "pad", .padding = -1}), ValueError);
  EXPECT_THROW(Conv2d::make({.in_channels = 3, .out_channels = 4, .kernel_size = 3, .group = 2}), ValueError);
  EXPECT_THROW(Conv2d::make({.in_channels = 3, .out_channels = 4, .kernel_size = 3, .weight_init = Tensor::zeros({4, 3, 1, 1})}), ShapeError);
  try {
    Conv2d::make({.in_channels = 1, .out_channels = 1, .kernel_size = 3, .pad_mode = "smae"});
    FAIL();
  } catch (const ValueError& e) { EXPECT_THAT(e.fix(), HasSubstr("'same'")); }
  EXPECT_THROW((*Conv2d::make({.in_channels = 3, .out_channels = 4, .kernel_size = 3}))(ramp({3, 8, 8})), ShapeError);
  EXPECT_THROW((*Conv2d::make({.in_channels = 3, .out_channels = 4, .kernel_size = 3}))(ramp({1, 2, 8, 8})), ShapeError);
}

TEST(Dense, ProductOverTheLastDimension) {
  auto dense = Dense::make(
      {.in_channels = 3, .out_channels = 2, .weight_init = Tensor::from_values({2, 3}, {1, 2, 3, 4, 5, 6}), .bias_init = 0.5, .activation = "relu"});
  EXPECT_THAT((*dense)(Tensor::from_values({1, 3}, {1, 0, -1})).to_vector<double>(), ElementsAre(0, 0));
  const Tensor x = ramp({2, 4, 3});
  expect_near((*dense)(x), (*dense)(x.view({8, 3})).view({2, 4, 2}), 0);
  EXPECT_EQ((*dense)(Tensor::from_values({3}, {1, 1, 1})).to_vector<double>(), (std::vector<double>{6.5, 15.5}));
  EXPECT_THROW((*dense)(ramp({2, 4})), ShapeError);
  EXPECT_THROW(Dense::make({.in_channels = 3}), ValueError);
  EXPECT_THROW(Dense::make({.in_channels = 3, .out_channels = 2, .activation = "rellu"}), ValueError);
  EXPECT_EQ(Dense::make({.in_channels = 3, .out_channels = 2, .has_bias = false})->bias(), nullptr);
}

TEST(BatchNorm2d, TrainingUsesTheBatchAndMovesTheStatistics) {
  auto bn = BatchNorm2d::make({.num_features = 2, .momentum = 0.8});
  bn->set_train();
  const Tensor x = ramp({3, 2, 2, 2});
  const std::vector<double> v = x.to_vector<double>();
  const Tensor y = (*bn)(x);
  for (size_t c = 0; c < 2; ++c) {
    double sum = 0, square = 0;
    for (size_t n = 0; n < 3; ++n)
      for (size_t k = 0; k < 4; ++k) sum += v[(n * 2 + c) * 4 + k];
    const double mean = sum / 12;
    for (size_t n = 0; n < 3; ++n)
      for (size_t k = 0; k < 4; ++k) square += (v[(n * 2 + c) * 4 + k] - mean) * (v[(n * 2 + c) * 4 + k] - mean);
    EXPECT_NEAR(bn->moving_mean().stored().to_vector<double>()[c], 0.2 * mean, 1e-6);
    EXPECT_NEAR(bn->moving_variance().stored().to_vector<double>()[c], 0.8 + 0.2 * square / 11, 1e-5) << "unbiased";
    EXPECT_NEAR(y.to_vector<double>()[c * 4], (v[c * 4] - mean) / std::sqrt(square / 12 + 1e-5), 1e-5) << "biased";
  }
}

TEST(BatchNorm2d, InferenceUsesTheMovingStatisticsAndLeavesThem) {
  auto bn = BatchNorm2d::make({.num_features = 2, .eps = 1e-4, .moving_mean_init = 3, .moving_var_init = 4});
  const Tensor x = ramp({1, 2, 2, 2});
  expect_near((*bn)(x), (x - 3.0) / std::sqrt(4.0001), 1e-6);
  EXPECT_THAT(bn->moving_mean().stored().to_vector<double>(), ElementsAre(3, 3));
  auto fixed = BatchNorm2d::make({.num_features = 2, .moving_mean_init = 3, .use_batch_statistics = false});
  fixed->set_train();
  (*fixed)(x);
  EXPECT_THAT(fixed->moving_mean().stored().to_vector<double>(), ElementsAre(3, 3));
  auto batch = BatchNorm2d::make({.num_features = 2, .use_batch_statistics = true});
  EXPECT_NEAR(ops::mean((*batch)(x)).item(), 0, 1e-6);
  // As in MindSpore: the moving statistics are updated whenever the batch's statistics are used.
  EXPECT_THAT(batch->moving_mean().stored().to_vector<double>(), Not(ElementsAre(0, 0)));
}

TEST(BatchNorm, ParametersRanksAndRefusals) {
  auto bn = BatchNorm1d::make({.num_features = 3, .affine = false});
  EXPECT_TRUE(bn->trainable_params().empty());
  std::vector<std::string> names;
  for (const auto& [name, p] : bn->parameters_and_names()) names.push_back(name);
  EXPECT_THAT(names, ElementsAre("gamma", "beta", "moving_mean", "moving_variance"));
  EXPECT_EQ((*bn)(ramp({4, 3})).shape(), (Shape{4, 3}));
  EXPECT_EQ((*bn)(ramp({4, 3, 5})).shape(), (Shape{4, 3, 5}));
  EXPECT_THROW((*bn)(ramp({4, 3, 5, 5})), ShapeError);
  EXPECT_THROW((*bn)(ramp({4, 2})), ShapeError);
  EXPECT_THROW(BatchNorm2d::make({}), ValueError);
  EXPECT_THROW(BatchNorm2d::make({.num_features = 2, .momentum = 1.5}), ValueError);
  EXPECT_THROW(BatchNorm2d::make({.num_features = 2, .eps = 0}), ValueError);
}

TEST(BatchNorm2d, GraphAndEagerAgreeOnValuesAndState) {
  auto bn = BatchNorm2d::make({.num_features = 2});
  bn->set_train();
  const Tensor x = ramp({3, 2, 4, 4});
  const Tensor eager = (*bn)(x);
  const std::vector<float> mean = bn->moving_mean().stored().to_vector<float>();
  bn->moving_mean().store(Tensor::zeros({2}));
  bn->moving_variance().store(Tensor::full({2}, 1));
  CompiledFn f = compile([&](Span<const Tensor> in) -> TensorList { return {(*bn)(in[0])}; }, {.disable_passes = {"all"}});
  EXPECT_EQ(f({&x, 1})[0].to_vector<float>(), eager.to_vector<float>());
  EXPECT_EQ(bn->moving_mean().stored().to_vector<float>(), mean);
}

TEST(LayerNorm, NormalisesAndTakesOtherParameterAxes) {
  auto ln = LayerNorm::make({.normalized_shape = {4}});
  const Tensor x = ramp({2, 3, 4});
  expect_near((*ln)(x), ops::layer_norm(x, Tensor::full({4}, 1), Tensor::zeros({4}), -1, 1e-7), 0);
  auto wide = LayerNorm::make({.normalized_shape = {4}, .begin_norm_axis = 1, .begin_params_axis = 2, .gamma_init = 2, .beta_init = 1});
  const Tensor plain = ops::layer_norm(x, Tensor::full({3, 4}, 1), Tensor::zeros({3, 4}), 1, 1e-7);
  expect_near((*wide)(x), plain * 2.0 + 1.0, 1e-6);
  EXPECT_THROW((*ln)(ramp({2, 5})), ShapeError);
  EXPECT_THROW(LayerNorm::make({}), ValueError);
}

TEST(Pool, WindowsAndModes) {
  const Tensor x = ramp({1, 2, 5, 6});
  EXPECT_EQ((*MaxPool2d::make({.kernel_size = 3, .stride = 2}))(x).shape(), (Shape{1, 2, 2, 2}));
  EXPECT_EQ((*MaxPool2d::make({.kernel_size = 3, .stride = 2, .pad_mode = "same"}))(x).shape(), (Shape{1, 2, 3, 3}));
  EXPECT_EQ((*MaxPool2d::make({.kernel_size = 3, .stride = 2, .pad_mode = "pad", .padding = 1, .ceil_mode = true}))(x).shape(), (Shape{1, 2, 3, 4}));
  EXPECT_EQ((*MaxPool2d::make({.kernel_size = 2}))(x).shape(), (Shape{1, 2, 4, 5})) << "stride 1 unless given";
  const Tensor ones = Tensor::full({1, 1, 3, 3}, 1);
  EXPECT_EQ(ops::mean((*AvgPool2d::make({.kernel_size = 3, .pad_mode = "same"}))(ones)).item(), 1) << "same padding is not counted";
  EXPECT_NEAR((*AvgPool2d::make({.kernel_size = 3, .pad_mode = "pad", .padding = 1}))(ones).to_vector<double>()[0], 4.0 / 9, 1e-7);
  EXPECT_EQ((*AvgPool2d::make({.kernel_size = 3, .pad_mode = "pad", .padding = 1, .count_include_pad = false}))(ones).to_vector<double>()[0], 1);
  EXPECT_EQ((*AdaptiveAvgPool2d::make({.output_size = {2, 3}}))(x).shape(), (Shape{1, 2, 2, 3}));
  expect_near((*GlobalAvgPool::make())(x), ops::mean(x, {2, 3}, true), 1e-6);
  EXPECT_THROW(MaxPool2d::make({.kernel_size = 2, .pad_mode = "pad", .padding = 2}), ValueError);
  EXPECT_THROW(MaxPool2d::make({.kernel_size = 2, .pad_mode = "same", .ceil_mode = true}), ValueError);
  EXPECT_THROW(AdaptiveAvgPool2d::make({}), ValueError);
}

TEST(Activation, ByName) {
  const Tensor x = ramp({7});
  for (const char* name : {"relu", "ReLU6", "leakyrelu", "elu", "sigmoid", "tanh", "gelu", "silu", "hswish", "hsigmoid", "softmax", "logsoftmax"})
    EXPECT_EQ((*get_activation(name))(x).shape(), x.shape()) << name;
  EXPECT_EQ(get_activation(""), nullptr);
  EXPECT_THROW(get_activation("swish9"), ValueError);
  EXPECT_NEAR((*LeakyReLU::make())(Tensor::from_values({1}, {-2})).item(), -0.4, 1e-7);
  EXPECT_NEAR((*GELU::make(false))(Tensor::from_values({1}, {1})).item(), 0.5 * (1 + std::erf(std::sqrt(0.5))), 1e-6);
}

TEST(Dropout, OnlyInTrainingAndScaled) {
  auto drop = Dropout::make({.keep_prob = 0.75});
  const Tensor x = Tensor::full({100, 100}, 3);
  expect_near((*drop)(x), x, 0);
  drop->set_train();
  ops::reset_rng(1);
  int64_t kept = 0;
  for (double v : (*drop)(x).to_vector<double>()) {
    EXPECT_TRUE(v == 0 || v == 4) << v;
    kept += v != 0;
  }
  EXPECT_NEAR(static_cast<double>(kept), 7500, 5 * std::sqrt(10000 * 0.75 * 0.25));
  EXPECT_EQ(Dropout::make({.p = 0.2})->describe(), "Dropout(keep_prob=0.8)");
  EXPECT_THROW(Dropout::make({.keep_prob = 0}), ValueError);
  EXPECT_THROW(Dropout::make({.p = 1}), ValueError);
}

TEST(Embedding, RowsAndOneHotAgree) {
  const Tensor table = ramp({5, 3});
  const Tensor ids = Tensor::from_vector<int32_t>({2, 2}, {4, 0, 1, 4});
  const Tensor y = (*Embedding::make({.vocab_size = 5, .embedding_size = 3, .embedding_table = table}))(ids);
  EXPECT_EQ(y.shape(), (Shape{2, 2, 3}));
  expect_near((*Embedding::make({.vocab_size = 5, .embedding_size = 3, .use_one_hot = true, .embedding_table = table}))(ids), y, 1e-6);
  auto padded = Embedding::make({.vocab_size = 5, .embedding_size = 3, .padding_idx = 4});
  EXPECT_EQ(ops::sum((*padded)(Tensor::from_vector<int32_t>({1}, {4}))).item(), 0);
  EXPECT_THROW(Embedding::make({.vocab_size = 5, .embedding_size = 3, .padding_idx = 5}), ValueError);
  EXPECT_THROW((*padded)(Tensor::from_vector<int32_t>({1}, {7})), ValueError);
}

TEST(Container, SequentialAndList) {
  auto net = SequentialCell::make(Flatten::make(), Dense::make({.in_channels = 8, .out_channels = 2}));
  EXPECT_EQ((*net)(ramp({3, 2, 4})).shape(), (Shape{3, 2}));
  net->append(ReLU::make());
  EXPECT_EQ(net->size(), 3u);
  EXPECT_EQ((*net)[2]->class_name(), "ReLU");
  EXPECT_THROW((*net)[3], ValueError);
  SequentialCell named(std::vector<std::pair<std::string, CellPtr>>{{"fc", Dense::make({.in_channels = 1, .out_channels = 1})}});
  EXPECT_EQ(named.parameters_and_names()[0].first, "fc.weight");
  const Tensor x = ramp({2});
  expect_near(SequentialCell()(x), x, 0);
  auto list = CellList::make({ReLU::make(), Tanh::make()});
  EXPECT_EQ(list->size(), 2u);
  EXPECT_THROW((*list)(x), ValueError);
  EXPECT_EQ((*Flatten::make({.start_dim = 0, .end_dim = 1}))(ramp({3, 2, 4})).shape(), (Shape{6, 4}));
}

}  // namespace
}  // namespace sindri::nn
