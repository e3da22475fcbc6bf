// Elementwise ops beyond the common suite: special values, integer corner cases, type rules, ties, second derivatives, bad arguments.
#include "sindri/ops/elementwise.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "sindri/autograd/grad.h"
#include "sindri/core/context.h"
#include "sindri/core/error.h"
#include "sindri/op/kernel.h"
#include "sindri/ops/reduce.h"

namespace sindri {
namespace {

using Values = std::vector<double>;
constexpr double kInf = std::numeric_limits<double>::infinity(), kNan = std::numeric_limits<double>::quiet_NaN();

// Runs f with every kernel of the elementwise ops.
template <class F> void with_each_kernel(F&& f) {
  for (const char* name : {"simd", "reference"}) {
    SCOPED_TRACE(name);
    const ForceKernel force(name);
    f();
  }
}

// Equal, where NaN equals NaN and the signs of zeros differ.
void expect_values(const Tensor& t, const Values& expected) {
  const Values got = t.to_vector<double>();
  ASSERT_EQ(got.size(), expected.size());
  for (size_t i = 0; i < got.size(); ++i) {
    if (std::isnan(expected[i])) EXPECT_TRUE(std::isnan(got[i])) << "element " << i << " is " << got[i];
    else
      EXPECT_TRUE(got[i] == expected[i] && std::signbit(got[i]) == std::signbit(expected[i]))
          << "element " << i << ": " << got[i] << ", expected " << expected[i];
  }
}
Tensor vec(const Values& v, DType t = DType::kFloat32) { return Tensor::from_values({static_cast<int64_t>(v.size())}, v, t); }

TEST(Elementwise, SpecialValuesOfUnaryOps) {
  const Values special = {kNan, kInf, -kInf, 0.0, -0.0};
  with_each_kernel([&] {
    for (DType t : {DType::kFloat32, DType::kFloat64, DType::kBFloat16, DType::kFloat16}) {
      SCOPED_TRACE(dtype_name(t));
      const Tensor x = vec(special, t);
      expect_values(ops::neg(x), {kNan, -kInf, kInf, -0.0, 0.0});
      expect_values(ops::abs(x), {kNan, kInf, kInf, 0.0, 0.0});
      expect_values(ops::exp(x), {kNan, kInf, 0, 1, 1});
      expect_values(ops::expm1(x), {kNan, kInf, -1, 0.0, -0.0});
      expect_values(ops::log(x), {kNan, kInf, kNan, -kInf, -kInf});
      expect_values(ops::log1p(x), {kNan, kInf, kNan, 0.0, -0.0});
      expect_values(ops::sqrt(x), {kNan, kInf, kNan, 0.0, -0.0});
      expect_values(ops::reciprocal(x), {kNan, 0.0, -0.0, kInf, -kInf});
      expect_values(ops::tanh(x), {kNan, 1, -1, 0.0, -0.0});
      expect_values(ops::erf(x), {kNan, 1, -1, 0.0, -0.0});
      expect_values(ops::sigmoid(x), {kNan, 1, 0, 0.5, 0.5});
      expect_values(ops::relu(x), {kNan, kInf, 0, 0.0, -0.0});
      expect_values(ops::relu6(x), {kNan, 6, 0, 0.0, -0.0});
      expect_values(ops::clamp(x, -1, 2), {kNan, 2, -1, 0.0, -0.0});
      expect_values(ops::sin(x), {kNan, kNan, kNan, 0.0, -0.0});
      expect_values(ops::isnan(x), {1, 0, 0, 0, 0});
      expect_values(ops::isfinite(x), {0, 0, 0, 1, 1});
      expect_values(ops::logical_not(x), {0, 0, 0, 1, 1});
      expect_values(ops::sign(x), {0, 1, -1, 0, 0});
    }
  });
}

TEST(Elementwise, ExponentialAndLogarithmAtTheEdgesOfFloat) {
  const Tensor x = vec({88.72, 88.73, -87.3, -103.0, -104.5, 200, -200});
  const std::vector<float> y = ops::exp(x).to_vector<float>();
  for (size_t i = 0; i < y.size(); ++i) {
    const float e = std::exp(x.to_vector<float>()[i]);
    if (std::isinf(e) || e == 0) EXPECT_EQ(y[i], e) << i;
    else EXPECT_NEAR(y[i] / e, 1, e < 1e-37F ? 0.5 : 5e-7) << i;  // a subnormal has few significant bits
  }
  const Tensor tiny = vec({1e-45, 1e-40, 1.17549435e-38, 3.4e38});
  const std::vector<float> l = ops::log(tiny).to_vector<float>(), v = tiny.to_vector<float>();
  for (size_t i = 0; i < l.size(); ++i) EXPECT_NEAR(l[i], std::log(v[i]), 2e-5) << v[i];
}

TEST(Elementwise, FloatFunctionsStayWithinThreeUnitsInTheLastPlace) {
  struct Function {
    const char* name;
    Tensor (*op)(const Tensor&);
    double (*exact)(double);
    double lo, hi;
  };
  const Function functions[] = {
      {"exp", ops::exp, std::exp, -80, 80},
      {"expm1", ops::expm1, std::expm1, -3, 3},
      {"log", ops::log, std::log, 1e-3, 50},
      {"log1p", ops::log1p, std::log1p, -0.9, 50},
      {"tanh", ops::tanh, std::tanh, -10, 10},
      {"erf", ops::erf, std::erf, -5, 5},
      {"sin", ops::sin, std::sin, -10, 10},
      {"sqrt", ops::sqrt, std::sqrt, 0, 50},
      {"sigmoid", ops::sigmoid, [](double v) { return 1 / (1 + std::exp(-v)); }, -80, 80},
  };
  for (const Function& f : functions) {
    std::vector<float> x(10007);
    for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(f.lo + (f.hi - f.lo) * static_cast<double>(i) / 10006.0);
    const std::vector<float> y = f.op(Tensor::from_vector<float>({10007}, x)).to_vector<float>();
    double worst = 0;
    for (size_t i = 0; i < x.size(); ++i) {
      const double e = f.exact(static_cast<double>(x[i]));
      if (std::fabs(e) > 1e-30) worst = std::max(worst, std::fabs(static_cast<double>(y[i]) - e) / std::ldexp(1.0, std::ilogb(e) - 23));
    }
    EXPECT_LE(worst, 3.0) << f.name;
  }
}

TEST(Elementwise, NanWinsInMaximumAndMinimum) {
  with_each_kernel([] {
    const Tensor a = vec({kNan, 1, kInf, -kInf}), b = vec({1, kNan, 2, 2});
    expect_values(ops::maximum(a, b), {kNan, kNan, kInf, 2});
    expect_values(ops::minimum(a, b), {kNan, kNan, 2, -kInf});
    expect_values(ops::equal(a, a), {0, 1, 1, 1});
    expect_values(ops::not_equal(a, a), {1, 0, 0, 0});
    expect_values(ops::less(a, b), {0, 0, 0, 1});
  });
}

TEST(Elementwise, TiesShareTheGradient) {
  const Tensor a = vec({1, 2, 3}), b = vec({1, 5, 0});
  const auto f = [](Span<const Tensor> in) { return TensorList{ops::maximum(in[0], in[1])}; };
  const TensorList g = grad(f)(TensorList{a, b});
  expect_values(g[0], {0.5, 0, 1});
  expect_values(g[1], {0.5, 1, 0});
}

TEST(Elementwise, GradientsAtKinks) {
  const auto slope = [](auto f, const Values& at) { return grad([&](Span<const Tensor> in) { return TensorList{f(in[0])}; })(TensorList{vec(at)})[0]; };
  expect_values(slope(ops::relu, {-1, 0, 2}), {0, 0, 1});
  expect_values(slope(ops::relu6, {0, 3, 6, 7}), {0, 1, 0, 0});
  expect_values(slope(ops::abs, {0, -2}), {0, -1});
  expect_values(slope([](const Tensor& x) { return ops::clamp(x, -1, 1); }, {-1, 1, 2}), {1, 1, 0});
  expect_values(slope([](const Tensor& x) { return ops::pow(x, 0.0); }, {0, 2}), {0, 0});
}

TEST(Elementwise, IntegersNeverTrap) {
  with_each_kernel([] {
    const double lowest32 = -2147483648.0;
    const Tensor a = vec({7, -7, 7, -7, lowest32, 5}, DType::kInt32), b = vec({2, 2, -2, -2, -1, 0}, DType::kInt32);
    expect_values(ops::floor_div(a, b), {3, -4, -4, 3, lowest32, 0});
    expect_values(ops::mod(a, b), {1, 1, -1, -1, 0, 0});
    expect_values(ops::pow(vec({2, -1, 0, 3}, DType::kInt32), vec({10, -3, -1, 0}, DType::kInt32)), {1024, -1, 0, 1});
    expect_values(ops::abs(vec({lowest32}, DType::kInt32)), {lowest32});
    const Tensor most = Tensor::from_vector<int64_t>({1}, {INT64_MAX}), least = Tensor::from_vector<int64_t>({1}, {INT64_MIN}),
                 one = Tensor::from_vector<int64_t>({1}, {1});
    EXPECT_EQ(ops::add(most, one).to_vector<int64_t>()[0], INT64_MIN);
    EXPECT_EQ(ops::floor_div(least, ops::neg(one)).to_vector<int64_t>()[0], INT64_MIN);
    expect_values(ops::sub(vec({1}, DType::kUInt8), vec({2}, DType::kUInt8)), {255});
  });
}

TEST(Elementwise, FloatRemainderFollowsPython) {
  with_each_kernel([] {
    const Tensor a = vec({5.5, -5.5, 5.5, -5.5, 1, 0}), b = vec({2, 2, -2, -2, 0, 0});
    expect_values(ops::mod(a, b), {1.5, 0.5, -0.5, -1.5, kNan, kNan});
    expect_values(ops::floor_div(a, b), {2, -3, -3, 2, kInf, kNan});
  });
}

TEST(Elementwise, CastOfSpecialValuesIsDefined) {
  with_each_kernel([] {
    const Tensor x = vec({kNan, kInf, -kInf, 2.9, -2.9});
    EXPECT_EQ(ops::cast(x, DType::kInt64).to_vector<int64_t>(), (std::vector<int64_t>{INT64_MIN, INT64_MIN, INT64_MIN, 2, -2}));  // as NumPy on x86-64
    expect_values(ops::cast(x, DType::kBool), {1, 1, 1, 1, 1});
    expect_values(ops::cast(vec({0, -0.0, 1e-30}), DType::kBool), {0, 0, 1});
    expect_values(ops::cast(vec({1e6, 65519, 65520, 1e-8, 3e-8}), DType::kFloat16), {kInf, 65504, kInf, 0, 5.9604644775390625e-08});
    expect_values(ops::cast(vec({1.00390625, 1.01171875, kNan}), DType::kBFloat16), {1, 1.015625, kNan});  // ties to even
    expect_values(ops::cast(vec({3, 0, -1}, DType::kInt32), DType::kBool), {1, 0, 1});
  });
}

TEST(Elementwise, TypesOfResults) {
  const Tensor f = vec({1}), h = vec({1}, DType::kFloat16), b = vec({1}, DType::kBFloat16), i = vec({2}, DType::kInt32), l = vec({3}, DType::kInt64),
               flag = vec({1}, DType::kBool);
  EXPECT_EQ((i + f).dtype(), DType::kFloat32);
  EXPECT_EQ((h + b).dtype(), DType::kFloat32);
  EXPECT_EQ((i + l).dtype(), DType::kInt64);
  EXPECT_EQ((i + h).dtype(), DType::kFloat16);
  EXPECT_EQ((i / l).dtype(), DType::kFloat32);
  EXPECT_EQ(ops::exp(i).dtype(), DType::kFloat32);
  EXPECT_EQ(ops::relu(i).dtype(), DType::kInt32);
  EXPECT_EQ(ops::less(i, f).dtype(), DType::kBool);
  EXPECT_EQ((flag + flag).dtype(), DType::kBool);
  EXPECT_EQ((h * 2.5).dtype(), DType::kFloat16);
  EXPECT_EQ((i + 2.0).dtype(), DType::kInt32);
  EXPECT_EQ((i + 2.5).dtype(), DType::kFloat32);
  EXPECT_EQ((flag + 2.0).dtype(), DType::kInt64);
  EXPECT_EQ((2.0 / f).item(), 2.0);
  EXPECT_EQ((1.0 - f).item(), 0.0);
}

// d2/dx2 through grad of grad against known second derivatives.
TEST(Elementwise, SecondDerivatives) {
  const Tensor x = vec({-1.3, 0.4, 2.1}, DType::kFloat64);
  const auto second = [&](auto f) {
    const TensorFn first = grad([=](Span<const Tensor> in) { return TensorList{f(in[0])}; });
    return grad([=](Span<const Tensor> in) { return first(in); })(TensorList{x})[0].template to_vector<double>();
  };
  const auto difference = [&](auto f, size_t i) {
    const double h = 1e-5;
    const TensorFn first = grad([=](Span<const Tensor> in) { return TensorList{f(in[0])}; });
    return (first(TensorList{x + h})[0].template to_vector<double>()[i] - first(TensorList{x - h})[0].template to_vector<double>()[i]) / (2 * h);
  };
  const auto check = [&](const char* name, auto f) {
    const Values s = second(f);
    for (size_t i = 0; i < s.size(); ++i) EXPECT_NEAR(s[i], difference(f, i), 1e-8) << name << ", element " << i;
  };
  check("tanh", [](const Tensor& t) { return ops::tanh(t); });
  check("sigmoid", [](const Tensor& t) { return ops::sigmoid(t); });
  check("gelu", [](const Tensor& t) { return ops::gelu(t); });
  check("gelu exact", [](const Tensor& t) { return ops::gelu(t, false); });
  check("silu", [](const Tensor& t) { return ops::silu(t); });
  check("elu", [](const Tensor& t) { return ops::elu(t, 0.7); });
  check("hswish", [](const Tensor& t) { return ops::hswish(t); });
  check("square relu", [](const Tensor& t) { return ops::square(ops::relu(t)); });
}

// Sizes above the parallel threshold, with every way of reading an operand, are bitwise identical for any number of threads.
TEST(Elementwise, ThreadsDoNotChangeResults) {
  const int before = num_threads();
  std::vector<float> v(size_t{3} * 17 * 33 * 40);
  for (size_t i = 0; i < v.size(); ++i) v[i] = static_cast<float>(i % 1013) * 0.01F - 5;
  const Tensor x = Tensor::from_vector<float>({3, 17, 33, 40}, v), channel = vec(Values(17, 0.3)), row = vec(Values(40, 1.7));
  std::vector<float> first;
  for (int threads : {1, 2, 3, 4, 8}) {
    set_num_threads(threads);
    const Tensor y = ops::gelu(x) * Tensor::from_vector<float>({17, 1, 1}, channel.to_vector<float>()) + row + 0.25;
    if (threads == 1) first = y.to_vector<float>();
    EXPECT_EQ(y.to_vector<float>(), first) << threads << " threads";
  }
  set_num_threads(before);
  const ForceKernel force("reference");
  const std::vector<float> plain = (ops::gelu(x) * Tensor::from_vector<float>({17, 1, 1}, channel.to_vector<float>()) + row + 0.25).to_vector<float>();
  for (size_t i = 0; i < plain.size(); ++i) ASSERT_NEAR(first[i], plain[i], 1e-5) << i;
}

TEST(Elementwise, BadArgumentsThrowTypedErrors) {
  const Tensor f = vec({1, 2}), i = vec({1, 2}, DType::kInt32), flag = vec({0, 1}, DType::kBool);
  EXPECT_THROW(ops::add(f, vec({1, 2, 3})), ShapeError);
  EXPECT_THROW(ops::sub(flag, flag), DTypeError);
  EXPECT_THROW(ops::neg(flag), DTypeError);
  EXPECT_THROW(ops::where(i, f, f), DTypeError);
  EXPECT_THROW(ops::where(flag, f, vec({1, 2, 3})), ShapeError);
  EXPECT_THROW(ops::clamp(f, kNan, 1), ValueError);
  EXPECT_THROW(ops::exp(Tensor()), ValueError);
  EXPECT_THROW(ops::add(f, Tensor()), ValueError);
  EXPECT_THROW(vec({1}, DType::kUInt8) + 300.0, ValueError);
  EXPECT_THROW(bind(find_op("exp"), {}, {i}), DTypeError);
  EXPECT_THROW(bind(find_op("add"), {}, {f, i}), DTypeError);
  EXPECT_THROW(bind(find_op("add"), {}, {f}), ValueError);
}

}  // namespace
}  // namespace sindri
