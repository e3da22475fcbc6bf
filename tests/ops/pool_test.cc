// Pooling beyond the common suite: ties, special values, threads, bad arguments.
#include "sindri/ops/pool.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "sindri/autograd/grad.h"
#include "sindri/core/context.h"
#include "sindri/core/device.h"
#include "sindri/core/error.h"
#include "sindri/graph/compile.h"
#include "sindri/op/bind.h"
#include "sindri/ops/elementwise.h"
#include "sindri/ops/reduce.h"
#include "src/op/plan.h"
#include "tests/ops/compare.h"
#include "tests/ops/samples.h"

namespace sindri {
namespace {

const ops::Pool2dAttrs kTwo = {.kernel = {2, 2}, .stride = {2, 2}};

Tensor max_gradient(const Tensor& x, const ops::Pool2dAttrs& a) {
  return grad([&](Span<const Tensor> in) { return TensorList{ops::sum(ops::max_pool2d(in[0], a))}; })(TensorList{x})[0];
}

TEST(MaxPool, FirstOfEqualValuesTakesTheGradient) {
  const Tensor x = Tensor::from_values({1, 1, 2, 4}, {1, 3, 0, 0, 3, 3, 0, 0});
  for (const Layout layout : {Layout::kContiguous, Layout::kChannelsLast})
    EXPECT_EQ(max_gradient(convert_layout(x, layout), kTwo).to_vector<double>(), (std::vector<double>{0, 1, 1, 0, 0, 0, 0, 0}));
}

TEST(MaxPool, OverlappingWindowsAddUp) {
  const Tensor x = Tensor::from_values({1, 1, 3, 3}, {0, 0, 0, 0, 9, 0, 0, 0, 0});
  for (const Layout layout : {Layout::kContiguous, Layout::kChannelsLast})
    EXPECT_EQ(max_gradient(convert_layout(x, layout), {.kernel = {2, 2}}).to_vector<double>(), (std::vector<double>{0, 0, 0, 0, 4, 0, 0, 0, 0}));
}

TEST(MaxPool, NaNWinsAndMinusInfinityIsAValue) {
  const double inf = HUGE_VAL, nan = std::nan("");
  const Tensor x = Tensor::from_values({1, 1, 2, 6}, {1, nan, -inf, -inf, -inf, inf, 2, 3, -inf, -inf, 0, nan});
  for (const Layout layout : {Layout::kContiguous, Layout::kChannelsLast}) {
    const std::vector<double> y = ops::max_pool2d(convert_layout(x, layout), kTwo).to_vector<double>();
    EXPECT_TRUE(std::isnan(y[0]));
    EXPECT_EQ(y[1], -inf);
    EXPECT_TRUE(std::isnan(y[2]));
    const std::vector<double> g = max_gradient(convert_layout(x, layout), kTwo).to_vector<double>();
    EXPECT_EQ(g, (std::vector<double>{0, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 1}));
  }
}

TEST(AvgPool, PaddingCountsOnlyWhenAsked) {
  const Tensor x = Tensor::full({1, 1, 2, 2}, 1);
  ops::Pool2dAttrs a = {.kernel = {2, 2}, .stride = {2, 2}, .pad = {1, 1, 1, 1}};
  EXPECT_EQ(ops::avg_pool2d(x, a).to_vector<double>(), (std::vector<double>{1, 1, 1, 1}));
  a.count_include_pad = true;
  EXPECT_EQ(ops::avg_pool2d(x, a).to_vector<double>(), (std::vector<double>{0.25, 0.25, 0.25, 0.25}));
}

TEST(AvgPool, GlobalIsTheMean) {
  const Tensor y = ops::global_avg_pool2d(Tensor::from_values({1, 2, 1, 3}, {1, 2, 6, -1, 0, 1}));
  EXPECT_EQ(y.shape(), (Shape{1, 2, 1, 1}));
  EXPECT_EQ(y.to_vector<double>(), (std::vector<double>{3, 0}));
}

TEST(AvgPool, LargeWindowsKeepTheirDigits) {
  const Tensor x = Tensor::full({1, 3, 1024, 1024}, 0.1);
  for (const Layout layout : {Layout::kContiguous, Layout::kChannelsLast}) {
    const Tensor in = convert_layout(x, layout);
    for (const int64_t size : {1024, 1000}) {
      for (const float y : ops::avg_pool2d(in, {.kernel = {size, size}, .stride = {size, size}}).to_vector<float>())
        EXPECT_NEAR(y / 0.1F, 1, layout == Layout::kContiguous ? 1e-6 : 1e-4) << size;
    }
  }
}

// Contiguous images wider than the vectorised kernels' stack buffers go to the reference kernel.
TEST(MaxPool, VeryWideImage) {
  std::vector<double> v(2 * 5000);
  for (size_t i = 0; i < v.size(); ++i) v[i] = static_cast<double>(i);
  const Tensor y = ops::max_pool2d(Tensor::from_values({1, 1, 2, 5000}, v), kTwo);
  EXPECT_EQ(y.numel(), 2500);
  EXPECT_EQ(y.to_vector<double>()[2499], 9999);
}

TEST(Pool, SameBitsForAnyNumberOfThreads) {
  const int before = num_threads();
  const ops::Pool2dAttrs a = {.kernel = {3, 3}, .stride = {2, 2}, .pad = {1, 1, 1, 1}};
  for (const Layout layout : {Layout::kContiguous, Layout::kChannelsLast}) {
    const Tensor x = convert_layout(test::make_inputs({.op = "pool_test", .name = "threads", .args = {{{3, 20, 30, 31}}}}, DType::kFloat32)[0], layout);
    const auto run = [&] {
      const auto f = [&](Span<const Tensor> in) {
        return TensorList{ops::sum(ops::square(ops::max_pool2d(in[0], a))) + ops::sum(ops::square(ops::avg_pool2d(in[0], a)))};
      };
      return TensorList{ops::max_pool2d(x, a), ops::avg_pool2d(x, a), ops::global_avg_pool2d(x), grad(f)(TensorList{x})[0]};
    };
    set_num_threads(1);
    const TensorList one = run();
    for (int n : {2, 3, 8}) {
      set_num_threads(n);
      const TensorList many = run();
      for (size_t i = 0; i < one.size(); ++i) EXPECT_TRUE(test::same_bits(one[i], many[i])) << "result " << i << " with " << n << " threads";
    }
  }
  set_num_threads(before);
}

TEST(Pool, BadArguments) {
  const Tensor x = Tensor::zeros({1, 2, 4, 4});
  EXPECT_THROW(ops::max_pool2d(Tensor::zeros({2, 4, 4}), kTwo), ShapeError);
  EXPECT_THROW(ops::max_pool2d(Tensor::zeros({1, 2, 4, 4}, DType::kInt32), kTwo), DTypeError);
  EXPECT_THROW(ops::max_pool2d(x, {.kernel = {2}}), ValueError);
  EXPECT_THROW(ops::max_pool2d(x, {.kernel = {2, 0}}), ValueError);
  EXPECT_THROW(ops::max_pool2d(x, {.kernel = {2, 2}, .stride = {0, 1}}), ValueError);
  EXPECT_THROW(ops::max_pool2d(x, {.kernel = {2, 2}, .stride = {1, int64_t{1} << 40}}), ValueError);
  EXPECT_THROW(ops::max_pool2d(x, {.kernel = {2, 2}, .pad = {0, 0, 0}}), ValueError);
  EXPECT_THROW(ops::max_pool2d(x, {.kernel = {2, 2}, .pad = {0, -1, 0, 0}}), ValueError);
  EXPECT_THROW(ops::avg_pool2d(x, {.kernel = {2, 2}, .pad = {2, 0, 0, 0}}), ValueError);
  EXPECT_THROW(ops::avg_pool2d(x, {.kernel = {5, 5}}), ShapeError);
  EXPECT_THROW(ops::avg_pool2d(Tensor::zeros({1, 2, 0, 4}), {}), ShapeError);
  EXPECT_THROW(ops::adaptive_avg_pool2d(x, 0, 2), ValueError);
  EXPECT_THROW(ops::adaptive_avg_pool2d(Tensor::zeros({4, 4}), 2, 2), ShapeError);
  EXPECT_THROW(ops::global_avg_pool2d(Tensor::zeros({1, 2, 0, 0})), ShapeError);
}

// The gradient coming back from a flatten is contiguous; it continues in the layout of the forward op.
TEST(MaxPool, GradientHasTheLayoutOfTheInput) {
  const Tensor dy = Tensor::full({2, 3, 2, 2}, 1.0), argmax = Tensor::zeros({2, 3, 2, 2}, DType::kUInt8);
  const OpDef& op = find_op("max_pool2d_grad");
  const std::vector<int64_t> two = {2, 2}, size = {4, 4};
  const Attrs attrs = op.attrs.make({{"kernel", two}, {"stride", two}, {"input_size", size}});
  for (const Layout layout : {Layout::kContiguous, Layout::kChannelsLast}) EXPECT_EQ(bind(op, attrs, {dy, convert_layout(argmax, layout)})[0].layout(), layout);
}

// Two NaNs in a window: the index is that of the later one, in vectors as in the loops for single channels.
TEST(MaxPool, LastNanOfAWindowIsItsPlace) {
  std::vector<double> v(6 * 4 * 4, 1.0);
  for (size_t c = 0; c < 6; ++c) v[c * 16] = v[c * 16 + 5] = std::nan("");
  const Tensor x = Tensor::from_values({1, 6, 4, 4}, v);
  for (const Layout layout : {Layout::kContiguous, Layout::kChannelsLast}) {
    const std::vector<double> dx = max_gradient(convert_layout(x, layout), kTwo).to_vector<double>();
    for (size_t c = 0; c < 6; ++c) {
      EXPECT_EQ(dx[c * 16], 0) << c;
      EXPECT_EQ(dx[c * 16 + 5], 1) << c;
    }
  }
}

// With an addend and a scale, the gradient of global pooling is bitwise identical to the separate ops.
TEST(AveragePoolGradient, OfASumHasTheBitsOfTheSeparateOps) {
  const OpDef& op = find_op("adaptive_avg_pool2d_grad");
  const Attrs attrs = op.attrs.make({{"h", int64_t{5}}, {"w", int64_t{7}}});
  for (const DType type : {DType::kFloat16, DType::kBFloat16})
    for (const int64_t channels : {16, 5}) {
      const test::Sample s = {.op = "adaptive_avg_pool2d_grad", .name = "sum", .args = {{{3, channels, 1, 1}}, {{3, channels, 5, 7}}, {{3, channels, 1, 1}}}};
      for (const Layout layout : {Layout::kContiguous, Layout::kChannelsLast}) {
        TensorList in = test::make_inputs(s, type);
        for (Tensor& t : in) t = convert_layout(t, layout);
        const Tensor alone = bind(op, attrs, {in[0]})[0];
        EXPECT_TRUE(test::same_bits(sindri::bind(op, attrs, {in[0], in[1]})[0], in[1] + alone));
        EXPECT_TRUE(test::same_bits(sindri::bind(op, attrs, in)[0], in[1] * in[2] + alone));
      }
    }
  const Tensor dy = Tensor::zeros({3, 4, 1, 1}), image = Tensor::zeros({3, 4, 5, 7});
  EXPECT_THROW(bind(op, attrs, {dy, dy}), ShapeError);
  EXPECT_THROW(bind(op, attrs, {dy, image, image}), ShapeError);
}

// A squeeze-and-excitation gate and its gradient, eager and compiled.
TEST(AveragePoolGradient, OfAGateKeepsEveryBitInGraphs) {
  const TensorFn gated = [](Span<const Tensor> in) -> TensorList {
    const Tensor y = in[0] * ops::sigmoid(ops::global_avg_pool2d(in[0]) * in[1]);
    return {ops::sum(ops::cast(ops::tanh(y), DType::kFloat32))};
  };
  const TensorFn fn = [&](Span<const Tensor> in) -> TensorList { return value_and_grad(gated, in, {0, 1}, {}).second.of_inputs; };
  const test::Sample s = {.op = "gate", .name = "gate", .args = {{{3, 16, 5, 7}}, {{3, 16, 1, 1}}}};
  TensorList in = test::make_inputs(s, DType::kFloat16);
  in[0] = convert_layout(in[0], Layout::kChannelsLast);
  CompiledFn compiled = compile(fn);
  const TensorList eager = fn(in), fused = compiled(in);
  ASSERT_EQ(eager.size(), fused.size());
  for (size_t i = 0; i < eager.size(); ++i) EXPECT_TRUE(test::same_bits(eager[i], fused[i])) << i;
  if (current_device().kind == Device::kCuda) { EXPECT_EQ(compiled.graph_text().find(" add("), std::string::npos) << compiled.graph_text(); }
}

// A compensated sum must not turn infinity into NaN.
TEST(AvgPool2d, InfinityInALargeWindowStaysInfinite) {
  std::vector<double> v(2 * 40 * 40, 1.0);
  v[7] = std::numeric_limits<double>::infinity();
  for (const Layout layout : {Layout::kContiguous, Layout::kChannelsLast}) {
    const std::vector<double> y = ops::adaptive_avg_pool2d(convert_layout(Tensor::from_values({1, 2, 40, 40}, v), layout), 1, 1).to_vector<double>();
    EXPECT_EQ(y[0], std::numeric_limits<double>::infinity());
    EXPECT_NEAR(y[1], 1, 1e-6);
  }
}

}  // namespace
}  // namespace sindri
