// Optimizer updates with and without grouping: bitwise identical, the same memory, states still written in place.
#include <gtest/gtest.h>

#include <cmath>

#include "sindri/core/context.h"
#include "sindri/graph/compile.h"
#include "sindri/ops/elementwise.h"
#include "sindri/ops/optimizer.h"
#include "sindri/ops/reduce.h"
#include "src/graph/memory_plan.h"
#include "src/graph/passes/passes.h"
#include "src/op/plan.h"
#include "tests/graph/helpers.h"
#include "tests/graph/test_ops.h"

namespace sindri {
namespace {

using test::count;
using test::same_bits;
using test::Threads;
using test::wave;

// Shapes whose borders fall between and within the shares of threads; one empty.
const std::vector<Shape>& shapes() {
  static const std::vector<Shape> list = {{7}, {64, 33, 3, 3}, {1}, {0, 4}, {40000}, {129}, {16, 3, 5, 5}};
  return list;
}

using Rule = std::vector<Tensor> (*)(const std::vector<Tensor>& state, const Tensor& grad, const Tensor& lr);
struct Optimizer {
  const char* name;
  size_t states;  // including the parameter
  Rule rule;
};
const Optimizer kOptimizers[] = {
    {"momentum", 2,
     [](const std::vector<Tensor>& s, const Tensor& g, const Tensor& lr) { return ops::momentum_update(s[0], s[1], g, lr, lr, 1e-2, 0.5, true); }},
    {"sgd", 3,
     [](const std::vector<Tensor>& s, const Tensor& g, const Tensor& lr) { return ops::sgd_update(s[0], s[1], s[2], g, lr, 0.9, 0.1, 1e-2, 1.0, false); }},
    {"adam", 3,
     [](const std::vector<Tensor>& s, const Tensor& g, const Tensor& lr) {
       return ops::adam_update(s[0], s[1], s[2], g, lr, lr, lr, 0.9, 0.99, 1e-6, 1e-2, 1.0, false);
     }},
    {"adam_weight_decay", 3,
     [](const std::vector<Tensor>& s, const Tensor& g, const Tensor& lr) {
       return ops::adam_weight_decay_update(s[0], s[1], s[2], g, lr, 0.9, 0.99, 1e-6, 1e-2, 1.0);
     }},
    {"rmsprop_centered", 4,
     [](const std::vector<Tensor>& s, const Tensor& g, const Tensor& lr) {
       return ops::rmsprop_centered_update(s[0], s[1], s[2], s[3], g, lr, 0.9, 0.5, 2.0, 1e-2, 1.0);
     }},
    {"ftrl", 3,
     [](const std::vector<Tensor>& s, const Tensor& g, const Tensor& lr) {
       // The state of slot 2 is positive here.
       std::vector<Tensor> out = ops::ftrl_update(s[0], s[2], s[1], g, lr, -0.5, 1e-3, 1e-2, 1e-2, 1.0);
       return std::vector<Tensor>{out[0], out[2], out[1]};
     }},
};

class GroupUpdates : public ::testing::TestWithParam<Optimizer> {};

// Three steps of every shape, the second parameter with a gradient in bfloat16.
struct Trained {
  std::vector<Tensor> values;
  std::string text;
  int64_t arena_bytes;
};
Trained train(const Optimizer& optimizer, const std::vector<std::string>& disabled) {
  std::vector<std::unique_ptr<Parameter>> states;
  for (size_t p = 0; p < shapes().size(); ++p)
    for (size_t k = 0; k < optimizer.states; ++k) {
      const bool stat = k == 2 && optimizer.name == std::string("sgd");
      const Tensor init = stat ? Tensor::full({}, 1) : k == 2 ? ops::square(wave(shapes()[p], 3)) : wave(shapes()[p], static_cast<double>(p + k));
      states.push_back(std::make_unique<Parameter>(init, "p" + std::to_string(p) + "_" + std::to_string(k)));
    }
  CompiledFn step = compile(
      [&](Span<const Tensor> in) -> TensorList {
        std::vector<Tensor> grads;
        for (size_t p = 0; p < shapes().size(); ++p) {
          const Tensor g = ops::tanh(states[p * optimizer.states]->value() * in[0]);
          grads.push_back(p == 4 ? ops::cast(g, DType::kBFloat16) : g);
        }
        for (size_t p = 0; p < shapes().size(); ++p) {
          std::vector<Tensor> s;
          for (size_t k = 0; k < optimizer.states; ++k) s.push_back(states[p * optimizer.states + k]->value());
          const std::vector<Tensor> updated = optimizer.rule(s, grads[p], in[1]);
          for (size_t k = 0; k < optimizer.states; ++k) states[p * optimizer.states + k]->assign(updated[k]);
        }
        return {};
      },
      {.disable_passes = disabled});
  for (int i = 0; i < 3; ++i) step(TensorList{Tensor::full({}, 0.5 + i), Tensor::full({}, 0.01)});
  Trained r;
  for (const auto& s : states) r.values.push_back(s->value());
  r.text = step.graph_text();
  r.arena_bytes = step.info().arena_bytes;
  return r;
}

TEST_P(GroupUpdates, KeepsEveryBitAndTheArena) {
  const Trained plain = train(GetParam(), {"group_updates"});
  EXPECT_EQ(count(plain.text, "group_update"), 0u);
  for (int threads : {1, 2, 3}) {
    const Threads set(threads);
    const Trained grouped = train(GetParam(), {});
    EXPECT_EQ(count(grouped.text, "= group_update("), 1u) << grouped.text;
    EXPECT_NE(grouped.text.find("tensors=6"), std::string::npos) << grouped.text;  // all but the one with another gradient type
    EXPECT_LE(grouped.arena_bytes, plain.arena_bytes);
    for (size_t i = 0; i < plain.values.size(); ++i)
      EXPECT_TRUE(same_bits(plain.values[i], grouped.values[i])) << "state " << i << ", " << threads << " threads";
  }
}

// Every state of a grouped update is computed in its own storage.
TEST_P(GroupUpdates, StatesAreDonated) {
  Graph g = parse_graph(train(GetParam(), {}).text);
  const MemoryPlan plan = plan_memory(g);
  for (size_t s = 0; s < plan.donated.size(); ++s) EXPECT_TRUE(plan.donated[s]) << g.states()[s].name;
}

INSTANTIATE_TEST_SUITE_P(Optimizers, GroupUpdates, ::testing::ValuesIn(kOptimizers), [](const auto& test_case) { return std::string(test_case.param.name); });

TEST(GroupUpdatesSize, GroupsHoldAtMost64) {
  std::vector<std::unique_ptr<Parameter>> p;
  for (int i = 0; i < 300; ++i) p.push_back(std::make_unique<Parameter>(wave({3}, i), "p" + std::to_string(i)));
  CompiledFn step = compile([&](Span<const Tensor> in) -> TensorList {
    for (size_t i = 0; i < 150; ++i) {
      const std::vector<Tensor> out = ops::momentum_update(p[2 * i]->value(), p[2 * i + 1]->value(), in[0], in[1], in[1], 0, 1, false);
      p[2 * i]->assign(out[0]);
      p[2 * i + 1]->assign(out[1]);
    }
    return {};
  });
  step(TensorList{wave({3}, 0), Tensor::full({}, 0.1)});
  const std::string text = step.graph_text();
  EXPECT_EQ(count(text, "tensors=64"), 2u) << text;
  EXPECT_EQ(count(text, "tensors=22"), 1u) << text;
}

}  // namespace
}  // namespace sindri
