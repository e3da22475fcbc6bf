// Averaged weights against their formulas, parameters excluded from them, batch norm statistics measured again, and resuming from a checkpoint.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "sindri/core/error.h"
#include "sindri/nn/container.h"
#include "sindri/nn/norm.h"
#include "sindri/ops/reduce.h"
#include "tests/boost/training.h"
#include "tests/train/temp_folder.h"

namespace sindri {
namespace {

using test::BoostedTraining;
using test::ModeScope;

class Average : public testing::TestWithParam<Mode> {
  ModeScope mode_{GetParam()};
};
INSTANTIATE_TEST_SUITE_P(Modes, Average, testing::Values(Mode::kGraph, Mode::kPynative));

// The averages of all parameters of the network, in order.
std::vector<double> averaged(const BoostedTraining& t) {
  std::vector<Parameter*> all = t.applied.back()->state();
  all.pop_back();  // the count
  return test::values_of(all);
}

// keep(n): weight of the average of n earlier values.
void follows(const std::map<std::string, SettingValue>& settings, const std::function<double(int64_t n)>& keep, const std::function<bool(int64_t step)>& due) {
  BoostedTraining t({train::boosts().make("average", settings)});
  std::vector<double> want = test::values_of(t.net->get_parameters());
  int64_t n = 0;
  for (int64_t step = 1; step <= 9; ++step) {
    t.run(test::small_batch(6, step));
    if (due(step)) {
      const std::vector<double> weights = test::values_of(t.net->get_parameters());
      const double w = n == 0 ? 0 : keep(n);
      for (size_t i = 0; i < want.size(); ++i) want[i] = w * want[i] + (1 - w) * weights[i];
      ++n;
    }
    const std::vector<double> got = averaged(t);
    ASSERT_EQ(got.size(), want.size());
    for (size_t i = 0; i < want.size(); ++i) ASSERT_NEAR(got[i], want[i], 1e-5 * std::max(1.0, std::abs(want[i]))) << "step " << step;
  }
  EXPECT_EQ(t.applied[0]->columns({})[0].second, n);
}

TEST_P(Average, Exponential) {
  const auto always = [](int64_t) { return true; };
  follows(
      {{"decay", 0.8}, {"warmup", false}}, [](int64_t) { return 0.8; }, always);
  follows(
      {{"decay", 0.8}}, [](int64_t n) { return std::min(0.8, (1.0 + static_cast<double>(n)) / (10.0 + static_cast<double>(n))); }, always);
  follows(
      {{"decay", 0.8}, {"warmup", false}, {"start", 4}}, [](int64_t) { return 0.8; }, [](int64_t step) { return step > 4; });
}

TEST_P(Average, Equal) {
  const auto mean = [](int64_t n) { return static_cast<double>(n) / static_cast<double>(n + 1); };
  follows({{"kind", "swa"}}, mean, [](int64_t) { return true; });
  follows({{"kind", "swa"}, {"start", 3}, {"every", 2}}, mean, [](int64_t step) { return step > 3 && (step - 3) % 2 == 0; });
}

TEST(AverageOfOneStep, IsRefusedInASecondOne) {
  const auto algorithm = train::boosts().make("average", {});
  const BoostedTraining first({algorithm});
  EXPECT_THROW(BoostedTraining({algorithm}), ValueError);
}

TEST_P(Average, StepsThatAreLeftOutAreNotTakenIn) {
  BoostedTraining t({train::boosts().make("average", {{"kind", "swa"}})}, {.loss_scale_manager = std::make_shared<train::DynamicLossScaleManager>(1024)});
  t.run(test::small_batch(6, 1));
  const std::vector<double> before = averaged(t);
  EXPECT_EQ(t.run(test::overflowing_batch()).finite.item(), 0);
  EXPECT_EQ(averaged(t), before);
  EXPECT_EQ(t.applied[0]->columns({})[0].second, 1);
}

// With accumulation, updates are averaged (not steps), whichever order the two algorithms are given in.
TEST_P(Average, TakesInUpdatesOnly) {
  for (const bool swapped : {false, true}) {
    std::vector<train::BoostAlgorithmPtr> both = {train::boosts().make("grad_accumulation", {{"step", 3}}), train::boosts().make("average", {{"every", 2}})};
    train::BoostAlgorithm& average = *both[1];
    if (swapped) std::swap(both[0], both[1]);
    BoostedTraining t(both);
    std::vector<double> counts;
    for (int i = 1; i <= 9; ++i) {
      t.run(test::small_batch(6, i));
      counts.push_back(average.columns({})[0].second);
    }
    EXPECT_EQ(counts, (std::vector<double>{0, 0, 1, 1, 1, 2, 2, 2, 3})) << "multiples of 2 lie in steps 1 to 3, 4 to 6 and 7 to 9";
  }
}

// Several calls train like one: schedules continue, also within a group of accumulated steps.
TEST_P(Average, SchedulesGoOnOverSeveralTrainings) {
  for (const int64_t group : {1, 2}) {
    const auto run = [&](int64_t calls) {
      test::ModelRun r;
      const std::vector<double> strategy = {0, 0, 1, 0};
      const std::vector<double> starts = {0, 1};
      r.algorithms = {train::boosts().make("average", {{"kind", "swa"}, {"unit", "epochs"}, {"start", 1}}),
                      train::boosts().make("grad_freeze", {{"starts", starts}, {"strategy", strategy}}),
                      train::boosts().make("grad_accumulation", {{"step", group}})};
      std::vector<double> all = r.train(3 / calls, 0, "", "", false);
      for (int64_t i = 1; i < calls; ++i) all = r.train_again();
      return all;
    };
    EXPECT_EQ(run(1), run(3)) << group;
  }
}

TEST_P(Average, GoesOnFromAnyStep) {
  for (const std::map<std::string, SettingValue>& settings :
       {std::map<std::string, SettingValue>{{"decay", 0.9}}, {{"kind", "swa"}, {"unit", "epochs"}, {"start", 1}}, {{"start", 3}, {"every", 2}}}) {
    const auto run = [&](int64_t stop, const std::string& from, const std::string& folder) {
      test::ModelRun r;
      r.algorithms = {train::boosts().make("average", settings), train::boosts().make("grad_accumulation", {{"step", 2}})};
      return r.train(3, stop, from, folder);
    };
    const std::vector<double> whole = run(0, "", "");
    for (int64_t stop = 1; stop < 15; stop += 2) {
      SCOPED_TRACE(stop);
      const TempFolder folder;
      run(stop, "", folder.path());
      EXPECT_EQ(run(0, train::find_newest_checkpoint(folder.path()), ""), whole);
    }
  }
}

TEST_P(Average, OnlyItsWeightsAreEvaluatedWith) {
  test::ModelRun r;
  const auto net = nn::Dense::make({.in_channels = 2, .out_channels = 3});
  train::ModelOptions o;
  o.algorithms = {train::boosts().make("grad_accumulation", {{"step", 2}})};
  o.eval_weights = "grad_accumulation";
  const auto optimizer = std::make_shared<optim::Momentum>(net->trainable_params(), optim::MomentumOptions{});
  EXPECT_THROW(train::Model(net, nn::SoftmaxCrossEntropyWithLogits::make({.sparse = true, .reduction = "mean"}), optimizer, o), ValueError);
}

TEST_P(Average, EvaluatesAndSavesEitherWeights) {
  const TempFolder folder;
  test::ModelRun r;
  r.algorithms = {train::boosts().make("average", {{"decay", 0.9}, {"warmup", false}})};
  r.train(3, 0, "", folder.path());
  const std::vector<double> trained = test::values_of(r.net->get_parameters());
  const std::string file = train::find_newest_checkpoint(folder.path());

  auto fresh = nn::Dense::make({.in_channels = 2, .out_channels = 3});
  train::load_weights(file, *fresh);
  EXPECT_EQ(test::values_of(fresh->get_parameters()), trained);
  train::load_weights(file, *fresh, "average");
  std::vector<Parameter*> averages = r.model->algorithm_state();
  averages.pop_back();
  EXPECT_EQ(test::values_of(fresh->get_parameters()), test::values_of(averages));
  EXPECT_NE(test::values_of(averages), trained);

  const std::string plain = train::export_weights(file, "average", folder.file("averaged.ckpt"));
  auto from_plain = nn::Dense::make({.in_channels = 2, .out_channels = 3});
  train::load_weights(plain, *from_plain);
  EXPECT_EQ(test::values_of(from_plain->get_parameters()), test::values_of(averages));
  EXPECT_THROW(train::load_weights(plain, *from_plain, "average"), CheckpointError) << "it has no others";
  // A prefix alone does not name weights: the file has entries with this one.
  for (const char* other : {"moments", "grad_accumulation"}) {
    EXPECT_THROW(train::load_weights(file, *from_plain, other), ValueError) << other;
    EXPECT_THROW(train::export_weights(file, other, folder.file("x.ckpt")), ValueError) << other;
  }
  EXPECT_THROW(train::export_weights(file, "trained", folder.file("x.ckpt")), ValueError);

  const auto loss_of = [&](const nn::CellPtr& net, const std::string& weights, const std::vector<train::BoostAlgorithmPtr>& algorithms) {
    train::ModelOptions o;
    o.metrics = {{"loss", nn::make_metric("loss")}};
    o.eval_weights = weights;
    o.algorithms = algorithms;
    const auto optimizer = std::make_shared<optim::Momentum>(net->trainable_params(), optim::MomentumOptions{});
    train::Model model(net, nn::SoftmaxCrossEntropyWithLogits::make({.sparse = true, .reduction = "mean"}), optimizer, o);
    return std::pair{model.eval(test::ModelRun::rows(false)).at("loss"), test::values_of(net->get_parameters())};
  };
  const auto [own, own_values] = loss_of(from_plain, "trained", {});
  const auto holder = nn::Dense::make({.in_channels = 2, .out_channels = 3});
  train::ModelOptions o;
  o.metrics = {{"loss", nn::make_metric("loss")}};
  o.eval_weights = "average";
  o.loss_scale_manager = std::make_shared<train::DynamicLossScaleManager>(256, 2, 3);
  o.algorithms = {train::boosts().make("average", {})};
  const auto optimizer = std::make_shared<optim::Momentum>(holder->trainable_params(), optim::MomentumOptions{.learning_rate = 0.1, .momentum = 0.9});
  train::Model model(holder, nn::SoftmaxCrossEntropyWithLogits::make({.sparse = true, .reduction = "mean"}), optimizer, o);
  train::load_weights(file, *holder);
  const double before = model.eval(test::ModelRun::rows(false)).at("loss");
  EXPECT_NE(before, own) << "no average exists yet: the weights are used";
  train::load_training_state(file, *holder, *optimizer, model.loss_scale_manager().get(), model.algorithm_state());
  EXPECT_EQ(model.eval(test::ModelRun::rows(false)).at("loss"), own);
  EXPECT_EQ(test::values_of(holder->get_parameters()), trained) << "the network has its trained weights again";
  EXPECT_THROW(loss_of(from_plain, "average", {}), ValueError);
}

// Until the first average, its entries hold the values from before training. A checkpoint then gives the trained weights, as the run itself does, and there are
// no averaged weights to export.
TEST_P(Average, OfNothingYetIsNotTakenForWeights) {
  const TempFolder folder;
  test::ModelRun r;
  r.algorithms = {train::boosts().make("average", {{"start", int64_t{100}}})};
  r.train(1, 0, "", folder.path());
  const std::string file = train::find_newest_checkpoint(folder.path());
  auto fresh = nn::Dense::make({.in_channels = 2, .out_channels = 3});
  testing::internal::CaptureStderr();
  train::load_weights(file, *fresh, "average");
  const std::string said = testing::internal::GetCapturedStderr();
  EXPECT_NE(said.find("'average' has no weights yet: average_count is 0; the trained weights are used"), std::string::npos) << said;
  EXPECT_EQ(test::values_of(fresh->get_parameters()), test::values_of(r.net->get_parameters()));
  try {
    train::export_weights(file, "average", folder.file("averaged.ckpt"));
    ADD_FAILURE() << "no weights were written";
  } catch (const CheckpointError& e) { EXPECT_NE(e.message().find("has no weights yet"), std::string::npos) << e.what(); }
}

// Dense and batch norm, with statistics measured over three batches.
struct Measured {
  Measured() {
    set_seed(5);
    ops::reset_rng(5);
    dense = nn::Dense::make({.in_channels = 2, .out_channels = 3});
    norm = nn::BatchNorm1d::make({.num_features = 3});
    net = nn::SequentialCell::make({dense, norm});
    optimizer = std::make_shared<optim::Momentum>(net->trainable_params(), optim::MomentumOptions{.learning_rate = 0.5});
    train::ModelOptions o;
    o.algorithms = {train::boosts().make("average", {{"kind", "swa"}, {"bn_batches", 3}})};
    model = std::make_unique<train::Model>(net, nn::SoftmaxCrossEntropyWithLogits::make({.sparse = true, .reduction = "mean"}), optimizer, o);
  }
  std::shared_ptr<nn::Dense> dense;
  std::shared_ptr<nn::BatchNorm1d> norm;
  nn::CellPtr net;
  std::shared_ptr<optim::Optimizer> optimizer;
  std::unique_ptr<train::Model> model;
};

// The step of the save ends an interval of saves, and also the epoch or the whole run.
TEST_P(Average, FilesHoldTheStatisticsOfTheirWeights) {
  for (const int64_t stop : {0, 8}) {  // five steps per epoch
    Measured m;
    const TempFolder folder;
    const auto saves = std::make_shared<train::ModelCheckpoint>("net", folder.path(), train::CheckpointConfig{.save_checkpoint_steps = stop == 0 ? 5 : 4});
    train::TrainOptions options{.dataset_sink_mode = false};
    options.max_steps = stop;
    m.model->train(2, test::ModelRun::rows(false), {saves}, options);
    const auto fresh = nn::SequentialCell::make({nn::Dense::make({.in_channels = 2, .out_channels = 3}), nn::BatchNorm1d::make({.num_features = 3})});
    train::load_weights(saves->latest_ckpt_file_name(), *fresh, "average");
    const train::OtherWeights averaged(*m.model->algorithm("average"));
    EXPECT_EQ(test::values_of(fresh->get_parameters()), test::values_of(m.net->get_parameters())) << stop;
  }
}

TEST_P(Average, MeasuringThatFailsLeavesTheTrainingAsItWas) {
  Measured m;
  m.model->train(1, test::ModelRun::rows(false), {}, {.dataset_sink_mode = false});
  const std::vector<double> before = test::values_of(m.net->get_parameters());
  const int64_t instance = ops::rng_instance();
  train::TrainState state;
  state.cur_step_num = 6;
  state.open_data = [] {
    return [given = 0](TensorList* batch) mutable {
      if (given++ == 1) throw DataError("the second batch cannot be read");
      *batch = {Tensor::zeros({2, 2}), Tensor::zeros({2}, DType::kInt32)};
      return true;
    };
  };
  EXPECT_THROW(m.model->algorithm("average")->on_event(train::Event::kEnd, state), DataError);
  EXPECT_EQ(test::values_of(m.net->get_parameters()), before);
  EXPECT_EQ(ops::rng_instance(), instance);
}

// The statistics of the averaged weights come from the batches they are measured over.
TEST_P(Average, BatchNormIsMeasuredAnew) {
  Measured training;
  train::Model& model = *training.model;
  const auto& dense = training.dense;
  const auto& norm = training.norm;
  const auto data = test::ModelRun::rows(false);
  const Tensor rng = ops::rng_state().stored().clone();
  model.train(2, data, {}, {.dataset_sink_mode = false});
  EXPECT_EQ(ops::rng_state().stored().to_vector<int64_t>()[1], rng.to_vector<int64_t>()[1] + 10) << "measuring draws no random numbers of the run";

  const train::OtherWeights averaged(*model.algorithm("average"));
  const auto it = data->create_iterator({.num_epochs = 1});
  std::vector<double> mean(3), variance(3);
  TensorList batch;
  for (int b = 0; b < 3; ++b) {
    ASSERT_TRUE(it->next(&batch));
    const std::vector<double> y = (*dense)(batch[0]).to_vector<double>();  // [2, 3]
    for (size_t c = 0; c < 3; ++c) {
      const double m = (y[c] + y[3 + c]) / 2;
      mean[c] += m / 3;
      variance[c] += ((y[c] - m) * (y[c] - m) + (y[3 + c] - m) * (y[3 + c] - m)) / 3;  // unbiased: divided by 2 - 1
    }
  }
  for (size_t c = 0; c < 3; ++c) {
    EXPECT_NEAR(norm->moving_mean().stored().to_vector<double>()[c], mean[c], 1e-6);
    EXPECT_NEAR(norm->moving_variance().stored().to_vector<double>()[c], variance[c], 1e-6);
  }
}

}  // namespace
}  // namespace sindri
