// Cells whose inner values are recomputed for the gradient: bitwise identical to no recomputation, with less memory.
#include <gtest/gtest.h>

#include <thread>

#include "sindri/amp/amp.h"
#include "sindri/autograd/grad.h"
#include "sindri/core/rng.h"
#include "sindri/graph/compile.h"
#include "sindri/nn/nn.h"
#include "sindri/nn/recompute.h"
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
  TensorList values;  // loss, gradients, parameters and moving statistics after the step
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

// Here x is passed twice, and f captures a tensor and a Parameter. Every gradient must be as if nothing were recomputed.
TEST_P(Recompute, GradientsOfRepeatedAndHeldValues) {
  const bool graph = std::get<0>(GetParam()), twice = std::get<1>(GetParam());
  const Tensor x = Tensor::from_vector<float>({3}, {1, 2, 3}), k = Tensor::from_vector<float>({3}, {4, 5, 6});
  Parameter p(Tensor::from_vector<float>({3}, {7, 8, 9}), "p"), own(Tensor::from_vector<float>({3}, {2, 3, 4}), "own");
  const TensorFn fn = [&](Span<const Tensor> in) -> TensorList {
    Tape tape;
    TensorList out;
    const Tensor b = twice ? in[0] : in[1];
    {
      const TraceScope recording(tape);
      const auto f = [&](Span<const Tensor> a) { return TensorList{a[0] * a[1] * in[1] * p.value() * own.value() + a[0] * p.value()}; };
      out = recompute_function(f, TensorList{in[0], b}, {&own}, "f");
    }
    Parameter* const params[] = {&p, &own};
    const Gradients g = tape.backward(out, {}, in, params);
    return {out[0], g.of_inputs[0], g.of_inputs[1], g.of_params[0], g.of_params[1]};
  };
  CompiledFn compiled = compile(fn);
  const TensorList arguments = {x, k}, got = graph ? compiled(arguments) : fn(arguments);
  for (size_t i = 0; i < 3; ++i) {
    const auto at = [&](const Tensor& t) { return t.to_vector<double>()[i]; };
    const double a = at(x), c = at(k), b = twice ? a : c, q = at(p.value()), w = at(own.value());
    EXPECT_EQ(at(got[0]), a * b * c * q * w + a * q);
    EXPECT_EQ(at(got[1]), (twice ? 2 * a : b) * c * q * w + q);
    EXPECT_EQ(at(got[2]), (twice ? a * b : 2 * a * c) * q * w);
    EXPECT_EQ(at(got[3]), a * b * c * w + a);
    EXPECT_EQ(at(got[4]), a * b * c * q);
  }
}

// A Cell whose argument is one of the Cell's Parameters.
TEST(Recompute, AnArgumentThatIsAParameter) {
  Parameter p(Tensor::from_vector<float>({1}, {3}), "p");
  const auto f = [&](Span<const Tensor> a) { return TensorList{a[0] * p.value() * a[1]}; };
  Tape tape;
  TensorList out;
  const Tensor x = Tensor::from_vector<float>({1}, {5});
  {
    const TraceScope recording(tape);
    out = recompute_function(f, TensorList{p.value(), x}, {&p}, "f");
  }
  Parameter* const params[] = {&p};
  const Gradients g = tape.backward(out, {}, {&x, 1}, params);
  EXPECT_EQ(g.of_inputs[0].item(), 9);
  EXPECT_EQ(g.of_params[0].item(), 30);
}

// Two ops of a graph draw different numbers, even if another thread begins its own step while the graph is traced.
TEST(RandomOpsOfAGraph, AreNumberedApartFromOtherThreads) {
  CompiledFn f = compile([](Span<const Tensor>) {
    ops::begin_rng_step();
    const Tensor a = ops::random_normal({16});
    std::thread([] { ops::begin_rng_step(); }).join();
    return TensorList{a, ops::random_normal({16})};
  });
  const TensorList out = f({});
  EXPECT_FALSE(test::same_bits(out[0], out[1]));
}

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
