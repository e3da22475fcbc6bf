// A host's window with ranks that are threads: barriers, calls through staging buffers that are much smaller than the data, and ways in which a call ends.
#include "src/comm/shared_window.h"

#include <gtest/gtest.h>

#include <cstring>
#include <thread>

namespace sindri::comm::shared_window_test {
namespace {

constexpr SharedWindow::Staging kSmall{512, 3};

struct Host {
  std::vector<std::vector<std::byte>> memory;
  std::vector<std::byte*> parts;
  std::vector<std::unique_ptr<Session>> sessions;
  explicit Host(int size, double op_timeout = 20) {
    for (int r = 0; r < size; ++r) {
      memory.emplace_back(static_cast<size_t>(SharedWindow::part_bytes(kSmall) + 64));
      parts.push_back(reinterpret_cast<std::byte*>((reinterpret_cast<uintptr_t>(memory.back().data()) + 63) / 64 * 64));
      sessions.push_back(std::make_unique<Session>());
      sessions.back()->options.op_timeout = op_timeout;
    }
  }
  // Runs f on each rank's window; returns the exceptions.
  std::vector<std::string> run(const std::function<void(SharedWindow&)>& f) {
    std::vector<std::string> errors(parts.size());
    std::vector<int> ranks;
    for (size_t r = 0; r < parts.size(); ++r) ranks.push_back(static_cast<int>(r) + 10);
    std::vector<std::thread> threads;
    for (size_t r = 0; r < parts.size(); ++r)
      threads.emplace_back([&, r] {
        try {
          SharedWindow window(*sessions[r], ranks, static_cast<int>(r), parts, kSmall);
          window.meet();
          f(window);
        } catch (const CommError& e) { errors[r] = std::to_string(static_cast<int>(e.code())) + " " + e.message(); }
      });
    for (std::thread& t : threads) t.join();
    return errors;
  }
};

int64_t value(int rank, int64_t i, int turn) { return rank * 1000003 + i * 17 + turn; }

// 300 calls of varying kinds and sizes: each begins while others are still copying out of the previous one.
TEST(SharedWindow, CallsBehindEachOther) {
  for (const int size : {1, 2, 3, 5}) {
    Host host(size);
    const std::vector<std::string> errors = host.run([&](SharedWindow& w) {
      for (int turn = 0; turn < 300; ++turn) {
        const int64_t n = turn * 37 % 150, whole = n * size;
        const int me = w.local();
        std::vector<int64_t> in(static_cast<size_t>(whole)), out(static_cast<size_t>(whole));
        for (int64_t i = 0; i < whole; ++i) in[static_cast<size_t>(i)] = value(me, i, turn);
        const auto sum = [&](int64_t i) {
          int64_t s = 0;
          for (int r = 0; r < size; ++r) s += value(r, i, turn);
          return s;
        };
        const CallCard card{turn % 6 + 1, static_cast<int32_t>(DType::kInt64), 0, 0, n, 0};
        switch (turn % 6) {
          case 0: {
            const Piece pieces[2] = {{in.data(), out.data(), n / 2}, {in.data() + n / 2, out.data() + n / 2, n - n / 2}};
            w.all_reduce(card, pieces, {}, 1);
            for (int64_t i = 0; i < n; ++i) ASSERT_EQ(out[static_cast<size_t>(i)], sum(i));
            break;
          }
          case 1:
            w.reduce(card, in.data(), out.data(), n, DType::kInt64, ReduceOp::kSum, 1, size - 1);
            for (int64_t i = 0; i < n && me == size - 1; ++i) ASSERT_EQ(out[static_cast<size_t>(i)], sum(i));
            break;
          case 2:
            w.broadcast(card, in.data(), n * 8, 0);
            for (int64_t i = 0; i < n; ++i) ASSERT_EQ(in[static_cast<size_t>(i)], value(0, i, turn));
            break;
          case 3:
            w.all_gather_v(card, in.data(), out.data(), std::vector<int64_t>(static_cast<size_t>(size), n * 8));
            for (int64_t i = 0; i < whole; ++i) ASSERT_EQ(out[static_cast<size_t>(i)], value(static_cast<int>(i / n), i % n, turn));
            break;
          case 4:
            w.reduce_scatter(card, in.data(), out.data(), n, DType::kInt64, ReduceOp::kSum, 1);
            for (int64_t i = 0; i < n; ++i) ASSERT_EQ(out[static_cast<size_t>(i)], sum(me * n + i));
            break;
          default:
            w.all_to_all(card, in.data(), out.data(), n * 8);
            for (int64_t i = 0; i < whole; ++i) ASSERT_EQ(out[static_cast<size_t>(i)], value(static_cast<int>(i / n), me * n + i % n, turn));
        }
      }
    });
    for (const std::string& e : errors) EXPECT_EQ(e, "") << size << " ranks";
  }
}

TEST(SharedWindow, DifferentCallsAreRefusedOnAllRanks) {
  Host host(3);
  const std::vector<std::string> errors = host.run([](SharedWindow& w) {
    int64_t x = 1;
    if (w.local() == 2) w.broadcast({CallCard::kBroadcast, 0, 0, 1, 8}, &x, 8, 1);
    else w.reduce({CallCard::kReduce, static_cast<int32_t>(DType::kInt64), 0, 0, 1}, &x, &x, 1, DType::kInt64, ReduceOp::kSum, 1, 0);
  });
  for (const std::string& e : errors)
    EXPECT_EQ(e, "7003 ranks make different calls: ranks 10 and 11 reduce (sum) of 1 int64 to 0; rank 12 broadcast of 8 bytes from 1");
}

TEST(SharedWindow, WaitsEnd) {
  Host late(3, 0.2);
  std::vector<std::string> errors = late.run([](SharedWindow& w) {
    if (w.local() != 1) w.barrier();
  });
  EXPECT_EQ(errors[0].substr(0, 4), "7002");
  EXPECT_NE(errors[0].find("for rank 11"), std::string::npos) << errors[0];
  EXPECT_EQ(errors[1], "");
  Host failing(2);
  errors = failing.run([&](SharedWindow& w) {
    if (w.local() == 0) return w.barrier();
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    failing.sessions[0]->fail(CommError(ErrorCode::kPeerLost, "rank 7 is gone"));
  });
  EXPECT_EQ(errors[0], "7001 rank 7 is gone");
}

TEST(SharedWindow, PartsAreCutAtLines) {
  for (const int64_t count : {0, 1, 15, 16, 17, 1000, 100003}) {
    for (const int size : {1, 2, 3, 7}) {
      int64_t at = 0;
      for (int r = 0; r < size; ++r) {
        const Part p = part_of(count, 4, size, r);
        EXPECT_EQ(p.begin, at);
        EXPECT_TRUE(p.begin % 16 == 0 || p.begin == count);
        EXPECT_LE(p.count(), (count / size / 16 + 1) * 16);
        at = p.end;
      }
      EXPECT_EQ(at, count);
    }
  }
}

TEST(SharedWindow, PiecesAreOneSequence) {
  const std::vector<int> in = {0, 1, 2, 3, 4, 5, 6, 7};
  std::vector<int> out(8, -1);
  const Piece pieces[4] = {{in.data(), out.data(), 2}, {in.data() + 2, out.data() + 2, 1}, {nullptr, nullptr, 0}, {in.data() + 5, out.data() + 4, 3}};
  const PieceList list(pieces, 4);
  EXPECT_EQ(list.runs().size(), 2U);
  EXPECT_EQ(list.bytes(), 24);
  std::vector<int> copy(4);
  list.copy_in(8, 16, copy.data());
  EXPECT_EQ(copy, (std::vector<int>{2, 5, 6, 7}));
  list.copy_out(4, 12, copy.data());
  EXPECT_EQ(out, (std::vector<int>{-1, 2, 5, -1, 6, -1, -1, -1}));
}

}  // namespace
}  // namespace sindri::comm::shared_window_test
