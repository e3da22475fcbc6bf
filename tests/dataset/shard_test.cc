// Shards of a pipeline. A rank gets the rows of its shards, the shards together match the pipeline without shards, and any number of ranks can continue where
// another number stopped.
#include "sindri/dataset/shard.h"

#include <map>
#include <numeric>
#include <set>

#include "tests/dataset/helpers.h"

namespace sindri::dataset {
namespace {

// The rows of one shard, by the rule in docs/design/dataset.md.
std::vector<int64_t> rows_of_shard(int64_t rows, int64_t shards, int64_t s) {
  std::vector<int64_t> v;
  for (int64_t i = 0; i < (rows + shards - 1) / shards; ++i) v.push_back((s + i * shards) % rows);
  return v;
}

TEST(ShardOrder, BlocksAreTheBatchesThatEachShardAloneWouldGive) {
  for (const int64_t rows : {1, 5, 16, 61, 64, 67}) {
    for (const int64_t shards : {1, 2, 4, 8, 16}) {
      for (const int64_t count : {1, 2, 4}) {
        if (count > shards) continue;
        for (const int64_t block : {1, 3, 4}) {
          for (int64_t first = 0; first < shards; first += count) {
            const ShardSpec spec{.num_shards = shards, .first = first, .count = count, .block = block};
            std::vector<int64_t> expected, got;
            const int64_t each = (rows + shards - 1) / shards;
            for (int64_t begin = 0; begin < each; begin += block) {
              for (int64_t v = first; v < first + count; ++v) {
                const std::vector<int64_t> all = rows_of_shard(rows, shards, v);
                for (int64_t i = begin; i < std::min(each, begin + block); ++i) expected.push_back(all[static_cast<size_t>(i)]);
              }
            }
            for (int64_t i = 0; i < shard_size(spec, rows); ++i) got.push_back(shard_row(spec, rows, i));
            ASSERT_EQ(got, expected) << rows << " rows, shards " << first << " to " << first + count - 1 << " of " << shards << ", block " << block;
          }
        }
      }
    }
  }
}

TEST(ShardOrder, WithoutPaddingNoRowAppearsTwice) {
  for (const int64_t rows : {1, 3, 10, 61}) {
    for (const int64_t shards : {1, 2, 3, 7, 16}) {
      std::multiset<int64_t> all;
      for (int64_t s = 0; s < shards; ++s) {
        const ShardSpec spec{.num_shards = shards, .first = s, .pad = false};
        for (int64_t i = 0; i < shard_size(spec, rows); ++i) all.insert(shard_row(spec, rows, i));
      }
      std::multiset<int64_t> expected;
      for (int64_t i = 0; i < rows; ++i) expected.insert(i);
      EXPECT_EQ(all, expected) << rows << " rows, " << shards << " shards";
    }
  }
}

// The sizes for training on ImageNet.
TEST(ShardOrder, StepsOfAnEpochOfImageNet) {
  constexpr int64_t kImages = 1281167;
  const auto steps = [](int64_t ranks, int64_t batch) {
    const ShardSpec spec{.num_shards = ranks, .first = ranks - 1, .block = batch};
    return shard_size(spec, kImages) / batch;
  };
  EXPECT_EQ(steps(8, 32), 5004);
  EXPECT_EQ(steps(8, 256), 625);
  EXPECT_EQ(steps(16, 256), 312);
  // Half as many ranks that compute twice as many shards each make the same steps.
  const ShardSpec two{.num_shards = 16, .first = 14, .count = 2, .block = 256};
  EXPECT_EQ(shard_size(two, kImages) / (2 * 256), 312);
}

Dataset::Ptr digits(const ShardSpec& spec, int64_t batch, bool drop = true) {
  std::vector<int32_t> numbers(67);
  std::iota(numbers.begin(), numbers.end(), 0);
  std::vector<uint8_t> pixels(67 * 24 * 24 * 3);
  for (size_t i = 0; i < pixels.size(); ++i) pixels[i] = static_cast<uint8_t>(i * 31 % 251);
  Dataset::Ptr d = NumpySlicesDataset::make({.columns = {{"image", Tensor::from_data({67, 24, 24, 3}, DType::kUInt8, pixels.data())},
                                                         {"label", Tensor::from_data({67}, DType::kInt32, numbers.data())}}});
  if (spec.num_shards > 1) d = shard(d, spec);
  d = d->map({vision::RandomCrop(20, {.padding = {2}}), vision::RandomHorizontalFlip(), vision::Normalize({9, 8, 7}, {50, 60, 70})},
             {.input_columns = {"image"}});
  return d->batch(batch, {.drop_remainder = drop});
}

// (label, hash of its image) of every row of an epoch, in order, and the number of rows of each batch.
struct Epoch {
  std::vector<std::pair<int32_t, uint64_t>> rows;
  std::vector<int64_t> sizes;
};
Epoch read(Iterator& it) {
  Epoch out;
  std::vector<Tensor> batch;
  while (it.next(&batch)) {
    const int64_t n = batch[0].dim(0), each = batch[0].nbytes() / n;
    out.sizes.push_back(n);
    for (int64_t i = 0; i < n; ++i) {
      uint64_t h = 1469598103934665603ull;
      const auto* p = static_cast<const uint8_t*>(batch[0].raw_data()) + i * each;
      for (int64_t k = 0; k < each; ++k) h = (h ^ p[k]) * 1099511628211ull;
      out.rows.emplace_back(batch[1].data<int32_t>()[i], h);
    }
  }
  return out;
}

IteratorOptions two_epochs() { return {.num_epochs = 2, .seed = 5, .num_workers = 2}; }

TEST(ShardedRows, GiveTheRowsOfThePipelineWithoutThem) {
  const auto whole = digits({}, 67, false)->create_iterator(two_epochs());
  for (int epoch = 0; epoch < 2; ++epoch) {
    const Epoch plain = read(*whole);
    whole->next_epoch();
    std::multiset<std::pair<int32_t, uint64_t>> together;
    for (int64_t s = 0; s < 4; ++s) {
      const auto it = digits({.num_shards = 4, .first = s, .pad = false}, 8, false)->create_iterator(two_epochs());
      for (int e = 0; e < epoch; ++e) {
        read(*it);
        it->next_epoch();
      }
      for (const auto& row : read(*it).rows) together.insert(row);
    }
    EXPECT_EQ(together, std::multiset(plain.rows.begin(), plain.rows.end())) << "epoch " << epoch;
  }
}

// Batches of a step, concatenated over the ranks, have the same rows in the same order for any number of ranks that computes the same virtual ranks.
TEST(ShardedRows, AnyNumberOfRanksReadsTheSameVirtualRanks) {
  constexpr int64_t kVirtual = 8, kBlock = 2;
  std::map<int64_t, std::vector<std::pair<int32_t, uint64_t>>> by_ranks;
  for (const int64_t ranks : {1, 2, 4, 8}) {
    const int64_t k = kVirtual / ranks;
    std::vector<Epoch> parts;
    for (int64_t s = 0; s < ranks; ++s) {
      const ShardSpec spec{.num_shards = kVirtual, .first = s * k, .count = k, .block = kBlock};
      parts.push_back(read(*digits(spec, k * kBlock, false)->create_iterator(two_epochs())));
      EXPECT_EQ(parts.back().sizes, (std::vector<int64_t>{k * 2, k * 2, k * 2, k * 2, k * 1})) << "9 rows of each virtual rank";
    }
    for (size_t step = 0, at = 0; step < parts[0].sizes.size(); at += static_cast<size_t>(parts[0].sizes[step++])) {
      for (const Epoch& p : parts) {
        for (size_t i = at; i < at + static_cast<size_t>(p.sizes[step]); ++i) by_ranks[ranks].push_back(p.rows[i]);
      }
    }
  }
  for (const int64_t ranks : {2, 4, 8}) EXPECT_EQ(by_ranks[ranks], by_ranks[1]) << ranks << " ranks";
}

// The whole order in one pipeline, 8 shards in one process, and 2 or 8 ranks have the same state.
TEST(ShardedRows, GoOnFromTheStateOfAnotherNumberOfRanks) {
  const auto open = [](int64_t virtual_ranks, int64_t count, int64_t first, int64_t block) {
    return digits({.num_shards = virtual_ranks, .first = first, .count = count, .block = block}, count * block)->create_iterator(two_epochs());
  };
  const auto whole = digits({}, 16)->create_iterator(two_epochs());
  std::vector<Tensor> batch;
  for (int i = 0; i < 2; ++i) ASSERT_TRUE(whole->next(&batch));
  const std::string state = whole->state_dict();
  const Epoch rest = read(*whole);
  const auto check = [&](const std::string& from, int64_t ranks, const char* what) {
    SCOPED_TRACE(what);
    std::multiset<std::pair<int32_t, uint64_t>> together;
    std::string next_state;
    for (int64_t s = 0; s < ranks; ++s) {
      const auto it = open(8, 8 / ranks, s * 8 / ranks, 2);
      it->load_state(from);
      if (s == ranks - 1) {
        const auto copy = open(8, 8 / ranks, s * 8 / ranks, 2);
        copy->load_state(from);
        next_state = copy->state_dict();
      }
      for (const auto& row : read(*it).rows) together.insert(row);
    }
    EXPECT_EQ(together, std::multiset(rest.rows.begin(), rest.rows.end()));
    return next_state;
  };
  const std::string of_eight = check(state, 8, "from one piece to 8 ranks");
  const std::string of_two = check(of_eight, 2, "from 8 ranks to 2");
  check(of_two, 1, "from 2 ranks to 1");
  const auto back = digits({}, 16)->create_iterator(two_epochs());
  back->load_state(of_two);
  EXPECT_EQ(read(*back).rows, rest.rows) << "from 2 ranks to an unsharded pipeline";
  const auto other = open(8, 4, 4, 4);
  EXPECT_THROW(other->load_state(state), DataError) << "32 rows per step instead of 16";
}

TEST(ShardedRows, RowsThatStandInForBadOnesAreTheSameOnAnyNumberOfRanks) {
  TempDir dir;
  make_image_folder(dir.str(), 2, 12);
  for (const char* bad : {"class_0/003.jpg", "class_0/004.jpg", "class_1/007.jpg"}) write_bytes(dir / bad, {0xff, 0xd8, 0xff, 0});
  const auto open = [&](int64_t ranks, int64_t s, OnCorrupt policy) {
    const ShardSpec spec{.num_shards = 4, .first = s * 4 / ranks, .count = 4 / ranks, .block = 2};
    auto d = shard(ImageFolderDataset::make({.dataset_dir = dir.str()}), spec);
    d = d->map({vision::Decode(), vision::RandomCrop(16)}, {.input_columns = {"image"}})->batch(2 * spec.count, {.drop_remainder = true});
    return d->create_iterator({.num_epochs = 1, .seed = 3, .on_corrupt = policy});
  };
  std::map<int64_t, std::multiset<std::pair<int32_t, uint64_t>>> by_ranks;
  for (const int64_t ranks : {1, 2, 4}) {
    int64_t replaced = 0;
    for (int64_t s = 0; s < ranks; ++s) {
      const auto it = open(ranks, s, OnCorrupt::kReplace);
      for (const auto& row : read(*it).rows) by_ranks[ranks].insert(row);
      replaced += it->stats().replaced;
    }
    EXPECT_EQ(replaced, 3) << ranks << " ranks";
  }
  EXPECT_EQ(by_ranks[1].size(), 24u);
  EXPECT_EQ(by_ranks[2], by_ranks[1]);
  EXPECT_EQ(by_ranks[4], by_ranks[1]);
  EXPECT_THROW(open(2, 0, OnCorrupt::kSkip), ValueError) << "if a rank skipped rows, rows would move from one of its shards to the other";
  EXPECT_EQ(read(*open(4, 1, OnCorrupt::kSkip)).rows.size(), 6u);
}

TEST(ShardedRows, RefuseWhatDoesNotFit) {
  const auto make = [](const ShardSpec& spec) { return shard(NumpySlicesDataset::make({.columns = {{"x", Tensor::zeros({6})}}}), spec); };
  EXPECT_THROW(make({.num_shards = 4, .first = 4}), ValueError);
  EXPECT_THROW(make({.num_shards = 4, .first = 2, .count = 3}), ValueError);
  EXPECT_THROW(make({.num_shards = 4, .first = -1}), ValueError);
  EXPECT_THROW(make({.num_shards = 0}), ValueError);
  EXPECT_THROW(make({.num_shards = 4, .block = 0}), ValueError);
  EXPECT_THROW(make({.num_shards = 4, .count = 2, .pad = false}), ValueError);
  GeneratorDataset::Options sequential;
  sequential.column_names = {"x"};
  sequential.rows = [] { return [n = 0](GeneratorDataset::Row* row) mutable { return *row = {Tensor::zeros({1})}, n++ < 6; }; };
  EXPECT_THROW(shard(GeneratorDataset::make(sequential), {.num_shards = 2})->batch(1)->create_iterator(), ValueError);
  EXPECT_THROW(shard(NumpySlicesDataset::make({.columns = {{"x", Tensor::zeros({6})}}})->repeat(), {.num_shards = 2})->get_dataset_size(), ValueError);
}

TEST(ShardedRows, AnEmptyOneEndsItsEpochWithTheOthers) {
  const auto it = digits({.num_shards = 80, .first = 79, .pad = false}, 8, false)->create_iterator(two_epochs());
  std::vector<Tensor> batch;
  EXPECT_FALSE(it->next(&batch));
  EXPECT_TRUE(it->next_epoch());
  EXPECT_FALSE(it->next(&batch));
}

TEST(ShardedRows, RowsThatAppearTwiceAreCounted) {
  const auto it = digits({.num_shards = 8, .first = 1}, 3, false)->create_iterator(two_epochs());
  read(*it);
  EXPECT_EQ(it->stats().rows_padded, 5) << "8 shards of 9 rows are 72, of 67";
}

}  // namespace
}  // namespace sindri::dataset
