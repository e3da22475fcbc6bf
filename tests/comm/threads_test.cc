// The world of one rank, ranks as threads, and their behaviour when ranks differ, end or fail.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cmath>
#include <cstring>
#include <limits>
#include <new>
#include <thread>
#include <vector>

#include "sindri/comm/communicator.h"
#include "sindri/core/error.h"
#include "sindri/core/runtime.h"
#include "src/comm/session.h"

namespace sindri::comm {
namespace {

TEST(CommSingle, EveryCallDoesWhatItDoesForOneMember) {
  Communicator& w = world();
  EXPECT_FALSE(initialized());
  EXPECT_EQ(w.size(), 1);
  EXPECT_EQ(w.local_size(), 1);
  EXPECT_EQ(w.host_count(), 1);
  EXPECT_STREQ(w.backend(), "single");
  const std::vector<float> in = {1, 2, 3};
  std::vector<float> out(3);
  w.all_reduce(in.data(), out.data(), 3, DType::kFloat32, ReduceOp::kMean);
  EXPECT_EQ(out, in);
  out.assign(3, 0);
  w.reduce_scatter(in.data(), out.data(), 3, DType::kFloat32, ReduceOp::kSum);
  EXPECT_EQ(out, in);
  out.assign(3, 0);
  w.send_recv(in.data(), 3, 0, out.data(), 3, 0, DType::kFloat32);
  EXPECT_EQ(out, in);
  EXPECT_EQ(w.all_gather_text("a"), std::vector<std::string>{"a"});
  w.barrier();
  EXPECT_THROW(w.broadcast(out.data(), 3, DType::kFloat32, 1), ValueError);
  EXPECT_THROW(w.all_reduce(nullptr, nullptr, 3, DType::kFloat32, ReduceOp::kSum), ValueError);
  EXPECT_THROW(w.all_reduce(in.data(), out.data(), -1, DType::kFloat32, ReduceOp::kSum), ValueError);
  w.all_reduce(nullptr, nullptr, 0, DType::kFloat32, ReduceOp::kSum);
}

TEST(CommSingle, InitTwice) {
  const RuntimeScope scope(Runtime("init twice"));
  Options options;
  options.backend = "single";
  Communicator& w = init(options);
  EXPECT_EQ(&init(options), &w);
  EXPECT_TRUE(initialized());
  options.op_timeout = 5;
  EXPECT_THROW(init(options), ValueError);
  finalize();
  EXPECT_FALSE(initialized());
  options.op_timeout = 0;
  EXPECT_THROW(init(options), SettingsError);
  options.op_timeout = 5;
  options.backend = "carrier pigeon";
  EXPECT_THROW(init(options), SettingsError);
}

TEST(CommThreads, RanksKnowWhoTheyAre) {
  run_ranks(
      4,
      [](int rank) {
        Communicator& w = world();
        EXPECT_EQ(w.rank(), rank);
        EXPECT_EQ(w.size(), 4);
        EXPECT_EQ(w.local_rank(), rank % 2);
        EXPECT_EQ(w.local_size(), 2);
        EXPECT_EQ(w.host_index(), rank / 2);
        EXPECT_EQ(w.host_count(), 2);
        EXPECT_EQ(&init(), &w);
        const std::vector<std::string> texts = w.all_gather_text(std::string(static_cast<size_t>(rank), 'x'));
        EXPECT_EQ(texts, (std::vector<std::string>{"", "x", "xx", "xxx"}));
      },
      2);
}

TEST(CommThreads, GroupsAndSplits) {
  run_ranks(5, [](int rank) {
    Communicator& w = world();
    const std::shared_ptr<Communicator> part = w.split(rank == 4 ? -1 : rank % 2, -rank);
    EXPECT_EQ(part == nullptr, rank == 4);
    if (part != nullptr) {
      EXPECT_EQ(part->members(), (rank % 2 == 0 ? std::vector<int>{2, 0} : std::vector<int>{3, 1}));
      int32_t sum = rank;
      part->all_reduce(&sum, &sum, 1, DType::kInt32, ReduceOp::kSum);
      EXPECT_EQ(sum, rank % 2 == 0 ? 2 : 4);
    }
    if (rank < 3) {
      const std::vector<int> ranks = {2, 0, 1};
      Communicator& g = create_group("three", ranks);
      EXPECT_EQ(&find_group("three"), &g);
      EXPECT_THROW(create_group("three", ranks), ValueError);
      EXPECT_EQ(g.rank(), (rank + 1) % 3);
      destroy_group("three");
      EXPECT_THROW(find_group("three"), ValueError);
      create_group("three", ranks).barrier();
    } else {
      const std::vector<int> ranks = {0, 1};
      EXPECT_THROW(create_group("not mine", ranks), ValueError);
      const std::vector<int> twice = {3, 3, 4};
      EXPECT_THROW(create_group("twice", twice), ValueError);
    }
    EXPECT_EQ(&find_group("world"), &w);
    w.barrier();
  });
}

// Every rank's error when `f` makes ranks differ.
std::vector<std::string> errors_of(int size, ErrorCode code, const std::function<void(int)>& f, const Options& options = {}) {
  std::vector<std::string> messages(static_cast<size_t>(size));
  try {
    run_ranks(
        size,
        [&](int rank) {
          try {
            f(rank);
          } catch (const CommError& e) {
            EXPECT_EQ(e.code(), code) << e.what();
            messages[static_cast<size_t>(rank)] = e.what();
            EXPECT_THROW(world().barrier(), CommError);
            throw;
          }
        },
        0, options);
  } catch (const Error& e) { messages.emplace_back(e.what()); }
  return messages;
}

TEST(CommThreads, DifferentCallsAreSaid) {
  const std::vector<std::string> messages = errors_of(3, ErrorCode::kCommMismatch, [](int rank) {
    std::vector<float> x(8);
    world().all_reduce(x.data(), x.data(), rank == 2 ? 7 : 8, DType::kFloat32, ReduceOp::kSum, {"gradient bucket", 1});
  });
  ASSERT_EQ(messages.size(), 4U);
  for (const std::string& m : messages) {
    EXPECT_NE(m.find("rank 0 calls all_reduce sum of 8 float32, rank 2 calls all_reduce sum of 7 float32"), std::string::npos) << m;
    EXPECT_NE(m.find("gradient bucket 1"), std::string::npos) << m;
  }
}

TEST(CommThreads, ARankThatEndsEarlyIsSaid) {
  const std::vector<std::string> messages = errors_of(3, ErrorCode::kCommMismatch, [](int rank) {
    if (rank != 1) world().barrier();
  });
  // The first to notice reports for both, unless rank 1 had ended before either of them arrived.
  for (const size_t rank : {0, 2}) EXPECT_THAT(messages[rank], ::testing::ContainsRegex("rank 1 has ended, and rank [02] waits for it in barrier"));
}

TEST(CommThreads, ARankThatThrowsEndsTheOthersCalls) {
  std::atomic<int> told{0};
  try {
    run_ranks(3, [&](int rank) {
      if (rank == 1) throw DataError("a torn image");
      try {
        world().barrier();
      } catch (const CommError& e) {
        if (std::string(e.what()).find("rank 1 ended: a torn image") != std::string::npos) ++told;
        throw;
      }
    });
    FAIL();
  } catch (const DataError& e) { EXPECT_STREQ(e.what(), "a torn image"); }
  EXPECT_EQ(told, 2);
}

TEST(CommThreads, AbortReachesRanksThatWait) {
  const std::vector<std::string> messages = errors_of(4, ErrorCode::kRankData, [](int rank) {
    if (rank == 3) abort("disk full");
    world().barrier();
  });
  for (const std::string& m : messages) EXPECT_NE(m.find("rank 3 ends the job: disk full"), std::string::npos) << m;
}

TEST(CommThreads, ACallThatWaitsTooLongEnds) {
  Options options;
  options.op_warn = 0.02;
  options.op_timeout = 0.1;
  const std::vector<std::string> messages = errors_of(
      3, ErrorCode::kCommTimeout,
      [](int rank) {
        while (rank == 1 && !world().session()->failed()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
        world().barrier();
      },
      options);
  EXPECT_NE(messages[0].find("for ranks 1"), std::string::npos) << messages[0];
}

TEST(CommThreads, CallsAreKept) {
  run_ranks(2, [](int) {
    for (int i = 0; i < 1030; ++i) world().barrier({"turn", i});
    const std::vector<CallRecord> calls = world().session()->calls();
    ASSERT_EQ(calls.size(), 1024U);
    EXPECT_EQ(calls.front().number, 7);
    EXPECT_EQ(calls.back().number, 1030);
    EXPECT_EQ(calls.back().index, 1029);
    EXPECT_EQ(calls.back().what, "turn");
    EXPECT_GE(calls.back().left, calls.back().entered);
  });
}

TEST(CommThreads, MessagesBetweenTwo) {
  run_ranks(3, [](int rank) {
    Communicator& w = world();
    const int next = (rank + 1) % 3, previous = (rank + 2) % 3;
    int64_t mine = rank, got = -1;
    w.send_recv(&mine, 1, next, &got, 1, previous, DType::kInt64);
    EXPECT_EQ(got, previous);
    if (rank == 0) {
      for (int64_t i = 0; i < 3; ++i) w.send(&i, 1, DType::kInt64, 2);
    } else if (rank == 2) {
      for (int64_t i = 0; i < 3; ++i) {
        w.recv(&got, 1, DType::kInt64, 0);
        EXPECT_EQ(got, i);
      }
    }
  });
  errors_of(2, ErrorCode::kCommMismatch, [](int rank) {
    int64_t values[2] = {};
    if (rank == 0) world().send(values, 2, DType::kInt64, 1);
    else world().recv(values, 1, DType::kInt64, 0);
  });
}

// A rank without enough memory for its part of a call.
class OutOfMemory final : public Communicator {
 public:
  explicit OutOfMemory(const Communicator& like) : Communicator(like.session(), "out of memory", like.members(), like.rank()) {}
  const char* backend() const override { return "out of memory"; }

 protected:
  void do_all_reduce(std::span<const Piece>, DType, ReduceOp, Stream*) override { throw std::bad_alloc(); }
  void do_reduce(const void*, void*, int64_t, DType, ReduceOp, int, Stream*) override { throw std::bad_alloc(); }
  void do_broadcast(void*, int64_t, int, Stream*) override { throw std::bad_alloc(); }
  void do_all_gather_v(const void*, void*, std::span<const int64_t>, Stream*) override { throw ValueError("of a kind that is not there"); }
  void do_reduce_scatter(const void*, void*, int64_t, DType, ReduceOp, Stream*) override { throw std::bad_alloc(); }
  void do_all_to_all(const void*, void*, int64_t, Stream*) override { throw std::bad_alloc(); }
  void do_send_recv(const void*, int64_t, int, void*, int64_t, int, Stream*) override { throw std::bad_alloc(); }
  void do_barrier() override { throw std::bad_alloc(); }
  std::shared_ptr<Communicator> do_group(const std::vector<int>&, const std::string&) override { throw std::bad_alloc(); }
};

// An error other than CommError ends the call, too: for all ranks if one cannot do its part, for none if the arguments are invalid.
TEST(CommThreads, ARankWithoutMemoryIsNotWaitedFor) {
  Options options;
  options.op_timeout = 20;
  const auto begin = std::chrono::steady_clock::now();
  run_ranks(
      2,
      [](int rank) {
        Communicator& w = world();
        OutOfMemory broken(w);
        const auto ended = [&] { return w.session()->calls().back().left > 0; };
        std::vector<float> values(2);
        EXPECT_THROW(broken.all_gather(values.data(), values.data(), 1, DType::kFloat32), ValueError);
        EXPECT_TRUE(ended()) << "no rank waits in it";
        w.barrier();
        if (rank == 0) {
          EXPECT_THROW(broken.barrier(), std::bad_alloc);
          EXPECT_TRUE(ended());
        }
        try {
          w.barrier();
          ADD_FAILURE() << "rank " << rank;
        } catch (const CommError& e) { EXPECT_NE(e.message().find("rank 0 ends the job: barrier: "), std::string::npos) << e.message(); }
      },
      0, options);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(10));
}

TEST(CommThreads, FlatBuffersAreAlignedAndZero) {
  run_ranks(2, [](int) {
    for (const int64_t bytes : {0, 1, 100, 4096}) {
      const std::shared_ptr<void> memory = world().flat_buffer(bytes);
      EXPECT_EQ(reinterpret_cast<uintptr_t>(memory.get()) % 64, 0U);
      for (int64_t i = 0; i < bytes; ++i) ASSERT_EQ(static_cast<const char*>(memory.get())[i], 0);
    }
  });
}

}  // namespace
}  // namespace sindri::comm
