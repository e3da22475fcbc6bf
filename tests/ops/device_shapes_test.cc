// Kernels of a device at shapes that take other ways through them than the suite's small samples: parts of rows and columns over blocks, vectors and their
// tails, teams of each width. Compared with the CPU; on the CPU there is nothing to compare.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <tuple>

#include "sindri/core/device.h"
#include "sindri/op/bind.h"
#include "sindri/op/op_def.h"
#include "sindri/op/tensor_fn.h"
#include "tests/ops/compare.h"
#include "tests/ops/samples.h"

namespace sindri::test {
namespace {

/// Runs the op on the CPU and on the current device with the same inputs, in each of `types`, `tolerance` times the suite's tolerances apart at most.
void expect_like_cpu(const Sample& s, const std::vector<DType>& types = {DType::kFloat32, DType::kFloat16, DType::kFloat64}) {
  if (current_device().is_cpu()) return;
  const OpDef& op = find_op(s.op);
  const Attrs attrs = op.attrs.make(s.attrs);
  for (const DType t : types) {
    TensorList expected, on_host;
    {
      const DeviceScope host(Device{});
      on_host = make_inputs(s, t);
      expected = sindri::bind(op, attrs, on_host);
    }
    TensorList in;
    for (const Tensor& x : on_host) in.push_back(x.to(current_device()));
    const TensorList actual = sindri::bind(op, attrs, in), again = sindri::bind(op, attrs, in);
    ASSERT_EQ(actual.size(), expected.size());
    for (size_t i = 0; i < expected.size(); ++i) {
      const Tolerance base = tolerance_of(expected[i].dtype());
      EXPECT_TRUE(close(actual[i], expected[i], {base.relative * s.tolerance, base.absolute * s.tolerance}))
          << s.op << " " << s.name << ", " << dtype_name(t) << ", output " << i;
      EXPECT_TRUE(same_bits(again[i], actual[i])) << s.op << " " << s.name << ": another run gives other bits";
    }
  }
}

using Ints = std::vector<int64_t>;
struct Case {
  const char* name;
  Shape shape;
  Ints axes;
};
const std::vector<Case> kReductions = {
    {"one_long_row", {70001}, {}},           {"long_rows", {3, 20480}, {1}},
    {"long_rows_odd", {3, 20001}, {1}},      {"blocks_of_rows", {40, 1504}, {1}},
    {"warps_of_rows", {9, 4, 100}, {2}},     {"teams_of_two", {1000, 7}, {1}},
    {"few_columns", {9000, 3}, {0}},         {"columns", {5000, 64}, {0}},
    {"columns_odd", {300, 65}, {0}},         {"wide_columns", {70, 1200}, {0}},
    {"stacks_of_columns", {5, 80, 48}, {1}}, {"small_columns", {300, 3, 5}, {1}},
    {"two_groups", {70, 6, 40, 8}, {0, 2}},  {"two_groups_inner", {40, 6, 50, 8}, {1, 3}},
};

TEST(DeviceShapes, Reductions) {
  for (const Case& c : kReductions) {
    const auto sample = [&](const char* op, double lo, double hi, double tolerance, AttrFields attrs = {}) {
      attrs.push_back({"axes", c.axes});
      return Sample{.op = op, .name = c.name, .attrs = attrs, .args = {{.shape = c.shape, .lo = lo, .hi = hi}}, .tolerance = tolerance};
    };
    // Float sums of n numbers of either sign are good to the numbers' own size, not the sum's.
    expect_like_cpu(sample("sum", 0.5, 1.5, 2));
    expect_like_cpu(sample("mean", -2, 2, 2));
    expect_like_cpu(sample("max", -2, 2, 1));
    expect_like_cpu(sample("prod", 0.9995, 1.0005, 1), {DType::kFloat32, DType::kFloat64});
    expect_like_cpu(sample("norm", -1, 1, 1, {{"p", 2.0}}));
    Sample integers = sample("sum", 0, 200, 1);
    integers.args[0].kind = "integers";
    for (const DType t : {DType::kBool, DType::kUInt8, DType::kInt32, DType::kInt64}) {
      integers.args[0].dtype = t;
      integers.args[0].hi = t == DType::kBool ? 2 : 200;
      expect_like_cpu(integers, {DType::kFloat32});
      Sample any = integers;
      any.op = "any";
      expect_like_cpu(any, {DType::kFloat32});
    }
  }
}

TEST(DeviceShapes, Softmax) {
  for (const auto& [name, shape, axis] : std::vector<std::tuple<const char*, Shape, int64_t>>{{"blocks_of_rows", {5, 5000}, 1},
                                                                                              {"blocks_of_rows_odd", {5, 5001}, 1},
                                                                                              {"warps", {40, 1000}, 1},
                                                                                              {"many_rows", {6000, 2}, 1},
                                                                                              {"columns", {300, 70}, 0},
                                                                                              {"long_columns", {3000, 3}, 0},
                                                                                              {"wide_columns", {4, 3, 600}, 1}})
    for (const char* op : {"softmax", "log_softmax"}) {
      const Arg x = {.shape = shape, .lo = -4, .hi = 4};
      expect_like_cpu({.op = op, .name = name, .attrs = {{"axis", axis}}, .args = {x}, .tolerance = 2});
      expect_like_cpu(
          {.op = std::string(op) + "_grad", .name = name, .attrs = {{"axis", axis}}, .args = {x, {.shape = shape, .lo = -1, .hi = 0}}, .tolerance = 8});
    }
  const Shape logits = {70, 3000};
  const Arg labels = {.shape = {70}, .lo = 0, .hi = 3000, .dtype = DType::kInt32, .kind = "integers"};
  const AttrFields smooth = {{"label_smoothing", 0.1}};
  expect_like_cpu({.op = "softmax_cross_entropy_sparse", .name = "wide", .attrs = smooth, .args = {{logits}, labels}, .tolerance = 2});
  expect_like_cpu({.op = "softmax_cross_entropy_sparse_grad", .name = "wide", .attrs = smooth, .args = {{{70}}, {logits}, labels}});
  expect_like_cpu({.op = "softmax_cross_entropy_dense", .name = "wide", .args = {{logits}, {logits, 0, 0.001}}, .tolerance = 2});
  expect_like_cpu({.op = "softmax_cross_entropy_dense_grad", .name = "wide", .args = {{{70}}, {logits}, {logits, 0, 0.001}}});
}

}  // namespace
}  // namespace sindri::test
