// A program started without standard streams: descriptors 0 to 2 are free, and everything that prints or logs writes to them. No file of the library may get
// one of these numbers.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>

#include "sindri/app/run_folder.h"
#include "sindri/core/log.h"
#include "sindri/op/timeline.h"
#include "src/core/descriptor.h"
#include "src/train/atomic_file.h"
#include "src/train/output_file.h"
#include "tests/train/checkpoint_util.h"
#include "tests/train/temp_folder.h"

namespace sindri::app {
namespace {

constexpr const char* kLine = "a line for the standard error stream";

bool streams_are_free() {
  for (int fd = 0; fd <= 2; ++fd) {
    if (fcntl(fd, F_GETFD) >= 0) return false;
  }
  return true;
}

int saves_seen = 0;
bool all_free = true;
// Called while a file that is being saved is open.
int log_while_saving(const char*) {
  ++saves_seen;
  log::warn("train", kLine);
  all_free = all_free && streams_are_free();
  return 0;
}

void write_everything(const std::string& folder) {
  const auto look = [] { log_while_saving(""); };
  train::save_checkpoint(train::sample_entries(), folder + "/c");
  train::OutputFile file(folder + "/out.json", "JSON file");
  look();
  file.write("{}\n");
  RunFolder run(folder + "/run", "net");
  look();
  run.start();
  for (int64_t step = 1; step <= 3; ++step) {
    run.event("step", 1, step, {{"loss", 0.5}});
    run.scalar("loss", step, 0.5);
    run.log("step");
    look();
  }
  run.epoch_row(1, {{"train_loss", 0.5}});
  Timeline().write(folder + "/trace.json");
  look();
}

TEST(ClosedStreams, NoFileTakesTheirPlace) {
  const TempFolder with, without;
  write_everything(with.path());
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    for (int fd = 0; fd <= 2; ++fd) close(fd);
    train::atomic_file_fault = log_while_saving;
    saves_seen = 0;
    all_free = true;
    try {
      write_everything(without.path());
    } catch (...) { _exit(4); }
    _exit(!all_free ? 3 : saves_seen < 10 ? 2 : 0);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0) << "2: nothing was saved, 3: a file had the number of a stream, 4: a file could not be written";
  EXPECT_EQ(train::read_all(without.file("c.ckpt")), train::read_all(with.file("c.ckpt")));
  size_t files = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(without.path())) {
    if (!entry.is_regular_file()) continue;
    ++files;
    EXPECT_EQ(train::read_all(entry.path().string()).find(kLine), std::string::npos) << entry.path();
  }
  EXPECT_GE(files, 7u);
}

// With only one of them closed, open returns that number first; the others stay unchanged.
TEST(ClosedStreams, OnlyOneIsClosed) {
  const TempFolder temp;
  for (int closed = 0; closed <= 2; ++closed) {
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      close(closed);
      const int file = open_file(temp.file("f"), O_WRONLY | O_CREAT, 0600);
      const int other = above_standard_streams(open(temp.file("f").c_str(), O_WRONLY));
      const bool kept = (fcntl(file, F_GETFD) & FD_CLOEXEC) != 0 && (fcntl(other, F_GETFD) & FD_CLOEXEC) != 0;
      bool others = true;
      for (int fd = 0; fd <= 2; ++fd) others = others && (fcntl(fd, F_GETFD) >= 0) == (fd != closed);
      errno = 0;
      const bool refused = open_file(temp.file("absent/f"), O_WRONLY) == -1 && errno == ENOENT && write_text_file(temp.file("absent/f"), "") == ENOENT;
      _exit(file > 2 && other > 2 && kept && others && refused ? 0 : 1);
    }
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << closed;
  }
}

}  // namespace
}  // namespace sindri::app
