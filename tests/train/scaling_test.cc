// The scaling model against the table of published figures it was made for, and against sums computed by hand.
#include <gtest/gtest.h>

#include "sindri/core/error.h"
#include "sindri/models/models.h"
#include "sindri/train/data_parallel.h"
#include "sindri/train/scaling.h"

namespace sindri::train::scaling_test {
namespace {

// Bytes of the buckets of 25 MB for gradients of these sizes.
std::vector<double> buckets_of(const std::vector<int64_t>& numbers, DType dtype) {
  std::vector<TensorMeta> metas;
  for (const int64_t n : numbers) metas.push_back({Shape{n}, dtype, Layout::kContiguous, Device{}});
  DataParallelOptions o;
  o.bucket_mb = 25e6 / (1 << 20);
  std::vector<double> out;
  for (const GradientBucket& b : gradient_buckets(metas, o, comm::world())) out.push_back(static_cast<double>(b.bytes));
  return out;
}

std::vector<int64_t> resnet50_sizes(int64_t classes) {
  std::vector<int64_t> sizes;
  const nn::CellPtr net = models::create("resnet50", {.num_classes = classes});
  for (const Parameter* p : net->trainable_params()) sizes.push_back(p->shape().numel());
  return sizes;
}

struct Row {
  double batch, gbit;
  std::vector<double> percent;  // at 16, 64, 256, 1024, 4096 ranks
};

TEST(Scaling, ResNet50RowsAreWithinOnePoint) {
  const std::vector<Row> rows = {{256, 25, {93, 89, 82, 81, 81}}, {256, 100, {96, 94, 94, 93, 93}}, {32, 100, {77, 51, 47, 46, 46}}};
  const std::vector<int> ranks = {16, 64, 256, 1024, 4096};
  for (const int64_t classes : {1001, 1000}) {
    const std::vector<int64_t> sizes = resnet50_sizes(classes);
    ASSERT_EQ(sizes.size(), 161u);
    const std::vector<double> buckets = buckets_of(sizes, DType::kFloat32);
    EXPECT_EQ(buckets.size(), 6u);
    for (const Row& row : rows) {
      StepModel step = StepModel::of_rate(row.batch, 2470);
      step.completion = resnet50_completion();
      ClusterModel cluster;
      cluster.rate_between = 0.8 * row.gbit * 1e9 / 8;
      for (size_t i = 0; i < ranks.size(); ++i)
        EXPECT_NEAR(100 * predict_step(buckets, ranks[i], step, cluster).efficiency, row.percent[i], 1.0)
            << "batch " << row.batch << ", " << row.gbit << " Gbit/s, " << ranks[i] << " ranks";
    }
  }
}

// BERT-large: 336 million bf16 gradients, 24 layers between the embeddings, which come last, and the heads. From 64 ranks on 25 Gbit/s the network dominates,
// so the order of gradients, which the table does not state, does not matter.
TEST(Scaling, BertLargeOnASlowNetworkIsWithinOnePoint) {
  constexpr int64_t h = 1024;
  std::vector<int64_t> numbers = {30522 * h, 512 * h, 2 * h, h, h};
  for (int layer = 0; layer < 24; ++layer) {
    for (int i = 0; i < 4; ++i) numbers.insert(numbers.end(), {h * h, h});
    numbers.insert(numbers.end(), {h, h, 4 * h * h, 4 * h, 4 * h * h, h, h, h});
  }
  numbers.insert(numbers.end(), {h * h, h, h * h, h, h, h, 30522, 2 * h, 2});
  const std::vector<double> buckets = buckets_of(numbers, DType::kBFloat16);
  const std::vector<int> ranks = {64, 256, 1024, 4096};
  const std::vector<double> percent = {67, 61, 60, 60};
  for (size_t i = 0; i < ranks.size(); ++i)
    EXPECT_NEAR(100 * predict_step(buckets, ranks[i], StepModel::of_rate(256, 580), {}).efficiency, percent[i], 1.0) << ranks[i];
}

TEST(Scaling, OneReductionByHand) {
  const ClusterModel c = {.ranks_per_host = 4, .latency_inside = 1e-6, .rate_inside = 1e10, .latency_between = 1e-4, .rate_between = 1e9};
  EXPECT_EQ(all_reduce_seconds(1e8, 1, c), 0);
  EXPECT_DOUBLE_EQ(all_reduce_seconds(1e8, 4, c), 6e-6 + 1.5 * 1e-2);
  EXPECT_DOUBLE_EQ(all_reduce_seconds(1e8, 8, c), 6e-6 + 1.5 * 1e-2 + 2e-4 + 0.1);  // two hosts: the ring
  EXPECT_DOUBLE_EQ(all_reduce_seconds(1e3, 64, c), 6e-6 + 1.5e-7 + 8e-4 + 2e-6);  // sixteen: the tree, which has fewer messages
}

TEST(Scaling, AStepByHand) {
  // Forward 10 ms, backward 20 ms, two buckets of 10 MB over two hosts of one rank: 10 ms and a message each way.
  const ClusterModel c = {.ranks_per_host = 1, .latency_between = 0, .rate_between = 1e9};
  const StepModel step = {.forward = 0.01, .backward = 0.02, .overhead = 0, .jitter = 0};
  const std::vector<double> buckets = {1e7, 1e7};
  const StepPrediction p = predict_step(buckets, 2, step, c);
  EXPECT_DOUBLE_EQ(p.alone, 0.03);
  EXPECT_DOUBLE_EQ(p.buckets[0].start, 0.02);
  EXPECT_DOUBLE_EQ(p.buckets[0].end, 0.03);
  EXPECT_DOUBLE_EQ(p.buckets[0].hidden, 1);
  EXPECT_DOUBLE_EQ(p.buckets[1].hidden, 0);
  EXPECT_DOUBLE_EQ(p.seconds, 0.04);
  EXPECT_DOUBLE_EQ(p.hidden, 0.5);
  EXPECT_DOUBLE_EQ(predict_step(buckets, 1, step, c).efficiency, 1);
  EXPECT_THROW(predict_step(buckets, 0, step, c), ValueError);
  EXPECT_THROW(predict_step(buckets, 2, step, {.rate_between = 0}), ValueError);
  EXPECT_THROW(predict_step(buckets, 2, {}, c), ValueError);
}

}  // namespace
}  // namespace sindri::train::scaling_test
