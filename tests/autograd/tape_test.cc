// The tape: leaves, sharing, higher derivatives, custom rules, parameters.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sindri/autograd/grad.h"
#include "sindri/core/error.h"
#include "sindri/ops/elementwise.h"
#include "sindri/ops/reduce.h"
#include "sindri/ops/shape.h"

namespace sindri {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

Tensor vec(const std::vector<double>& v) { return Tensor::from_values({static_cast<int64_t>(v.size())}, v, DType::kFloat64); }

TEST(Grad, SumsOverUses) {
  const TensorFn f = [](Span<const Tensor> x) -> TensorList { return {x[0] * x[0] + 3.0 * x[0]}; };
  const Tensor x = vec({1, -2});
  EXPECT_THAT(grad(f)({&x, 1})[0].to_vector<double>(), ElementsAre(5, -1));
}

TEST(Grad, OfGradOfGrad) {
  // f = x^4: f' = 4x^3, f'' = 12x^2, f''' = 24x.
  const TensorFn f = [](Span<const Tensor> x) -> TensorList { return {ops::square(ops::square(x[0]))}; };
  const Tensor x = vec({2});
  EXPECT_THAT(grad(f)({&x, 1})[0].to_vector<double>(), ElementsAre(32));
  EXPECT_THAT(grad(grad(f))({&x, 1})[0].to_vector<double>(), ElementsAre(48));
  EXPECT_THAT(grad(grad(grad(f)))({&x, 1})[0].to_vector<double>(), ElementsAre(48));
}

// One tensor for two arguments, or for an argument and a value that f captures: each use has a separate gradient.
TEST(Grad, ArgumentsAreValuesOfTheirOwn) {
  const Tensor x = Tensor::scalar(3);
  const TensorFn f = [](Span<const Tensor> in) { return TensorList{in[0] * in[0] * in[1]}; };
  const TensorList g = grad(f)(TensorList{x, x});
  EXPECT_EQ(g[0].item(), 18);
  EXPECT_EQ(g[1].item(), 9);
  EXPECT_EQ(grad([&](Span<const Tensor> in) { return TensorList{in[0] * x}; })({&x, 1})[0].item(), 3);
  // d/dx of d/da (a a x) at a = x: 2 x, whose gradient is 2; the outer function's other use of x counts as well.
  const TensorFn nested = [&](Span<const Tensor> in) { return TensorList{grad(f, {0})(TensorList{in[0], in[0]})[0] * in[0]}; };
  EXPECT_EQ(nested({&x, 1})[0].item(), 54);  // 2 x x x
  EXPECT_EQ(grad(nested)({&x, 1})[0].item(), 54);  // 6 x x
}

TEST(Grad, StopGradientBlocks) {
  const TensorFn f = [](Span<const Tensor> x) -> TensorList { return {ops::stop_gradient(x[0]) * x[0]}; };
  const Tensor x = vec({3});
  EXPECT_THAT(grad(f)({&x, 1})[0].to_vector<double>(), ElementsAre(3));
}

TEST(Grad, OfUnusedInputIsZero) {
  const TensorFn f = [](Span<const Tensor> x) -> TensorList { return {ops::square(x[0])}; };
  const TensorList in = {vec({3}), vec({4, 5})};
  EXPECT_THAT(grad(f)(in)[1].to_vector<double>(), ElementsAre(0, 0));
}

TEST(Grad, InputsAndParametersTogether) {
  Parameter w(vec({2, 3}), "w"), unused(vec({1}), "unused");
  std::vector<Parameter*> params = {&w, &unused};
  const TensorFn f = [&](Span<const Tensor> x) -> TensorList { return {ops::sum(w.value() * x[0] * x[0])}; };
  const Tensor x = vec({5, 7});
  const auto [value, g] = value_and_grad(f, {&x, 1}, {0}, params);
  EXPECT_EQ(value[0].item(), 2 * 25 + 3 * 49);
  EXPECT_THAT(g.of_inputs[0].to_vector<double>(), ElementsAre(20, 42));
  EXPECT_THAT(g.of_params[0].to_vector<double>(), ElementsAre(25, 49));
  EXPECT_THAT(g.of_params[1].to_vector<double>(), ElementsAre(0));
}

TEST(Grad, ParameterGradientOfParameterGradient) {
  // L(w) = sum(w^3); H·1 = 6w through two tapes over the same parameter.
  Parameter w(vec({2, -1}), "w");
  Parameter* list[] = {&w};
  const TensorFn first = [&](Span<const Tensor>) -> TensorList {
    const TensorFn loss = [&](Span<const Tensor>) -> TensorList {
      const Tensor v = w.value();
      return {ops::sum(v * v * v)};
    };
    return value_and_grad(loss, {}, {}, list).second.of_params;
  };
  EXPECT_THAT(value_and_grad(first, {}, {}, list).second.of_params[0].to_vector<double>(), ElementsAre(12, -6));
}

TEST(Grad, ParametersSharingOneInitialTensorStayApart) {
  const Tensor init = vec({1, 1});
  Parameter a(init, "a"), b(init, "b");
  Parameter* list[] = {&a, &b};
  const TensorFn f = [&](Span<const Tensor>) -> TensorList { return {ops::sum(a.value() * 2.0 + b.value() * 5.0)}; };
  const Gradients g = value_and_grad(f, {}, {}, list).second;
  EXPECT_THAT(g.of_params[0].to_vector<double>(), ElementsAre(2, 2));
  EXPECT_THAT(g.of_params[1].to_vector<double>(), ElementsAre(5, 5));
}

TEST(Grad, CustomRuleReplacesTheOps) {
  const TensorFn f = [](Span<const Tensor> x) -> TensorList {
    return custom_gradient([](Span<const Tensor> y) -> TensorList { return {ops::exp(y[0])}; }, x,
                           [](Span<const Tensor>, Span<const Tensor>, Span<const Tensor> dout) -> TensorList { return {dout[0] * 10.0}; });
  };
  const Tensor x = vec({1});
  EXPECT_THAT(grad(f)({&x, 1})[0].to_vector<double>(), ElementsAre(10));
  EXPECT_THAT(grad(grad(f))({&x, 1})[0].to_vector<double>(), ElementsAre(0)) << "the rule does not depend on x";
}

TEST(Grad, NamesAnOpWithoutRule) {
  const TensorFn f = [](Span<const Tensor> x) -> TensorList {
    const OpDef& op = find_op("momentum_update");
    const Tensor one = Tensor::scalar(1, DType::kFloat64);
    return {bind(op, op.attrs.make({}), {x[0], x[0], x[0], one, one})[0]};
  };
  const Tensor x = vec({1});
  try {
    grad(f)({&x, 1});
    FAIL();
  } catch (const ValueError& e) { EXPECT_THAT(e.what(), HasSubstr("op 'momentum_update' has no gradient")); }
}

TEST(Grad, SeedOfWrongShapeIsRefused) {
  Tape tape;
  const Tensor x = vec({1, 2});
  Tensor y;
  {
    const TraceScope scope(tape);
    y = ops::square(x);
  }
  EXPECT_THROW(tape.backward({y}, {vec({1})}, {&x, 1}, {}), ShapeError);
}

TEST(Grad, DoesNotPassThroughIntegers) {
  const TensorFn f = [](Span<const Tensor> x) -> TensorList { return {ops::cast(ops::cast(x[0], DType::kInt32), DType::kFloat64) * x[0]}; };
  const Tensor x = vec({2.5});
  EXPECT_THAT(grad(f)({&x, 1})[0].to_vector<double>(), ElementsAre(2));
}

}  // namespace
}  // namespace sindri
