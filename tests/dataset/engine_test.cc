// The three rules: rows do not depend on workers or queues, resuming is bit-exact, nothing is dropped silently. Also: errors, leases, leaving early.
#include <atomic>
#include <chrono>
#include <set>
#include <thread>

#include "src/core/tensor_impl.h"
#include "tests/dataset/helpers.h"

namespace sindri::dataset {
namespace {

transforms::Function delay() {
  // Sleeps that differ from call to call vary which worker finishes first; they do not synchronise.
  return transforms::Function("delay", [](const std::vector<Tensor>& in) {
    static std::atomic<uint32_t> calls{0};
    std::this_thread::sleep_for(std::chrono::microseconds((calls++ * 2654435761u) >> 24));
    return in;
  });
}

Dataset::Ptr images(const std::string& dir, bool with_delay = false) {
  auto d = ImageFolderDataset::make({.dataset_dir = dir});
  if (with_delay) d = d->map({delay()}, {.input_columns = {"image"}});
  d = d->map({vision::Decode(), vision::RandomCrop(20, {.padding = {2}}), vision::RandomHorizontalFlip(), vision::Rescale(1.0 / 255, 0),
              vision::Normalize({0.5, 0.4, 0.3}, {0.2, 0.25, 0.3}), vision::HWC2CHW()},
             {.input_columns = {"image"}});
  return d->shuffle(5)->repeat(2)->batch(4);
}

std::vector<uint64_t> hashes(const Dataset::Ptr& d, int workers, int prefetch, int epochs = 3) {
  auto it = d->create_iterator({.num_epochs = epochs, .seed = 11, .prefetch = prefetch, .num_workers = workers});
  return all_hashes(*it, epochs);
}

class PlanMode {  // Sets SINDRI_DATA_PLAN during its lifetime
 public:
  explicit PlanMode(const char* v) { ::setenv("SINDRI_DATA_PLAN", v, 1); }
  ~PlanMode() { ::unsetenv("SINDRI_DATA_PLAN"); }
  PlanMode(const PlanMode&) = delete;
  PlanMode& operator=(const PlanMode&) = delete;
};

TEST(Rules, SameRowsForAnyWorkersQueuesDelaysAndWithoutRewrites) {
  TempDir dir;
  make_image_folder(dir.str(), 3, 5);
  const auto expected = hashes(images(dir.str()), 1, 2);
  EXPECT_EQ(expected.size(), 3u * (8 + 1));
  EXPECT_EQ(std::set<uint64_t>(expected.begin(), expected.end()).size(), 3u * 8 + 1) << "augmentation must differ between passes";
  for (int workers : {1, 2, 3, 8}) {
    for (int prefetch : {1, 16}) EXPECT_EQ(hashes(images(dir.str()), workers, prefetch), expected) << workers << " workers, prefetch " << prefetch;
  }
  const auto delayed = hashes(images(dir.str(), true), 1, 2);
  for (int workers : {3, 8}) EXPECT_EQ(hashes(images(dir.str(), true), workers, 1), delayed) << workers << " workers with delays";
  const PlanMode none("none");
  EXPECT_EQ(hashes(images(dir.str()), 2, 2), expected) << "without rewrites";
}

TEST(Rules, ShardsTogetherGiveTheUnshardedRows) {
  TempDir dir;
  make_image_folder(dir.str(), 2, 6);
  auto make = [&](std::optional<int64_t> n, std::optional<int64_t> s) {
    auto d = ImageFolderDataset::make({.dataset_dir = dir.str(), .num_shards = n, .shard_id = s});
    return d->map({vision::Decode(), vision::RandomCrop(20), vision::RandomHorizontalFlip()}, {.input_columns = {"image"}});
  };
  auto whole = all_hashes(*make({}, {})->create_iterator({.num_epochs = 1, .seed = 4}), 1);
  std::multiset<uint64_t> parts;
  for (int64_t s = 0; s < 3; ++s) {
    for (uint64_t h : epoch_hashes(*make(3, s)->create_iterator({.num_epochs = 1, .seed = 4}))) parts.insert(h);
  }
  whole.pop_back();
  EXPECT_EQ(parts, std::multiset<uint64_t>(whole.begin(), whole.end()));
}

// Reads two epochs; for every batch, continues from the state taken before it and compares the rest.
void check_resume(const std::function<Dataset::Ptr()>& make, OnCorrupt policy = OnCorrupt::kFail, const char* what = "") {
  SCOPED_TRACE(what);
  const IteratorOptions options{.num_epochs = 2, .seed = 21, .on_corrupt = policy, .num_workers = 2};
  auto first = make()->create_iterator(options);
  std::vector<std::string> states;
  std::vector<uint64_t> all;
  std::vector<Tensor> c;
  for (int e = 0; e < 2; ++e) {
    if (e > 0) first->next_epoch();
    while (true) {
      states.push_back(first->state_dict());
      if (!first->next(&c)) break;
      uint64_t h = 7;
      for (const auto& t : c) h = hash_tensor(t, h);
      all.push_back(h);
    }
    all.push_back(0);
    states.push_back(first->state_dict());  // after the end of the epoch
    all.push_back(1);
  }
  for (size_t k = 0; k < states.size(); ++k) {
    auto it = make()->create_iterator(options);
    it->load_state(states[k]);
    EXPECT_EQ(it->state_dict(), states[k]);
    std::vector<uint64_t> rest;
    size_t expected = k;
    while (true) {
      const bool more = it->next(&c);
      if (all[expected] == 1) {  // the state was already at the end
        EXPECT_FALSE(more);
        if (++expected == all.size() || !it->next_epoch()) break;
        continue;
      }
      if (!more) {
        ASSERT_EQ(all[expected], 0u) << "state " << k;
        expected += 2;
        if (expected >= all.size() || !it->next_epoch()) break;
        continue;
      }
      uint64_t h = 7;
      for (const auto& t : c) h = hash_tensor(t, h);
      ASSERT_EQ(h, all[expected]) << "state " << k << ", batch " << expected;
      ++expected;
    }
    EXPECT_GE(expected, all.size()) << "state " << k;
  }
}

TEST(Resume, AtEveryBatchForEveryNodeKind) {
  TempDir dir;
  make_image_folder(dir.str(), 2, 5);
  check_resume([&] { return images(dir.str()); }, OnCorrupt::kFail, "shuffle, map, repeat, batch");
  check_resume([] { return counting(11, true)->batch(3)->repeat(2); }, OnCorrupt::kFail, "repeat after batch");
  check_resume([] { return counting(11, true)->skip(2)->take(7)->batch(2); }, OnCorrupt::kFail, "skip, take");
  check_resume([] { return counting(7, true)->concat(counting(5, true))->shuffle(4)->batch(2); }, OnCorrupt::kFail, "concat, shuffle");
  check_resume([] { return Dataset::zip({counting(6, true), counting(8, true)->rename({"x"}, {"y"})})->batch(4); }, OnCorrupt::kFail, "zip, rename");
  check_resume([] { return counting(9, true, 2, 1)->batch(2); }, OnCorrupt::kFail, "shard");
  check_resume([] { return counting(5, true); }, OnCorrupt::kFail, "no batch");
  check_resume(
      [] {
        return GeneratorDataset::make({.rows =
                                           [] {
                                             auto i = std::make_shared<int>(0);
                                             return [i](GeneratorDataset::Row* r) {
                                               return *i < 9 ? (*r = {Tensor::scalar((*i)++, DType::kInt32)}, true) : false;
                                             };
                                           },
                                       .column_names = {"n"}})
            ->shuffle(4)
            ->batch(2);
      },
      OnCorrupt::kFail, "sequential generator");
}

TEST(Resume, StateOfAnotherPipelineIsRefusedWithTheField) {
  auto it = counting(10, true)->batch(2)->create_iterator({.seed = 1});
  const std::string state = it->state_dict();
  auto expect = [&](const Dataset::Ptr& d, IteratorOptions o, const std::string& field) {
    const DataError e = caught<DataError>([&] { d->create_iterator(o)->load_state(state); });
    EXPECT_NE(e.message().find("'" + field + "'"), std::string::npos) << e.what();
  };
  expect(counting(10, true)->batch(2), {.seed = 2}, "seed");
  expect(counting(10, true)->batch(5), {.seed = 1}, "size");
  expect(counting(10, true)->skip(1)->batch(2), {.seed = 1}, "tree");
  EXPECT_THROW(counting(10, true)->batch(2)->create_iterator({.seed = 1})->load_state("{"), DataError);
  EXPECT_THROW(counting(10, true)->batch(2)->create_iterator({.seed = 1})->load_state("[[[[[[[[[[[[[[[]]]]]]]]]]]]]]]"), DataError);
  auto begun = counting(10, true)->batch(2)->create_iterator({.seed = 1});
  std::vector<Tensor> c;
  begun->next(&c);
  EXPECT_THROW(begun->load_state(state), ValueError);
}

TEST(Epochs, LeavingAnEpochEarlyAndStartingLater) {
  auto make = [] { return counting(12, true)->batch(2); };
  auto whole = make()->create_iterator({.num_epochs = 3, .seed = 2});
  std::vector<std::vector<int64_t>> epochs;
  for (int e = 0; e < 3; ++e) {
    epochs.push_back(epoch_values(*whole));
    whole->next_epoch();
  }
  auto it = make()->create_iterator({.num_epochs = 3, .seed = 2});
  std::vector<Tensor> c;
  it->next(&c);
  ASSERT_TRUE(it->next_epoch());
  EXPECT_EQ(epoch_values(*it), epochs[1]);
  auto later = make()->create_iterator({.num_epochs = 1, .start_epoch = 2, .start_batch = 4, .seed = 2});
  EXPECT_EQ(epoch_values(*later), std::vector<int64_t>(epochs[2].begin() + 8, epochs[2].end()));
  EXPECT_FALSE(later->next_epoch());
}

struct Unusual : std::runtime_error {
  using std::runtime_error::runtime_error;
};

TEST(Errors, ExceptionOfAWorkerReachesNextWithItsOwnType) {
  auto boom = transforms::Function("boom", [](const std::vector<Tensor>& in) -> std::vector<Tensor> {
    if (in[0].item() >= 21) throw Unusual("row " + std::to_string(static_cast<int>(in[0].item())));
    return in;
  });
  for (int workers : {1, 3, 8}) {
    auto it = counting(40)->map({boom})->batch(4)->create_iterator({.num_epochs = 1, .on_corrupt = OnCorrupt::kSkip, .num_workers = workers});
    std::vector<Tensor> c;
    for (int i = 0; i < 5; ++i) EXPECT_TRUE(it->next(&c)) << "batches before it are still delivered";
    EXPECT_STREQ(caught<Unusual>([&] { it->next(&c); }).what(), "row 21") << "the first bad row's error, whichever worker was faster";
    EXPECT_THROW(it->next(&c), Unusual);
  }
}

TEST(Errors, LeavingEarlyJoinsWorkersQuickly) {
  TempDir dir;
  make_image_folder(dir.str(), 2, 10);
  const auto count = [] { return std::distance(std::filesystem::directory_iterator("/proc/self/task"), std::filesystem::directory_iterator()); };
  const auto before = count();
  // A joined thread stays listed until the kernel has removed it: one of an earlier test may be counted in `before`.
  const auto threads = [&] {
    for (int i = 0; i < 2000 && count() > before; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    return count();
  };
  const auto t = std::chrono::steady_clock::now();
  for (int i = 0; i < 200; ++i) {
    auto it = images(dir.str())->create_iterator({.num_workers = 4});
    EXPECT_LE(threads(), before) << "nothing starts before the first next()";
    std::vector<Tensor> c;
    if (i % 3 > 0) it->next(&c);
  }
  EXPECT_LE(threads(), before);
  EXPECT_LT(std::chrono::duration<double>(std::chrono::steady_clock::now() - t).count(), 60.0);
}

TEST(Memory, BatchesHeldByTheConsumerKeepTheirValues) {
  auto it = counting(64)->batch(4)->create_iterator({.num_epochs = 1, .prefetch = 1});
  std::vector<std::vector<Tensor>> held;
  std::vector<Tensor> c;
  while (it->next(&c)) held.push_back(c);
  EXPECT_GT(it->stats().pool_overflow, 0);
  it.reset();
  for (size_t b = 0; b < held.size(); ++b) {
    for (int64_t i = 0; i < 4; ++i) EXPECT_EQ(held[b][0].to_vector<int64_t>()[static_cast<size_t>(i)], static_cast<int64_t>(b) * 4 + i);
  }
}

TEST(Memory, BlocksAreReusedForEver) {
  auto it = counting(4000)->batch(4)->create_iterator({.num_epochs = 1, .num_workers = 2});
  std::vector<Tensor> c;
  int64_t n = 0;
  while (it->next(&c)) ++n;
  EXPECT_EQ(n, 1000);
  EXPECT_LE(it->stats().blocks, 4);
  EXPECT_EQ(it->stats().pool_overflow, 0);
}

// 12 images, rows 3 and 7 of which are damaged.
struct Damaged {
  Damaged() {
    make_image_folder(dir.str(), 1, 12);
    auto bytes = read_bytes(dir / "class_0/003.jpg");
    bytes.resize(bytes.size() / 2);
    write_bytes(dir / "class_0/003.jpg", bytes);
    write_bytes(dir / "class_0/007.jpg", {'n', 'o', 't', ' ', 'a', 'n', ' ', 'i', 'm', 'a', 'g', 'e'});
  }
  Dataset::Ptr make(bool shuffle = false, std::optional<int64_t> n = {}, std::optional<int64_t> s = {}) const {
    auto d = ImageFolderDataset::make({.dataset_dir = dir.str(), .shuffle = shuffle, .num_shards = n, .shard_id = s});
    return d->map({vision::Decode(), vision::RandomCrop(20)}, {.input_columns = {"image"}});
  }
  TempDir dir;
};

TEST(BadSamples, FailNamesFileRowOperationAndReason) {
  Damaged data;
  auto it = data.make()->batch(4)->create_iterator({.num_epochs = 1});
  std::vector<Tensor> c;
  const BadSample e = caught<BadSample>([&] { it->next(&c); });
  EXPECT_EQ(e.code(), ErrorCode::kDataCorrupt);
  const std::string text = e.what();
  for (const char* part : {"003.jpg", "row 3", "Decode", "JPEG", "data.on_corrupt"}) EXPECT_NE(text.find(part), std::string::npos) << part << " in: " << text;
}

TEST(BadSamples, ReplaceTakesTheNextGoodRowForAnyWorkers) {
  Damaged data;
  std::vector<uint64_t> expected;
  for (int workers : {1, 3, 8}) {
    auto it = data.make()->create_iterator({.num_epochs = 1, .seed = 1, .on_corrupt = OnCorrupt::kReplace, .num_workers = workers});
    const auto rows = epoch_hashes(*it);
    ASSERT_EQ(rows.size(), 12u);
    EXPECT_EQ(rows[3], rows[4]) << "with its own draws";
    EXPECT_EQ(rows[7], rows[8]);
    if (expected.empty()) expected = rows;
    EXPECT_EQ(rows, expected);
    EXPECT_EQ(it->stats().replaced, 2);
    ASSERT_EQ(it->stats().bad_samples.size(), 2u);
  }
  auto batched = [&] { return data.make(true)->batch(4); };
  check_resume(batched, OnCorrupt::kReplace, "replace");
}

TEST(BadSamples, SkipMovesLaterRowsUp) {
  Damaged data;
  auto rows_of = [&](int workers, const Dataset::Ptr& d) {
    auto it = d->create_iterator({.num_epochs = 2, .seed = 1, .on_corrupt = OnCorrupt::kSkip, .num_workers = workers});
    std::vector<int64_t> lengths;
    std::vector<uint64_t> h;
    for (int e = 0; e < 2; ++e) {
      std::vector<Tensor> c;
      while (it->next(&c)) {
        lengths.push_back(c[0].dim(0));
        h.push_back(hash_tensor(c[0]));
      }
      it->next_epoch();
    }
    EXPECT_EQ(it->stats().bad_samples.size(), 2u);
    return std::pair(lengths, h);
  };
  const auto one = rows_of(1, data.make()->batch(4));
  EXPECT_EQ(one.first, (std::vector<int64_t>{4, 4, 2, 4, 4, 2}));
  for (int workers : {2, 8}) EXPECT_EQ(rows_of(workers, data.make()->batch(4)), one);
  EXPECT_EQ(rows_of(2, data.make()->batch(4, {.drop_remainder = true})).first, (std::vector<int64_t>{4, 4, 4, 4}));
  EXPECT_EQ(rows_of(2, data.make()->batch(4)->repeat(2)).first.size(), 12u);
  check_resume([&] { return data.make(true)->batch(4); }, OnCorrupt::kSkip, "skip");
  EXPECT_THROW(data.make()->batch(4)->skip(1)->create_iterator({.on_corrupt = OnCorrupt::kSkip}), ValueError);
}

TEST(BadSamples, SkippingShardsStayEquallyLong) {
  Damaged data;
  for (int64_t s = 0; s < 3; ++s) {
    auto it = data.make(false, 3, s)->batch(2)->create_iterator({.num_epochs = 1, .on_corrupt = OnCorrupt::kSkip, .num_workers = 2});
    std::vector<Tensor> c;
    int64_t rows = 0;
    while (it->next(&c)) rows += c[0].dim(0);
    EXPECT_EQ(rows, 4) << "shard " << s;
  }
}

TEST(BadSamples, TooManyEndTheRun) {
  Damaged data;
  for (OnCorrupt policy : {OnCorrupt::kReplace, OnCorrupt::kSkip}) {
    auto it = data.make()->batch(12)->create_iterator({.num_epochs = 1, .on_corrupt = policy, .max_corrupt = 1});
    std::vector<Tensor> c;
    const DataError e = caught<DataError>([&] { it->next(&c); });
    EXPECT_NE(e.message().find("max_corrupt=1"), std::string::npos) << e.what();
  }
}

// Row 1 is bad, so the batch is assembled again. Meanwhile another worker finds row 2 bad, but in the first version of the batch, which is dropped by then. Row
// 2 must count towards the limit all the same.
TEST(BadSamples, TooManyEndTheRunWhenFoundInADroppedBatch) {
  std::atomic<bool> two_begun{false}, cut_again{false}, two_thrown{false};
  std::atomic<int> zeros{0};
  const auto until = [](const std::atomic<bool>& flag) {
    for (int i = 0; i < 5000 && !flag; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    if (!flag) ADD_FAILURE() << "the workers did not meet";
  };
  auto slow_and_fast = transforms::Function("slow_and_fast", [&](const std::vector<Tensor>& in) {
    const int x = static_cast<int>(in[0].item());
    if (x == 0 && ++zeros > 1) {
      cut_again = true;
      until(two_thrown);
      std::this_thread::sleep_for(std::chrono::milliseconds(20));  // until the engine has recorded it
    }
    if (x == 2) {
      two_begun = true;
      until(cut_again);
      two_thrown = true;
      throw BadSample("slow");
    }
    if (x == 1) {
      until(two_begun);
      throw BadSample("fast");
    }
    return in;
  });
  auto it = counting(8)->map({slow_and_fast})->batch(2)->create_iterator({.num_epochs = 1, .on_corrupt = OnCorrupt::kSkip, .max_corrupt = 1, .num_workers = 2});
  std::vector<Tensor> c;
  const DataError e = caught<DataError>([&] { it->next(&c); });
  EXPECT_NE(e.message().find("2 bad samples, more than max_corrupt=1"), std::string::npos) << e.what();
  EXPECT_NE(e.where().find("row 2"), std::string::npos) << e.what();
}

TEST(BadSamples, AllBadEndsInsteadOfLooping) {
  TempDir dir;
  for (int i = 0; i < 5; ++i) write_bytes(dir / ("a/" + std::to_string(i) + ".jpg"), {1, 2, 3});
  for (OnCorrupt policy : {OnCorrupt::kReplace, OnCorrupt::kSkip}) {
    auto d = ImageFolderDataset::make({.dataset_dir = dir.str()})->map({vision::Decode(), vision::RandomCrop(2)}, {.input_columns = {"image"}})->batch(2);
    std::vector<Tensor> c;
    auto it = d->create_iterator({.num_epochs = 1, .on_corrupt = policy});
    EXPECT_THROW(it->next(&c), DataError);
  }
}

TEST(BadSamples, FunctionsMarkRowsWithBadSample) {
  auto odd = transforms::Function("odd_is_bad", [](const std::vector<Tensor>& in) {
    if (static_cast<int>(in[0].item()) % 2 == 1) throw BadSample("odd");
    return in;
  });
  auto it = counting(10)->map({odd})->batch(5)->create_iterator({.num_epochs = 1, .on_corrupt = OnCorrupt::kSkip});
  EXPECT_EQ(epoch_values(*it), (std::vector<int64_t>{0, 2, 4, 6, 8}));
}

}  // namespace
}  // namespace sindri::dataset
