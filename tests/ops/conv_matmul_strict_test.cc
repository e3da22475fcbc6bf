// Strict mode of convolutions and matrix products: bitwise identical for any number of threads, in every type, and still correct.
#include <gtest/gtest.h>

#include <array>

#include "sindri/core/context.h"
#include "sindri/op/kernel.h"
#include "sindri/ops/conv.h"
#include "sindri/ops/matmul.h"
#include "src/op/plan.h"
#include "tests/ops/compare.h"
#include "tests/ops/samples.h"

namespace sindri::test {
namespace {

class Strict : public ::testing::TestWithParam<DType> {
 protected:
  void SetUp() override {
    threads_ = num_threads();
    strict_ = strict_mode();
    set_strict(true);
  }
  void TearDown() override {
    set_num_threads(threads_);
    set_strict(strict_);
  }

  Tensor input(const Shape& shape, int key) const {
    std::vector<double> v(static_cast<size_t>(shape.numel()));
    const UnitValues u("strict", key);
    for (size_t i = 0; i < v.size(); ++i) v[i] = 2 * u(i) - 1;
    return Tensor::from_values(shape, v, GetParam());
  }

  template <class F> void expect_same_bits_and_right(F&& f) const {
    set_num_threads(1);
    const Tensor one = f();
    for (const int threads : {2, 3, 4, 7}) {
      set_num_threads(threads);
      EXPECT_TRUE(same_bits(f(), one)) << threads << " threads";
    }
    const ForceKernel force("reference");
    const Tolerance t = tolerance_of(GetParam());
    EXPECT_TRUE(close(one, f(), {t.relative * 10, t.absolute * 10}));
  }

 private:
  int threads_ = 1;
  bool strict_ = false;
};

struct ConvCase {
  Shape x, w;
  ops::Conv2dAttrs attrs;
};
std::vector<ConvCase> conv_cases() {
  return {
      {{17, 16, 9, 9}, {32, 16, 3, 3}, {.pad = {1, 1, 1, 1}}},  // 17 images: pieces of 2 and a last one of 1
      {{33, 3, 12, 12}, {16, 3, 5, 5}, {.stride = {2, 2}, .pad = {2, 1, 2, 1}}},
      {{4, 64, 7, 7}, {64, 64, 1, 1}, {}},
      {{5, 32, 8, 8}, {32, 1, 3, 3}, {.pad = {1, 1, 1, 1}, .groups = 32}},
      {{3, 8, 10, 10}, {12, 4, 3, 3}, {.dilation = {2, 2}, .groups = 2}},
      {{1, 20, 20, 20}, {8, 20, 3, 3}, {}},
      {{35, 1, 16, 16}, {6, 1, 5, 5}, {}},
      {{19, 6, 14, 14}, {16, 6, 5, 5}, {.pad = {1, 0, 2, 1}}},
  };
}

TEST_P(Strict, Conv2d) {
  for (const ConvCase& c : conv_cases()) {
    SCOPED_TRACE(c.x.str() + " " + c.w.str());
    const Tensor x = input(c.x, 0), w = input(c.w, 1);
    expect_same_bits_and_right([&] { return ops::conv2d(x, w, c.attrs); });
  }
}

TEST_P(Strict, Conv2dGradients) {
  for (const ConvCase& c : conv_cases()) {
    SCOPED_TRACE(c.x.str() + " " + c.w.str());
    const Tensor x = input(c.x, 0), w = input(c.w, 1), dy = input(ops::conv2d(x, w, c.attrs).shape(), 2);
    expect_same_bits_and_right([&] { return ops::conv2d_input_grad(dy, w, c.x, c.attrs); });
    expect_same_bits_and_right([&] { return ops::conv2d_weight_grad(dy, x, c.w, c.attrs); });
  }
}

TEST_P(Strict, Matmul) {
  for (const auto& [m, k, n] : std::vector<std::array<int64_t, 3>>{{64, 200, 96}, {200, 64, 10}, {1, 300, 200}, {130, 40, 1}, {33, 17, 100}, {3, 1000, 5}}) {
    for (int i = 0; i < 4; ++i) {
      const bool ta = (i & 1) != 0, tb = (i & 2) != 0;
      SCOPED_TRACE(Shape({m, k, n}).str() + (ta ? " ta" : "") + (tb ? " tb" : ""));
      const Tensor a = input(ta ? Shape{k, m} : Shape{m, k}, 3), b = input(tb ? Shape{n, k} : Shape{k, n}, 4);
      expect_same_bits_and_right([&] { return ops::matmul(a, b, ta, tb); });
    }
  }
}

TEST_P(Strict, BatchMatmul) {
  const Tensor a = input({3, 2, 40, 30}, 5), b = input({2, 30, 70}, 6), one = input({1, 1, 30, 70}, 7);
  expect_same_bits_and_right([&] { return ops::batch_matmul(a, b); });
  expect_same_bits_and_right([&] { return ops::batch_matmul(a, one); });
  expect_same_bits_and_right([&] { return ops::batch_matmul(a, a, false, true); });
}

INSTANTIATE_TEST_SUITE_P(Types, Strict, ::testing::Values(DType::kFloat32, DType::kBFloat16, DType::kFloat16, DType::kFloat64),
                         [](const auto& type) { return std::string(dtype_name(type.param)); });

std::string chosen_kernel(const char* op_name, const AttrFields& attrs, const TensorMeta& a, const TensorMeta& b) {
  const OpDef& op = find_op(op_name);
  const std::vector<TensorMeta> in = {a, b};
  return plan_op(op, op.attrs.make(attrs), in)->kernel_def->name;
}

// Splitting into fixed pieces slows training down: outside strict mode these kernels must not be chosen, in strict mode no others may be.
TEST(StrictChoice, StrictKernelOnlyInStrictMode) {
  const bool before = strict_mode();
  const auto meta = [](const Shape& shape) { return Tensor::empty(shape).meta(); };
  const TensorMeta a = meta({8, 16}), b = meta({16, 8}), x = meta({2, 16, 8, 8}), w = meta({20, 16, 3, 3});
  set_strict(false);
  const std::string matmul = chosen_kernel("matmul", {}, a, b), conv = chosen_kernel("conv2d", {}, x, w);
  set_strict(true);
  const std::string strict_matmul = chosen_kernel("matmul", {}, a, b), strict_conv = chosen_kernel("conv2d", {}, x, w);
  set_strict(before);
#ifndef SINDRI_PLAIN_THREADS
  EXPECT_EQ(matmul, "onednn");
  EXPECT_EQ(conv, "onednn");
  EXPECT_EQ(strict_matmul, "onednn_strict");
  EXPECT_EQ(strict_conv, "onednn_strict");
#else
  for (const std::string& name : {matmul, strict_matmul}) EXPECT_EQ(name, "gemm");
  for (const std::string& name : {conv, strict_conv}) EXPECT_EQ(name, "im2col");
#endif
}

}  // namespace
}  // namespace sindri::test
