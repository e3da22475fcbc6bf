// Sources whose rows come one after another, read by several workers: the order of passes, errors, and leaving an epoch early.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <functional>
#include <thread>
#include <utility>

#include "tests/dataset/helpers.h"

namespace sindri::dataset {
namespace {

using Row = GeneratorDataset::Row;
using Next = std::function<bool(Row*)>;

Row row_of(int64_t value) { return {Tensor::scalar(static_cast<double>(value), DType::kInt64)}; }

// A pass of n rows with their numbers.
Next count_to(int64_t n) {
  return [n, i = std::make_shared<int64_t>(0)](Row* r) {
    if (*i == n) return false;
    *r = row_of((*i)++);
    return true;
  };
}

Dataset::Ptr sequential(std::function<Next()> rows, int64_t n) { return GeneratorDataset::make({.rows = std::move(rows), .size = n, .column_names = {"n"}}); }

// Rows by number; the first to reach row `at` waits there for `flag`, at most three seconds.
Dataset::Ptr waiting(int64_t n, int64_t at, std::shared_ptr<std::atomic<bool>> flag) {
  const auto first = std::make_shared<std::atomic<bool>>(true);
  return GeneratorDataset::make({.row =
                                     [=](int64_t i) {
                                       for (int k = 0; i == at && first->load() && !*flag && k < 3000; ++k)
                                         std::this_thread::sleep_for(std::chrono::milliseconds(1));
                                       if (i == at) first->store(false);
                                       return row_of(i);
                                     },
                                 .size = n,
                                 .column_names = {"a"},
                                 .num_parallel_workers = 2,
                                 .shuffle = false});
}

// One object may be the iterator of every pass (in Python: __iter__ restarts and returns self). While the worker with the last row of a pass is slow, another
// worker could start the next pass: it must not do so before that row has been read.
TEST(Sequential, OneIteratorForAllPasses) {
  const auto begun_again = std::make_shared<std::atomic<bool>>(false);
  int64_t state = 0;
  int opened = 0;
  const auto rows = [&]() -> Next {
    state = 0;
    if (++opened == 2) *begun_again = true;
    return [&](Row* r) {
      if (state == 4) return false;
      *r = row_of(state++);
      return true;
    };
  };
  auto it = Dataset::zip({waiting(4, 3, begun_again), sequential(rows, 4)})->create_iterator({.num_epochs = 2, .prefetch = 4, .num_workers = 2});
  for (int epoch = 0; epoch < 2; ++epoch) {
    std::vector<int64_t> seen;
    std::vector<Tensor> c;
    while (it->next(&c)) seen.push_back(static_cast<int64_t>(c[1].item()));
    EXPECT_EQ(seen, (std::vector<int64_t>{0, 1, 2, 3})) << "epoch " << epoch;
    it->next_epoch();
  }
}

TEST(Sequential, PassesAreOpenedInOrder) {
  for (int k = 0; k < 50; ++k) {
    int64_t opened = 0;
    const auto rows = [&]() -> Next {
      return [pass = opened++, done = std::make_shared<bool>(false)](Row* r) {
        if (std::exchange(*done, true)) return false;
        *r = row_of(pass);
        return true;
      };
    };
    auto it = sequential(rows, 1)->repeat(100)->create_iterator({.num_epochs = 1, .prefetch = 8, .num_workers = 4});
    std::vector<int64_t> expected(100);
    for (int64_t i = 0; i < 100; ++i) expected[static_cast<size_t>(i)] = i;
    ASSERT_EQ(epoch_values(*it), expected);
    ASSERT_EQ(opened, 100);
  }
}

// Like a Python generator, which only ends once it has raised. The worker with the row that raises is slower than the next one.
TEST(Sequential, TheErrorOfARowIsThatOfTheRow) {
  const auto raised = std::make_shared<std::atomic<bool>>(false);
  const auto rows = [&]() -> Next {
    return [&, i = std::make_shared<int64_t>(0)](Row* r) {
      if (*raised) return false;
      if (*i == 2) {
        *raised = true;
        throw ValueError("the real error");
      }
      *r = row_of((*i)++);
      return true;
    };
  };
  auto it = Dataset::zip({waiting(8, 2, raised), sequential(rows, 8)})->create_iterator({.num_epochs = 1, .prefetch = 4, .num_workers = 2});
  std::vector<Tensor> c;
  EXPECT_TRUE(it->next(&c));
  EXPECT_TRUE(it->next(&c));
  const ValueError e = caught<ValueError>([&] { it->next(&c); });
  EXPECT_EQ(e.message(), "the real error");
}

TEST(Sequential, AnEpochMayBeLeftEarly) {
  std::atomic<int> opened{0};
  const auto rows = [&] {
    ++opened;
    return count_to(4);
  };
  for (const int workers : {1, 3}) {
    opened = 0;
    auto it = sequential(rows, 4)->create_iterator({.num_epochs = 3, .prefetch = 8, .num_workers = workers});
    std::vector<Tensor> c;
    it->next(&c);
    for (int k = 0; k < 3000 && opened < 2; ++k) std::this_thread::sleep_for(std::chrono::milliseconds(1));  // the next epoch's rows are being read
    it->next_epoch();
    EXPECT_EQ(epoch_values(*it), (std::vector<int64_t>{0, 1, 2, 3}));
    EXPECT_TRUE(it->next_epoch());
    EXPECT_EQ(epoch_values(*it), (std::vector<int64_t>{0, 1, 2, 3}));
  }
}

// Model::train reads an epoch's counted batches, then calls next_epoch(): batches already prepared for the next epoch are kept.
TEST(Sequential, NextEpochBehindTheLastBatchKeepsWhatIsPrepared) {
  for (int k = 0; k < 50; ++k) {
    int opened = 0;
    const auto rows = [&] {
      ++opened;
      return count_to(4);
    };
    auto it = sequential(rows, 4)->create_iterator({.num_epochs = 3, .num_workers = 1});
    std::vector<Tensor> c;
    for (int epoch = 0; epoch < 3; ++epoch) {
      for (int64_t b = 0; b < 4; ++b) {
        ASSERT_TRUE(it->next(&c));
        ASSERT_EQ(c[0].item(), static_cast<double>(b));
        std::this_thread::sleep_for(std::chrono::microseconds(100));  // a step
      }
      if (epoch < 2) { ASSERT_TRUE(it->next_epoch()); }
    }
    it.reset();
    EXPECT_EQ(opened, 3);
  }
}

TEST(Sequential, ShufflesAboveAndBelowBatches) {
  for (const int workers : {1, 3}) {
    const auto sorted = [&](const Dataset::Ptr& d) {
      auto it = d->create_iterator({.num_epochs = 2, .seed = 3, .num_workers = workers});
      for (int epoch = 0; epoch < 2; ++epoch) {
        std::vector<int64_t> seen;
        std::vector<Tensor> c;
        while (it->next(&c)) {
          for (const int64_t v : c[0].to_vector<int64_t>()) seen.push_back(v);
        }
        EXPECT_FALSE(std::is_sorted(seen.begin(), seen.end()));
        std::sort(seen.begin(), seen.end());
        std::vector<int64_t> all(20);
        for (int64_t i = 0; i < 20; ++i) all[static_cast<size_t>(i)] = i;
        EXPECT_EQ(seen, all);
        it->next_epoch();
      }
    };
    const auto source = [] { return sequential([] { return count_to(20); }, 20); };
    sorted(source()->shuffle(7)->batch(4));
    sorted(source()->batch(4)->shuffle(5));
    sorted(source()->batch(2)->shuffle(3)->map({transforms::Function("same", [](const std::vector<Tensor>& in) { return in; })}));
  }
  for (const int workers : {1, 3}) {  // passes mixed
    auto it = sequential([] { return count_to(6); }, 6)->repeat(4)->shuffle(9)->batch(5)->create_iterator({.num_epochs = 2, .seed = 3, .num_workers = workers});
    for (int epoch = 0; epoch < 2; ++epoch) {
      std::vector<int64_t> seen = epoch_values(*it);
      EXPECT_FALSE(std::is_sorted(seen.begin(), seen.end()));
      for (int64_t v = 0; v < 6; ++v) EXPECT_EQ(std::count(seen.begin(), seen.end(), v), 4) << v;
      it->next_epoch();
    }
  }
  auto it = sequential([] { return count_to(20); }, 20)->skip(5)->take(6)->repeat(2)->batch(4)->create_iterator({.num_epochs = 1, .num_workers = 3});
  EXPECT_EQ(epoch_values(*it), (std::vector<int64_t>{5, 6, 7, 8, 9, 10, 5, 6, 7, 8, 9, 10}));
}

}  // namespace
}  // namespace sindri::dataset
