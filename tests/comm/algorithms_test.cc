// Collective calls by messages, over links that count them; and ranks as threads, by the same matrix.
#include <gtest/gtest.h>

#include <mutex>
#include <numeric>

#include "src/comm/links_communicator.h"
#include "tests/comm/collectives.h"
#include "tests/comm/thread_links.h"

namespace sindri::comm {
namespace {

const std::vector<DType> kTypes = {DType::kFloat32, DType::kFloat64, DType::kBFloat16, DType::kFloat16, DType::kInt64};

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
    const auto post = std::make_shared<Post>(size);
    run_over(post, hosts_of(size, local), [&](Communicator& c) {
      check_collectives(c, {DType::kFloat32, DType::kBFloat16}, {16385});
      // 9 MB and a rest: slices of several pieces.
      const int64_t count = 2359297;
      std::vector<float> in(static_cast<size_t>(count)), out(in.size());
      for (int64_t i = 0; i < count; ++i) in[static_cast<size_t>(i)] = static_cast<float>((i * 7919 + c.rank() * 104729) % 1000) / 999.0f;
      c.all_reduce(in.data(), out.data(), count, DType::kFloat32, ReduceOp::kSum);
      std::vector<float> rows(static_cast<size_t>(c.size()));
      for (int64_t i = 0; i < count; i += 1009) {
        std::vector<const void*> pointers;
        for (int r = 0; r < c.size(); ++r) {
          rows[static_cast<size_t>(r)] = static_cast<float>((i * 7919 + r * 104729) % 1000) / 999.0f;
          pointers.push_back(&rows[static_cast<size_t>(r)]);
        }
        float expected = 0;
        reduce_tree(pointers, &expected, 1, DType::kFloat32, ReduceOp::kSum);
        ASSERT_EQ(out[static_cast<size_t>(i)], expected) << i;
      }
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

TEST(CommAlgorithms, RandomCallsAndGroups) {
  for (uint64_t seed = 0; seed < 12; ++seed) {
    const int size = 2 + static_cast<int>(seed % 7);
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    run_over(std::make_shared<Post>(size), hosts_of(size, seed % 2 == 0 ? 1 : 2), [&](Communicator& c) { check_random_calls(c, seed, 25); });
  }
}

TEST(CommThreadsMatrix, EveryCall) {
  for (const int size : {1, 2, 3, 4, 7, 8, 16}) run_ranks(size, [](int) { check_collectives(world(), kTypes, {0, 1, 7, 1023}); });
  run_ranks(3, [](int) { check_collectives(world(), {DType::kFloat32, DType::kBool, DType::kUInt8, DType::kInt32}, {16385}); });
}

TEST(CommThreadsMatrix, RandomCallsAndGroups) {
  for (uint64_t seed = 0; seed < 12; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    run_ranks(2 + static_cast<int>(seed % 7), [&](int) { check_random_calls(world(), seed, 25); });
  }
}

}  // namespace
}  // namespace sindri::comm
