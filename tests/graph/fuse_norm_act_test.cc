// Residual blocks with and without the fusion of batch norm, addition and relu: bitwise identical values and gradients.
#include <gtest/gtest.h>

#include <cmath>

#include "sindri/autograd/grad.h"
#include "sindri/core/context.h"
#include "sindri/graph/compile.h"
#include "sindri/ops/conv.h"
#include "sindri/ops/elementwise.h"
#include "sindri/ops/norm.h"
#include "sindri/ops/reduce.h"
#include "src/op/plan.h"
#include "tests/graph/helpers.h"
#include "tests/graph/test_ops.h"

namespace sindri {
namespace {

using test::same_bits;
using test::wave;

// Two blocks: the first with a normalised shortcut, the second with the identity. Inputs: x, then gamma and beta of four norms.
TensorList blocks(Span<const Tensor> in) {
  const auto norm = [&](const Tensor& x, size_t i) { return ops::batch_norm_train(x, in[1 + 2 * i], in[2 + 2 * i], 1e-3).y; };
  const Tensor stem = ops::relu(norm(in[0], 0));
  const Tensor first = ops::relu(norm(stem * 0.5, 1) + norm(ops::tanh(stem), 2));
  const Tensor second = ops::relu(norm(ops::tanh(first * 1.5), 3) + first);
  return {ops::sum(ops::cast(second * second * second, DType::kFloat32))};
}

class FuseNormAct : public ::testing::TestWithParam<std::tuple<DType, bool>> {};

TEST_P(FuseNormAct, KeepsEveryBit) {
  const auto [dtype, channels_last] = GetParam();
  Tensor x = wave({3, 5, 7, 6}, 0.1, dtype);
  if (channels_last) x = convert_layout(x, Layout::kChannelsLast);
  TensorList in = {x};
  for (int i = 0; i < 4; ++i) {
    const DType stats = dtype == DType::kFloat64 ? dtype : DType::kFloat32;
    in.push_back(wave({5}, 1.0 + i, stats));
    in.push_back(wave({5}, 2.0 + i, stats));
  }
  const TensorFn fn = [](Span<const Tensor> a) -> TensorList {
    auto [out, grads] = value_and_grad(blocks, a, {0, 1, 2, 3, 4, 5, 6, 7, 8}, {});
    out.insert(out.end(), grads.of_inputs.begin(), grads.of_inputs.end());
    return out;
  };
  const TensorList eager = fn(in);
  CompiledFn compiled = compile(fn);
  const TensorList fused = compiled(in);
  ASSERT_EQ(eager.size(), fused.size());
  for (size_t i = 0; i < eager.size(); ++i) EXPECT_TRUE(same_bits(eager[i], fused[i])) << "output " << i;
  const std::string text = compiled.graph_text();
  EXPECT_EQ(text.find(" relu("), std::string::npos) << text;
  EXPECT_EQ(text.find(" relu_grad("), std::string::npos) << text;
  EXPECT_NE(text.find("residual=true, sum=true"), std::string::npos) << text;
}

INSTANTIATE_TEST_SUITE_P(Types, FuseNormAct,
                         ::testing::Combine(::testing::Values(DType::kFloat32, DType::kBFloat16, DType::kFloat16, DType::kFloat64), ::testing::Bool()));

}  // namespace
}  // namespace sindri
