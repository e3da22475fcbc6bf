// Optimizers against loops in double over 50 steps; groups, decay rules, learning rates, clipping, names, refusals.
#include "sindri/optim/optimizer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <numeric>

#include "sindri/core/error.h"
#include "sindri/graph/compile.h"
#include "sindri/ops/elementwise.h"
#include "sindri/optim/adagrad.h"
#include "sindri/optim/adam.h"
#include "sindri/optim/ftrl.h"
#include "sindri/optim/lamb.h"
#include "sindri/optim/momentum.h"
#include "sindri/optim/registry.h"
#include "sindri/optim/rmsprop.h"
#include "sindri/optim/sgd.h"

namespace sindri::optim {
namespace {

using ::testing::ElementsAre;
using Vec = std::vector<double>;

// Two parameters: "fc.weight" [2, 3] and "bn.gamma" [3], and gradients that change from step to step.
struct Net {
  explicit Net(DType t = DType::kFloat64)
      : weight(Tensor::from_values({2, 3}, {1, -2, 3, -0.5, 0.25, 2}, t), "fc.weight"),
        gamma(Tensor::from_values({3}, {1, 1.5, 0.5}, t), "bn.gamma"),
        dtype(t) {}
  std::vector<Parameter*> all() { return {&weight, &gamma}; }
  TensorList grads(int step, const std::vector<Parameter*>& of) const {
    TensorList out;
    for (const Parameter* p : of) {
      Vec v(static_cast<size_t>(p->shape().numel()));
      for (size_t i = 0; i < v.size(); ++i) v[i] = std::sin(0.7 * step + 1.3 * static_cast<double>(i) + static_cast<double>(v.size()));
      out.push_back(Tensor::from_values(p->shape(), v, dtype));
    }
    return out;
  }
  Parameter weight, gamma;
  DType dtype;
};

// The rule for one parameter: value, gradient (without decay), number of the step from 1.
using Rule = std::function<void(Vec*, const Vec&, int)>;

void run_and_compare(Optimizer& opt, Net& net, const std::vector<Rule>& rules, double tol, double loss_scale = 1) {
  std::vector<Vec> want;
  for (const Parameter* p : opt.parameters()) want.push_back(p->stored().to_vector<double>());
  for (int t = 1; t <= 50; ++t) {
    TensorList grads = net.grads(t, opt.parameters());
    for (size_t k = 0; k < rules.size(); ++k) {
      rules[k](&want[k], grads[k].to_vector<double>(), t);
      if (loss_scale != 1) {
        Vec scaled = grads[k].to_vector<double>();
        for (double& g : scaled) g *= loss_scale;
        grads[k] = Tensor::from_values(grads[k].shape(), scaled, net.dtype);
      }
    }
    opt.apply(grads);
  }
  for (size_t k = 0; k < rules.size(); ++k) {
    const Vec got = opt.parameters()[k]->stored().to_vector<double>();
    for (size_t i = 0; i < got.size(); ++i)
      EXPECT_NEAR(got[i], want[k][i], tol * std::max(1.0, std::abs(want[k][i]))) << opt.parameters()[k]->name() << " " << i;
  }
}

Rule momentum_rule(double lr, double momentum, double wd, bool nesterov = false) {
  auto v = std::make_shared<Vec>();
  return [=](Vec* p, const Vec& grad, int) {
    v->resize(p->size(), 0);
    for (size_t i = 0; i < p->size(); ++i) {
      const double g = grad[i] + wd * (*p)[i];
      (*v)[i] = momentum * (*v)[i] + g;
      (*p)[i] -= lr * (nesterov ? g + momentum * (*v)[i] : (*v)[i]);
    }
  };
}

Rule sgd_rule(double lr, double momentum, double dampening, double wd, bool nesterov) {
  auto v = std::make_shared<Vec>();
  return [=](Vec* p, const Vec& grad, int t) {
    v->resize(p->size(), 0);
    for (size_t i = 0; i < p->size(); ++i) {
      const double g = grad[i] + wd * (*p)[i];
      (*v)[i] = t == 1 ? g : momentum * (*v)[i] + (1 - dampening) * g;
      (*p)[i] -= lr * (momentum == 0 ? g : nesterov ? g + momentum * (*v)[i] : (*v)[i]);
    }
  };
}

Rule adam_rule(double lr, double b1, double b2, double eps, double wd, bool decoupled) {
  auto m = std::make_shared<Vec>(), v = std::make_shared<Vec>();
  return [=](Vec* p, const Vec& grad, int t) {
    m->resize(p->size(), 0);
    v->resize(p->size(), 0);
    for (size_t i = 0; i < p->size(); ++i) {
      const double g = decoupled ? grad[i] : grad[i] + wd * (*p)[i];
      (*m)[i] = b1 * (*m)[i] + (1 - b1) * g;
      (*v)[i] = b2 * (*v)[i] + (1 - b2) * g * g;
      const double ratio = (*m)[i] / (std::sqrt((*v)[i]) + eps);
      if (decoupled) (*p)[i] -= lr * (ratio + wd * (*p)[i]);
      else (*p)[i] -= lr * std::sqrt(1 - std::pow(b2, t)) / (1 - std::pow(b1, t)) * ratio;
    }
  };
}

TEST(Momentum, FiftyStepsAndBetaGammaKeepTheirSize) {
  Net net;
  Momentum opt(net.all(), {.learning_rate = 0.05, .momentum = 0.9, .weight_decay = 0.1, .loss_scale = 8});
  run_and_compare(opt, net, {momentum_rule(0.05, 0.9, 0.1), momentum_rule(0.05, 0.9, 0)}, 1e-12, 8);
}

TEST(Momentum, Float32AndNesterov) {
  Net net(DType::kFloat32);
  Momentum opt(net.all(), {.learning_rate = 0.05, .momentum = 0.9, .use_nesterov = true});
  run_and_compare(opt, net, {momentum_rule(0.05, 0.9, 0, true), momentum_rule(0.05, 0.9, 0, true)}, 2e-6);
}

TEST(Sgd, FiftyStepsDecayWhatTheOthersDecayOrEverything) {
  for (const auto& [momentum, dampening, nesterov] : std::vector<std::tuple<double, double, bool>>{{0, 0, false}, {0.9, 0.3, false}, {0.8, 0, true}}) {
    Net net;
    SGD opt(net.all(), {.learning_rate = 0.05, .momentum = momentum, .dampening = dampening, .weight_decay = 0.1, .nesterov = nesterov});
    run_and_compare(opt, net, {sgd_rule(0.05, momentum, dampening, 0.1, nesterov), sgd_rule(0.05, momentum, dampening, 0, nesterov)}, 1e-12);
    Net other;
    SGD all(other.all(), {.learning_rate = 0.05, .momentum = momentum, .dampening = dampening, .weight_decay = 0.1, .decay_all = true, .nesterov = nesterov});
    run_and_compare(all, other, {sgd_rule(0.05, momentum, dampening, 0.1, nesterov), sgd_rule(0.05, momentum, dampening, 0.1, nesterov)}, 1e-12);
  }
}

TEST(Adam, FiftySteps) {
  Net net;
  Adam opt(net.all(), {.learning_rate = 0.01, .beta1 = 0.8, .beta2 = 0.95, .weight_decay = 0.1});
  run_and_compare(opt, net, {adam_rule(0.01, 0.8, 0.95, 1e-8, 0.1, false), adam_rule(0.01, 0.8, 0.95, 1e-8, 0, false)}, 1e-11);
  Net decoupled;
  AdamWeightDecay other(decoupled.all(), {.learning_rate = 0.01, .weight_decay = 0.1});
  run_and_compare(other, decoupled, {adam_rule(0.01, 0.9, 0.999, 1e-6, 0.1, true), adam_rule(0.01, 0.9, 0.999, 1e-6, 0, true)}, 1e-11);
}

TEST(Groups, OwnRateDecayAndOrder) {
  Net net;
  std::vector<ParamGroup> groups(3);
  groups[0] = {.params = {&net.weight}, .lr = 0.02, .weight_decay = 0.3};
  groups[1] = {.params = {&net.gamma}};
  groups[2].order_params = {&net.gamma, &net.weight};
  Momentum opt(groups, {.learning_rate = 0.1, .momentum = 0.5, .weight_decay = 0.05});
  EXPECT_THAT(opt.parameters(), ElementsAre(&net.gamma, &net.weight));
  EXPECT_DOUBLE_EQ(opt.weight_decay(0), 0.05) << "with groups gamma is decayed as given";
  const TensorList lr = opt.get_lr();
  ASSERT_EQ(lr.size(), 2u);
  EXPECT_DOUBLE_EQ(lr[0].item(), 0.1);
  EXPECT_DOUBLE_EQ(lr[1].item(), 0.02);
  run_and_compare(opt, net, {momentum_rule(0.1, 0.5, 0.05), momentum_rule(0.02, 0.5, 0.3)}, 1e-12);
}

TEST(Groups, CentralisationTakesTheMeanOffDecayedGradients) {
  Net net;
  Vec values(32);
  for (size_t i = 0; i < values.size(); ++i) values[i] = std::cos(static_cast<double>(i));
  Parameter wide(Tensor::from_values({2, 16}, values, DType::kFloat64), "wide");
  std::vector<ParamGroup> groups(2);
  groups[0] = {.params = {&wide}, .weight_decay = 0.2, .grad_centralization = true};
  // Unchanged: the second dimension is not a multiple of 16, or there is none.
  groups[1] = {.params = {&net.weight, &net.gamma}, .grad_centralization = true};
  Momentum opt(groups, {.learning_rate = 0.1, .momentum = 0, .loss_scale = 4});
  const Rule centred = [](Vec* p, const Vec& grad, int) {
    Vec g = grad;
    for (size_t i = 0; i < 32; ++i) g[i] += 0.2 * (*p)[i];
    for (size_t r = 0; r < 2; ++r) {
      const double mean = std::accumulate(g.begin() + static_cast<std::ptrdiff_t>(16 * r), g.begin() + static_cast<std::ptrdiff_t>(16 * r + 16), 0.0) / 16;
      for (size_t c = 0; c < 16; ++c) (*p)[r * 16 + c] -= 0.1 * (g[r * 16 + c] - mean);
    }
  };
  run_and_compare(opt, net, {centred, momentum_rule(0.1, 0, 0), momentum_rule(0.1, 0, 0)}, 1e-12, 4);
}

TEST(Rates, ATableAndItsEnd) {
  Net net;
  Momentum opt(net.all(), {.learning_rate = std::vector<float>{0.5f, 0.25f, 0.125f}, .momentum = 0});
  EXPECT_TRUE(opt.dynamic_lr());
  for (double want : {0.5, 0.25, 0.125, 0.125}) {
    EXPECT_EQ(opt.get_lr()[0].item(), want);
    const Vec before = net.gamma.stored().to_vector<double>();
    const TensorList g = net.grads(1, opt.parameters());
    opt.apply(g);
    EXPECT_NEAR(net.gamma.stored().to_vector<double>()[0], before[0] - want * g[1].to_vector<double>()[0], 1e-12);
  }
  EXPECT_EQ(opt.global_step().stored().to_vector<int32_t>(), std::vector<int32_t>{4});
  EXPECT_EQ(opt.global_step().dtype(), DType::kInt32);
  EXPECT_THROW(opt.set_lr(0.1), ValueError);
}

TEST(Rates, AScheduleAndAConstant) {
  Net net(DType::kFloat32);
  Momentum opt(net.all(), {.learning_rate = std::make_shared<WarmUpLR>(0.4, 4)});
  for (int t = 0; t < 6; ++t) {
    EXPECT_FLOAT_EQ(static_cast<float>(opt.get_lr()[0].item()), 0.1f * static_cast<float>(std::min(t, 4)));
    opt.apply(net.grads(t, opt.parameters()));
  }
  Momentum fixed(net.all(), {.learning_rate = 0.1});
  fixed.apply(net.grads(1, fixed.parameters()));
  EXPECT_EQ(fixed.global_step().stored().to_vector<int32_t>(), std::vector<int32_t>{1});
  fixed.count_every_update(false);
  fixed.apply(net.grads(1, fixed.parameters()));
  EXPECT_EQ(fixed.global_step().stored().to_vector<int32_t>(), std::vector<int32_t>{1}) << "MindSpore 1 advances it with a dynamic rate only";
  fixed.set_lr(0.25);
  EXPECT_EQ(fixed.get_lr()[0].item(), 0.25);
}

// 0.1·(t + 1) for step t, for parameters that decay; AdamWeightDecay applies decay itself, with the learning rate.
class RisingDecay final : public LearningRateSchedule {
 public:
  Tensor construct(const Tensor& global_step) const override { return ops::mul(ops::add(ops::cast(global_step, DType::kFloat32), 1.0), 0.125); }
};

TEST(Decay, OfTheStep) {
  Net net, decoupled;
  Momentum opt(net.all(), {.learning_rate = 0.1, .momentum = 0, .weight_decay = std::make_shared<RisingDecay>(), .loss_scale = 4});
  const Rule rising = [](Vec* p, const Vec& g, int t) {
    for (size_t i = 0; i < p->size(); ++i) (*p)[i] -= 0.1 * (g[i] + 0.125 * t * (*p)[i]);
  };
  run_and_compare(opt, net, {rising, momentum_rule(0.1, 0, 0)}, 1e-12, 4);
  EXPECT_THROW(opt.weight_decay(0), ValueError);
  EXPECT_EQ(opt.weight_decay(1), 0);
  EXPECT_TRUE(opt.dynamic());
  AdamWeightDecay other(decoupled.all(), {.learning_rate = 0.01, .weight_decay = std::make_shared<RisingDecay>()});
  const Rule plain = adam_rule(0.01, 0.9, 0.999, 1e-6, 0, true);
  const Rule with_decay = [=](Vec* p, const Vec& g, int t) {
    const Vec before = *p;
    plain(p, g, t);
    for (size_t i = 0; i < p->size(); ++i) (*p)[i] -= 0.01 * 0.125 * t * before[i];
  };
  run_and_compare(other, decoupled, {with_decay, adam_rule(0.01, 0.9, 0.999, 1e-6, 0, true)}, 1e-9);
}

TEST(Rules, TakeGradientsThatAreReady) {
  Net net;
  Momentum opt(net.all(), {.learning_rate = 0.1, .momentum = 0, .weight_decay = 1, .loss_scale = 8});
  const TensorList g = net.grads(1, net.all()), rates = {Tensor::scalar(0.5), Tensor::scalar(0.25)};
  const Vec before = net.weight.stored().to_vector<double>(), gamma = net.gamma.stored().to_vector<double>();
  opt.apply_rule(g, rates);
  for (size_t i = 0; i < 6; ++i) EXPECT_NEAR(net.weight.stored().to_vector<double>()[i], before[i] - 0.5 * g[0].to_vector<double>()[i], 1e-15);
  for (size_t i = 0; i < 3; ++i) EXPECT_NEAR(net.gamma.stored().to_vector<double>()[i], gamma[i] - 0.25 * g[1].to_vector<double>()[i], 1e-15);
  EXPECT_EQ(opt.global_step().stored().to_vector<int32_t>(), std::vector<int32_t>{1});
  EXPECT_THROW(opt.apply_rule(g, {}), ValueError);
  EXPECT_THROW(opt.apply_rule(g, {rates[0], rates[0], rates[0]}), ValueError);
  EXPECT_THROW(opt.apply_rule({g[0]}, rates), ValueError);
}

TEST(Lars, TakesDecayAndScaleOverFromWhatItWraps) {
  Net net;
  const auto inner = std::make_shared<Momentum>(net.all(), MomentumOptions{.learning_rate = 0.5, .momentum = 0, .weight_decay = 0.25, .loss_scale = 4});
  LARS opt(inner, {.epsilon = 0, .coefficient = 0.125});
  const Rule rescaled = [](Vec* p, const Vec& g, int) {
    double p_norm = 0, g_norm = 0;
    for (size_t i = 0; i < p->size(); ++i) p_norm += (*p)[i] * (*p)[i], g_norm += g[i] * g[i];
    p_norm = std::sqrt(p_norm), g_norm = std::sqrt(g_norm);
    const double factor = 0.125 * p_norm / (g_norm + (p->size() == 6 ? 0.25 : 0) * p_norm);  // gamma does not decay
    for (size_t i = 0; i < p->size(); ++i) (*p)[i] -= 0.5 * factor * (g[i] + (p->size() == 6 ? 0.25 : 0) * (*p)[i]);
  };
  run_and_compare(opt, net, {rescaled, rescaled}, 1e-12, 4);
  EXPECT_EQ(inner->global_step().stored().to_vector<int32_t>(), std::vector<int32_t>{50});
  EXPECT_EQ(opt.state(), inner->state());
  EXPECT_THROW(LARS(nullptr, {}), ValueError);
  EXPECT_THROW(LARS(inner, {.coefficient = -1}), ValueError);
}

// Clipping comes after division by the loss scale and before decay and rescaling.
TEST(Lars, ClipsWhatItHasUnscaled) {
  Net net;
  const double wd = 0.25, largest = 0.75;
  const auto inner = std::make_shared<Momentum>(
      net.all(), MomentumOptions{.learning_rate = 0.5, .momentum = 0, .weight_decay = wd, .loss_scale = 4, .grad_clip = {.global_norm = largest}});
  LARS opt(inner, {.epsilon = 0.01, .coefficient = 0.125});
  std::vector<Vec> want = {net.weight.stored().to_vector<double>(), net.gamma.stored().to_vector<double>()};
  for (int t = 1; t <= 20; ++t) {
    const TensorList grads = net.grads(t, net.all());
    std::vector<Vec> g = {grads[0].to_vector<double>(), grads[1].to_vector<double>()};
    double all = 0;
    for (const Vec& one : g)
      for (const double x : one) all += x / 4 * x / 4 / 4;  // inv_scale of 0.5 in addition to the optimizer's 1/4
    const double clip = std::min(1.0, largest / std::sqrt(all));
    for (size_t k = 0; k < g.size(); ++k) {
      const double decay = k == 0 ? wd : 0;  // gamma does not decay
      double p_norm = 0, g_norm = 0;
      for (double& x : g[k]) x *= 0.125 * clip, g_norm += x * x;
      for (const double x : want[k]) p_norm += x * x;
      p_norm = std::sqrt(p_norm), g_norm = std::sqrt(g_norm);
      const double factor = 0.125 * p_norm / (g_norm + decay * p_norm + 0.01);
      for (size_t i = 0; i < g[k].size(); ++i) want[k][i] -= 0.5 * factor * (g[k][i] + decay * want[k][i]);
    }
    opt.apply(grads, Tensor::full({}, 0.5, DType::kFloat64));
  }
  for (size_t k = 0; k < want.size(); ++k) {
    const Vec got = opt.parameters()[k]->stored().to_vector<double>();
    for (size_t i = 0; i < got.size(); ++i) EXPECT_NEAR(got[i], want[k][i], 1e-12) << k << " " << i;
  }
}

// A Momentum with the hooks of second-order optimizers.
class WithHooks final : public Optimizer {
 public:
  WithHooks(Params params, const OptimizerOptions& o) : Optimizer("WithHooks", std::move(params), o) {
    shared_state("power", 1);
    init_state();
  }
  bool wants_uses() const override { return true; }
  Gradients precondition(Gradients g) override {
    for (Tensor& t : g.of_params) t = ops::mul(t, 2.0);
    return g;
  }
  int variant(int64_t step) const override { return static_cast<int>(step % 3); }

 protected:
  std::vector<Slot> slots() const override { return {{.prefix = "slot"}}; }
  Tensor update(const Parameter& p, const Tensor& grad, const Tensor& lr, double, const UpdateControl&, const std::vector<Parameter*>&) override {
    return ops::sub(p.value(), ops::mul(grad, lr));
  }
};

TEST(Lars, IsTheWrappedOptimizerButForTheGradients) {
  Net net;
  const auto inner = std::make_shared<WithHooks>(net.all(), OptimizerOptions{.learning_rate = std::vector<float>{0.5f, 0.25f}, .weight_decay = 0.125});
  LARS opt(inner, {});
  EXPECT_TRUE(opt.wants_uses());
  EXPECT_EQ(opt.variant(5), 2);
  Gradients g;
  g.of_params = {Tensor::scalar(3.0)};
  EXPECT_EQ(opt.precondition(g).of_params[0].item(), 6);
  EXPECT_TRUE(opt.dynamic());
  EXPECT_EQ(opt.weight_decay(0), 0.125);
  EXPECT_EQ(opt.weight_decay(1), 0) << "gamma";
  EXPECT_EQ(opt.rate_slot(0), inner->rate_slot(0));
  EXPECT_EQ(opt.state_of(1), inner->state_of(1));
  EXPECT_EQ(opt.shared_states(), inner->shared_states());
  EXPECT_EQ(opt.base_options().learning_rate.per_step().size(), 2u);
  const Vec before = net.weight.stored().to_vector<double>();
  const TensorList grads = net.grads(1, net.all());
  opt.apply_rule(grads, {Tensor::full({}, 0.5, DType::kFloat64)});
  for (size_t i = 0; i < 6; ++i) EXPECT_NEAR(net.weight.stored().to_vector<double>()[i], before[i] - 0.5 * grads[0].to_vector<double>()[i], 1e-15);
  EXPECT_THROW(LARS(std::make_shared<LARS>(inner, LARSOptions{}), {}), ValueError);
  // count_every_update passes through to the wrapped optimizer.
  Net fixed;
  const auto plain = std::make_shared<Momentum>(fixed.all(), MomentumOptions{.learning_rate = 0.5});
  LARS counting(plain, {});
  counting.count_every_update(false);
  counting.apply(grads);
  EXPECT_EQ(plain->global_step().stored().to_vector<int32_t>(), std::vector<int32_t>{0});
}

// The corrections of its moments use global_step, which a fixed learning rate would not advance.
TEST(LambRule, CountsEveryUpdateOfItsOwnAccord) {
  Net counted, not_asked;
  Lamb a(counted.all(), {.learning_rate = 0.1}), b(not_asked.all(), {.learning_rate = 0.1});
  b.count_every_update(false);
  for (int t = 1; t <= 3; ++t) a.apply(counted.grads(t, counted.all())), b.apply(counted.grads(t, counted.all()));
  EXPECT_EQ(b.global_step().stored().to_vector<int32_t>(), std::vector<int32_t>{3});
  EXPECT_EQ(counted.weight.stored().to_vector<double>(), not_asked.weight.stored().to_vector<double>());
}

TEST(Rates, AnEmptyTableIsRefused) { EXPECT_THROW(LearningRate(std::vector<float>{}), ValueError); }

TEST(Skipping, LeavesEverythingOfEveryOptimizer) {
  for (const std::string& name : optimizers().names()) {
    Net skipping(DType::kFloat32), plain(DType::kFloat32);
    const OptimizerOptions options{.learning_rate = std::vector<float>{0.1f, 0.2f, 0.3f}, .weight_decay = 0.01};
    const OptimizerOptions fixed{.learning_rate = 0.1, .weight_decay = 0.01};
    const auto make = [&](Net& net) { return optimizers().make(name, {}, Params(net.all()), name == "ftrl" ? fixed : options); };
    const auto a = make(skipping), b = make(plain);
    for (int t = 0; t < 3; ++t) {
      const bool skip = t == 1;
      TensorList g = skipping.grads(t, skipping.all());
      if (skip) g[0] = Tensor::full({2, 3}, HUGE_VAL);
      a->apply(g, Tensor::scalar(0.5), Tensor::full({}, skip ? 1 : 0, DType::kBool));
      if (!skip) b->apply(g, Tensor::scalar(0.5));
    }
    EXPECT_EQ(skipping.weight.stored().to_vector<float>(), plain.weight.stored().to_vector<float>()) << name;
    const std::vector<Parameter*> sa = a->state(), sb = b->state();
    for (size_t i = 0; i < sa.size(); ++i) EXPECT_EQ(sa[i]->stored().to_vector<double>(), sb[i]->stored().to_vector<double>()) << name << " " << sa[i]->name();
  }
}

// Many parameters form one node, except if the rule depends on their norms; a rule composed of ops has no separate node, and uses clusters instead.
TEST(Graph, EveryRuleIsGrouped) {
  for (const std::string& name : optimizers().names()) {
    Net net(DType::kFloat32);
    const auto opt = optimizers().make(name, {}, Params(net.all()), OptimizerOptions{.learning_rate = 0.1});
    CompiledFn step = compile([&](Span<const Tensor> g) -> TensorList {
      opt->apply({g.begin(), g.end()});
      return {};
    });
    step(net.grads(1, net.all()));
    const std::string text = step.graph_text();
    const bool composed = text.find("_update(") == std::string::npos && text.find("lamb_direction(") == std::string::npos;
    EXPECT_NE(text.find(composed ? "= elementwise_cluster(" : "= group_update("), std::string::npos) << name << ":\n" << text;
  }
}

TEST(Clipping, GlobalNormAfterUnscaling) {
  Net net;
  Momentum opt(net.all(), {.learning_rate = 1, .momentum = 0, .loss_scale = 10, .grad_clip = {.global_norm = 1}});
  const Vec w = net.weight.stored().to_vector<double>(), g = net.gamma.stored().to_vector<double>();
  opt.apply({Tensor::full({2, 3}, 20, DType::kFloat64), Tensor::full({3}, 0, DType::kFloat64)});  // 2 unscaled, norm 2·sqrt(6)
  for (size_t i = 0; i < 6; ++i) EXPECT_NEAR(net.weight.stored().to_vector<double>()[i], w[i] - 1 / std::sqrt(6.0), 1e-12);
  EXPECT_EQ(net.gamma.stored().to_vector<double>(), g);
  Net other;
  Momentum by_value(other.all(), {.learning_rate = 1, .momentum = 0, .grad_clip = {.value = 0.5}});
  by_value.apply({Tensor::full({2, 3}, -3, DType::kFloat64), Tensor::full({3}, 0.25, DType::kFloat64)});
  EXPECT_NEAR(other.weight.stored().to_vector<double>()[0], 1.5, 1e-12);
  EXPECT_NEAR(other.gamma.stored().to_vector<double>()[0], 0.75, 1e-12);
}

std::vector<std::string> state_names(Optimizer& opt) {
  std::vector<std::string> out;
  for (const Parameter* p : opt.state()) out.push_back(p->name());
  return out;
}

TEST(State, NamesAreMindSpores) {
  Net net;
  Momentum momentum(net.all(), {});
  EXPECT_THAT(state_names(momentum), ElementsAre("moments.fc.weight", "moments.bn.gamma", "momentum", "learning_rate", "global_step"));
  SGD sgd(net.all(), {});
  EXPECT_THAT(state_names(sgd), ElementsAre("accum.fc.weight", "accum.bn.gamma", "stat.fc.weight", "stat.bn.gamma", "learning_rate", "global_step"));
  Adam adam(net.all(), {});
  EXPECT_THAT(state_names(adam),
              ElementsAre("moment1.fc.weight", "moment1.bn.gamma", "moment2.fc.weight", "moment2.bn.gamma", "beta1_power", "beta2_power", "learning_rate",
                          "global_step"));
  AdamWeightDecay decoupled(net.all(), {});
  EXPECT_THAT(state_names(decoupled),
              ElementsAre("adam_m.fc.weight", "adam_m.bn.gamma", "adam_v.fc.weight", "adam_v.bn.gamma", "learning_rate", "global_step"));
  EXPECT_EQ(momentum.global_step().shape(), (Shape{1}));
}

TEST(Graph, TracedStepsEqualEagerOnes) {
  Net eager(DType::kFloat32), traced(DType::kFloat32);
  const auto make = [](Net& net) {
    return std::make_unique<Adam>(
        net.all(),
        AdamOptions{.learning_rate = std::vector<float>{0.1f, 0.05f, 0.02f}, .weight_decay = 0.01, .loss_scale = 2, .grad_clip = {.global_norm = 3}});
  };
  auto a = make(eager), b = make(traced);
  CompiledFn step = compile(
      [&](Span<const Tensor> g) -> TensorList {
        b->apply({g.begin(), g.end()});
        return {b->get_lr()[0]};
      },
      {.disable_passes = {"all"}});
  for (int t = 0; t < 5; ++t) {
    a->apply(eager.grads(t, eager.all()));
    step(traced.grads(t, traced.all()));
  }
  EXPECT_EQ(step.num_signatures(), 1);
  EXPECT_EQ(eager.weight.stored().to_vector<float>(), traced.weight.stored().to_vector<float>());
  const std::vector<Parameter*> sa = a->state(), sb = b->state();
  for (size_t i = 0; i < sa.size(); ++i) EXPECT_EQ(sa[i]->stored().to_vector<double>(), sb[i]->stored().to_vector<double>()) << sa[i]->name();
}

// The two halves of a step equal the whole: in values, state and graph.
TEST(TwoStages, GiveTheBitsAndTheGraphOfApply) {
  Net whole(DType::kFloat32), halves(DType::kFloat32);
  const AdamOptions options{.learning_rate = std::vector<float>{0.1f, 0.05f, 0.02f}, .weight_decay = 0.01, .grad_clip = {.global_norm = 3}};
  Adam a(whole.all(), options), b(halves.all(), options);
  const auto compiled = [](const std::function<void(const TensorList&)>& step) {
    return compile([step](Span<const Tensor> g) -> TensorList {
      step({g.begin(), g.end()});
      return {};
    });
  };
  CompiledFn apply = compiled([&](const TensorList& g) { a.apply(g); });
  CompiledFn stages = compiled([&](const TensorList& g) { b.assign_updates(b.compute_updates(g)); });
  for (int t = 0; t < 5; ++t) {
    apply(whole.grads(t, whole.all()));
    stages(halves.grads(t, halves.all()));
  }
  EXPECT_EQ(apply.graph_text(), stages.graph_text());
  EXPECT_EQ(whole.weight.stored().to_vector<float>(), halves.weight.stored().to_vector<float>());
  const std::vector<Parameter*> sa = a.state(), sb = b.state();
  for (size_t i = 0; i < sa.size(); ++i) EXPECT_EQ(sa[i]->stored().to_vector<double>(), sb[i]->stored().to_vector<double>()) << sa[i]->name();
}

TEST(TwoStages, ParametersWaitAndTheirChangeCanBeReplaced) {
  Net net;
  Momentum opt(net.all(), {.learning_rate = 0.5, .momentum = 0});
  const Vec before = net.weight.stored().to_vector<double>();
  const TensorList grads = net.grads(1, net.all());
  Updates u = opt.compute_updates(grads);
  EXPECT_THAT(u.params, ElementsAre(&net.weight, &net.gamma));
  EXPECT_EQ(net.weight.stored().to_vector<double>(), before);
  const Vec g = grads[0].to_vector<double>(), delta = u.delta(0).to_vector<double>();
  for (size_t i = 0; i < 6; ++i) EXPECT_NEAR(delta[i], -0.5 * g[i], 1e-15);
  u.set_delta(0, Tensor::full({2, 3}, 0.25, DType::kFloat32));
  opt.assign_updates(u);
  for (size_t i = 0; i < 6; ++i) EXPECT_EQ(net.weight.stored().to_vector<double>()[i], before[i] + 0.25);
  EXPECT_NEAR(net.gamma.stored().to_vector<double>()[0], 1 - 0.5 * grads[1].to_vector<double>()[0], 1e-15);
  EXPECT_EQ(opt.state()[0]->stored().to_vector<double>(), g) << "the velocity was written by the first half";
}

TEST(TwoStages, ASkippedStepsValuesAreTheOldOnes) {
  Net net;
  Adam opt(net.all(), {.learning_rate = 0.5});
  const Updates u = opt.compute_updates(net.grads(1, net.all()), {}, Tensor::full({}, 1, DType::kBool));
  EXPECT_EQ(u.values[0].to_vector<double>(), net.weight.stored().to_vector<double>());
  EXPECT_EQ(u.delta(1).to_vector<double>(), Vec(3, 0));
}

TEST(TwoStages, Refusals) {
  Net net;
  Momentum opt(net.all(), {});
  Updates u = opt.compute_updates(net.grads(1, net.all()));
  EXPECT_THROW(u.set_delta(0, Tensor::zeros({3})), ShapeError);
  EXPECT_THROW(u.set_delta(0, Tensor()), ShapeError);
  Updates missing = u, wrong = u;
  missing.values.pop_back();
  EXPECT_THROW(opt.assign_updates(missing), ValueError);
  wrong.values[1] = Tensor::zeros({4}, DType::kFloat64);
  const Vec before = net.weight.stored().to_vector<double>();
  EXPECT_THROW(opt.assign_updates(wrong), ShapeError);
  EXPECT_EQ(net.weight.stored().to_vector<double>(), before) << "all or none";
}

TEST(Optimizer, Refusals) {
  Net net;
  Parameter unnamed(Tensor::zeros({1}), ""), twin(Tensor::zeros({1}), "fc.weight");
  EXPECT_THROW(Momentum(std::vector<Parameter*>{}, {}), ValueError);
  EXPECT_THROW(Momentum(std::vector<Parameter*>{nullptr}, {}), ValueError);
  EXPECT_THROW(Momentum(std::vector<Parameter*>{&unnamed}, {}), ValueError);
  EXPECT_THROW(Momentum(std::vector<Parameter*>{&net.weight, &net.weight}, {}), ValueError);
  EXPECT_THROW(Momentum(std::vector<Parameter*>{&net.weight, &twin}, {}), ValueError);
  EXPECT_THROW(Momentum(net.all(), {.learning_rate = -0.1}), ValueError);
  EXPECT_THROW(Momentum(net.all(), {.learning_rate = std::vector<float>{0.1f, -0.1f}}), ValueError);
  EXPECT_THROW(Momentum(net.all(), {.momentum = -1}), ValueError);
  EXPECT_THROW(Momentum(net.all(), {.weight_decay = -1}), ValueError);
  EXPECT_THROW(Momentum(net.all(), {.loss_scale = 0}), ValueError);
  EXPECT_THROW(SGD(net.all(), {.nesterov = true}), ValueError);
  EXPECT_THROW(SGD(net.all(), {.momentum = 0.9, .dampening = 0.1, .nesterov = true}), ValueError);
  EXPECT_THROW(Adam(net.all(), {.beta1 = 1}), ValueError);
  EXPECT_THROW(Adam(net.all(), {.eps = 0}), ValueError);
  EXPECT_THROW(Adam(net.all(), {.use_nesterov = true, .use_amsgrad = true}), ValueError);
  EXPECT_THROW(AdaMax(net.all(), {.beta2 = 0}), ValueError);
  EXPECT_THROW(Lamb(net.all(), {.beta1 = 1}), ValueError);
  EXPECT_THROW(Adagrad(net.all(), {.accum = -1}), ValueError);
  EXPECT_THROW(Adadelta(net.all(), {.rho = 1.5}), ValueError);
  EXPECT_THROW(RMSProp(net.all(), {.epsilon = 0}), ValueError);
  EXPECT_THROW(FTRL(net.all(), {.lr_power = 0.5}), ValueError);
  EXPECT_THROW(FTRL(std::vector<ParamGroup>{{.params = {&net.weight}, .lr = 0.1}}, {}), ValueError);
  EXPECT_THROW(Momentum(std::vector<ParamGroup>{{.params = {&net.weight}, .lr = std::vector<float>{0.1f}}}, {.learning_rate = std::vector<float>{0.1f, 0.2f}}),
               ValueError)
      << "tables of different lengths";
  Momentum opt(net.all(), {});
  EXPECT_THROW(opt.apply({Tensor::zeros({2, 3})}), ValueError);
  EXPECT_THROW(opt.apply({Tensor::zeros({2, 3}), Tensor::zeros({4})}), ShapeError);
  EXPECT_THROW(opt.apply({Tensor::zeros({2, 3}), Tensor()}), ShapeError);
}

TEST(Groups, Refusals) {
  Net net;
  const auto with_order = [&](std::vector<Parameter*> order) {
    std::vector<ParamGroup> groups(2);
    groups[0].params = {&net.weight};
    groups[1].order_params = std::move(order);
    return groups;
  };
  EXPECT_NO_THROW(Momentum(with_order({&net.weight}), {}));
  EXPECT_THROW(Momentum(with_order({&net.gamma}), {}), ValueError);
  EXPECT_THROW(Momentum(with_order({&net.weight, &net.weight}), {}), ValueError);
  std::vector<ParamGroup> both = with_order({&net.weight});
  both[1].params = {&net.gamma};
  EXPECT_THROW(Momentum(both, {}), ValueError);
  EXPECT_THROW(Momentum(std::vector<ParamGroup>(1), {}), ValueError);
  EXPECT_THROW(Momentum(std::vector<ParamGroup>{{.params = {&net.weight}, .weight_decay = -1}}, {}), ValueError);
  EXPECT_THROW(Momentum(std::vector<ParamGroup>{{.params = {&net.weight}}, {.params = {&net.weight}}}, {}), ValueError);
}

}  // namespace
}  // namespace sindri::optim
