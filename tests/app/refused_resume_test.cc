// Runs that cannot be resumed: whatever the reason, the program reports it and not one byte of the run folder changes.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "sindri/train/checkpoint.h"
#include "sindri/version.h"
#include "tests/app/program.h"
#include "tests/train/checkpoint_util.h"

namespace sindri::app {
namespace {

namespace fs = std::filesystem;

// A run of two epochs that was stopped in the second, and one that finished.
class RefusedResume : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    temp_ = new TempFolder;
    for (const char* steps : {"60", "0"}) {
      const Result r = run({"train", "--config", "configs/digits.yaml", "--quiet", "--set", "train.epochs=2", "--set", "checkpoint.save_every_steps=20",
                            "--set", "checkpoint.keep_max=2", "--set", std::string("train.max_steps=") + steps, "--set",
                            "train.run_dir=" + temp_->file(*steps == '0' ? "whole" : "part")});
      ASSERT_EQ(r.code, 0) << r.command << "\n" << r.err;
    }
  }
  static void TearDownTestSuite() {
    delete temp_;
    temp_ = nullptr;
  }
  void SetUp() override {
    for (const char* name : {"part", "whole"}) fs::copy(temp_->file(name), copy_.file(name), fs::copy_options::recursive);
  }
  Result resume(const std::string& name, const std::vector<std::string>& sets = {}, const RunOptions& options = {}) const {
    std::vector<std::string> a = {"train", "--quiet", "--config", temp_->file(name + "/config.resolved.yaml"), "--set", "train.run_dir=" + copy_.file(name)};
    for (const std::string& s : sets) a.insert(a.end(), {"--set", s});
    a.emplace_back("--resume");
    return run(a, options);
  }
  // Expects resuming the folder `name` to end with this code and to leave it unchanged.
  void expect_refused(const std::string& name, int code, const std::string& number, const std::vector<std::string>& sets = {}, const RunOptions& options = {}) {
    const std::string before = folder_snapshot(copy_.file(name));
    const Result r = resume(name, sets, options);
    expect_error(r, code, number, {});
    EXPECT_TRUE(folder_snapshot(copy_.file(name)) == before) << "changed by " << r.command;
  }

  static TempFolder* temp_;
  const TempFolder copy_;
};

TempFolder* RefusedResume::temp_ = nullptr;

RunOptions unreadable(const std::string& path, int error) {
  const char* sanitizer = std::getenv("ASAN_OPTIONS");
  return {.environment = {{"LD_PRELOAD", (fs::read_symlink("/proc/self/exe").parent_path() / "libopen_fault.so").string()},
                          {"ASAN_OPTIONS", std::string(sanitizer != nullptr ? sanitizer : "") + ":verify_asan_link_order=0"},
                          {"FAULT_PATH", path},
                          {"FAULT_ERRNO", std::to_string(error)}}};
}

// First no checkpoint can be opened, for six different reasons. Then one file cannot: the newest checkpoint, or one of the run's records.
TEST_F(RefusedResume, FilesThatCannotBeOpened) {
  for (const int error : {EACCES, EIO, ESTALE, ENOMEM, EMFILE, ENFILE}) {
    SCOPED_TRACE(std::strerror(error));
    expect_refused("part", 5, "E5001", {}, unreadable(".ckpt", error));
  }
  const std::string newest = fs::path(checkpoints(copy_.file("part")).back()).filename();
  for (const std::string& file : {newest, std::string("part/checkpoints"), std::string("part/repro.json"), std::string("part/metrics.csv"),
                                  std::string("part/metrics.jsonl"), std::string("events.out.")}) {
    SCOPED_TRACE("file " + file);
    expect_refused("part", 5, "E5001", {}, unreadable(file, EIO));
  }
  const Result r = resume("part", {"train.max_steps=70"});
  EXPECT_EQ(r.code, 0) << r.command << "\n" << r.err;
}

// A link to a disk that is not mounted: nothing is trained again from scratch.
TEST_F(RefusedResume, CheckpointsBehindALinkThatLeadsNowhere) {
  const std::string folder = copy_.file("part/checkpoints");
  fs::rename(folder, copy_.file("elsewhere"));
  fs::create_symlink(copy_.file("not mounted"), folder);
  expect_refused("part", 5, "E5001");
}

TEST_F(RefusedResume, AllCheckpointsDamaged) {
  for (const std::string& path : checkpoints(copy_.file("part"))) train::overwrite(path, train::read_all(path).substr(0, 5000));
  expect_refused("part", 4, "E4002");
}

// A damaged checkpoint is skipped; the run that resumes from the one before neither overwrites it nor rotates it away.
TEST_F(RefusedResume, DamagedCheckpointIsKeptAside) {
  const std::string newest = checkpoints(copy_.file("part")).back();
  train::overwrite(newest, "damaged");
  const Result r = resume("part", {"train.max_steps=0"});
  EXPECT_EQ(r.code, 0) << r.command << "\n" << r.err;
  EXPECT_EQ(train::read_all(newest + ".aside"), "damaged");
  EXPECT_EQ(expect_good_checkpoints(copy_.file("part")), 2u);
}

TEST_F(RefusedResume, OtherSettings) {
  expect_refused("part", 4, "E4003", {"train.max_steps=0", "model.name=lenet"});
  expect_refused("part", 4, "E4003", {"train.max_steps=0", "optimizer.name=adam"});
  expect_refused("part", 3, "E3001", {"train.max_steps=0", "train.seed=7"});
  expect_refused("part", 2, "E2010", {"train.max_steps=0", "train.batch_size=16"});
  expect_refused("whole", 4, "E4003", {"model.name=lenet"});
  // Nothing is left to train: the run is evaluated with these settings, but its folder keeps the original ones.
  for (const char* set : {"train.batch_size=16", "train.seed=7"}) {
    const std::string before = folder_snapshot(copy_.file("whole"));
    const Result r = resume("whole", {set});
    EXPECT_EQ(r.code, 0) << r.command << "\n" << r.err;
    EXPECT_TRUE(folder_snapshot(copy_.file("whole")) == before) << "changed by " << r.command;
  }
}

// Class folders that swap places or are renamed give other labels; so does another set of files with the same names.
TEST(ChangedData, IsNoticed) {
  const TempFolder temp;
  make_jpeg_data(temp.file("data"));
  const auto command = [&](const std::string& name, const std::vector<std::string>& more) {
    std::vector<std::string> a = {"train", "--quiet", "--set", "model.name=resnet20", "--set", "train.batch_size=8", "--set", "train.eval_interval=0"};
    a.insert(a.end(), {"--set", "data.path=" + temp.file("data"), "--set", "train.run_dir=" + temp.file(name)});
    a.insert(a.end(), more.begin(), more.end());
    return a;
  };
  ASSERT_EQ(run(command("run", {"--set", "train.max_steps=6", "--set", "train.epochs=2"})).code, 0);
  const std::string weights = checkpoints(temp.file("run")).back();
  const auto repro = nlohmann::json::parse(std::ifstream(temp.file("run/repro.json")));
  EXPECT_TRUE(repro["data_fingerprint"].get<std::string>().starts_with("sizes:")) << repro;
  EXPECT_TRUE(repro["revision"].get<std::string>().starts_with(SINDRI_VERSION_STRING "+g")) << repro;
  const auto resume = [&] { return run(command("run", {"--set", "train.max_steps=7", "--set", "train.epochs=2", "--resume"})); };
  const std::vector<std::string> eval = {"eval", "--checkpoint", weights};

  const auto swap = [&](const std::string& a, const std::string& b) {
    for (const char* part : {"train/", "test/"}) {
      const std::string base = temp.file("data/") + part;
      fs::rename(base + a, base + "other");
      if (fs::exists(base + b)) fs::rename(base + b, base + a);
      fs::rename(base + "other", base + b);
    }
  };
  std::string before = folder_snapshot(temp.file("run"));
  swap("class_0", "class_1");
  // The fix that the message names works: a new run from these weights.
  const Result refused = resume();
  expect_error(refused, 3, "E3001", {"fingerprint", "start a new run from these weights: --checkpoint FILE without --resume"});
  const Result from_weights = run(command("new", {"--set", "train.max_steps=1", "--checkpoint", weights}));
  EXPECT_EQ(from_weights.code, 0) << from_weights.command << "\n" << from_weights.err;
  EXPECT_TRUE(folder_snapshot(temp.file("run")) == before);
  swap("class_0", "class_1");
  swap("class_0", "zebra");  // label 0 is class_1 now
  expect_error(resume(), 4, "E4003", {"label 0 was 'class_0' and is 'class_1' now"});
  EXPECT_TRUE(folder_snapshot(temp.file("run")) == before);
  expect_error(run(eval), 4, "E4003", {"label 0 was 'class_0' and is 'class_1' now"});
  // Classifying an image does not need the data's class names.
  const Result named = run({"predict", "--checkpoint", weights, temp.file("data/train/class_1/100.jpg")});
  EXPECT_EQ(named.code, 0) << named.err;
  EXPECT_EQ(named.out.find("zebra"), std::string::npos) << named.out;
  EXPECT_NE(named.out.find("class_0"), std::string::npos) << named.out;
  fs::rename(temp.file("data/test/zebra"), temp.file("data/test/class_0"));
  expect_error(resume(), 3, "E3001", {"label 0 is 'class_1' in the training data and 'class_0' in the evaluation data"});
  fs::rename(temp.file("data/train/zebra"), temp.file("data/train/class_0"));
  EXPECT_EQ(run(eval).code, 0);
  // A copy has other modification times, which only causes a note.
  fs::last_write_time(temp.file("data/train/class_2/101.jpg"), fs::file_time_type::clock::now());
  const Result copied = resume();
  EXPECT_EQ(copied.code, 0) << copied.err;
  EXPECT_NE(copied.err.find("times of the data files differ"), std::string::npos) << copied.err;
}

}  // namespace
}  // namespace sindri::app
