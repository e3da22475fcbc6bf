// Metrics: exact counts on the host.
#include "sindri/nn/metric.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "sindri/core/error.h"
#include "sindri/core/nearest.h"

namespace sindri::nn {

namespace {

// First largest; a NaN is largest, as in NumPy.
int64_t argmax(const double* row, int64_t n) {
  int64_t best = 0;
  for (int64_t i = 0; i < n; ++i) {
    if (std::isnan(row[i])) return i;
    if (row[i] > row[best]) best = i;
  }
  return best;
}

struct Classified {
  int64_t classes = 0;
  std::vector<int64_t> predicted, actual;
};

void check_scores(const char* who, const Tensor& scores) {
  if (scores.rank() != 2 || scores.dim(1) < 1) throw ShapeError(fmt::format("{}: predictions must be [N, C], got {}", who, scores.meta().str()));
}

// Labels [N] as they are, one-hot rows [N, C] by their largest element; each in [0, C).
std::vector<int64_t> class_labels(const char* who, const Tensor& scores, const Tensor& labels) {
  const int64_t n = scores.dim(0), classes = scores.dim(1);
  std::vector<int64_t> out;
  if (labels.shape() == scores.shape()) {
    const std::vector<double> rows = labels.to_vector<double>();
    for (int64_t i = 0; i < n; ++i) out.push_back(argmax(rows.data() + i * classes, classes));
    return out;
  }
  if (labels.rank() != 1 || labels.dim(0) != n)
    throw ShapeError(fmt::format("{}: labels must be [{}] or {}, got {}", who, n, scores.shape().str(), labels.meta().str()));
  out = labels.to_vector<int64_t>();
  for (size_t i = 0; i < out.size(); ++i) {
    if (out[i] < 0 || out[i] >= classes)
      throw DataError(ErrorCode::kLabelRange, fmt::format("{}: label {} of sample {} is not in [0, {})", who, out[i], i, classes));
  }
  return out;
}

Classified classify(const char* who, const std::vector<Tensor>& in) {
  check_scores(who, in[0]);
  Classified c;
  c.classes = in[0].dim(1);
  c.actual = class_labels(who, in[0], in[1]);
  const std::vector<double> scores = in[0].to_vector<double>();
  for (int64_t i = 0; i < in[0].dim(0); ++i) c.predicted.push_back(argmax(scores.data() + i * c.classes, c.classes));
  return c;
}

void check_inputs(const char* who, const std::vector<Tensor>& in, size_t count) {
  if (in.size() != count) throw ValueError(fmt::format("{}: update takes {} tensor{}, got {}", who, count, count == 1 ? "" : "s", in.size()));
}

bool parse_eval_type(const char* who, const std::string& eval_type) {
  if (eval_type != "classification" && eval_type != "multilabel")
    throw ValueError(fmt::format("{}: eval_type '{}' is not known", who, eval_type), "", "use classification or multilabel");
  return eval_type == "multilabel";
}

// Two tensors of one shape [N, C] holding zeros and ones.
std::pair<std::vector<int64_t>, std::vector<int64_t>> binary_rows(const char* who, const std::vector<Tensor>& in) {
  check_scores(who, in[0]);
  if (in[0].shape() != in[1].shape())
    throw ShapeError(fmt::format("{}: predictions {} and labels {} must have one shape", who, in[0].meta().str(), in[1].meta().str()));
  std::vector<int64_t> out[2];
  for (size_t t = 0; t < 2; ++t) {
    for (const double v : in[t].to_vector<double>()) {
      if (v != 0 && v != 1) throw ValueError(fmt::format("{}: multilabel {} must be 0 or 1, found {}", who, t == 0 ? "predictions" : "labels", v));
      out[t].push_back(v == 1 ? 1 : 0);
    }
  }
  return {std::move(out[0]), std::move(out[1])};
}

void check_total(const char* who, int64_t total) {
  if (total == 0) throw ValueError(fmt::format("{}: there are no samples to evaluate", who), "", "call update first");
}

double ratio(double a, double b) { return b == 0 ? 0 : a / b; }

using Maker = MetricPtr (*)();
const std::map<std::string, Maker>& makers() {
  static const std::map<std::string, Maker> table = {
      {"accuracy", [] { return MetricPtr(std::make_shared<Accuracy>()); }},
      {"acc", [] { return MetricPtr(std::make_shared<Accuracy>()); }},
      {"precision", [] { return MetricPtr(std::make_shared<Precision>()); }},
      {"recall", [] { return MetricPtr(std::make_shared<Recall>()); }},
      {"F1", [] { return MetricPtr(std::make_shared<Fbeta>()); }},
      {"loss", [] { return MetricPtr(std::make_shared<Loss>()); }},
      {"top_1_accuracy", [] { return MetricPtr(std::make_shared<TopKCategoricalAccuracy>(1)); }},
      {"top_5_accuracy", [] { return MetricPtr(std::make_shared<TopKCategoricalAccuracy>(5)); }},
      {"confusion_matrix", [] { return MetricPtr(std::make_shared<ConfusionMatrix>()); }},
      {"mae", [] { return MetricPtr(std::make_shared<MAE>()); }},
      {"mse", [] { return MetricPtr(std::make_shared<MSE>()); }},
      {"perplexity", [] { return MetricPtr(std::make_shared<Perplexity>()); }},
  };
  return table;
}

}  // namespace

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

MetricPtr make_metric(const std::string& name) {
  const auto it = makers().find(name);
  if (it == makers().end()) throw ValueError(fmt::format("metric '{}' is not known", name), "", did_you_mean(name, metric_names()));
  return it->second();
}

std::vector<std::string> metric_names() {
  std::vector<std::string> out;
  for (const auto& [name, make] : makers()) out.push_back(name);
  return out;
}

Accuracy::Accuracy(const std::string& eval_type) : multilabel_(parse_eval_type("Accuracy", eval_type)) {}

void Accuracy::add(const std::vector<Tensor>& in) {
  check_inputs("Accuracy", in, 2);
  if (!multilabel_) {
    const Classified c = classify("Accuracy", in);
    for (size_t i = 0; i < c.actual.size(); ++i) correct_ += c.predicted[i] == c.actual[i];
    total_ += static_cast<int64_t>(c.actual.size());
    return;
  }
  const auto [predicted, actual] = binary_rows("Accuracy", in);
  const int64_t n = in[0].dim(0), width = in[0].dim(1);
  for (int64_t i = 0; i < n; ++i) correct_ += std::equal(predicted.begin() + i * width, predicted.begin() + (i + 1) * width, actual.begin() + i * width);
  total_ += n;
}

std::vector<double> Accuracy::eval() const {
  check_total("Accuracy", total_);
  return {static_cast<double>(correct_) / static_cast<double>(total_)};
}

ClassCounts::ClassCounts(const char* name, const std::string& eval_type) : name_(name), multilabel_(parse_eval_type(name, eval_type)) {}

void ClassCounts::clear() {
  true_positives_.clear();
  predicted_.clear();
  actual_.clear();
}

void ClassCounts::add(const std::vector<Tensor>& in) {
  check_inputs(name_, in, 2);
  check_scores(name_, in[0]);
  const auto classes = static_cast<size_t>(in[0].dim(1));
  if (predicted_.empty()) {
    true_positives_.assign(classes, 0);
    predicted_.assign(classes, 0);
    actual_.assign(classes, 0);
  }
  if (classes != predicted_.size())
    throw ShapeError(fmt::format("{}: predictions {} have {} classes, those before {}", name_, in[0].meta().str(), classes, predicted_.size()));
  if (!multilabel_) {
    const Classified c = classify(name_, in);
    for (size_t i = 0; i < c.actual.size(); ++i) {
      const auto p = static_cast<size_t>(c.predicted[i]), a = static_cast<size_t>(c.actual[i]);
      ++predicted_[p];
      ++actual_[a];
      true_positives_[a] += p == a;
    }
    return;
  }
  const auto [predicted, actual] = binary_rows(name_, in);
  for (size_t i = 0; i < predicted.size(); ++i) {
    predicted_[i % classes] += predicted[i];
    actual_[i % classes] += actual[i];
    true_positives_[i % classes] += predicted[i] * actual[i];
  }
}

void ClassCounts::check_counted() const { check_total(name_, static_cast<int64_t>(predicted_.size())); }

std::vector<double> Precision::eval() const {
  check_counted();
  std::vector<double> out;
  for (size_t c = 0; c < predicted_.size(); ++c) out.push_back(ratio(static_cast<double>(true_positives_[c]), static_cast<double>(predicted_[c])));
  return out;
}

std::vector<double> Recall::eval() const {
  check_counted();
  std::vector<double> out;
  for (size_t c = 0; c < actual_.size(); ++c) out.push_back(ratio(static_cast<double>(true_positives_[c]), static_cast<double>(actual_[c])));
  return out;
}

Fbeta::Fbeta(double beta) : ClassCounts("Fbeta", "classification"), beta_(beta) {
  if (!(beta > 0)) throw ValueError(fmt::format("Fbeta: beta must be positive, got {}", beta));
}

std::vector<double> Fbeta::eval() const {
  check_counted();
  const double b2 = beta_ * beta_;
  std::vector<double> out;
  for (size_t c = 0; c < actual_.size(); ++c)
    out.push_back(ratio((1 + b2) * static_cast<double>(true_positives_[c]), b2 * static_cast<double>(actual_[c]) + static_cast<double>(predicted_[c])));
  return out;
}

void Loss::add(const std::vector<Tensor>& in) {
  check_inputs("Loss", in, 1);
  if (in[0].numel() != 1)
    throw ShapeError(fmt::format("Loss: one number is expected, got {}", in[0].meta().str()), "", "use a loss with reduction 'mean' or 'sum'");
  sum_ += in[0].item();
  ++count_;
}

std::vector<double> Loss::eval() const {
  check_total("Loss", count_);
  return {sum_ / static_cast<double>(count_)};
}

TopKCategoricalAccuracy::TopKCategoricalAccuracy(int64_t k) : k_(k) {
  if (k < 1) throw ValueError(fmt::format("TopKCategoricalAccuracy: k must be at least 1, got {}", k));
}

void TopKCategoricalAccuracy::add(const std::vector<Tensor>& in) {
  check_inputs("TopKCategoricalAccuracy", in, 2);
  check_scores("TopKCategoricalAccuracy", in[0]);
  const int64_t n = in[0].dim(0), classes = in[0].dim(1);
  if (k_ > classes) throw ValueError(fmt::format("TopKCategoricalAccuracy: k is {}, the predictions {} have {} classes", k_, in[0].meta().str(), classes));
  const std::vector<int64_t> labels = class_labels("TopKCategoricalAccuracy", in[0], in[1]);
  const std::vector<double> scores = in[0].to_vector<double>();
  for (int64_t i = 0; i < n; ++i) {
    const double* row = scores.data() + i * classes;
    const int64_t label = labels[static_cast<size_t>(i)];
    int64_t before = 0;  // classes that rank before the label
    for (int64_t c = 0; c < classes; ++c) before += row[c] > row[label] || (row[c] == row[label] && c < label);
    correct_ += before < k_ && !std::isnan(row[label]);
  }
  total_ += n;
}

std::vector<double> TopKCategoricalAccuracy::eval() const {
  check_total("TopKCategoricalAccuracy", total_);
  return {static_cast<double>(correct_) / static_cast<double>(total_)};
}

ConfusionMatrix::ConfusionMatrix(int64_t num_classes, const std::string& normalize)
    : wanted_classes_(num_classes), classes_(num_classes), normalize_(normalize) {
  if (num_classes < 0) throw ValueError(fmt::format("ConfusionMatrix: num_classes must not be negative, got {}", num_classes));
  static const std::vector<std::string> kModes = {"no_norm", "target", "prediction", "all"};
  if (std::find(kModes.begin(), kModes.end(), normalize) == kModes.end())
    throw ValueError(fmt::format("ConfusionMatrix: normalize '{}' is not known", normalize), "", did_you_mean(normalize, kModes));
  clear();
}

void ConfusionMatrix::clear() {
  classes_ = wanted_classes_;
  counts_.assign(static_cast<size_t>(classes_ * classes_), 0);
}

void ConfusionMatrix::add(const std::vector<Tensor>& in) {
  check_inputs("ConfusionMatrix", in, 2);
  const Classified c = classify("ConfusionMatrix", in);
  if (classes_ == 0) {
    classes_ = c.classes;
    counts_.assign(static_cast<size_t>(classes_ * classes_), 0);
  }
  if (c.classes != classes_)
    throw ShapeError(fmt::format("ConfusionMatrix: predictions {} have {} classes, expected {}", in[0].meta().str(), c.classes, classes_));
  for (size_t i = 0; i < c.actual.size(); ++i) ++counts_[static_cast<size_t>(c.actual[i] * classes_ + c.predicted[i])];
}

int64_t ConfusionMatrix::count(int64_t label, int64_t prediction) const {
  if (label < 0 || label >= classes_ || prediction < 0 || prediction >= classes_)
    throw ValueError(fmt::format("ConfusionMatrix: cell ({}, {}) of {} classes", label, prediction, classes_));
  return counts_[static_cast<size_t>(label * classes_ + prediction)];
}

std::vector<double> ConfusionMatrix::eval() const {
  const int64_t total = std::accumulate(counts_.begin(), counts_.end(), int64_t{0});
  check_total("ConfusionMatrix", total);
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
  if (in[0].numel() != in[1].numel() || in[0].rank() < 1 || in[1].rank() < 1 || in[0].dim(0) != in[1].dim(0))
    throw ShapeError(fmt::format("{}: predictions {} and labels {} must hold the same samples", name_, in[0].meta().str(), in[1].meta().str()));
  const std::vector<double> a = in[0].to_vector<double>(), b = in[1].to_vector<double>();
  for (size_t i = 0; i < a.size(); ++i) sum_ += squared_ ? (a[i] - b[i]) * (a[i] - b[i]) : std::abs(a[i] - b[i]);
  samples_ += in[0].dim(0);
}

std::vector<double> ErrorMetric::eval() const {
  check_total(name_, samples_);
  return {sum_ / static_cast<double>(samples_)};
}

void Perplexity::add(const std::vector<Tensor>& in) {
  check_inputs("Perplexity", in, 2);
  if (in[0].rank() < 2) throw ShapeError(fmt::format("Perplexity: predictions must be [..., C], got {}", in[0].meta().str()));
  const int64_t classes = in[0].dim(-1), n = in[0].numel() / std::max<int64_t>(1, classes);
  if (in[1].numel() != n) throw ShapeError(fmt::format("Perplexity: predictions {} need {} labels, got {}", in[0].meta().str(), n, in[1].meta().str()));
  const std::vector<int64_t> labels = class_labels("Perplexity", in[0].contiguous().view({n, classes}), in[1].contiguous().view({n}));
  const std::vector<double> p = in[0].to_vector<double>();
  for (int64_t i = 0; i < n; ++i) sum_ -= std::log(std::max(p[static_cast<size_t>(i * classes + labels[static_cast<size_t>(i)])], 1e-10));
  count_ += n;
}

std::vector<double> Perplexity::eval() const {
  check_total("Perplexity", count_);
  return {std::exp(sum_ / static_cast<double>(count_))};
}

}  // namespace sindri::nn
