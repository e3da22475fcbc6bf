// Kernels of a device at shapes that take other code paths than the suite's small samples: parts of rows and columns over blocks, vectors and their tails,
// teams of each width. Compared with the CPU; on the CPU there is nothing to compare.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <tuple>

#include "sindri/core/device.h"
#include "sindri/op/bind.h"
#include "sindri/op/op_def.h"
#include "sindri/op/tensor_fn.h"
#include "sindri/ops/reduce.h"
#include "src/op/element.h"
#include "src/op/plan.h"
#include "tests/ops/compare.h"
#include "tests/ops/samples.h"

namespace sindri::test::device_shapes {
namespace {

/// Runs the op on the CPU and on the current device with the same inputs, in each of `types`; results may differ by at most `tolerance` times the suite's
/// tolerances.
void expect_like_cpu(const Sample& s, const std::vector<DType>& types = {DType::kFloat32, DType::kFloat16, DType::kFloat64}, bool channels_last = false) {
  if (current_device().is_cpu()) return;
  const OpDef& op = find_op(s.op);
  const Attrs attrs = op.attrs.make(s.attrs);
  for (const DType t : types) {
    TensorList expected, on_host;
    {
      const DeviceScope host(Device{});
      on_host = make_inputs(s, t);
      for (Tensor& x : on_host)
        if (channels_last && x.rank() == 4) x = convert_layout(x, Layout::kChannelsLast);
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
      EXPECT_TRUE(same_bits(again[i], actual[i])) << s.op << " " << s.name << ": another run gives a different result";
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
    // Float sums of n values of either sign are accurate relative to the values' size, not the sum's.
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

TEST(DeviceShapes, BatchNorm) {
  for (const auto& [name, shape, channels_last] : std::vector<std::tuple<const char*, Shape, bool>>{{"rows", {3000, 24}, false},
                                                                                                    {"rows_odd", {700, 13}, false},
                                                                                                    {"planes", {2, 3, 96, 96}, false},
                                                                                                    {"planes_odd", {3, 5, 21, 23}, false},
                                                                                                    {"channels_last", {4, 64, 20, 20}, true},
                                                                                                    {"channels_last_odd", {3, 5, 31, 33}, true},
                                                                                                    {"many_channels", {2, 520, 3, 4}, true}}) {
    const Arg x = {.shape = shape, .lo = 1, .hi = 5}, c = {.shape = {shape[1]}, .lo = 0.5, .hi = 2};
    const auto check = [&, name = name, last = channels_last](const char* op, std::vector<Arg> args, AttrFields attrs, double tolerance, bool half) {
      const std::vector<DType> types = half ? std::vector{DType::kFloat32, DType::kFloat16, DType::kFloat64} : std::vector{DType::kFloat32, DType::kFloat64};
      expect_like_cpu({.op = op, .name = name, .attrs = std::move(attrs), .args = std::move(args), .tolerance = tolerance}, types, last);
    };
    check("batch_norm_train", {x, c, c}, {}, 2, true);
    check("batch_norm_infer", {x, c, c, c, c}, {}, 1, true);
    check("batch_norm_grad", {{shape}, x, c, c, c}, {}, 4, true);
    check("batch_norm_relu", {x, c, c, {shape}}, {}, 2, false);
    check("batch_norm_relu_grad", {{shape}, x, c, c, c, c}, {}, 4, false);
    check("batch_norm_relu_grad", {{shape}, x, c, c, c, c, {shape}, {shape}}, {{"residual", true}, {"sum", true}}, 4, false);
    const Arg bits = {.shape = {(shape.numel() + 7) / 8}, .lo = 0, .hi = 256, .dtype = DType::kUInt8, .kind = "integers"};
    check("batch_norm_relu_grad", {{shape}, x, c, c, c, c, bits, {shape}}, {{"residual", true}, {"sum", true}, {"mask", true}}, 4, true);
  }
}

// Bit i of the mask belongs to element i in memory, whichever way the kernel writes it: whole bytes, or bits of a later pass.
TEST(DeviceShapes, MasksOfBatchNormRelu) {
  const Device device = current_device();
  if (device.is_cpu()) return;
  for (const auto& [shape, last] : std::vector<std::pair<Shape, bool>>{
           {{4, 64, 20, 20}, true}, {{2, 8, 3, 3}, true}, {{3, 5, 31, 33}, true}, {{3, 4, 7, 5}, true}, {{3, 5, 21, 23}, false}, {{700, 13}, false}})
    for (const DType type : {DType::kFloat16, DType::kBFloat16, DType::kFloat32, DType::kFloat64}) {
      const Shape channels = {shape[1]};
      const Sample s = {.op = "batch_norm_relu", .name = "mask", .attrs = {{"mask", true}}, .args = {{shape}, {channels}, {channels}, {shape}}};
      TensorList in;
      {
        const DeviceScope host(Device{});
        in = make_inputs(s, type);
        for (Tensor& t : in)
          if (last && t.rank() == 4) t = convert_layout(t, Layout::kChannelsLast);
      }
      for (Tensor& t : in) t = t.to(device);
      const OpDef& op = find_op(s.op);
      const TensorList out = sindri::bind(op, op.attrs.make(s.attrs), in);
      const Tensor y = out[0].to({}), mask = out[3].to({});
      ASSERT_EQ(y.meta().layout, last ? Layout::kChannelsLast : Layout::kContiguous);
      const auto* const bits = static_cast<const uint8_t*>(mask.raw_data());
      const Buffer memory{const_cast<void*>(y.raw_data()), &y.meta()};
      int64_t wrong = 0;
      for (int64_t i = 0; i < y.numel(); ++i) wrong += ((bits[i / 8] >> (i % 8) & 1) != 0) != (load_element(memory, i) > 0) ? 1 : 0;
      EXPECT_EQ(wrong, 0) << y.meta().str();
    }
}

// Far from zero: a mean a hundred deviations away loses no more digits than two passes do.
TEST(DeviceShapes, BatchNormFarFromZero) {
  const Shape shape = {4000, 8};
  const Arg x = {.shape = shape, .lo = 99, .hi = 101}, c = {.shape = {8}, .lo = 0.5, .hi = 2};
  expect_like_cpu({.op = "batch_norm_train", .name = "far", .args = {x, c, c}, .tolerance = 4}, {DType::kFloat32, DType::kFloat64});
}

TEST(DeviceShapes, LayerNorm) {
  for (const auto& [name, shape] : std::vector<std::pair<const char*, Shape>>{
           {"warps", {50, 768}}, {"blocks", {5, 3000}}, {"blocks_odd", {5, 3001}}, {"lanes", {900, 6}}, {"many_rows", {4000, 33}}}) {
    const Arg x = {.shape = shape, .lo = 1, .hi = 5}, p = {.shape = {shape[1]}, .lo = 0.5, .hi = 2}, r = {.shape = {shape[0], 1}, .lo = 0.5, .hi = 2};
    expect_like_cpu({.op = "layer_norm", .name = name, .args = {x, p, p}, .tolerance = 2});
    expect_like_cpu({.op = "layer_norm_grad", .name = name, .args = {{shape}, x, p, r, r}, .tolerance = 8});
  }
}

TEST(DeviceShapes, AlongAnAxis) {
  for (const auto& [name, shape, axis] : std::vector<std::tuple<const char*, Shape, int64_t>>{
           {"long_row", {40000}, 0}, {"rows", {3, 2500}, 1}, {"short_rows", {500, 40}, 1}, {"long_lines", {5000, 3}, 0}, {"middle", {3, 700, 5}, 1}}) {
    const AttrFields along = {{"axis", axis}};
    const Arg x = {.shape = shape, .lo = 0, .hi = 1}, near_one = {.shape = shape, .lo = 0.999, .hi = 1.001};
    Arg ints = {.shape = shape, .lo = 0, .hi = 50, .dtype = DType::kInt32, .kind = "integers"};
    for (const char* op : {"argmax", "argmin"}) {
      expect_like_cpu({.op = op, .name = name, .attrs = along, .args = {x}});
      expect_like_cpu({.op = op, .name = name, .attrs = along, .args = {ints}}, {DType::kFloat32});  // with many ties
    }
    expect_like_cpu({.op = "logsumexp", .name = name, .attrs = {{"axes", Ints{axis}}}, .args = {{.shape = shape, .lo = -4, .hi = 4}}});
    for (const bool reverse : {false, true}) {
      const AttrFields directed = {{"axis", axis}, {"reverse", reverse}};
      expect_like_cpu({.op = "cumsum", .name = name, .attrs = directed, .args = {x}}, {DType::kFloat32, DType::kFloat64});
      expect_like_cpu({.op = "cumsum", .name = name, .attrs = directed, .args = {ints}}, {DType::kFloat32});
      expect_like_cpu({.op = "cumprod", .name = name, .attrs = directed, .args = {near_one}}, {DType::kFloat32, DType::kFloat64});
      for (const bool late : {false, true})
        expect_like_cpu({.op = "linear_scan",
                         .name = name,
                         .attrs = {{"axis", axis}, {"reverse", reverse}, {"late", late}},
                         .args = {{.shape = shape, .lo = -1, .hi = 1}, x}},
                        {DType::kFloat32, DType::kFloat64});
    }
    for (const int64_t k : {int64_t{5}, shape[static_cast<int>(axis)]})
      for (const bool largest : {true, false}) {
        const AttrFields attrs = {{"k", k}, {"axis", axis}, {"largest", largest}};
        expect_like_cpu({.op = "topk", .name = name, .attrs = attrs, .args = {x}});
        expect_like_cpu({.op = "topk", .name = name, .attrs = attrs, .args = {ints}}, {DType::kFloat32});
        ints.dtype = ints.dtype == DType::kInt32 ? DType::kInt64 : DType::kInt32;
      }
  }
}

TEST(DeviceShapes, CtcOfManyStates) {
  std::vector<double> labels, lengths, steps;
  for (int i = 0; i < 3 * 150; ++i) labels.push_back(i * 7 % 11);
  const Arg log_probs = {.shape = {320, 3, 11}, .lo = -3, .hi = -1};
  const Arg targets = {.shape = {3, 150}, .dtype = DType::kInt32, .values = labels}, in = {.shape = {3}, .dtype = DType::kInt32, .values = {320, 310, 40}},
            out = {.shape = {3}, .dtype = DType::kInt32, .values = {150, 149, 20}};
  const AttrFields attrs = {{"blank", int64_t{10}}};
  expect_like_cpu({.op = "ctc_loss", .name = "many_states", .attrs = attrs, .args = {log_probs, targets, in, out}}, {DType::kFloat32, DType::kFloat64});
  expect_like_cpu({.op = "ctc_loss_grad", .name = "many_states", .attrs = attrs, .args = {{{3}}, log_probs, targets, in, out}},
                  {DType::kFloat32, DType::kFloat64});
  expect_like_cpu({.op = "ctc_log_alpha", .name = "many_states", .attrs = attrs, .args = {log_probs, targets, in, out}}, {DType::kFloat32});
}

TEST(DeviceShapes, AllFiniteOfManyTensors) {
  if (current_device().is_cpu()) return;
  TensorList many;
  for (int i = 0; i < 150; ++i) many.push_back(Tensor::full({i % 7 == 0 ? 20000 : 3 + i}, 1, i % 2 == 0 ? DType::kFloat32 : DType::kBFloat16));
  EXPECT_EQ(ops::all_finite(many).item(), 1);
  for (const size_t at : {size_t{0}, size_t{63}, size_t{64}, size_t{140}, size_t{149}}) {
    TensorList bad = many;
    std::vector<double> values(static_cast<size_t>(many[at].numel()), 1);
    values.back() = at % 2 == 0 ? HUGE_VAL : std::nan("");
    bad[at] = Tensor::from_values(many[at].shape(), values, many[at].dtype());
    EXPECT_EQ(ops::all_finite(bad).item(), 0) << at;
  }
}

}  // namespace
}  // namespace sindri::test::device_shapes
