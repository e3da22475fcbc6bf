// How tracing a function handles tensors, parameters, constants and mistakes.
#include <gtest/gtest.h>

#include <algorithm>

#include "sindri/autograd/grad.h"
#include "sindri/core/error.h"
#include "sindri/graph/compile.h"
#include "sindri/ops/elementwise.h"
#include "src/graph/trace.h"
#include "tests/graph/test_ops.h"

namespace sindri::trace_test {
namespace {

using namespace test;

TensorMeta f32(const Shape& s) { return {s, DType::kFloat32, Layout::kContiguous, {}}; }
std::string traced(const TensorFn& fn, std::vector<TensorMeta> inputs) { return trace_function("f", fn, inputs).text(); }

// The message of the error that `run` throws.
template <class E, class F> std::string error_of(F&& run) {
  try {
    run();
  } catch (const E& e) { return e.what(); }
  return "no error";
}

TEST(Trace, OpsBecomeNodesWithTheirScope) {
  EXPECT_EQ(traced(
                [](Span<const Tensor> in) -> TensorList {
                  const NameScope net("Net"), block("layer1"), fc("fc");
                  EXPECT_TRUE(is_tracing_graph());
                  EXPECT_TRUE(in[0].is_symbolic());
                  EXPECT_EQ(in[0].shape(), (Shape{2}));
                  return {add(in[0], in[1])};
                },
                {f32({2}), f32({2})}),
            "graph \"f\" {\n  %0 = input : f32[2]\n  %1 = input : f32[2]\n  %2 = test_add(%0, %1) : f32[2] @ \"Net/layer1.fc\"\n  return %2\n}\n");
  EXPECT_FALSE(is_tracing_graph());
}

TEST(Trace, ConcreteTensorsBecomeOneConstantEach) {
  const Tensor c = vec({1, 2}), equal = vec({1, 2});
  EXPECT_EQ(traced(
                [&](Span<const Tensor> in) -> TensorList {
                  return {add(add(add(in[0], c), c), equal), c};
                },
                {f32({2})}),
            R"(graph "f" {
  %0 = input : f32[2]
  %1 = constant : f32[2] = {1, 2}
  %2 = constant : f32[2] = {1, 2}
  %3 = test_add(%0, %1) : f32[2]
  %4 = test_add(%3, %1) : f32[2]
  %5 = test_add(%4, %2) : f32[2]
  return %5, %1
}
)");
}

// The extra outputs of a traced run let another graph, or eager code, compute the gradients of each run.
TEST(Trace, TapesServeTheRunsOfTheirGraph) {
  Parameter w(vec({2, -3}), "w");
  Tape form;
  std::vector<uint64_t> ids;
  uint64_t x_id = 0, y_id = 0;
  CompiledFn forward = compile([&](Span<const Tensor> in) -> TensorList {
    Tape tape;
    Tensor y;
    {
      const TraceScope scope(tape);
      const Tensor h = ops::mul(in[0], w.value());
      y = ops::mul(h, ops::square(h));  // (xw)^3
    }
    TensorList given = tape.traced().value();
    EXPECT_EQ(given.size(), 4);  // x, w, h, h^2
    for (const Tensor& t : given) {
      EXPECT_EQ(tape.parameter_of(t), t.id() == w.value().id() ? &w : nullptr);
      ids.push_back(t.id());
    }
    x_id = in[0].id(), y_id = y.id();
    ids.push_back(y_id);
    given.push_back(y);
    form.take(tape, {}, {});
    EXPECT_TRUE(form.traced().value().empty());
    return given;
  });
  const auto gradient = [&](Span<const Tensor> given) {
    Tape tape;
    const TensorList placed = tape.take(form, ids, {given.begin(), given.end()});
    const auto at = [&](uint64_t id) { return placed[static_cast<size_t>(std::find(ids.begin(), ids.end(), id) - ids.begin())]; };
    Parameter* const params[] = {&w};
    const Tensor x = at(x_id);
    const Gradients g = tape.backward({at(y_id)}, {}, {&x, 1}, params);
    return TensorList{g.of_inputs[0], g.of_params[0]};
  };
  CompiledFn backward = compile(gradient);
  for (const double a : {1.0, 2.0, -1.0}) {
    const Tensor x = vec({a, 1});
    const TensorList given = forward({&x, 1});
    for (const TensorList& g : {backward(given), gradient(given)}) {
      EXPECT_EQ(values(g[0]), (std::vector<double>{3 * a * a * 8, -81}));  // 3 x^2 w^3
      EXPECT_EQ(values(g[1]), (std::vector<double>{3 * a * a * a * 4, 27}));
    }
  }
  Tape custom;
  {
    const TraceScope scope(custom);
    const Tensor x = vec({1});
    custom_gradient([](Span<const Tensor> in) { return TensorList{in[0]}; }, {&x, 1},
                    [](Span<const Tensor>, Span<const Tensor>, Span<const Tensor> dy) { return TensorList{dy[0]}; });
  }
  EXPECT_FALSE(custom.traced().has_value());
}

TEST(Trace, ReadsSeeTheLastAssignment) {
  Parameter p(vec({1, 2}), "p"), untouched(vec({0}), "untouched");
  EXPECT_EQ(traced(
                [&](Span<const Tensor>) -> TensorList {
                  const Tensor old = p.value();
                  EXPECT_EQ(p.value().id(), old.id());  // one handle per value: the tape knows parameters by it
                  p.assign(scale(old, 2));
                  EXPECT_NE(p.value().id(), old.id());
                  p.assign(add(p.value(), old));
                  return {relu(p.value())};
                },
                {}),
            R"(graph "f" {
  %0 = state "p" : f32[2]
  %1 = test_scale(%0) {factor=2.0} : f32[2]
  %2 = test_add(%1, %0) : f32[2]
  %3 = test_relu(%2) : f32[2]
  state %0 <- %2
  return %3
}
)");
  EXPECT_EQ(values(p.value()), (std::vector<double>{1, 2}));  // tracing stores nothing
}

TEST(Trace, AssigningTheOldValueBackLeavesTheStateUnwritten) {
  Parameter p(vec({1}), "p");
  const std::string text = traced(
      [&](Span<const Tensor>) -> TensorList {
        const Tensor old = p.value();
        p.assign(relu(old));
        p.assign(old);
        return {};
      },
      {});
  EXPECT_EQ(text.find("<-"), std::string::npos) << text;
}

TEST(Trace, TwoParametersOfEqualValueKeepTheirIdentity) {
  Parameter a(vec({1}), "a"), b(vec({1}), "b");
  trace_function("f",
                 [&](Span<const Tensor>) -> TensorList {
                   const Tensor x = relu(a.value());
                   a.assign(x);
                   b.assign(x);
                   EXPECT_NE(a.value().id(), b.value().id());
                   return {};
                 },
                 {});
}

TEST(Trace, LayoutConversionsAreNodes) {
  const std::string text = traced([](Span<const Tensor> in) -> TensorList { return {call1("test_nchw", {call1("test_nhwc", {in[0]})})}; }, {f32({1, 2, 3, 4})});
  EXPECT_NE(text.find("to_layout(%0) {layout=\"channels_last\"}"), std::string::npos) << text;
  EXPECT_NE(text.find("to_layout(%2) {layout=\"contiguous\"}"), std::string::npos) << text;
}

TEST(Trace, ReadingAValueWhileTracingAdvises) {
  CompiledFn f = compile([](Span<const Tensor> in) -> TensorList { return {in[0].item() > 0 ? in[0] : relu(in[0])}; });
  const Tensor x[] = {Tensor::scalar(1)};
  EXPECT_NE(error_of<ValueError>([&] { f(x); }).find("not known while tracing"), std::string::npos);
  EXPECT_EQ(f.num_signatures(), 0);
}

TEST(Trace, ValueOfAFinishedTraceIsRefusedEverywhere) {
  Tensor kept;
  Parameter p(vec({1, 2}), "p");
  CompiledFn f = compile([&](Span<const Tensor> in) -> TensorList { return {kept = relu(in[0])}; });
  const Tensor x[] = {vec({1, 2})};
  f(x);
  ASSERT_TRUE(kept.is_symbolic());
  const std::string advice = "return it from the function";
  EXPECT_NE(error_of<ValueError>([&] { relu(kept); }).find(advice), std::string::npos);
  EXPECT_NE(error_of<ValueError>([&] { p.assign(kept); }).find(advice), std::string::npos);
  const Tensor stale[] = {kept};
  EXPECT_NE(error_of<ValueError>([&] { f(stale); }).find(advice), std::string::npos);
  // A later trace may allocate its graph at the finished one's address.
  for (int i = 0; i < 4; ++i) {
    CompiledFn g = compile([&](Span<const Tensor> in) -> TensorList { return {add(in[0], kept)}; }, {.name = "later"});
    const std::string message = error_of<ValueError>([&] { g(x); });
    EXPECT_NE(message.find("another trace is used while 'later' is traced"), std::string::npos) << message;
    EXPECT_NE(message.find("test_add on f32[2], f32[2]"), std::string::npos) << message;
  }
}

TEST(Trace, ErrorsInTheFunctionPassThroughAndLeaveNothingBehind) {
  CompiledFn f = compile([](Span<const Tensor> in) -> TensorList { return {add(in[0], vec({1, 2, 3}))}; });
  const Tensor x[] = {vec({1, 2})};
  EXPECT_THROW(f(x), ShapeError);
  EXPECT_FALSE(is_tracing_graph());
  EXPECT_EQ(values(relu(vec({-1, 1}))), (std::vector<double>{0, 1}));  // eager again
  EXPECT_EQ(f.num_signatures(), 0);
}

TEST(Trace, UndefinedOutputIsRefused) {
  CompiledFn f = compile([](Span<const Tensor>) -> TensorList { return {vec({1}), Tensor()}; }, {.name = "half"});
  EXPECT_NE(error_of<ValueError>([&] { f({}); }).find("'half' returns an undefined tensor as output 1"), std::string::npos);
}

}  // namespace
}  // namespace sindri::trace_test
