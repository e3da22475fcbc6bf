// Training in half types reaches float32's accuracy; Model's options, evaluation, prediction and counters.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "sindri/core/context.h"
#include "sindri/core/error.h"
#include "sindri/train/amp.h"
#include "sindri/train/model.h"
#include "tests/amp/small_net.h"

namespace sindri {
namespace {

using amp::Level;

constexpr int64_t kSteps = 12, kBatch = 12;

// Row i of the batches that small_batch makes; `overflow_at` puts an infinity into that step's batch.
dataset::Dataset::Ptr rows(int64_t seed, int64_t overflow_at = -1) {
  dataset::GeneratorDataset::Options o;
  o.column_names = {"x", "label"};
  o.size = kSteps * kBatch;
  o.shuffle = false;
  o.row = [=](int64_t i) {
    const TensorList one = test::small_batch(3, seed + i);
    std::vector<double> x = one[0].to_vector<double>();
    x = {x.begin() + i % 3 * 36, x.begin() + (i % 3 + 1) * 36};
    if (i == overflow_at * kBatch) x[0] = HUGE_VAL;
    return dataset::GeneratorDataset::Row{Tensor::from_values({1, 6, 6}, x, DType::kFloat32), Tensor::scalar(static_cast<double>(i % 3), DType::kInt32)};
  };
  return dataset::GeneratorDataset::make(o)->batch(kBatch, {.drop_remainder = true});
}

struct Trained {
  std::unique_ptr<train::Model> model;
  double accuracy = 0;
  int64_t overflow_steps = 0, skipped_steps = 0;
  std::vector<double> scales;  // after every step
};

Trained train_at(const amp::Options& options, train::ModelOptions more = {}, int64_t overflow_at = -1) {
  const nn::CellPtr net = test::small_net();
  const auto optimizer = std::make_shared<optim::Momentum>(net->trainable_params(), optim::MomentumOptions{.learning_rate = 0.05});
  more.metrics = {{"accuracy", nn::make_metric("accuracy")}, {"loss", nn::make_metric("loss")}};
  more.amp = options;
  Trained t;
  t.model = std::make_unique<train::Model>(net, nn::SoftmaxCrossEntropyWithLogits::make({.sparse = true, .reduction = "mean"}), optimizer, more);
  const auto watch = std::make_shared<train::LambdaCallback>([&](train::TrainState& s) {
    t.overflow_steps = s.overflow_steps, t.skipped_steps = s.skipped_steps;
    if (s.loss_scale_manager != nullptr) t.scales.push_back(s.loss_scale_manager->get_loss_scale());
  });
  t.model->train(3, rows(1, overflow_at), {watch}, {.dataset_sink_mode = false});
  t.accuracy = t.model->eval(rows(1000))["accuracy"];
  return t;
}

TEST(HalfTraining, ReachesTheAccuracyOfFloat32) {
  const double exact = train_at({}).accuracy;
  ASSERT_GE(exact, 0.95) << "the task is easy";
  for (const Level level : {Level::kO1, Level::kO2, Level::kO3}) {
    for (const DType half : {DType::kBFloat16, DType::kFloat16}) {
      const Trained t = train_at({.level = level, .dtype = half});
      EXPECT_GE(t.accuracy, exact - 0.03) << amp::level_name(level) << " " << dtype_name(half);
      for (Parameter* p : t.model->network().get_parameters()) EXPECT_EQ(p->dtype(), DType::kFloat32);
      EXPECT_EQ(t.model->predict(test::small_batch(2, 1)[0]).dtype(), DType::kFloat32);
    }
  }
}

TEST(HalfTraining, Float16AtO2HasADynamicLossScale) {
  const Trained t = train_at({.level = Level::kO2, .dtype = DType::kFloat16});
  ASSERT_NE(t.model->loss_scale_manager(), nullptr);
  ASSERT_EQ(t.scales.size(), static_cast<size_t>(3 * kSteps));
  EXPECT_GT(t.overflow_steps, 0) << "2^24 exceeds float16's range";
  EXPECT_EQ(t.scales.back(), std::ldexp(1.0, 24 - static_cast<int>(t.overflow_steps)));
  EXPECT_EQ(train_at({.level = Level::kO2}).model->loss_scale_manager(), nullptr) << "bfloat16 needs none";
  EXPECT_EQ(train_at({.level = Level::kO2, .dtype = DType::kFloat16}, {.loss_scale_manager = nullptr}).scales.size(), 0u) << "null says none";
}

TEST(HalfTraining, SkippedStepsAreCounted) {
  const Trained t = train_at({}, {.nan_policy = train::NanPolicy::kSkip}, 4);
  EXPECT_EQ(t.skipped_steps, 3) << "once per epoch";
  EXPECT_GE(t.accuracy, 0.95);
  EXPECT_THROW(train_at({}, {}, 4), NonFiniteError);
}

TEST(HalfTraining, GraphAndEagerStepsOfBuildTrainNetwork) {
  for (const Mode mode : {Mode::kGraph, Mode::kPynative}) {
    set_mode(mode);
    const nn::CellPtr net = test::small_net();
    optim::Momentum optimizer(net->trainable_params(), optim::MomentumOptions{.learning_rate = 0.05});
    train::TrainNetwork t =
        train::build_train_network(net, optimizer, nn::SoftmaxCrossEntropyWithLogits::make({.sparse = true, .reduction = "mean"}), "O2", DType::kFloat16);
    train::StepRunner runner(t.step);
    double first = 0, last = 0;
    for (int64_t i = 0; i < 40; ++i) (i == 0 ? first : last) = runner(test::small_batch(12, i), i).loss.item();
    EXPECT_LT(last, first / 2);
  }
  set_mode(Mode::kGraph);
}

TEST(HalfTraining, ModelRefusesWhatDoesNotFit) {
  EXPECT_THROW(train_at({.level = Level::kO1, .keep_batchnorm_fp32 = false}), ValueError);
  EXPECT_THROW(train_at({.level = Level::kO2, .black_list = {"Transformer"}}), ValueError);
  EXPECT_THROW(train_at({.level = Level::kO2, .dtype = DType::kFloat64}), DTypeError);
}

}  // namespace
}  // namespace sindri
