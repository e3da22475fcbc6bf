// Stopping and resuming: a run stopped by SIGTERM, or killed at any moment, and then resumed has bitwise identical losses at every step, mid-epoch included,
// and ends with the same weights as an uninterrupted run.
#include <gtest/gtest.h>
#include <signal.h>

#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>
#include <random>
#include <sstream>

#include "sindri/train/checkpoint.h"
#include "source_dir.h"
#include "src/train/event_file.h"
#include "tests/app/program.h"

namespace sindri::app {
namespace {

// SINDRI_TEST_SEED repeats the stop points of a failed run.
uint64_t test_seed() {
  static const uint64_t seed = [] {
    const char* given = std::getenv("SINDRI_TEST_SEED");
    return given != nullptr ? std::strtoull(given, nullptr, 10) : static_cast<uint64_t>(std::random_device{}());
  }();
  return seed;
}

struct Task {
  const char* name;
  bool jpeg;  // ResNet-20 on augmented JPEG files; else the digits
  const char* extra;  // one more setting
  int64_t steps;  // of the whole run
  bool device = false;  // the interrupted runs use the simulated accelerator, the whole run the CPU
};
void PrintTo(const Task& t, std::ostream* out) { *out << t.name; }

class Resume : public testing::TestWithParam<Task> {
 protected:
  void SetUp() override {
    std::cout << "repeat: SINDRI_TEST_SEED=" << test_seed()
              << " app_tests --gtest_filter=" << testing::UnitTest::GetInstance()->current_test_info()->test_suite_name() << "."
              << testing::UnitTest::GetInstance()->current_test_info()->name() << "\n";
    random_.seed(test_seed());
    if (GetParam().jpeg) make_jpeg_data(temp_.file("data"));
    if (std::string(GetParam().name) == "CorruptJpegSkipped") std::filesystem::resize_file(temp_.file("data/train/class_2/107.jpg"), 100);
    const Result r = run(command("whole"), strict());
    ASSERT_EQ(r.code, 0) << r.command << "\n" << r.err;
    whole_ = step_losses(temp_.file("whole"));
    ASSERT_EQ(whole_.rbegin()->first, GetParam().steps);
  }

  std::vector<std::string> command(const std::string& run_name) const {
    const Task& t = GetParam();
    std::vector<std::string> sets = {"train.run_dir=" + temp_.file(run_name), "checkpoint.save_every_steps=7", "checkpoint.prefix=net", t.extra};
    std::vector<std::string> a = {"train", "--quiet"};
    if (t.jpeg) {
      for (const char* s : {"model.name=resnet20", "train.batch_size=8", "train.epochs=4", "train.eval_interval=0", "data.augment=true"}) sets.emplace_back(s);
      sets.push_back("data.path=" + temp_.file("data"));
    } else {
      a.insert(a.end(), {"--config", "configs/digits.yaml"});
      sets.emplace_back("train.epochs=2");
    }
    for (const std::string& s : sets) a.insert(a.end(), {"--set", s});
    return a;
  }
  std::vector<std::string> resume(const std::string& run_name) const {
    return {"train", "--quiet", "--config", temp_.file(run_name) + "/config.resolved.yaml", "--resume"};
  }

  std::vector<std::string> interrupted(const std::string& run_name) const {
    std::vector<std::string> a = command(run_name);
    if (GetParam().device) a.insert(a.end(), {"--device", "sim"});
    return a;
  }
  // If kernels were chosen by time, those of a device and of the CPU might differ.
  RunOptions strict() const { return GetParam().device ? RunOptions{.environment = {{"SINDRI_STRICT", "1"}}} : RunOptions{}; }
  RunOptions where() const { return GetParam().device ? simulated("seed=1,delay=50", {{"SINDRI_STRICT", "1"}}) : RunOptions{}; }

  int64_t random_step() { return std::uniform_int_distribution<int64_t>(1, GetParam().steps * 3 / 4)(random_); }

  // Every step of the interrupted run has the losses of the whole one, repeated steps included, and the last checkpoints are bitwise identical.
  void expect_same_as_whole(const std::string& run_name) {
    const auto parts = step_losses(temp_.file(run_name));
    for (const auto& [step, losses] : whole_) {
      const auto it = parts.find(step);
      if (it == parts.end()) {
        ADD_FAILURE() << "step " << step << " is missing";
        continue;
      }
      for (const std::string& loss : it->second) EXPECT_EQ(loss, losses[0]) << "step " << step;
    }
    EXPECT_EQ(parts.rbegin()->first, GetParam().steps);
    expect_same_end(temp_.file(run_name), temp_.file("whole"));
  }

  // metrics.csv, metrics.jsonl and repro.json without times, and the points of the one TensorBoard file.
  std::vector<std::string> records(const std::string& run_name) const {
    std::vector<std::string> out;
    std::ifstream csv(temp_.file(run_name + "/metrics.csv")), events(temp_.file(run_name + "/metrics.jsonl")), repro(temp_.file(run_name + "/repro.json"));
    std::string line;
    std::getline(csv, line);
    const std::string header = line;
    std::string columns = header;  // a device's memory differs from the CPU's, which these runs are compared with
    if (const std::string memory = ",memory/device_peak_mb"; columns.find(memory) != columns.npos) columns.erase(columns.find(memory), memory.size());
    out.push_back(columns);
    while (std::getline(csv, line)) {
      std::istringstream names(header), values(line);
      for (std::string name, value; std::getline(names, name, ',') && std::getline(values, value, ',');)
        if (name != "throughput/samples_per_sec" && name != "memory/device_peak_mb") out.push_back(name + "=" + value);
    }
    while (std::getline(events, line)) {
      nlohmann::json j = nlohmann::json::parse(line);
      for (const char* name : {"time", "throughput/samples_per_sec", "time/data_wait", "memory/device_peak_mb"}) j.erase(name);
      out.push_back(j.dump());
    }
    nlohmann::json j = nlohmann::json::parse(repro);
    for (const char* name : {"kernel_choices_from", "device"}) j.erase(name);  // the whole run measured its kernels, a resumed run uses the recorded choices
    out.push_back(j.dump());
    const train::EarlierEvents points = train::read_event_files(temp_.file(run_name), [&](const std::string& tag, int64_t step) {
      out.push_back(tag + " " + std::to_string(step));
      return true;
    });
    out.push_back(std::to_string(points.files.size()) + " TensorBoard file");
    return out;
  }

  const TempFolder temp_;
  std::mt19937_64 random_;
  std::map<int64_t, std::vector<std::string>> whole_;
};

TEST_P(Resume, AfterSigterm) {
  // If this process is stalled, the run may have ended before the signal arrives, or come so close to its end that the signal has its default effect again.
  // Then an earlier step is tried.
  int64_t stop = random_step();
  for (int attempt = 0;; ++attempt, stop = 1 + stop / 2) {
    const std::string name = "stopped" + std::to_string(attempt);
    Program p(interrupted(name), where());
    p.wait_until([&] { return last_step(temp_.file(name)) >= stop; });
    p.signal(SIGTERM);
    const Result r = p.wait();
    SCOPED_TRACE("stop at step " + std::to_string(stop) + "\nrepeat: " + r.command + "\n" + r.out + r.err);
    const bool ended = r.code == 0 || (r.signalled && last_step(temp_.file(name)) == GetParam().steps);
    if (ended && attempt < 5) continue;
    ASSERT_EQ(r.code, 143);
    ASSERT_FALSE(r.signalled) << "it saves and exits normally";
    EXPECT_GE(expect_good_checkpoints(temp_.file(name)), 1u);
    // The suggested command resumes the run.
    const size_t at = r.out.find("resume with: ");
    ASSERT_NE(at, std::string::npos);
    std::vector<std::string> suggested = words(r.out.substr(at + 13, r.out.find('\n', at) - at - 13));
    ASSERT_FALSE(suggested.empty());
    EXPECT_EQ(suggested[0], program_path());
    suggested.erase(suggested.begin());
    const int64_t stopped_at = last_step(temp_.file(name));
    const Result again = run(suggested, where());
    EXPECT_EQ(again.code, 0) << again.command << "\n" << again.err;
    EXPECT_NE(again.out.find("resuming from "), std::string::npos) << again.out;
    EXPECT_EQ(again.err.find("settings differ"), std::string::npos) << again.err;
    expect_same_as_whole(name);
    // Nothing is trained twice after a stop that saved.
    EXPECT_EQ(step_losses(temp_.file(name)).at(stopped_at).size(), 1u);
    return;
  }
}

TEST_P(Resume, AfterKill) {
  Result r;
  int kills = 0;
  for (int round = 0; round < 3; ++round) {
    const int64_t events = event_count(temp_.file("killed")) + std::uniform_int_distribution<int64_t>(1, GetParam().steps / 3)(random_);
    const auto delay = std::chrono::microseconds(std::uniform_int_distribution<int>(0, 20'000)(random_));
    Program p(round == 0 ? interrupted("killed") : resume("killed"), where());
    p.wait_until([&] { return event_count(temp_.file("killed")) >= events; });
    // Waits a random time, so that the kill can hit any point within or between steps and in the middle of a save.
    for (const auto end = std::chrono::steady_clock::now() + delay; std::chrono::steady_clock::now() < end && p.running();) continue;
    p.signal(SIGKILL);
    r = p.wait();
    SCOPED_TRACE("kill " + std::to_string(round) + " at event " + std::to_string(events) + "\nrepeat: " + r.command + "\n" + r.out + r.err);
    if (r.code == 0) break;  // it finished first
    ASSERT_TRUE(r.signalled);
    ++kills;
    expect_good_checkpoints(temp_.file("killed"));
  }
  std::cout << kills << " kills\n";
  if (r.code != 0) r = run(resume("killed"), where());
  EXPECT_EQ(r.code, 0) << r.command << "\n" << r.err;
  expect_same_as_whole("killed");
  EXPECT_EQ(records("killed"), records("whole"));
}

INSTANTIATE_TEST_SUITE_P(Tasks, Resume,
                         testing::Values(Task{"Digits", false, "train.seed=3", 88}, Task{"DigitsPynative", false, "train.mode=pynative", 88},
                                         Task{"AugmentedJpeg", true, "data.workers=2", 24},
                                         Task{"CorruptJpegSkipped", true, "data.on_corrupt=skip", 20},  // 47 good images: epochs of 5 steps
                                         Task{"DigitsOnDevice", false, "train.seed=4", 88, true},
                                         Task{"DigitsPynativeOnDevice", false, "train.mode=pynative", 88, true}),
                         [](const auto& task) { return task.param.name; });

// Without train.run_dir the run folder is runs/NET-NNN; the suggested command finds it again.
TEST(ResumeNumbered, SuggestedCommandNamesTheFolder) {
  const TempFolder temp;
  const RunOptions here = {.directory = temp.path()};
  const std::string source = SINDRI_SOURCE_DIR;
  Program p({"train", "--quiet", "--config", source + "/configs/digits.yaml", "--set", "data.path=" + source + "/dataset/digits", "--set", "train.epochs=40"},
            here);
  p.wait_until([&] { return last_step(temp.file("runs/digits-001")) >= 3; });
  p.signal(SIGTERM);
  const Result r = p.wait();
  SCOPED_TRACE("repeat: " + r.command + "\n" + r.out + r.err);
  ASSERT_EQ(r.code, 143);
  const size_t at = r.out.find("resume with: ");
  ASSERT_NE(at, std::string::npos);
  std::vector<std::string> suggested = words(r.out.substr(at + 13, r.out.find('\n', at) - at - 13));
  suggested.erase(suggested.begin());
  suggested.insert(suggested.end(), {"--set", "train.max_steps=" + std::to_string(last_step(temp.file("runs/digits-001")) + 5)});
  const Result again = run(suggested, here);
  EXPECT_EQ(again.code, 0) << again.command << "\n" << again.out << again.err;
  EXPECT_NE(again.out.find("resuming from runs/digits-001/"), std::string::npos) << again.out;
  EXPECT_FALSE(std::filesystem::exists(temp.file("runs/digits-002")));
}

// The number of steps per call does not matter either: the stop comes inside a chunk, and the last checkpoint is bitwise identical.
TEST(ResumeSink, InsideAChunk) {
  const TempFolder temp;
  const auto command = [&](const std::string& name) {
    std::vector<std::string> a = {"train", "--quiet", "--config", "configs/digits.yaml"};
    for (const std::string& s :
         {std::string("train.epochs=2"), std::string("train.sink_mode=true"), std::string("train.sink_size=11"), "train.run_dir=" + temp.file(name)})
      a.insert(a.end(), {"--set", s});
    return a;
  };
  const Result whole = run(command("whole"));
  ASSERT_EQ(whole.code, 0) << whole.command << "\n" << whole.err;
  const int64_t steps = last_step(temp.file("whole"));
  EXPECT_EQ(steps, 22);  // sink_size is the length of an epoch
  Program p(command("stopped"));
  p.wait_until([&] { return last_step(temp.file("stopped")) >= 11; });
  p.signal(SIGTERM);
  const Result r = p.wait();
  SCOPED_TRACE("repeat: " + r.command + "\n" + r.out + r.err);
  ASSERT_TRUE(r.code == 143 || r.code == 0);
  const Result again = run({"train", "--quiet", "--config", temp.file("stopped/config.resolved.yaml"), "--resume"});
  EXPECT_EQ(again.code, 0) << again.err;
  EXPECT_EQ(train::load_checkpoint(checkpoints(temp.file("stopped")).back()).entries.size(),
            train::load_checkpoint(checkpoints(temp.file("whole")).back()).entries.size());
  const auto a = train::load_checkpoint(checkpoints(temp.file("whole")).back()), b = train::load_checkpoint(checkpoints(temp.file("stopped")).back());
  for (const train::CheckpointEntry& e : a.entries) {
    const train::CheckpointEntry* other = b.find(e.name);
    ASSERT_NE(other, nullptr) << e.name;
    if (e.kind == train::CheckpointEntry::kTensor) {
      EXPECT_EQ(std::memcmp(e.tensor.raw_data(), other->tensor.raw_data(), static_cast<size_t>(e.tensor.nbytes())), 0) << e.name;
    } else {
      EXPECT_EQ(e.data, other->data) << e.name;
    }
  }
}

}  // namespace
}  // namespace sindri::app
