// Work that rank 0 does for all: its text, its errors and its checkpoint reach every rank, however long it takes; and differences between ranks are named.
#include "src/train/first_rank.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstring>
#include <limits>
#include <thread>

#include "sindri/core/error.h"

namespace sindri::train {
namespace {

TEST(FirstRank, ItsTextReachesAll) {
  std::atomic<int> calls{0}, right{0};
  comm::run_ranks(4, [&](int) {
    const std::string text = from_first_rank(comm::world(), "test", [&] {
      ++calls;
      return std::string("written to a\nb");
    });
    right += text == "written to a\nb" ? 1 : 0;
    right += from_first_rank(comm::world(), "test", [] { return std::string(); }).empty() ? 1 : 0;
  });
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(right, 8);
}

// A call may wait for half a second at most; rank 0's work takes longer.
TEST(FirstRank, ASlowOneIsNoRankThatHangs) {
  std::atomic<int> right{0};
  comm::Options options;
  options.op_warn = 0.4;
  options.op_timeout = 0.5;
  comm::run_ranks(
      3,
      [&](int) {
        const std::string text = from_first_rank(
            comm::world(), "slow",
            [] {
              std::this_thread::sleep_for(std::chrono::milliseconds(900));
              return std::string("done");
            },
            0.1);
        right += text == "done" ? 1 : 0;
      },
      0, options);
  EXPECT_EQ(right, 3);
}

TEST(FirstRank, ItsErrorIsThrownOnAll) {
  std::atomic<int> right{0};
  comm::run_ranks(3, [&](int rank) {
    try {
      from_first_rank(comm::world(), "test", []() -> std::string { throw CheckpointError(ErrorCode::kCheckpointCorrupt, "bad sum", "a.ckpt", "use another"); });
    } catch (const CheckpointError& e) {
      right += e.code() == ErrorCode::kCheckpointCorrupt && e.message() == (rank == 0 ? "bad sum" : "rank 0: bad sum") && e.where() == "a.ckpt" &&
              e.fix() == "use another"
          ? 1
          : 0;
    }
    comm::world().barrier();  // later calls work as before
  });
  EXPECT_EQ(right, 3);
}

TEST(FirstRank, DifferencesBetweenRanksAreNamed) {
  std::atomic<int> right{0};
  comm::run_ranks(3, [&](int rank) {
    check_same_on_all(comm::world(), "settings", "a: 1\nb: 2\n");
    try {
      check_same_on_all(comm::world(), "settings", rank == 1 ? "a: 1\nb: 3\n" : "a: 1\nb: 2\n");
    } catch (const CommError& e) {
      EXPECT_EQ(e.code(), ErrorCode::kCommMismatch);
      EXPECT_EQ(e.message(), "the settings differ between ranks: b: 2 on ranks 0 2, b: 3 on rank 1");
      ++right;
    }
    EXPECT_THROW(check_same_on_all(comm::world(), "settings", rank == 2 ? "a: 1\n" : "a: 1\nb: 2\n"), CommError) << "one line is missing";
  });
  EXPECT_EQ(right, 3);
}

TEST(FirstRank, ACheckpointReachesAllWithItsBits) {
  const std::vector<float> values = {1.5f, -0.0f, std::numeric_limits<float>::quiet_NaN(), 3e-42f};
  LoadedCheckpoint file{.path = "dir/a.ckpt", .entries = {}, .verified = true, .notice = "n"};
  file.entries.push_back(CheckpointEntry::of("w", Tensor::from_data({2, 2}, DType::kFloat32, values.data())));
  file.entries.push_back(CheckpointEntry::of("empty", Tensor::zeros({0, 3})));
  file.entries.push_back(CheckpointEntry::number("step", int64_t{7}));
  file.entries.push_back(CheckpointEntry::text("text", "Grüße\n"));
  file.entries.push_back({.name = "bytes", .kind = CheckpointEntry::kBytes, .tensor = {}, .data = std::string("\0\1\377", 3)});
  file.entries.push_back(CheckpointEntry::of("narrow", Tensor::from_values({2}, {1, -2}, DType::kInt32)));
  file.entries.back().stored_type = "Int8";
  std::atomic<int> right{0};
  comm::run_ranks(3, [&](int rank) {
    LoadedCheckpoint mine = rank == 0 ? file : LoadedCheckpoint{};
    broadcast_checkpoint(comm::world(), &mine);
    ASSERT_EQ(mine.entries.size(), file.entries.size());
    EXPECT_EQ(mine.path, file.path);
    EXPECT_TRUE(mine.verified);
    EXPECT_EQ(mine.notice, "n");
    for (size_t i = 0; i < mine.entries.size(); ++i) {
      const CheckpointEntry &a = mine.entries[i], &b = file.entries[i];
      EXPECT_EQ(a.name, b.name);
      EXPECT_EQ(a.kind, b.kind);
      EXPECT_EQ(a.data, b.data);
      EXPECT_EQ(a.stored_type, b.stored_type);
      if (b.kind != CheckpointEntry::kTensor) continue;
      ASSERT_EQ(a.tensor.shape(), b.tensor.shape());
      ASSERT_EQ(a.tensor.dtype(), b.tensor.dtype());
      if (b.tensor.nbytes() > 0) { EXPECT_EQ(std::memcmp(a.tensor.raw_data(), b.tensor.raw_data(), static_cast<size_t>(b.tensor.nbytes())), 0); }
    }
    ++right;
  });
  EXPECT_EQ(right, 3);
}

}  // namespace
}  // namespace sindri::train
