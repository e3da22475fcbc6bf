// Reductions beyond the common suite: special values, ties, zeros in products, accuracy and reproducibility of long sums, bad arguments.
#include "sindri/ops/reduce.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "sindri/autograd/grad.h"
#include "sindri/core/context.h"
#include "sindri/core/error.h"
#include "sindri/op/kernel.h"
#include "src/op/plan.h"

namespace sindri::reduce_test {
namespace {

using Values = std::vector<double>;
constexpr double kInf = std::numeric_limits<double>::infinity(), kNan = std::numeric_limits<double>::quiet_NaN();

Tensor vec(const Values& v, DType t = DType::kFloat32) { return Tensor::from_values({static_cast<int64_t>(v.size())}, v, t); }
TensorList gradient_of(Tensor (*f)(const Tensor&), const Tensor& x) {
  return grad([=](Span<const Tensor> in) { return TensorList{f(in[0])}; })(TensorList{x});
}
template <class F> void with_each_kernel(F&& f) {
  for (const char* name : {"simd", "reference"}) {
    SCOPED_TRACE(name);
    const ForceKernel force(name);
    f();
  }
}

TEST(Reduce, NanAndInfinity) {
  with_each_kernel([] {
    const Tensor x = vec({1, kNan, 3});
    EXPECT_TRUE(std::isnan(ops::max(x).item()));
    EXPECT_TRUE(std::isnan(ops::min(x).item()));
    EXPECT_TRUE(std::isnan(ops::sum(x).item()));
    EXPECT_TRUE(std::isnan(ops::norm(x, kInf).item()));
    EXPECT_EQ(ops::max(vec({-kInf, -kInf})).item(), -kInf);
    EXPECT_EQ(ops::min(vec({kInf, kInf})).item(), kInf);
    EXPECT_TRUE(std::isnan(ops::sum(vec({kInf, -kInf})).item()));
    EXPECT_EQ(ops::argmax(x).item(), 1);
    EXPECT_EQ(ops::argmin(x).item(), 1);
  });
  EXPECT_EQ(ops::logsumexp(vec({-kInf, -kInf})).item(), -kInf);
  EXPECT_EQ(ops::logsumexp(vec({kInf, 1})).item(), kInf);
  EXPECT_NEAR(ops::logsumexp(vec({1000, 1000})).item(), 1000 + std::log(2.0), 1e-3);
}

TEST(Reduce, NanAnywhereInALongRowOrColumnWins) {
  for (int64_t at : {0, 31, 32, 4095, 8191, 8192, 20000}) {
    std::vector<float> v(20001, 1.0F);
    v[static_cast<size_t>(at)] = std::numeric_limits<float>::quiet_NaN();
    EXPECT_TRUE(std::isnan(ops::max(Tensor::from_vector<float>({20001}, v)).item())) << at;
    EXPECT_TRUE(std::isnan(ops::min(Tensor::from_vector<float>({20001, 1}, v), {0}).item())) << at;
    const Values columns = ops::max(Tensor::from_vector<float>({6667, 3}, v), {0}).to_vector<double>();
    for (size_t c = 0; c < 3; ++c) EXPECT_EQ(std::isnan(columns[c]), static_cast<int64_t>(c) == at % 3) << at;
  }
}

TEST(Reduce, TiesShareTheGradient) {
  EXPECT_EQ(gradient_of([](const Tensor& x) { return ops::max(x); }, vec({3, 1, 3}))[0].to_vector<double>(), (Values{0.5, 0, 0.5}));
  EXPECT_EQ(gradient_of([](const Tensor& x) { return ops::min(x); }, vec({2, 2, 2, 2}))[0].to_vector<double>(), (Values{0.25, 0.25, 0.25, 0.25}));
  EXPECT_EQ(gradient_of([](const Tensor& x) { return ops::norm(x, kInf); }, vec({-2, 2, 1}))[0].to_vector<double>(), (Values{-0.5, 0.5, 0}));
}

// float16 cannot represent 70,000, nor bfloat16 257: means are divided by counts in float32.
TEST(Reduce, HalfTypesDivideGradientsByLargeCounts) {
  struct Case {
    DType type;
    int64_t n;
    double share;  // nearest 1/n of the type
  };
  for (const Case& c : {Case{DType::kFloat16, 70000, 0x1.ep-17}, Case{DType::kFloat16, 65520, 0x1p-16}, Case{DType::kBFloat16, 257, 0x1.fep-9}}) {
    const Tensor x = Tensor::full({c.n}, 1, c.type);
    for (Tensor (*f)(const Tensor&) :
         {+[](const Tensor& t) { return ops::mean(t); }, +[](const Tensor& t) { return ops::max(t); }, +[](const Tensor& t) { return ops::norm(t, kInf); }}) {
      const Tensor dx = gradient_of(f, x)[0];
      EXPECT_EQ(dx.dtype(), c.type);
      EXPECT_EQ(dx.to_vector<double>(), Values(static_cast<size_t>(c.n), c.share)) << dtype_name(c.type) << " " << c.n;
    }
  }
}

TEST(Reduce, ProductGradientWithZeros) {
  const auto slope = [](const Values& v) { return gradient_of([](const Tensor& x) { return ops::prod(x); }, vec(v))[0].to_vector<double>(); };
  EXPECT_EQ(slope({2, 3, 4}), (Values{12, 8, 6}));
  EXPECT_EQ(slope({2, 0, 4}), (Values{0, 8, 0}));
  EXPECT_EQ(slope({0, 0, 4}), (Values{0, 0, 0}));
}

TEST(Reduce, NormOfZerosHasGradientZero) {
  for (double v : gradient_of([](const Tensor& x) { return ops::norm(x); }, vec({0, 0}))[0].to_vector<double>()) EXPECT_EQ(v, 0);
}

TEST(Reduce, EqualValuesKeepTheLowerIndexFirst) {
  const Tensor x = vec({2, 5, 5, 1, 5});
  EXPECT_EQ(ops::argmax(x).item(), 1);
  EXPECT_EQ(ops::argmin(vec({1, 0, 0})).item(), 1);
  const auto [values, indices] = ops::topk(x, 4);
  EXPECT_EQ(values.to_vector<double>(), (Values{5, 5, 5, 2}));
  EXPECT_EQ(indices.to_vector<int64_t>(), (std::vector<int64_t>{1, 2, 4, 0}));
  EXPECT_EQ(ops::topk(vec({1, kNan, 3}), 2).second.to_vector<int64_t>(), (std::vector<int64_t>{1, 2}));
  EXPECT_EQ(ops::topk(vec({kNan, 2, 1}), 2, -1, false).second.to_vector<int64_t>(), (std::vector<int64_t>{2, 1}));
}

TEST(Reduce, TypesOfResults) {
  EXPECT_EQ(ops::sum(vec({1, 1}, DType::kBool)).item(), 2);
  EXPECT_EQ(ops::sum(vec({200, 200}, DType::kUInt8)).item(), 400);
  EXPECT_EQ(ops::sum(vec({1}, DType::kUInt8)).dtype(), DType::kInt64);
  EXPECT_EQ(ops::mean(vec({1, 2}, DType::kInt32)).item(), 1.5);
  EXPECT_EQ(ops::mean(vec({1, 2}, DType::kInt32)).dtype(), DType::kFloat32);
  EXPECT_EQ(ops::cumsum(vec({1, 1, 1}, DType::kBool)).to_vector<int64_t>(), (std::vector<int64_t>{1, 2, 3}));
  EXPECT_EQ(ops::sum(vec({1, 2}, DType::kBFloat16)).dtype(), DType::kBFloat16);
}

// Products accumulate in the order of the axis. Everything after a zero is zero, even if later factors alone would overflow. Signs of zeros are kept, integers
// wrap, and float32 is rounded once even if a partial product leaves its range.
TEST(Reduce, RunningProducts) {
  EXPECT_EQ(ops::cumprod(vec({3, 0, 1e30, 1e30, 1e30})).to_vector<double>(), (Values{3, 0, 0, 0, 0}));
  EXPECT_EQ(ops::cumprod(vec({1e30, 1e30, 1e-30, 1e-30, 5})).to_vector<double>(), (Values{1e30f, kInf, 1e30f, 1, 5}));
  const std::vector<float> zeros = ops::cumprod(vec({-0.0, 2, -1})).to_vector<float>();
  EXPECT_TRUE(std::signbit(zeros[0]) && std::signbit(zeros[1]) && !std::signbit(zeros[2]));
  EXPECT_EQ(ops::cumprod(vec({100, 3, 1}, DType::kUInt8)).to_vector<int>(), (std::vector<int>{100, 44, 44}));
  EXPECT_EQ(ops::cumprod(vec({65536, 65536, 3}, DType::kInt32)).to_vector<int64_t>(), (std::vector<int64_t>{65536, 0, 0}));
  const Tensor x = Tensor::from_vector<float>({2, 2, 2}, {1, 2, 3, 4, 5, 6, 7, 8});
  EXPECT_EQ(ops::cumprod(x, 0).to_vector<double>(), (Values{1, 2, 3, 4, 5, 12, 21, 32}));
  EXPECT_EQ(ops::cumprod(x, 1).to_vector<double>(), (Values{1, 2, 3, 8, 5, 6, 35, 48}));
  EXPECT_EQ(ops::cumprod(x).to_vector<double>(), (Values{1, 2, 3, 12, 5, 30, 7, 56}));
  EXPECT_EQ(ops::cumprod(Tensor::zeros({3, 0})).shape(), (Shape{3, 0}));
  EXPECT_THROW(ops::cumprod(x, 3), ValueError);
  EXPECT_THROW(ops::cumprod(vec({1, 0}, DType::kBool)), DTypeError);
  for (const Tensor& b : {Tensor::zeros({2, 2, 1}), Tensor::zeros({2, 2, 2}, DType::kFloat64)})
    EXPECT_THROW(bind(find_op("linear_scan"), find_op("linear_scan").attrs.make({}), {x, b}), DTypeError);
}

TEST(Reduce, NothingToReduce) {
  const Tensor none = Tensor::zeros({0, 3});
  EXPECT_EQ(ops::sum(none, {0}).to_vector<double>(), (Values{0, 0, 0}));
  EXPECT_EQ(ops::prod(none, {0}).to_vector<double>(), (Values{1, 1, 1}));
  EXPECT_TRUE(std::isnan(ops::mean(none).item()));
  EXPECT_EQ(ops::any(none).item(), 0);
  EXPECT_EQ(ops::all(none).item(), 1);
  EXPECT_EQ(ops::max(none, {1}).shape(), Shape({0}));
}

// Sums of many equal fractions, for which a float32 accumulator would be far off, by rows, columns and channels in both layouts.
TEST(Reduce, LongSumsAreExactAndIndependentOfThreads) {
  const int before = num_threads();
  constexpr int64_t n = 8, c = 5, h = 100, w = 131;
  std::vector<float> v(static_cast<size_t>(n * c * h * w));
  for (size_t i = 0; i < v.size(); ++i) v[i] = 0.1F + 1e-3F * static_cast<float>(i % 977);
  const Tensor x = Tensor::from_vector<float>({n, c, h, w}, v), y = convert_layout(x, Layout::kChannelsLast);
  double total = 0;
  for (float f : v) total += static_cast<double>(f);
  struct Axes {
    ops::Axes axes;
  };
  for (const Axes& a : {Axes{{}}, Axes{{0, 2, 3}}, Axes{{0}}, Axes{{2, 3}}, Axes{{1}}, Axes{{0, 1}}, Axes{{3}}}) {
    std::vector<float> first, first_last;
    for (int threads : {1, 2, 3, 8}) {
      set_num_threads(threads);
      const std::vector<float> s = ops::sum(x, a.axes).to_vector<float>(), t = ops::sum(y, a.axes).to_vector<float>();
      if (threads == 1) {
        first = s;
        first_last = t;
      }
      EXPECT_EQ(s, first) << threads << " threads";
      EXPECT_EQ(t, first_last) << threads << " threads, channels last";
    }
    double sum = 0;
    for (float f : first) sum += static_cast<double>(f);
    EXPECT_NEAR(sum / total, 1, 1e-7);
    for (size_t i = 0; i < first.size(); ++i) ASSERT_NEAR(first[i], first_last[i], 1e-6 * std::abs(first[i]));
  }
  set_num_threads(before);
}

TEST(Reduce, BadArgumentsThrowTypedErrors) {
  const Tensor x = Tensor::zeros({2, 3});
  EXPECT_THROW(ops::sum(x, {2}), ValueError);
  EXPECT_THROW(ops::sum(x, {0, -2}), ValueError);
  EXPECT_THROW(ops::max(Tensor::zeros({0, 3}), {0}), ValueError);
  EXPECT_THROW(ops::argmax(Tensor::zeros({3, 0})), ValueError);
  EXPECT_THROW(ops::argmax(x, 5), ValueError);
  EXPECT_THROW(ops::topk(x, 4), ValueError);
  EXPECT_THROW(ops::topk(x, -1), ValueError);
  EXPECT_THROW(ops::norm(x, 3), ValueError);
  EXPECT_THROW(ops::cumsum(x, 2), ValueError);
  EXPECT_THROW(bind(find_op("mean"), {}, {vec({1}, DType::kInt32)}), Error);
  EXPECT_THROW(ops::sum(Tensor()), ValueError);
}

}  // namespace
}  // namespace sindri::reduce_test
