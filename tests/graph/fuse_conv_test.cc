// Inference graphs with batch norms folded into convolutions: close to the eager values, and correct for weights that change later.
#include <gtest/gtest.h>

#include <cmath>

#include "sindri/core/context.h"
#include "sindri/graph/compile.h"
#include "sindri/op/parameter.h"
#include "sindri/ops/conv.h"
#include "sindri/ops/elementwise.h"
#include "sindri/ops/norm.h"
#include "tests/graph/helpers.h"
#include "tests/graph/test_ops.h"

namespace sindri {
namespace {

using test::wave;

struct Net {
  Parameter w1{wave({8, 4, 3, 3}, 1, DType::kFloat32, 0.2), "w1"}, w2{wave({8, 8, 3, 3}, 2, DType::kFloat32, 0.2), "w2"};
  Parameter gamma{wave({8}, 3), "gamma"}, beta{wave({8}, 4), "beta"}, mean{wave({8}, 5), "mean"}, var{wave({8}, 6, DType::kFloat32, 0.5, 1), "var"};

  Tensor operator()(const Tensor& x) {
    const auto norm = [&](const Tensor& t) { return ops::batch_norm_infer(t, gamma.value(), beta.value(), mean.value(), var.value()); };
    const ops::Conv2dAttrs same{.pad = {1, 1, 1, 1}};
    const Tensor a = ops::relu(norm(ops::conv2d(x, ops::cast(w1.value(), x.dtype()), same)));
    return ops::relu(norm(ops::conv2d(a, ops::cast(w2.value(), x.dtype()), same)) + a);
  }
};

void expect_near(const Tensor& a, const Tensor& b, double tolerance) {
  const std::vector<double> x = ops::cast(a, DType::kFloat64).to_vector<double>(), y = ops::cast(b, DType::kFloat64).to_vector<double>();
  ASSERT_EQ(x.size(), y.size());
  for (size_t i = 0; i < x.size(); ++i) ASSERT_NEAR(x[i], y[i], tolerance * (1 + std::abs(y[i]))) << "element " << i;
}

class FuseConv : public ::testing::TestWithParam<DType> {};

TEST_P(FuseConv, FollowsWeightsThatChange) {
  const double tolerance = GetParam() == DType::kFloat32 ? 1e-5 : 0.1;
  Net net;
  const Tensor x = wave({2, 4, 7, 6}, 0, GetParam());
  CompiledFn compiled = compile([&](Span<const Tensor> in) -> TensorList { return {net(in[0])}; });
  for (int round = 0; round < 3; ++round) {
    expect_near(compiled({&x, 1})[0], net(x), tolerance);
    expect_near(compiled({&x, 1})[0], net(x), tolerance);  // from the kept weights
    if (round == 0) net.w2.assign(wave({8, 8, 3, 3}, 9, DType::kFloat32, 0.2));
    if (round == 1) net.var.assign(wave({8}, 11, DType::kFloat32, 0.5, 1));
  }
  const std::string text = compiled.graph_text();
  EXPECT_EQ(text.find("batch_norm_infer"), std::string::npos) << text;
  EXPECT_EQ(text.find(" relu("), std::string::npos) << text;
  EXPECT_EQ(compiled.num_signatures(), 1);
}

TEST_P(FuseConv, StrictModeComputesTheSameOnAnyNumberOfThreads) {
  Net net;
  const Tensor x = wave({2, 4, 7, 6}, 0, GetParam());
  const bool strict = strict_mode();
  const int threads = num_threads();
  set_strict(true);
  CompiledFn compiled = compile([&](Span<const Tensor> in) -> TensorList { return {net(in[0])}; });
  set_num_threads(1);
  const Tensor one = compiled({&x, 1})[0];
  set_num_threads(2);
  const Tensor two = compiled({&x, 1})[0];
  set_num_threads(threads);
  set_strict(strict);
  EXPECT_TRUE(test::same_bits(one, two));
}

INSTANTIATE_TEST_SUITE_P(Types, FuseConv, ::testing::Values(DType::kFloat32, DType::kBFloat16, DType::kFloat16));

}  // namespace
}  // namespace sindri
