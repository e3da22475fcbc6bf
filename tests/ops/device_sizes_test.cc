// Sizes at which a device's kernels take other code paths: more than a tile, a block, a chunk, a pass. The suite's samples are smaller than these. Runs if
// SINDRI_TEST_DEVICE names a device (main.cc), and compares with the CPU.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <functional>

#include "sindri/core/device.h"
#include "sindri/core/error.h"
#include "sindri/graph/compile.h"
#include "sindri/op/bind.h"
#include "sindri/op/tensor_fn.h"
#include "sindri/ops/shape.h"
#include "src/op/plan.h"
#include "tests/ops/compare.h"
#include "tests/ops/samples.h"

namespace sindri::test::device_sizes {
namespace {

using Ints = std::vector<int64_t>;

Arg rows(Shape shape, double lo, double hi, DType dtype = DType::kInt64) { return {.shape = shape, .lo = lo, .hi = hi, .dtype = dtype, .kind = "integers"}; }

AttrFields pool(const Ints& kernel, const Ints& stride, const Ints& pad) { return {{"kernel", kernel}, {"stride", stride}, {"pad", pad}}; }
AttrFields pool_grad(const Ints& kernel, const Ints& stride, const Ints& pad, const Ints& input) {
  return {{"kernel", kernel}, {"stride", stride}, {"pad", pad}, {"input_size", input}};
}

std::vector<Sample> samples() {
  return {
      {"transpose", "tiles", {{"perm", Ints{1, 0}}}, {{{70, 133}}}},
      {"transpose", "batches_of_tiles", {{"perm", Ints{2, 0, 1}}}, {{{3, 67, 65}}}},
      {"transpose", "short_rows", {{"perm", Ints{0, 2, 1}}}, {{{2, 300, 3}}}},
      {"transpose", "short_columns", {{"perm", Ints{0, 2, 1}}}, {{{2, 3, 300}}}},
      {"transpose", "wide_heads", {{"perm", Ints{0, 2, 1, 3}}}, {{{2, 9, 4, 64}}}},
      {"transpose", "bytes", {{"perm", Ints{1, 0}}}, {rows({130, 70}, 0, 255, DType::kUInt8)}},
      {"to_layout", "tiles", {{"layout", std::string("channels_last")}}, {{{2, 70, 13, 11}}}},
      {"to_layout", "three_channels", {{"layout", std::string("channels_last")}}, {{{2, 3, 30, 31}}}},
      {"concat", "wide", {{"axis", int64_t{1}}}, {{{40, 64}}, {{40, 32}}, {{40, 7}}}},
      {"pad", "wide_channels", {{"pads", Ints{0, 0, 1, 2, 2, 1, 0, 0}}, {"value", 0.5}, {"mode", std::string("constant")}}, {{{2, 9, 8, 32}}}},
      {"full", "odd_bytes", {{"shape", Shape{3, 3001}}, {"value", 1.25}}, {}},
      {"sum_to", "long_rows", {{"shape", Shape{3, 1}}}, {{{3, 20000}}}},
      {.op = "sum_to", .name = "chunks_of_columns", .attrs = {{"shape", Shape{33}}}, .args = {{{5000, 33}}}, .tolerance = 4},  // sums near 0 of 5,000 values
      {"sum_to", "few_columns", {{"shape", Shape{3}}}, {{{20011, 3}}}},
      {"sum_to", "short_rows", {{"shape", Shape{700, 1}}}, {{{700, 5}}}},
      {"sum_to", "whole_integers", {{"shape", Shape{}}}, {rows({41000}, -100000, 100000, DType::kInt32)}},
      {"gather", "wide_rows", {{"axis", int64_t{1}}}, {{{3, 50, 64}}, rows({80}, -50, 50)}},
      {"scatter_add", "two_passes", {{"axis", int64_t{0}}}, {{{300, 5}}, rows({5000}, -300, 300), {{5000, 5}}}},
      {"scatter_add", "three_passes", {{"axis", int64_t{1}}}, {{{2, 70000}}, rows({2100}, 0, 70000, DType::kInt32), {{2, 2100}}}},
      {"scatter_add", "integers", {{"axis", int64_t{0}}}, {rows({9, 3}, -9, 9), rows({3000}, 0, 9), rows({3000, 3}, -1000000, 1000000)}},
      {"embedding_grad", "one_row", {{"rows", int64_t{20}}}, {{{2500, 3}}, rows({2500}, 7, 8)}},
      {"embedding_grad", "few_rows", {{"rows", int64_t{4}}}, {{{1000, 9}}, rows({1000}, 0, 4)}},
      {"adaptive_avg_pool2d", "global", {{"oh", int64_t{1}}, {"ow", int64_t{1}}}, {{{2, 64, 9, 10}}}},
      {"adaptive_avg_pool2d", "odd_channels", {{"oh", int64_t{2}}, {"ow", int64_t{1}}}, {{{2, 41, 17, 9}}}},
      {"adaptive_avg_pool2d_grad", "global", {{"h", int64_t{9}}, {"w", int64_t{10}}}, {{{2, 64, 1, 1}}}},
      {"adaptive_avg_pool2d_grad", "global_addend_scale", {{"h", int64_t{9}}, {"w", int64_t{10}}}, {{{2, 64, 1, 1}}, {{2, 64, 9, 10}}, {{2, 64, 1, 1}}}},
      {"max_pool2d", "stem", pool({3, 3}, {2, 2}, {1, 1, 1, 1}), {{{2, 32, 15, 17}}}},
      {"max_pool2d_grad", "stem", pool_grad({3, 3}, {2, 2}, {1, 1, 1, 1}, {15, 17}), {{{2, 32, 8, 9}}, rows({2, 32, 8, 9}, 0, 9, DType::kUInt8)}},
      {"avg_pool2d", "large", pool({9, 8}, {4, 4}, {2, 2, 2, 2}), {{{1, 48, 20, 21}}}},
      {"dropout", "pixels", {{"keep_prob", 0.6}}, {{{2, 40, 6, 6}}, {.shape = {3}, .dtype = DType::kInt64, .values = {5, 1, 7}}}},
      {"dropout", "odd_pixels", {{"keep_prob", 0.6}}, {{{2, 40, 7, 7}}, {.shape = {3}, .dtype = DType::kInt64, .values = {5, 1, 7}}}},
      {"gather_elements_grad", "many", {{"shape", Shape{40, 30}}, {"axis", int64_t{1}}}, {{{40, 60}}, rows({40, 60}, -30, 30)}},
  };
}

// Masks and random numbers that must not depend on the device that draws them.
std::vector<Sample> random_samples() {
  const Arg key = {.shape = {3}, .dtype = DType::kInt64, .values = {5, 1, 7}};
  std::vector<Sample> list = {
      {"random_permutation", "more_than_a_block", {{"n", int64_t{5000}}, {"instance", int64_t{2}}}, {key}},
      {"random_bernoulli", "long", {{"shape", Shape{2, 3001}}, {"p", 0.3}, {"dtype", DType::kFloat32}}, {key}},
      {"dropout", "long", {{"keep_prob", 0.7}}, {{{2, 3000}}, key}},
      {"dropout", "odd", {{"keep_prob", 0.7}}, {{{2, 31, 7}}, key}},
  };
  for (const DType t : {DType::kFloat64, DType::kFloat32, DType::kBFloat16, DType::kFloat16}) {
    const std::string name = std::string("long_") + dtype_name(t);
    list.push_back({"random_uniform", name, {{"shape", Shape{2, 3001}}, {"low", -2.0}, {"high", 3.0}, {"dtype", t}}, {key}});
    list.push_back({"random_normal", name, {{"shape", Shape{2, 3002}}, {"mean", 1.0}, {"stddev", 2.0}, {"dtype", t}}, {key}});
    list.push_back({"random_truncated_normal", name, {{"shape", Shape{2, 3001}}, {"mean", 1.0}, {"stddev", 2.0}, {"dtype", t}}, {key}});
  }
  return list;
}

TEST(DeviceRandom, HasTheBitsOfTheCpu) {
  if (current_device().is_cpu()) GTEST_SKIP() << "SINDRI_TEST_DEVICE names no device";
  for (const Sample& s : random_samples()) {
    const OpDef& op = find_op(s.op);
    const auto run = [&] { return sindri::bind(op, op.attrs.make(s.attrs), make_inputs(s, DType::kFloat32))[0]; };
    Tensor expected;
    {
      const DeviceScope host(Device{});
      expected = run();
    }
    EXPECT_TRUE(same_bits(run(), expected)) << s.op << " " << s.name;
  }
}

// Kernels of a device cannot throw: invalid operands are reported at the host's next wait, and only once.
TEST(DeviceIndices, ErrorsNameIndexAndPosition) {
  if (current_device().is_cpu()) GTEST_SKIP() << "SINDRI_TEST_DEVICE names no device";
  const auto message = [](const std::function<TensorList()>& f) -> std::string {
    try {
      for (const Tensor& t : f()) (void)t.to({});
    } catch (const ValueError& e) { return e.what(); }
    return "not thrown";
  };
  const Tensor x = Tensor::zeros({3, 2}), bad = Tensor::from_vector<int64_t>({2, 2}, {0, -3, 3, 1}), low = Tensor::from_vector<int64_t>({2, 2}, {0, -4, 2, 1});
  const std::string at = "index 3 at position [1, 0] is outside a dimension of size 3", at_low = "index -4 at position [0, 1] is outside a dimension of size 3";
  using ::testing::HasSubstr;
  EXPECT_THAT(message([&] { return TensorList{ops::gather(x, bad)}; }), HasSubstr("gather: " + at));
  EXPECT_THAT(message([&] { return TensorList{ops::gather(x, low)}; }), HasSubstr("gather: " + at_low));
  EXPECT_THAT(message([&] { return TensorList{ops::embedding(x, low)}; }), HasSubstr("embedding: " + at_low));
  EXPECT_THAT(message([&] { return TensorList{ops::scatter_add(x, bad, Tensor::zeros({2, 2, 2}))}; }), HasSubstr("scatter_add: " + at));
  EXPECT_THAT(message([&] { return TensorList{ops::gather_elements(x, bad, 0)}; }), HasSubstr("gather_elements: " + at));
  EXPECT_THAT(message([&] {
                return TensorList{ops::ravel_indices({low, low}, {9, 3}, true, {2, 5})};
              }),
              HasSubstr("ravel_indices: index -4 at position [0, 1] is outside dimension 5 of size 3"));
  // A result without elements, an empty dimension.
  EXPECT_THAT(message([&] { return TensorList{ops::gather(Tensor::zeros({3, 0}), bad), x}; }), HasSubstr("gather: " + at));
  EXPECT_THAT(message([&] { return TensorList{ops::gather(Tensor::zeros({0, 2}), bad)}; }), HasSubstr("is outside a dimension of size 0"));
  EXPECT_EQ(message([&] { return TensorList{ops::gather(x, Tensor::from_vector<int64_t>({2}, {-3, 2}))}; }), "not thrown");
  // The same for a recorded graph, at each run that has an invalid operand.
  CompiledFn f = compile([](Span<const Tensor> in) { return TensorList{ops::gather(in[0], in[1])}; });
  const Tensor good = Tensor::from_vector<int64_t>({2, 2}, {0, 1, 2, -1});
  for (const Tensor& t : {good, good, good, bad, good, low}) {
    const std::string expected = t.to_vector<int64_t>() == good.to_vector<int64_t>() ? "not thrown" : "gather: index ";
    EXPECT_THAT(message([&] { return f(TensorList{x, t}); }), HasSubstr(expected));
  }
}

class DeviceSizes : public ::testing::TestWithParam<size_t> {};

TEST_P(DeviceSizes, GivesTheNumbersOfTheCpu) {
  if (current_device().is_cpu()) GTEST_SKIP() << "SINDRI_TEST_DEVICE names no device";
  const Sample s = samples()[GetParam()];
  const OpDef& op = find_op(s.op);
  const auto run = [&](DType t, Layout layout) {
    TensorList in = make_inputs(s, t);
    for (Tensor& x : in)
      if (x.rank() == 4) x = convert_layout(x, layout);
    return sindri::bind(op, op.attrs.make(s.attrs), in);
  };
  const bool images = std::any_of(s.args.begin(), s.args.end(), [](const Arg& a) { return a.shape.rank() == 4; });
  for (int k = 0; k < (images ? 8 : 4); ++k) {
    const DType t = std::array{DType::kFloat64, DType::kFloat32, DType::kBFloat16, DType::kFloat16}[static_cast<size_t>(k % 4)];
    const Layout layout = k < 4 ? Layout::kContiguous : Layout::kChannelsLast;
    TensorList expected;
    {
      const DeviceScope host(Device{});
      expected = run(t, layout);
    }
    const TensorList actual = run(t, layout), again = run(t, layout);
    for (size_t i = 0; i < actual.size(); ++i) {
      const Tolerance t0 = tolerance_of(expected[i].dtype());
      EXPECT_TRUE(close(actual[i], expected[i], {t0.relative * s.tolerance, t0.absolute * s.tolerance}))
          << dtype_name(t) << " " << layout_name(layout) << ", output " << i;
      EXPECT_TRUE(same_bits(actual[i], again[i])) << dtype_name(t) << ", output " << i << ": a second run differs";
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Samples, DeviceSizes, ::testing::Range(size_t{0}, samples().size()),
                         [](const auto& at) { return samples()[at.param].op + "_" + samples()[at.param].name; });

}  // namespace
}  // namespace sindri::test::device_sizes
