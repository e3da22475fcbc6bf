// Metrics against counts computed by hand.
#include "sindri/nn/metric.h"
#include "sindri/nn/loss.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "sindri/core/error.h"
#include "sindri/nn/registry.h"

namespace sindri::nn::metric_test {
namespace {

using ::testing::ElementsAre;

Tensor scores(const std::vector<double>& v, int64_t classes) { return Tensor::from_values({static_cast<int64_t>(v.size()) / classes, classes}, v); }
Tensor ints(const std::vector<int32_t>& v) { return Tensor::from_vector({static_cast<int64_t>(v.size())}, v); }

// Predictions 1, 0, 2, 2 for labels 1, 0, 1, 2.
const Tensor kScores = scores({0.1, 0.8, 0.1, 0.9, 0.05, 0.05, 0.1, 0.2, 0.7, 0, 0, 1}, 3);
const Tensor kLabels = ints({1, 0, 1, 2});

TEST(Metric, AccuracyOverBatches) {
  Accuracy m;
  EXPECT_THROW(m.eval(), ValueError);
  m.update({kScores, kLabels});
  EXPECT_DOUBLE_EQ(m.value(), 0.75);
  m.update({scores({0.2, 0.8, 0}, 3), ints({0})});
  EXPECT_DOUBLE_EQ(m.value(), 0.6);
  m.clear();
  EXPECT_THROW(m.eval(), ValueError);
  m.update({kScores, scores({0, 1, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1}, 3)});  // one-hot
  EXPECT_DOUBLE_EQ(m.value(), 0.75);
}

TEST(Metric, AccuracyTakesTheFirstOfEqualScoresAndMultilabelRows) {
  Accuracy tie;
  tie.update({scores({1, 1, 0, 1}, 2), ints({0, 0})});
  EXPECT_DOUBLE_EQ(tie.value(), 0.5);
  Accuracy rows("multilabel");
  rows.update({scores({1, 0, 1, 1}, 2), scores({1, 0, 0, 1}, 2)});
  EXPECT_DOUBLE_EQ(rows.value(), 0.5);
  EXPECT_THROW(rows.update({scores({0.5, 0}, 2), scores({1, 0}, 2)}), ValueError);
  EXPECT_THROW(tie.update({scores({1, 0, 0, 1}, 2), scores({1, 1, 0, 1}, 2)}), ShapeError) << "neither class numbers nor one-hot";
  EXPECT_THROW(tie.update({scores({1, 0, 0}, 3), ints({0})}), ShapeError) << "different number of classes";
}

TEST(Metric, PrecisionRecallFbeta) {
  Precision p;
  Recall r;
  Fbeta f1, f2(2);
  for (Metric* m : std::vector<Metric*>{&p, &r, &f1, &f2}) m->update({kScores, kLabels});
  EXPECT_THAT(p.eval(), ElementsAre(1, 1, 0.5));
  EXPECT_THAT(r.eval(), ElementsAre(1, 0.5, 1));
  EXPECT_DOUBLE_EQ(f1.eval()[1], 2 * 1 * 0.5 / 1.5);
  EXPECT_DOUBLE_EQ(f2.eval()[1], 5 * 1 * 0.5 / (4 * 1 + 0.5));
  EXPECT_DOUBLE_EQ(p.value(), 2.5 / 3);
  Precision none;
  none.update({scores({1, 0}, 2), ints({0})});
  EXPECT_THAT(none.eval(), ElementsAre(1, 0)) << "a class never predicted gives 0";
}

TEST(Metric, TopK) {
  TopKCategoricalAccuracy top1(1), top2(2);
  for (Metric* m : std::vector<Metric*>{&top1, &top2}) m->update({kScores, kLabels});
  EXPECT_DOUBLE_EQ(top1.value(), 0.75);
  EXPECT_DOUBLE_EQ(top2.value(), 1);
  TopKCategoricalAccuracy tie(2);
  tie.update({scores({1, 1, 1}, 3), ints({2})});
  EXPECT_DOUBLE_EQ(tie.value(), 0) << "of equal scores the lower classes come first";
  EXPECT_THROW(TopKCategoricalAccuracy(5).update({kScores, kLabels}), ValueError);
  EXPECT_THROW(TopKCategoricalAccuracy(0), ValueError);
}

TEST(Metric, ConfusionMatrix) {
  ConfusionMatrix m;
  m.update({kScores, kLabels});
  EXPECT_EQ(m.count(1, 2), 1);
  EXPECT_EQ(m.count(2, 2), 1);
  EXPECT_DOUBLE_EQ(m.value(), 0.75);
  EXPECT_THAT(m.eval(), ElementsAre(1, 0, 0, 0, 1, 1, 0, 0, 1));
  ConfusionMatrix by_target(3, "target");
  by_target.update({kScores, kLabels});
  EXPECT_THAT(by_target.eval(), ElementsAre(1, 0, 0, 0, 0.5, 0.5, 0, 0, 1));
  ConfusionMatrix wider(4);
  wider.update({kScores, kLabels});
  EXPECT_EQ(wider.eval().size(), 16u) << "classes without a score are empty";
  EXPECT_THROW(ConfusionMatrix(2).update({kScores, kLabels}), ShapeError);
  ConfusionMatrix binary(2);
  binary.update({Tensor::from_values({4}, {0.2, 0.7, 0.5, 0.4}), ints({0, 1, 0, 1})});
  EXPECT_THAT(binary.eval(), ElementsAre(1, 1, 1, 1)) << "scores from the threshold on are class 1";
  EXPECT_THROW(ConfusionMatrix().update({Tensor::zeros({2}), ints({0, 1})}), ValueError);
  EXPECT_THROW(ConfusionMatrix(3, "rows"), ValueError);
  EXPECT_THROW(m.count(3, 0), ValueError);
}

TEST(Metric, LossErrorsAndPerplexity) {
  Loss loss;
  loss.update({Tensor::scalar(2)});
  loss.update({Tensor::from_values({1}, {4})});
  EXPECT_DOUBLE_EQ(loss.value(), 3);
  EXPECT_TRUE(loss.uses_loss());
  loss.update({Tensor::from_values({2}, {2, 4})});
  EXPECT_DOUBLE_EQ(loss.value(), 3) << "a vector counts as its mean";
  EXPECT_THROW(loss.update({Tensor::zeros({2, 1})}), ShapeError);
  MAE mae;
  MSE mse;
  for (Metric* m : std::vector<Metric*>{&mae, &mse}) m->update({scores({1, 2, 3, 4}, 2), scores({1, 4, 2, 4}, 2)});
  EXPECT_DOUBLE_EQ(mae.value(), 3 / 2.0) << "per sample, not per element";
  EXPECT_DOUBLE_EQ(mse.value(), 5 / 2.0);
  Perplexity ppl;
  ppl.update({scores({0.25, 0.75, 0.5, 0.5}, 2), ints({0, 1})});
  EXPECT_NEAR(ppl.value(), std::exp(-(std::log(0.25) + std::log(0.5)) / 2), 1e-7);
}

// The mean over all samples, in batches of any size and over ranks; sums accumulate.
TEST(Metric, LossByWeightAndInTotal) {
  Loss first, second, total;
  first.add_weighted(Tensor::scalar(2), 3);
  first.add_weighted(Tensor::scalar(std::numeric_limits<double>::quiet_NaN()), 0);  // every label is ignored: 0/0
  second.add_weighted(Tensor::scalar(6), 1);
  EXPECT_DOUBLE_EQ(first.value(), 2);
  first.add_saved(second.saved());
  EXPECT_DOUBLE_EQ(first.value(), 3);
  total.add_total(Tensor::scalar(2));
  Loss other;
  other.add_total(Tensor::scalar(5));
  total.add_saved(other.saved());
  EXPECT_DOUBLE_EQ(total.value(), 7);
  Loss none;
  none.add_weighted(Tensor::scalar(1), 0);
  EXPECT_TRUE(std::isnan(none.value())) << "no label counts";
  const Tensor labels = ints({1, -100, 2, 1});
  EXPECT_DOUBLE_EQ(label_weight(labels, {}, -100), 3);
  EXPECT_DOUBLE_EQ(label_weight(labels, Tensor::from_values({3}, {1, 2, 4}), -100), 8);
}

TEST(Metric, NanIsNotRight) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  TopKCategoricalAccuracy top(1);
  top.update({scores({nan, 1, 2}, 3), ints({0})});
  EXPECT_DOUBLE_EQ(top.value(), 0);
  TopKCategoricalAccuracy all(3);
  all.update({scores({nan, 1, 2}, 3), ints({0})});
  EXPECT_DOUBLE_EQ(all.value(), 1) << "it ranks last, and the last of k is among the top k";
}

TEST(Metric, RocAucOverBatches) {
  const MetricPtr m = make_metric("roc_auc");
  EXPECT_THROW(m->value(), ValueError);
  m->update({scores({0.1, 0.9, 0.8, 0.2}, 2), ints({1, 0})});
  EXPECT_DOUBLE_EQ(m->value(), 1);
  m->update({scores({0.3, 0.7, 0.6, 0.4}, 2), ints({0, 1})});  // class 1: 0.9 and 0.4 against 0.2 and 0.7, 3 of 4 pairs in order
  EXPECT_DOUBLE_EQ(m->value(), 0.75);
  const MetricPtr other = make_metric("roc_auc");
  other->restore(m->saved());
  EXPECT_DOUBLE_EQ(other->value(), 0.75);
  EXPECT_THROW(m->update({kScores, kLabels}), ShapeError) << "different number of classes";
  m->clear();
  m->update({kScores, ints({1, 0, 0, 2})});
  EXPECT_DOUBLE_EQ(m->value(), (3.5 / 4 + 1 + 1) / 3) << "of equal scores, half count as right";
  m->clear();
  m->update({kScores, ints({1, 1, 1, 1})});
  EXPECT_THROW(m->value(), ValueError) << "no class with samples of both kinds";
}

// Ranks' counts over their parts of the data are merged like this; a part may be empty.
TEST(Metric, CountsOfPartsAddUpToThoseOfAll) {
  const std::vector<std::pair<Tensor, Tensor>> batches = {{scores({0.1, 0.7, 0.2, 0.5, 0.3, 0.2}, 3), ints({1, 2})},
                                                          {scores({0.2, 0.2, 0.6, 0.9, 0.05, 0.05}, 3), ints({2, 1})},
                                                          {scores({0.1, 0.8, 0.1}, 3), ints({1})}};
  for (const char* name : {"accuracy", "precision", "recall", "F1", "top_1_accuracy", "confusion_matrix", "loss", "perplexity"}) {
    const auto update = [&](Metric& m, size_t i) {
      if (m.uses_loss()) m.update({Tensor::scalar(0.25 + static_cast<double>(i))});
      else m.update({batches[i].first, batches[i].second});
    };
    const MetricPtr all = make_metric(name), sum = make_metric(name), nothing = make_metric(name);
    ASSERT_TRUE(all->adds_up()) << name;
    for (size_t i = 0; i < batches.size(); ++i) update(*all, i);
    sum->add_saved(nothing->saved());
    EXPECT_TRUE(sum->empty()) << name;
    for (const std::vector<size_t>& part : {std::vector<size_t>{1}, {}, {2, 0}}) {
      const MetricPtr m = make_metric(name);
      for (const size_t i : part) update(*m, i);
      sum->add_saved(m->saved());
    }
    const std::vector<double> counts = sum->saved(), expected = all->saved(), values = sum->eval(), expected_values = all->eval();
    ASSERT_EQ(counts.size(), expected.size()) << name;
    for (size_t i = 0; i < counts.size(); ++i) EXPECT_DOUBLE_EQ(counts[i], expected[i]) << name << ", count " << i;
    ASSERT_EQ(values.size(), expected_values.size()) << name;
    for (size_t i = 0; i < values.size(); ++i) EXPECT_DOUBLE_EQ(values[i], expected_values[i]) << name << ", value " << i;
  }
  const MetricPtr area = make_metric("roc_auc");
  EXPECT_FALSE(area->adds_up()) << "it keeps every sample";
  EXPECT_THROW(area->add_saved(area->saved()), ValueError);
  EXPECT_FALSE(Precision("multilabel").adds_up()) << "it counts sample by sample";
  Accuracy two, three;
  two.update({scores({1, 0}, 2), ints({0})});
  three.update({scores({1, 0, 0}, 3), ints({0})});
  EXPECT_THROW(two.add_saved(three.saved()), ValueError) << "different number of classes";
}

TEST(Metric, AreaUnderPoints) {
  EXPECT_DOUBLE_EQ(auc({0, 1, 3}, {0, 2, 2}), 5);
  EXPECT_DOUBLE_EQ(auc({3, 1, 0}, {2, 2, 0}), 5);
  EXPECT_DOUBLE_EQ(auc({1, 0, 3}, {2, 0, 2}, true), 5);
  EXPECT_THROW(auc({1, 0, 3}, {2, 0, 2}), ValueError);
  EXPECT_THROW(auc({1}, {2}), ValueError);
  EXPECT_THROW(auc({1, 2}, {2}), ValueError);
}

TEST(Metric, MasksThatAreNotThere) {
  const MetricPtr far = metrics().make("hausdorff_distance", {{"percentile", 62.5}});
  far->update({ints({0, 1, 1}), ints({0, 0, 0}), Tensor::scalar(1)});
  EXPECT_TRUE(std::isinf(far->value()));
  EXPECT_THROW(far->update({ints({0, 1}), ints({0, 0}), Tensor::scalar(7)}), ValueError);
  const Tensor nowhere = Tensor::full({3}, 0, DType::kBool);
  far->update({nowhere, nowhere, Tensor::scalar(0)});  // a bool mask is used as it is
  EXPECT_TRUE(std::isinf(far->value()));
}

TEST(Metric, RatesThatDoNotBecomeOne) {
  const MetricPtr m = metrics().make("confusion_matrix_metric", {{"calculation_method", true}, {"decrease", std::string("mean_batch")}});
  const Tensor masks = Tensor::from_values({1, 2, 2}, {0, 1, 1, 0}, DType::kInt32);
  EXPECT_THROW(m->update({masks, masks}), ValueError);
  EXPECT_THROW(metrics().make("confusion_matrix_metric", {{"metric_name", std::string("sense")}}), ValueError);
}

TEST(Metric, Bleu) {
  const BleuScore::Words cat = {"the", "cat", "sat", "on", "the", "mat"};
  BleuScore m(2);
  EXPECT_THROW(m.eval(), ValueError);
  m.update({{"the", "the", "cat"}}, {{cat, {"the", "mat"}}});  // "the" twice in a reference; "the the" never: 3 of 3, 1 of 2; a reference of 2 words is nearest
  EXPECT_DOUBLE_EQ(m.eval(), std::sqrt(1.0 * 0.5));
  m.clear();
  m.update({{"the", "cat"}}, {{cat}});
  EXPECT_DOUBLE_EQ(m.eval(), std::exp(1 - 6.0 / 2));
  EXPECT_THROW(m.update({cat}, {}), ValueError);
  EXPECT_THROW(m.update({cat}, {{}}), ValueError);
  EXPECT_THROW(BleuScore(5), ValueError);
}

TEST(Metric, RegistryAndErrors) {
  for (const std::string& name : metric_names()) EXPECT_NE(make_metric(name), nullptr) << name;
  try {
    make_metric("acuracy");
    FAIL();
  } catch (const ValueError& e) { EXPECT_NE(e.fix().find("'accuracy'"), std::string::npos) << e.what(); }
  Accuracy m;
  EXPECT_THROW(m.update({kScores}), ValueError);
  EXPECT_THROW(m.update({kScores, ints({1, 2})}), ShapeError);
  EXPECT_THROW(Accuracy("regression"), ValueError);
  try {
    m.update({kScores, ints({1, 0, 3, 2})});
    FAIL();
  } catch (const DataError& e) {
    EXPECT_EQ(e.code(), ErrorCode::kLabelRange);
    EXPECT_NE(e.message().find("label 3 of sample 2"), std::string::npos) << e.what();
  }
  m.clear();
  m.allow_other_labels().update({kScores, ints({1, 0, 3, 2})});
  EXPECT_DOUBLE_EQ(m.value(), 0.75);
  m.clear();
  m.set_indexes({1, 0});
  m.update({kLabels, kScores});
  EXPECT_DOUBLE_EQ(m.value(), 0.75);
}

}  // namespace
}  // namespace sindri::nn::metric_test
