// Arenas that executables borrow: their number and size, and that no two runs, and no result, ever share one.
#include "src/graph/arena_pool.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cstring>
#include <optional>
#include <thread>

#include "sindri/graph/compile.h"
#include "tests/graph/test_ops.h"

namespace sindri {
namespace {

using namespace test;

using Lease = ArenaClaim::Lease;

// In addition to the arenas that other tests of this process keep alive.
struct Before {
  ArenaStats at = arena_stats();
  int64_t bytes() const { return arena_stats().bytes - at.bytes; }
  int64_t arenas() const { return arena_stats().arenas - at.arenas; }
};

constexpr int64_t kMB = 1 << 20;

TEST(ArenaPool, RunsOneAfterTheOtherShareTheLargest) {
  const Before before;
  std::vector<std::unique_ptr<ArenaClaim>> claims;
  for (int64_t n = 10; n <= 20; ++n) {
    claims.push_back(std::make_unique<ArenaClaim>(n * kMB));
    { const Lease lease(*claims.back()); }
    EXPECT_EQ(before.arenas(), 1) << n;
    EXPECT_EQ(before.bytes(), n * kMB);
  }
  const void* at = Lease(*claims.back()).data();
  for (const auto& c : claims) EXPECT_EQ(Lease(*c).data(), at);
  claims.pop_back();
  EXPECT_EQ(before.bytes(), 0) << "larger than any executable needs now";
  { const Lease lease(*claims[0]); }
  EXPECT_EQ(before.bytes(), 10 * kMB) << "and only an arena in use is made again";
  claims.clear();
  EXPECT_EQ(before.bytes(), 0);
}

TEST(ArenaPool, RunsAtOneTimeHaveOneEach) {
  const Before before;
  std::optional<ArenaClaim> small(kMB), large;
  {
    const Lease a(*small);
    large.emplace(3 * kMB);
    const Lease b(*large);
    EXPECT_EQ(before.arenas(), 2);
    EXPECT_EQ(before.bytes(), 4 * kMB);
    std::memset(a.data(), 1, kMB);
    std::memset(b.data(), 2, 3 * kMB);
    EXPECT_EQ(static_cast<char*>(a.data())[0], 1);
    EXPECT_EQ(static_cast<char*>(a.data())[kMB - 1], 1);
  }
  // The smaller executable first takes the small arena, though the large one would do.
  {
    const Lease a(*small), b(*large);
    EXPECT_EQ(before.bytes(), 4 * kMB);
  }
  large.reset();
  EXPECT_EQ(before.bytes(), kMB);
  // The other way round: the small executable borrows the large arena, and the large one then gets another, which is too much for two executables.
  large.emplace(3 * kMB);
  small.reset();
  { const Lease b(*large); }
  small.emplace(kMB);
  {
    const Lease a(*small), b(*large);
    EXPECT_EQ(before.bytes(), 6 * kMB);
  }
  EXPECT_EQ(before.bytes(), 3 * kMB) << "never more than if each had its own";
}

TEST(ArenaPool, OneThatIsTooLargeGoesWhenItComesBack) {
  const Before before;
  const ArenaClaim small(kMB);
  std::optional<ArenaClaim> large(3 * kMB);
  { const Lease b(*large); }
  std::optional<Lease> lent(std::in_place, small);
  EXPECT_EQ(before.bytes(), 3 * kMB);
  large.reset();
  EXPECT_EQ(before.bytes(), 3 * kMB);
  lent.reset();
  EXPECT_EQ(before.bytes(), 0);
}

// y = 3·(x+x) summed over rows of ever larger inputs: intermediate values lie in the arena.
TEST(ArenaPool, GrowingShapesKeepOneArena) {
  const Before before;
  CompiledFn f = compile([](Span<const Tensor> in) -> TensorList { return {call1("test_sum", {scale(add(in[0], in[0]), 3)})}; });
  std::vector<Tensor> held;
  for (int64_t n = 1000; n <= 21'000; n += 500) {
    const Tensor x = Tensor::full({n}, 0.5);
    held.push_back(f(Span<const Tensor>(&x, 1))[0]);
    EXPECT_LE(before.arenas(), 1);
    EXPECT_LE(before.bytes(), f.info().arena_bytes + 4096) << n;
  }
  EXPECT_GT(before.bytes(), 0) << "the test checks nothing";
  for (size_t i = 0; i < held.size(); ++i) EXPECT_EQ(held[i].item(), 3.0 * (1000 + 500 * static_cast<double>(i))) << "a result does not lie in an arena";
  f = CompiledFn();
  EXPECT_EQ(before.bytes(), 0);
}

TEST(ArenaPool, ThreadsDoNotDisturbEachOther) {
  const Before before;
  std::vector<std::thread> threads;
  std::atomic<int> wrong{0};
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([t, &wrong] {
      CompiledFn f = compile([](Span<const Tensor> in) -> TensorList { return {call1("test_sum", {scale(add(in[0], in[0]), 3)})}; });
      for (int64_t i = 0; i < 200; ++i) {
        const int64_t n = 100 + 700 * t + i % 5 * 40;
        const Tensor x = Tensor::full({n}, t + 1);
        wrong += f(Span<const Tensor>(&x, 1))[0].item() != 6.0 * static_cast<double>(n * (t + 1));
      }
    });
  }
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(before.bytes(), 0);
}

}  // namespace
}  // namespace sindri
