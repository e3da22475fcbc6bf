// Training and evaluation on several ranks, as threads of this process: the same result on any number of them, and one that fails ends the others.
// ranks_process_test.cc does the same with processes.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <signal.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <nlohmann/json.hpp>
#include <thread>

#include "sindri/app/app.h"
#include "sindri/comm/communicator.h"
#include "sindri/core/error.h"
#include "sindri/core/runtime.h"
#include "sindri/dataset/registry.h"
#include "sindri/op/kernel_choice.h"
#include "source_dir.h"
#include "tests/app/program.h"

namespace sindri::app {
namespace {

using Sets = std::vector<std::string>;

// Small images. Rank 1 takes some milliseconds for each of them.
const auto& kSlowOnRankOne = dataset::kinds().add({
    .name = "ranks_test_slow",
    .doc = "of a test",
    .settings = {},
    .facts = {.channels = 1, .side = 8, .num_classes = 10, .largest = 16, .augment = false, .needs_path = false},
    .make = [](const dataset::DataPart& part, const SettingValues&) -> dataset::Dataset::Ptr {
      dataset::GeneratorDataset::Options o;
      o.row = [](int64_t i) -> dataset::GeneratorDataset::Row {
        if (comm::world().rank() == 1) std::this_thread::sleep_for(std::chrono::milliseconds(4));
        return {Tensor::from_vector<uint8_t>({8, 8, 1}, std::vector<uint8_t>(64, static_cast<uint8_t>(i % 10))),
                Tensor::from_vector<int32_t>({}, {static_cast<int32_t>(i % 10)})};
      };
      o.size = part.train ? 480 : 16;
      o.column_names = {"image", "label"};
      o.shuffle = part.shuffle;
      return dataset::GeneratorDataset::make(o);
    },
});

Settings digits(const Sets& sets) {
  Settings s;
  s.load_yaml(std::string(SINDRI_SOURCE_DIR) + "/configs/digits.yaml");
  for (const char* set : {"data.workers=1", "train.epochs=2", "checkpoint.prefix=net"}) s.set(set);
  s.set(std::string("data.path=") + SINDRI_SOURCE_DIR + "/dataset/digits");
  for (const std::string& set : sets) s.set(set);
  s.validate();
  return s;
}

class Ranks : public testing::Test {
 protected:
  void SetUp() override { setenv("SINDRI_STRICT", "1", 1); }
  void TearDown() override {
    unsetenv("SINDRI_STRICT");
    struct sigaction now {};
    sigaction(SIGTERM, nullptr, &now);
    EXPECT_EQ(now.sa_handler, SIG_DFL) << "the signal handlers of the ranks' runs are restored";
  }

  // The report of each rank's run.
  std::vector<TrainReport> train_on(int ranks, Sets sets, bool resume = false, bool allow_batch_change = false) {
    sets.push_back("train.run_dir=" + temp_.file("run"));
    std::vector<TrainReport> reports(static_cast<size_t>(ranks));
    comm::run_ranks(ranks, [&](int rank) {
      TrainRequest request;
      request.quiet = true;
      request.resume = resume;
      request.allow_batch_change = allow_batch_change;
      reports[static_cast<size_t>(rank)] = train(digits(sets), request);
    });
    return reports;
  }

  TempFolder temp_;
};

TEST_F(Ranks, EvaluateAllOfTheDataTogether) {
  train_on(1, {"train.epochs=1"});
  const std::string file = checkpoints(temp_.file("run")).back();
  train::MetricValues plain;
  for (const std::string metric : {"metrics.fbeta.enabled=true", "metrics.roc_auc.enabled=true"}) {  // one metric sums counts, the other keeps every sample
    SCOPED_TRACE(metric);
    for (const int ranks : {1, 2, 3, 16}) {  // 12 batches: some ranks have none
      std::mutex mutex;
      int same = 0;
      comm::run_ranks(ranks, [&](int) {
        const train::MetricValues values = evaluate(digits({metric}), file);
        const std::lock_guard lock(mutex);
        if (ranks == 1) plain = values;
        same += values == plain ? 1 : 0;
      });
      EXPECT_EQ(same, ranks);
    }
    EXPECT_GE(plain.size(), 3u);
  }
}

class RanksGoOn : public Ranks, public testing::WithParamInterface<Sets> {};
INSTANTIATE_TEST_SUITE_P(Steps, RanksGoOn,
                         testing::Values(Sets{}, Sets{"boost.grad_accumulation.enabled=true", "boost.grad_accumulation.step=4"}),  // 9 and 27 lie within groups
                         [](const auto& tested) { return tested.param.empty() ? "OfOneUpdate" : "InGroups"; });

// 16 virtual ranks throughout: from 16 ranks to 8 within an epoch, and back to 16. A checkpoint saved within a group of steps merges the gradients that the
// virtual ranks have accumulated. With groups, the whole run therefore saves at the same steps as the parts; otherwise it does not save.
TEST_P(RanksGoOn, OnAnotherNumberOfRanks) {
  Sets sets = {"train.batch_size=4", "checkpoint.save_every_steps=9", "checkpoint.save_every_epochs=0", "lr.total_steps=44"};
  sets.insert(sets.end(), GetParam().begin(), GetParam().end());
  Sets of_one = sets;
  of_one.push_back("dist.virtual_ranks=16");
  if (GetParam().empty()) of_one.push_back("checkpoint.save_every_steps=0");
  train_on(1, of_one);
  const auto whole = step_losses(temp_.file("run"));
  ASSERT_EQ(whole.size(), 44u) << "22 steps of 64 samples";
  std::filesystem::rename(temp_.file("run"), temp_.file("whole"));
  const auto until = [&](const char* steps) {
    Sets more = sets;
    more.push_back(std::string("train.max_steps=") + steps);
    return more;
  };
  train_on(16, until("9"));  // dist.virtual_ranks is set to the number of ranks, and is kept
  EXPECT_EQ(last_step(temp_.file("run")), 9);
  train_on(8, until("27"), true);
  const std::vector<TrainReport> reports = train_on(16, until("0"), true);
  EXPECT_EQ(step_losses(temp_.file("run")), whole);
  expect_same_end(temp_.file("run"), temp_.file("whole"));
  for (const TrainReport& r : reports) {
    EXPECT_EQ(r.checkpoint, reports[0].checkpoint);
    EXPECT_EQ(r.metrics, reports[0].metrics);
  }
  for (int rank = 1; rank < 16; ++rank) EXPECT_TRUE(std::filesystem::exists(temp_.file("run/log_" + std::to_string(rank) + ".txt"))) << rank;
  std::ifstream log(temp_.file("run/log_5.txt"));
  std::string line;
  ASSERT_TRUE(std::getline(log, line));
  EXPECT_TRUE(line.starts_with("[5/16 ")) << line;
}

// Each rank is a group with its own optimizer state; a checkpoint holds all of them.
TEST_F(Ranks, AdasumGroupsGoOnWithTheirOwnOptimizerStates) {
  Sets sets = {"train.batch_size=32", "boost.adasum.enabled=true", "boost.adasum.group=rank", "checkpoint.save_every_epochs=0", "lr.total_steps=22"};
  train_on(4, sets);
  const auto whole = step_losses(temp_.file("run"));
  std::filesystem::rename(temp_.file("run"), temp_.file("whole"));
  sets.push_back("train.max_steps=5");
  train_on(4, sets);
  sets.back() = "train.max_steps=0";
  train_on(4, sets, true);
  EXPECT_EQ(step_losses(temp_.file("run")), whole);
  expect_same_end(temp_.file("run"), temp_.file("whole"));
}

// Another number of groups has no matching state: one warning, and the run continues.
TEST_F(Ranks, AdasumOnOtherGroupsIsTold) {
  Sets sets = {"train.batch_size=32", "boost.adasum.enabled=true", "boost.adasum.group=rank", "train.max_steps=3"};
  train_on(4, sets);
  sets.back() = "train.max_steps=6";
  sets.push_back("dist.virtual_ranks=4");
  testing::internal::CaptureStderr();
  train_on(2, sets, true);
  const std::string said = testing::internal::GetCapturedStderr(), warning = "does not hold the optimizer states of 2 groups";
  EXPECT_NE(said.find(warning), std::string::npos) << said;
  EXPECT_EQ(said.find(warning), said.rfind(warning)) << "from one rank only: " << said;
}

// With averaged weights, batch norm's statistics come from the same parts of batches in every layout, and neither saving nor evaluating changes a run.
TEST_F(Ranks, LayoutsAndIntervalsDoNotChangeMovingAverages) {
  for (const Sets& more : {Sets{"boost.average.enabled=true", "boost.average.bn_batches=3"}, Sets{}}) {
    Sets sets = {"train.batch_size=8", "dist.virtual_ranks=8", "checkpoint.save_every_steps=0", "train.eval_interval=0"};
    sets.insert(sets.end(), more.begin(), more.end());
    train_on(1, sets);
    std::filesystem::rename(temp_.file("run"), temp_.file("whole"));
    sets[2] = "checkpoint.save_every_steps=5", sets[3] = "train.eval_interval=1";
    for (const int ranks : {1, 2, 4}) {
      SCOPED_TRACE(ranks);
      train_on(ranks, sets);
      EXPECT_EQ(step_losses(temp_.file("run")), step_losses(temp_.file("whole")));
      expect_same_weights(temp_.file("run"), temp_.file("whole"));
      std::filesystem::remove_all(temp_.file("run"));
    }
    std::filesystem::remove_all(temp_.file("whole"));
  }
}

// The whole run does not save within a group, so each rank accumulates its own gradients there; the other run stops after the first of three steps. Both ranks'
// accumulated gradients count: the next losses are those of the whole run, up to rounding.
TEST_F(Ranks, GoOnWithinAGroupWithWhatAllCollected) {
  Sets sets = {"train.batch_size=64", "train.epochs=1", "boost.grad_accumulation.enabled=true", "boost.grad_accumulation.step=3", "lr.total_steps=11"};
  train_on(2, sets);
  const auto whole = step_losses(temp_.file("run"));
  std::filesystem::rename(temp_.file("run"), temp_.file("whole"));
  sets.push_back("train.max_steps=4");
  train_on(2, sets);
  ASSERT_EQ(last_step(temp_.file("run")), 4);
  sets.back() = "train.max_steps=0";
  train_on(2, sets, true);
  const auto parts = step_losses(temp_.file("run"));
  ASSERT_EQ(parts.size(), whole.size());
  for (const auto& [step, losses] : whole) EXPECT_NEAR(std::stod(parts.at(step).at(0)), std::stod(losses.at(0)), 1e-5) << step;
}

TEST_F(Ranks, AnotherGlobalBatchIsARequest) {
  train_on(2, {"train.batch_size=16", "train.max_steps=10"});  // 44 steps of 32
  try {
    train_on(4, {"train.batch_size=16", "train.max_steps=0"}, true);  // 4 ranks cannot share 2 virtual ranks
    ADD_FAILURE() << "accepted";
  } catch (const SettingsError& e) { EXPECT_NE(e.message().find("the global batch was 32 samples and is 64 now"), std::string::npos) << e.what(); }
  train_on(4, {"train.batch_size=8", "train.max_steps=11"}, true);  // the same 32 samples
  EXPECT_EQ(last_step(temp_.file("run")), 11);
  train_on(4, {"train.batch_size=16", "train.max_steps=0"}, true, true);  // 352 samples were seen: from step 6 of 22 on
  std::ifstream in(temp_.file("run/metrics.jsonl"));
  int64_t steps = 0;
  for (std::string line; std::getline(in, line);) steps += nlohmann::json::parse(line)["event"] == "step" ? 1 : 0;
  EXPECT_EQ(steps, 6 + 16 + 22) << "records of steps after the sixth belong to another numbering";
}

TEST_F(Ranks, AllStopWhereOneIsAskedTo) {
  const std::string stop = temp_.file("stop");
  std::ofstream(stop) << "";
  const std::vector<TrainReport> reports = train_on(4, {"dist.stop_file=" + stop, "train.batch_size=8"});
  const int64_t step = last_step(temp_.file("run"));
  EXPECT_LE(step, 2);
  for (const TrainReport& r : reports) {
    EXPECT_EQ(r.stopped_by_signal, SIGTERM);
    EXPECT_EQ(r.checkpoint, reports[0].checkpoint);
    EXPECT_EQ(r.resume_command, reports[0].resume_command);
  }
  std::ifstream in(temp_.file("run/resume.json"));
  const nlohmann::json j = nlohmann::json::parse(in);
  EXPECT_EQ(j["reason"], "SIGTERM");
  EXPECT_EQ(j["step"], step);
  EXPECT_EQ(j["checkpoint"], reports[0].checkpoint);
  EXPECT_EQ(j["command"], reports[0].resume_command);
  EXPECT_EQ(std::filesystem::read_symlink(temp_.file("run/checkpoints/latest")), std::filesystem::path(reports[0].checkpoint).filename());
  std::filesystem::remove(stop);
  train_on(2, {"train.batch_size=8", "dist.virtual_ranks=4"}, true);
  EXPECT_FALSE(std::filesystem::exists(temp_.file("run/resume.json"))) << "the next start removes it";
}

TEST_F(Ranks, EachMayReadTheCheckpointByItself) {
  train_on(2, {"train.batch_size=16", "train.max_steps=3"});
  train_on(2, {"train.batch_size=16", "train.max_steps=6", "dist.load_local=true"}, true);
  EXPECT_EQ(last_step(temp_.file("run")), 6);
}

TEST_F(Ranks, LossesOfTheirOwnAndTimesAreRecorded) {
  const Sets sets = {"train.batch_size=8", "train.max_steps=21", "dist.log_steps=5"};
  train_on(4, sets);
  const auto global = step_losses(temp_.file("run"));
  std::ifstream in(temp_.file("run/log.txt"));
  const std::string log((std::istreambuf_iterator<char>(in)), {});
  for (const char* step : {"step 10:", "step 15:", "step 20:"}) EXPECT_NE(log.find(std::string("up to ") + step), std::string::npos) << log;
  std::filesystem::remove_all(temp_.file("run"));
  Sets local = sets;
  local.emplace_back("dist.loss_scope=local");
  train_on(4, local);
  const auto own = step_losses(temp_.file("run"));
  ASSERT_EQ(own.size(), global.size());
  EXPECT_NE(own, global);
  EXPECT_NEAR(std::stod(own.at(1)[0]), std::stod(global.at(1)[0]), 0.5) << "of a quarter of the same batch";
}

// The skipped samples depend on the shard, so each rank evaluates all of the data.
TEST_F(Ranks, LeaveOutDamagedSamples) {
  make_jpeg_data(temp_.file("data"), 3, 16, 4);
  for (const char* file : {"data/train/class_1/105.jpg", "data/test/class_2/101.jpg"}) {
    ASSERT_TRUE(std::filesystem::exists(temp_.file(file))) << file;
    std::filesystem::resize_file(temp_.file(file), 50);
  }
  std::vector<TrainReport> reports(2);
  comm::run_ranks(2, [&](int rank) {
    Settings s;
    for (const std::string& set : Sets{"model.name=resnet20", "train.batch_size=4", "train.epochs=2", "data.workers=1", "data.path=" + temp_.file("data"),
                                       "data.on_corrupt=skip", "data.max_corrupt=5", "train.run_dir=" + temp_.file("run")})
      s.set(set);
    TrainRequest request;
    request.quiet = true;
    reports[static_cast<size_t>(rank)] = train(s, request);
  });
  EXPECT_EQ(last_step(temp_.file("run")), 12) << "a shard that skips a sample continues from its start";
  EXPECT_EQ(reports[0].metrics, reports[1].metrics);
  EXPECT_EQ(reports[0].metrics.count("accuracy"), 1u);
}

// A rank that sleeps is named; the run is not affected otherwise.
TEST_F(Ranks, ASlowOneIsNamed) {
  for (const int ranks : {2, 3}) {
    testing::internal::CaptureStderr();
    std::vector<TrainReport> reports(static_cast<size_t>(ranks));
    comm::run_ranks(ranks, [&](int rank) {
      Settings s = digits({"data.path=", "data.kind=ranks_test_slow", "dist.strict_order=false", "train.batch_size=4", "train.max_steps=30", "dist.log_steps=5",
                           "train.run_dir=" + temp_.file(fmt::format("run{}", ranks))});
      TrainRequest request;
      request.quiet = true;
      reports[static_cast<size_t>(rank)] = train(s, request);
    });
    const std::string err = testing::internal::GetCapturedStderr();
    EXPECT_NE(err.find("rank 1 is slower than the others"), std::string::npos) << ranks << " ranks: " << err;
    EXPECT_NE(err.find("mostly waiting for data"), std::string::npos) << err;
    EXPECT_EQ(reports[1].stopped_by_signal, 0);
  }
}

// Codes of the errors that ranks end with.
std::vector<ErrorCode> codes_of(int ranks, const std::function<void(int)>& f) {
  std::vector<ErrorCode> codes(static_cast<size_t>(ranks), ErrorCode::kInternal);
  try {
    comm::run_ranks(ranks, [&](int rank) {
      try {
        f(rank);
      } catch (const Error& e) {
        codes[static_cast<size_t>(rank)] = e.code();
        throw;
      }
    });
  } catch (const Error&) {}
  return codes;
}

TEST_F(Ranks, OneWhoseDataFailsTakesTheOthersWithIt) {
  make_jpeg_data(temp_.file("data"), 3, 16, 4);
  const std::string bad = temp_.file("data/train/class_1/105.jpg");
  ASSERT_TRUE(std::filesystem::exists(bad));
  std::filesystem::resize_file(bad, 50);
  const auto codes = codes_of(4, [&](int) {
    Settings s;
    for (const std::string& set : Sets{"model.name=resnet20", "train.batch_size=2", "train.epochs=1", "data.workers=1", "data.path=" + temp_.file("data"),
                                       "train.run_dir=" + temp_.file("run")})
      s.set(set);
    TrainRequest request;
    request.quiet = true;
    train(s, request);
  });
  EXPECT_EQ(std::count(codes.begin(), codes.end(), ErrorCode::kDataCorrupt), 1);
  EXPECT_EQ(std::count(codes.begin(), codes.end(), ErrorCode::kRankData), 3);
}

TEST_F(Ranks, OtherSettingsAndWhatDoesNotFitAreRefusedOnAll) {
  const auto codes = [&](const std::function<Sets(int)>& sets) {
    return codes_of(3, [&](int rank) {
      Sets all = sets(rank);
      all.push_back("train.run_dir=" + temp_.file("run"));
      train(digits(all), {});
    });
  };
  EXPECT_EQ(codes([](int rank) {
              return Sets{"dist.strict_order=false", rank == 2 ? "lr.max=0.1" : "lr.max=0.2"};
            }),
            std::vector<ErrorCode>(3, ErrorCode::kCommMismatch));
  EXPECT_EQ(codes([](int) { return Sets{"dist.strict_order=false", "dist.virtual_ranks=4"}; }), std::vector<ErrorCode>(3, ErrorCode::kLayout));
  std::filesystem::create_directories(temp_.file("run"));
  std::ofstream(temp_.file("run/metrics.jsonl")) << "{}\n";
  EXPECT_EQ(codes([](int) { return Sets{"dist.strict_order=false"}; }), std::vector<ErrorCode>(3, ErrorCode::kRunFolderBusy)) << "an earlier run";
}

}  // namespace
}  // namespace sindri::app
