// The program as a process: closed and broken streams, signals at any time, limits of files and memory, paths that are not files.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "source_dir.h"
#include "tests/app/program.h"
#include "tests/train/checkpoint_util.h"

namespace sindri::app::process_test {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::Not;

std::vector<std::string> digits(const std::string& run_dir, int epochs = 1) {
  return {"train", "--quiet", "--config", "configs/digits.yaml", "--set", "train.epochs=" + std::to_string(epochs), "--set", "train.run_dir=" + run_dir};
}

// Checks that every line of metrics.jsonl is an object, the lock is empty and no temporary files remain.
void expect_clean(const std::string& run_dir) {
  std::ifstream in(run_dir + "/metrics.jsonl");
  int64_t lines = 0;
  for (std::string line; std::getline(in, line); ++lines) EXPECT_TRUE(nlohmann::json::parse(line, nullptr, false).is_object()) << line;
  EXPECT_GT(lines, 0);
  EXPECT_EQ(fs::file_size(run_dir + "/lock"), 0u);
  for (const auto& entry : fs::recursive_directory_iterator(run_dir)) EXPECT_THAT(entry.path().filename().string(), Not(HasSubstr(".tmp.")));
}

TEST(Streams, ClosedOnesReceiveNothingOfAnotherFile) {
  const TempFolder temp;
  const Result r = run(digits(temp.file("run")), {.in_child = [] {
                         for (int fd = 0; fd < 3; ++fd) close(fd);
                       }});
  EXPECT_EQ(r.code, 0) << r.command;
  expect_clean(temp.file("run"));
  EXPECT_EQ(expect_good_checkpoints(temp.file("run")), 1u);
}

// sindri train ... | head -1: the reader closes the pipe after the first line.
TEST(Streams, TrainingOutlivesItsReader) {
  const TempFolder temp;
  int ends[2];
  ASSERT_EQ(pipe2(ends, O_CLOEXEC), 0);
  Program p(digits(temp.file("run"), 2), {.in_child = [&] {
              signal(SIGPIPE, SIG_DFL);
              dup2(ends[1], 1);
            }});
  close(ends[1]);
  char byte;
  EXPECT_EQ(read(ends[0], &byte, 1), 1);
  close(ends[0]);
  const Result r = p.wait();
  EXPECT_EQ(r.code, 0) << r.command << "\n" << r.err;
  EXPECT_EQ(r.err, "");
  expect_clean(temp.file("run"));
  EXPECT_EQ(expect_good_checkpoints(temp.file("run")), 2u);
}

TEST(Streams, AFullOneIsAnError) {
  const auto full = [] { dup2(open("/dev/full", O_WRONLY), 1); };
  for (const std::vector<std::string>& a : std::vector<std::vector<std::string>>{{"version"}, {"summary", "lenet"}, {"--help"}, {"--version"}})
    expect_error(run(a, {.in_child = full}), 5, "E5001", {"standard output"});
  const TempFolder temp;
  expect_error(run(digits(temp.file("run")), {.in_child = full}), 5, "E5001", {"standard output"});
  EXPECT_EQ(expect_good_checkpoints(temp.file("run")), 1u) << "the work is done all the same";
}

TEST(Signals, HangUpSavesLikeTheOthers) {
  const TempFolder temp;
  Program p(digits(temp.file("run"), 1000), {.in_child = [] { signal(SIGHUP, SIG_DFL); }});
  p.wait_until([&] { return last_step(temp.file("run")) >= 3; });
  p.signal(SIGHUP);
  p.signal(SIGHUP);  // shells send it twice
  const Result r = p.wait();
  SCOPED_TRACE("repeat: " + r.command + "\n" + r.out + r.err);
  EXPECT_EQ(r.code, 129);
  EXPECT_FALSE(r.signalled);
  EXPECT_THAT(r.out, HasSubstr("resume with: "));
  EXPECT_GE(expect_good_checkpoints(temp.file("run")), 1u);
}

TEST(Signals, NohupIsHonoured) {
  const TempFolder temp;
  Program p(digits(temp.file("run")), {.in_child = [] { signal(SIGHUP, SIG_IGN); }});
  p.wait_until([&] { return last_step(temp.file("run")) >= 1; });
  p.signal(SIGHUP);
  EXPECT_EQ(p.wait().code, 0);
}

// At any moment of the start, there is either nothing or a run that can be resumed.
TEST(Signals, WhileTheProgramStarts) {
  const TempFolder temp;
  int saved = 0;
  for (int i = 0; i < 14; ++i) {
    const std::string run_dir = temp.file("run" + std::to_string(i));
    const int number = i % 2 == 0 ? SIGTERM : SIGINT;
    Program p(digits(run_dir, 1000), {.in_child = [] {
                signal(SIGINT, SIG_DFL);
                signal(SIGTERM, SIG_DFL);
              }});
    // By time while nothing is visible from outside, then by the contents of the folder.
    static constexpr const char* kSeen[] = {"/lock", "/metrics.jsonl", "/config.resolved.yaml", "/env.json"};
    const auto start = std::chrono::steady_clock::now();
    p.wait_until([&] { return i < 10 ? std::chrono::steady_clock::now() - start > std::chrono::milliseconds(12 * i) : fs::exists(run_dir + kSeen[i - 10]); });
    p.signal(number);
    const Result r = p.wait();
    SCOPED_TRACE("start " + std::to_string(i) + "\nrepeat: " + r.command + "\n" + r.out + r.err);
    EXPECT_EQ(r.code, 128 + number);
    if (!fs::exists(run_dir)) continue;
    EXPECT_FALSE(r.signalled) << "a run had started and was not saved";
    EXPECT_GE(expect_good_checkpoints(run_dir), 1u);
    ++saved;
  }
  EXPECT_GE(saved, 4);
}

void limit(decltype(RLIMIT_AS) what, rlim_t value) {
  const rlimit both = {value, value};
  setrlimit(what, &both);
}

TEST(Limits, SizeOfFiles) {
  const TempFolder temp;
  for (const rlim_t kilobytes : {4, 64}) {
    const std::string run_dir = temp.file("run" + std::to_string(kilobytes));
    const Result r =
        run(digits(run_dir), {.environment = {{"SINDRI_CACHE_DIR", temp.file("cache")}}, .in_child = [&] { limit(RLIMIT_FSIZE, kilobytes << 10); }});
    SCOPED_TRACE(r.command + "\n" + r.err);
    EXPECT_FALSE(r.signalled);
    EXPECT_EQ(r.code, 5);
    EXPECT_THAT(r.err, HasSubstr("File too large"));
    EXPECT_THAT(r.err, HasSubstr("error[E5001]"));
    for (const auto& entry : fs::recursive_directory_iterator(run_dir)) EXPECT_THAT(entry.path().filename().string(), Not(HasSubstr(".tmp.")));
  }
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
TEST(Limits, AddressSpace) {
  const TempFolder temp;
  int done = 0, refused = 0;
  for (rlim_t megabytes = 260; megabytes <= 620; megabytes += 30) {
    const std::string run_dir = temp.file("run" + std::to_string(megabytes));
    const Result r = run(digits(run_dir), {.in_child = [&] { limit(RLIMIT_AS, megabytes << 20); }});
    SCOPED_TRACE(std::to_string(megabytes) + " MB\n" + r.command + "\n" + r.out + r.err);
    EXPECT_FALSE(r.signalled);
    if (r.code == 0) {
      ++done;
      continue;
    }
    ++refused;
    expect_error(r, 5, "E5002", {});
  }
  std::cout << done << " trained, " << refused << " refused\n";
}
#endif

TEST(OutputFiles, JsonGoesThroughALink) {
  const TempFolder temp;
  fs::create_symlink("target", temp.file("link"));
  const Result r = run({"profile", "lenet", "--batch", "2", "--steps", "1", "--json", temp.file("link")});
  EXPECT_EQ(r.code, 0) << r.err;
  EXPECT_TRUE(fs::is_symlink(temp.file("link")));
  EXPECT_TRUE(nlohmann::json::parse(std::ifstream(temp.file("target")), nullptr, false).is_object());
}

TEST(Environment, ValuesAndNames) {
  const auto with = [](const char* name, const char* value) { return run({"summary", "lenet"}, {.environment = {{name, value}}}); };
  expect_error(with("SINDRI_LOG", "foo"), 2, "E2010", {"'foo'", "SINDRI_LOG", "debug"});
  expect_error(with("SINDRI_LOG", "graph=loud"), 2, "E2010", {"'graph=loud'"});
  expect_error(with("SINDRI_KERNEL", "onednnn"), 2, "E2010", {"SINDRI_KERNEL", "did you mean 'onednn'"});
  expect_error(with("SINDRI_JPEG_ENTROPY", "libjpeg"), 2, "E2010", {"SINDRI_JPEG_ENTROPY", "use library"});
  expect_error(run({"train", "--config", "configs/digits.yaml", "--dry-run"}, {.environment = {{"SINDRI_CPU_ISA", "foo"}}}), 2, "E2010",
               {"SINDRI_CPU_ISA=foo is not known\n  where: environment\n"});
  const std::pair<const char*, const char*> names[] = {
      {"SINDRI_NUM_THREAD", "SINDRI_NUM_THREADS"}, {"SINDRI_THREADS", "SINDRI_NUM_THREADS"}, {"SINDRI_STRIKT", "SINDRI_STRICT"}};
  for (const auto& [wrong, right] : names) {
    const Result r = with(wrong, "1");
    EXPECT_EQ(r.code, 0);
    EXPECT_THAT(r.err, HasSubstr(std::string(wrong) + " is not known and has no effect; did you mean '" + right + "'"));
  }
  // Every variable of the page is known.
  std::ifstream in(std::string(SINDRI_SOURCE_DIR) + "/docs/environment.md");
  RunOptions all;
  const std::map<std::string, std::string> values = {
      {"SINDRI_CPU_ISA", "scalar"}, {"SINDRI_LOG", "warn"}, {"SINDRI_KERNEL", "onednn"}, {"SINDRI_DATA_PLAN", "none"}};
  for (std::string line; std::getline(in, line);) {
    for (size_t at = line.find("`SINDRI_"); line.starts_with("| `") && at < line.find(" | ", 2); at = line.find("`SINDRI_", at + 1)) {
      const std::string name = line.substr(at + 1, line.find('`', at + 1) - at - 1);
      all.environment[name] = values.contains(name) ? values.at(name) : "";
    }
  }
  EXPECT_GT(all.environment.size(), 15u);
  const Result r = run({"doctor"}, all);
  EXPECT_EQ(r.code, 0) << r.err;
  EXPECT_EQ(r.err, "");
}

}  // namespace
}  // namespace sindri::app::process_test
