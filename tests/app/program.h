// Runs the real `sindri` program with arguments and an environment; returns the exit code and both outputs.
#pragma once

#include <sys/types.h>

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "source_dir.h"
#include "tests/train/temp_folder.h"

namespace sindri::app {

struct Result {
  int code = -1;  // exit code; 128 + number if a signal ended it
  bool signalled = false;
  std::string out, err;
  std::string command;  // to repeat it by hand, from the root of the sources
};

struct RunOptions {
  std::map<std::string, std::string> environment = {};  // added to that of the tests
  std::string directory = SINDRI_SOURCE_DIR;  // working directory; the default has configs/ and dataset/
  std::function<void()> in_child = nullptr;  // before the program starts; only async-signal-safe calls
};

/// SINDRI_PROGRAM, which CTest sets; otherwise the program built next to these tests.
std::string program_path();

/// A started program.
class Program {
 public:
  explicit Program(std::vector<std::string> arguments, const RunOptions& options = {});
  ~Program();  // kills it if it still runs
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  void signal(int number) const;
  bool running();
  pid_t pid() const { return pid_; }
  /// Waits for the end. Kills it after `limit_seconds`, which fails the test.
  Result wait(double limit_seconds = 120);
  /// Polls until `condition` holds; returns false if the program ended first.
  bool wait_until(const std::function<bool()>& condition);
  const std::string& command() const { return result_.command; }

 private:
  bool reap(bool block);
  TempFolder outputs_;
  pid_t pid_ = -1;
  bool ended_ = false;
  Result result_;
};

Result run(std::vector<std::string> arguments, const RunOptions& options = {});

/// Options under which the program finds two simulated accelerators (tests/device/simulator.h), configured as tests/preload/simulator.cc describes.
RunOptions simulated(const std::string& settings = "seed=1,delay=20", std::map<std::string, std::string> more_environment = {});

/// Expects the exit code, "error[Ennnn]", "where:", "fix:" and the given pieces of text on stderr; shows the command if one is missing.
void expect_error(const Result& r, int code, const std::string& number, const std::vector<std::string>& pieces);

/// Splits `text` as a shell does if it has no special characters; for the commands that a run suggests.
std::vector<std::string> words(const std::string& text);

/// Step number -> every loss that metrics.jsonl of a run folder has for it, as printed.
std::map<int64_t, std::vector<std::string>> step_losses(const std::string& run_dir);
/// Number of the last step in metrics.jsonl; 0 before the first.
int64_t last_step(const std::string& run_dir);

/// Number of lines in metrics.jsonl; every resumed run adds some.
int64_t event_count(const std::string& run_dir);

/// Checkpoint files of a run folder, oldest step first.
std::vector<std::string> checkpoints(const std::string& run_dir);
/// Fails unless every checkpoint of the run loads and verifies; returns how many there are.
size_t expect_good_checkpoints(const std::string& run_dir);

/// Expects the last checkpoints of two runs to have the same entries, bitwise identical. The number of ranks may differ, because no result depends on it. The
/// epoch's sums may differ, too: if a resumed run does not start at a multiple of the interval, it may save its last step before the epoch's end clears the
/// sums. The whole run saves after that.
void expect_same_end(const std::string& run_dir, const std::string& other_run_dir);

/// The same for tensors only: the runs may have been saved and evaluated at other steps.
void expect_same_weights(const std::string& run_dir, const std::string& other_run_dir);

/// Path, kind, time and content of everything in a folder.
std::string folder_snapshot(const std::string& folder);

/// Writes DIR/train and DIR/test with class folders of small JPEG files that a network can tell apart.
void make_jpeg_data(const std::string& dir, int classes = 3, int train_per_class = 16, int test_per_class = 4, int side = 32);

}  // namespace sindri::app
