// Order, sizes and operations of pipelines over numbers in memory.
#include <algorithm>
#include <numeric>
#include <set>

#include "dataset/order.h"
#include "tests/dataset/helpers.h"

namespace sindri::dataset {
namespace {

std::vector<int64_t> iota(int64_t n) {
  std::vector<int64_t> v(static_cast<size_t>(n));
  std::iota(v.begin(), v.end(), 0);
  return v;
}
std::vector<int64_t> read(const Dataset::Ptr& d, int64_t seed = 1) { return epoch_values(*d->create_iterator({.num_epochs = 1, .seed = seed})); }

TEST(Pipeline, SequentialBatchesKeepOrderAndShortLastBatch) {
  auto d = counting(10)->batch(4);
  EXPECT_EQ(d->get_dataset_size(), 3);
  EXPECT_EQ(d->get_batch_size(), 4);
  auto it = d->create_iterator({.num_epochs = 1});
  std::vector<Tensor> c;
  std::vector<int64_t> lengths, values;
  while (it->next(&c)) {
    lengths.push_back(c[0].dim(0));
    for (int64_t v : c[0].to_vector<int64_t>()) values.push_back(v);
  }
  EXPECT_EQ(lengths, (std::vector<int64_t>{4, 4, 2}));
  EXPECT_EQ(values, iota(10));
  EXPECT_FALSE(it->next(&c));
  EXPECT_FALSE(it->next_epoch());
}

TEST(Pipeline, DropRemainderAndZeroBatches) {
  EXPECT_EQ(counting(10)->batch(4, {.drop_remainder = true})->get_dataset_size(), 2);
  const DataError e = caught<DataError>([] { counting(31)->batch(32, {.drop_remainder = true})->get_dataset_size(); });
  EXPECT_EQ(e.code(), ErrorCode::kDataEmpty);
  EXPECT_EQ(e.message(), "0 batches: 31 rows, batch_size=32, drop_remainder=True");
}

TEST(Pipeline, ShuffleIsAPermutationPerPassAndDependsOnTheSeed) {
  auto d = counting(100, true);
  auto it = d->create_iterator({.num_epochs = 2, .seed = 5});
  const auto first = epoch_values(*it);
  ASSERT_TRUE(it->next_epoch());
  const auto second = epoch_values(*it);
  for (auto v : {first, second}) {
    std::sort(v.begin(), v.end());
    EXPECT_EQ(v, iota(100));
  }
  EXPECT_NE(first, second);
  EXPECT_EQ(read(counting(100, true), 5), first);
  EXPECT_NE(read(counting(100, true), 6), first);
}

TEST(Pipeline, RepeatBeforeAndAfterBatch) {
  auto before = counting(5)->repeat(2)->batch(3);
  EXPECT_EQ(before->get_dataset_size(), 4);
  EXPECT_EQ(before->get_repeat_count(), 2);
  EXPECT_EQ(read(before), (std::vector<int64_t>{0, 1, 2, 3, 4, 0, 1, 2, 3, 4}));
  auto after = counting(5)->batch(3)->repeat(2);
  EXPECT_EQ(after->get_dataset_size(), 4);
  auto it = after->create_iterator({.num_epochs = 1});
  std::vector<Tensor> c;
  std::vector<int64_t> lengths;
  while (it->next(&c)) lengths.push_back(c[0].dim(0));
  EXPECT_EQ(lengths, (std::vector<int64_t>{3, 2, 3, 2}));
}

TEST(Pipeline, RepeatedPassesAreShuffledAnewAndEndlessRepeatGoesOn) {
  auto twice = read(counting(50, true)->repeat(2), 3);
  const std::vector<int64_t> a(twice.begin(), twice.begin() + 50), b(twice.begin() + 50, twice.end());
  EXPECT_NE(a, b);
  auto endless = counting(4, true)->repeat();
  EXPECT_EQ(endless->get_dataset_size(), -1);
  auto it = endless->create_iterator({.num_epochs = 1, .seed = 3});
  std::vector<Tensor> c;
  std::vector<int64_t> seen;
  for (int i = 0; i < 40; ++i) {
    ASSERT_TRUE(it->next(&c));
    seen.push_back(static_cast<int64_t>(c[0].item()));
  }
  for (int p = 0; p < 10; ++p) {
    std::vector<int64_t> pass(seen.begin() + 4 * p, seen.begin() + 4 * p + 4);
    std::sort(pass.begin(), pass.end());
    EXPECT_EQ(pass, iota(4));
  }
}

TEST(Pipeline, SkipTakeConcatZipRenameProject) {
  EXPECT_EQ(read(counting(10)->skip(3)->take(4)), (std::vector<int64_t>{3, 4, 5, 6}));
  EXPECT_EQ(counting(10)->skip(20)->concat(counting(3))->get_dataset_size(), 3);
  EXPECT_EQ(read(counting(2)->concat(counting(3))), (std::vector<int64_t>{0, 1, 0, 1, 2}));
  EXPECT_EQ(read(counting(4)->take()), iota(4));
  auto z = Dataset::zip({counting(5)->rename({"x"}, {"a"}), counting(3)->rename({"x"}, {"b"})});
  EXPECT_EQ(z->get_dataset_size(), 3);
  EXPECT_EQ(z->get_col_names(), (std::vector<std::string>{"a", "b"}));
  auto p = z->project({"b", "a"})->batch(2);
  EXPECT_EQ(p->get_col_names(), (std::vector<std::string>{"b", "a"}));
  EXPECT_EQ(read(p), iota(3));
}

TEST(Pipeline, BatchesOfConcatAndBatchesJoinedAfterwards) {
  EXPECT_EQ(read(counting(5)->concat(counting(4))->batch(3)), (std::vector<int64_t>{0, 1, 2, 3, 4, 0, 1, 2, 3}));
  auto joined = counting(5)->batch(3)->concat(counting(4)->batch(2));
  EXPECT_EQ(joined->get_dataset_size(), 4);
  auto it = joined->create_iterator({.num_epochs = 1});
  std::vector<Tensor> c;
  std::vector<int64_t> lengths;
  while (it->next(&c)) lengths.push_back(c[0].dim(0));
  EXPECT_EQ(lengths, (std::vector<int64_t>{3, 2, 2, 2}));
}

TEST(Pipeline, ShuffleBufferIsAReservoir) {
  EXPECT_EQ(read(counting(20)->shuffle(1)), iota(20));
  auto v = read(counting(200)->shuffle(10));
  for (size_t i = 0; i < v.size(); ++i) EXPECT_LE(v[i], static_cast<int64_t>(i) + 9) << "a row came before it could have been in the buffer";
  EXPECT_NE(v, iota(200));
  std::sort(v.begin(), v.end());
  EXPECT_EQ(v, iota(200));
}

TEST(Pipeline, MapBehindBatchAndFunctionsWithSeveralColumns) {
  auto plus = transforms::Function("plus_one", [](const std::vector<Tensor>& in) {
    std::vector<double> v = in[0].to_vector<double>();
    for (double& x : v) x += 1;
    return std::vector<Tensor>{Tensor::from_values(in[0].shape(), v, DType::kInt32)};
  });
  EXPECT_EQ(read(counting(4)->batch(2)->map({plus})), (std::vector<int64_t>{1, 2, 3, 4}));
  EXPECT_EQ(read(counting(4)->map({plus, plus})->batch(2)), (std::vector<int64_t>{2, 3, 4, 5}));
  auto two = transforms::Function(
      "twice",
      [](const std::vector<Tensor>& in) {
        return std::vector<Tensor>{in[0], in[0]};
      },
      2);
  auto d = counting(3)->map({two}, {.input_columns = {"x"}, .output_columns = {"a", "b"}})->batch(3);
  EXPECT_EQ(d->get_col_names(), (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(read(d), iota(3));
  EXPECT_THROW(counting(3)->map({two}, {.input_columns = {"x"}, .output_columns = {"a"}})->columns(), ValueError);
}

TEST(Pipeline, OneHotAndTypeCastBehindBatch) {
  auto d = counting(3)->batch(3)->map({transforms::OneHot(3)}, {.input_columns = {"x"}});
  EXPECT_EQ(read(d), (std::vector<int64_t>{1, 0, 0, 0, 1, 0, 0, 0, 1}));
  auto c = counting(3)->map({transforms::TypeCast(DType::kFloat32)})->batch(3);
  EXPECT_EQ(c->columns()[0].dtype, DType::kFloat32);
  EXPECT_EQ(c->columns()[0].shape, (Shape{3}));
}

TEST(Pipeline, TreeRuleAndArguments) {
  auto d = counting(4);
  auto b = d->batch(2);
  const ValueError e = caught<ValueError>([&] { d->repeat(2); });
  EXPECT_NE(e.message().find("not a tree"), std::string::npos);
  EXPECT_NE(e.message().find("batch(2)"), std::string::npos);
  EXPECT_NE(e.message().find("repeat"), std::string::npos);
  EXPECT_THROW(counting(4)->batch(0), ValueError);
  EXPECT_THROW(counting(4)->shuffle(0), ValueError);
  EXPECT_THROW(counting(4)->repeat(0), ValueError);
  EXPECT_THROW(counting(4)->skip(-1), ValueError);
  EXPECT_THROW(counting(4)->take(0), ValueError);
  EXPECT_THROW(counting(4)->map({}), ValueError);
  EXPECT_THROW(counting(4, false, 2), ValueError);
  EXPECT_THROW(counting(4, false, 2, 2), ValueError);
  EXPECT_THROW(NumpySlicesDataset::make({.columns = {{"x", Tensor::zeros({2})}}, .shuffle = true, .sampler = SequentialSampler()}), ValueError);
  EXPECT_THROW(NumpySlicesDataset::make({.columns = {{"x", Tensor::zeros({2})}, {"y", Tensor::zeros({3})}}}), ShapeError);
  const ValueError misspelt = caught<ValueError>([] { counting(4)->rename({"xx"}, {"y"})->columns(); });
  EXPECT_NE(misspelt.fix().find("x"), std::string::npos);
  EXPECT_THROW(counting(4)->create_iterator({.prefetch = 0}), ValueError);
  EXPECT_THROW(counting(4)->create_iterator({.num_epochs = 0}), ValueError);
  EXPECT_THROW(counting(4)->batch(4)->create_iterator({.memory_limit = 10}), DeviceError);
}

TEST(Shards, LengthsUnionAndRepeatsForAllSmallCases) {
  for (int64_t rows = 1; rows <= 40; ++rows) {
    for (int64_t n = 1; n <= 8; ++n) {
      const PassOrder whole({RandomSampler()}, rows, 9, 2);
      std::vector<int64_t> count(static_cast<size_t>(rows), 0);
      for (int64_t s = 0; s < n; ++s) {
        const OrderSpec spec{DistributedSampler(n, s)};
        const PassOrder o(spec, rows, 9, 2);
        ASSERT_EQ(o.size(), (rows + n - 1) / n);
        for (int64_t i = 0; i < o.size(); ++i) {
          ASSERT_EQ(o.position(i), (s + i * n) % rows);
          ASSERT_EQ(o.row_id(o.position(i)), whole.row_id(o.position(i))) << "all shards share one global order";
          ++count[static_cast<size_t>(o.position(i))];
        }
      }
      const int64_t twice = n * ((rows + n - 1) / n) - rows;
      EXPECT_EQ(std::accumulate(count.begin(), count.end(), int64_t{0}), rows + twice);
      EXPECT_EQ(order_padding({DistributedSampler(n, 0)}, rows), twice);
      for (int64_t p = 0; p < rows && twice < rows; ++p) EXPECT_EQ(count[static_cast<size_t>(p)], p < twice ? 2 : 1);
    }
  }
}

TEST(Shards, WithoutPaddingAndWithOffsetNothingRepeats) {
  for (int64_t rows = 1; rows <= 20; ++rows) {
    for (int64_t n = 1; n <= 5; ++n) {
      for (int64_t offset = -1; offset < n; ++offset) {
        std::multiset<int64_t> seen;
        for (int64_t s = 0; s < n; ++s) {
          const OrderSpec spec{DistributedSampler(n, s, false, {}, offset, false)};
          const PassOrder o(spec, rows, 0, 0);
          if (offset >= 0) { EXPECT_EQ(o.size(), (rows + offset) / n + (s < (rows + offset) % n ? 1 : 0) - (s < offset ? 1 : 0)); }
          for (int64_t i = 0; i < o.size(); ++i) seen.insert(o.row_id(o.position(i)));
        }
        const auto all = iota(rows);
        EXPECT_EQ(seen, (std::multiset<int64_t>(all.begin(), all.end()))) << rows << " rows, " << n << " shards, offset " << offset;
      }
    }
  }
}

TEST(Shards, EmptyShardEndsItsEpoch) {
  auto d = NumpySlicesDataset::make({.columns = {{"x", Tensor::zeros({2})}}, .sampler = DistributedSampler(4, 3, false, {}, -1, false)})->batch(2);
  EXPECT_EQ(d->get_dataset_size(), 0);
  auto it = d->create_iterator({.num_epochs = 2});
  std::vector<Tensor> c;
  EXPECT_FALSE(it->next(&c));
  EXPECT_TRUE(it->next_epoch());
  EXPECT_FALSE(it->next(&c));
}

TEST(Samplers, SubsetRandomReplacementAndStart) {
  auto with = [](Sampler s) {
    std::vector<int32_t> v = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9};
    return read(NumpySlicesDataset::make({.columns = {{"x", Tensor::from_vector({10}, v)}}, .sampler = s}));
  };
  EXPECT_EQ(with(SequentialSampler(7)), (std::vector<int64_t>{7, 8, 9}));
  EXPECT_EQ(with(SequentialSampler(2, 3)), (std::vector<int64_t>{2, 3, 4}));
  EXPECT_EQ(with(SubsetSampler({5, 1, 5})), (std::vector<int64_t>{5, 1, 5}));
  auto mixed = with(SubsetRandomSampler({4, 8, 2}));
  std::sort(mixed.begin(), mixed.end());
  EXPECT_EQ(mixed, (std::vector<int64_t>{2, 4, 8}));
  EXPECT_EQ(with(RandomSampler(true, 25)).size(), 25u);
  EXPECT_EQ(with(RandomSampler(false, 4)).size(), 4u);
  EXPECT_THROW(with(SubsetSampler({10})), ValueError);
}

TEST(Order, PermutationsAreUniform) {
  // χ² of the positions of element 0 in permutations of 8: 7 degrees of freedom, 99.9 % below 24.3.
  std::vector<double> at(8, 0);
  const int passes = 8000;
  for (int p = 0; p < passes; ++p) {
    const auto v = permutation(8, 1, static_cast<uint64_t>(p));
    ++at[static_cast<size_t>(std::find(v.begin(), v.end(), 0) - v.begin())];
  }
  double chi2 = 0;
  for (double n : at) chi2 += (n - passes / 8.0) * (n - passes / 8.0) / (passes / 8.0);
  EXPECT_LT(chi2, 24.3);
}

TEST(Generator, RandomAccessSequentialAndErrors) {
  auto row = [](int64_t i) { return GeneratorDataset::Row{Tensor::scalar(static_cast<double>(i * i), DType::kInt64)}; };
  auto d = GeneratorDataset::make({.row = row, .size = 5, .column_names = {"sq"}, .shuffle = false})->batch(2);
  EXPECT_EQ(read(d), (std::vector<int64_t>{0, 1, 4, 9, 16}));
  int passes = 0;
  auto rows = [&passes]() {
    ++passes;
    auto i = std::make_shared<int>(0);
    return [i](GeneratorDataset::Row* r) {
      if (*i == 7) return false;
      *r = {Tensor::scalar((*i)++, DType::kInt32)};
      return true;
    };
  };
  auto s = GeneratorDataset::make({.rows = rows, .column_names = {"n"}})->shuffle(3)->batch(3);
  EXPECT_EQ(s->get_dataset_size(), 3);
  EXPECT_EQ(passes, 1);
  auto it = s->create_iterator({.num_epochs = 2, .seed = 1, .num_workers = 3});
  auto first = epoch_values(*it);
  ASSERT_TRUE(it->next_epoch());
  auto second = epoch_values(*it);
  EXPECT_NE(first, second);
  std::sort(first.begin(), first.end());
  EXPECT_EQ(first, iota(7));
  EXPECT_THROW(GeneratorDataset::make({.rows = rows, .column_names = {"n"}, .shuffle = true}), ValueError);
  EXPECT_THROW(GeneratorDataset::make({.row = row, .column_names = {"n"}}), ValueError);
  auto wrong = GeneratorDataset::make({.rows = rows, .size = 9, .column_names = {"n"}})->batch(9);
  const DataError e = caught<DataError>([&] { read(wrong); });
  EXPECT_NE(e.message().find("after 7 rows, expected 9"), std::string::npos) << e.what();
}

}  // namespace
}  // namespace sindri::dataset
