// Runtimes: separate settings, scopes, slots, and the threads that work on behalf of one.
#include "sindri/core/runtime.h"

#include <gtest/gtest.h>

#include <atomic>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "sindri/core/context.h"
#include "sindri/core/log.h"
#include "sindri/core/rng.h"
#include "sindri/graph/compile.h"
#include "sindri/nn/initializer.h"
#include "sindri/op/observer.h"
#include "sindri/ops/elementwise.h"
#include "sindri/ops/random.h"
#include "src/core/mutable_context.h"
#include "src/device/cpu/parallel.h"

namespace sindri::runtime_test {
namespace {

TEST(Runtime, ScopesNestAndEndWhereTheyBegan) {
  const Runtime a("a"), b("b");
  EXPECT_EQ(Runtime::current(), Runtime::process());
  {
    const RuntimeScope outer(a);
    EXPECT_EQ(Runtime::current(), a);
    {
      const RuntimeScope inner(b);
      EXPECT_EQ(Runtime::current().name(), "b");
      const RuntimeScope again(a);
      EXPECT_EQ(Runtime::current(), a);
    }
    EXPECT_EQ(Runtime::current(), a);
    try {
      const RuntimeScope inner(b);
      throw std::runtime_error("x");
    } catch (const std::runtime_error&) {}
    EXPECT_EQ(Runtime::current(), a);
  }
  EXPECT_EQ(Runtime::current(), Runtime::process());
  EXPECT_EQ(Runtime::process().id(), 0u);
  EXPECT_EQ(Runtime::process().name(), "");
  EXPECT_NE(a.id(), b.id());
}

TEST(Runtime, ANewThreadWorksInTheProcessRuntime) {
  const RuntimeScope scope(Runtime("a"));
  std::string plain = "?", inherited = "?";
  std::thread([&] { plain = Runtime::current().name(); }).join();
  std::thread(in_this_runtime([&] { inherited = Runtime::current().name(); })).join();
  EXPECT_EQ(plain, "");
  EXPECT_EQ(inherited, "a");
}

// Settings of one runtime do not show in another, and a new one starts with a fresh process's defaults.
TEST(Runtime, SettingsAreItsOwn) {
  const Mode mode = context().mode;
  const bool strict = strict_mode(), seeded = seed_is_set();
  const int threads = num_threads();
  const int64_t seed = get_seed();
  const Runtime a, b;
  {
    const RuntimeScope scope(a);
    EXPECT_FALSE(seed_is_set());
    set_mode(mode == GRAPH_MODE ? PYNATIVE_MODE : GRAPH_MODE);
    set_save_graphs(true, "/nowhere");
    mutable_context().device_target = "GPU";
    set_strict(!strict);
    set_num_threads(threads + 3);
    set_seed(11);
  }
  {
    const RuntimeScope scope(b);
    EXPECT_EQ(context().mode, GRAPH_MODE);
    EXPECT_FALSE(context().save_graphs);
    EXPECT_EQ(context().device_target, "CPU");
    EXPECT_FALSE(seed_is_set());
    EXPECT_EQ(get_seed(), 0);
    set_strict(true);
    set_num_threads(5);
  }
  EXPECT_EQ(context().mode, mode);
  EXPECT_FALSE(context().save_graphs);
  EXPECT_EQ(strict_mode(), strict);
  EXPECT_EQ(num_threads(), threads);
  EXPECT_EQ(seed_is_set(), seeded);
  EXPECT_EQ(get_seed(), seed);
  const RuntimeScope scope(a);
  EXPECT_NE(context().mode, mode);
  EXPECT_EQ(context().save_graphs_path, "/nowhere");
  EXPECT_EQ(context().device_target, "GPU");
  EXPECT_EQ(strict_mode(), !strict);
  EXPECT_EQ(num_threads(), threads + 3);
  EXPECT_EQ(get_seed(), 11);
}

int64_t alive = 0;
struct Counted {
  Counted() { ++alive; }
  ~Counted() { --alive; }
  int value = 0;
};
constinit RuntimeSlot<Counted> counted;

TEST(RuntimeSlot, LivesAsLongAsItsRuntime) {
  {
    const Runtime a;
    {
      const RuntimeScope scope(a);
      EXPECT_EQ(alive, 0);
      counted.get().value = 4;
      EXPECT_EQ(alive, 1);
      const RuntimeScope inner((Runtime()));
      EXPECT_EQ(counted.get().value, 0);
      EXPECT_EQ(alive, 2);
    }
    EXPECT_EQ(alive, 1);
    const RuntimeScope scope(a);
    EXPECT_EQ(counted.get().value, 4);
  }
  EXPECT_EQ(alive, 0);
  {
    std::optional<RuntimeScope> last;
    last.emplace(Runtime());  // the scope keeps it
    counted.get();
    EXPECT_EQ(alive, 1);
  }
  EXPECT_EQ(alive, 0);
}

struct Late {
  Late() { throw std::runtime_error("not yet"); }
};
constinit RuntimeSlot<Late> late;

TEST(RuntimeSlot, WhatCouldNotBeMadeIsTriedAgain) {
  const RuntimeScope scope((Runtime()));
  EXPECT_THROW(late.get(), std::runtime_error);
  EXPECT_THROW(late.get(), std::runtime_error);
}

TEST(RuntimeSlot, ThreadsThatAskAtOnceGetOne) {
  struct One {
    std::atomic<int> n{0};
  };
  static constinit RuntimeSlot<One> slot;
  for (int repeat = 0; repeat < 50; ++repeat) {
    const RuntimeScope scope((Runtime()));
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t) threads.emplace_back(in_this_runtime([] { ++slot.get().n; }));
    for (std::thread& t : threads) t.join();
    ASSERT_EQ(slot.get().n, 4);
  }
}

// Kernels' threads work for the caller that started the region, in its scopes.
TEST(Runtime, TeamsOfThreadsInheritIt) {
  const auto names = [] {
    std::vector<std::string> seen(8);
    parallel_tasks(8, [&](int64_t i) { seen[static_cast<size_t>(i)] = Runtime::current().name() + (strict_mode() ? " strict" : ""); });
    return std::set<std::string>(seen.begin(), seen.end());
  };
  const auto in = [&](const char* name, bool strict) {
    const RuntimeScope scope((Runtime(name)));
    set_num_threads(4);
    set_strict(strict);
    return names();
  };
  EXPECT_EQ(in("a", true), std::set<std::string>{"a strict"});
  EXPECT_EQ(in("b", false), std::set<std::string>{"b"});
  EXPECT_EQ(in("a", true), std::set<std::string>{"a strict"});
}

TEST(Runtime, RandomOpsAndInitializersCountForThemselves) {
  const auto draw = [] {
    std::vector<float> v = ops::random_uniform({4}).to_vector<float>();
    for (const float x : nn::initializer(nn::Init("normal"), {3, 2}).to_vector<float>()) v.push_back(x);
    return v;
  };
  const Runtime a, b;
  std::vector<std::vector<float>> of_a, of_b;
  for (int i = 0; i < 3; ++i) {
    for (const bool first : {true, false}) {
      const RuntimeScope scope(first ? a : b);
      if (i == 0) set_seed(5);
      (first ? of_a : of_b).push_back(draw());
    }
  }
  EXPECT_EQ(of_a, of_b);
  EXPECT_NE(of_a[0], of_a[1]);
  const RuntimeScope scope(a);
  ops::reset_rng(5, 17);
  const RuntimeScope other(b);
  EXPECT_EQ(ops::rng_state().stored().to_vector<int64_t>()[1], 0);
}

// An executable reads the random state of the runtime it was compiled in, so another runtime needs a separate executable.
TEST(Runtime, ACompiledFunctionServesSeveral) {
  CompiledFn f = compile([](Span<const Tensor> in) -> TensorList { return {in[0] + ops::random_uniform({4})}; }, {.name = "draws"});
  const Tensor zero = Tensor::scalar(0);
  const auto draw = [&](const Runtime& r) {
    const RuntimeScope scope(r);
    if (!seed_is_set()) set_seed(5);
    std::vector<float> v = f({&zero, 1})[0].to_vector<float>();
    ops::end_rng_step();
    return v;
  };
  const Runtime a, b;
  const std::vector<float> first = draw(a), second = draw(a);
  EXPECT_NE(first, second);
  EXPECT_EQ(draw(b), first);
  EXPECT_EQ(draw(b), second);
}

class CountKernels final : public KernelObserver {
 public:
  void on_kernel(const KernelEvent&) override { ++seen; }
  std::atomic<int> seen{0};
};

// Observer scopes of two runtimes may overlap in any order.
TEST(Runtime, ObserversSeeTheirOwn) {
  const Tensor x = Tensor::full({2}, 1);
  const Runtime a, b;
  CountKernels of_a, of_b;
  std::optional<ObserveKernels> first, second;
  const auto in = [](const Runtime& r, auto&& f) {
    const RuntimeScope scope(r);
    f();
  };
  in(a, [&] { first.emplace(of_a); });
  in(b, [&] { second.emplace(of_b); });
  in(a, [&] { ops::neg(x); });
  in(b, [&] { ops::neg(x), ops::neg(x); });
  ops::neg(x);
  in(a, [&] { first.reset(); });
  in(b, [&] { ops::neg(x); });
  in(b, [&] { second.reset(); });
  in(b, [&] { ops::neg(x); });
  EXPECT_EQ(of_a.seen, 1);
  EXPECT_EQ(of_b.seen, 3);
}

TEST(Runtime, LogLinesShowTheName) {
  testing::internal::CaptureStderr();
  log::warn("topic", "one");
  {
    const RuntimeScope scope(Runtime("rank 3"));
    log::warn("topic", "two");
  }
  const std::string text = testing::internal::GetCapturedStderr();
  EXPECT_NE(text.find("[warning] [topic] one\n"), std::string::npos) << text;
  EXPECT_NE(text.find("[warning] [rank 3] [topic] two\n"), std::string::npos) << text;
}

}  // namespace
}  // namespace sindri::runtime_test
