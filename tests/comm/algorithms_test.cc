// Collectives made of messages, over links that count them; and ranks as threads, with the same matrix of calls.
#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <limits>
#include <numeric>

#include "src/comm/links_communicator.h"
#include "tests/comm/collectives.h"
#include "tests/comm/thread_links.h"

namespace sindri::comm {
namespace {

const std::vector<DType> kTypes = {DType::kFloat32, DType::kFloat64, DType::kBFloat16, DType::kFloat16, DType::kInt64};
// For large messages between many ranks, the widest type and a half type suffice to test pieces and their order.
std::vector<DType> large_types(const Communicator& c) { return c.size() > 4 ? std::vector<DType>{DType::kFloat64, DType::kBFloat16} : kTypes; }

std::shared_ptr<Communicator> over(const std::shared_ptr<Post>& post, int rank, const std::vector<int>& hosts) {
  auto session = std::make_shared<Session>();
  session->identity.rank = rank;
  session->identity.size = static_cast<int>(hosts.size());
  session->host_of = hosts;
  std::vector<int> members(hosts.size());
  std::iota(members.begin(), members.end(), 0);
  return std::make_shared<LinksCommunicator>(session, "post", "world", members, rank, [post](const std::vector<int>& m, int r, const std::string& name) {
    return std::make_unique<ThreadLinks>(post, m, r, name);
  });
}

void run_over(const std::shared_ptr<Post>& post, const std::vector<int>& hosts, const std::function<void(Communicator&)>& f) {
  std::vector<std::thread> threads;
  for (size_t r = 0; r < hosts.size(); ++r)
    threads.emplace_back([&, r] {
      try {
        f(*over(post, static_cast<int>(r), hosts));
      } catch (const std::exception& e) { ADD_FAILURE() << "rank " << r << ": " << e.what(); }
    });
  for (std::thread& t : threads) t.join();
}

TEST(CommAlgorithms, EveryCallOnEveryLayout) {
  const std::vector<std::pair<int, int>> layouts = {{1, 1}, {2, 1}, {3, 1}, {4, 1}, {7, 1}, {8, 1}, {16, 1}, {4, 2}, {8, 2}, {8, 4}, {6, 2}, {16, 4}, {4, 4}};
  for (const auto& [size, local] : layouts) {
    SCOPED_TRACE(testing::Message() << size << " ranks, " << local << " on a host");
    const auto post = std::make_shared<Post>(size);
    run_over(post, hosts_of(size, local), [](Communicator& c) { check_collectives(c, kTypes, {0, 1, 7, 1023}); });
    EXPECT_TRUE(post->empty());
  }
}

TEST(CommAlgorithms, LargeBuffersInPieces) {
  for (const auto& [size, local] : std::vector<std::pair<int, int>>{{2, 1}, {3, 1}, {4, 2}}) {
    SCOPED_TRACE(testing::Message() << size << " ranks, " << local << " on a host");
    run_over(std::make_shared<Post>(size), hosts_of(size, local), [&](Communicator& c) {
      check_collectives(c, {DType::kFloat32, DType::kBFloat16}, {16385});
      check_large(c, {DType::kFloat32, DType::kFloat16}, (9 << 20) + 4);  // slices of several pieces
    });
  }
}

// 2x2 and 4x2 hosts, and every number of ranks with one rank per host.
TEST(CommAlgorithms, WholeMatrixSlow) {
  const std::vector<std::pair<int, int>> layouts = {{1, 1}, {2, 1}, {3, 1}, {4, 1}, {7, 1}, {8, 1}, {16, 1}, {4, 2}, {8, 2}, {8, 4}, {16, 8}};
  for (const auto& [size, local] : layouts) {
    SCOPED_TRACE(testing::Message() << size << " ranks, " << local << " on a host");
    run_over(std::make_shared<Post>(size), hosts_of(size, local), [](Communicator& c) {
      check_collectives(c, kTypes, {0, 1, 7, 1023, 16385});
      check_large(c, large_types(c), 5 << 20);
    });
  }
}

TEST(CommAlgorithms, AnAllReduceMovesNoMoreThanARing) {
  for (const int size : {2, 3, 4, 7, 8, 16}) {
    const auto post = std::make_shared<Post>(size);
    const int64_t count = int64_t{16} * 3 * 7 * 1000;
    run_over(post, hosts_of(size, 1), [&](Communicator& c) {
      std::vector<float> x(static_cast<size_t>(count), 1.0f);
      c.all_reduce(x.data(), x.data(), count, DType::kFloat32, ReduceOp::kSum);
      EXPECT_EQ(x[0], static_cast<float>(c.size()));
    });
    for (int r = 0; r < size; ++r) EXPECT_EQ(post->sent(r), 2 * (size - 1) * count * 4 / size) << "rank " << r << " of " << size;
  }
}

TEST(CommAlgorithms, BetweenHostsOnlyTheSharesOfHosts) {
  const int hosts = 3, local = 4;
  const int64_t count = int64_t{12} * 3000;
  const auto post = std::make_shared<Post>(hosts * local, local);
  run_over(post, hosts_of(hosts * local, local), [&](Communicator& c) {
    std::vector<double> x(static_cast<size_t>(count), 1.0);
    c.all_reduce(x.data(), x.data(), count, DType::kFloat64, ReduceOp::kMean);
    EXPECT_EQ(x[1], 1.0);
  });
  int64_t far = 0;
  for (int r = 0; r < local; ++r) far += post->sent_far(r);
  EXPECT_EQ(far, 2 * (hosts - 1) * count * 8 / hosts);
}

TEST(CommAlgorithms, LayoutsThatCanGoByHost) {
  const auto local_of = [](std::vector<int> hosts, bool strict) { return layout_of(hosts, 0, strict).local_size; };
  EXPECT_EQ(local_of({0, 0, 1, 1}, true), 2);
  EXPECT_EQ(local_of({0, 0, 0, 0}, true), 1);
  EXPECT_EQ(local_of({0, 1, 0, 1}, true), 1);
  EXPECT_EQ(local_of({0, 0, 1}, true), 1);
  EXPECT_EQ(local_of({0, 0, 0, 1, 1, 1}, true), 1);
  EXPECT_EQ(local_of({0, 0, 0, 1, 1, 1}, false), 3);
  EXPECT_EQ(local_of({0, 0, 1, 1, 0, 0}, true), 1);
  EXPECT_EQ(local_of({2, 2, 0, 0}, true), 2);
}

// A bit that flips on the way to rank 2: only the checksum finds it.
class FlippingLinks final : public Links {
 public:
  explicit FlippingLinks(std::unique_ptr<Links> inner) : inner_(std::move(inner)) {}
  void exchange(std::span<const Message> sends, std::span<const Message> receives) override {
    inner_->exchange(sends, receives);
    for (const Message& m : receives)
      if (m.bytes == 4000) static_cast<char*>(m.data)[100] ^= 1;
  }

 private:
  const std::unique_ptr<Links> inner_;
};

TEST(CommAlgorithms, CheckFindsResultsThatDiffer) {
  for (const bool check : {false, true}) {
    const auto post = std::make_shared<Post>(3);
    std::atomic<int> told{0};
    run_over(post, hosts_of(3, 1), [&](Communicator& plain) {
      plain.session()->options.check = check;
      const int rank = plain.rank();
      const auto c = std::make_shared<LinksCommunicator>(plain.session(), "post", "checked", plain.members(), rank,
                                                         [&](const std::vector<int>& m, int r, const std::string& name) -> std::unique_ptr<Links> {
                                                           auto links = std::make_unique<ThreadLinks>(post, m, r, name);
                                                           if (r != 2) return links;
                                                           return std::make_unique<FlippingLinks>(std::move(links));
                                                         });
      std::vector<float> x(1000, static_cast<float>(rank));
      c->all_reduce(x.data(), x.data(), 100, DType::kFloat32, ReduceOp::kSum);
      try {
        c->broadcast(x.data(), 1000, DType::kFloat32, 0, {"weights"});
      } catch (const CommError& e) {
        EXPECT_EQ(e.code(), ErrorCode::kReplicas);
        EXPECT_NE(std::string(e.what()).find("the results of ranks 2 differ from those of rank 0"), std::string::npos) << e.what();
        EXPECT_NE(std::string(e.what()).find("weights"), std::string::npos) << e.what();
        ++told;
      }
    });
    EXPECT_EQ(told, check ? 3 : 0);
  }
}

TEST(CommAlgorithms, CheckFindsCallsThatDiffer) {
  std::atomic<int> told{0};
  run_over(std::make_shared<Post>(3), hosts_of(3, 1), [&](Communicator& c) {
    c.session()->options.check = true;
    check_collectives(c, {DType::kFloat32}, {7});
    std::vector<float> x(8);
    try {
      c.all_reduce(x.data(), x.data(), 8, DType::kFloat32, ReduceOp::kSum, {"gradient bucket", c.rank() == 1 ? 2 : 1});
    } catch (const CommError& e) {
      EXPECT_EQ(e.code(), ErrorCode::kCommMismatch);
      EXPECT_NE(std::string(e.what()).find("rank 1 calls all_reduce sum of 8 float32 \"gradient bucket 2\""), std::string::npos) << e.what();
      ++told;
    }
  });
  EXPECT_EQ(told, 3);
}

TEST(CommAlgorithms, AMeanOfHalvesDoesNotOverflowBetweenHosts) {
  run_over(std::make_shared<Post>(4), hosts_of(4, 2), [](Communicator& c) {
    std::vector<float16> x(5000, 60000.0f);
    c.all_reduce(x.data(), x.data(), 5000, DType::kFloat16, ReduceOp::kMean);
    EXPECT_EQ(static_cast<float>(x[4999]), 60000.0f);
    std::vector<float> y(5000, c.rank() == 3 ? std::numeric_limits<float>::quiet_NaN() : 1.0f);
    c.all_reduce(y.data(), y.data(), 5000, DType::kFloat32, ReduceOp::kMax);
    EXPECT_TRUE(std::isnan(y[0]) && std::isnan(y[4999]));
  });
}

TEST(CommAlgorithms, CommunicatorsTakeTurns) {
  for (const int size : {2, 5}) run_over(std::make_shared<Post>(size), hosts_of(size, 1), check_two_at_once);
}

TEST(CommAlgorithms, RandomCallsAndGroups) {
  for (uint64_t seed = 0; seed < 200; ++seed) {
    const int size = 2 + static_cast<int>(seed % 7);
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    run_over(std::make_shared<Post>(size), hosts_of(size, seed % 2 == 0 ? 1 : 2), [&](Communicator& c) { check_random_calls(c, seed, 12); });
  }
}

TEST(CommThreadsMatrix, EveryCall) {
  for (const int size : {1, 2, 3, 4, 7, 8, 16}) run_ranks(size, [](int) { check_collectives(world(), kTypes, {0, 1, 7, 1023}); });
  run_ranks(3, [](int) {
    check_collectives(world(), {DType::kFloat32, DType::kBool, DType::kUInt8, DType::kInt32}, {16385});
    check_large(world(), {DType::kFloat32}, 5 << 20);
    check_two_at_once(world());
  });
}

TEST(CommThreadsMatrix, WholeMatrixSlow) {
  for (const int size : {1, 2, 3, 4, 7, 8, 16})
    run_ranks(size, [](int) {
      check_collectives(world(), kTypes, {0, 1, 7, 1023, 16385});
      check_large(world(), large_types(world()), 5 << 20);
    });
}

TEST(CommThreadsMatrix, RandomCallsAndGroups) {
  for (uint64_t seed = 0; seed < 200; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    run_ranks(2 + static_cast<int>(seed % 7), [&](int) { check_random_calls(world(), seed, 12); });
  }
}

}  // namespace
}  // namespace sindri::comm
