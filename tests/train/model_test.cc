// Model's loop: stopping after any step and resuming from the checkpoint is bitwise identical to an uninterrupted run.
#include "sindri/train/model.h"

#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <set>

#include "sindri/core/context.h"
#include "sindri/core/rng.h"
#include "sindri/nn/dense.h"
#include "sindri/nn/loss.h"
#include "sindri/ops/random.h"
#include "sindri/optim/momentum.h"
#include "sindri/train/checkpoint.h"
#include "sindri/train/training_state.h"
#include "tests/train/temp_folder.h"

namespace sindri {
namespace {

constexpr int64_t kEpochs = 3, kRows = 12, kBatch = 2, kSteps = kRows / kBatch;

// Row i is (i, i²) scaled, label i mod 3; row `bad` cannot be read.
dataset::Dataset::Ptr rows(int64_t bad) {
  dataset::GeneratorDataset::Options o;
  o.column_names = {"x", "label"};
  o.size = kRows;
  o.shuffle = true;
  o.row = [bad](int64_t i) {
    if (i == bad) throw dataset::BadSample("row cannot be read");
    const double v = static_cast<double>(i) / kRows;
    return dataset::GeneratorDataset::Row{Tensor::from_values({2}, {v, v * v}, DType::kFloat32), Tensor::scalar(static_cast<double>(i % 3), DType::kInt32)};
  };
  return dataset::GeneratorDataset::make(o)->batch(kBatch, {.drop_remainder = true});
}

struct Outcome {
  std::vector<double> losses;  // of every step, in the order they ran
  std::vector<int64_t> epoch_of;  // and the epoch each belongs to
  std::vector<float> weights;
  int64_t steps = 0;  // cur_step_num at the end
};

// Trains until `stop` steps are done in total (0: to the end), from the checkpoint `from` if given.
Outcome run(int64_t bad, int64_t stop, const std::string& from, const std::string& folder) {
  set_seed(7);
  ops::reset_rng(7);
  auto net = nn::Dense::make({.in_channels = 2, .out_channels = 3});
  auto optimizer = std::make_shared<optim::Momentum>(net->trainable_params(), optim::MomentumOptions{.learning_rate = 0.1, .momentum = 0.9});
  train::Model model(net, nn::SoftmaxCrossEntropyWithLogits::make({.sparse = true, .reduction = "mean"}), optimizer);
  train::TrainOptions options{.dataset_sink_mode = false};
  options.on_corrupt = bad >= 0 ? dataset::OnCorrupt::kSkip : dataset::OnCorrupt::kFail;
  options.max_steps = stop;
  if (!from.empty()) {
    const train::TrainPosition p = train::load_training_state(from, *net, *optimizer);
    options.initial_epoch = p.epoch;
    options.initial_step = p.step_in_epoch;
    options.initial_total = p.step;
    options.dataset_state = p.dataset_state;
  }
  Outcome r;
  const auto record = std::make_shared<train::LambdaCallback>([&](train::TrainState& s) {
    r.losses.push_back(s.net_outputs.item());
    r.epoch_of.push_back(s.cur_epoch_num);
    r.steps = s.cur_step_num;
  });
  std::vector<train::CallbackPtr> callbacks = {record};
  if (!folder.empty()) callbacks.push_back(std::make_shared<train::ModelCheckpoint>("net", folder, train::CheckpointConfig{.save_checkpoint_steps = 1000}));
  model.train(kEpochs, rows(bad), callbacks, options);
  for (Parameter* p : net->get_parameters()) {
    for (const float v : p->stored().to_vector<float>()) r.weights.push_back(v);
  }
  return r;
}

void resumes_anywhere(int64_t bad) {
  const Outcome whole = run(bad, 0, "", "");
  ASSERT_GT(whole.steps, kEpochs);
  for (int64_t stop = 1; stop < whole.steps; ++stop) {
    SCOPED_TRACE("stopped after step " + std::to_string(stop));
    const TempFolder folder;
    Outcome r = run(bad, stop, "", folder.path());
    ASSERT_EQ(r.steps, stop);
    const Outcome rest = run(bad, 0, train::find_newest_checkpoint(folder.path()), "");
    r.losses.insert(r.losses.end(), rest.losses.begin(), rest.losses.end());
    r.epoch_of.insert(r.epoch_of.end(), rest.epoch_of.begin(), rest.epoch_of.end());
    EXPECT_EQ(r.losses, whole.losses);
    EXPECT_EQ(r.epoch_of, whole.epoch_of);
    EXPECT_EQ(rest.weights, whole.weights);
    EXPECT_EQ(rest.steps, whole.steps);
  }
}

class ModelResume : public testing::TestWithParam<Mode> {
 protected:
  void SetUp() override { set_mode(GetParam()); }
  void TearDown() override { set_mode(before_); }
  Mode before_ = context().mode;
};

TEST_P(ModelResume, BitsOfAnUninterruptedTraining) {
  EXPECT_EQ(run(-1, 0, "", "").steps, kEpochs * kSteps);
  resumes_anywhere(-1);
}

// The epoch with the bad row and those after it have fewer steps than the dataset's size says.
TEST_P(ModelResume, WithABadRowLeftOut) { resumes_anywhere(5); }

INSTANTIATE_TEST_SUITE_P(Modes, ModelResume, testing::Values(Mode::kGraph, Mode::kPynative));

// Like `sindri eval` with a checkpoint of a run: optimizer and random state are ignored, in strict mode.
TEST(ModelTrain, WeightsOfATrainingCheckpointLoadIntoABareNetwork) {
  const TempFolder folder;
  const Outcome trained = run(-1, 0, "", folder.path());
  auto net = nn::Dense::make({.in_channels = 2, .out_channels = 3});
  train::load_weights(train::find_newest_checkpoint(folder.path()), *net);
  std::vector<float> weights;
  for (Parameter* p : net->get_parameters()) {
    for (const float v : p->stored().to_vector<float>()) weights.push_back(v);
  }
  EXPECT_EQ(weights, trained.weights);
}

TEST(ModelTrain, RotationLeavesFilesOfALongerPrefixAlone) {
  const TempFolder folder;
  const std::string other = folder.file("net-large-1_1.ckpt");
  train::save_checkpoint({train::CheckpointEntry::number("x", int64_t{1})}, other);
  const std::string first = folder.file("net-1_1.ckpt");
  train::save_checkpoint({train::CheckpointEntry::number("x", int64_t{1})}, first);
  train::ModelCheckpoint checkpoint("net", folder.path(), {.keep_checkpoint_max = 1}, true);
  auto net = nn::Dense::make({.in_channels = 2, .out_channels = 3});
  train::TrainState s;
  s.network = net.get();
  checkpoint.begin(s);
  s.cur_epoch_num = s.cur_step_num = 1;
  s.batch_num = 2;
  ++s.cur_step_num;
  s.epoch_complete = true;
  checkpoint.save(s);
  EXPECT_FALSE(std::filesystem::exists(first));
  EXPECT_TRUE(std::filesystem::exists(other));
  EXPECT_TRUE(std::filesystem::exists(folder.file("net-1_2.ckpt")));
}

// As in a copied folder: file times are in the wrong order, and equal.
TEST(ModelTrain, RotationGoesByTheNumbersOfNamesAndNotByTimes) {
  const TempFolder folder;
  const auto now = std::filesystem::file_time_type::clock::now();
  int age = 0;
  for (const char* name : {"net-2_1.ckpt", "net-10_1.ckpt", "net-9_12.ckpt", "net-9_2.ckpt", "net-1_1.ckpt"}) {
    train::save_checkpoint({train::CheckpointEntry::number("x", int64_t{1})}, folder.file(name));
    std::filesystem::last_write_time(folder.file(name), now - std::chrono::hours(10 - age++ / 2));
  }
  train::ModelCheckpoint checkpoint("net", folder.path(), {.keep_checkpoint_max = 3}, true);
  auto net = nn::Dense::make({.in_channels = 2, .out_channels = 3});
  train::TrainState s;
  s.network = net.get();
  checkpoint.begin(s);
  s.cur_epoch_num = 11;
  s.cur_step_num = s.batch_num = 1;
  s.epoch_complete = true;
  checkpoint.save(s);
  std::set<std::string> left;
  for (const auto& entry : std::filesystem::directory_iterator(folder.path())) {
    if (entry.path().extension() == ".ckpt") left.insert(entry.path().filename().string());
  }
  EXPECT_EQ(left, (std::set<std::string>{"net-9_12.ckpt", "net-10_1.ckpt", "net-11_1.ckpt"}));
}

TEST(ModelTrain, MaxStepsCountsStepsOfEarlierRuns) {
  const TempFolder folder;
  EXPECT_EQ(run(-1, 4, "", folder.path()).steps, 4);
  const Outcome none = run(-1, 4, train::find_newest_checkpoint(folder.path()), "");
  EXPECT_TRUE(none.losses.empty());
}

// An epoch's end must not read rows again that were prepared for the next one.
TEST(ModelTrain, OnASourceThatCannotBeReadAgain) {
  for (int k = 0; k < 10; ++k) {
    dataset::GeneratorDataset::Options o;
    o.column_names = {"x", "label"};
    o.size = kRows;
    o.rows = [] {
      return [i = std::make_shared<int>(0)](dataset::GeneratorDataset::Row* r) {
        if (*i == kRows) return false;
        const double v = static_cast<double>(*i) / kRows;
        *r = {Tensor::from_values({2}, {v, v * v}, DType::kFloat32), Tensor::scalar(static_cast<double>((*i)++ % 3), DType::kInt32)};
        return true;
      };
    };
    const auto net = nn::Dense::make({.in_channels = 2, .out_channels = 3});
    const auto optimizer = std::make_shared<optim::Momentum>(net->trainable_params(), optim::MomentumOptions{.learning_rate = 0.1, .momentum = 0.9});
    train::Model model(net, nn::SoftmaxCrossEntropyWithLogits::make({.sparse = true, .reduction = "mean"}), optimizer);
    model.train(3, dataset::GeneratorDataset::make(o)->batch(2), {}, {.dataset_sink_mode = false});
  }
}

}  // namespace
}  // namespace sindri
