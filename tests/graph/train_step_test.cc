// Whole training steps (forward, gradients, update) compiled and eager, from equal weights: bitwise identical outputs and parameters after every step, with and
// without passes.
#include <gtest/gtest.h>

#include <cmath>

#include "sindri/autograd/grad.h"
#include "sindri/graph/compile.h"
#include "sindri/ops/conv.h"
#include "sindri/ops/elementwise.h"
#include "sindri/ops/loss.h"
#include "sindri/ops/matmul.h"
#include "sindri/ops/norm.h"
#include "sindri/ops/optimizer.h"
#include "sindri/ops/pool.h"
#include "sindri/ops/random.h"
#include "sindri/ops/reduce.h"
#include "sindri/ops/shape.h"
#include "tests/graph/helpers.h"
#include "tests/graph/test_ops.h"

namespace sindri::train_step_test {
namespace {

using test::same_bits;

Tensor wave(const Shape& shape, double phase, double amplitude = 1) { return test::wave(shape, phase, DType::kFloat32, amplitude); }
Tensor labels(int64_t n, int64_t classes, int64_t step) {
  std::vector<double> v;
  for (int64_t i = 0; i < n; ++i) v.push_back(static_cast<double>((i * 7 + step) % classes));
  return Tensor::from_values({n}, v, DType::kInt32);
}

// Parameters, their optimizer state and the step function over them.
struct Net {
  std::vector<std::unique_ptr<Parameter>> params, state;
  virtual ~Net() = default;
  virtual Tensor loss(const Tensor& x, const Tensor& y) = 0;
  virtual void update(const std::vector<Tensor>& grads) = 0;

  Tensor p(size_t i) { return params[i]->value(); }
  void add(const std::string& name, const Tensor& init) { params.push_back(std::make_unique<Parameter>(init, name)); }
  TensorList step(Span<const Tensor> in) {
    std::vector<Parameter*> wrt;
    for (const auto& q : params)
      if (q->requires_grad) wrt.push_back(q.get());
    const auto [out, g] = value_and_grad([&](Span<const Tensor> a) -> TensorList { return {loss(a[0], a[1])}; }, in, {}, wrt);
    update(g.of_params);
    return out;
  }
};

struct Mlp final : Net {
  Mlp() {
    add("fc1.weight", wave({32, 20}, 0, 0.3));
    add("fc1.bias", wave({32}, 1, 0.1));
    add("fc2.weight", wave({10, 32}, 2, 0.3));
    add("fc2.bias", wave({10}, 3, 0.1));
    for (const auto& q : params) state.push_back(std::make_unique<Parameter>(Tensor::zeros(q->shape()), "moments." + q->name(), false));
  }
  Tensor loss(const Tensor& x, const Tensor& y) override {
    const NameScope net("Mlp");
    const Tensor h = ops::relu(ops::matmul(x, p(0), false, true) + p(1));
    return ops::mean(ops::softmax_cross_entropy_sparse(ops::matmul(h, p(2), false, true) + p(3), y));
  }
  void update(const std::vector<Tensor>& grads) override {
    const Tensor lr = Tensor::scalar(0.1), momentum = Tensor::scalar(0.9);
    for (size_t i = 0; i < params.size(); ++i) {
      const auto out = ops::momentum_update(params[i]->value(), state[i]->value(), grads[i], lr, momentum, 1e-4);
      params[i]->assign(out[0]);
      state[i]->assign(out[1]);
    }
  }
};

// Convolution, batch norm with moving statistics, a skip connection, pooling; Adam with its step counters as states.
struct ConvNet final : Net {
  ConvNet() {
    add("conv1.weight", wave({8, 3, 3, 3}, 0, 0.4));
    add("bn1.gamma", Tensor::full({8}, 1));
    add("bn1.beta", Tensor::zeros({8}));
    add("conv2.weight", wave({8, 8, 3, 3}, 1, 0.2));
    add("fc.weight", wave({5, 8}, 2, 0.3));
    add("bn1.moving_mean", Tensor::zeros({8}));
    add("bn1.moving_variance", Tensor::full({8}, 1));
    params[5]->requires_grad = params[6]->requires_grad = false;
    for (size_t i = 0; i < 5; ++i) {
      state.push_back(std::make_unique<Parameter>(Tensor::zeros(params[i]->shape()), "m", false));
      state.push_back(std::make_unique<Parameter>(Tensor::zeros(params[i]->shape()), "v", false));
    }
    state.push_back(std::make_unique<Parameter>(Tensor::scalar(1), "beta1_power", false));
    state.push_back(std::make_unique<Parameter>(Tensor::scalar(1), "beta2_power", false));
  }
  Tensor loss(const Tensor& x, const Tensor& y) override {
    const NameScope net("ConvNet");
    const ops::BatchNormOut bn = ops::batch_norm_train(ops::conv2d(x, p(0), {.pad = {1, 1, 1, 1}}), p(1), p(2));
    params[5]->assign(p(5) * 0.9 + bn.mean * 0.1);
    params[6]->assign(p(6) * 0.9 + bn.var * 0.1);
    const Tensor h = ops::relu(bn.y);
    const Tensor sum = ops::relu(ops::conv2d(h, p(3), {.pad = {1, 1, 1, 1}}) + h);
    const Tensor pooled = ops::max_pool2d(sum, {.kernel = {2, 2}, .stride = {2, 2}});
    return ops::mean(ops::softmax_cross_entropy_sparse(ops::matmul(ops::flatten(ops::global_avg_pool2d(pooled)), p(4), false, true), y));
  }
  void update(const std::vector<Tensor>& grads) override {
    state[10]->assign(state[10]->value() * 0.9);
    state[11]->assign(state[11]->value() * 0.999);
    for (size_t i = 0; i < 5; ++i) {
      const auto out = ops::adam_update(params[i]->value(), state[2 * i]->value(), state[2 * i + 1]->value(), grads[i], Tensor::scalar(0.01),
                                        state[10]->value(), state[11]->value());
      params[i]->assign(out[0]);
      state[2 * i]->assign(out[1]);
      state[2 * i + 1]->assign(out[2]);
    }
  }
};

void expect_equal(const Net& a, const Net& b, int step, const char* what) {
  for (size_t i = 0; i < a.params.size(); ++i)
    ASSERT_TRUE(same_bits(a.params[i]->value(), b.params[i]->value())) << a.params[i]->name() << ", step " << step << ", " << what;
  for (size_t i = 0; i < a.state.size(); ++i)
    ASSERT_TRUE(same_bits(a.state[i]->value(), b.state[i]->value())) << a.state[i]->name() << ", step " << step << ", " << what;
}

template <class N, class Batch> void expect_graph_equals_eager(int steps, Batch&& batch) {
  N eager, graph, plain;
  CompiledFn f = compile([&](Span<const Tensor> in) { return graph.step(in); }, {.name = "train_step"});
  CompiledFn g = compile([&](Span<const Tensor> in) { return plain.step(in); }, {.name = "train_step_plain", .disable_passes = {"all"}});
  double first = 0, last = 0;
  for (int s = 0; s < steps; ++s) {
    const TensorList in = batch(s);
    const Tensor want = eager.step(in)[0], got = f(in)[0], bare = g(in)[0];
    ASSERT_TRUE(same_bits(want, got)) << "loss of step " << s << ": " << want.item() << " and " << got.item();
    ASSERT_TRUE(same_bits(want, bare)) << "loss of step " << s << " without passes";
    expect_equal(eager, graph, s, "all passes");
    expect_equal(eager, plain, s, "no passes");
    if (s == 0) first = got.item();
    last = got.item();
  }
  EXPECT_LT(last, first);  // it trains
  EXPECT_EQ(f.num_signatures(), 1);
  EXPECT_LT(f.info().nodes, f.info().nodes_traced);
  EXPECT_LT(f.info().arena_bytes, f.info().unplanned_bytes);
}

TEST(TrainStep, MlpWithMomentumEqualsEagerBitForBit) {
  expect_graph_equals_eager<Mlp>(20, [](int s) -> TensorList { return {wave({16, 20}, s % 4), labels(16, 10, s % 4)}; });
}

TEST(TrainStep, ConvNetWithAdamEqualsEagerBitForBit) {
  expect_graph_equals_eager<ConvNet>(8, [](int s) -> TensorList { return {wave({4, 3, 8, 8}, s % 2), labels(4, 5, s % 2)}; });
}

// In steady state a step writes every state in place: no Parameter changes its memory.
TEST(TrainStep, StatesKeepTheirMemory) {
  Mlp net;
  CompiledFn f = compile([&](Span<const Tensor> in) { return net.step(in); });
  const TensorList in = {wave({16, 20}, 0), labels(16, 10, 0)};
  f(in);
  std::vector<const void*> before;
  for (const auto* list : {&net.params, &net.state})
    for (const auto& q : *list) before.push_back(q->stored().raw_data());
  f(in);
  size_t i = 0;
  for (const auto* list : {&net.params, &net.state})
    for (const auto& q : *list) EXPECT_EQ(q->stored().raw_data(), before[i++]) << q->name();
}

// Dropout draws new numbers in every replay, the same as eager mode: the key is a state and the step advances it.
TEST(TrainStep, DropoutDrawsWhatEagerDraws) {
  Parameter a(Tensor::full({64}, 1), "a"), b(Tensor::full({64}, 1), "b");
  const auto step = [](Parameter& p, Span<const Tensor> in) -> TensorList {
    ops::begin_rng_step();
    Parameter* wrt[] = {&p};
    const auto [out, g] =
        value_and_grad([&](Span<const Tensor> x) -> TensorList { return {ops::sum(ops::dropout(ops::dropout(p.value(), 0.5) * x[0], 0.75))}; }, in, {}, wrt);
    p.assign(p.value() - g.of_params[0] * 0.125);
    ops::end_rng_step();
    return out;
  };
  const Tensor x[] = {wave({64}, 0)};
  std::vector<Tensor> want;
  ops::reset_rng(7);
  for (int s = 0; s < 4; ++s) {
    step(a, x);
    want.push_back(a.value());
  }
  const Tensor key = ops::rng_state().value();
  ops::reset_rng(7);
  CompiledFn f = compile([&](Span<const Tensor> in) { return step(b, in); });
  for (size_t s = 0; s < 4; ++s) {
    f(x);
    EXPECT_TRUE(same_bits(want[s], b.value())) << "step " << s;
  }
  EXPECT_EQ(f.num_signatures(), 1);
  EXPECT_TRUE(same_bits(key, ops::rng_state().value()));
  EXPECT_FALSE(same_bits(want[0], want[1]));
}

TEST(TrainStep, PrintedGraphReadsBack) {
  Mlp net;
  CompiledFn f = compile([&](Span<const Tensor> in) { return net.step(in); });
  f(TensorList{wave({16, 20}, 0), labels(16, 10, 0)});
  const std::string text = f.graph_text();
  EXPECT_NE(text.find("@ \"Mlp\""), std::string::npos);
  EXPECT_NE(text.find("momentum_update"), std::string::npos);
  const Graph back = parse_graph(text);
  verify_graph(back, "parsing");
  EXPECT_EQ(back.text(), text);
}

}  // namespace
}  // namespace sindri::train_step_test
