// Matrices too large for the shared memory of a device's block, several tiles, and updates of more parameters than one launch accepts. The suite's samples are
// smaller. Runs if SINDRI_TEST_DEVICE names a device (main.cc), and compares with the CPU.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "sindri/core/device.h"
#include "sindri/op/bind.h"
#include "sindri/op/tensor_fn.h"
#include "sindri/ops/curvature.h"
#include "sindri/ops/elementwise.h"
#include "sindri/ops/linalg.h"
#include "sindri/ops/matmul.h"
#include "sindri/ops/shape.h"
#include "tests/ops/compare.h"
#include "tests/ops/samples.h"

namespace sindri::test::device_matrices {
namespace {

using Numbers = std::vector<int64_t>;

Arg spd(Shape shape) { return {.shape = shape, .kind = "spd"}; }

Sample many_parameters(const std::string& name, const std::string& update, int64_t count) {
  Sample s{.op = "group_update", .name = name, .attrs = {{"update", update}, {"tensors", count}}};
  for (int64_t t = 0; t < count; ++t) {
    const Shape shape = t % 97 == 0 ? Shape{17000 + t % 5} : Shape{t % 7};
    for (int i = 0; i < 3; ++i) s.args.push_back({.shape = shape, .lo = -1, .hi = 1});
  }
  s.args.push_back({.shape = {}, .values = {0.1}});
  s.args.push_back({.shape = {}, .values = {0.9}});
  return s;
}

// 180 rows of float64 and 250 of float32 exceed a block's shared memory.
std::vector<Sample> samples() {
  return {
      {.op = "cholesky", .name = "wide", .args = {spd({180, 180})}},
      {.op = "triangular_solve", .name = "wide", .args = {spd({180, 180}), {{180, 40}}}},
      {.op = "lu", .name = "wide", .args = {spd({180, 180})}, .tolerance = 8},
      {.op = "inverse", .name = "wide", .args = {spd({180, 180})}},
      {.op = "damped_inverse",
       .name = "wide",
       .attrs = {{"d", int64_t{330}}},
       .args = {spd({2, 180, 180}), {.shape = {}, .lo = 0.1, .hi = 0.5}, {{2, 180, 180}}}},
      {.op = "damped_inverse",
       .name = "share",
       .attrs = {{"d", int64_t{500}}},
       .args = {spd({2, 250, 250}), {.shape = {}, .lo = 0.1, .hi = 0.5}, {{2, 250, 250}}, {.shape = {2}, .values = {0, 1}}}},
      {.op = "gram", .name = "tiles", .attrs = {{"block", int64_t{0}}, {"ones", true}}, .args = {{{3000, 150}}}, .tolerance = 4},
      {.op = "conv2d_gram",
       .name = "tiles",
       .attrs = {{"kernel", Numbers{3, 3}}, {"pad", Numbers{1, 1, 1, 1}}, {"block", int64_t{128}}, {"ones", true}},
       .args = {{{3, 24, 20, 20}}},
       .tolerance = 4},
      {.op = "block_precondition", .name = "tiles", .attrs = {{"groups", int64_t{2}}}, .args = {{{300, 140}}, {{4, 100, 100}}, {{4, 80, 80}}}, .tolerance = 10},
      many_parameters("several_launches", "momentum_update {weight_decay=0.01}", 600),
  };
}

TEST(DeviceMatrices, GiveTheNumbersOfTheCpu) {
  if (current_device().is_cpu()) GTEST_SKIP() << "SINDRI_TEST_DEVICE names no device";
  for (const Sample& s : samples()) {
    const OpDef& op = find_op(s.op);
    for (const DType t : {DType::kFloat64, DType::kFloat32}) {
      const auto run = [&] { return sindri::bind(op, op.attrs.make(s.attrs), make_inputs(s, t)); };
      TensorList expected;
      {
        const DeviceScope host(Device{});
        expected = run();
      }
      const TensorList actual = run(), again = run();
      ASSERT_EQ(actual.size(), expected.size());
      for (size_t i = 0; i < expected.size(); ++i) {
        const Tolerance base = tolerance_of(expected[i].dtype());
        const std::string what = fmt::format("{} {}, {}, result {}", s.op, s.name, dtype_name(t), i);
        EXPECT_TRUE(close(actual[i].to({}), expected[i], {base.relative * s.tolerance, base.absolute * s.tolerance})) << what;
        EXPECT_TRUE(same_bits(again[i], actual[i])) << what << ", second run";
      }
    }
  }
}

// V·diag(w)·Vᵀ is a, and VᵀV the identity; eigenvectors of close eigenvalues may differ from the CPU's.
void expect_decomposed(const Tensor& a, const Tensor& w, const Tensor& v) {
  const DeviceScope host(Device{});
  const Tensor h = a.to({}), values = w.to({}), vectors = v.to({});
  const int64_t n = h.dim(-1);
  EXPECT_TRUE(close(ops::batch_matmul(ops::mul(vectors, ops::expand_dims(values, -2)), vectors, false, true), h, {1e-11, 1e-11}));
  const Tensor eye = ops::one_hot(ops::arange(0, static_cast<double>(n)), n, 1, 0, DType::kFloat64);
  EXPECT_TRUE(close(ops::batch_matmul(vectors, vectors, true), eye, {1e-12, 1e-12}));
}

TEST(DeviceMatrices, WideOnesAreDecomposed) {
  if (current_device().is_cpu()) GTEST_SKIP() << "SINDRI_TEST_DEVICE names no device";
  const Tensor a = make_inputs({.op = "device_matrices", .name = "eigen", .args = {spd({180, 180})}}, DType::kFloat64)[0];
  const auto [w, v] = ops::eigh(a);
  expect_decomposed(a, w, v);
  const Tensor blocks = ops::reshape(a, {1, 180, 180});
  const auto [vectors, values, failed] = ops::block_eigen(blocks, ops::zeros_like(blocks), Tensor::zeros({1, 180}, DType::kFloat64), 180);
  EXPECT_EQ(failed.item(), 0);
  expect_decomposed(a, ops::reshape(values, {180}), ops::reshape(vectors, {180, 180}));
  const Tensor x = make_inputs({.op = "device_matrices", .name = "svd", .args = {{{120, 70}}}}, DType::kFloat64)[0];
  const auto [u, s, right] = ops::svd(x);
  const DeviceScope host(Device{});
  EXPECT_TRUE(close(ops::batch_matmul(ops::mul(u.to({}), ops::expand_dims(s.to({}), 0)), right.to({}), false, true), x.to({}), {1e-11, 1e-11}));
}

// One pivot below 0 in the second panel of the second block: the op returns `previous` unchanged.
TEST(DeviceMatrices, AWideBlockThatCannotBeInvertedKeepsWhatWas) {
  if (current_device().is_cpu()) GTEST_SKIP() << "SINDRI_TEST_DEVICE names no device";
  std::vector<double> m(2 * 250 * 250, 0);
  for (size_t i = 0; i < 500; ++i) m[i / 250 * 62500 + i % 250 * 251] = i == 350 ? -3 : 2;
  const Tensor blocks = Tensor::from_values({2, 250, 250}, m, DType::kFloat32), previous = Tensor::full({2, 250, 250}, 7);
  const auto [inverse, failed] = ops::damped_inverse(blocks, Tensor::scalar(0.5, DType::kFloat32), previous, 500);
  EXPECT_EQ(failed.item(), 1);
  EXPECT_TRUE(same_bits(inverse, previous));
}

}  // namespace
}  // namespace sindri::test::device_matrices
