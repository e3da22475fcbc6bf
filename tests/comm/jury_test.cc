// The verdict's rules, with simulated time: the evidence that counts, the rank that is blamed, and cases without a verdict.
#include "src/comm/jury.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>

namespace sindri::comm {
namespace jury_test {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

StoreConfig config_for(int size) {
  StoreConfig c;
  c.address = "10.0.0.1:29560";
  c.size = size;
  return c;
}

// A job in which all ranks arrive at time 0 and send heartbeats while `until` advances.
struct Court {
  explicit Court(int size) : jury(config_for(size), 0), pulses(static_cast<size_t>(size)), silent(static_cast<size_t>(size), false) {
    for (int r = 0; r < size; ++r) jury.joined({r, r < 2 ? "h1" : "h2", "10.0.0.1", 100 + r}, 0);
  }
  void inside(int rank, int64_t call, const std::string& text, double since) {
    pulses[static_cast<size_t>(rank)].call = call;
    pulses[static_cast<size_t>(rank)].inside = true;
    pulses[static_cast<size_t>(rank)].text = text;
    entered[rank] = since;
  }
  // Returns the verdict up to time `end`, if there is one.
  std::optional<CommError> until(double end) {
    for (; now < end; now += 0.25) {
      for (size_t r = 0; r < pulses.size(); ++r) {
        if (silent[r]) continue;
        const auto it = entered.find(static_cast<int>(r));
        pulses[r].waited = it == entered.end() ? 0 : now - it->second;
        jury.pulse(static_cast<int>(r), pulses[r], now);
      }
      jury.tick(now, [this](int) { return answers; });
      for (const std::string& w : jury.warnings()) warnings.push_back(w);
      if (auto verdict = jury.verdict(now)) return verdict;
    }
    return {};
  }
  Jury jury;
  std::vector<Pulse> pulses;
  std::map<int, double> entered;
  std::vector<bool> silent;
  std::vector<std::string> warnings;
  bool answers = true;
  double now = 0;
};

TEST(Jury, NothingHappens) {
  Court c(4);
  c.inside(0, 5, "all_reduce", 0);
  EXPECT_FALSE(c.until(25));
  EXPECT_THAT(c.warnings, IsEmpty());
}

TEST(Jury, WhoDiedOutranksWhoNoticed) {
  Court c(4);
  c.jury.reported(1, CommError(ErrorCode::kPeerLost, "connection reset by rank 3"), 0.0);
  c.jury.reported(2, CommError(ErrorCode::kCommTimeout, "waited too long"), 0.1);
  c.jury.lost(3, 0, 0.2);
  const auto verdict = c.until(2);
  ASSERT_TRUE(verdict);
  EXPECT_EQ(verdict->code(), ErrorCode::kPeerLost);
  EXPECT_EQ(verdict->message(), "rank 3 (h2, pid 103) died");
  EXPECT_LE(c.now, 0.75);
  EXPECT_FALSE(c.until(4));  // there is only one verdict
}

TEST(Jury, TheLauncherKnowsTheSignal) {
  Court c(4);
  c.jury.lost(3, ECONNRESET, 0.0);
  c.jury.told(3, "signal 9", 0.1);
  EXPECT_EQ(c.until(2)->message(), "rank 3 (h2, pid 103) died, signal 9");
  Court d(4);  // the launcher is faster than the kernel
  d.jury.told(2, "exit code 1", 0.0);
  d.jury.lost(2, 0, 0.1);
  EXPECT_EQ(d.until(2)->message(), "rank 2 (h2, pid 102) died, exit code 1");
}

TEST(Jury, EarliestOfEqualEvidence) {
  Court c(4);
  c.jury.lost(2, 0, 0.0);
  c.jury.lost(1, 0, 0.1);
  EXPECT_THAT(c.until(2)->message(), HasSubstr("rank 2 "));
}

TEST(Jury, ARankThatSaysWhyOutranksItsDeath) {
  Court c(4);
  c.jury.reported(2, CommError(ErrorCode::kRankData, "rank 2 ends the job: images/7.jpg cannot be read", "epoch 2", "mend the file"), 0.0);
  c.jury.lost(2, 0, 0.01);
  const auto verdict = c.until(2);
  EXPECT_EQ(verdict->code(), ErrorCode::kRankData);
  EXPECT_EQ(verdict->message(), "rank 2 (h2, pid 102) ends the job: images/7.jpg cannot be read");
  EXPECT_EQ(verdict->fix(), "mend the file");
}

TEST(Jury, SilentProcessOnALivingHost) {
  Court c(4);
  c.until(3);
  c.silent[3] = true;
  const auto verdict = c.until(30);
  ASSERT_TRUE(verdict);
  EXPECT_THAT(verdict->message(), HasSubstr("rank 3 (h2, pid 103) gave no sign of life for 8"));
  EXPECT_THAT(verdict->message(), HasSubstr("stopped or hanging"));
  EXPECT_LE(c.now, 3 + 9);
}

TEST(Jury, ALostHostsRanksAreNamedTogether) {
  Court c(4);
  c.answers = false;
  c.until(3);
  c.silent[3] = true;
  c.until(3.75);
  c.silent[2] = true;
  const auto verdict = c.until(30);
  ASSERT_TRUE(verdict);
  EXPECT_THAT(verdict->message(), HasSubstr("ranks 2 (h2, pid 102), 3 (h2, pid 103) gave no sign"));
  EXPECT_THAT(verdict->message(), HasSubstr("the host or the link to it is gone"));
  EXPECT_LE(c.now, 3.75 + 9);
}

TEST(Jury, ABrokenLinkIsNoDeath) {
  Court c(2);
  c.jury.lost(1, ETIMEDOUT, 0.0);
  EXPECT_THAT(c.until(2)->message(), HasSubstr("the connection to rank 1 (h1, pid 101) is lost: Connection timed out"));
}

TEST(Jury, StuckRankIsWarnedOfThenEndsTheJob) {
  Court c(4);
  for (const int r : {0, 1, 3}) c.inside(r, 12, "all_reduce \"gradient bucket 1\" (89.4 MB)", 0);
  c.pulses[2].call = 11;
  c.pulses[2].text = "all_reduce \"gradient bucket 0\" (1.0 MB)";
  c.pulses[2].phase = "data";
  EXPECT_FALSE(c.until(60));
  ASSERT_EQ(c.warnings.size(), 1U);
  EXPECT_THAT(c.warnings[0], HasSubstr("call 12 all_reduce \"gradient bucket 1\" (89.4 MB) has waited for rank 2 (h2, pid 102) for 30 s"));
  EXPECT_THAT(c.warnings[0], HasSubstr("phase data, after call 11"));
  const auto verdict = c.until(700);
  ASSERT_TRUE(verdict);
  EXPECT_EQ(verdict->code(), ErrorCode::kCommTimeout);
  EXPECT_THAT(verdict->message(), HasSubstr("rank 2 (h2, pid 102) did not enter call 12 all_reduce"));
  EXPECT_NEAR(c.now, 600.5, 0.6);
}

TEST(Jury, AStragglerIsNoFailure) {
  Court c(2);
  c.inside(0, 12, "all_reduce", 0);
  c.until(40);
  c.pulses[0].inside = false;
  c.entered.erase(0);
  EXPECT_FALSE(c.until(700));
  EXPECT_EQ(c.warnings.size(), 1U);
}

TEST(Jury, CallsOfGroupsWaitForMembersOnly) {
  Court c(4);
  c.inside(0, 12, "all_reduce", 0);
  c.pulses[0].group = "rows";
  c.pulses[0].members = {0, 2};
  c.pulses[2].call = 40;  // a call number from a different history
  c.until(35);
  ASSERT_EQ(c.warnings.size(), 1U);
  EXPECT_THAT(c.warnings[0], HasSubstr("has waited for rank 2 "));
}

TEST(Jury, ARankThatEndedInOrderWhileOthersWait) {
  Court c(3);
  c.jury.bye(2, 0);
  c.silent[2] = true;
  c.inside(0, 7, "all_reduce", 0);
  const auto verdict = c.until(30);
  ASSERT_TRUE(verdict);
  EXPECT_THAT(verdict->message(), HasSubstr("rank 2 (h2, pid 102) ended, while rank 0 (h1, pid 100) waits for it in call 7 all_reduce"));
  EXPECT_LE(c.now, 8);
  Court d(3);  // its broken connection is noticed first
  d.jury.bye(2, 0);
  d.jury.reported(1, CommError(ErrorCode::kPeerLost, "connection closed by rank 2"), 0.1);
  EXPECT_THAT(d.until(3)->message(), HasSubstr("rank 2 (h2, pid 102) ended, while rank 1 (h1, pid 101) still had calls to make"));
}

TEST(Jury, EndsInOrder) {
  Court c(2);
  EXPECT_FALSE(c.jury.over());
  c.jury.bye(0, 1);
  c.jury.bye(1, 1);
  c.jury.lost(1, 0, 1.1);
  EXPECT_TRUE(c.jury.over());
  EXPECT_FALSE(c.until(20));
}

TEST(Jury, MissingRanksAreListed) {
  StoreConfig config = config_for(8);
  config.options.init_timeout = 20;
  Jury jury(config, 0);
  for (const int r : {0, 1, 2, 4, 6, 7}) jury.joined({r, "h", "10.0.0.1", 5}, 1);
  const auto yes = [](int) { return true; };
  for (double now = 0; now < 19.9; now += 0.1) {
    for (const int r : {0, 1, 2, 4, 6, 7}) jury.pulse(r, {}, now);
    jury.tick(now, yes);
  }
  EXPECT_FALSE(jury.any_evidence());
  jury.tick(20, yes);
  const auto verdict = jury.verdict(20.5);
  ASSERT_TRUE(verdict);
  EXPECT_EQ(verdict->code(), ErrorCode::kRendezvous);
  EXPECT_EQ(verdict->message(), "ranks 3, 5 of 8 ranks did not join within 20 s");
  EXPECT_THAT(verdict->where(), HasSubstr("ranks 0 (h, pid 5), 1 (h, pid 5), 2 (h, pid 5), 4 (h, pid 5) and 2 more joined"));
}

// A server that was stopped could not receive heartbeats. When it continues, it must not declare the ranks lost.
TEST(Jury, TheServersOwnSleep) {
  Court c(3);
  c.until(3);
  c.jury.slept(0, 5, 8);
  c.now = 8;
  EXPECT_FALSE(c.until(20));
  c.jury.slept(0, 12, 32);
  c.now = 32;
  EXPECT_THAT(c.until(34)->message(), HasSubstr("rank 0 (h1, pid 100) did not run for 12 s: it was stopped"));
}

}  // namespace jury_test
}  // namespace sindri::comm
