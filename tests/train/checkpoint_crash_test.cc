// Saving under attack: each system call of a save fails, the process is killed at random moments, the disk is full. Whatever happens, everything saved before
// must load.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>

#include "sindri/core/error.h"
#include "src/train/atomic_file.h"
#include "tests/train/checkpoint_util.h"
#include "tests/train/temp_folder.h"

namespace sindri::train {
namespace {

std::vector<CheckpointEntry> state(int64_t step, int64_t floats = 50000) {
  return {CheckpointEntry::of("w", Tensor::full({floats}, static_cast<double>(step % 1000))), CheckpointEntry::number("step_num", step)};
}

struct Fault {
  std::string call;
  int error = 0, after = 0;  // fails at call number `after`, from 0
} fault;
int inject(const char* call) { return fault.call == call && fault.after-- == 0 ? fault.error : 0; }

size_t files_in(const std::string& folder) {
  return static_cast<size_t>(std::distance(std::filesystem::directory_iterator(folder), std::filesystem::directory_iterator()));
}

TEST(SaveFaults, EveryFailingCallKeepsThePreviousFile) {
  const TempFolder folder;
  const std::string path = save_checkpoint(state(1), folder.file("c"));
  atomic_file_fault = inject;
  for (const char* call : {"open", "write", "fsync", "rename"}) {
    for (const int error : {ENOSPC, EIO, EROFS}) {
      for (int after = 0; after < (std::strcmp(call, "write") == 0 ? 4 : 1); ++after) {
        fault = {call, error, after};
        try {
          save_checkpoint(state(2), path);
          ADD_FAILURE() << call << " " << after;
        } catch (const IoError& e) {
          EXPECT_NE(std::string(e.what()).find(std::strerror(error)), std::string::npos) << e.what();
          EXPECT_NE(std::string(e.what()).find(path), std::string::npos) << e.what();
          EXPECT_EQ(e.exit_code(), 5);
          EXPECT_FALSE(e.fix().empty());
        }
        EXPECT_EQ(files_in(folder.path()), 1u) << "the temporary file is gone after " << call;
        EXPECT_EQ(load_checkpoint(path).integer("step_num"), 1);
      }
    }
  }
  // The folder's sync comes after the rename: the new file is complete, but its name may not survive a power loss, so the save reports failure.
  fault = {"fsync_folder", EIO, 0};
  EXPECT_THROW(save_checkpoint(state(2), path), IoError);
  EXPECT_EQ(load_checkpoint(path).integer("step_num"), 2);
  atomic_file_fault = nullptr;
  save_checkpoint(state(3), path);
  EXPECT_EQ(load_checkpoint(path).integer("step_num"), 3);
}

TEST(SaveFaults, CompatFileAndItsSumFileNeverDisagree) {
  const TempFolder folder;
  const SaveOptions compat{.compat_mindspore1 = true};
  const std::string path = save_checkpoint(state(1), folder.file("c"), compat);
  atomic_file_fault = inject;
  int failures = 0;
  for (const char* call : {"open", "write", "fsync", "rename", "fsync_folder"}) {
    for (int after = 0; after < 8; ++after) {
      fault = {call, EIO, after};
      try {
        save_checkpoint(state(2), path, compat);
      } catch (const IoError&) { ++failures; }
      const LoadedCheckpoint c = load_checkpoint(path);
      EXPECT_TRUE(c.verified) << call << " " << after;
      EXPECT_EQ(c.find("w")->tensor.to_vector<float>()[0], static_cast<float>(c.integer("step_num")));
    }
  }
  atomic_file_fault = nullptr;
  EXPECT_GE(failures, 15);
}

TEST(SaveFaults, AStaleTemporaryFileIsNoObstacle) {
  const TempFolder folder;
  std::ofstream(folder.file("c.ckpt.tmp." + std::to_string(getpid()))) << "left by a process of the same number";
  EXPECT_EQ(load_checkpoint(save_checkpoint(state(4), folder.file("c"))).integer("step_num"), 4);
  EXPECT_EQ(files_in(folder.path()), 1u);
}

// The child saves as fast as it can, overwriting one name and rotating others, and is killed at a random moment. The parent must then find a good checkpoint at
// least as new as the last one the child reported.
TEST(SaveFaults, KillAtRandomTimesLosesNothing) {
  const TempFolder folder;
  uint64_t random = 12345;
  for (int round = 0; round < 25; ++round) {
    int pipe_ends[2];
    ASSERT_EQ(pipe(pipe_ends), 0);
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      close(pipe_ends[0]);
      try {
        for (int64_t step = round * 10000 + 1;; ++step) {
          save_checkpoint(state(step), folder.file(checkpoint_file_name("net", 1, step)));
          if (write(pipe_ends[1], &step, sizeof step) != sizeof step) _exit(1);
          if (step % 10000 > 2) unlink(folder.file(checkpoint_file_name("net", 1, step - 2)).c_str());
        }
      } catch (...) { _exit(2); }
    }
    close(pipe_ends[1]);
    int64_t reported = 0;
    ASSERT_EQ(read(pipe_ends[0], &reported, sizeof reported), static_cast<ssize_t>(sizeof reported));  // at least one save is done
    random = random * 6364136223846793005u + 1442695040888963407u;
    usleep(static_cast<useconds_t>((random >> 33) % 20000));
    kill(child, SIGKILL);
    int status = 0;
    waitpid(child, &status, 0);
    EXPECT_TRUE(WIFSIGNALED(status)) << "the child exited before it was killed, status " << status;
    for (int64_t step = 0; read(pipe_ends[0], &step, sizeof step) == sizeof step;) reported = step;
    close(pipe_ends[0]);
    const std::string newest = find_newest_checkpoint(folder.path(), "net");
    ASSERT_FALSE(newest.empty()) << "round " << round;
    const LoadedCheckpoint c = load_checkpoint(newest);
    EXPECT_TRUE(c.verified);
    EXPECT_GE(c.integer("step_num"), reported) << "round " << round;
    EXPECT_EQ(c.find("w")->tensor.to_vector<float>()[49999], static_cast<float>(c.integer("step_num") % 1000));
  }
}

TEST(SaveFaults, FullDiskKeepsWhatIsThere) {
  const TempFolder folder;
  if (mount("tmpfs", folder.path().c_str(), "tmpfs", 0, "size=1m") != 0) GTEST_SKIP() << "no tmpfs can be mounted here (needs root): " << std::strerror(errno);
  const std::string path = save_checkpoint(state(1), folder.file("net-1_1"));
  try {
    save_checkpoint(state(2, 1000000), folder.file("net-1_2"));
    ADD_FAILURE() << "4 MB fitted on a 1 MB disk";
  } catch (const IoError& e) {
    EXPECT_NE(std::string(e.what()).find("No space left"), std::string::npos) << e.what();
    EXPECT_NE(e.fix().find("free some space"), std::string::npos);
  }
  EXPECT_THROW(save_checkpoint(state(2, 1000000), path), IoError);
  EXPECT_EQ(files_in(folder.path()), 1u);
  EXPECT_EQ(load_checkpoint(path).integer("step_num"), 1);
  EXPECT_EQ(load_checkpoint(save_checkpoint(state(3), folder.file("net-1_3"))).integer("step_num"), 3) << "smaller files still fit";
  umount(folder.path().c_str());
}

}  // namespace
}  // namespace sindri::train
