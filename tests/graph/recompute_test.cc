// Cells whose inner values are computed again for the gradient: the same bits as without, less memory.
#include <gtest/gtest.h>

#include "sindri/amp/amp.h"
#include "sindri/autograd/grad.h"
#include "sindri/core/rng.h"
#include "sindri/graph/compile.h"
#include "sindri/nn/nn.h"
#include "sindri/ops/elementwise.h"
#include "sindri/ops/random.h"
#include "sindri/ops/reduce.h"
#include "tests/graph/test_ops.h"

namespace sindri::nn {
namespace {

class Block final : public Cell {
 public:
  Block() : Cell("Block") {
    conv_ = child("conv", std::make_shared<Conv2d>(Conv2d::Options{.in_channels = 4, .out_channels = 4, .kernel_size = 3}));
    norm_ = child("norm", std::make_shared<BatchNorm2d>(BatchNorm2d::Options{.num_features = 4}));
    drop_ = child("drop", std::make_shared<Dropout>(Dropout::Options{.p = 0.4}));
  }
  Tensor construct(const Tensor& x) override { return (*drop_)(ops::tanh(ops::relu((*norm_)((*conv_)(x))))) + x; }

 private:
  std::shared_ptr<Conv2d> conv_;
  std::shared_ptr<BatchNorm2d> norm_;
  std::shared_ptr<Dropout> drop_;
};

struct Outcome {
  TensorList values;  // loss, gradients, parameters and moving averages behind the step
  int64_t arena = 0;
};

Outcome step(bool recompute, bool graph, bool half) {
  set_seed(3);
  ops::reset_rng(3);
  std::vector<CellPtr> blocks;
  for (int i = 0; i < 4; ++i) blocks.push_back(std::make_shared<Block>());
  SequentialCell net(blocks);
  net.set_train();
  if (recompute)
    for (const CellPtr& b : blocks) b->recompute();
  const std::vector<Parameter*> params = net.trainable_params();
  const Tensor x = ops::random_normal({8, 4, 16, 16});
  const TensorFn fn = [&](Span<const Tensor> in) -> TensorList {
    ops::begin_rng_step();
    Tape tape;
    Tensor loss;
    {
      const TraceScope recording(tape);
      const amp::AmpScope casts({.level = half ? amp::Level::kO2 : amp::Level::kO0});
      const Tensor y = net(in[0]);
      loss = ops::sum(ops::cast(y * y, DType::kFloat32));
    }
    const Gradients g = tape.backward({loss}, {}, in, params);
    ops::end_rng_step();
    TensorList out = {loss};
    out.insert(out.end(), g.of_inputs.begin(), g.of_inputs.end());
    out.insert(out.end(), g.of_params.begin(), g.of_params.end());
    return out;
  };
  Outcome o;
  CompiledFn compiled = compile(fn);
  for (int i = 0; i < 2; ++i) o.values = graph ? compiled({&x, 1}) : fn({&x, 1});
  for (Parameter* p : net.get_parameters()) o.values.push_back(p->value());
  o.values.push_back(ops::rng_state().value());
  o.arena = compiled.info().arena_bytes;
  return o;
}

class Recompute : public ::testing::TestWithParam<std::tuple<bool, bool>> {};

TEST_P(Recompute, KeepsEveryBitAndState) {
  const auto [graph, half] = GetParam();
  const Outcome plain = step(false, graph, half), again = step(true, graph, half);
  ASSERT_EQ(plain.values.size(), again.values.size());
  for (size_t i = 0; i < plain.values.size(); ++i) EXPECT_TRUE(test::same_bits(plain.values[i], again.values[i])) << "value " << i;
  if (graph) { EXPECT_LT(again.arena, plain.arena * 3 / 4); }
}

INSTANTIATE_TEST_SUITE_P(Modes, Recompute, ::testing::Combine(::testing::Bool(), ::testing::Bool()));

TEST(Recompute, WithoutATapeNothingIsRunAgain) {
  set_seed(3);
  Block block;
  const Tensor x = ops::random_normal({2, 4, 5, 5});
  block.set_train(false);
  const Tensor plain = block(x);
  block.recompute();
  EXPECT_TRUE(block.recomputes());
  EXPECT_TRUE(test::same_bits(block(x), plain));
}

}  // namespace
}  // namespace sindri::nn
