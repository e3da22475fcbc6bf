// Fine-tuning by the program: weights of another run, frozen parts, learning rates by group, early stopping and the best checkpoint, also resumed and on
// several ranks.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "sindri/optim/registry.h"
#include "sindri/train/checkpoint.h"
#include "sindri/train/training_state.h"
#include "tests/app/program.h"

namespace sindri::app::fine_tune_test {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::Not;

const RunOptions kStrict = {.environment = {{"SINDRI_STRICT", "1"}, {"SINDRI_NUM_THREADS", "1"}, {"SINDRI_DATA__WORKERS", "1"}}};

std::vector<std::string> with_sets(std::vector<std::string> command, const std::vector<std::string>& sets) {
  for (const std::string& s : sets) {
    command.emplace_back("--set");
    command.push_back(s);
  }
  return command;
}

std::string text_of(const std::string& path) {
  std::ifstream in(path);
  return {std::istreambuf_iterator<char>(in), {}};
}

// A ResNet-20 trained briefly on three classes, and data of two classes.
class FineTune : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    shared_ = new TempFolder;
    make_jpeg_data(shared_->file("three"), 3, 8, 4);
    make_jpeg_data(shared_->file("two"), 2, 8, 4);
    const Result r = run(with_sets(base(), {"data.path=" + shared_->file("three"), "train.run_dir=" + shared_->file("first"), "train.epochs=2"}), kStrict);
    ASSERT_EQ(r.code, 0) << r.command << "\n" << r.err;
    weights_ = checkpoints(shared_->file("first")).back();
  }
  static void TearDownTestSuite() { delete shared_; }

  static std::vector<std::string> base() {
    return with_sets({"train", "--quiet"}, {"model.name=resnet20", "train.batch_size=8", "lr.max=0.01", "checkpoint.prefix=net"});
  }
  // A run on the two classes.
  std::vector<std::string> tune(const std::string& name, const std::vector<std::string>& sets) const {
    return with_sets(with_sets(base(), {"data.path=" + shared_->file("two"), "train.run_dir=" + temp_.file(name), "train.epochs=2"}), sets);
  }
  Result ok(const std::vector<std::string>& command, const RunOptions& options = kStrict) const {
    const Result r = run(command, options);
    EXPECT_EQ(r.code, 0) << r.command << "\n" << r.out << r.err;
    return r;
  }
  // Entries of the last checkpoint by name.
  std::map<std::string, std::vector<double>> entries(const std::string& checkpoint) const {
    std::map<std::string, std::vector<double>> out;
    for (const train::CheckpointEntry& e : train::load_checkpoint(checkpoint).entries)
      if (e.kind == train::CheckpointEntry::kTensor && !e.name.starts_with("sindri.")) out[e.name] = e.tensor.to_vector<double>();
    return out;
  }
  std::string last(const std::string& name) const { return checkpoints(temp_.file(name)).back(); }

  static TempFolder* shared_;
  static std::string weights_;
  TempFolder temp_;
};
TempFolder* FineTune::shared_ = nullptr;
std::string FineTune::weights_;

TEST_F(FineTune, HeadIsReplacedAndFrozenPartsStay) {
  const std::vector<std::string> sets = {"train.init_from=" + weights_, "train.freeze=[conv1, bn1, layer1, layer2]", "optimizer.groups=end_point lr=10"};
  const Result r = ok(tune("graph", sets));
  EXPECT_THAT(r.out, HasSubstr("2 replaced"));
  EXPECT_THAT(r.out, HasSubstr("end_point.weight: f32[2, 64] here, f32[3, 64] there; it is initialised"));
  EXPECT_THAT(r.out, HasSubstr("batch norms use their moving averages, which do not change"));
  const auto before = entries(weights_), after = entries(last("graph"));
  EXPECT_EQ(after.at("layer2.2.conv2.weight"), before.at("layer2.2.conv2.weight"));
  EXPECT_EQ(after.at("layer2.2.bn2d.moving_mean"), before.at("layer2.2.bn2d.moving_mean"));
  EXPECT_NE(after.at("layer3.2.conv2.weight"), before.at("layer3.2.conv2.weight"));
  EXPECT_NE(after.at("layer3.2.bn2d.moving_mean"), before.at("layer3.2.bn2d.moving_mean"));
  EXPECT_FALSE(after.contains("moments.conv1.weight")) << "frozen parameters have no state";
  const std::string log = text_of(temp_.file("graph/log.txt"));
  EXPECT_THAT(log, HasSubstr("loaded: layer1.0.conv1.weight"));
  EXPECT_THAT(log, HasSubstr("frozen: "));
}

TEST_F(FineTune, BatchNormOfFrozenPartsMovesWhereAsked) {
  ok(tune("batch", {"train.init_from=" + weights_, "train.freeze=conv1, bn1, layer1", "train.frozen_bn=batch", "train.epochs=1"}));
  const auto before = entries(weights_), after = entries(last("batch"));
  EXPECT_EQ(after.at("layer1.0.bn1d.gamma"), before.at("layer1.0.bn1d.gamma"));
  EXPECT_NE(after.at("layer1.0.bn1d.moving_mean"), before.at("layer1.0.bn1d.moving_mean"));
  // Eager mode, which must be bitwise identical.
  ok(tune("eager", {"train.init_from=" + weights_, "train.freeze=conv1, bn1, layer1", "train.frozen_bn=batch", "train.epochs=1", "train.mode=pynative"}));
  EXPECT_EQ(step_losses(temp_.file("eager")), step_losses(temp_.file("batch")));
}

TEST_F(FineTune, ResumedIsAsNeverStopped) {
  const std::vector<std::string> sets = {
      "train.init_from=" + weights_, "train.freeze=conv1,layer1", "optimizer.groups=[layer2 lr=0.1, end_point lr=10 weight_decay=0]",
      "lr.schedule=cosine",          "lr.total_steps=100",        "checkpoint.save_every_steps=1"};
  ok(tune("whole", sets));
  std::vector<std::string> stopped = sets;
  stopped.emplace_back("train.max_steps=3");
  ok(tune("parts", stopped));
  std::vector<std::string> on = tune("parts", sets);
  on.emplace_back("--resume");
  const Result r = ok(on);
  EXPECT_THAT(r.out, HasSubstr("resuming from"));
  EXPECT_THAT(r.out, Not(HasSubstr("weights of"))) << "the initial weights are not read again";
  expect_same_end(temp_.file("whole"), temp_.file("parts"));
  // Other parameter groups make another run, which refuses to resume.
  ok(tune("plain", {"train.max_steps=1", "lr.schedule=cosine"}));
  on = tune("plain", {"lr.schedule=cosine", "optimizer.groups=layer2 lr=0.1"});
  on.emplace_back("--resume");
  expect_error(run(on, kStrict), 4, "E4003", {"learning_rate_group"});
}

TEST_F(FineTune, VirtualRanksHoldFrozenStatistics) {
  const std::vector<std::string> sets = {"train.init_from=" + weights_, "train.freeze=conv1,bn1,layer1", "dist.virtual_ranks=2", "train.batch_size=4"};
  ok(tune("ranks", sets));
  const auto before = entries(weights_), after = entries(last("ranks"));
  EXPECT_EQ(after.at("layer1.2.bn2d.moving_variance"), before.at("layer1.2.bn2d.moving_variance"));
  EXPECT_NE(after.at("layer2.2.bn2d.moving_variance"), before.at("layer2.2.bn2d.moving_variance"));
}

TEST_F(FineTune, WhatDoesNotFitIsToldWithNames) {
  const std::string from = "train.init_from=" + weights_;
  expect_error(run(tune("a", {from, "model.name=resnet32"}), kStrict), 4, "E4003", {"missing     layer1.3.conv1.weight", "train.init_match"});
  expect_error(run(tune("a", {from, "train.init_match=all"}), kStrict), 4, "E4003", {"the last layer has another width", "end_point.weight"});
  expect_error(run(tune("a", {from, "train.init_skip=end_pont"}), kStrict), 2, "E2010", {"end_pont", "end_point", "train.init_skip"});
  expect_error(run(tune("a", {from, "train.freeze=layr1"}), kStrict), 2, "E2010", {"layr1", "layer1", "train.freeze, from --set"});
  expect_error(run(tune("a", {from, "train.freeze=*"}), kStrict), 2, "E2010", {"none is left to train"});
  expect_error(run(tune("a", {"optimizer.groups=[end_pont lr=2]"}), kStrict), 2, "E2010", {"end_pont", "optimizer.groups, from --set"});
  expect_error(run(tune("a", {"optimizer.groups=[end_point rate=2]"}), kStrict), 2, "E2010", {"lr=FACTOR"});
  expect_error(run(tune("a", {"train.init_from=absent.ckpt"}), kStrict), 4, "E4001", {"absent.ckpt", "train.init_from"});
  expect_error(run(tune("a", {"train.init_skip=conv1"}), kStrict), 2, "E2010", {"train.init_from is empty"});
  expect_error(run(tune("a", {"train.frozen_bn=batch"}), kStrict), 2, "E2010", {"train.freeze is empty"});
  std::vector<std::string> two = tune("a", {from});
  two.insert(two.end(), {"--checkpoint", weights_});
  expect_error(run(two, kStrict), 2, "E2010", {"two files of initial weights"});
  EXPECT_FALSE(fs::exists(temp_.file("a/metrics.csv")));
  const Result any = ok(tune("any", {from, "model.name=resnet32", "train.init_match=any", "train.epochs=1"}));
  EXPECT_THAT(any.out, HasSubstr("missing"));
}

TEST_F(FineTune, SameNumberOfOtherClassesIsWarnedOf) {
  fs::copy(shared_->file("three"), temp_.file("others"), fs::copy_options::recursive);
  for (const char* part : {"train", "test"}) fs::rename(temp_.file(fmt::format("others/{}/class_2", part)), temp_.file(fmt::format("others/{}/zebra", part)));
  const Result r = ok(tune("same", {"data.path=" + temp_.file("others"), "train.init_from=" + weights_, "train.epochs=1"}));
  EXPECT_THAT(r.err, HasSubstr("label 2 was 'class_2' and is 'zebra' now"));
  EXPECT_THAT(r.err, HasSubstr("train.init_skip: [end_point]"));
  EXPECT_THAT(ok(tune("new", {"data.path=" + temp_.file("others"), "train.init_from=" + weights_, "train.init_skip=end_point", "train.epochs=1"})).out,
              HasSubstr("2 skipped"));
}

TEST_F(FineTune, DryRunReadsTheWeights) {
  std::vector<std::string> dry = tune("dry", {"train.init_from=" + weights_});
  dry.emplace_back("--dry-run");
  EXPECT_THAT(ok(dry).out, HasSubstr("2 replaced"));
  EXPECT_FALSE(fs::exists(temp_.file("dry")));
}

// The digits: the first epochs improve, then the accuracy levels off.
class EarlyStop : public testing::Test {
 protected:
  std::vector<std::string> digits(const std::string& name, const std::vector<std::string>& sets) const {
    return with_sets(with_sets({"train", "--quiet", "--config", "configs/digits.yaml"},
                               {"train.run_dir=" + temp_.file(name), "checkpoint.prefix=net", "checkpoint.keep_max=100", "train.batch_size=128"}),
                     sets);
  }
  static std::vector<double> column(const std::string& run_dir, const std::string& wanted) {
    std::istringstream in(text_of(run_dir + "/metrics.csv"));
    std::vector<double> out;
    size_t at = 0;
    bool header = true;
    for (std::string line; std::getline(in, line); header = false) {
      std::vector<std::string> fields;
      std::istringstream cells(line);
      for (std::string f; std::getline(cells, f, ',');) fields.push_back(f);
      if (header) at = static_cast<size_t>(std::find(fields.begin(), fields.end(), wanted) - fields.begin());
      else out.push_back(at < fields.size() && !fields[at].empty() ? std::stod(fields[at]) : NAN);  // an epoch without an evaluation
    }
    return out;
  }
  TempFolder temp_;
};

const std::vector<std::string> kWatch = {"train.epochs=12", "train.early_stop.metric=accuracy", "train.early_stop.patience=2",
                                         "train.early_stop.min_delta=0.02", "lr.total_steps=132"};

TEST_F(EarlyStop, EndsAndGoesBackToTheBest) {
  const Result r = run(digits("run", kWatch), kStrict);
  ASSERT_EQ(r.code, 0) << r.command << r.err;
  const std::vector<double> accuracy = column(temp_.file("run"), "eval_accuracy");
  ASSERT_LT(accuracy.size(), 12u) << "it did not stop early";
  size_t best = 0, wait = 0, end = 0;  // the rule, applied to the recorded values
  for (size_t i = 1; i < accuracy.size() && end == 0; ++i) {
    wait = accuracy[i] - 0.02 > accuracy[best] ? 0 : wait + 1;
    if (wait == 0) best = i;
    if (wait == 2) end = i + 1;
  }
  EXPECT_EQ(end, accuracy.size());
  EXPECT_THAT(r.out, HasSubstr("stopped early: 2 evaluations without a better accuracy"));
  EXPECT_THAT(r.out, HasSubstr(fmt::format("at epoch {}", best + 1)));
  EXPECT_THAT(r.out, HasSubstr(fmt::format("accuracy: {:.4f}", accuracy[best])));
  const std::string file = temp_.file("run/checkpoints/best.ckpt");
  EXPECT_THAT(r.out, HasSubstr("best:       " + file));
  const Result eval = run({"eval", "--checkpoint", file});
  EXPECT_THAT(eval.out, HasSubstr(fmt::format("accuracy: {:.6g}", accuracy[best])));
  // best.ckpt is not a checkpoint to resume from; the last one is.
  std::vector<std::string> again = digits("run", kWatch);
  again.emplace_back("--resume");
  const Result resumed = run(again, kStrict);
  ASSERT_EQ(resumed.code, 0) << resumed.err;
  EXPECT_EQ(column(temp_.file("run"), "eval_accuracy"), accuracy) << "the patience was already exhausted";
  EXPECT_THAT(resumed.out, HasSubstr(fmt::format("accuracy: {:.4f}", accuracy[best])));
}

TEST_F(EarlyStop, ResumedCountsOnWhereItWas) {
  ASSERT_EQ(run(digits("whole", kWatch), kStrict).code, 0);
  std::vector<std::string> first = kWatch;
  first.emplace_back("train.max_steps=31");  // within the third epoch
  ASSERT_EQ(run(digits("parts", first), kStrict).code, 0);
  std::vector<std::string> on = digits("parts", kWatch);
  on.emplace_back("--resume");
  const Result r = run(on, kStrict);
  ASSERT_EQ(r.code, 0) << r.err;
  EXPECT_EQ(column(temp_.file("parts"), "eval_accuracy"), column(temp_.file("whole"), "eval_accuracy"));
  const auto bytes = [](const std::string& path) {
    std::map<std::string, std::vector<double>> out;
    for (const train::CheckpointEntry& e : train::load_checkpoint(path).entries)
      if (e.kind == train::CheckpointEntry::kTensor) out[e.name] = e.tensor.to_vector<double>();
    out.erase("sindri.position");
    return out;
  };
  const auto a = bytes(temp_.file("whole/checkpoints/best.ckpt")), b = bytes(temp_.file("parts/checkpoints/best.ckpt"));
  EXPECT_EQ(a.at("step_num"), b.at("step_num"));
}

// An earlier process trained all steps of the epoch and this one only completes it: the best checkpoint has the position in the data as well.
TEST_F(EarlyStop, TheBestOfAnEpochThatOnlyEndsIsComplete) {
  const std::vector<std::string> sets = {"train.epochs=2", "checkpoint.keep_best=accuracy", "train.max_steps=11", "checkpoint.save_every_epochs=0",
                                         "checkpoint.save_every_steps=11"};
  ASSERT_EQ(run(digits("run", sets), kStrict).code, 0);
  const std::string best = temp_.file("run/checkpoints/best.ckpt");
  const std::string of_one_process = train::position_of(train::load_checkpoint(best)).dataset_state;
  EXPECT_FALSE(of_one_process.empty());
  fs::remove(best);
  std::vector<std::string> again = digits("run", sets);
  again.emplace_back("--resume");
  ASSERT_EQ(run(again, kStrict).code, 0);
  ASSERT_TRUE(fs::exists(best));
  EXPECT_EQ(train::position_of(train::load_checkpoint(best)).dataset_state, of_one_process);
}

TEST_F(EarlyStop, BestOfALossIsTheSmallestAndIsKeptWithoutAStop) {
  const Result r = run(digits("run", {"train.epochs=3", "checkpoint.keep_best=loss"}), kStrict);
  ASSERT_EQ(r.code, 0) << r.err;
  const std::vector<double> loss = column(temp_.file("run"), "eval_loss");
  const auto best = std::min_element(loss.begin(), loss.end());
  EXPECT_THAT(r.out, HasSubstr(fmt::format("best: loss {:.4f} at epoch {}", *best, best - loss.begin() + 1)));
  EXPECT_TRUE(fs::exists(temp_.file("run/checkpoints/best.ckpt")));
  EXPECT_THAT(r.out, HasSubstr(fmt::format("loss: {:.4f}", loss.back()))) << "the last weights are kept";
}

// However a run ends, its last evaluation counts for the best, and best.ckpt holds the best one.
TEST_F(EarlyStop, EachEndingCountsItsLastEvaluation) {
  struct Ending {
    const char* name;
    std::vector<std::string> settings;
  };
  for (const Ending& ending : {Ending{"epochs", {"train.epochs=3"}}, Ending{"seldom", {"train.epochs=3", "train.eval_interval=2"}},
                               Ending{"within", {"train.max_steps=16"}}, Ending{"at_an_end", {"train.max_steps=22"}}, Ending{"first", {"train.max_steps=5"}},
                               Ending{"early", {"train.epochs=12", "train.early_stop.metric=accuracy", "train.early_stop.patience=1"}}}) {
    SCOPED_TRACE(ending.name);
    std::vector<std::string> sets = {"checkpoint.keep_best=accuracy"};
    sets.insert(sets.end(), ending.settings.begin(), ending.settings.end());
    const Result r = run(digits(ending.name, sets), kStrict);
    ASSERT_EQ(r.code, 0) << r.err;
    std::vector<double> seen = column(temp_.file(ending.name), "eval_accuracy");
    std::erase_if(seen, [](double v) { return std::isnan(v); });
    ASSERT_FALSE(seen.empty());
    const double best = *std::max_element(seen.begin(), seen.end());
    EXPECT_THAT(r.out, HasSubstr(fmt::format("best: accuracy {:.4f}", best)));
    const std::string file = temp_.file(ending.name) + "/checkpoints/best.ckpt";
    EXPECT_THAT(r.out, HasSubstr("best:       " + file));
    EXPECT_THAT(run({"eval", "--checkpoint", file}).out, HasSubstr(fmt::format("accuracy: {:.6g}", best)));
  }
}

// The best of a run that ended within an epoch is only in best.ckpt; a run that continues takes it into account.
TEST_F(EarlyStop, AContinuedRunKnowsWhatBestIsKept) {
  const std::vector<std::string> sets = {"checkpoint.keep_best=loss",
                                         "train.early_stop.metric=loss",
                                         "train.early_stop.patience=50",
                                         "train.early_stop.restore_best=false",
                                         "lr.schedule=constant",
                                         "lr.warmup_epochs=0",
                                         "lr.max=0.01"};
  std::vector<std::string> first = sets;
  first.emplace_back("train.max_steps=30");  // within the third epoch: better than the two before
  ASSERT_EQ(run(digits("run", first), kStrict).code, 0);
  const std::string file = temp_.file("run/checkpoints/best.ckpt");
  EXPECT_EQ(train::position_of(train::load_checkpoint(file)).step, 30);
  std::vector<std::string> worse = sets;  // no later evaluation is better
  worse.insert(worse.end(), {"train.epochs=4", "train.early_stop.min_delta=100"});
  std::vector<std::string> on = digits("run", worse);
  on.emplace_back("--resume");
  const Result r = run(on);
  ASSERT_EQ(r.code, 0) << r.err;
  EXPECT_EQ(train::position_of(train::load_checkpoint(file)).step, 30);
  EXPECT_THAT(r.out, HasSubstr("best: loss")) << r.out;
  EXPECT_THAT(r.out, HasSubstr("at epoch 3")) << r.out;
}

TEST_F(EarlyStop, SettingsThatCannotBeMeantAreRefused) {
  const auto refused = [&](const std::vector<std::string>& sets, const std::vector<std::string>& pieces) {
    expect_error(run(digits("x", sets)), 2, "E2010", pieces);
    EXPECT_FALSE(fs::exists(temp_.file("x")));
  };
  refused({"train.early_stop.metric=acuracy"}, {"no metric is named 'acuracy'", "accuracy"});
  refused({"train.early_stop.metric=fbeta"}, {"metrics.fbeta.enabled=true"});
  expect_error(run(digits("x", {"train.patience=3"})), 2, "E2011", {"train.early_stop.patience"});
  expect_error(run(digits("x", {"model.pretrained=x.ckpt"})), 2, "E2011", {"train.init_from"});
  refused({"train.early_stop.patience=3"}, {"train.early_stop.metric is empty"});
  refused({"train.early_stop.metric=loss", "train.eval_interval=0"}, {"train.eval_interval"});
  refused({"train.early_stop.metric=loss", "checkpoint.keep_best=accuracy"}, {"checkpoint.keep_best"});
}

// Settings files reach everything that the library offers; for a misspelt name the error suggests the nearest.
TEST_F(EarlyStop, EveryOptimizerAndScheduleTrainsFromSettings) {
  std::vector<std::string> runs;
  for (const std::string& name : optim::optimizers().offered())
    runs.push_back("optimizer.name=" + name + (name == "ftrl" ? "\nlr.schedule=constant\nlr.warmup_epochs=0" : ""));
  for (const std::string& name : optim::schedules().offered()) runs.push_back("lr.schedule=" + name + (name == "step" ? "\nlr.milestones=[1]" : ""));
  for (const std::string& text : runs) {
    std::vector<std::string> sets = {"train.max_steps=2", "lr.max=0.001", "train.eval_interval=0"};
    std::istringstream in(text);
    for (std::string line; std::getline(in, line);) sets.push_back(line);
    std::vector<std::string> dry = digits("x", sets);
    dry.emplace_back("--dry-run");
    const Result r = run(dry);
    EXPECT_EQ(r.code, 0) << r.command << "\n" << r.err;
  }
  expect_error(run(digits("x", {"optimizer.name=adamw"})), 2, "E2010", {"adam"});
  expect_error(run(digits("x", {"lr.schedule=cosin"})), 2, "E2010", {"cosine"});
}

}  // namespace
}  // namespace sindri::app::fine_tune_test
