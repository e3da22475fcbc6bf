// Chains of elementwise ops with and without clusters: bitwise identical for every type, layout, broadcast and number of threads.
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "sindri/core/context.h"
#include "sindri/graph/compile.h"
#include "sindri/ops/elementwise.h"
#include "sindri/ops/reduce.h"
#include "src/core/tensor_impl.h"
#include "src/op/plan.h"
#include "tests/graph/helpers.h"
#include "tests/graph/test_ops.h"

namespace sindri {
namespace {

using test::count;
using test::same_bits;
using test::Threads;

Tensor high_wave(const Shape& shape, double phase, DType dtype) { return test::wave(shape, phase, dtype, 3); }

// Compares eager mode and the graph without the pass with the graph that has it, twice, on 1 and 2 threads.
std::string expect_same(const TensorFn& fn, const TensorList& in) {
  std::string text;
  const TensorList eager = fn(in);
  for (int threads : {1, 2}) {
    const Threads set(threads);
    CompiledFn plain = compile(fn, {.disable_passes = {"fuse_elementwise"}}), fused = compile(fn);
    const TensorList a = plain(in), b = fused(in), c = fused(in);
    for (size_t i = 0; i < eager.size(); ++i) {
      EXPECT_TRUE(same_bits(a[i], eager[i])) << "output " << i << " of the graph without the pass";
      EXPECT_TRUE(same_bits(b[i], eager[i])) << "output " << i << " on " << threads << " threads\n" << fused.graph_text();
      EXPECT_TRUE(same_bits(c[i], eager[i])) << "output " << i << " of the second run";
    }
    EXPECT_EQ(count(plain.graph_text(), "elementwise_cluster"), 0u);
    text = fused.graph_text();
  }
  return text;
}

class FuseElementwise : public ::testing::TestWithParam<DType> {};

TEST_P(FuseElementwise, ChainWithBroadcastsAndSeveralResults) {
  const DType t = GetParam();
  const TensorFn fn = [](Span<const Tensor> in) -> TensorList {
    const Tensor a = ops::leaky_relu(in[0] * in[1], 0.3) + in[2];  // [C, 1, 1], a scalar
    const Tensor b = ops::tanh(a) - in[3];  // one image
    const Tensor positive = ops::greater(b, in[4]);  // pixels of one channel
    return {a, ops::where(positive, b, ops::exp(a)), positive, ops::sum(b)};
  };
  for (const Shape& s : std::vector<Shape>{{2, 5, 7, 9}, {1, 16, 1, 1}, {3, 17, 33, 31}, {0, 3, 2, 2}}) {
    TensorList in = {high_wave(s, 0, t), high_wave({s[1], 1, 1}, 1, t), high_wave({}, 2, t), high_wave({1, s[1], s[2], s[3]}, 3, t),
                     high_wave({s[0], 1, s[2], s[3]}, 4, t)};
    expect_same(fn, in);
    for (size_t i : {0u, 3u}) in[i] = convert_layout(in[i], Layout::kChannelsLast);
    EXPECT_EQ(count(expect_same(fn, in), "elementwise_cluster"), 1u);
  }
}

TEST_P(FuseElementwise, TypesChangeInside) {
  const DType t = GetParam();
  const TensorFn fn = [](Span<const Tensor> in) -> TensorList {
    const Tensor wide = ops::cast(in[0], DType::kFloat64) * ops::cast(in[1], DType::kFloat64);
    const Tensor whole = ops::cast(wide * 3.0, DType::kInt32) + ops::cast(in[1], DType::kInt32);
    return {ops::cast(wide, in[0].dtype()), ops::cast(whole, DType::kBFloat16) * 0.3, ops::logical_not(ops::greater(whole, ops::scalar_like(whole, 1)))};
  };
  const std::string text = expect_same(fn, {high_wave({37, 129}, 0, t), high_wave({37, 129}, 1, t)});
  EXPECT_EQ(count(text, "= cast("), 0u) << text;
}

// States written in place, by one result and by one of two.
TEST_P(FuseElementwise, StatesKeepTheirStorage) {
  const DType t = GetParam();
  const auto run = [&](const std::vector<std::string>& disabled) {
    Parameter mean(high_wave({1500}, 0, t), "mean"), norm(high_wave({1500}, 1, t), "norm");
    CompiledFn f = compile(
        [&](Span<const Tensor> in) -> TensorList {
          mean.assign(mean.value() * 0.9 + in[0] * 0.1);
          const Tensor n = ops::maximum(norm.value() * 0.5, ops::abs(in[0]));
          norm.assign(n);
          return {in[0] / (n + 1.0)};
        },
        {.disable_passes = disabled});
    TensorList out;
    for (int i = 0; i < 3; ++i) out.push_back(f(TensorList{high_wave({1500}, 2 + i, t)})[0]);
    out.push_back(mean.value());
    out.push_back(norm.value());
    return std::pair{out, f.graph_text()};
  };
  const auto [plain, plain_text] = run({"fuse_elementwise"});
  const auto [fused, text] = run({});
  for (size_t i = 0; i < plain.size(); ++i) EXPECT_TRUE(same_bits(plain[i], fused[i])) << "value " << i;
  EXPECT_EQ(count(text, "elementwise_cluster"), 2u) << text;
  EXPECT_EQ(count(text, "= mul("), 0u) << text;
}

// Any graph of elementwise ops: operands, sharing and results drawn with a fixed seed.
TEST_P(FuseElementwise, RandomGraphs) {
  const DType t = GetParam();
  for (unsigned seed = 0; seed < 25; ++seed) {
    const TensorFn fn = [seed](Span<const Tensor> in) -> TensorList {
      std::mt19937 rng(seed);
      TensorList v(in.begin(), in.end());
      const auto pick = [&] { return v[rng() % v.size()]; };
      const size_t steps = 5 + rng() % 35;
      for (size_t k = 0; k < steps; ++k) {
        const Tensor a = pick(), b = pick();
        switch (rng() % 10) {
          case 0: v.push_back(a + b); break;
          case 1: v.push_back(a - b); break;
          case 2: v.push_back(a * b); break;
          case 3: v.push_back(ops::maximum(a, b)); break;
          case 4: v.push_back(ops::relu(a)); break;
          case 5: v.push_back(ops::sigmoid(a)); break;
          case 6: v.push_back(ops::clamp(a, -1.5, 2.0)); break;
          case 7: v.push_back(ops::where(ops::less(a, b), a, pick())); break;
          case 8: v.push_back(ops::square(ops::tanh(a))); break;
          default: v.push_back(ops::sum(a, {-1}, true)); break;  // splits clusters
        }
      }
      TensorList out = {v.back()};
      for (int k = 0; k < 3; ++k) out.push_back(pick() * 1.0);
      return out;
    };
    expect_same(fn, {high_wave({6, 50}, 0, t), high_wave({6, 50}, 1, t), high_wave({50}, 2, t), high_wave({6, 1}, 3, t), high_wave({}, 4, t)});
    if (HasFailure()) FAIL() << "seed " << seed;
  }
}

INSTANTIATE_TEST_SUITE_P(Types, FuseElementwise, ::testing::Values(DType::kFloat32, DType::kBFloat16, DType::kFloat16, DType::kFloat64),
                         [](const auto& test_case) { return std::string(dtype_name(test_case.param)); });

}  // namespace
}  // namespace sindri
