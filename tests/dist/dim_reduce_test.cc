// Dimension reduction on several ranks: the ranks' parts of a batch act as one batch, wherever the components are stored.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "sindri/boost/dim_reduce.h"
#include "sindri/core/error.h"
#include "sindri/core/rng.h"
#include "sindri/ops/random.h"
#include "sindri/train/checkpoint.h"
#include "tests/dist/training.h"
#include "tests/train/temp_folder.h"

namespace sindri::dist_test {
namespace {

void write_snapshots(const std::string& folder, bool whole, int count) {
  ops::reset_rng(5);
  const nn::CellPtr net = net_with_loss(whole, whole);
  for (int i = 0; i < count; ++i) {
    std::vector<train::CheckpointEntry> entries;
    for (Parameter* p : net->trainable_params()) entries.push_back(train::CheckpointEntry::of(p->name(), ops::random_normal(p->shape())));
    train::save_checkpoint(entries, folder + "/s-" + std::to_string(i + 1) + "_1.ckpt");
  }
}

TEST(DimReduceOnRanks, AreOneRankWithTheWholeBatch) {
  const TempFolder temp;
  write_snapshots(temp.path(), false, 8);
  for (const char* method : {"bfgs", "sgd"}) {
    for (const Mode mode : {Mode::kGraph, Mode::kPynative}) {
      Job s;
      s.steps = 5, s.norm = false, s.dropout = false, s.mode = mode, s.virtual_ranks = 4;
      s.boosts = {{"dim_reduce", {{"weight_load_dir", temp.path()}, {"n_components", int64_t{5}}, {"method", std::string(method)}, {"rate", 0.05}}}};
      const Outcome one = train_all(s)[0];
      for (const int ranks : {2, 4}) {
        for (const char* place : {"replicate", "shard"}) {
          s.ranks = ranks;
          s.boosts[0].second["place"] = std::string(place);
          const std::vector<Outcome> all = train_all(s);
          for (const Outcome& o : all) {
            EXPECT_EQ(o.weights, all[0].weights) << method << ranks << place;
            for (size_t i = 0; i < one.weights.size(); ++i)
              ASSERT_NEAR(o.weights[i], one.weights[i], 2e-3 * (1 + std::abs(one.weights[i]))) << method << ranks << place << i;
          }
        }
      }
    }
  }
}

// The sum of the ranks' gradients is not the gradient of the searched loss: the steps are those of the mean.
TEST(DimReduceOnRanks, SumsOfGradientsAreSearchedAsMeans) {
  const TempFolder temp;
  write_snapshots(temp.path(), false, 8);
  Job s;
  s.ranks = 2, s.virtual_ranks = 4, s.steps = 4, s.norm = false, s.dropout = false;
  s.boosts = {{"dim_reduce", {{"weight_load_dir", temp.path()}, {"n_components", int64_t{5}}}}};
  const Outcome mean = train_all(s)[0];
  s.parallel.gradients_mean = false;
  const Outcome sum = train_all(s)[0];
  for (size_t i = 0; i < mean.weights.size(); ++i) ASSERT_NEAR(sum.weights[i], mean.weights[i], 1e-4 * (1 + std::abs(mean.weights[i]))) << i;
}

TEST(DimReduceOnRanks, FewComponentsOnManyRanks) {
  const TempFolder temp;
  write_snapshots(temp.path(), true, 6);
  Job s;
  s.ranks = 8, s.steps = 3;
  s.boosts = {{"dim_reduce", {{"weight_load_dir", temp.path()}, {"n_components", int64_t{4}}, {"place", std::string("shard")}}}};
  const std::vector<Outcome> all = train_all(s);
  for (const Outcome& o : all) EXPECT_EQ(o.weights, all[0].weights);
  for (const float loss : all[0].losses) EXPECT_TRUE(std::isfinite(loss));
}

// An error that rank 0 detects is every rank's error.
TEST(DimReduceOnRanks, ErrorsOfTheFirstReachAll) {
  const TempFolder temp;
  write_snapshots(temp.path(), false, 3);
  Job s;
  s.ranks = 2, s.steps = 1, s.norm = false;
  s.boosts = {{"dim_reduce", {{"weight_load_dir", temp.path()}, {"n_components", int64_t{5}}}}};
  try {
    train_all(s);
    ADD_FAILURE();
  } catch (const Error& e) {  // rank 0's own error, or the one that it sent to another rank
    EXPECT_THAT(e.what(), testing::HasSubstr("3 snapshots are fewer than 5 components"));
  }
}

}  // namespace
}  // namespace sindri::dist_test
