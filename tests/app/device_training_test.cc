// `sindri train`, eval and predict on the simulated accelerator: results bitwise identical to the CPU's, and checkpoints that either device reads. Faults of
// the device (no memory, at the start or later; a failed copy; a device lost at any moment, also during a save) end in an error that says what to do and leave
// a run folder that can be resumed. Signals and kill -9 are in resume_test.cc.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>
#include <opencv2/core.hpp>
#include <random>

#include "sindri/train/checkpoint.h"
#include "tests/app/program.h"
#include "tests/dataset/encode_image.h"

namespace sindri::app::device_training_test {
namespace {

namespace fs = std::filesystem;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr int64_t kSteps = 88;

RunOptions cpu() { return {.environment = {{"SINDRI_STRICT", "1"}}}; }
RunOptions device(const std::string& fault = "") { return simulated("seed=1,delay=20" + fault, {{"SINDRI_STRICT", "1"}}); }

// Two epochs of 44 steps, an evaluation after each, a checkpoint every 7 steps.
std::vector<std::string> training(const std::string& run_dir, const std::vector<std::string>& more = {}) {
  std::vector<std::string> a = {
      "train", "--quiet", "--config", "configs/digits.yaml", "--set", "train.epochs=2", "--set", "checkpoint.save_every_steps=7", "--set", "lr.total_steps=88"};
  a.insert(a.end(), {"--set", "train.run_dir=" + run_dir});
  a.insert(a.end(), more.begin(), more.end());
  return a;
}
std::vector<std::string> resumed(const std::string& run_dir, const std::vector<std::string>& more = {}) {
  std::vector<std::string> a = {"train", "--quiet", "--config", run_dir + "/config.resolved.yaml", "--resume"};
  a.insert(a.end(), more.begin(), more.end());
  return a;
}
Result run_ok(const std::vector<std::string>& arguments, const RunOptions& options) {
  const Result r = run(arguments, options);
  EXPECT_EQ(r.code, 0) << "repeat: " << r.command << "\n" << r.out << r.err;
  return r;
}

// Checks that all checkpoints are complete, there are no temporary files, metrics.jsonl has whole lines only, and the folder is not locked.
void expect_good_folder(const std::string& run_dir) {
  for (const std::string& path : checkpoints(run_dir)) EXPECT_TRUE(train::load_checkpoint(path).verified) << path;
  for (const auto& entry : fs::recursive_directory_iterator(run_dir)) EXPECT_THAT(entry.path().filename().string(), Not(HasSubstr(".tmp.")));
  std::ifstream in(run_dir + "/metrics.jsonl");
  for (std::string line; std::getline(in, line);) EXPECT_TRUE(nlohmann::json::parse(line, nullptr, false).is_object()) << line;
  EXPECT_EQ(fs::file_size(run_dir + "/lock"), 0u);
}

// Every loss of a run, repeated ones too, equals the uninterrupted run's.
void expect_losses_of(const std::string& run_dir, const std::string& whole) {
  const auto own = step_losses(run_dir), expected = step_losses(whole);
  EXPECT_EQ(own.size(), expected.size());
  for (const auto& [step, losses] : own) {
    const auto it = expected.find(step);
    ASSERT_NE(it, expected.end()) << step;
    for (const std::string& loss : losses) EXPECT_EQ(loss, it->second[0]) << "step " << step;
  }
}

class DeviceTraining : public testing::Test {
 protected:
  // An uninterrupted run on the CPU in each mode, once for all tests.
  static void SetUpTestSuite() {
    temp_ = new TempFolder;
    for (const char* mode : {"graph", "pynative"}) {
      run_ok(training(whole(mode), in_mode(mode)), cpu());
      ASSERT_EQ(last_step(whole(mode)), kSteps);
    }
  }
  static void TearDownTestSuite() {
    delete temp_;
    temp_ = nullptr;
  }
  static std::string whole(const std::string& mode = "graph") { return temp_->file("whole-" + mode); }
  static std::vector<std::string> in_mode(const std::string& mode) { return {"--set", "train.mode=" + mode}; }
  static std::vector<std::string> on_device(const std::string& mode = "graph") { return {"--device", "sim", "--set", "train.mode=" + mode}; }

  static void expect_same_training(const std::string& run_dir, const std::string& mode = "graph") {
    expect_good_folder(run_dir);
    expect_same_end(run_dir, whole(mode));
    expect_losses_of(run_dir, whole(mode));
  }
  // Once the device works again, a resumed run ends as the uninterrupted one did.
  static void expect_resumable(const std::string& run_dir, const std::string& mode = "graph") {
    if (run_ok(resumed(run_dir), device()).code == 0) expect_same_training(run_dir, mode);
  }

  static TempFolder* temp_;
};
TempFolder* DeviceTraining::temp_ = nullptr;

TEST_F(DeviceTraining, EndsWithTheBitsOfTheCpuInBothModes) {
  for (const char* mode : {"graph", "pynative"}) {
    SCOPED_TRACE(mode);
    const std::string run_dir = temp_->file(std::string("device-") + mode);
    run_ok(training(run_dir, on_device(mode)), device());
    expect_same_training(run_dir, mode);
    EXPECT_EQ(nlohmann::json::parse(std::ifstream(run_dir + "/env.json"))["device"], "sim:0");
  }
}

// A checkpoint is independent of the device: a run that began on one continues on the other and ends with the same result.
TEST_F(DeviceTraining, CheckpointsMoveBetweenDevices) {
  for (const bool from_device : {false, true}) {
    SCOPED_TRACE(from_device ? "device to CPU" : "CPU to device");
    const std::string run_dir = temp_->file(from_device ? "leaves" : "comes");
    run_ok(training(run_dir, {"--device", from_device ? "sim" : "cpu", "--set", "train.max_steps=51"}), device());
    EXPECT_EQ(last_step(run_dir), 51);
    const Result r = run_ok(resumed(run_dir, {"--device", from_device ? "cpu" : "sim", "--set", "train.max_steps=0"}), device());
    EXPECT_THAT(r.err, Not(HasSubstr("settings differ")));
    expect_same_training(run_dir);
  }
}

TEST_F(DeviceTraining, EvaluationAndPredictionsAreThoseOfTheCpu) {
  const std::string checkpoint = checkpoints(whole()).back();
  const std::string picture = temp_->file("one.png");
  dataset::write_image(picture, cv::Mat(8, 8, CV_8UC1, cv::Scalar(90)));
  for (std::vector<std::string> a :
       {std::vector<std::string>{"eval", "--checkpoint", checkpoint}, std::vector<std::string>{"predict", "--checkpoint", checkpoint, "--top", "3", picture}}) {
    const Result on_cpu = run_ok(a, cpu());
    a.insert(a.end(), {"--device", "sim"});
    const Result on_device = run_ok(a, device());
    EXPECT_EQ(on_device.out, on_cpu.out) << on_device.command;
  }
}

TEST_F(DeviceTraining, ADryRunTellsOfTheDevice) {
  const Result r = run_ok(training(temp_->file("dry"), {"--device", "sim", "--dry-run"}), device());
  EXPECT_THAT(r.out, HasSubstr("memory for intermediate values"));
}

// ----- memory -----

TEST_F(DeviceTraining, NoMemoryAtTheStart) {
  for (const char* mode : {"graph", "pynative"}) {
    const std::string run_dir = temp_->file(std::string("no-memory-") + mode);
    const Result r = run(training(run_dir, on_device(mode)), device(",limit=600000"));
    expect_error(r, 5, "E5002", {"bytes on sim:0", "limit 600000", "the device has 2147483648", "reduce the batch size"});
    EXPECT_THAT(r.err, ContainsRegex("cannot allocate [0-9]+ bytes on sim:0"));
    if (!fs::exists(run_dir)) continue;
    expect_good_folder(run_dir);
    expect_resumable(run_dir, mode);
  }
  const Result eval = run({"eval", "--checkpoint", checkpoints(whole()).back(), "--device", "sim"}, device(",limit=100000"));
  expect_error(eval, 5, "E5002", {"bytes on sim:0", "limit 100000"});
}

// The number of pieces of work that a run submits to the device.
int64_t work_of(const std::vector<std::string>& arguments) {
  const std::string label = "work of the simulated accelerator: ";
  const Result r = run_ok(arguments, device(",count=1"));
  const size_t at = r.err.find(label);
  EXPECT_NE(at, std::string::npos) << r.err;
  return at == std::string::npos ? 0 : std::stoll(r.err.substr(at + label.size()));
}

// Another program takes the memory during the first epoch, so the evaluation after it finds none.
TEST_F(DeviceTraining, NoMemoryLater) {
  const int64_t work = work_of(training(temp_->file("with-memory"), on_device()));
  const std::string run_dir = temp_->file("exhausted");
  const Result r = run(training(run_dir, on_device()), device(",exhaust=" + std::to_string(work / 4)));
  expect_error(r, 5, "E5002", {"bytes on sim:0", "reduce the batch size"});
  EXPECT_EQ(last_step(run_dir), 44);
  EXPECT_GE(expect_good_checkpoints(run_dir), 1u);
  expect_good_folder(run_dir);
  expect_resumable(run_dir);
}

// If an allocation fails while freed blocks are cached, it is silently retried after releasing them.
TEST_F(DeviceTraining, AnAllocationThatFailsOnceIsTriedAgain) {
  for (const char* mode : {"graph", "pynative"}) {
    for (const char* n : {"3", "60"}) {
      const std::string run_dir = temp_->file(std::string("allocation-") + mode + n);
      run_ok(training(run_dir, on_device(mode)), device(std::string(",fail_allocation=") + n));
      expect_same_training(run_dir, mode);
    }
  }
}

TEST_F(DeviceTraining, NoMemoryInTheFirstStep) {
  const std::string run_dir = temp_->file("exhausted-early");
  const Result r = run(training(run_dir, on_device("pynative")), device(",exhaust=80"));
  expect_error(r, 5, "E5002", {"bytes on sim:0", "reduce the batch size"});
  if (!fs::exists(run_dir)) return;
  expect_good_folder(run_dir);
  expect_resumable(run_dir, "pynative");
}

// ----- a device that fails -----

// At moments spread over the whole run, including building the network, saves and evaluations.
TEST_F(DeviceTraining, LostAtAnyMoment) {
  const int64_t work = work_of(training(temp_->file("counted"), on_device()));
  ASSERT_GT(work, 1000);
  const char* given = std::getenv("SINDRI_TEST_SEED");
  const uint64_t seed = given != nullptr ? std::strtoull(given, nullptr, 10) : std::random_device{}();
  std::cout << "repeat: SINDRI_TEST_SEED=" << seed << ", " << work << " pieces of work\n";
  std::mt19937_64 random(seed);
  constexpr int kMoments = 10;
  int in_training = 0;
  for (int i = 0; i < kMoments; ++i) {
    const int64_t at = 1 + work * i / kMoments + std::uniform_int_distribution<int64_t>(0, work / kMoments - 2)(random);
    const std::string run_dir = temp_->file("lost" + std::to_string(i));
    const Result r = run(training(run_dir, on_device()), device(",lose=" + std::to_string(at)));
    SCOPED_TRACE("lost at " + std::to_string(at));
    expect_error(r, 5, "E5004", {"device sim:0 is lost", "restart the program; what was saved before is whole"});
    if (!fs::exists(run_dir)) continue;
    expect_good_folder(run_dir);
    in_training += last_step(run_dir) > 0 ? 1 : 0;
    expect_resumable(run_dir);
  }
  EXPECT_GE(in_training, 5);
}

// The host's reads from the device, in order: the losses of seven steps, the contents of the first checkpoint, then further losses.
TEST_F(DeviceTraining, LostWhileItSaves) {
  int without = 0, with = 0;
  for (int read = 4; read <= 60; read += 4) {
    const std::string run_dir = temp_->file("read" + std::to_string(read));
    const Result r = run(training(run_dir, on_device()), device(",lose_read=" + std::to_string(read)));
    SCOPED_TRACE("lost at read " + std::to_string(read));
    expect_error(r, 5, "E5004", {"device sim:0 is lost"});
    expect_good_folder(run_dir);
    const size_t saved = expect_good_checkpoints(run_dir);
    EXPECT_LE(saved, 1u);
    ++(saved == 0 ? without : with);
    expect_resumable(run_dir);
  }
  std::cout << without << " before the first checkpoint was complete, " << with << " after it\n";
  EXPECT_GE(without, 8) << "seven reads are losses, the others are the checkpoint's";
  EXPECT_GE(with, 1);
}

TEST_F(DeviceTraining, AFailedCopyEndsTheTraining) {
  for (const char* n : {"40", "170", "400"}) {
    const std::string run_dir = temp_->file(std::string("copy") + n);
    const Result r = run(training(run_dir, on_device()), device(std::string(",fail_copy=") + n));
    expect_error(r, 5, "E5004", {"a copy of ", " bytes failed", "sim:0", "look for hardware errors"});
    if (!fs::exists(run_dir)) continue;
    expect_good_folder(run_dir);
    expect_resumable(run_dir);
  }
}

}  // namespace
}  // namespace sindri::app::device_training_test
