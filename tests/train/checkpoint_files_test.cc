// Which checkpoint files of a prefix exist, which prefixes are free, which files rotation removes, and when an evaluation counts as better.
#include "sindri/train/checkpoint_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>

#include <cmath>
#include <fstream>

#include "sindri/train/patience.h"
#include "tests/train/temp_folder.h"

namespace sindri::train {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// A file that was written this many seconds ago.
void put(const TempFolder& folder, const std::string& name, int64_t seconds_ago = 0) {
  std::ofstream(folder.file(name)) << name;
  timeval times[2] = {};
  gettimeofday(&times[0], nullptr);
  times[0].tv_sec -= seconds_ago;
  times[1] = times[0];
  utimes(folder.file(name).c_str(), times);
}

TEST(CheckpointFiles, AreThoseOfExactlyThePrefixOldestFirst) {
  const TempFolder folder;
  put(folder, "net-2_6.ckpt", 10);
  put(folder, "net-1_6.ckpt", 20);
  for (const char* other : {"net-large-1_5.ckpt", "net_1-1_5.ckpt", "net-3_2_breakpoint.ckpt", "net-graph.meta", "net-1_.ckpt", "net-1_6.ckpt.sum"})
    put(folder, other);
  EXPECT_THAT(checkpoint_files(folder.path(), "net"), ElementsAre(folder.file("net-1_6.ckpt"), folder.file("net-2_6.ckpt")));
  EXPECT_THAT(checkpoint_files(folder.file("absent"), "net"), IsEmpty());
}

TEST(CheckpointFiles, OfEqualTimesAreOrderedByTheirNumbers) {
  const TempFolder folder;
  for (const char* name : {"a-10_1.ckpt", "a-9_12.ckpt", "a-9_2.ckpt"}) {
    std::ofstream(folder.file(name)) << name;
    const timeval times[2] = {{1'000'000, 0}, {1'000'000, 0}};
    utimes(folder.file(name).c_str(), times);
  }
  EXPECT_THAT(checkpoint_files(folder.path(), "a"), ElementsAre(folder.file("a-9_2.ckpt"), folder.file("a-9_12.ckpt"), folder.file("a-10_1.ckpt")));
}

TEST(CheckpointFiles, FreePrefixIsBehindTheHighestNumber) {
  const TempFolder folder;
  EXPECT_EQ(free_checkpoint_prefix(folder.path(), "net"), "net");
  for (const char* other : {"net-large-1_5.ckpt", "network-1_5.ckpt", "net_x-1_5.ckpt", "net-2_2_breakpoint.ckpt"}) put(folder, other);
  EXPECT_EQ(free_checkpoint_prefix(folder.path(), "net"), "net");
  put(folder, "net-1_5.ckpt");
  EXPECT_EQ(free_checkpoint_prefix(folder.path(), "net"), "net_1");
  put(folder, "net_7-1_5.ckpt");
  EXPECT_EQ(free_checkpoint_prefix(folder.path(), "net"), "net_8");
}

TEST(CheckpointFiles, AreDueByStepsElseBySeconds) {
  EXPECT_TRUE(checkpoint_due(4, 0, 4, 0));
  EXPECT_FALSE(checkpoint_due(4, 1, 3, 99)) << "steps override seconds";
  EXPECT_TRUE(checkpoint_due(0, 3, 1, 3.5));
  EXPECT_FALSE(checkpoint_due(0, 3, 99, 3));
  EXPECT_FALSE(checkpoint_due(0, 0, 99, 99));
}

TEST(CheckpointFiles, RotationKeepsTheNewestAndSoManyBeforeIt) {
  EXPECT_THAT(checkpoints_to_remove({9, 5, 1}, {.keep_max = 3}), ElementsAre(0u));
  EXPECT_THAT(checkpoints_to_remove({9, 5, 1}, {.keep_max = 1}), ElementsAre(0u, 1u, 2u));
  EXPECT_THAT(checkpoints_to_remove({9, 5, 1}, {.keep_max = 9}), IsEmpty());
  EXPECT_THAT(checkpoints_to_remove({9, 5, 1}, {}), IsEmpty());
  const TempFolder folder;
  for (const int n : {1, 2, 3, 4}) put(folder, "a-" + std::to_string(n) + "_6.ckpt", 100 - n);
  put(folder, "a-1_6.ckpt.sum");
  rotate_checkpoints(folder.path(), "a", folder.file("a-4_6.ckpt"), {.keep_max = 2});
  EXPECT_THAT(checkpoint_files(folder.path(), "a"), ElementsAre(folder.file("a-3_6.ckpt"), folder.file("a-4_6.ckpt")));
  EXPECT_NE(access(folder.file("a-1_6.ckpt.sum").c_str(), F_OK), 0);
}

TEST(CheckpointFiles, OfThoseYoungerThanTheMinutesTheOldestStays) {
  EXPECT_THAT(checkpoints_to_remove({9, 5, 4, 1}, {.keep_per_n_minutes = 6}), ElementsAre(2u, 3u));
  EXPECT_THAT(checkpoints_to_remove({9, 8}, {.keep_per_n_minutes = 6}), IsEmpty());
  EXPECT_THAT(checkpoints_to_remove({9, 5, 4, 1}, {.keep_max = 5, .keep_per_n_minutes = 6}), IsEmpty()) << "the number overrides the minutes";
}

// Epochs of (number, better?, exhausted?).
struct Seen {
  double value;
  bool better, exhausted;
};
void expect_seen(Patience rule, const std::vector<Seen>& epochs) {
  for (size_t i = 0; i < epochs.size(); ++i) {
    EXPECT_EQ(rule.see(epochs[i].value), epochs[i].better) << "epoch " << i + 1;
    EXPECT_EQ(rule.exhausted(), epochs[i].exhausted) << "epoch " << i + 1;
  }
}

TEST(Patience, CountsEpochsSinceABetterNumber) {
  expect_seen({.min_delta = 0.5, .patience = 2}, {{3, true, false}, {2.6, false, false}, {2.4, true, false}, {2, false, false}, {2.4, false, true}});
  expect_seen({.larger_is_better = true, .patience = 1}, {{1, true, false}, {2, true, false}, {2, false, true}});
  expect_seen({.patience = 0}, {{1, true, false}, {1, false, true}});
  expect_seen({.patience = 1}, {{std::nan(""), false, true}, {5, true, false}});
}

TEST(Patience, BaselineMustBeBeatenToo) {
  expect_seen({.patience = 2, .baseline = 1.0}, {{3, true, false}, {2, true, true}});
  expect_seen({.patience = 2, .baseline = 1.0}, {{3, true, false}, {0.5, true, false}, {0.6, false, false}, {0.7, false, true}});
}

TEST(Patience, CooldownIsNotCounted) {
  Patience rule{.patience = 1};
  rule.see(1);
  rule.cooldown = 2;
  EXPECT_FALSE(rule.see(1));
  EXPECT_FALSE(rule.exhausted());
  rule.see(1);
  EXPECT_TRUE(rule.exhausted()) << "the cooldown has run out";
}

}  // namespace
}  // namespace sindri::train
