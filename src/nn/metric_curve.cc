// The receiver operating characteristic and areas under curves (MindSpore: train.ROC, train.auc).
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>

#include "sindri/core/error.h"
#include "sindri/nn/registry.h"
#include "src/nn/metric_checks.h"

namespace sindri::nn {

double auc(std::vector<double> x, std::vector<double> y, bool reorder) {
  if (x.size() != y.size()) throw ValueError(fmt::format("auc: x and y must have equal lengths, got {} and {}", x.size(), y.size()));
  if (x.size() < 2) throw ValueError(fmt::format("auc: at least 2 points are needed, got {}", x.size()));
  if (reorder) {
    std::vector<std::pair<double, double>> points(x.size());
    for (size_t i = 0; i < x.size(); ++i) points[i] = {x[i], y[i]};
    std::sort(points.begin(), points.end());
    for (size_t i = 0; i < x.size(); ++i) std::tie(x[i], y[i]) = points[i];
  }
  double area = 0;
  bool rises = false, falls = false;
  for (size_t i = 1; i < x.size(); ++i) {
    const double step = x[i] - x[i - 1];
    rises |= step > 0, falls |= step < 0;
    area += (y[i] + y[i - 1]) * step / 2;
  }
  if (rises && falls) throw ValueError("auc: x must rise or fall throughout", "", "set reorder to sort it");
  return falls ? -area : area;
}

namespace {

constexpr int64_t kOneIsPositive = std::numeric_limits<int64_t>::min();

struct Curve {
  std::vector<double> fpr, tpr, thresholds;
};

class Roc final : public Metric {
 public:
  Roc(int64_t class_num, int64_t positive) : class_num_(class_num), positive_(positive) {}
  void clear() override { classes_ = 0, scores_.clear(), truth_.clear(); }
  bool empty() const override { return classes_ == 0; }
  /// Returns the false positive rates of all curves, then the true positive rates, then the thresholds.
  std::vector<double> eval() const override {
    std::vector<Curve> all;
    for (int64_t c = 0; c < curves(); ++c) all.push_back(curve(c));
    std::vector<double> out;
    for (std::vector<double> Curve::*part : {&Curve::fpr, &Curve::tpr, &Curve::thresholds})
      for (const Curve& one : all) out.insert(out.end(), (one.*part).begin(), (one.*part).end());
    return out;
  }
  /// Returns the mean area under the curves of those classes that have some but not all of the samples.
  double value() const override {
    double sum = 0;
    int64_t taken = 0;
    for (int64_t c = 0; c < curves(); ++c) {
      if (!has_curve(c)) continue;
      const Curve one = curve(c);
      sum += auc(one.fpr, one.tpr);
      ++taken;
    }
    if (taken == 0) throw ValueError("ROC: no class has both positive and negative samples");
    return sum / static_cast<double>(taken);
  }
  /// Returns the points of each class's curve, by name; classes without a curve are omitted.
  std::map<std::string, std::vector<double>> counts() const override {
    std::map<std::string, std::vector<double>> out;
    for (int64_t c = 0; c < classes_; ++c) {
      if (!has_curve(c)) continue;
      Curve one = curve(c);
      out[fmt::format("fpr_{}", c)] = std::move(one.fpr);
      out[fmt::format("tpr_{}", c)] = std::move(one.tpr);
      out[fmt::format("thresholds_{}", c)] = std::move(one.thresholds);
    }
    return out;
  }

 protected:
  void add(const std::vector<Tensor>& in) override {
    check_inputs("ROC", in, 2);
    const Tensor &scores = in[0], &truth = in[1];
    const bool several = scores.rank() == truth.rank() + 1 && scores.rank() >= 2;
    if (!several && scores.rank() != truth.rank())
      throw ShapeError(fmt::format("ROC: scores may have the labels' dimensions or one more, got {} and {}", scores.meta().str(), truth.meta().str()));
    const int64_t classes = several ? scores.dim(1) : 1, inner = several ? scores.numel() / std::max<int64_t>(1, scores.dim(0) * classes) : 1;
    if (truth.numel() * classes != scores.numel() || truth.numel() == 0)
      throw ShapeError(fmt::format("ROC: scores {} and labels {} have incompatible shapes", scores.meta().str(), truth.meta().str()));
    if (several && positive_ != kOneIsPositive) throw ValueError("ROC: pos_label does not apply to scores of several classes", "", "omit it");
    if (class_num_ != 0 && class_num_ != classes)
      throw ValueError(fmt::format("ROC: class_num must be {}, the number of classes of the scores, got {}", classes, class_num_));
    if (classes_ != 0 && classes_ != classes)
      throw ShapeError(fmt::format("ROC: the scores have {} classes, those of earlier batches had {}", classes, classes_));
    classes_ = classes;
    const std::vector<double> values = scores.to_vector<double>();
    for (int64_t i = 0; i < truth.numel(); ++i)  // [N, C, inner] by sample and position
      for (int64_t c = 0; c < classes; ++c) scores_.push_back(values[static_cast<size_t>((i / inner * classes + c) * inner + i % inner)]);
    const std::vector<double> labels = truth.to_vector<double>();
    truth_.insert(truth_.end(), labels.begin(), labels.end());
  }
  void archive(CountArchive& counts) override { counts(classes_)(scores_)(truth_); }

 private:
  int64_t curves() const {
    check_counted("ROC", classes_ > 0);
    return classes_;
  }
  double label_of(int64_t c) const { return static_cast<double>(classes_ > 1 ? c : positive_ == kOneIsPositive ? 1 : positive_); }

  bool has_curve(int64_t c) const {
    const auto hits = std::count(truth_.begin(), truth_.end(), label_of(c));
    return hits > 0 && hits < static_cast<ptrdiff_t>(truth_.size());
  }

  // One point for each distinct score, from high to low, preceded by (0, 0) with a threshold above all of them.
  Curve curve(int64_t c) const {
    const auto score = [&](size_t i) { return scores_[i * static_cast<size_t>(classes_) + static_cast<size_t>(c)]; };
    std::vector<size_t> order(truth_.size());
    std::iota(order.begin(), order.end(), size_t{0});
    std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
      const double x = score(a), y = score(b);
      return std::isnan(y) ? !std::isnan(x) : x > y;
    });
    Curve out{{0}, {0}, {score(order[0]) + 1}};
    double hits = 0;
    for (size_t i = 0; i < order.size(); ++i) {
      hits += truth_[order[i]] == label_of(c);
      if (i + 1 < order.size() && score(order[i + 1]) == score(order[i])) continue;
      out.fpr.push_back(static_cast<double>(i + 1) - hits);
      out.tpr.push_back(hits);
      out.thresholds.push_back(score(order[i]));
    }
    const double negatives = out.fpr.back();
    if (negatives == 0) throw ValueError("ROC: no sample is negative, so there is no false positive rate", "", "give labels of both classes");
    if (hits == 0) throw ValueError("ROC: no sample is positive, so there is no true positive rate", "", "give labels of both classes");
    for (double& v : out.fpr) v /= negatives;
    for (double& v : out.tpr) v /= hits;
    return out;
  }

  int64_t class_num_, positive_;
  int64_t classes_ = 0;  // 1: scores of the positive class
  std::vector<double> scores_;  // [samples, classes]
  std::vector<double> truth_;  // [samples]; a value that is not a class is positive for none
};

const bool kCurveMetrics = [] {
  metrics().add(
      {.name = "roc_auc",
       .doc = "area under the receiver operating characteristic of each class against all others, averaged over classes; keeps the scores of all samples",
       .make = [](const SettingValues&) -> MetricPtr { return std::make_shared<Roc>(0, kOneIsPositive); }});
  metrics().add({.name = "roc",
                 .doc = "the receiver operating characteristic by class; as one number, roc_auc",
                 .settings = {{.name = "class_num", .type = SettingType::kInt, .fallback = "0", .doc = "classes of the scores; 0: any", .min = 0, .max = 1e9},
                              {.name = "pos_label",
                               .type = SettingType::kInt,
                               .fallback = "-9223372036854775808",
                               .doc = "the positive label of scores shaped like the labels; by default 1"}},
                 .code_only = true,
                 .make = [](const SettingValues& v) -> MetricPtr { return std::make_shared<Roc>(v.get_int("class_num"), v.get_int("pos_label")); }});
  return true;
}();

}  // namespace

}  // namespace sindri::nn
