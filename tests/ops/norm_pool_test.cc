// batch_norm_pool and its gradient are bitwise identical to the separate ops, on the CPU (reference kernels) and on devices. In graphs they replace the
// separate ops.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <optional>

#include "sindri/autograd/grad.h"
#include "sindri/core/device.h"
#include "sindri/core/error.h"
#include "sindri/graph/compile.h"
#include "sindri/op/bind.h"
#include "sindri/op/kernel.h"
#include "sindri/op/tensor_fn.h"
#include "sindri/ops/elementwise.h"
#include "sindri/ops/norm.h"
#include "sindri/ops/pool.h"
#include "sindri/ops/reduce.h"
#include "src/op/plan.h"
#include "tests/ops/compare.h"

namespace sindri::test::norm_pool {
namespace {

using Ints = std::vector<int64_t>;

struct Windows {
  const char* name;
  Shape x;
  Ints kernel, stride, pad;
};
void PrintTo(const Windows& w, std::ostream* os) { *os << w.name; }

// Few distinct values, so that windows have several maxima and relu makes many values 0.
Tensor few_values(const Shape& shape, DType type, int64_t seed, bool channels_last = true) {
  const DeviceScope host(Device{});
  std::vector<double> v(static_cast<size_t>(shape.numel()));
  for (size_t i = 0; i < v.size(); ++i) v[i] = static_cast<double>((i * i * 7 + i * static_cast<size_t>(seed) + i / 5) % 13) * 0.25 - 1.5;
  const Tensor t = Tensor::from_values(shape, v, type);
  return channels_last && shape.rank() == 4 ? convert_layout(t, Layout::kChannelsLast) : t;
}
Tensor with_value(const Tensor& t, int64_t i, double value) {
  const DeviceScope host(Device{});
  std::vector<double> v = t.to_vector<double>();
  v[static_cast<size_t>(i)] = value;
  return convert_layout(Tensor::from_values(t.shape(), v, t.dtype()), t.meta().layout);
}
TensorList run(const char* name, const AttrFields& fields, const TensorList& in) {
  TensorList there;
  for (const Tensor& t : in) there.push_back(t.to(current_device()));
  const OpDef& op = find_op(name);
  return sindri::bind(op, op.attrs.make(fields), there);
}

class NormPool : public ::testing::TestWithParam<std::tuple<Windows, DType>> {};

TEST_P(NormPool, HasTheBitsOfTheSeparateOps) {
  const auto& [w, type] = GetParam();
  std::optional<ForceKernel> reference;  // other kernels of the CPU and the simulator sum in another order
  if (current_device().kind != Device::kCuda) reference.emplace("reference");
  const DType stats = type == DType::kFloat64 ? type : DType::kFloat32;
  const Shape channels = {w.x[1]};
  const Tensor gamma = few_values(channels, stats, 3), beta = few_values(channels, stats, 5);
  const AttrFields eps = {{"eps", 1e-3}}, pool = {{"kernel", w.kernel}, {"stride", w.stride}, {"pad", w.pad}};
  AttrFields fused = pool, unpool = pool;
  fused.push_back({"eps", 1e-3});
  unpool.push_back({"input_size", Ints{w.x[2], w.x[3]}});
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN(), kInf = std::numeric_limits<double>::infinity();
  const Tensor plain = few_values(w.x, type, 1);
  for (const Tensor& x : {plain, with_value(plain, plain.numel() / 3, kNan), with_value(plain, plain.numel() / 2, kInf)}) {
    const TensorList norm = run("batch_norm_relu", eps, {x, gamma, beta}), pooled = run("max_pool2d", pool, {norm[0]});
    const TensorList made = run("batch_norm_pool", fused, {x, gamma, beta});
    EXPECT_TRUE(same_bits(made[0], pooled[0]));
    EXPECT_TRUE(same_bits(made[2], norm[1]));
    EXPECT_TRUE(same_bits(made[3], norm[2]));
    const std::vector<double> y = pooled[0].to_vector<double>(), places = pooled[1].to_vector<double>(), found = made[1].to_vector<double>();
    for (size_t i = 0; i < y.size(); ++i) ASSERT_EQ(found[i], y[i] <= 0 ? 255 : places[i]) << i;

    const Tensor dy = few_values(pooled[0].shape(), type, 2), dy2 = few_values(pooled[0].shape(), type, 9);
    for (const bool sum : {false, true}) {
      TensorList to_pool = {dy, pooled[1]}, to_fused = {dy, made[1], x, gamma, made[2], made[3]};
      if (sum) to_pool.push_back(dy2), to_fused.push_back(dy2);
      const TensorList image = run("max_pool2d_grad", unpool, to_pool);
      const TensorList expected = run("batch_norm_relu_grad", eps, {image[0], x, gamma, beta, norm[1], norm[2]});
      const TensorList actual = run("batch_norm_pool_grad", fused, to_fused);
      for (size_t i = 0; i < 3; ++i) EXPECT_TRUE(same_bits(actual[i], expected[i])) << "output " << i << (sum ? " of a sum" : "");
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Ops, NormPool,
                         ::testing::Combine(::testing::Values(Windows{"stem", {3, 16, 13, 12}, {3, 3}, {2, 2}, {1, 1, 1, 1}},
                                                              Windows{"long", {4, 64, 31, 29}, {3, 3}, {2, 2}, {1, 1, 1, 1}},
                                                              Windows{"same", {2, 8, 10, 10}, {3, 3}, {2, 2}, {0, 1, 0, 1}},
                                                              Windows{"odd_channels", {3, 5, 9, 11}, {3, 3}, {2, 2}, {1, 1, 1, 1}},
                                                              Windows{"side_by_side", {3, 24, 8, 8}, {2, 2}, {2, 2}, {0, 0, 0, 0}},
                                                              Windows{"overlapping", {2, 8, 7, 9}, {3, 3}, {1, 1}, {1, 1, 1, 1}},
                                                              Windows{"wide", {2, 8, 12, 9}, {5, 4}, {2, 3}, {2, 2, 1, 2}}),
                                            ::testing::Values(DType::kFloat16, DType::kBFloat16, DType::kFloat32, DType::kFloat64)),
                         [](const auto& i) { return std::string(std::get<0>(i.param).name) + "_" + dtype_name(std::get<1>(i.param)); });

TEST(NormPoolOp, RefusesWhatItCannotDo) {
  const Tensor x = Tensor::zeros({1, 2, 20, 20}), c = Tensor::zeros({2});
  EXPECT_THROW(run("batch_norm_pool", {{"kernel", Ints{16, 16}}}, {x, c, c}), ValueError);
  EXPECT_THROW(run("batch_norm_pool", {{"kernel", Ints{3, 3}}}, {x, Tensor::zeros({3}), c}), ShapeError);
  EXPECT_THROW(run("batch_norm_pool", {{"kernel", Ints{3}}}, {x, c, c}), ValueError);
  EXPECT_THROW(run("batch_norm_pool", {}, {Tensor::zeros({4, 2}), c, c}), ShapeError);
  const Tensor dy = Tensor::zeros({1, 2, 10, 10}), places = Tensor::zeros({1, 2, 10, 10}, DType::kUInt8);
  const AttrFields two = {{"kernel", Ints{2, 2}}, {"stride", Ints{2, 2}}};
  EXPECT_NO_THROW(run("batch_norm_pool_grad", two, {dy, places, x, c, c, c}));
  EXPECT_THROW(run("batch_norm_pool_grad", two, {dy, dy, x, c, c, c}), ShapeError);
  EXPECT_THROW(run("batch_norm_pool_grad", two, {x, places, x, c, c, c}), ShapeError);
  EXPECT_THROW(run("batch_norm_pool_grad", two, {dy, places, x, c, c, c, x}), ShapeError);
}

// A stem whose result is read twice, with the gradient: eager, compiled, and replayed.
TEST(NormPoolGraph, KeepsEveryBit) {
  const ops::Pool2dAttrs windows = {.kernel = {3, 3}, .stride = {2, 2}, .pad = {1, 1, 1, 1}};
  const TensorFn stem = [&](Span<const Tensor> in) -> TensorList {
    const ops::BatchNormOut norm = ops::batch_norm_train(in[0], in[1], in[2], 1e-3);
    const Tensor y = ops::max_pool2d(ops::relu(norm.y), windows);
    return {ops::sum(ops::cast(ops::tanh(y) * 1.5 + y, DType::kFloat32))};
  };
  const TensorFn fn = [&](Span<const Tensor> in) -> TensorList {
    auto [out, grads] = value_and_grad(stem, in, {0, 1, 2}, {});
    out.insert(out.end(), grads.of_inputs.begin(), grads.of_inputs.end());
    return out;
  };
  for (const DType type : {DType::kFloat16, DType::kFloat32}) {
    TensorList in;
    for (const Tensor& t : {few_values({3, 8, 14, 13}, type, 1), few_values({8}, DType::kFloat32, 3), few_values({8}, DType::kFloat32, 5)})
      in.push_back(t.to(current_device()));
    const TensorList eager = fn(in);
    CompiledFn compiled = compile(fn);
    for (int repeat = 0; repeat < 3; ++repeat) {
      const TensorList fused = compiled(in);
      ASSERT_EQ(eager.size(), fused.size());
      for (size_t i = 0; i < eager.size(); ++i) EXPECT_TRUE(same_bits(eager[i], fused[i])) << "output " << i;
    }
    const std::string text = compiled.graph_text();
    if (current_device().kind != Device::kCuda) {
      EXPECT_THAT(text, ::testing::Not(::testing::HasSubstr("batch_norm_pool"))) << "only CUDA devices have kernels for it";
      continue;
    }
    EXPECT_THAT(text, ::testing::HasSubstr("batch_norm_pool("));
    EXPECT_THAT(text, ::testing::HasSubstr("batch_norm_pool_grad("));
    for (const char* const gone : {"max_pool2d", "batch_norm_relu"}) EXPECT_THAT(text, ::testing::Not(::testing::HasSubstr(gone)));
  }
}

}  // namespace
}  // namespace sindri::test::norm_pool
