// Run folder: its files and their contents, the lock, folders that cannot be used, TensorBoard framing.
#include "sindri/app/run_folder.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>

#include "sindri/core/context.h"
#include "sindri/core/error.h"
#include "src/train/event_file.h"
#include "tests/train/checkpoint_util.h"
#include "tests/train/temp_folder.h"

namespace sindri::app {
namespace {

using nlohmann::json;
using ::testing::ElementsAre;

std::vector<std::string> lines_of(const std::string& path) {
  std::ifstream in(path);
  std::vector<std::string> lines;
  for (std::string l; std::getline(in, l);) lines.push_back(l);
  return lines;
}

// Changes the working directory to `path` during its lifetime: numbered folders are made below the current one.
class WorkIn {
 public:
  explicit WorkIn(const std::string& path) : old_(std::filesystem::current_path()) { std::filesystem::current_path(path); }
  ~WorkIn() { std::filesystem::current_path(old_); }

 private:
  std::filesystem::path old_;
};

std::vector<std::string> names_in(const std::string& folder) {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) names.push_back(std::filesystem::relative(entry.path(), folder).string());
  std::sort(names.begin(), names.end());
  return names;
}

// If a file cannot be made, the files before it are removed, and the caller can discard the folder when it handles the error.
TEST(RunFolder, AStartThatFailsHalfwayLeavesNothing) {
  const TempFolder temp;
  const std::string path = temp.file("run");
  {
    RunFolder run(path, "net");
    std::ofstream(path + "/checkpoints") << "in the way";
    EXPECT_THROW(run.start(), IoError);
    EXPECT_FALSE(run.started());
    run.discard();
  }
  EXPECT_THAT(names_in(path), ElementsAre("checkpoints"));
  std::filesystem::remove_all(path);
  // Fewer descriptors each time: the metrics, the log and the event file fail in turn.
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
  int refused = 0;
  for (int free = 2; free >= 0; --free) {
    RunFolder run(path, "net");
    const int next = dup(0);
    close(next);
    rlimit few = before;
    few.rlim_cur = static_cast<rlim_t>(next + free);
    setrlimit(RLIMIT_NOFILE, &few);
    try {
      run.start();
    } catch (const IoError&) { ++refused; }
    setrlimit(RLIMIT_NOFILE, &before);
    run.discard();
    EXPECT_FALSE(std::filesystem::exists(path + "/metrics.jsonl") || std::filesystem::exists(path + "/checkpoints")) << free;
  }
  EXPECT_EQ(refused, 3);
  EXPECT_FALSE(std::filesystem::exists(path));
}

// The metrics file cannot be truncated: it is a device. The earlier event files are unchanged, and there are no others.
TEST(RunFolder, AContinuationThatFailsChangesNothing) {
  const TempFolder temp;
  const std::string path = temp.file("run");
  {
    RunFolder run(path, "net");
    run.start();
    run.scalar("loss", 1, 0.5);
  }
  std::filesystem::remove(path + "/metrics.jsonl");
  std::filesystem::create_symlink("/dev/null", path + "/metrics.jsonl");
  const std::vector<std::string> before = names_in(path);
  std::map<std::string, std::string> contents;
  for (const std::string& name : before)
    if (name.starts_with("events.")) contents[name] = train::read_all(path + "/" + name);
  {
    RunFolder run(path, "net");
    EXPECT_THROW(run.start(ResumePoint{.step = 1, .epochs = 1}), IoError);
  }
  EXPECT_EQ(names_in(path), before);
  ASSERT_EQ(contents.size(), 1u);
  for (const auto& [name, content] : contents) EXPECT_EQ(train::read_all(path + "/" + name), content);
}

// Values measured in the last step, or at the end of the last epoch, belong to the completed part and are kept; in TensorBoard's file, too.
TEST(RunFolder, MeasuresOfTheLastStepAndEpochStay) {
  const auto kinds = [](const std::string& path) {
    std::vector<std::string> out;
    for (const std::string& line : lines_of(path + "/metrics.jsonl")) {
      const json j = json::parse(line);
      out.push_back(j["event"].get<std::string>() + std::to_string(j["step"].get<int>()) + (j.contains("at_epoch_end") ? "e" : ""));
    }
    return out;
  };
  const auto tags = [](const std::string& path) {
    std::vector<std::string> out;
    (void)train::read_event_files(path, [&](const std::string& tag, int64_t step) {
      out.push_back(tag + std::to_string(step));
      return true;
    });
    std::sort(out.begin(), out.end());
    return out;
  };
  // A run of two steps per epoch that was killed in step 5, and the point it resumes from.
  struct Case {
    ResumePoint point;
    std::vector<std::string> lines, tags;
  };
  const std::vector<Case> cases = {{{.step = 2, .epochs = 1}, {"step1", "step2", "measures2", "epoch2", "measures2e"}, {"A/a2", "B/b2"}},
                                   {{.step = 2, .epochs = 0, .within_epoch = true}, {"step1", "step2", "measures2"}, {"A/a2"}},
                                   {{.step = 3, .epochs = 1, .within_epoch = true},
                                    {"step1", "step2", "measures2", "epoch2", "measures2e", "step3", "measures3"},
                                    {"A/a2", "A/a3", "B/b2"}}};
  for (const Case& c : cases) {
    SCOPED_TRACE(c.point.step);
    const TempFolder temp;
    const std::string path = temp.file("run");
    {
      RunFolder run(path, "net");
      run.start();
      run.event("step", 1, 1, {{"loss", 1}});
      run.event("step", 1, 2, {{"loss", 1}});
      run.measures(1, 2, {{"A/a", 1}}, false);
      run.event("epoch", 1, 2, {{"train_loss", 1}});
      run.measures(1, 2, {{"B/b", 1}}, true);
      run.event("step", 2, 3, {{"loss", 1}});
      run.measures(2, 3, {{"A/a", 1}}, false);
      run.event("step", 2, 4, {{"loss", 1}});
      run.measures(2, 4, {{"A/a", 1}}, false);
    }
    RunFolder run(path, "net");
    run.start(c.point);
    EXPECT_EQ(kinds(path), c.lines);
    EXPECT_EQ(tags(path), c.tags);
  }
}

TEST(RunFolder, HoldsEverythingARunLeavesBehind) {
  const TempFolder temp;
  const std::string path = temp.file("deep/run");
  Settings settings;
  settings.set("train.seed=42");
  {
    RunFolder run(path, "net");
    EXPECT_EQ(run.path(), path);
    EXPECT_FALSE(run.continued());
    run.start();
    run.write_settings(settings);
    run.write_environment();
    run.write_repro({.seeds = {{"global", 42}}, .revision = "0.1.0", .data_fingerprint = "abc", .loss_bits_hash = "00ff"}, settings);
    run.event("step", 1, 10, {{"loss", 0.5}, {"lr", 0.1}});
    EXPECT_EQ(lines_of(run.file("metrics.jsonl")).size(), 1u) << "flushed at once";
    run.event("step", 1, 11, {{"loss", std::nan("")}, {"max", INFINITY}, {"count", 7}});
    run.epoch_row(1, {{"loss", 0.5}});
    run.epoch_row(2, {{"loss", 0.25}, {"accuracy", 0.75}});
    run.log("hello");
    run.scalar("loss", 10, 0.5);
    EXPECT_TRUE(std::filesystem::is_directory(run.checkpoints()));
  }
  Settings back;
  back.load_yaml(path + "/config.resolved.yaml");
  EXPECT_EQ(back.hash(), settings.hash());
  const json env = json::parse(train::read_all(path + "/env.json")), repro = json::parse(train::read_all(path + "/repro.json"));
  EXPECT_TRUE(env.contains("cpu_isa") && env.contains("threads") && env.contains("variables"));
  EXPECT_EQ(repro["seeds"]["global"], 42);
  EXPECT_EQ(repro["settings_hash"], settings.hash());
  const std::vector<std::string> events = lines_of(path + "/metrics.jsonl");
  ASSERT_EQ(events.size(), 2u);
  const json first = json::parse(events[0]), second = json::parse(events[1]);
  EXPECT_EQ(first["event"], "step");
  EXPECT_EQ(first["step"], 10);
  EXPECT_EQ(first["loss"], 0.5);
  EXPECT_EQ(second["loss"], "NaN");
  EXPECT_EQ(second["max"], "Infinity");
  EXPECT_EQ(second["count"].dump(), "7");
  EXPECT_THAT(lines_of(path + "/metrics.csv"), ElementsAre("epoch,loss,accuracy", "1,0.5,", "2,0.25,0.75"));
  EXPECT_THAT(lines_of(path + "/log.txt"), ElementsAre(::testing::EndsWith(" hello")));
}

TEST(RunFolder, IsContinued) {
  const TempFolder temp;
  {
    RunFolder run(temp.file("r"), "net");
    run.start();
    run.event("epoch", 1, 1, {});
    run.epoch_row(1, {{"loss", 3}, {"a,b\"c", 1}});
    run.epoch_row(2, {{"loss", 2}});
  }
  RunFolder run(temp.file("r/"), "net");
  EXPECT_TRUE(run.continued());
  run.start();
  run.event("epoch", 2, 1, {});
  run.epoch_row(2, {{"loss", 1}, {"acc", 0.5}});
  EXPECT_EQ(lines_of(run.file("metrics.jsonl")).size(), 2u);
  EXPECT_THAT(lines_of(run.file("metrics.csv")), ElementsAre("epoch,loss,a_b_c,acc", "1,3,1,", "2,1,,0.5"));
}

TEST(RunFolder, CutsTheHalfLineThatAKilledProcessLeft) {
  const TempFolder temp;
  const std::string metrics = temp.file("r/metrics.jsonl");
  for (const size_t whole : {0, 1, 3}) {
    for (const size_t half : {1, 4095, 4096, 10000}) {
      RunFolder(temp.file("r"), "net").start();
      {
        std::ofstream f(metrics);
        for (size_t i = 0; i < whole; ++i) f << "{\"event\":\"step\"}\n";
        f << "{" << std::string(half - 1, 'x');
      }
      RunFolder run(temp.file("r"), "net");
      run.start();
      run.event("epoch", 1, 1, {});
      const std::vector<std::string> lines = lines_of(metrics);
      ASSERT_EQ(lines.size(), whole + 1);
      for (const std::string& l : lines) EXPECT_TRUE(json::accept(l)) << l;
    }
  }
}

TEST(RunFolder, LeavesNoTraceUnlessItIsStarted) {
  const TempFolder temp;
  { const RunFolder run(temp.file("deep/er"), "net"); }
  EXPECT_TRUE(names_in(temp.path()).empty());
  std::filesystem::create_directories(temp.file("mine"));
  std::ofstream(temp.file("mine/metrics.jsonl")) << "{\"event\":\"half";
  { const RunFolder run(temp.file("mine"), "net"); }
  EXPECT_THAT(names_in(temp.path()), ElementsAre("mine", "mine/metrics.jsonl"));
  EXPECT_EQ(train::read_all(temp.file("mine/metrics.jsonl")), "{\"event\":\"half");
}

// A resumed process repeats everything that the earlier process did after the checkpoint. None of it may appear twice.
TEST(RunFolder, GoesOnBehindThePointOfResuming) {
  const TempFolder temp;
  const auto write = [&](int64_t from, int64_t to, const std::optional<ResumePoint>& point) {
    RunFolder run(temp.file("r"), "net");
    run.start(point);
    for (int64_t step = from; step <= to; ++step) {
      run.event("step", (step + 3) / 4, step, {{"loss", step}});
      run.scalar("train/loss", step, static_cast<double>(step));
      if (step % 4 != 0) continue;
      run.event("epoch", step / 4, step, {});
      run.scalar("eval/loss", step, static_cast<double>(step));
      run.epoch_row(step / 4, {{"loss", step}});
    }
  };
  const auto contents = [&] {
    std::vector<std::string> out = lines_of(temp.file("r/metrics.csv"));
    for (const std::string& line : lines_of(temp.file("r/metrics.jsonl"))) {
      const json j = json::parse(line);
      out.push_back(j["event"].get<std::string>() + j["step"].dump());
    }
    int64_t files = 0;
    for (const std::string& name : names_in(temp.file("r"))) files += name.starts_with("events.") ? 1 : 0;
    out.push_back(std::to_string(files) + " event file");
    train::read_event_files(temp.file("r"), [&](const std::string& tag, int64_t step) {
      out.push_back(tag + std::to_string(step));
      return true;
    });
    return out;
  };
  write(1, 12, {});
  const std::vector<std::string> whole = contents();
  std::ofstream(temp.file("r/checkpoints/net-1_2.ckpt.tmp.4711")) << "of a process that was killed";
  write(7, 12, ResumePoint{.step = 6, .epochs = 1, .within_epoch = true});
  EXPECT_EQ(contents(), whole);
  EXPECT_FALSE(std::filesystem::exists(temp.file("r/checkpoints/net-1_2.ckpt.tmp.4711")));
  write(9, 12, ResumePoint{.step = 8, .epochs = 2});
  EXPECT_EQ(contents(), whole);
  // Killed in the evaluation of the second epoch: the epoch's last step is kept, and its end is repeated.
  {
    RunFolder run(temp.file("r"), "net");
    run.start(ResumePoint{.step = 8, .epochs = 1, .within_epoch = true});
    EXPECT_EQ(run.epoch_rows().size(), 1u);
    run.event("epoch", 2, 8, {});
    run.scalar("eval/loss", 8, 8);
    run.epoch_row(2, {{"loss", 8}});
  }
  write(9, 12, ResumePoint{.step = 8, .epochs = 2});
  EXPECT_EQ(contents(), whole);
  write(1, 12, ResumePoint{});
  EXPECT_EQ(contents(), whole);
}

// A disk that is full for a while: nothing is thrown, one warning, and everything is written once there is room.
TEST(RunFolder, WritesThatFailAreTriedAgain) {
  const TempFolder temp;
  RunFolder run(temp.file("r"), "net");
  run.start();
  run.event("step", 1, 1, {});
  rlimit before{};
  getrlimit(RLIMIT_FSIZE, &before);
  const rlimit small = {2000, before.rlim_max};
  const auto old = signal(SIGXFSZ, SIG_IGN);
  setrlimit(RLIMIT_FSIZE, &small);
  testing::internal::CaptureStderr();
  for (int64_t step = 2; step <= 60; ++step) {
    run.event("step", 1, step, {});
    run.scalar("loss", step, 1);
  }
  run.epoch_row(1, {{"loss", 1}, {std::string(3000, 'x'), 2}});
  EXPECT_THAT(run.missing(), testing::HasSubstr("metrics.csv"));
  const std::string said = testing::internal::GetCapturedStderr();
  setrlimit(RLIMIT_FSIZE, &before);
  signal(SIGXFSZ, old);
  EXPECT_EQ(said.find("metrics.jsonl"), said.rfind("metrics.jsonl")) << said;
  EXPECT_THAT(said, testing::HasSubstr("metrics.jsonl: File too large"));
  EXPECT_EQ(run.missing(), "");
  const std::vector<std::string> lines = lines_of(run.file("metrics.jsonl"));
  ASSERT_EQ(lines.size(), 60u);
  for (size_t i = 0; i < lines.size(); ++i) EXPECT_EQ(json::parse(lines[i])["step"], i + 1);
  EXPECT_EQ(lines_of(run.file("metrics.csv")).size(), 2u);
  int64_t points = 0;
  train::read_event_files(run.path(), [&](const std::string&, int64_t) { return ++points > 0; });
  EXPECT_EQ(points, 59);
}

TEST(RunFolder, SaysWhatMakesOtherBitsInAResumedRun) {
  struct NotStrict {  // in strict mode the number of threads does not change results
    const bool before = strict_mode();
    NotStrict() { set_strict(false); }
    ~NotStrict() { set_strict(before); }
  } not_strict;
  const TempFolder temp;
  RunFolder run(temp.file("run"), "net");
  const std::string repro = temp.file("run/repro.json");
  const auto warned_of = [&](const nlohmann::json& j) {
    std::ofstream(repro) << j;
    testing::internal::CaptureStderr();
    EXPECT_EQ(run.recorded_kernel_choices().at("query"), "kernel");
    return testing::internal::GetCapturedStderr();
  };
  const nlohmann::json same = {{"kernel_choices", {{"query", "kernel"}}}, {"strict", strict_mode()}, {"threads", num_threads()}};
  EXPECT_EQ(warned_of(same), "");
  nlohmann::json other = same;
  other["threads"] = num_threads() + 1;
  EXPECT_THAT(warned_of(other), testing::HasSubstr("threads was"));
  other = same;
  other["strict"] = !strict_mode();
  EXPECT_THAT(warned_of(other), testing::HasSubstr("strict was"));
  other = same;
  other["cpu_isa"] = "another";
  EXPECT_THAT(warned_of(other), testing::HasSubstr("cpu_isa was"));
}

TEST(RunFolder, TakesTheNextFreeNumber) {
  const TempFolder temp;
  const WorkIn here(temp.path());
  const RunFolder a("", "lenet"), b("", "lenet"), c("", "other");
  EXPECT_EQ(a.path(), "runs/lenet-001");
  EXPECT_EQ(b.path(), "runs/lenet-002");
  EXPECT_EQ(c.path(), "runs/other-001");
}

TEST(RunFolder, HasOneWriter) {
  const TempFolder temp;
  {
    const RunFolder mine(temp.file("r"), "net");
    const pid_t child = fork();
    if (child == 0) {
      try {
        const RunFolder theirs(temp.file("r"), "net");
      } catch (const IoError& e) { _exit(e.code() == ErrorCode::kRunFolderBusy && e.exit_code() == 5 && !e.fix().empty() ? 7 : 2); }
      _exit(1);
    }
    int status = 0;
    waitpid(child, &status, 0);
    EXPECT_EQ(WEXITSTATUS(status), 7);
    EXPECT_THROW(RunFolder(temp.file("r"), "net"), IoError) << "in the same process as well";
  }
  EXPECT_NO_THROW(RunFolder(temp.file("r"), "net")) << "free again";
}

TEST(RunFolder, FoldersThatCannotBeUsed) {
  const TempFolder temp;
  std::ofstream(temp.file("file")) << "x";
  for (const std::string& path : {temp.file("file"), temp.file("file/below"), std::string("/proc/no/such")}) {
    try {
      RunFolder run(path, "net");
      ADD_FAILURE() << path;
    } catch (const IoError& e) {
      EXPECT_EQ(e.code(), ErrorCode::kIo);
      EXPECT_NE(std::string(e.what()).find(path), std::string::npos) << e.what();
      EXPECT_NE(e.fix().find("train.run_dir"), std::string::npos) << e.what();
    }
  }
  // Permissions do not stop root, so a child process drops root.
  const std::string locked = temp.file("locked");
  ASSERT_EQ(mkdir(locked.c_str(), 0555), 0);
  chmod(temp.path().c_str(), 0755);
  const pid_t child = fork();
  if (child == 0) {
    if (getuid() == 0 && setuid(65534) != 0) _exit(3);
    try {
      RunFolder run(locked, "net");
    } catch (const IoError& e) { _exit(std::string(e.what()).find("Permission denied") != std::string::npos && !e.fix().empty() ? 7 : 2); }
    _exit(1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(WEXITSTATUS(status), 7);
}

TEST(LossHash, SeesEveryBitAndTheOrder) {
  LossHash a, b, c;
  a.add(1.0f), a.add(2.0f);
  b.add(2.0f), b.add(1.0f);
  c.add(1.0f), c.add(std::nextafterf(2.0f, 3.0f));
  EXPECT_NE(a.hex(), b.hex());
  EXPECT_NE(a.hex(), c.hex());
  LossHash again;
  again.add(1.0f), again.add(2.0f);
  EXPECT_EQ(a.hex(), again.hex());
}

TEST(EventFile, ChecksumsAndFrames) {
  EXPECT_EQ(train::crc32c("123456789"), 0xe3069283u);  // the check value of CRC-32C
  EXPECT_EQ(train::crc32c(std::string(32, '\0')), 0x8a9136aau);  // RFC 3720, B.4
  const std::string frame = train::tfrecord_frame("abc");
  ASSERT_EQ(frame.size(), 8u + 4 + 3 + 4);
  uint64_t length = 0;
  uint32_t length_crc = 0, data_crc = 0;
  std::memcpy(&length, frame.data(), 8), std::memcpy(&length_crc, frame.data() + 8, 4), std::memcpy(&data_crc, frame.data() + 15, 4);
  EXPECT_EQ(length, 3u);
  EXPECT_EQ(length_crc, train::masked_crc32c(frame.substr(0, 8)));
  EXPECT_EQ(data_crc, train::masked_crc32c("abc"));
}

TEST(EventFile, HoldsVersionAndScalars) {
  const TempFolder temp;
  std::string path;
  {
    train::EventFile events(temp.path()), second(temp.path());
    path = events.path();
    EXPECT_NE(path, second.path());
    events.scalar("train/loss", 300, 0.5);
  }
  const std::string bytes = train::read_all(path);
  std::vector<std::string> records;
  for (size_t at = 0; at < bytes.size();) {
    uint64_t n = 0;
    std::memcpy(&n, bytes.data() + at, 8);
    records.push_back(bytes.substr(at + 12, n));
    EXPECT_EQ(bytes.substr(at, n + 16), train::tfrecord_frame(records.back()));
    at += n + 16;
  }
  ASSERT_EQ(records.size(), 2u);
  EXPECT_EQ(records[0].substr(9),
            std::string("\x1a\x0d"
                        "brain.Event:2"));
  // wall_time (9 bytes), step = 300, summary { value { tag, simple_value = 0.5f } }
  EXPECT_EQ(records[1].substr(9), std::string("\x10\xac\x02\x2a\x13\x0a\x11\x0a\x0atrain/loss\x15\x00\x00\x00\x3f", 3 + 2 + 2 + 2 + 10 + 5));
}

}  // namespace
}  // namespace sindri::app
