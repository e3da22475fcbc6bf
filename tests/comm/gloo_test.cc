// The gloo backend over loopback: ranks are threads with a session each, or processes.
#include <gtest/gtest.h>

#include <condition_variable>
#include <map>
#include <mutex>
#include <thread>

#include "src/comm/gloo.h"
#include "tests/comm/collectives.h"

namespace sindri::comm {
namespace {

// A rendezvous store between threads.
class Board {
 public:
  void set(const std::string& key, const std::string& value) {
    const std::lock_guard lock(mutex_);
    values_[key] = value;
    changed_.notify_all();
  }
  std::string get(const std::string& key) {
    std::unique_lock lock(mutex_);
    if (!changed_.wait_for(lock, std::chrono::seconds(10), [&] { return values_.count(key) != 0; })) throw CommError(ErrorCode::kRendezvous, "no " + key);
    return values_[key];
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<std::string, std::string> values_;
};

struct Rank {
  std::shared_ptr<Session> session;
  GlooConfig config;
};
Rank rank_of(const std::shared_ptr<Board>& board, int rank, const std::vector<int>& hosts, const Options& options) {
  Rank r{std::make_shared<Session>(), {}};
  r.session->options = options;
  r.session->identity.rank = rank;
  r.session->identity.size = static_cast<int>(hosts.size());
  r.session->host_of = hosts;
  r.config.address = "127.0.0.1";
  r.config.token = "a secret";
  r.config.set = [board](const std::string& key, const std::string& value) { board->set(key, value); };
  r.config.get = [board](const std::string& key) { return board->get(key); };
  return r;
}

Options quick() {
  Options options;
  options.init_timeout = 10;
  options.op_timeout = 20;
  return options;
}

// Runs f on every rank; returns the exceptions by rank.
std::vector<std::string> run_gloo(const std::vector<int>& hosts, const std::function<void(Communicator&)>& f, const Options& options = quick(),
                                  const std::function<void(int, Rank*)>& change = {}) {
  const auto board = std::make_shared<Board>();
  std::vector<std::string> errors(hosts.size());
  std::vector<std::thread> threads;
  for (size_t r = 0; r < hosts.size(); ++r)
    threads.emplace_back([&, r] {
      try {
        Rank rank = rank_of(board, static_cast<int>(r), hosts, options);
        if (change) change(static_cast<int>(r), &rank);
        const std::shared_ptr<Communicator> world = open_gloo(rank.session, rank.config);
        f(*world);
        world->barrier();
      } catch (const Error& e) { errors[r] = std::to_string(static_cast<int>(e.code())) + " " + e.what(); }
    });
  for (std::thread& t : threads) t.join();
  return errors;
}

void expect_none(const std::vector<std::string>& errors) {
  for (size_t r = 0; r < errors.size(); ++r) EXPECT_EQ(errors[r], "") << "rank " << r;
}

TEST(CommGloo, EveryCall) {
  for (const auto& [size, local] : std::vector<std::pair<int, int>>{{1, 1}, {2, 2}, {3, 1}, {4, 2}, {7, 7}}) {
    SCOPED_TRACE(testing::Message() << size << " ranks, " << local << " on a host");
    expect_none(run_gloo(hosts_of(size, local), [](Communicator& c) {
      check_collectives(c, {DType::kFloat32, DType::kBFloat16, DType::kInt64}, {0, 7, 1023});
    }));
  }
}

TEST(CommGloo, OverIPv6) {
  expect_none(run_gloo(
      hosts_of(3, 1),
      [](Communicator& c) {
        check_collectives(c, {DType::kFloat32}, {0, 1023});
      },
      quick(), [](int, Rank* rank) { rank->config.address = "::1"; }));
}

TEST(CommGloo, LargeBuffers) {
  for (const auto& [size, local] : std::vector<std::pair<int, int>>{{2, 1}, {4, 2}}) {
    expect_none(run_gloo(hosts_of(size, local), [](Communicator& c) {
      check_collectives(c, {DType::kFloat32, DType::kFloat16}, {16385});
      check_large(c, {DType::kFloat32, DType::kBFloat16}, 5 << 20);
    }));
  }
}

TEST(CommGloo, WholeMatrixSlow) {
  const std::vector<std::pair<int, int>> layouts = {{1, 1}, {2, 2}, {3, 3}, {4, 4}, {7, 7}, {8, 8}, {16, 16}, {4, 2}, {8, 2}, {8, 4}};
  for (const auto& [size, local] : layouts) {
    SCOPED_TRACE(testing::Message() << size << " ranks, " << local << " on a host");
    expect_none(run_gloo(hosts_of(size, local), [](Communicator& c) {
      const std::vector<DType> types = {DType::kFloat32, DType::kFloat64, DType::kBFloat16, DType::kFloat16, DType::kInt64};
      check_collectives(c, types, {0, 1, 7, 1023, 16385});
      check_large(c, c.size() > 4 ? std::vector<DType>{DType::kFloat64, DType::kBFloat16} : types, 5 << 20);
    }));
  }
}

TEST(CommGloo, CommunicatorsTakeTurns) { expect_none(run_gloo(hosts_of(3, 1), check_two_at_once)); }

TEST(CommGloo, MessagesBetweenHostsAreDelayed) {
  Options options = quick();
  options.test_delay_us = 20000;
  const auto seconds = [&options](int local) {
    const auto start = std::chrono::steady_clock::now();
    const auto barriers = [](Communicator& c) {
      for (int i = 0; i < 10; ++i) c.barrier();
    };
    expect_none(run_gloo(hosts_of(2, local), barriers, options));
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  };
  EXPECT_GE(seconds(1), 0.2);
  double within_a_host = seconds(2);  // a busy machine may need more
  for (int i = 0; i < 20 && within_a_host >= 0.2; ++i) within_a_host = seconds(2);
  EXPECT_LT(within_a_host, 0.2);
}

TEST(CommGloo, RandomCallsAndGroups) {
  for (uint64_t seed = 0; seed < 25; ++seed) {
    const int size = 2 + static_cast<int>(seed % 4);
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    expect_none(run_gloo(hosts_of(size, 2 - static_cast<int>(seed % 2)), [&](Communicator& c) { check_random_calls(c, seed, 12); }));
  }
}

TEST(CommGloo, TwoHundredRandomSequencesSlow) {
  for (uint64_t seed = 0; seed < 200; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    expect_none(run_gloo(hosts_of(2 + static_cast<int>(seed % 7), 2), [&](Communicator& c) { check_random_calls(c, seed, 30); }));
  }
}

TEST(CommGloo, DifferentCallsAreSaid) {
  const std::vector<std::string> errors = run_gloo(hosts_of(2, 2), [](Communicator& c) {
    std::vector<float> x(8);
    c.barrier();
    c.all_reduce(x.data(), x.data(), c.rank() == 1 ? 7 : 8, DType::kFloat32, ReduceOp::kSum, {"gradient bucket", 1});
  });
  // One of them notices first, and the other may notice it too or see the connection close.
  const bool first = errors[0].find("7003 in 'world' rank 0 calls all_reduce sum of 8 float32 (its call 2), rank 1 calls all_reduce sum of 7 float32") == 0;
  const bool second = errors[1].find("7003 in 'world' rank 1 calls all_reduce sum of 7 float32 (its call 2), rank 0 calls all_reduce sum of 8 float32") == 0;
  EXPECT_TRUE(first || second) << errors[0] << "\n" << errors[1];
  EXPECT_NE(errors[0], "");
  EXPECT_NE(errors[1], "");
}

TEST(CommGloo, ALostRankIsSaid) {
  const std::vector<std::string> errors = run_gloo(hosts_of(3, 1), [](Communicator& c) {
    c.barrier();
    if (c.rank() == 1) throw DataError("gone");
    std::vector<double> x(100000);
    c.all_reduce(x.data(), x.data(), 100000, DType::kFloat64, ReduceOp::kSum);
  });
  EXPECT_EQ(errors[1].find("3001 gone"), 0U) << errors[1];
  for (const int r : {0, 2}) EXPECT_EQ(errors[static_cast<size_t>(r)].find("7001 the connection of rank"), 0U) << errors[static_cast<size_t>(r)];
}

TEST(CommGloo, AFailureEndsWaits) {
  const auto start = std::chrono::steady_clock::now();
  const std::vector<std::string> errors = run_gloo(hosts_of(2, 1), [](Communicator& c) {
    c.barrier();
    if (c.rank() == 0) {
      // A watch that reaches a verdict while the call waits.
      std::thread verdict([session = c.session()] {
        std::this_thread::sleep_for(std::chrono::milliseconds(50));
        session->fail(CommError(ErrorCode::kPeerLost, "rank 1 died, signal 9"));
      });
      try {
        c.barrier();
      } catch (...) {
        verdict.join();
        throw;
      }
    } else {
      std::this_thread::sleep_for(std::chrono::milliseconds(400));
    }
  });
  EXPECT_NE(errors[0].find("rank 1 died, signal 9"), std::string::npos) << errors[0];
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(5));
}

TEST(CommGloo, ACallThatWaitsTooLongEnds) {
  Options options = quick();
  options.op_warn = 0.1;
  options.op_timeout = 0.3;
  const std::vector<std::string> errors = run_gloo(
      hosts_of(2, 1),
      [](Communicator& c) {
        if (c.rank() == 1) std::this_thread::sleep_for(std::chrono::milliseconds(900));
        c.barrier();
      },
      options);
  EXPECT_EQ(errors[0].find("7002 rank 0 waited 0.3 s for rank 1 (127.0.0.1)"), 0U) << errors[0];
  EXPECT_NE(errors[1], "");
}

TEST(CommGloo, StrangersAreRefused) {
  const std::vector<std::string> errors = run_gloo(
      hosts_of(2, 1), [](Communicator&) {}, quick(),
      [](int rank, Rank* r) {
        if (rank == 1) r->config.token = "a guess";
      });
  EXPECT_EQ(errors[0].find("7006 the process at 127.0.0.1 that claims to be rank 1 does not know the token of this job"), 0U) << errors[0];
  EXPECT_EQ(errors[1].find("7006 "), 0U) << errors[1];
}

TEST(CommGloo, ARankThatDoesNotComeIsSaid) {
  Options options = quick();
  options.init_timeout = 0.5;
  const std::vector<std::string> errors = run_gloo(
      hosts_of(2, 1), [](Communicator&) {}, options,
      [](int rank, Rank* r) {
        if (rank == 1) {  // publishes an address, and never connects
          r->config.get = [](const std::string&) -> std::string {
            std::this_thread::sleep_for(std::chrono::milliseconds(1500));
            throw CommError(ErrorCode::kRendezvous, "this rank does not come");
          };
        }
      });
  EXPECT_EQ(errors[0].find("7006 rank 0"), 0U) << errors[0];
}

}  // namespace
}  // namespace sindri::comm
