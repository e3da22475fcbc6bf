// Once: one call succeeds, failures reach their callers and are retried.
#include "src/core/once.h"

#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>
#include <thread>
#include <vector>

namespace sindri {
namespace {

TEST(Once, AFailureIsThrownAndTriedAgain) {
  Once once;
  int calls = 0;
  for (int i = 0; i < 2; ++i) EXPECT_THROW(once.call([&] { ++calls, throw std::runtime_error("not yet"); }), std::runtime_error);
  once.call([&] { ++calls; });
  once.call([&] { ++calls; });
  EXPECT_EQ(calls, 3);
}

TEST(Once, ThreadsWaitForTheOneThatRuns) {
  for (int round = 0; round < 20; ++round) {
    Once once;
    std::atomic<int> calls{0}, failures{0};
    int value = 0;
    std::vector<std::thread> threads;
    for (int i = 0; i < 8; ++i) {
      threads.emplace_back([&] {
        try {
          once.call([&] {
            if (calls.fetch_add(1) < 3) throw std::runtime_error("not yet");
            value = 7;
          });
          EXPECT_EQ(value, 7);
        } catch (const std::runtime_error&) { ++failures; }
      });
    }
    for (std::thread& t : threads) t.join();
    EXPECT_EQ(failures, 3);
    EXPECT_EQ(calls, 4);
  }
}

}  // namespace
}  // namespace sindri
