// Data movement beyond the common suite: NumPy examples, ties between ops and their gradients, thread counts, failures.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "sindri/autograd/grad.h"
#include "sindri/core/context.h"
#include "sindri/core/error.h"
#include "sindri/op/kernel.h"
#include "sindri/ops/elementwise.h"
#include "sindri/ops/shape.h"
#include "src/core/tensor_impl.h"
#include "tests/ops/compare.h"
#include "tests/ops/samples.h"

namespace sindri::test {
namespace {

using ::testing::HasSubstr;
using Ints = std::vector<int64_t>;
constexpr int64_t kMax = std::numeric_limits<int64_t>::max(), kMin = std::numeric_limits<int64_t>::min();

Tensor counted(Shape shape, DType dtype = DType::kInt64) { return ops::reshape(ops::arange(0, static_cast<double>(shape.numel()), 1, dtype), shape); }
Ints values(const Tensor& t) { return t.to_vector<int64_t>(); }
template <class E> std::string message_of(const std::function<void()>& f) {
  try {
    finish(f);
  } catch (const E& e) { return e.what(); }
  return "not thrown";
}

TEST(Reshape, FlattenSqueezeExpand) {
  const Tensor x = counted({2, 3, 4});
  EXPECT_EQ(ops::flatten(x).shape(), (Shape{2, 12}));
  EXPECT_EQ(ops::flatten(x, 0, 1).shape(), (Shape{6, 4}));
  EXPECT_EQ(ops::flatten(x, -2).shape(), (Shape{2, 12}));
  EXPECT_EQ(ops::flatten(counted({0, 3}), 0).shape(), (Shape{0}));
  EXPECT_EQ(ops::flatten(Tensor::scalar(1)).shape(), (Shape{1}));
  EXPECT_EQ(ops::expand_dims(x, -1).shape(), (Shape{2, 3, 4, 1}));
  EXPECT_EQ(ops::expand_dims(x, 0).shape(), (Shape{1, 2, 3, 4}));
  EXPECT_EQ(ops::squeeze(ops::expand_dims(x, 1), 1).shape(), x.shape());
  EXPECT_EQ(values(ops::reshape(x, {-1})), values(x));
  EXPECT_THROW(ops::squeeze(x, 1), ShapeError);
  EXPECT_THROW(ops::flatten(x, 2, 1), ValueError);
  EXPECT_THROW(ops::expand_dims(x, 4), ValueError);
}

TEST(Reshape, BadShapes) {
  const Tensor x = counted({2, 6});
  EXPECT_THAT(message_of<ShapeError>([&] { ops::reshape(x, {5, -1}); }), HasSubstr("reshape: [2, 6] has 12 elements, shape [5, -1] needs a multiple of 5"));
  EXPECT_THROW(ops::reshape(x, {3, 5}), ShapeError);
  EXPECT_THROW(ops::reshape(x, {-1, -1}), ValueError);
  EXPECT_THROW(ops::reshape(x, {-2, 6}), ValueError);
  EXPECT_THROW(ops::reshape(counted({0}), {0, -1}), ShapeError);
  EXPECT_THROW(ops::reshape(x, {kMax, 3}), ValueError);
  EXPECT_THROW(ops::reshape(x, Ints{1, 1, 1, 1, 1, 1, 1, 2, 6}), ShapeError);
}

TEST(StopGradient, PassesTheValueAndNoGradient) {
  const Tensor x = Tensor::from_vector<double>({2}, {3, 5});
  const auto f = [](Span<const Tensor> in) { return TensorList{ops::mul(in[0], ops::stop_gradient(in[0]))}; };
  EXPECT_TRUE(same_bits(grad(f)({&x, 1})[0], x));
}

TEST(Slice, FollowsPython) {
  const Tensor x = counted({10});
  const auto cut = [&](int64_t b, int64_t e, int64_t s) { return values(ops::slice(x, {b}, {e}, {s})); };
  EXPECT_EQ(cut(2, 5, 1), (Ints{2, 3, 4}));
  EXPECT_EQ(cut(-3, 10, 1), (Ints{7, 8, 9}));
  EXPECT_EQ(cut(9, -11, -1), (Ints{9, 8, 7, 6, 5, 4, 3, 2, 1, 0}));
  EXPECT_EQ(cut(8, 1, -3), (Ints{8, 5, 2}));
  EXPECT_EQ(cut(-100, 100, 4), (Ints{0, 4, 8}));
  EXPECT_EQ(cut(5, 2, 1), (Ints{}));
  EXPECT_EQ(cut(2, 5, -1), (Ints{}));
  EXPECT_EQ(cut(kMin, kMax, kMax), (Ints{0}));
  EXPECT_EQ(cut(kMax, kMin, kMin), (Ints{9}));
  EXPECT_THROW(cut(0, 1, 0), ValueError);
  EXPECT_THROW(ops::slice(x, {0}, {1, 2}), ValueError);
  EXPECT_THROW(ops::slice(x, {0}, {1}, {1, 1}), ValueError);
  EXPECT_THROW(ops::slice(x, {0, 0}, {1, 1}), ValueError);
}

TEST(Transpose, EveryElementTypeAndTileEdge) {
  for (DType t : {DType::kBool, DType::kUInt8, DType::kInt32, DType::kInt64, DType::kFloat16, DType::kBFloat16, DType::kFloat32, DType::kFloat64}) {
    for (int64_t n : {1, 3, 4, 15, 16, 17, 33}) {
      const Tensor x = ops::cast(counted({n, 37}), t);
      const Tensor y = ops::transpose(x, {1, 0});
      const ForceKernel force("reference");
      EXPECT_TRUE(same_bits(y, ops::transpose(x, {1, 0}))) << dtype_name(t) << " " << n;
    }
  }
  EXPECT_EQ(values(ops::transpose(counted({2, 3}), {1, 0})), (Ints{0, 3, 1, 4, 2, 5}));
  EXPECT_THROW(ops::transpose(counted({2, 3}), {0}), ValueError);
  EXPECT_THROW(ops::transpose(counted({2, 3}), {0, 0}), ValueError);
  EXPECT_THROW(ops::transpose(counted({2, 3}), {0, 2}), ValueError);
}

TEST(Concat, StackAndErrors) {
  const Tensor a = counted({2, 2}), b = ops::add(a, Tensor::scalar(10, DType::kInt64));
  EXPECT_EQ(values(ops::stack({a, b}, 0)), (Ints{0, 1, 2, 3, 10, 11, 12, 13}));
  EXPECT_EQ(values(ops::stack({a, b}, -1)), (Ints{0, 10, 1, 11, 2, 12, 3, 13}));
  EXPECT_EQ(ops::stack({a, b}, 1).shape(), (Shape{2, 2, 2}));
  EXPECT_THROW(ops::stack({}, 0), ValueError);
  EXPECT_THROW(ops::stack({a, counted({2})}, 0), ShapeError);
  EXPECT_THROW(ops::stack({a, b}, 3), ValueError);
  EXPECT_THROW(ops::concat({}, 0), ValueError);
  EXPECT_THROW(ops::concat({a, counted({3, 3})}, 0), ShapeError);
  EXPECT_THROW(ops::concat({a, counted({2})}, 0), ShapeError);
  EXPECT_THROW(ops::concat({a, ops::cast(a, DType::kFloat32)}, 0), DTypeError);
  EXPECT_THROW(ops::concat({a, a}, 2), ValueError);
  EXPECT_THROW(ops::concat({Tensor::scalar(1), Tensor::scalar(2)}, 0), ShapeError);
}

TEST(Split, UnusedPiecesHaveZeroGradient) {
  const Tensor x = Tensor::full({6}, 1, DType::kFloat64);
  const auto f = [](Span<const Tensor> in) { return TensorList{ops::mul(ops::split(in[0], {1, 2, 3}, 0)[1], 5.0)}; };
  EXPECT_EQ(grad(f)({&x, 1})[0].to_vector<double>(), (std::vector<double>{0, 5, 5, 0, 0, 0}));
  EXPECT_THROW(ops::split(x, {1, 2}, 0), ShapeError);
  EXPECT_THROW(ops::split(x, {7, -1}, 0), ValueError);
  EXPECT_THROW(ops::split(x, {}, 0), ValueError);
  EXPECT_THROW(ops::split(x, {kMax, kMax, 8}, 0), ValueError);
  EXPECT_THROW(ops::split(x, {6}, 1), ValueError);
}

TEST(Pad, FollowsNumpy) {
  const Tensor x = counted({4});
  EXPECT_EQ(values(ops::pad(x, {2, 1}, 7)), (Ints{7, 7, 0, 1, 2, 3, 7}));
  EXPECT_EQ(values(ops::pad(x, {3, 2}, 0, "reflect")), (Ints{3, 2, 1, 0, 1, 2, 3, 2, 1}));
  EXPECT_EQ(values(ops::pad(x, {4, 2}, 0, "symmetric")), (Ints{3, 2, 1, 0, 0, 1, 2, 3, 3, 2}));
  EXPECT_EQ(values(ops::pad(x, {2, 3}, 0, "edge")), (Ints{0, 0, 0, 1, 2, 3, 3, 3, 3}));
  EXPECT_THROW(ops::pad(x, {4, 0}, 0, "reflect"), ValueError);
  EXPECT_THROW(ops::pad(x, {5, 0}, 0, "symmetric"), ValueError);
  EXPECT_THROW(ops::pad(counted({0}), {1, 0}, 0, "edge"), ValueError);
  EXPECT_THROW(ops::pad(x, {-1, 0}), ValueError);
  EXPECT_THROW(ops::pad(x, {1}), ValueError);
  EXPECT_THROW(ops::pad(x, {1, 1}, 0, "wrap"), ValueError);
  EXPECT_THROW(ops::pad(x, {kMax, kMax}), ValueError);
  EXPECT_THROW(ops::pad(x, {1, 1}, std::nan("")), ValueError);
}

TEST(RavelIndices, ChecksEachDimensionAndCountsInInt64) {
  const Tensor rows = Tensor::from_vector<int32_t>({2, 1}, {49999, -1}), columns = Tensor::from_vector<int64_t>({2}, {7, -44000});
  EXPECT_EQ(values(ops::ravel_indices({rows, columns}, {50000, 44000})), (Ints{2199956007, 2199956000, 2199956007, 2199956000}));
  const Tensor zero = Tensor::from_vector<int64_t>({1}, {0});
  const auto text = [&](int64_t k, bool wrap) {
    return message_of<ValueError>([&] { ops::ravel_indices({zero, Tensor::from_vector<int64_t>({1}, {k})}, {2, 3}, wrap); });
  };
  EXPECT_THAT(text(5, true), HasSubstr("ravel_indices: index 5 at position [0] is outside dimension 1 of size 3"));
  EXPECT_THAT(text(-4, true), HasSubstr("index -4 at position [0] is outside dimension 1 of size 3"));
  EXPECT_THAT(text(-1, false), HasSubstr("index -1 at position [0] is outside dimension 1 of size 3"));
  EXPECT_THAT(text(kMin, true), HasSubstr("outside dimension 1"));
  EXPECT_EQ(text(-3, true), "not thrown");
  EXPECT_THAT(message_of<ValueError>([&] { ops::ravel_indices({counted({3})}, {2}, true, {4}); }),
              HasSubstr("index 2 at position [2] is outside dimension 4 of size 2"));
  EXPECT_THROW(ops::ravel_indices({zero}, {2}, true, {0, 1}), ValueError);
  EXPECT_THROW(ops::ravel_indices({}, {}), ValueError);
  EXPECT_THROW(ops::ravel_indices({zero}, {2, 3}), ValueError);
  EXPECT_THROW(ops::ravel_indices({zero, zero}, {kMax, 3}), ValueError);
  EXPECT_THROW(ops::ravel_indices({zero, zero}, {2, -1}), ValueError);
  EXPECT_THROW(ops::ravel_indices({counted({2}), counted({3})}, {9, 9}), ShapeError);
  EXPECT_THROW(ops::ravel_indices({zero, Tensor::scalar(1.0)}, {2, 3}), DTypeError);
}

TEST(Tile, FollowsNumpy) {
  const Tensor x = counted({2, 2});
  EXPECT_EQ(values(ops::tile(x, {1, 2})), (Ints{0, 1, 0, 1, 2, 3, 2, 3}));
  EXPECT_EQ(values(ops::tile(x, {2})), (Ints{0, 1, 0, 1, 2, 3, 2, 3}));
  EXPECT_EQ(values(ops::tile(x, {2, 1})), (Ints{0, 1, 2, 3, 0, 1, 2, 3}));
  EXPECT_EQ(ops::tile(x, {3, 1, 2}).shape(), (Shape{3, 2, 4}));
  EXPECT_EQ(ops::tile(x, {0, 2}).shape(), (Shape{0, 4}));
  EXPECT_EQ(values(ops::tile(Tensor::scalar(4, DType::kInt64), {3})), (Ints{4, 4, 4}));
  EXPECT_THROW(ops::tile(x, {-1, 1}), ValueError);
  EXPECT_THROW(ops::tile(x, Ints(9, 1)), ShapeError);
  const Tensor y = Tensor::full({2, 3}, 1, DType::kFloat64);
  const Tensor g = grad([](Span<const Tensor> in) { return TensorList{ops::tile(in[0], {2, 3})}; })({&y, 1})[0];
  EXPECT_TRUE(same_bits(g, Tensor::full({2, 3}, 6, DType::kFloat64)));
}

TEST(Broadcast, Errors) {
  EXPECT_THROW(ops::broadcast_to(counted({3}), {4}), ShapeError);
  EXPECT_THROW(ops::broadcast_to(counted({2, 3}), {3}), ShapeError);
  EXPECT_THROW(ops::broadcast_to(counted({3}), {2, 1}), ShapeError);
  EXPECT_THROW(ops::broadcast_to(counted({1}), {-1}), ValueError);
  EXPECT_THROW(ops::broadcast_to(counted({1}), {kMax}), ValueError);
  EXPECT_THROW(ops::sum_to(counted({3}), {2}), ShapeError);
  EXPECT_THROW(ops::sum_to(counted({3}), {1, 3}), ShapeError);
  EXPECT_THROW(ops::sum_to(Tensor::zeros({3}, DType::kBool), {1}), DTypeError);
}

TEST(SumTo, BitsDoNotDependOnThreads) {
  const int before = num_threads();
  for (const auto& [from, to] : std::vector<std::pair<Shape, Shape>>{
           {{3000, 70}, {70}}, {{64, 24, 10, 10}, {24, 1, 1}}, {{7, 40000}, {7, 1}}, {{200000}, {}}, {{4, 300, 5, 20}, {4, 1, 5, 1}}}) {
    std::vector<float> v(static_cast<size_t>(from.numel()));
    const UnitValues u("sum_to", 0);
    for (size_t i = 0; i < v.size(); ++i) v[i] = static_cast<float>(u(i) - 0.5);
    const Tensor x = Tensor::from_vector(from, v);
    Tensor first, exact;
    {
      const ForceKernel force("reference");
      exact = ops::sum_to(x, to);
    }
    for (int threads : {1, 2, 3, 4, 8}) {
      set_num_threads(threads);
      const Tensor y = ops::sum_to(x, to);
      if (!first.defined()) first = y;
      EXPECT_TRUE(same_bits(y, first)) << from.str() << " with " << threads << " threads";
    }
    EXPECT_TRUE(close(first, exact, {1.3e-6, 1e-5})) << from.str();
  }
  set_num_threads(before);
}

TEST(SumTo, SpecialValues) {
  const double inf = std::numeric_limits<double>::infinity();
  for (DType t : {DType::kFloat32, DType::kFloat16, DType::kBFloat16}) {
    const Tensor x = Tensor::from_values({2, 4}, {inf, std::nan(""), inf, 0x1p-24, 1, 1, -inf, 0x1p-24}, t);
    const std::vector<double> y = ops::sum_to(x, {4}).to_vector<double>();
    EXPECT_EQ(y[0], inf);
    EXPECT_TRUE(std::isnan(y[1]));
    EXPECT_TRUE(std::isnan(y[2]));
    EXPECT_EQ(y[3], 0x1p-23);  // subnormal in float16
  }
  EXPECT_EQ(values(ops::sum_to(Tensor::from_vector<int64_t>({2}, {kMax, 1}), {1})), (Ints{kMin}));  // wraps
}

TEST(Gather, IndexErrorsNameIndexAndPosition) {
  // The CPU reports the first bad index, a device any of them.
  const bool cpu = current_device().is_cpu();
  const Tensor x = counted({3, 2}), bad = Tensor::from_vector<int64_t>({2, 2}, {0, -3, 3, cpu ? 9 : 1});
  const Tensor negative = Tensor::from_vector<int64_t>({2, 2}, {0, -3, cpu ? 3 : 2, 1});
  for (const char* kernel : {"parallel", "grouped", "reference"}) {
    const ForceKernel force(kernel);
    EXPECT_THAT(message_of<ValueError>([&] { ops::gather(x, bad); }), HasSubstr("gather: index 3 at position [1, 0] is outside a dimension of size 3"));
    EXPECT_THAT(message_of<ValueError>([&] { ops::embedding(x, negative); }),
                HasSubstr("embedding: index -3 at position [0, 1] is outside a dimension of size 3"));
    EXPECT_THAT(message_of<ValueError>([&] { ops::scatter_add(x, bad, counted({2, 2, 2})); }), HasSubstr("scatter_add: index 3 at position [1, 0]"));
  }
  EXPECT_THAT(message_of<ValueError>([&] {
                ops::gather_elements(x, Tensor::from_vector<int32_t>({1, 2}, {0, -4}), 0);
              }),
              HasSubstr("index -4 at position [0, 1]"));
  EXPECT_THROW(finish([] { return ops::gather(counted({0, 2}), Tensor::zeros({1}, DType::kInt64)); }), ValueError);
}

TEST(Gather, BadArguments) {
  const Tensor x = counted({3, 2}), i = Tensor::zeros({2}, DType::kInt64);
  EXPECT_THROW(ops::gather(x, Tensor::zeros({2})), DTypeError);
  EXPECT_THROW(ops::gather(x, i, 2), ValueError);
  EXPECT_THROW(ops::gather(Tensor::scalar(1), i), ShapeError);
  EXPECT_THROW(ops::gather(counted({1, 1, 1, 1, 1}), Tensor::zeros({1, 1, 1, 1, 1}, DType::kInt64)), ShapeError);
  EXPECT_THROW(ops::scatter_add(x, i, counted({2, 3})), ShapeError);
  EXPECT_THROW(ops::scatter_add(x, i, Tensor::zeros({2, 2})), DTypeError);
  EXPECT_THROW(ops::gather_elements(x, i, 0), ShapeError);
  EXPECT_THROW(ops::gather_elements(x, Tensor::zeros({1, 3}, DType::kInt64), 0), ShapeError);
  EXPECT_THROW(ops::gather_elements(Tensor::scalar(1), Tensor::zeros({}, DType::kInt64), 0), ShapeError);
  EXPECT_THROW(ops::embedding(counted({3}), i), ShapeError);
  EXPECT_THROW(ops::embedding(x, Tensor::zeros({2}, DType::kUInt8)), DTypeError);
  EXPECT_THROW(ops::one_hot(i, -1), ValueError);
  EXPECT_THROW(ops::one_hot(i, kMax), ValueError);
  EXPECT_THROW(ops::one_hot(i, 3, 300, 0, DType::kUInt8), ValueError);
}

TEST(ScatterAdd, KernelsAgreeBitForBitWhateverTheThreads) {
  const int before = num_threads();
  std::vector<float> v(4000 * 65);
  const UnitValues u("scatter", 0);
  for (size_t i = 0; i < v.size(); ++i) v[i] = static_cast<float>(u(i));
  std::vector<int64_t> rows(4000);
  const UnitValues row("rows", 0);
  for (size_t i = 0; i < rows.size(); ++i) rows[i] = static_cast<int64_t>(7 * row(i));
  const Tensor updates = Tensor::from_vector({4000, 65}, v), indices = Tensor::from_vector({4000}, rows), x = Tensor::full({9, 65}, 0.5);
  for (DType t : {DType::kFloat32, DType::kBFloat16}) {
    const auto run = [&] { return ops::scatter_add(ops::cast(x, t), indices, ops::cast(updates, t)); };
    Tensor exact;
    {
      const ForceKernel force("reference");
      exact = run();
    }
    for (int threads : {1, 2, 5}) {
      set_num_threads(threads);
      EXPECT_TRUE(same_bits(run(), exact)) << threads << " threads, " << dtype_name(t);
    }
  }
  set_num_threads(before);
}

TEST(Full, ValuesAndErrors) {
  EXPECT_EQ(ops::zeros_like(counted({2, 2})).dtype(), DType::kInt64);
  EXPECT_EQ(values(ops::ones_like(counted({3}))), (Ints{1, 1, 1}));
  EXPECT_EQ(values(ops::full({1}, -2.9, DType::kInt32)), (Ints{-2}));  // truncates, as cast does
  EXPECT_THROW(ops::full({-1}, 0), ValueError);
  EXPECT_THROW(ops::full({kMax, 2}, 0), ValueError);
  EXPECT_THROW(ops::full({kMax / 2}, 0), ValueError);
  EXPECT_THROW(ops::full({1}, 0x1p31, DType::kInt32), ValueError);
  EXPECT_THROW(ops::full({1}, -1, DType::kUInt8), ValueError);
  EXPECT_THROW(ops::full({1}, std::nan(""), DType::kInt64), ValueError);
  EXPECT_EQ(values(ops::arange(5, 0, -2)), (Ints{5, 3, 1}));
  EXPECT_THROW(ops::arange(0, 5, 0), ValueError);
  EXPECT_THROW(ops::arange(0, INFINITY), ValueError);
  EXPECT_THROW(ops::arange(0, 300, 1, DType::kUInt8), ValueError);
  EXPECT_THROW(ops::arange(0, 1e300), ValueError);
  EXPECT_THROW(ops::arange(0, 5, 1, DType::kBool), DTypeError);
}

// Eager reshape moves no data: the result is a separate tensor over the same memory, which outlives its input.
TEST(Reshape, SharesTheMemoryOfItsInput) {
  Tensor x = counted({2, 3});
  const Tensor y = ops::reshape(x, {3, -1});
  EXPECT_EQ(y.impl()->storage, x.impl()->storage);
  EXPECT_NE(y.id(), x.id());
  x = Tensor();
  EXPECT_EQ(values(y), (Ints{0, 1, 2, 3, 4, 5}));
}

}  // namespace
}  // namespace sindri::test
