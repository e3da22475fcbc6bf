// The cache of executables, the information that a compiled function gives, and the switches.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <thread>

#include "sindri/autograd/grad.h"
#include "sindri/core/context.h"
#include "sindri/core/error.h"
#include "sindri/graph/compile.h"
#include "sindri/op/kernel.h"
#include "sindri/ops/elementwise.h"
#include "sindri/ops/reduce.h"
#include "src/graph/signature.h"
#include "tests/graph/test_ops.h"

namespace sindri {
namespace {

using namespace test;

TensorList run(CompiledFn& f, std::vector<Tensor> in, int variant = 0) { return f(in, variant); }

TEST(Compile, ConditionsLeadToPathsOfTheirOwn) {
  Parameter p(vec({0, 0}), "p");
  int calls = 0;
  CompiledFn f = compile([&](Span<const Tensor> in) -> TensorList {
    ++calls;
    const Tensor before = p.value(), sum = ops::sum(in[0]), twice = ops::add(in[0], in[0]);
    p.assign(twice);
    if (!traced_condition(sum).value()) return {before, twice};
    const Tensor old = p.value();
    p.assign(ops::add(old, before));
    if (traced_condition(ops::sum(p.value())).value()) return {ops::add(sum, 1.0)};
    if (in[0].shape()[0] == 2) { EXPECT_TRUE(leave_trace()); }
    p.assign(ops::mul(p.value(), old));  // op by op
    return {p.value(), before};
  });
  EXPECT_FALSE(traced_condition(vec({1})).has_value());
  EXPECT_FALSE(leave_trace());
  for (int pass = 0; pass < 2; ++pass) {
    p.assign(vec({1, 1}));
    TensorList out = f(std::vector<Tensor>{vec({2, -2})});
    EXPECT_EQ(values(out[0]), (std::vector<double>{1, 1}));
    EXPECT_EQ(values(out[1]), (std::vector<double>{4, -4}));
    out = f(std::vector<Tensor>{vec({3, -2})});
    EXPECT_EQ(values(out[0]), (std::vector<double>{2}));
    EXPECT_EQ(values(p.value()), (std::vector<double>{10, -8}));
    EXPECT_EQ(calls, 2 + pass);
    p.assign(vec({-4, 0}));
    out = f(std::vector<Tensor>{vec({2, 0})});
    EXPECT_EQ(values(out[0]), (std::vector<double>{0, 0}));
    EXPECT_EQ(values(out[1]), (std::vector<double>{-4, 0}));
    EXPECT_EQ(calls, 3 + pass);  // an abandoned executable is not kept
  }
  EXPECT_GE(f.info().segments, 4);
}

TEST(Compile, WhatIsHeldElsewhereGetsItsData) {
  Parameter p(vec({1, 2}), "p");
  std::vector<Tensor> elsewhere, garbage;
  int calls = 0, collected = 0;
  bool hold = true;
  const auto fn = [&](Span<const Tensor> in) -> TensorList {
    ++calls;
    const Tensor y = ops::add(in[0], p.value()), z = ops::mul(y, y);
    if (hold) elsewhere = {y, in[0], z};
    garbage = {y};
    p.assign(z);
    return {z, in[0]};
  };
  CompiledFn f = compile(fn, {.drop_garbage = [&] {
                           ++collected;
                           garbage.clear();
                         }});
  const Tensor x = vec({3, 4});
  int64_t path = 0;
  TensorList out = f.run({&x, 1}, 0, &path);
  EXPECT_EQ(path, -1);
  EXPECT_EQ(values(out[0]), (std::vector<double>{16, 36}));
  EXPECT_EQ(values(out[1]), (std::vector<double>{3, 4}));
  EXPECT_EQ(values(p.value()), (std::vector<double>{16, 36}));
  EXPECT_EQ(values(elsewhere[0]), (std::vector<double>{4, 6}));
  EXPECT_EQ(values(elsewhere[1]), (std::vector<double>{3, 4}));
  EXPECT_EQ(values(elsewhere[2]), (std::vector<double>{16, 36}));
  EXPECT_THROW(f.memory_report(), ValueError);
  hold = false;
  f.run({&x, 1}, 0, &path);
  EXPECT_EQ(path, 1);
  EXPECT_EQ(collected, 2);
  f.run({&x, 1}, 0, &path);
  EXPECT_EQ(path, 1);
  EXPECT_EQ(calls, 2);
}

TEST(Compile, TracesOncePerSignature) {
  int traces = 0;
  CompiledFn f = compile([&](Span<const Tensor> in) -> TensorList {
    ++traces;
    return {relu(in[0])};
  });
  run(f, {vec({-1, 1})});
  run(f, {vec({-2, 2})});
  EXPECT_EQ(traces, 1);
  EXPECT_EQ(values(run(f, {vec({-2, 2, 3})})[0]), (std::vector<double>{0, 2, 3}));
  EXPECT_EQ(traces, 2);
  EXPECT_EQ(f.num_signatures(), 2);
  EXPECT_EQ(values(run(f, {vec({-5, 5})})[0]), (std::vector<double>{0, 5}));  // back to the first
  EXPECT_EQ(traces, 2);
  CompiledFn copy = f;  // copies share the cache
  run(copy, {vec({1, 2})});
  EXPECT_EQ(traces, 2);
}

TEST(Compile, SettingsThatKernelsDependOnArePartOfTheSignature) {
  int traces = 0;
  CompiledFn f = compile([&](Span<const Tensor> in) -> TensorList {
    ++traces;
    return {relu(in[0])};
  });
  const int threads = num_threads();
  const bool strict = strict_mode();
  run(f, {vec({1})});
  set_num_threads(threads + 1);
  run(f, {vec({1})});
  set_num_threads(threads);
  EXPECT_EQ(traces, 2);
  set_strict(!strict);
  run(f, {vec({1})});
  set_strict(strict);
  EXPECT_EQ(traces, 3);
  {
    const ForceKernel force("reference");
    run(f, {vec({1})});
  }
  EXPECT_EQ(traces, 4);
  run(f, {vec({1})});
  EXPECT_EQ(traces, 4);
}

TEST(Compile, VariantsAreFunctionsOfTheirOwn) {
  CompiledFn f([](Span<const Tensor> in, int variant) -> TensorList { return {scale(in[0], variant)}; }, {});
  EXPECT_EQ(values(run(f, {vec({1})}, 2)[0]), (std::vector<double>{2}));
  EXPECT_EQ(values(run(f, {vec({1})}, 3)[0]), (std::vector<double>{3}));
  EXPECT_EQ(values(run(f, {vec({1})}, 2)[0]), (std::vector<double>{2}));
  EXPECT_EQ(f.num_signatures(), 2);
}

// If a state's layout changes outside the function, another executable is needed, even if the graph does not read the state.
TEST(Compile, StateMetasArePartOfTheSignature) {
  Parameter p(Tensor::full({1, 2, 2, 2}, 1), "p");
  CompiledFn f = compile([&](Span<const Tensor>) -> TensorList { return {relu(p.value())}; });
  EXPECT_EQ(run(f, {})[0].layout(), Layout::kContiguous);
  p.assign(call1("test_nhwc", {p.value()}));
  ASSERT_EQ(p.value().layout(), Layout::kChannelsLast);
  EXPECT_EQ(run(f, {})[0].layout(), Layout::kChannelsLast);
  EXPECT_EQ(f.num_signatures(), 2);
}

TEST(Compile, OldSignaturesAreDroppedBeyondThirtyTwo) {
  int traces = 0;
  CompiledFn f = compile([&](Span<const Tensor> in) -> TensorList {
    ++traces;
    return {relu(in[0])};
  });
  for (int64_t n = 1; n <= 40; ++n) {
    run(f, {Tensor::zeros({n})});
    run(f, {Tensor::zeros({1})});  // kept alive by use
  }
  EXPECT_EQ(traces, 40);
  EXPECT_EQ(f.num_signatures(), 32);
  run(f, {Tensor::zeros({2})});
  EXPECT_EQ(traces, 41);
}

Signature batch_of(int64_t n) {
  const Tensor in[] = {Tensor::zeros({3}), Tensor::zeros({n, 4})};
  return make_signature(in, 0);
}

TEST(SignatureHistory, EighthSignatureWarnsOnceNamingWhatChanges) {
  SignatureHistory h;
  for (int64_t n = 1; n <= 7; ++n) EXPECT_EQ(h.add("step", batch_of(n)), "");
  const std::string warning = h.add("step", batch_of(8));
  EXPECT_NE(warning.find("'step' has been compiled for 8 signatures (input 1 dimension 0: 1, 2, 3, 4, 5, 6, 7, 8)"), std::string::npos) << warning;
  EXPECT_NE(warning.find("drop_remainder"), std::string::npos);
  EXPECT_EQ(h.add("step", batch_of(9)), "");
}

// A caller that requests twenty variants by their attributes expects them, so there is no warning.
TEST(SignatureHistory, VariantsAloneAreNoSurprise) {
  SignatureHistory h;
  for (int variant = 0; variant < 20; ++variant) {
    Signature s;
    s.inputs = {Tensor::zeros({3, 4}).meta()};
    s.variant = variant;
    EXPECT_EQ(h.add("fn", s), "");
  }
}

TEST(SignatureHistory, NamesRankTypeVariantAndParameterChanges) {
  SignatureHistory h;
  Parameter p(vec({1}), "net.w");
  std::string warning;
  for (int i = 0; i < 8; ++i) {
    const Tensor in[] = {Tensor::zeros(i % 2 == 0 ? Shape{2} : Shape{2, 1}, i < 4 ? DType::kFloat32 : DType::kFloat64)};
    Signature s = make_signature(in, i / 6);
    s.states.push_back({&p, {{1, 2, 3, 4}, DType::kFloat32, i == 0 ? Layout::kContiguous : Layout::kChannelsLast, {}}});
    warning = h.add("f", s);
  }
  EXPECT_NE(warning.find("(input 0 shape: [2], [2, 1]; input 0 type: float32, float64; parameter 'net.w' layout: contiguous, channels_last; variant: 0, 1)"),
            std::string::npos)
      << warning;
}

TEST(Compile, InfoCountsNodesAndMemory) {
  CompiledFn f = compile([](Span<const Tensor> in) -> TensorList {
    Tensor x = in[0];
    for (int i = 1; i <= 8; ++i) x = call1("test_outer", {call1("test_sum", {x}), scale(in[0], i)});  // [] x [1000] -> [1, 1000], never in place
    relu(x);  // dead
    return {x};
  });
  EXPECT_EQ(f.info().nodes, 0);
  run(f, {Tensor::full({1000}, 1e-3)});
  EXPECT_EQ(f.info().nodes_traced, 25);
  EXPECT_EQ(f.info().nodes, 24);
  EXPECT_GT(f.info().arena_bytes, 0);
  EXPECT_LT(f.info().arena_bytes * 4, f.info().unplanned_bytes);
  EXPECT_GT(f.info().compile_seconds, 0);
}

TEST(Compile, EmptyAndUncalledFunctionsSaySo) {
  CompiledFn none;
  EXPECT_FALSE(none);
  EXPECT_THROW(none({}), ValueError);
  EXPECT_THROW(none.graph_text(), ValueError);
  EXPECT_EQ(none.num_signatures(), 0);
  CompiledFn f = compile([](Span<const Tensor>) -> TensorList { return {}; });
  EXPECT_TRUE(f);
  EXPECT_THROW(f.graph_text(), ValueError);
  const Tensor undefined[] = {Tensor()};
  EXPECT_THROW(f(undefined), ValueError);
}

TEST(Compile, UnderATapeTheOpsAreRecorded) {
  CompiledFn square = compile([](Span<const Tensor> in) -> TensorList { return {in[0] * in[0]}; });
  const Tensor x[] = {vec({3, -2})};
  EXPECT_EQ(values(grad([&](Span<const Tensor> in) { return square(in); })(x)[0]), (std::vector<double>{6, -4}));
  EXPECT_EQ(square.num_signatures(), 0);
  CompiledFn outer = compile([&](Span<const Tensor> in) -> TensorList { return {ops::sum(square(in)[0])}; });
  EXPECT_EQ(outer(x)[0].item(), 13);
  EXPECT_EQ(square.num_signatures(), 0);  // it became part of the outer graph
}

TEST(Compile, CallsFromSeveralThreadsRunOneAfterTheOther) {
  Parameter p(vec({0, 0}), "p");
  CompiledFn f = compile([&](Span<const Tensor> in) -> TensorList {
    p.assign(add(p.value(), in[0]));
    return {scale(in[0], 2)};
  });
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 50; ++i) {
        const double x = t + 1;
        if (values(run(f, {vec({x, -x})})[0]) != std::vector<double>{2 * x, -2 * x}) ++wrong;
      }
    });
  }
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(f.num_signatures(), 1);
  EXPECT_EQ(values(p.value()), (std::vector<double>{500, -500}));
}

TEST(Compile, HostEffectsRunEveryTimeAndNeverWhileCompiling) {
  CompiledFn f = compile([](Span<const Tensor>) -> TensorList {
    call("test_effect", {vec({1})});
    return {};
  });
  const int before = effect_runs();
  run(f, {});
  EXPECT_EQ(effect_runs(), before + 1);
  run(f, {});
  EXPECT_EQ(effect_runs(), before + 2);
}

TEST(Compile, CheckFiniteNamesTheFirstBadOpAndItsScope) {
  const auto fn = [](Span<const Tensor> in) -> TensorList {
    const NameScope net("Net"), layer("bad");
    const Tensor y = call1("test_log", {scale(in[0], 2)});
    return {relu(call1("test_mul", {y, y}))};
  };
  setenv("SINDRI_CHECK_FINITE", "1", 1);
  CompiledFn checked = compile(fn, {.name = "checked"});
  EXPECT_EQ(run(checked, {vec({0.5})})[0].item(), 0);
  try {
    run(checked, {vec({1, 0})});
    FAIL() << "no error";
  } catch (const NonFiniteError& e) {
    const std::string message = e.what();
    EXPECT_NE(message.find("test_log: output 0 f32[2] is not finite (element 1)"), std::string::npos) << message;
    EXPECT_NE(message.find("in Net/bad"), std::string::npos) << message;
    EXPECT_EQ(e.exit_code(), 6);
  }
  unsetenv("SINDRI_CHECK_FINITE");
  CompiledFn unchecked = compile(fn);
  EXPECT_NO_THROW(run(unchecked, {vec({1, 0})}));
}

}  // namespace
}  // namespace sindri
