// Metrics: exact counts on the host.
#include "sindri/nn/metric.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "sindri/core/error.h"
#include "sindri/core/nearest.h"
#include "sindri/nn/registry.h"
#include "src/nn/metric_checks.h"

namespace sindri::nn {

namespace {

// Returns the first largest index; a NaN counts as largest, as in NumPy.
int64_t argmax(const double* row, int64_t n) {
  int64_t best = 0;
  for (int64_t i = 0; i < n; ++i) {
    if (std::isnan(row[i])) return i;
    if (row[i] > row[best]) best = i;
  }
  return best;
}

// Predictions [N, C, d...] viewed as [N, C, inner]; a position is a sample or one of its inner elements.
struct Scores {
  Scores(const char* who, const Tensor& t) {
    if (t.rank() < 2 || t.dim(1) < 1) throw ShapeError(fmt::format("{}: predictions must be [N, C] or [N, C, d...], got {}", who, t.meta().str()));
    classes = t.dim(1);
    positions = t.numel() / classes;
    inner = t.dim(0) == 0 ? 1 : positions / t.dim(0);
    values = t.to_vector<double>();
  }
  // Returns the values of all classes at one position, valid until the next call.
  const std::vector<double>& at(int64_t position) const {
    row.resize(static_cast<size_t>(classes));
    const int64_t first = position / inner * classes * inner + position % inner;
    for (int64_t c = 0; c < classes; ++c) row[static_cast<size_t>(c)] = values[static_cast<size_t>(first + c * inner)];
    return row;
  }
  int64_t classes = 0, positions = 0, inner = 1;
  std::vector<double> values;
  mutable std::vector<double> row;
};

int64_t argmax(const std::vector<double>& row) { return argmax(row.data(), static_cast<int64_t>(row.size())); }

void check_labels(const char* who, const std::vector<int64_t>& labels, int64_t classes) {
  for (size_t i = 0; i < labels.size(); ++i) {
    if (labels[i] < 0 || labels[i] >= classes)
      throw DataError(ErrorCode::kLabelRange, fmt::format("{}: label {} of sample {} is not in [0, {})", who, labels[i], i, classes));
  }
}

// Returns the index of the single 1 among zeros along dimension 1.
std::vector<int64_t> from_one_hot(const char* who, const Tensor& labels) {
  const Scores hot(who, labels);
  std::vector<int64_t> out;
  for (int64_t i = 0; i < hot.positions; ++i) {
    const std::vector<double>& row = hot.at(i);
    if (std::count(row.begin(), row.end(), 1.0) != 1 || std::count(row.begin(), row.end(), 0.0) != hot.classes - 1)
      throw ShapeError(fmt::format("{}: labels {} of the predictions' dimensions must be one-hot, those of sample {} are not", who, labels.meta().str(), i), "",
                       "give class numbers, without the predictions' dimension 1");
    out.push_back(argmax(row));
  }
  return out;
}

struct Classified {
  int64_t classes = 0;
  std::vector<int64_t> predicted, actual;
};

// `other`: labels may be outside the classes.
Classified classify(const char* who, const std::vector<Tensor>& in, bool other) {
  const Scores scores(who, in[0]);
  Classified c;
  c.classes = scores.classes;
  Shape without_classes = in[0].shape();
  without_classes.erase(1);
  const bool one_hot = in[1].shape() == in[0].shape();
  if (!one_hot && in[1].shape() != without_classes)
    throw ShapeError(fmt::format("{}: labels must be {} or one-hot {}, got {}", who, without_classes.str(), in[0].shape().str(), in[1].meta().str()));
  c.actual = one_hot ? from_one_hot(who, in[1]) : in[1].to_vector<int64_t>();
  if (!other) check_labels(who, c.actual, c.classes);
  for (int64_t i = 0; i < scores.positions; ++i) c.predicted.push_back(argmax(scores.at(i)));
  return c;
}

bool parse_eval_type(const char* who, const std::string& eval_type) {
  if (eval_type != "classification" && eval_type != "multilabel")
    throw ValueError(fmt::format("{}: eval_type '{}' is not known", who, eval_type), "", "use classification or multilabel");
  return eval_type == "multilabel";
}

// Checks that two tensors have one shape and contain zeros and ones.
std::pair<Scores, Scores> binary_rows(const char* who, const std::vector<Tensor>& in) {
  if (in[0].shape() != in[1].shape())
    throw ShapeError(fmt::format("{}: predictions {} and labels {} must have one shape", who, in[0].meta().str(), in[1].meta().str()));
  std::pair<Scores, Scores> out(Scores(who, in[0]), Scores(who, in[1]));
  for (const Scores* s : {&out.first, &out.second}) {
    for (const double v : s->values) {
      if (v != 0 && v != 1) throw ValueError(fmt::format("{}: multilabel {} must be 0 or 1, found {}", who, s == &out.first ? "predictions" : "labels", v));
    }
  }
  return out;
}

// The first batch sets the number of classes.
void check_classes(const char* who, int64_t now, int64_t* classes) {
  if (*classes != 0 && *classes != now)
    throw ShapeError(fmt::format("{}: the predictions have {} classes, those of earlier batches had {}", who, now, *classes));
  *classes = now;
}

void check_total(const char* who, int64_t total) { check_counted(who, total != 0); }

double ratio(double a, double b) { return b == 0 ? 0 : a / b; }

std::vector<double> doubles(const std::vector<int64_t>& v) { return {v.begin(), v.end()}; }
std::vector<double> one(int64_t v) { return {static_cast<double>(v)}; }

}  // namespace

void check_inputs(const char* who, const std::vector<Tensor>& in, size_t count) {
  if (in.size() != count) throw ValueError(fmt::format("{}: update takes {} tensor{}, got {}", who, count, count == 1 ? "" : "s", in.size()));
}

void check_counted(const char* who, bool counted) {
  if (!counted) throw ValueError(fmt::format("{}: there are no samples to evaluate", who), "", "call update first");
}

void Metric::update(const std::vector<Tensor>& inputs) {
  if (indexes_.empty()) return add(inputs);
  std::vector<Tensor> chosen;
  for (size_t i : indexes_) {
    if (i >= inputs.size()) throw ValueError(fmt::format("metric: index {} of {} inputs", i, inputs.size()));
    chosen.push_back(inputs[i]);
  }
  add(chosen);
}

double Metric::value() const {
  const std::vector<double> v = eval();
  return v.empty() ? 0 : std::accumulate(v.begin(), v.end(), 0.0) / static_cast<double>(v.size());
}

Metric& Metric::set_indexes(std::vector<size_t> indexes) {
  indexes_ = std::move(indexes);
  return *this;
}

Metric& Metric::allow_other_labels(bool allow) {
  other_labels_ = allow;
  return *this;
}

Accuracy::Accuracy(const std::string& eval_type) : multilabel_(parse_eval_type("Accuracy", eval_type)) {}

void Accuracy::add(const std::vector<Tensor>& in) {
  check_inputs("Accuracy", in, 2);
  if (!multilabel_) {
    const Classified c = classify("Accuracy", in, other_labels_);
    check_classes("Accuracy", c.classes, &classes_);
    for (size_t i = 0; i < c.actual.size(); ++i) correct_ += c.predicted[i] == c.actual[i];
    total_ += static_cast<int64_t>(c.actual.size());
    return;
  }
  const auto [predicted, actual] = binary_rows("Accuracy", in);
  check_classes("Accuracy", predicted.classes, &classes_);
  for (int64_t i = 0; i < predicted.positions; ++i) correct_ += predicted.at(i) == actual.at(i);
  total_ += predicted.positions;
}

void CountArchive::throw_wrong_size() {
  throw ValueError("these are not the counts of this metric", "Metric.restore", "restore a value that saved() returned");
}

void Metric::archive(CountArchive&) {
  throw ValueError("this metric does not declare its counts, so it cannot be copied", "Metric.archive", "override archive in its class");
}

std::vector<double> Metric::saved() const {
  CountArchive counts;
  const_cast<Metric*>(this)->archive(counts);  // an archive that saves only reads the metric
  return counts.values();
}

void Metric::restore(std::vector<double> saved) {
  CountArchive counts(std::move(saved));
  archive(counts);
  counts.check_end();
}

void Metric::add_saved(std::vector<double> saved) {
  if (!adds_up()) throw ValueError("the counts of this metric cannot be added", "Metric.add_saved", "evaluate all of the data with one metric");
  CountArchive counts(std::move(saved), CountArchive::Into::kAdd);
  archive(counts);
  counts.check_end();
}

std::vector<double> Accuracy::eval() const {
  check_total("Accuracy", total_);
  return {static_cast<double>(correct_) / static_cast<double>(total_)};
}

std::map<std::string, std::vector<double>> Accuracy::counts() const {
  return {{"correct_num", one(correct_)}, {"total_num", one(total_)}, {"class_num", one(classes_)}};
}

ClassCounts::ClassCounts(const char* name, const std::string& eval_type) : name_(name), multilabel_(parse_eval_type(name, eval_type)) {}

void ClassCounts::clear() {
  classes_ = 0;
  true_positives_.clear();
  predicted_.clear();
  actual_.clear();
}

void ClassCounts::add(const std::vector<Tensor>& in) {
  check_inputs(name_, in, 2);
  if (!multilabel_) {
    const Classified c = classify(name_, in, false);
    check_classes(name_, c.classes, &classes_);
    for (std::vector<int64_t>* v : {&true_positives_, &predicted_, &actual_}) v->resize(static_cast<size_t>(classes_));
    for (size_t i = 0; i < c.actual.size(); ++i) {
      const auto p = static_cast<size_t>(c.predicted[i]), a = static_cast<size_t>(c.actual[i]);
      ++predicted_[p];
      ++actual_[a];
      true_positives_[a] += p == a;
    }
    return;
  }
  const auto [predicted, actual] = binary_rows(name_, in);
  check_classes(name_, predicted.classes, &classes_);
  for (int64_t i = 0; i < predicted.positions; ++i) {
    const std::vector<double>&p = predicted.at(i), &a = actual.at(i);
    true_positives_.push_back(static_cast<int64_t>(std::inner_product(p.begin(), p.end(), a.begin(), 0.0)));
    predicted_.push_back(std::count(p.begin(), p.end(), 1.0));
    actual_.push_back(std::count(a.begin(), a.end(), 1.0));
  }
}

std::vector<double> ClassCounts::rate(double of_hits, double of_predicted, double of_actual) const {
  check_total(name_, classes_);
  std::vector<double> out;
  for (size_t i = 0; i < actual_.size(); ++i)
    out.push_back(ratio(of_hits * static_cast<double>(true_positives_[i]),
                        of_predicted * static_cast<double>(predicted_[i]) + of_actual * static_cast<double>(actual_[i])));
  return out;
}

std::map<std::string, std::vector<double>> ClassCounts::counts() const {
  return {{"class_num", one(classes_)},
          {"true_positives", doubles(true_positives_)},
          {"positives", doubles(name_ == std::string("Recall") ? actual_ : predicted_)},
          {"actual_positives", doubles(actual_)}};
}

Fbeta::Fbeta(double beta) : ClassCounts("Fbeta", "classification"), beta_(beta) {
  if (!(beta > 0)) throw ValueError(fmt::format("Fbeta: beta must be positive, got {}", beta));
}

namespace {

double mean_loss(const Tensor& loss) {
  if (loss.rank() > 1)
    throw ShapeError(fmt::format("Loss: one number or a vector is expected, got {}", loss.meta().str()), "", "use a loss with reduction 'mean' or 'sum'");
  const std::vector<double> v = loss.to_vector<double>();
  return std::accumulate(v.begin(), v.end(), 0.0) / static_cast<double>(v.size());
}

}  // namespace

void Loss::add(const std::vector<Tensor>& in) {
  check_inputs("Loss", in, 1);
  add_weighted(in[0], 1);
}

void Loss::add_weighted(const Tensor& loss, double weight) {
  const double mean = mean_loss(loss);
  ++batches_;
  weight_ += weight;
  if (weight != 0) sum_ += mean * weight;
}

void Loss::add_total(const Tensor& loss) {
  sum_ += mean_loss(loss);
  ++batches_;
  ++totals_;
}

std::map<std::string, std::vector<double>> Loss::counts() const { return {{"sum_loss", {sum_}}, {"total_num", {weight_ + static_cast<double>(totals_)}}}; }

std::vector<double> Loss::eval() const {
  check_total("Loss", batches_);
  return {totals_ > 0 ? sum_ : sum_ / weight_};
}

TopKCategoricalAccuracy::TopKCategoricalAccuracy(int64_t k) : k_(k) {
  if (k < 1) throw ValueError(fmt::format("TopKCategoricalAccuracy: k must be at least 1, got {}", k));
}

void TopKCategoricalAccuracy::add(const std::vector<Tensor>& in) {
  const char* who = "TopKCategoricalAccuracy";
  check_inputs(who, in, 2);
  const Scores scores(who, in[0]);
  if (in[0].rank() != 2) throw ShapeError(fmt::format("{}: predictions must be [N, C], got {}", who, in[0].meta().str()));
  if (k_ > scores.classes) throw ValueError(fmt::format("{}: k is {}, the predictions {} have {} classes", who, k_, in[0].meta().str(), scores.classes));
  const Classified c = classify(who, in, other_labels_);
  for (int64_t i = 0; i < scores.positions; ++i) {
    const int64_t label = c.actual[static_cast<size_t>(i)];
    if (label < 0 || label >= scores.classes) continue;
    const std::vector<double>& row = scores.at(i);
    const double own = row[static_cast<size_t>(label)];
    int64_t before = 0;  // number of classes that rank before the label; NaN ranks last
    for (int64_t k = 0; k < scores.classes; ++k) {
      const double other = row[static_cast<size_t>(k)];
      const bool tie = other == own || (std::isnan(other) && std::isnan(own));
      before += tie ? k < label : std::isnan(own) || other > own;
    }
    correct_ += before < k_;
  }
  total_ += scores.positions;
}

std::map<std::string, std::vector<double>> TopKCategoricalAccuracy::counts() const { return {{"correct_num", one(correct_)}, {"samples_num", one(total_)}}; }

std::vector<double> TopKCategoricalAccuracy::eval() const {
  check_total("TopKCategoricalAccuracy", total_);
  return {static_cast<double>(correct_) / static_cast<double>(total_)};
}

ConfusionMatrix::ConfusionMatrix(int64_t num_classes, const std::string& normalize, double threshold)
    : wanted_classes_(num_classes), classes_(num_classes), normalize_(normalize), threshold_(threshold) {
  if (num_classes < 0) throw ValueError(fmt::format("ConfusionMatrix: num_classes must not be negative, got {}", num_classes));
  static const std::vector<std::string> kModes = {"no_norm", "target", "prediction", "all"};
  if (std::find(kModes.begin(), kModes.end(), normalize) == kModes.end())
    throw ValueError(fmt::format("ConfusionMatrix: normalize '{}' is not known", normalize), "", did_you_mean(normalize, kModes));
  clear();
}

void ConfusionMatrix::clear() {
  counted_ = false;
  classes_ = wanted_classes_;
  counts_.assign(static_cast<size_t>(classes_ * classes_), 0);
}

void ConfusionMatrix::add(const std::vector<Tensor>& in) {
  const char* who = "ConfusionMatrix";
  check_inputs(who, in, 2);
  Classified c;
  if (in[0].rank() == in[1].rank()) {
    if (in[0].shape() != in[1].shape())
      throw ShapeError(fmt::format("{}: predictions {} and labels {} must have one shape", who, in[0].meta().str(), in[1].meta().str()));
    c.actual = in[1].to_vector<int64_t>();
    if (is_floating(in[0].dtype())) {
      for (const double v : in[0].to_vector<double>()) c.predicted.push_back(v >= threshold_ ? 1 : 0);
    } else {
      c.predicted = in[0].to_vector<int64_t>();
    }
    if (classes_ == 0)
      throw ValueError(fmt::format("{}: predictions {} do not determine the number of classes", who, in[0].meta().str()), "", "give num_classes");
  } else {
    c = classify(who, in, true);
    if (classes_ == 0) {
      classes_ = c.classes;
      counts_.assign(static_cast<size_t>(classes_ * classes_), 0);
    }
    if (c.classes > classes_) throw ShapeError(fmt::format("{}: predictions {} have {} classes, expected {}", who, in[0].meta().str(), c.classes, classes_));
  }
  check_labels(who, c.actual, classes_);
  for (const int64_t p : c.predicted)
    if (p < 0 || p >= classes_) throw ValueError(fmt::format("{}: prediction {} is not in [0, {})", who, p, classes_));
  for (size_t i = 0; i < c.actual.size(); ++i) ++counts_[static_cast<size_t>(c.actual[i] * classes_ + c.predicted[i])];
  counted_ = true;
}

std::map<std::string, std::vector<double>> ConfusionMatrix::counts() const { return {{"confusion_matrix", doubles(counts_)}}; }

int64_t ConfusionMatrix::count(int64_t label, int64_t prediction) const {
  if (label < 0 || label >= classes_ || prediction < 0 || prediction >= classes_)
    throw ValueError(fmt::format("ConfusionMatrix: cell ({}, {}) of {} classes", label, prediction, classes_));
  return counts_[static_cast<size_t>(label * classes_ + prediction)];
}

std::vector<double> ConfusionMatrix::eval() const {
  check_total("ConfusionMatrix", counted_ ? 1 : 0);
  const int64_t total = std::accumulate(counts_.begin(), counts_.end(), int64_t{0});
  std::vector<double> row(static_cast<size_t>(classes_), 0), column = row, out;
  for (size_t i = 0; i < counts_.size(); ++i) {
    row[i / row.size()] += static_cast<double>(counts_[i]);
    column[i % row.size()] += static_cast<double>(counts_[i]);
  }
  for (size_t i = 0; i < counts_.size(); ++i) {
    const double by = normalize_ == "target" ? row[i / row.size()]
        : normalize_ == "prediction"         ? column[i % row.size()]
        : normalize_ == "all"                ? static_cast<double>(total)
                                             : 1;
    out.push_back(ratio(static_cast<double>(counts_[i]), by));
  }
  return out;
}

double ConfusionMatrix::value() const {
  const int64_t total = std::accumulate(counts_.begin(), counts_.end(), int64_t{0});
  check_total("ConfusionMatrix", total);
  int64_t diagonal = 0;
  for (int64_t c = 0; c < classes_; ++c) diagonal += count(c, c);
  return static_cast<double>(diagonal) / static_cast<double>(total);
}

void ErrorMetric::add(const std::vector<Tensor>& in) {
  check_inputs(name_, in, 2);
  if (in[0].numel() != in[1].numel() || in[1].rank() < 1)
    throw ShapeError(fmt::format("{}: predictions {} and labels {} must hold the same samples", name_, in[0].meta().str(), in[1].meta().str()));
  const std::vector<double> a = in[0].to_vector<double>(), b = in[1].to_vector<double>();
  for (size_t i = 0; i < a.size(); ++i) sum_ += squared_ ? (a[i] - b[i]) * (a[i] - b[i]) : std::abs(a[i] - b[i]);
  samples_ += in[1].dim(0);
}

std::map<std::string, std::vector<double>> ErrorMetric::counts() const { return {{"error_sum", {sum_}}, {"samples_num", one(samples_)}}; }

std::vector<double> ErrorMetric::eval() const {
  check_total(name_, samples_);
  return {sum_ / static_cast<double>(samples_)};
}

void Perplexity::add(const std::vector<Tensor>& in) {
  check_inputs("Perplexity", in, 2);
  if (in[0].rank() < 1) throw ShapeError(fmt::format("Perplexity: predictions must be [..., C], got {}", in[0].meta().str()));
  const int64_t classes = in[0].dim(-1), n = in[0].numel() / std::max<int64_t>(1, classes);
  if (in[1].numel() != n) throw ShapeError(fmt::format("Perplexity: predictions {} need {} labels, got {}", in[0].meta().str(), n, in[1].meta().str()));
  const std::vector<int64_t> labels = in[1].to_vector<int64_t>();
  std::vector<int64_t> counted = labels;
  if (ignore_label_.has_value()) std::erase(counted, *ignore_label_);
  check_labels("Perplexity", counted, classes);
  const std::vector<double> p = in[0].to_vector<double>();
  for (int64_t i = 0; i < n; ++i) {
    const int64_t label = labels[static_cast<size_t>(i)];
    if (label != ignore_label_) sum_ -= std::log(std::max(p[static_cast<size_t>(i * classes + label)], 1e-10));
  }
  count_ += static_cast<int64_t>(counted.size());
}

std::map<std::string, std::vector<double>> Perplexity::counts() const { return {{"sum_metric", {sum_}}, {"num_inst", one(count_)}}; }

std::vector<double> Perplexity::eval() const {
  check_total("Perplexity", count_);
  return {std::exp(sum_ / static_cast<double>(count_))};
}

// Metrics by name.

Registry<MakeMetric>& metrics() {
  static Registry<MakeMetric>& all = *new Registry<MakeMetric>("metric");  // filled before main by each library
  return all;
}

MetricPtr make_metric(const std::string& name) { return metrics().make(name, {}); }
std::vector<std::string> metric_names() { return metrics().names(); }

namespace {

const char* const kNoLabel = "-9223372036854775808";

template <class T> MetricPtr multilabel(const SettingValues&) { return std::make_shared<T>("multilabel"); }
template <class T> MetricPtr plain(const SettingValues&) { return std::make_shared<T>(); }
template <int64_t k> MetricPtr top(const SettingValues&) { return std::make_shared<TopKCategoricalAccuracy>(k); }

const bool kBasicMetrics = [] {
  Registry<MakeMetric>& all = metrics();
  for (const char* name : {"accuracy", "acc"}) all.add({.name = name, .doc = "right answers over samples", .code_only = true, .make = plain<Accuracy>});
  all.add({.name = "precision", .doc = "share of a class's predictions that are correct, averaged over classes", .make = plain<Precision>});
  all.add({.name = "recall", .doc = "share of a class's samples that are found, averaged over classes", .make = plain<Recall>});
  // Metrics of several labels per sample, each zero or one.
  all.add({.name = "multilabel_accuracy", .doc = "samples that are right throughout, over samples", .code_only = true, .make = multilabel<Accuracy>});
  all.add({.name = "multilabel_precision", .doc = "right ones among the ones predicted, by sample", .code_only = true, .make = multilabel<Precision>});
  all.add({.name = "multilabel_recall", .doc = "ones that were found, by sample", .code_only = true, .make = multilabel<Recall>});
  all.add({.name = "F1", .doc = "harmonic mean of precision and recall, mean over classes", .code_only = true, .make = plain<Fbeta>});
  all.add({.name = "fbeta",
           .doc = "weighted harmonic mean of precision and recall, averaged over classes",
           .settings = {{.name = "beta", .type = SettingType::kFloat, .fallback = "1", .doc = "weight of recall relative to precision", .min = 1e-30}},
           .make = [](const SettingValues& v) -> MetricPtr { return std::make_shared<Fbeta>(v.get_float("beta")); }});
  all.add({.name = "loss", .doc = "mean loss of the samples", .code_only = true, .make = plain<Loss>});
  all.add({.name = "topk",
           .doc = "share of samples whose class is among the k largest scores",
           .settings = {{.name = "k", .type = SettingType::kInt, .fallback = "5", .doc = "number of largest scores to search", .min = 1, .max = 1e9}},
           .make = [](const SettingValues& v) -> MetricPtr { return std::make_shared<TopKCategoricalAccuracy>(v.get_int("k")); }});
  all.add({.name = "top_1_accuracy", .doc = "topk with k = 1", .code_only = true, .make = top<1>});
  all.add({.name = "top_5_accuracy", .doc = "topk with k = 5", .code_only = true, .make = top<5>});
  all.add({.name = "confusion_matrix",
           .doc = "samples by class and prediction; as one number, the share on the diagonal",
           .settings = {{.name = "num_classes", .type = SettingType::kInt, .fallback = "0", .doc = "0: as many as the first scores have", .min = 0, .max = 1e6},
                        {.name = "normalize",
                         .type = SettingType::kString,
                         .fallback = "no_norm",
                         .doc = "what the counts are divided by: nothing, the row's sum, the column's, that of all",
                         .choices = "no_norm|target|prediction|all"},
                        {.name = "threshold", .type = SettingType::kFloat, .fallback = "0.5", .doc = "scores of class 1 from here on count as class 1"}},
           .code_only = true,
           .make = [](const SettingValues& v) -> MetricPtr {
             return std::make_shared<ConfusionMatrix>(v.get_int("num_classes"), v.get_string("normalize"), v.get_float("threshold"));
           }});
  all.add({.name = "mae", .doc = "sum of the absolute errors over samples", .code_only = true, .make = plain<MAE>});
  all.add({.name = "mse", .doc = "sum of the squared errors over samples", .code_only = true, .make = plain<MSE>});
  all.add(
      {.name = "perplexity",
       .doc = "exp of the mean of -log of the label's probability",
       .settings = {{.name = "ignore_label", .type = SettingType::kInt, .fallback = kNoLabel, .doc = "samples with this label count nothing; by default none"}},
       .code_only = true,
       .make = [](const SettingValues& v) -> MetricPtr {
         const int64_t ignored = v.get_int("ignore_label");
         return std::make_shared<Perplexity>(ignored == std::numeric_limits<int64_t>::min() ? std::nullopt : std::optional<int64_t>(ignored));
       }});
  return true;
}();

}  // namespace

}  // namespace sindri::nn
