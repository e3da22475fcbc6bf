// Uses of Parameters: operands as they entered the op, gradients of outputs, the path from Parameter to op, order, second passes, both modes. The expected
// values are computed by loops over doubles.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <utility>

#include "sindri/amp/amp.h"
#include "sindri/autograd/grad.h"
#include "sindri/graph/compile.h"
#include "sindri/nn/recompute.h"
#include "sindri/ops/conv.h"
#include "sindri/ops/elementwise.h"
#include "sindri/ops/matmul.h"
#include "sindri/ops/norm.h"
#include "sindri/ops/reduce.h"
#include "sindri/ops/shape.h"

namespace sindri {
namespace {

using ::testing::ElementsAre;
using ::testing::ElementsAreArray;
using ::testing::IsEmpty;
using Numbers = std::vector<double>;

constexpr DType kF64 = DType::kFloat64;
constexpr double kTolerance = 1e-12;

Numbers numbers(int64_t n, int seed) {
  Numbers v;
  for (int64_t i = 0; i < n; ++i) v.push_back(std::sin(static_cast<double>(i * 7 + seed * 13 + 1)));
  return v;
}
Tensor tensor(const Shape& shape, int seed, DType dtype = kF64) { return Tensor::from_values(shape, numbers(shape.numel(), seed), dtype); }

void expect_near(const Tensor& got, const Numbers& want) {
  ASSERT_TRUE(got.defined());
  const Numbers v = got.to_vector<double>();
  ASSERT_EQ(v.size(), want.size());
  for (size_t i = 0; i < v.size(); ++i) EXPECT_NEAR(v[i], want[i], kTolerance) << "element " << i;
}

// [n, k] x [k, m]; b is [m, k] if transposed.
Numbers product(const Numbers& a, const Numbers& b, int64_t n, int64_t k, int64_t m, bool transposed) {
  Numbers c(static_cast<size_t>(n * m), 0);
  for (int64_t i = 0; i < n; ++i)
    for (int64_t j = 0; j < m; ++j)
      for (int64_t l = 0; l < k; ++l)
        c[static_cast<size_t>(i * m + j)] += a[static_cast<size_t>(i * k + l)] * b[static_cast<size_t>(transposed ? j * k + l : l * m + j)];
  return c;
}

std::vector<std::string> names(const std::vector<ParamUse>& uses) {
  std::vector<std::string> out;
  for (const ParamUse& u : uses)
    out.push_back(u.param->name() + (u.op != nullptr ? std::string(" ") + u.op->name : " custom") + " " + std::to_string(u.operand));
  return out;
}
std::vector<std::string> path_of(const ParamUse& use) {
  std::vector<std::string> out;
  for (const Rearrangement& r : use.path) out.emplace_back(r.op->name);
  return out;
}

/// Gradients of sum(f()·seed) with uses.
Gradients gradients(const TensorFn& f, const std::vector<Parameter*>& params, const Tensor& seed, bool uses = true) {
  return value_and_grad(f, {}, {}, params, {seed}, {.uses = uses}).second;
}

// y = tanh(x Wᵀ + b) Vᵀ
struct Mlp {
  Parameter w{tensor({4, 3}, 1), "w"}, b{tensor({4}, 2), "b"}, v{tensor({2, 4}, 3), "v"};
  Tensor x = tensor({5, 3}, 4), seed = tensor({5, 2}, 5);
  std::vector<Parameter*> params{&w, &b, &v};
  Tensor hidden() { return ops::tanh(ops::add(ops::matmul(x, w.value(), false, true), b.value())); }
  TensorList run() { return {ops::matmul(hidden(), v.value(), false, true)}; }

  Numbers hidden_numbers() const {
    Numbers h = product(x.to_vector<double>(), w.stored().to_vector<double>(), 5, 3, 4, true);
    const Numbers bias = b.stored().to_vector<double>();
    for (size_t i = 0; i < h.size(); ++i) h[i] = std::tanh(h[i] + bias[i % 4]);
    return h;
  }
  Numbers pre_activation_grad() const {
    Numbers g = product(seed.to_vector<double>(), v.stored().to_vector<double>(), 5, 2, 4, false);
    const Numbers h = hidden_numbers();
    for (size_t i = 0; i < g.size(); ++i) g[i] *= 1 - h[i] * h[i];
    return g;
  }
};

void check_mlp(const Mlp& m, const std::vector<ParamUse>& uses) {
  ASSERT_THAT(names(uses), ElementsAre("w matmul 1", "b add 1", "v matmul 1"));
  expect_near(uses[0].input(), m.x.to_vector<double>());
  expect_near(uses[0].output_grad, m.pre_activation_grad());
  EXPECT_FALSE(uses[1].input().defined()) << "a bias has no other operand";
  expect_near(uses[1].output_grad, m.pre_activation_grad());
  expect_near(uses[2].input(), m.hidden_numbers());
  expect_near(uses[2].output_grad, m.seed.to_vector<double>());
}

TEST(ParamUses, DenseLayersAndTheirBias) {
  Mlp m;
  const std::vector<ParamUse> uses = gradients([&](Span<const Tensor>) { return m.run(); }, m.params, m.seed).uses;
  check_mlp(m, uses);
  expect_near(uses[1].operands[0], product(m.x.to_vector<double>(), m.w.stored().to_vector<double>(), 5, 3, 4, true));
  expect_near(uses[0].operands[1], m.w.stored().to_vector<double>());
  EXPECT_THAT(uses[0].path, IsEmpty());
}

TEST(ParamUses, AreOfTheRequestedParametersOnly) {
  Mlp m;
  std::vector<Parameter*> one{&m.v};
  EXPECT_THAT(names(gradients([&](Span<const Tensor>) { return m.run(); }, one, m.seed).uses), ElementsAre("v matmul 1"));
  // An op that no gradient passes through is not a use.
  const TensorFn blocked = [&](Span<const Tensor>) -> TensorList { return {ops::matmul(ops::stop_gradient(m.hidden()), m.v.value(), false, true)}; };
  EXPECT_THAT(names(gradients(blocked, m.params, m.seed).uses), ElementsAre("v matmul 1"));
}

TEST(ParamUses, AreKeptOnRequestOnlyAndChangeNoBit) {
  Mlp m;
  const TensorFn f = [&](Span<const Tensor>) { return m.run(); };
  const Gradients with = gradients(f, m.params, m.seed), without = gradients(f, m.params, m.seed, false);
  EXPECT_THAT(without.uses, IsEmpty());
  for (size_t i = 0; i < m.params.size(); ++i) EXPECT_EQ(with.of_params[i].to_vector<double>(), without.of_params[i].to_vector<double>());
}

TEST(ParamUses, InsideACompiledFunction) {
  Mlp m;
  CompiledFn f(
      [&](Span<const Tensor>, int) {
        const std::vector<ParamUse> uses = gradients([&](Span<const Tensor>) { return m.run(); }, m.params, m.seed).uses;
        EXPECT_THAT(names(uses), ElementsAre("w matmul 1", "b add 1", "v matmul 1"));
        return TensorList{uses[0].input(), uses[0].output_grad, uses[1].output_grad, uses[2].input()};
      },
      {});
  const TensorList out = f({}, 0);
  expect_near(out[0], m.x.to_vector<double>());
  expect_near(out[1], m.pre_activation_grad());
  expect_near(out[2], m.pre_activation_grad());
  expect_near(out[3], m.hidden_numbers());
}

TEST(ParamUses, ThatNobodyReadsCostAGraphNothing) {
  Mlp m;
  const auto nodes = [&](bool uses) {
    CompiledFn f([&](Span<const Tensor>, int) { return gradients([&](Span<const Tensor>) { return m.run(); }, m.params, m.seed, uses).of_params; }, {});
    f({}, 0);
    return f.graph_text();
  };
  EXPECT_EQ(nodes(true), nodes(false));
}

TEST(ParamUses, OfARecomputedFunctionAreThoseOfItsSecondPass) {
  Mlp m;
  int passes = 0;
  Tensor second;
  const TensorFn inner = [&](Span<const Tensor> in) -> TensorList {
    ++passes;
    second = ops::add(ops::matmul(in[0], m.w.value(), false, true), m.b.value());
    return {ops::tanh(second)};
  };
  const TensorFn f = [&](Span<const Tensor>) -> TensorList {
    const Tensor h = nn::recompute_function(inner, {&m.x, 1}, {&m.w, &m.b}, "hidden")[0];
    return {ops::matmul(h, m.v.value(), false, true)};
  };
  const std::vector<ParamUse> uses = gradients(f, m.params, m.seed).uses;
  EXPECT_EQ(passes, 2);
  check_mlp(m, uses);
  // Uses inside a recomputed function take the call's place, in the inner order. Also nested, and only for the requested parameters.
  const TensorFn nested = [&](Span<const Tensor>) -> TensorList {
    const TensorFn outer = [&](Span<const Tensor> in) -> TensorList { return nn::recompute_function(inner, in, {&m.w, &m.b}, "inner"); };
    const Tensor h = nn::recompute_function(outer, {&m.x, 1}, {}, "outer")[0];
    return {ops::matmul(h, m.v.value(), false, true)};
  };
  check_mlp(m, gradients(nested, m.params, m.seed).uses);
  std::vector<Parameter*> one{&m.b};
  EXPECT_THAT(names(gradients(nested, one, m.seed).uses), ElementsAre("b add 1"));
}

// The second pass gives frozen parameters no gradient, so they have no uses.
TEST(ParamUses, OfAFrozenParameterInARecomputedFunctionAreNone) {
  Parameter v(tensor({3, 3}, 1), "v"), frozen(tensor({4, 3}, 2), "frozen", false);
  std::vector<Parameter*> params{&v, &frozen};
  const Tensor x = tensor({5, 3}, 3);
  const TensorFn f = [&](Span<const Tensor>) -> TensorList {
    const Tensor h = ops::matmul(x, v.value());
    return nn::recompute_function([&](Span<const Tensor> in) -> TensorList { return {ops::matmul(in[0], frozen.value(), false, true)}; }, {&h, 1}, {&frozen},
                                  "f");
  };
  const Gradients g = gradients(f, params, tensor({5, 4}, 4));
  EXPECT_THAT(names(g.uses), ElementsAre("v matmul 1"));
  expect_near(g.of_params[1], Numbers(12, 0));
}

// The Parameter enters the function as an argument, after a cast and a transpose.
TEST(ParamUses, OfAParameterGivenToARecomputedFunction) {
  Parameter w(tensor({4, 3}, 1, DType::kFloat32), "w");
  std::vector<Parameter*> params{&w};
  const Tensor x = tensor({5, 3}, 2);
  const TensorFn f = [&](Span<const Tensor>) -> TensorList {
    const Tensor turned = ops::transpose(ops::cast(w.value(), kF64), {1, 0});
    return nn::recompute_function([&](Span<const Tensor> in) -> TensorList { return {ops::matmul(x, in[0])}; }, {&turned, 1}, {}, "f");
  };
  const std::vector<ParamUse> uses = gradients(f, params, tensor({5, 4}, 3)).uses;
  ASSERT_THAT(names(uses), ElementsAre("w matmul 1"));
  EXPECT_THAT(path_of(uses[0]), ElementsAre("cast", "transpose"));
  expect_near(uses[0].input(), x.to_vector<double>());
}

TEST(ParamUses, GradientsThatNobodyAsksForAreNotComputedAgain) {
  Mlp m;
  std::vector<Parameter*> one{&m.w};
  int calls = 0;
  const TensorFn counted = [&](Span<const Tensor> in) -> TensorList {
    const Tensor same = custom_gradient([](Span<const Tensor> t) { return TensorList{t[0] * 1.0}; }, {&in[1], 1},
                                        [&](Span<const Tensor>, Span<const Tensor>, Span<const Tensor> dout) {
                                          ++calls;
                                          return TensorList{dout[0]};
                                        })[0];
    return {ops::matmul(in[0] + same, m.w.value(), false, true)};
  };
  const TensorList in{m.x, m.x * 2.0};
  const TensorFn f = [&](Span<const Tensor>) { return nn::recompute_function(counted, in, {&m.w}, "f"); };
  gradients(f, one, tensor({5, 4}, 9));
  EXPECT_EQ(calls, 0) << "the inputs' gradients are not requested";
}

TEST(ParamUses, OfSharedWeightsComeInTheOrderOfTheOps) {
  // An embedding table that is also the output's weight, and a square layer that runs twice.
  Parameter table(tensor({6, 3}, 1), "table"), w(tensor({3, 3}, 2), "w");
  std::vector<Parameter*> params{&w, &table};
  const Tensor ids = Tensor::from_values({4}, {5, 0, 2, 5}, DType::kInt32), seed = tensor({4, 6}, 3);
  Tensor rows, once, twice;
  const TensorFn f = [&](Span<const Tensor>) -> TensorList {
    rows = ops::embedding(table.value(), ids);
    once = ops::tanh(ops::matmul(rows, w.value(), false, true));
    twice = ops::tanh(ops::matmul(once, w.value(), false, true));
    return {ops::matmul(twice, table.value(), false, true)};
  };
  const Gradients g = gradients(f, params, seed);
  ASSERT_THAT(names(g.uses), ElementsAre("table embedding 0", "w matmul 1", "w matmul 1", "table matmul 1"));
  const Numbers e = table.stored().to_vector<double>(), wn = w.stored().to_vector<double>(), r = seed.to_vector<double>();
  const auto through_tanh = [](Numbers dy, const Numbers& y) {
    for (size_t i = 0; i < y.size(); ++i) dy[i] *= 1 - y[i] * y[i];
    return dy;
  };
  const Numbers g2 = through_tanh(product(r, e, 4, 6, 3, false), twice.to_vector<double>());
  const Numbers g1 = through_tanh(product(g2, wn, 4, 3, 3, false), once.to_vector<double>());
  EXPECT_THAT(g.uses[0].input().to_vector<int32_t>(), ElementsAre(5, 0, 2, 5));
  expect_near(g.uses[0].output_grad, product(g1, wn, 4, 3, 3, false));
  expect_near(g.uses[1].input(), rows.to_vector<double>());
  expect_near(g.uses[1].output_grad, g1);
  expect_near(g.uses[2].input(), once.to_vector<double>());
  expect_near(g.uses[2].output_grad, g2);
  expect_near(g.uses[3].input(), twice.to_vector<double>());
  expect_near(g.uses[3].output_grad, r);
  // gᵀa over the uses is the gradient.
  Numbers dw(9, 0);
  for (const auto& [grad, input] : {std::pair(g1, rows), std::pair(g2, once)}) {
    const Numbers a = input.to_vector<double>();
    for (size_t n = 0; n < 4; ++n)
      for (size_t o = 0; o < 3; ++o)
        for (size_t i = 0; i < 3; ++i) dw[o * 3 + i] += grad[n * 3 + o] * a[n * 3 + i];
  }
  expect_near(g.of_params[0], dw);
}

TEST(ParamUses, OneParameterAsBothOperandsIsTwoUses) {
  Parameter w(tensor({3, 3}, 1), "w");
  std::vector<Parameter*> params{&w};
  const TensorFn f = [&](Span<const Tensor>) -> TensorList { return {ops::matmul(w.value(), w.value(), false, true)}; };
  EXPECT_THAT(names(gradients(f, params, tensor({3, 3}, 2)).uses), ElementsAre("w matmul 0", "w matmul 1"));
}

TEST(ParamUses, FindTheParameterBehindRearrangingOps) {
  Parameter w(tensor({2, 6}, 1, DType::kFloat32), "w"), b(tensor({3}, 2), "b");
  std::vector<Parameter*> params{&w, &b};
  const Tensor x = tensor({5, 4}, 3);
  const TensorFn f = [&](Span<const Tensor>) -> TensorList {
    const Tensor weight = ops::transpose(ops::reshape(ops::cast(w.value(), kF64), {3, 4}), {1, 0});
    return {ops::add(ops::matmul(x, weight), ops::broadcast_to(b.value(), {5, 3}))};
  };
  const std::vector<ParamUse> uses = gradients(f, params, tensor({5, 3}, 4)).uses;
  ASSERT_THAT(names(uses), ElementsAre("w matmul 1", "b add 1"));
  EXPECT_THAT(path_of(uses[0]), ElementsAre("cast", "reshape", "transpose"));
  EXPECT_EQ(uses[0].path[1].attrs.text(), "{shape=[3, 4]}");
  EXPECT_EQ(uses[0].operands[1].shape(), Shape({4, 3}));
  expect_near(uses[0].input(), x.to_vector<double>());
  EXPECT_THAT(path_of(uses[1]), ElementsAre("broadcast_to"));
  expect_near(uses[1].output_grad, numbers(15, 4));
  // An op that computes with the parameter is a use; ops on its result are not.
  std::vector<Parameter*> one{&w};
  const TensorFn scaled = [&](Span<const Tensor>) -> TensorList { return {ops::matmul(tensor({5, 6}, 6, DType::kFloat32), w.value() * 2.0, false, true)}; };
  EXPECT_THAT(names(gradients(scaled, one, tensor({5, 2}, 4, DType::kFloat32)).uses), ElementsAre("w mul 0"));
}

TEST(ParamUses, OfAConvolutionSayItsGeometry) {
  const ops::Conv2dAttrs attrs{.stride = {2, 1}, .pad = {1, 0, 2, 1}, .dilation = {1, 2}, .groups = 2};
  Parameter w(tensor({4, 2, 3, 2}, 1), "w"), b(tensor({4}, 2), "b");
  std::vector<Parameter*> params{&w, &b};
  const Tensor x = tensor({2, 4, 6, 5}, 3);
  Tensor y;
  const TensorFn f = [&](Span<const Tensor>) -> TensorList {
    y = ops::add(ops::conv2d(x, w.value(), attrs), ops::reshape(b.value(), {1, 4, 1, 1}));
    return {ops::square(y)};
  };
  Gradients g = gradients(f, params, Tensor());
  ASSERT_THAT(names(g.uses), ElementsAre("w conv2d 1", "b add 1"));
  EXPECT_EQ(g.uses[0].attrs.as<ops::Conv2dAttrs>(), attrs);
  EXPECT_THAT(path_of(g.uses[1]), ElementsAre("reshape"));
  EXPECT_EQ(g.uses[0].output_grad.shape(), y.shape());
  expect_near(g.uses[0].input(), x.to_vector<double>());
  Numbers dy = y.to_vector<double>();
  for (double& v : dy) v *= 2;
  expect_near(g.uses[0].output_grad, dy);
  expect_near(g.uses[1].output_grad, dy);
}

TEST(ParamUses, OfNormsMeetTheNormalisedInput) {
  Parameter gamma(tensor({4}, 1), "gamma"), beta(tensor({4}, 2), "beta");
  std::vector<Parameter*> params{&gamma, &beta};
  const Tensor x = tensor({3, 4}, 3), seed = tensor({3, 4}, 4);
  const Numbers v = x.to_vector<double>();
  const auto normalised = [&](bool rows, double eps) {
    Numbers out(12);
    for (size_t k = 0; k < (rows ? 3U : 4U); ++k) {
      const size_t n = rows ? 4 : 3;
      const auto at = [&](size_t i) { return rows ? k * 4 + i : i * 4 + k; };
      double mean = 0, var = 0;
      for (size_t i = 0; i < n; ++i) mean += v[at(i)] / static_cast<double>(n);
      for (size_t i = 0; i < n; ++i) var += (v[at(i)] - mean) * (v[at(i)] - mean) / static_cast<double>(n);
      for (size_t i = 0; i < n; ++i) out[at(i)] = (v[at(i)] - mean) / std::sqrt(var + eps);
    }
    return out;
  };
  const auto check = [&](const TensorFn& f, const std::string& op, const Numbers& want) {
    const std::vector<ParamUse> uses = gradients(f, params, seed).uses;
    ASSERT_THAT(names(uses), ElementsAre("gamma " + op + " 1", "beta " + op + " 2"));
    expect_near(uses[0].input(), want);
    EXPECT_FALSE(uses[1].input().defined());
    for (const ParamUse& u : uses) expect_near(u.output_grad, seed.to_vector<double>());
  };
  check([&](Span<const Tensor>) { return TensorList{ops::layer_norm(x, gamma.value(), beta.value(), -1, 1e-3)}; }, "layer_norm", normalised(true, 1e-3));
  check([&](Span<const Tensor>) { return TensorList{ops::batch_norm_train(x, gamma.value(), beta.value(), 1e-3).y}; }, "batch_norm_train",
        normalised(false, 1e-3));
  const Tensor mean = tensor({4}, 6), var = ops::square(tensor({4}, 7));
  Numbers given = v;
  for (size_t i = 0; i < given.size(); ++i) given[i] = (v[i] - mean.to_vector<double>()[i % 4]) / std::sqrt(var.to_vector<double>()[i % 4] + 1e-3);
  check([&](Span<const Tensor>) { return TensorList{ops::batch_norm_infer(x, gamma.value(), beta.value(), mean, var, 1e-3)}; }, "batch_norm_infer", given);
}

// Under mixed precision a use has the op's actual operands: both factors rounded, the gradient in the half type.
TEST(ParamUses, HoldTheValuesThatMixedPrecisionCast) {
  for (const amp::Level level : {amp::Level::kO1, amp::Level::kO2, amp::Level::kO3}) {
    Parameter w(tensor({4, 3}, 1, DType::kFloat32), "w"), gamma(tensor({4}, 2, DType::kFloat32), "gamma"), beta(tensor({4}, 3, DType::kFloat32), "beta");
    std::vector<Parameter*> params{&w, &gamma};
    const Tensor x = tensor({5, 3}, 4, DType::kFloat32);
    Tensor norm_input;
    const TensorFn f = [&](Span<const Tensor>) -> TensorList {
      const amp::AmpScope scope({.level = level});
      norm_input = ops::matmul(x, w.value(), false, true);
      return {amp::cast_floating(ops::batch_norm_train(norm_input, gamma.value(), beta.value()).y, DType::kFloat32)};
    };
    const std::vector<ParamUse> uses = gradients(f, params, tensor({5, 4}, 5, DType::kFloat32)).uses;
    ASSERT_THAT(names(uses), ElementsAre("w matmul 1", "gamma batch_norm_train 1"));
    EXPECT_THAT(path_of(uses[0]), ElementsAre("cast"));
    const auto rounded = [](const Tensor& t) { return ops::cast(t, DType::kBFloat16).to_vector<float>(); };
    for (const Tensor& t : {uses[0].input(), uses[0].operands[1], uses[0].output_grad}) EXPECT_EQ(t.dtype(), DType::kBFloat16) << amp::level_name(level);
    EXPECT_EQ(uses[0].input().to_vector<float>(), rounded(x));
    EXPECT_EQ(uses[0].operands[1].to_vector<float>(), rounded(w.stored()));
    EXPECT_EQ(uses[0].unscaled_output_grad().dtype(), DType::kFloat32);
    // Batch norm's parameters: float32 except at O3.
    EXPECT_EQ(uses[1].operands[1].dtype(), level == amp::Level::kO3 ? DType::kBFloat16 : DType::kFloat32);
    EXPECT_EQ(uses[1].operands[0].to_vector<float>(), norm_input.to_vector<float>());
    EXPECT_EQ(uses[1].input().dtype(), DType::kFloat32) << "normalised in the type that the rule computes in";
  }
}

TEST(ParamUses, OfASecondPassAreCastAsTheFirstWas) {
  Parameter w(tensor({4, 3}, 1, DType::kFloat32), "w");
  std::vector<Parameter*> params{&w};
  const Tensor x = tensor({5, 3}, 2, DType::kFloat32);
  const TensorFn inner = [&](Span<const Tensor> in) -> TensorList { return {ops::matmul(in[0], w.value(), false, true)}; };
  const auto uses_of = [&](bool again) {
    const TensorFn f = [&, again](Span<const Tensor>) -> TensorList {
      const amp::AmpScope scope({.level = amp::Level::kO2});
      const Tensor y = again ? nn::recompute_function(inner, {&x, 1}, {&w}, "f")[0] : inner({&x, 1})[0];
      return {amp::cast_floating(y, DType::kFloat32)};
    };
    return gradients(f, params, tensor({5, 4}, 3, DType::kFloat32)).uses;
  };
  const std::vector<ParamUse> once = uses_of(false), twice = uses_of(true);
  ASSERT_THAT(names(twice), ElementsAre("w matmul 1"));
  EXPECT_THAT(path_of(twice[0]), ElementsAre("cast"));
  EXPECT_EQ(twice[0].input().dtype(), DType::kBFloat16);
  EXPECT_EQ(twice[0].input().to_vector<float>(), once[0].input().to_vector<float>());
  EXPECT_EQ(twice[0].operands[1].to_vector<float>(), once[0].operands[1].to_vector<float>());
  EXPECT_EQ(twice[0].output_grad.to_vector<float>(), once[0].output_grad.to_vector<float>());
}

TEST(ParamUses, AreScaledAsTheySay) {
  Mlp m;
  const TensorFn f = [&](Span<const Tensor>) { return m.run(); };
  const double scale = 1000;  // not a power of two
  std::vector<ParamUse> uses = gradients(f, m.params, m.seed * scale).uses;
  for (ParamUse& u : uses) u.loss_scale = Tensor::scalar(scale, DType::kFloat32);
  for (const ParamUse& u : uses) {
    const Numbers plain = u.unscaled_output_grad().to_vector<double>(), scaled = u.output_grad.to_vector<double>();
    for (size_t i = 0; i < plain.size(); ++i) EXPECT_NEAR(plain[i] * scale, scaled[i], kTolerance * scale);
  }
  expect_near(uses[0].unscaled_output_grad(), m.pre_activation_grad());
}

TEST(ParamUses, AFunctionWithItsOwnRuleIsAUseWithoutOp) {
  Parameter w(tensor({3}, 1), "w");
  std::vector<Parameter*> params{&w};
  const Tensor x = tensor({3}, 2);
  const TensorFn f = [&](Span<const Tensor>) {
    const TensorList in{x, ops::reshape(w.value(), {1, 3})};
    return custom_gradient([](Span<const Tensor> t) { return TensorList{t[0] * t[1]}; }, in,
                           [](Span<const Tensor> t, Span<const Tensor>, Span<const Tensor> d) {
                             return TensorList{Tensor(), d[0] * t[0]};
                           });
  };
  const std::vector<ParamUse> uses = gradients(f, params, tensor({1, 3}, 3)).uses;
  ASSERT_THAT(names(uses), ElementsAre("w custom 1"));
  EXPECT_THAT(path_of(uses[0]), ElementsAre("reshape"));
  expect_near(uses[0].operands[0], x.to_vector<double>());
  expect_near(uses[0].output_grad, numbers(3, 3));
  EXPECT_FALSE(uses[0].input().defined());
}

// A value passed on as a separate leaf (an argument that is differentiated inside) is still the Parameter.
TEST(ParamUses, PassThroughLeavesOfInnerGradients) {
  Parameter w(tensor({3, 3}, 1), "w");
  std::vector<Parameter*> params{&w};
  const Tensor x = tensor({2, 3}, 2);
  const TensorFn f = [&](Span<const Tensor>) -> TensorList {
    const Tensor own = fresh_leaf(w.value());
    return {ops::matmul(x, own, false, true)};
  };
  EXPECT_THAT(names(gradients(f, params, tensor({2, 3}, 3)).uses), ElementsAre("w matmul 1"));
}

}  // namespace
}  // namespace sindri
