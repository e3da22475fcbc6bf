// Loss scales: their updates against a computation by hand, skipped steps, checkpoints, and refused options.
#include "sindri/train/loss_scale.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "sindri/core/context.h"
#include "sindri/core/error.h"
#include "sindri/ops/elementwise.h"
#include "sindri/ops/reduce.h"
#include "sindri/ops/shape.h"
#include "sindri/optim/adam.h"
#include "sindri/optim/sgd.h"
#include "sindri/train/training_state.h"
#include "tests/amp/small_net.h"
#include "tests/train/temp_folder.h"

namespace sindri::loss_scale_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using train::DynamicLossScaleManager;
using train::FixedLossScaleManager;

const std::vector<Mode> kModes = {Mode::kPynative, Mode::kGraph};

class ModeGuard {
 public:
  explicit ModeGuard(Mode m) { set_mode(m); }
  ~ModeGuard() { set_mode(Mode::kGraph); }
};

// '.' is a step whose gradients are finite, 'x' one that overflows.
std::vector<double> course(DynamicLossScaleManager& m, const std::string& steps, Mode mode) {
  CompiledFn compiled(
      [&](Span<const Tensor> in, int) -> TensorList {
        m.update(ops::all_finite({in[0]}));
        return {};
      },
      {});
  std::vector<double> scales;
  for (const char step : steps) {
    const Tensor gradient = Tensor::scalar(step == 'x' ? HUGE_VAL : 1, DType::kFloat32);
    if (mode == Mode::kGraph) compiled({&gradient, 1});
    else m.update(ops::all_finite({gradient}));
    scales.push_back(m.get_loss_scale());
  }
  return scales;
}

TEST(LossScale, DynamicGoesAsComputedByHand) {
  for (const Mode mode : kModes) {
    DynamicLossScaleManager m(8, 2, 3);
    EXPECT_THAT(course(m, "...", mode), ElementsAre(8, 8, 16)) << "grows after the third clean step";
    EXPECT_THAT(course(m, "x..", mode), ElementsAre(8, 8, 8)) << "halves and counts from there";
    EXPECT_THAT(course(m, "....", mode), ElementsAre(16, 16, 16, 32));
    EXPECT_THAT(course(m, "..x..x", mode), ElementsAre(32, 32, 16, 16, 16, 8)) << "an overflow restarts the count";
    EXPECT_THAT(course(m, "xxxx", mode), ElementsAre(4, 2, 1, 1)) << "not below 1";
    DynamicLossScaleManager large(0x1p125, 4, 1);
    EXPECT_THAT(course(large, "..x", mode), ElementsAre(0x1p126, 0x1p126, 0x1p124)) << "its inverse stays a normal number";
  }
  DynamicLossScaleManager m(8, 2, 3);
  m.update_loss_scale(true);
  EXPECT_EQ(m.get_loss_scale(), 4);
  m.update_loss_scale(false);
  EXPECT_EQ(m.get_loss_scale(), 4);
}

using MakeOptimizer = std::function<std::unique_ptr<optim::Optimizer>(const std::vector<Parameter*>&)>;
const std::vector<std::pair<std::string, MakeOptimizer>> kOptimizers = {
    {"momentum", [](const auto& p) { return std::make_unique<optim::Momentum>(p, optim::MomentumOptions{.learning_rate = 0.05, .weight_decay = 1e-3}); }},
    {"rates",
     [](const auto& p) {
       return std::make_unique<optim::Momentum>(p,
                                                optim::MomentumOptions{.learning_rate = std::vector<float>{0.1f, 0.05f, 0.02f, 0.01f}, .use_nesterov = true});
     }},
    {"clipped",
     [](const auto& p) { return std::make_unique<optim::Momentum>(p, optim::MomentumOptions{.learning_rate = 0.05, .grad_clip = {.global_norm = 0.5}}); }},
    {"centralized",
     [](const auto& p) {
       return std::make_unique<optim::Momentum>(std::vector<optim::ParamGroup>{{.params = p, .grad_centralization = true}},
                                                optim::MomentumOptions{.weight_decay = 1e-3});
     }},
    {"sgd", [](const auto& p) { return std::make_unique<optim::SGD>(p, optim::SGDOptions{.learning_rate = 0.05, .momentum = 0.9}); }},
    {"adam", [](const auto& p) { return std::make_unique<optim::Adam>(p, optim::AdamOptions{}); }},
    {"adam_weight_decay", [](const auto& p) { return std::make_unique<optim::AdamWeightDecay>(p, optim::AdamWeightDecayOptions{.weight_decay = 1e-2}); }},
};

struct Training {
  Training(const MakeOptimizer& make, const train::TrainStepOptions& options) : net(test::small_net_with_loss()), optimizer(make(net->trainable_params())) {
    step = train::make_train_step(*net, *optimizer, options);
    runner = std::make_unique<train::StepRunner>(step);
  }
  train::StepResult run(const TensorList& batch) { return (*runner)(batch, steps++); }
  std::vector<std::vector<char>> bytes() { return test::state_bytes(*net, *optimizer); }

  nn::CellPtr net;
  std::unique_ptr<optim::Optimizer> optimizer;
  train::TrainStep step;
  std::unique_ptr<train::StepRunner> runner;
  int64_t steps = 0;
};

TensorList overflowing_batch() {
  TensorList batch = test::small_batch(6, 5);
  std::vector<double> x = batch[0].to_vector<double>();
  x[40] = HUGE_VAL;
  batch[0] = Tensor::from_values(batch[0].shape(), x, DType::kFloat32);
  return batch;
}

TEST(LossScale, AStepThatOverflowsLeavesEveryBitAsItWas) {
  for (const Mode mode : kModes) {
    const ModeGuard guard(mode);
    for (const auto& [name, make] : kOptimizers) {
      SCOPED_TRACE(name);
      const auto manager = std::make_shared<DynamicLossScaleManager>(1024, 2, 1000);
      Training t(make, {.loss_scale_manager = manager});
      EXPECT_EQ(t.run(test::small_batch(6, 1)).finite.item(), 1);
      const auto before = t.bytes();
      EXPECT_EQ(t.run(overflowing_batch()).finite.item(), 0);
      EXPECT_EQ(t.bytes(), before) << "parameters, moving statistics, moments, counters";
      EXPECT_EQ(manager->get_loss_scale(), 512);
      EXPECT_EQ(t.run(test::small_batch(6, 2)).finite.item(), 1);
      EXPECT_NE(t.bytes(), before);
    }
  }
}

TEST(LossScale, APowerOfTwoChangesNothingElse) {
  for (const Mode mode : kModes) {
    const ModeGuard guard(mode);
    for (const auto& [name, make] : kOptimizers) {
      SCOPED_TRACE(name);
      Training plain(make, {}), scaled(make, {.loss_scale_manager = std::make_shared<FixedLossScaleManager>(256)});
      for (int64_t i = 0; i < 3; ++i) {
        const double a = plain.run(test::small_batch(6, i)).loss.item(), b = scaled.run(test::small_batch(6, i)).loss.item();
        EXPECT_EQ(a, b);
      }
      EXPECT_EQ(plain.bytes(), scaled.bytes());
    }
  }
}

// The sum of (w·x)², in float64 throughout.
class Double final : public nn::Cell {
 public:
  Double() : Cell("Double"), w_(param("w", Tensor::from_vector<double>({3}, {0.3, -0.7, 1.1}))) {}
  Tensor construct(const Tensor& x) override { return ops::sum(ops::square(ops::mul(w_.value(), x))); }

 private:
  Parameter& w_;
};

// Neither 1000.1 nor its reciprocal is a float32: rounding either would change the eighth digit of float64 steps.
TEST(LossScale, KeepsTheDigitsOfFloat64) {
  const TensorList batch = {Tensor::from_vector<double>({3}, {0.11, 0.23, -0.31})};
  for (const Mode mode : kModes) {
    const ModeGuard guard(mode);
    for (const auto& [name, make] : kOptimizers) {
      const auto weights = [&](const train::TrainStepOptions& options, double own_scale) {
        Double net;
        const auto optimizer = own_scale == 1
            ? make(net.trainable_params())
            : std::make_unique<optim::Momentum>(net.trainable_params(),
                                                optim::MomentumOptions{.learning_rate = 0.05, .weight_decay = 1e-3, .loss_scale = own_scale});
        train::TrainStep step = train::make_train_step(net, *optimizer, options);
        train::StepRunner runner(step);
        for (int64_t i = 0; i < 5; ++i) runner(batch, i);
        return net.get_parameters()[0]->value().to_vector<double>();
      };
      const std::vector<double> expected = weights({}, 1);
      const auto close = [&](const std::vector<double>& got) {
        for (size_t i = 0; i < expected.size(); ++i) EXPECT_NEAR(got[i], expected[i], 1e-14) << name;
      };
      close(weights({.loss_scale_manager = std::make_shared<FixedLossScaleManager>(1000.1)}, 1));
      close(weights({.loss_scale_manager = std::make_shared<DynamicLossScaleManager>(1000.1, 3, 2)}, 1));
      if (name != "momentum") continue;
      close(weights({.loss_scale_manager = std::make_shared<FixedLossScaleManager>(1000.1, false)}, 1000.1));
      close(weights({.loss_scale = 1000.1}, 1000.1));
    }
  }
}

TEST(LossScale, SkipNonfiniteLooksAtGradientsToo) {
  for (const Mode mode : kModes) {
    const ModeGuard guard(mode);
    Training t(kOptimizers[0].second, {.skip_nonfinite = true});
    t.run(test::small_batch(6, 1));
    const auto before = t.bytes();
    t.step.reduce_gradients = [](Gradients g) {  // as a rank whose gradient overflowed would
      g.of_params[0] = ops::full(g.of_params[0].shape(), HUGE_VAL, DType::kFloat32);
      return g;
    };
    t.runner = std::make_unique<train::StepRunner>(t.step);
    const train::StepResult r = t.run(test::small_batch(6, 2));
    EXPECT_TRUE(std::isfinite(r.loss.item()));
    EXPECT_EQ(r.finite.item(), 0);
    EXPECT_EQ(t.bytes(), before);
  }
}

TEST(LossScale, GoesOnFromACheckpoint) {
  const TempFolder temp;
  const auto make = [] { return std::make_shared<DynamicLossScaleManager>(1024, 2, 2); };
  const auto whole_scale = make(), first_scale = make(), second_scale = make();
  Training whole(kOptimizers[1].second, {.loss_scale_manager = whole_scale}), first(kOptimizers[1].second, {.loss_scale_manager = first_scale});
  const std::vector<TensorList> batches = {test::small_batch(6, 1), overflowing_batch(), test::small_batch(6, 2), test::small_batch(6, 3),
                                           test::small_batch(6, 4)};
  for (const TensorList& b : batches) whole.run(b);
  for (size_t i = 0; i < 3; ++i) first.run(batches[i]);
  train::save_training_state(temp.file("a.ckpt"), *first.net, first.optimizer.get(), {}, {.loss_scale_manager = first_scale.get()});
  Training second(kOptimizers[1].second, {.loss_scale_manager = second_scale});
  train::load_training_state(temp.file("a.ckpt"), *second.net, *second.optimizer, second_scale.get());
  EXPECT_EQ(second_scale->get_loss_scale(), 512);
  for (size_t i = 3; i < batches.size(); ++i) second.run(batches[i]);
  EXPECT_EQ(second.bytes(), whole.bytes());
  EXPECT_EQ(second_scale->get_loss_scale(), whole_scale->get_loss_scale());
  EXPECT_EQ(whole_scale->get_loss_scale(), 1024) << "512 after the overflow, doubled by two clean steps";
  train::save_training_state(temp.file("without.ckpt"), *first.net, first.optimizer.get(), {});
  EXPECT_THROW(train::load_training_state(temp.file("without.ckpt"), *second.net, *second.optimizer, second_scale.get()), CheckpointError);
}

template <class F> std::string message_of(F&& f) {
  try {
    f();
  } catch (const Error& e) { return e.what(); }
  return "nothing was thrown";
}

TEST(LossScale, RefusesScalesThatCannotWork) {
  for (const double bad : {0.0, -1.0, HUGE_VAL, std::nan("")}) {
    EXPECT_THROW(FixedLossScaleManager{bad}, ValueError) << bad;
    EXPECT_THROW(DynamicLossScaleManager{bad}, ValueError) << bad;
  }
  EXPECT_THROW(DynamicLossScaleManager(0.5), ValueError);
  EXPECT_THROW(DynamicLossScaleManager(8, 1), ValueError);
  EXPECT_THROW(DynamicLossScaleManager(8, 2, 0), ValueError);
  const nn::CellPtr net = test::small_net_with_loss();
  optim::Momentum divides(net->trainable_params(), optim::MomentumOptions{.loss_scale = 128});
  const auto with = [&](std::shared_ptr<train::LossScaleManager> m, double own = 1) {
    return message_of([&] { train::make_train_step(*net, divides, {.loss_scale = own, .loss_scale_manager = std::move(m)}); });
  };
  EXPECT_THAT(with(std::make_shared<DynamicLossScaleManager>()), HasSubstr("divided twice"));
  EXPECT_THAT(with(std::make_shared<FixedLossScaleManager>(64, false)), HasSubstr("the manager's is 64, Momentum's 128"));
  EXPECT_THAT(with(std::make_shared<FixedLossScaleManager>(128, false), 2), HasSubstr("together with a loss scale manager"));
  EXPECT_EQ(with(std::make_shared<FixedLossScaleManager>(128, false)), "nothing was thrown");
}

}  // namespace
}  // namespace sindri::loss_scale_test
