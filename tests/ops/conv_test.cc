// conv2d beyond the common suite: refused arguments, second derivatives, special values.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "sindri/autograd/grad.h"
#include "sindri/core/context.h"
#include "sindri/core/error.h"
#include "sindri/op/kernel.h"
#include "sindri/ops/conv.h"
#include "sindri/ops/elementwise.h"
#include "src/device/cpu/bfloat16_rate.h"
#include "src/device/cpu/onednn.h"
#include "tests/ops/compare.h"
#include "tests/ops/samples.h"

namespace sindri::test {
namespace {

using ::testing::HasSubstr;

Tensor input(const Shape& shape, int key, DType dtype = DType::kFloat64) {
  std::vector<double> v(static_cast<size_t>(shape.numel()));
  const UnitValues u("conv_test", key);
  for (size_t i = 0; i < v.size(); ++i) v[i] = 2 * u(i) - 1;
  return Tensor::from_values(shape, v, dtype);
}

template <class E, class F> std::string message_of(F&& f) {
  try {
    f();
  } catch (const E& e) { return e.what(); }
  ADD_FAILURE() << "nothing of the expected type was thrown";
  return "";
}
template <class E> std::string conv_error(const Shape& x, const Shape& w, const ops::Conv2dAttrs& a = {}) {
  return message_of<E>([&] { ops::conv2d(Tensor::zeros(x), Tensor::zeros(w), a); });
}

TEST(Conv2dKernels, Bfloat16IsWidenedWhereItsInstructionsAreSlow) {
  EXPECT_TRUE(cpu_isa() == CpuIsa::kAvx512Bf16 || !bfloat16_slower_than_float32()) << cpu_isa_name(cpu_isa());
  const bool direct = cpu_isa() >= CpuIsa::kAvx512Bf16 && !bfloat16_slower_than_float32();
  EXPECT_EQ(onednn::unavailable(DType::kBFloat16).empty(), direct) << onednn::unavailable(DType::kBFloat16);
  EXPECT_EQ(onednn::unavailable(DType::kFloat32), "");
}

// The column matrix of this many pixels is made in parts: whole images, with the weight gradient summed over them.
TEST(Conv2dKernels, ProductsInPartsAgree) {
  const Shape x_shape = {4, 64, 65, 65}, w_shape = {16, 64, 3, 3};
  const ops::Conv2dAttrs attrs{.pad = {1, 1, 1, 1}};
  const Tensor x = input(x_shape, 20, DType::kFloat32), w = input(w_shape, 21, DType::kFloat32);
  const auto results = [&](const char* kernel) {
    const ForceKernel force(kernel);
    const Tensor y = ops::conv2d(x, w, attrs);
    return TensorList{y, ops::conv2d_input_grad(y, w, x_shape, attrs), ops::conv2d_weight_grad(y, x, w_shape, attrs)};
  };
  const TensorList parts = results("onednn_gemm"), expected = results("im2col");
  // Rounding errors add up like a random walk over the terms of a sum, and so does the size of the sum itself. y sums 64·3·3 products of values below 1, the
  // gradients 16·3·3 and 4·65·65 values of the size of y.
  const double y = std::sqrt(64.0 * 9);
  const double sizes[] = {y, y * std::sqrt(16.0 * 9), y * std::sqrt(4.0 * 65 * 65)};
  for (size_t i = 0; i < expected.size(); ++i) EXPECT_TRUE(close(parts[i], expected[i], {1e-5, 1e-6 * sizes[i]})) << i;
}

// Weight gradients that are summed over blocks of pixels or tiles, and blocks over pieces: several of each, and a shorter last block.
TEST(Conv2dKernels, WeightGradientsInPiecesAgree) {
  struct Case {
    const char* kernel;
    int64_t side, stride, pad;
  };
  for (const Case& c : {Case{"pointwise", 1, 1, 0}, Case{"pointwise", 1, 2, 0}, Case{"winograd", 3, 1, 1}}) {
    SCOPED_TRACE(std::string(c.kernel) + ", stride " + std::to_string(c.stride));
    const Shape x_shape = {4, 33, 50 * c.stride, 51 * c.stride}, w_shape = {49, 33, c.side, c.side};
    const ops::Conv2dAttrs attrs{.stride = {c.stride, c.stride}, .pad = {c.pad, c.pad, c.pad, c.pad}};
    const Tensor x = input(x_shape, 22, DType::kFloat32), dy = input({4, 49, 50, 51}, 23, DType::kFloat32);
    const auto result = [&](const char* kernel) {
      const ForceKernel force(kernel);
      return ops::conv2d_weight_grad(dy, x, w_shape, attrs);
    };
    const Tensor expected = result("im2col");
    EXPECT_TRUE(close(result(c.kernel), expected, {1e-5, 1e-6 * std::sqrt(4.0 * 50 * 51)}));
    const int threads = num_threads();
    set_num_threads(1);
    const Tensor one = result(c.kernel);
    set_num_threads(3);
    EXPECT_EQ(result(c.kernel).to_vector<float>(), one.to_vector<float>()) << "the result depends on the number of threads";
    set_num_threads(threads);
  }
}

// The same in bfloat16 with tiles: channels and pixels that do not fill the last tiles.
TEST(Conv2dKernels, WeightGradientsInTilesAgree) {
  if (cpu_isa() < CpuIsa::kAvx512Amx) GTEST_SKIP() << "no tiles on " << cpu_isa_name(cpu_isa());
  for (const int64_t stride : {1, 2})
    for (const auto& [c, o] : {std::pair<int64_t, int64_t>{33, 49}, {64, 32}, {16, 90}}) {
      SCOPED_TRACE(fmt::format("{} to {} channels, stride {}", c, o, stride));
      const Shape w_shape = {o, c, 1, 1};
      const ops::Conv2dAttrs attrs{.stride = {stride, stride}};
      const Tensor x = input({4, c, 50 * stride, 51 * stride}, 27, DType::kBFloat16), dy = input({4, o, 50, 51}, 28, DType::kBFloat16);
      const auto tiles = [&](int threads) {
        set_num_threads(threads);
        const ForceKernel force("pointwise_tiles");
        return ops::conv2d_weight_grad(dy, x, w_shape, attrs);
      };
      const int threads = num_threads();
      const Tensor one = tiles(1), three = tiles(3);
      set_num_threads(threads);
      EXPECT_TRUE(same_bits(three, one)) << "the result depends on the number of threads";
      const ForceKernel force("im2col");
      const Tensor expected = ops::conv2d_weight_grad(ops::cast(dy, DType::kFloat32), ops::cast(x, DType::kFloat32), w_shape, attrs);
      EXPECT_TRUE(close(ops::cast(one, DType::kFloat32), expected, {1.0 / 256, 1e-6 * std::sqrt(4.0 * 50 * 51)}));
    }
}

// Fewer images than threads: the channels of one image are split between threads. Blocks of channels do not divide evenly among 2, 3 or 5.
TEST(Conv2dKernels, TiledSharesTheChannelsOfAnImage) {
  const int threads = num_threads();
  const OpDef& op = find_op("conv2d_bias_act");
  for (const int64_t images : {1, 2}) {
    const Tensor x = input({images, 16, 9, 11}, 24, DType::kFloat32), w = input({112, 16, 3, 3}, 25, DType::kFloat32), bias = input({112}, 26, DType::kFloat32);
    const Attrs attrs = op.attrs.make({{"pad", std::vector<int64_t>{1, 1, 1, 1}}, {"relu", true}});
    const auto results = [&](const char* kernel, int n) {
      set_num_threads(n);
      const ForceKernel force(kernel);
      const ops::Conv2dAttrs plain{.pad = {1, 1, 1, 1}};
      const Tensor y = ops::conv2d(x, w, plain);
      return TensorList{y, ops::conv2d_input_grad(y, w, x.shape(), plain), sindri::bind(op, attrs, {x, w, bias})[0]};
    };
    const TensorList one = results("tiled", 1), expected = results("reference", 1);
    for (size_t i = 0; i < one.size(); ++i) EXPECT_TRUE(close(one[i], expected[i], {1e-4, 1e-4})) << i;
    for (const int n : {2, 3, 5, 16}) {
      const TensorList many = results("tiled", n);
      for (size_t i = 0; i < one.size(); ++i) EXPECT_TRUE(same_bits(many[i], one[i])) << i << ", " << n << " threads";
    }
  }
  set_num_threads(threads);
}

// oneDNN's own relu after a convolution turns NaN into 0.
TEST(Conv2dKernels, ReluKeepsNan) {
  for (const int64_t side : {1, 3}) {
    for (const int64_t stride : {1, 2}) {
      Tensor x = Tensor::full({2, 16, 9, 9}, 1);
      std::vector<float> values = x.to_vector<float>();
      values[9 * 4 + 4] = std::numeric_limits<float>::quiet_NaN();  // image 0, channel 0, in the middle
      x = Tensor::from_vector(x.shape(), values);
      const Tensor w = Tensor::full({16, 16, side, side}, 1), bias = Tensor::full({16}, -1);
      const OpDef& op = find_op("conv2d_bias_act");
      const Attrs attrs = op.attrs.make({{"stride", std::vector<int64_t>{stride, stride}}, {"relu", true}});
      for (const KernelDef* kernel : kernels_of("conv2d_bias_act")) {
        std::vector<float> y;
        try {
          const ForceKernel force(kernel->name);
          y = sindri::bind(op, attrs, {x, w, bias})[0].to_vector<float>();
        } catch (const DeviceError&) {  // not a kernel for this
          continue;
        }
        const auto nans = std::count_if(y.begin(), y.begin() + static_cast<std::ptrdiff_t>(y.size() / 2), [](float v) { return std::isnan(v); });
        EXPECT_GT(nans, 0) << kernel->name << " " << side << " stride " << stride;
        EXPECT_TRUE(std::none_of(y.begin() + static_cast<std::ptrdiff_t>(y.size() / 2), y.end(), [](float v) { return std::isnan(v); })) << kernel->name;
      }
    }
  }
}

// oneDNN's 1x1 weight gradient with a stride wrote past its workspace if a pixel had fewer channels than its blocks. With inputs of ones, every gradient is the
// number of pixels.
TEST(Conv2dKernels, StridedPointwiseWeightGradientsOfFewChannels) {
  const int64_t images = current_device().kind == Device::kCuda ? 1 : 4;  // the host run computes element by element
  for (const bool strict : {false, true}) {
    set_strict(strict);
    for (const KernelDef* kernel : kernels_of("conv2d_weight_grad")) {
      for (const int64_t c : {1, 3, 4, 7, 8, 12, 15, 16, 17}) {
        for (const auto& stride : std::vector<std::vector<int64_t>>{{2, 2}, {1, 2}, {2, 1}, {3, 3}}) {
          const Tensor x = Tensor::full({images, c, 32, 31}, 1), w = Tensor::full({64, c, 1, 1}, 1);
          const ops::Conv2dAttrs attrs{.stride = stride};
          const Tensor dy = Tensor::full(ops::conv2d(x, w, attrs).shape(), 1);
          std::vector<float> dw;
          try {
            const ForceKernel force(kernel->name);
            dw = ops::conv2d_weight_grad(dy, x, w.shape(), attrs).to_vector<float>();
          } catch (const DeviceError&) {  // not a kernel for this
            continue;
          }
          const auto pixels = static_cast<float>(dy.numel() / 64);
          EXPECT_EQ(std::count(dw.begin(), dw.end(), pixels), 64 * c) << kernel->name << ", " << c << " channels, stride " << stride[0] << ", " << stride[1];
        }
      }
    }
  }
  set_strict(false);
}

// Sizes of padded images overflowed.
TEST(Conv2dKernels, HugePaddingWithHugeStrides) {
  struct Case {
    Shape x, w;
    int64_t pad, stride;
  };
  for (const Case& c : {Case{{1, 16, 4, 4}, {16, 16, 3, 3}, 268435454, 268435456}, Case{{1, 16, 4, 4}, {16, 16, 3, 3}, 30000, 30000},
                        Case{{1, 256, 1, 1}, {16, 256, 1, 1}, 1 << 26, 1 << 27}}) {
    const ops::Conv2dAttrs attrs{.stride = {c.stride, c.stride}, .pad = {c.pad, c.pad, c.pad, c.pad}};
    const Tensor x = input(c.x, 30, DType::kFloat32), w = input(c.w, 31, DType::kFloat32);
    const auto results = [&] {
      const Tensor y = ops::conv2d(x, w, attrs);
      return TensorList{y, ops::conv2d_input_grad(y, w, c.x, attrs), ops::conv2d_weight_grad(y, x, c.w, attrs)};
    };
    const TensorList chosen = results();
    const ForceKernel force("reference");
    const TensorList expected = results();
    for (size_t i = 0; i < expected.size(); ++i) EXPECT_TRUE(close(chosen[i], expected[i], {1e-4, 1e-4})) << c.x.str() << ", pad " << c.pad << ", result " << i;
  }
  // On AVX-512 oneDNN divides by zero when it plans for such padding, so it is not called.
  if (current_device().kind != Device::kCuda) {
    const ForceKernel force("onednn");
    const std::string m = conv_error<Error>({1, 256, 1, 1}, {16, 256, 1, 1}, {.stride = {1 << 27, 1 << 27}, .pad = {1 << 26, 1 << 26, 1 << 26, 1 << 26}});
    EXPECT_THAT(m, testing::AnyOf(HasSubstr("padding above 1024"), HasSubstr("oneDNN runs on OpenMP")));
  }
  // Columns of 2^64 bytes: too many outputs to allocate, which is an ordinary error.
  const int64_t pad = 1 << 26;
  EXPECT_THROW(ops::conv2d(Tensor::zeros({1, 256, 1, 1}), Tensor::zeros({16, 256, 1, 1}), {.pad = {pad, pad - 1, pad, pad - 1}}), Error);
}

TEST(Conv2dErrors, ChannelsAndGroups) {
  const std::string m = conv_error<ShapeError>({2, 64, 8, 8}, {128, 32, 3, 3});
  EXPECT_THAT(m, HasSubstr("conv2d: input has 64 channels, weight [128, 32, 3, 3] expects 32 (groups=1)"));
  EXPECT_THAT(m, HasSubstr("groups=2"));
  EXPECT_THAT(conv_error<ShapeError>({1, 6, 4, 4}, {4, 2, 1, 1}, {.groups = 3}), HasSubstr("4 output channels, which 3 groups do not divide"));
  EXPECT_THAT(conv_error<ValueError>({1, 6, 4, 4}, {4, 6, 1, 1}, {.groups = 0}), HasSubstr("groups must be at least 1, got 0"));
  EXPECT_THAT(conv_error<ValueError>({1, 6, 4, 4}, {4, 6, 1, 1}, {.groups = -2}), HasSubstr("got -2"));
}

TEST(Conv2dErrors, Sizes) {
  EXPECT_THAT(conv_error<ShapeError>({1, 3, 4, 9}, {2, 3, 5, 5}), HasSubstr("the kernel spans 5 rows"));
  EXPECT_THAT(conv_error<ShapeError>({1, 3, 9, 4}, {2, 3, 3, 3}, {.dilation = {1, 2}}),
              HasSubstr("the kernel spans 5 columns (size 3, dilation 2), the input has 4"));
  EXPECT_THAT(conv_error<ShapeError>({1, 3, 9, 9}, {2, 3, 0, 3}), HasSubstr("kernel of weight [2, 3, 0, 3] is empty"));
  EXPECT_THAT(conv_error<ShapeError>({3, 9, 9}, {2, 3, 3, 3}), HasSubstr("input must have 4 dimensions, got [3, 9, 9]"));
  EXPECT_THAT(conv_error<ShapeError>({1, 3, 9, 9}, {2, 3, 3}), HasSubstr("weight must have 4 dimensions, got [2, 3, 3]"));
}

TEST(Conv2dErrors, Attributes) {
  const Shape x = {1, 3, 9, 9}, w = {2, 3, 3, 3};
  EXPECT_THAT(conv_error<ValueError>(x, w, {.stride = {0, 1}}), HasSubstr("stride must lie in [1, 2147483647], got [0, 1]"));
  EXPECT_THAT(conv_error<ValueError>(x, w, {.stride = {1, -1}}), HasSubstr("got [1, -1]"));
  EXPECT_THAT(conv_error<ValueError>(x, w, {.stride = {1}}), HasSubstr("stride needs 2 values, got [1]"));
  EXPECT_THAT(conv_error<ValueError>(x, w, {.dilation = {1, 0}}), HasSubstr("dilation must lie in [1,"));
  EXPECT_THAT(conv_error<ValueError>(x, w, {.dilation = {std::numeric_limits<int64_t>::max(), 1}}), HasSubstr("dilation must lie in"));
  EXPECT_THAT(conv_error<ValueError>(x, w, {.pad = {1, 1}}), HasSubstr("pad needs 4 values, got [1, 1]"));
  EXPECT_THAT(conv_error<ValueError>(x, w, {.pad = {0, 0, -1, 0}}), HasSubstr("pad must lie in [0,"));
}

TEST(Conv2dErrors, Types) {
  const Tensor x = Tensor::zeros({1, 3, 9, 9}), w = Tensor::zeros({2, 3, 3, 3});
  EXPECT_THAT(message_of<DTypeError>([&] { ops::conv2d(x, Tensor::zeros({2, 3, 3, 3}, DType::kFloat64)); }), HasSubstr("one element type"));
  EXPECT_THAT(message_of<DTypeError>([&] { ops::conv2d(Tensor::zeros({1, 3, 9, 9}, DType::kInt32), w); }), HasSubstr("input must be floating point"));
}

TEST(Conv2dErrors, GradientShapes) {
  const Tensor dy = Tensor::zeros({2, 4, 3, 3}), w = Tensor::zeros({4, 3, 3, 3}), x = Tensor::zeros({2, 3, 6, 6});
  EXPECT_THAT(message_of<ShapeError>([&] {
                ops::conv2d_input_grad(dy, w, {2, 3, 6, 6}, {});
              }),
              HasSubstr("dy has shape [2, 4, 3, 3], the convolution of input [2, 3, 6, 6]"));
  EXPECT_THAT(message_of<ShapeError>([&] { ops::conv2d_weight_grad(dy, x, {4, 3, 3, 3}, {}); }), HasSubstr("gives [2, 4, 4, 4]"));
  EXPECT_THAT(message_of<ShapeError>([&] { ops::conv2d_weight_grad(dy, x, {4, 3, 3}, {}); }), HasSubstr("weight must have 4 dimensions"));
  EXPECT_THAT(message_of<ShapeError>([&] { ops::conv2d_input_grad(dy, w, {2, -3, 6, 6}, {}); }), HasSubstr("outside"));
}

// d/dv of v -> <grad of <y, dy>, u> against a central difference: the second derivative through both gradient ops.
TEST(Conv2dSecondDerivative, AgreesWithDifferencesOfTheGradient) {
  const ops::Conv2dAttrs a{.stride = {2, 1}, .pad = {1, 0, 1, 2}, .dilation = {1, 2}, .groups = 2};
  const Tensor x = input({2, 4, 6, 7}, 0), w = input({6, 2, 3, 2}, 1), dy = input(ops::conv2d(x, w, a).shape(), 2);
  const Tensor ux = input(x.shape(), 3), uw = input(w.shape(), 4);
  // First derivatives in x and w, each weighted with a fixed tensor: outputs whose gradients are second derivatives.
  const TensorFn first = [&](Span<const Tensor> in) {
    return TensorList{ops::conv2d_input_grad(in[2], in[1], x.shape(), a), ops::conv2d_weight_grad(in[2], in[0], w.shape(), a)};
  };
  const TensorList at = {x, w, dy};
  const TensorList second = value_and_grad(first, at, {0, 1, 2}, {}, {ux, uw}).second.of_inputs;
  const auto value = [&](const TensorList& in) {
    const TensorList g = first(in);
    double total = 0;
    for (size_t o = 0; o < 2; ++o) {
      const std::vector<double> v = g[o].to_vector<double>(), u = (o == 0 ? ux : uw).to_vector<double>();
      for (size_t i = 0; i < v.size(); ++i) total += v[i] * u[i];
    }
    return total;
  };
  for (size_t k = 0; k < at.size(); ++k) {
    const std::vector<double> analytic = second[k].to_vector<double>();
    for (int64_t i = 0; i < at[k].numel(); i += 7) {
      double side[2];
      for (int s = 0; s < 2; ++s) {
        TensorList moved = at;
        moved[k] = nudged(moved[k], i, s == 0 ? 1e-6 : -1e-6);
        side[s] = value(moved);
      }
      const double numeric = (side[0] - side[1]) / 2e-6;
      ASSERT_NEAR(analytic[static_cast<size_t>(i)], numeric, 1e-7 + 1e-5 * std::abs(numeric)) << "input " << k << ", element " << i;
    }
  }
}

// The reach of a NaN or an infinity in one pixel: exactly the outputs whose window contains it.
TEST(Conv2dSpecialValues, StayInTheirWindow) {
  for (const DType t : {DType::kFloat32, DType::kFloat64, DType::kBFloat16}) {
    std::vector<double> v(50, 1.0);
    v[0] = std::numeric_limits<double>::quiet_NaN();
    v[24] = std::numeric_limits<double>::infinity();
    const Tensor x = Tensor::from_values({1, 2, 5, 5}, v, t), w = Tensor::full({1, 2, 3, 3}, 1.0, t);
    const std::vector<double> y = ops::conv2d(x, w).to_vector<double>();
    ASSERT_EQ(y.size(), 9u);
    EXPECT_TRUE(std::isnan(y[0])) << dtype_name(t);
    EXPECT_TRUE(std::isinf(y[8])) << dtype_name(t);
    for (size_t i = 1; i < 8; ++i) EXPECT_EQ(y[i], 18.0) << dtype_name(t) << ", output " << i;
  }
}

// The same for the gradient of the input, where a kernel row of 3 * 5 elements ends within a vector.
TEST(Conv2dSpecialValues, AnInfiniteGradientStaysInItsWindow) {
  std::vector<float> gradient(4 * 3 * 9);
  gradient[4] = std::numeric_limits<float>::infinity();  // channel 0, row 0, column 4
  const Tensor dy = Tensor::from_vector({1, 4, 3, 9}, gradient);
  const Tensor w = Tensor::full({4, 3, 2, 5}, 1.0, DType::kFloat32);
  const std::vector<double> dx = ops::conv2d_input_grad(dy, w, {1, 3, 4, 13}, {}).to_vector<double>();
  for (size_t i = 0; i < dx.size(); ++i) {
    const size_t row = i / 13 % 4, column = i % 13;
    if (row < 2 && column >= 4 && column < 9) EXPECT_TRUE(std::isinf(dx[i])) << i;
    else EXPECT_EQ(dx[i], 0) << i;
  }
}

// bfloat16 is multiplied in pairs if the processor has instructions for it: with an odd number of products per output, the last is paired with a pixel that has
// no weight.
TEST(Conv2dSpecialValues, InfinityStaysInItsWindowOfBfloat16) {
  for (const int64_t channels : {1, 2, 3, 5, 17})
    for (const auto& [kh, kw] : std::vector<std::pair<int64_t, int64_t>>{{1, 1}, {1, 2}, {3, 3}, {1, 3}}) {
      constexpr int64_t kWidth = 12, kBad = 7;
      std::vector<double> pixels(static_cast<size_t>(channels * 3 * kWidth));
      for (int64_t c = 0; c < channels; ++c)
        for (int64_t row = 0; row < 3; ++row) pixels[static_cast<size_t>((c * 3 + row) * kWidth + kBad)] = std::numeric_limits<double>::infinity();
      const Tensor x = Tensor::from_values({1, channels, 3, kWidth}, pixels, DType::kBFloat16), w = Tensor::full({2, channels, kh, kw}, 1.0, DType::kBFloat16);
      const Tensor y = ops::conv2d(x, w);
      const std::vector<double> got = y.to_vector<double>();
      for (size_t i = 0; i < got.size(); ++i) {
        const auto column = static_cast<int64_t>(i) % y.dim(3);
        if (column <= kBad && column + kw > kBad) EXPECT_TRUE(std::isinf(got[i])) << channels << " channels, " << kh << " x " << kw << ", column " << column;
        else EXPECT_EQ(got[i], 0) << channels << " channels, " << kh << " x " << kw << ", column " << column;
      }
      std::vector<double> gradient(static_cast<size_t>(channels * kWidth));
      for (int64_t c = 0; c < channels; ++c) gradient[static_cast<size_t>(c * kWidth + kBad)] = std::numeric_limits<double>::infinity();
      const Tensor dy = Tensor::from_values({1, channels, 1, kWidth}, gradient, DType::kBFloat16),
                   v = Tensor::full({channels, 2, kh, kw}, 1.0, DType::kBFloat16);
      const Tensor dx = ops::conv2d_input_grad(dy, v, {1, 2, kh, kWidth + kw - 1}, {});
      const std::vector<double> back = dx.to_vector<double>();
      for (size_t i = 0; i < back.size(); ++i) {
        const auto column = static_cast<int64_t>(i) % dx.dim(3);
        if (column >= kBad && column < kBad + kw) EXPECT_TRUE(std::isinf(back[i])) << channels << " gradients, " << kh << " x " << kw << ", column " << column;
        else EXPECT_EQ(back[i], 0) << channels << " gradients, " << kh << " x " << kw << ", column " << column;
      }
    }
}

// On CUDA devices weight gradients are channels-last, as the libraries there return them.
TEST(Conv2dLayout, ActivationsLeaveChannelsLastWeightsContiguous) {
  const Tensor x = input({2, 3, 5, 5}, 0, DType::kFloat32), w = input({4, 3, 3, 3}, 1, DType::kFloat32);
  const Tensor y = ops::conv2d(x, w);
  EXPECT_EQ(y.layout(), Layout::kChannelsLast);
  EXPECT_EQ(ops::conv2d_input_grad(y, w, x.shape(), {}).layout(), Layout::kChannelsLast);
  EXPECT_EQ(ops::conv2d_weight_grad(y, x, w.shape(), {}).layout(), x.device().kind == Device::kCuda ? Layout::kChannelsLast : Layout::kContiguous);
}

}  // namespace
}  // namespace sindri::test
