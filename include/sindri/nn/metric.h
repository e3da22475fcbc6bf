// Metrics: counted on the host over the batches of an evaluation (MindSpore: mindspore.train.metrics). The classes of Python count here, too.
//
// "Class scores": predictions [N, C] or [N, C, d...] with labels [N, d...] (class numbers) or one-hot of the predictions' shape. A prediction
// is the first largest score, a NaN being largest, as in NumPy.
#pragma once
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "sindri/core/tensor.h"
#include "sindri/export.h"

namespace sindri::nn {

/// Counts on their way out of a metric, or into one.
class CountArchive {
 public:
  enum class Into { kReplace, kAdd };
  CountArchive() = default;
  /// Into one: what went out of a metric of the same settings, instead of its counts or on top of them.
  explicit CountArchive(std::vector<double> values, Into into = Into::kReplace) : values_(std::move(values)), reading_(true), adding_(into == Into::kAdd) {}
  template <class T>
  requires std::is_arithmetic_v<T> CountArchive& operator()(T& count) {
    if (adding_) count = static_cast<T>(count + static_cast<T>(next()));
    else if (reading_) count = static_cast<T>(next());
    else values_.push_back(static_cast<double>(count));
    return *this;
  }
  template <class T> CountArchive& operator()(std::vector<T>& counts) {
    auto size = static_cast<int64_t>(counts.size());
    same(size);
    const bool absent = adding_ && values_[at_ - 1] == 0;  // the other side has counted nothing
    if (reading_ && !absent && (size < 0 || static_cast<size_t>(size) > values_.size() - at_)) throw_wrong_size();
    counts.resize(static_cast<size_t>(size));
    if (absent) return *this;
    for (T& c : counts) (*this)(c);
    return *this;
  }
  /// What is not a count but is known once something was counted, such as the number of classes: the same on both sides, or 0.
  template <class T> CountArchive& same(T& number) {
    if (!adding_) return (*this)(number);
    const auto other = static_cast<T>(next());
    if (number != 0 && other != 0 && number != other) throw_wrong_size();
    if (number == 0) number = other;
    return *this;
  }
  const std::vector<double>& values() const { return values_; }
  /// Throws ValueError unless all of it was read.
  void check_end() const {
    if (reading_ && at_ != values_.size()) throw_wrong_size();
  }

 private:
  double next() {
    if (at_ >= values_.size()) throw_wrong_size();
    return values_[at_++];
  }
  [[noreturn]] SINDRI_API static void throw_wrong_size();
  std::vector<double> values_;
  size_t at_ = 0;
  bool reading_ = false, adding_ = false;
};

/// clear() before an evaluation, update() per batch, eval() at its end.
class SINDRI_API Metric {
 public:
  virtual ~Metric() = default;
  virtual void clear() = 0;
  /// Adds a batch, usually {predictions, labels}. Throws ValueError for a wrong number of inputs, ShapeError for wrong shapes.
  void update(const std::vector<Tensor>& inputs);
  /// The result: one number, or one per class. Throws ValueError before any update.
  virtual std::vector<double> eval() const = 0;
  /// The result as one number: the mean over classes where there are several.
  virtual double value() const;
  /// Whether update() wants the loss rather than predictions and labels.
  virtual bool uses_loss() const { return false; }
  /// Whether it takes the outputs of a classifier and class labels as they are: settings files offer these.
  virtual bool scores_classes() const { return !uses_loss(); }
  /// Whether nothing was counted since clear().
  virtual bool empty() const { return false; }
  /// What eval() is made of, by the names MindSpore gives it: "correct_num", "total_num", ….
  virtual std::map<std::string, std::vector<double>> counts() const { return {}; }
  /// All that was counted since clear(), for a copy of the metric. Throws ValueError where the metric does not say (archive).
  std::vector<double> saved() const;
  /// The counts of saved(), of a metric with the same settings. Throws ValueError for other counts.
  void restore(std::vector<double> saved);
  /// Whether its counts over parts of the data add up to those over all of it (add_saved); metrics that keep every sample, or do not say, do not.
  virtual bool adds_up() const { return false; }
  /// Adds the counts of saved(), of a metric with the same settings that has seen other data. Throws ValueError for other counts and unless adds_up().
  void add_saved(std::vector<double> saved);
  /// Which of the values given to update() to use, in this order; empty: all as they come.
  Metric& set_indexes(std::vector<size_t> indexes);
  /// A label that is no class counts as a wrong answer, as in MindSpore, instead of being an error; of the metrics that count right answers.
  Metric& allow_other_labels(bool allow = true);

 protected:
  virtual void add(const std::vector<Tensor>& inputs) = 0;
  /// Hands each of its counts to `counts`, for saved() and restore().
  virtual void archive(CountArchive& counts);
  /// Labels may be what no class is.
  bool other_labels_ = false;

 private:
  std::vector<size_t> indexes_;
};

using MetricPtr = std::shared_ptr<Metric>;

/// The metric of that name (sindri/nn/registry.h) with its settings at their defaults: accuracy, precision, F1, loss, top_5_accuracy, ….
/// Throws ValueError with the nearest names.
SINDRI_API MetricPtr make_metric(const std::string& name);
/// Names make_metric knows, sorted.
SINDRI_API std::vector<std::string> metric_names();

/// Area under the points (x, y) by the trapezoidal rule; x rises or falls throughout, or is sorted with `reorder`. Throws ValueError for other x,
/// for different lengths and fewer than two points.
SINDRI_API double auc(std::vector<double> x, std::vector<double> y, bool reorder = false);

/// Right answers over samples. "classification": class scores. "multilabel": predictions and labels [N, C] or [N, C, d...] of 0 and 1; a
/// sample is right when it is so for all classes. The number of classes may not change between batches.
class SINDRI_API Accuracy final : public Metric {
 public:
  /// Throws ValueError for another eval_type.
  explicit Accuracy(const std::string& eval_type = "classification");
  void clear() override { correct_ = total_ = classes_ = 0; }
  std::vector<double> eval() const override;
  bool empty() const override { return total_ == 0; }
  bool adds_up() const override { return true; }
  std::map<std::string, std::vector<double>> counts() const override;

 protected:
  void add(const std::vector<Tensor>& inputs) override;
  void archive(CountArchive& counts) override { counts(correct_)(total_).same(classes_); }

 private:
  bool multilabel_;
  int64_t correct_ = 0, total_ = 0, classes_ = 0;
};

/// Counts behind precision, recall and F-beta: per class, or for "multilabel" per sample, one after the other, as in MindSpore. Inputs as
/// for Accuracy; a label that is no class is an error.
class SINDRI_API ClassCounts : public Metric {
 public:
  void clear() override;
  bool empty() const override { return classes_ == 0; }
  bool adds_up() const override { return !multilabel_; }
  std::map<std::string, std::vector<double>> counts() const override;

 protected:
  explicit ClassCounts(const char* name, const std::string& eval_type);
  void add(const std::vector<Tensor>& inputs) override;
  void archive(CountArchive& counts) override { counts.same(classes_)(true_positives_)(predicted_)(actual_); }
  /// of_hits·hits / (of_predicted·predicted + of_actual·actual) each; 0 where the divisor is. Throws ValueError before any update.
  std::vector<double> rate(double of_hits, double of_predicted, double of_actual) const;
  const char* name_;
  bool multilabel_;
  int64_t classes_ = 0;
  std::vector<int64_t> true_positives_, predicted_, actual_;
};

/// True positives over predicted ones; 0 where nothing was predicted.
class SINDRI_API Precision final : public ClassCounts {
 public:
  explicit Precision(const std::string& eval_type = "classification") : ClassCounts("Precision", eval_type) {}
  std::vector<double> eval() const override { return rate(1, 1, 0); }
};

/// True positives over actual ones; 0 where there are none.
class SINDRI_API Recall final : public ClassCounts {
 public:
  explicit Recall(const std::string& eval_type = "classification") : ClassCounts("Recall", eval_type) {}
  std::vector<double> eval() const override { return rate(1, 0, 1); }
};

/// (1 + beta²)·P·R/(beta²·P + R) per class.
class SINDRI_API Fbeta final : public ClassCounts {
 public:
  /// Throws ValueError unless beta > 0.
  explicit Fbeta(double beta = 1);
  std::vector<double> eval() const override { return rate(1 + beta_ * beta_, 1, beta_ * beta_); }

 private:
  double beta_;
};

/// Mean of the losses of the batches, each one number or a vector, which counts as its mean. update() counts each batch once, as MindSpore does;
/// Model::eval gives each its weight, so that the result is that of all samples, however they come in batches.
class SINDRI_API Loss final : public Metric {
 public:
  void clear() override { sum_ = weight_ = 0, batches_ = totals_ = 0; }
  /// A batch whose loss counts `weight` times: the number of its samples. Of weight 0 it counts nothing, whatever its loss. Throws ShapeError as update().
  void add_weighted(const Tensor& loss, double weight);
  /// A batch of a loss that is a sum: the result is the sum over all batches. Throws ShapeError as update().
  void add_total(const Tensor& loss);
  /// The mean, or the sum after add_total; NaN where all weights are 0.
  std::vector<double> eval() const override;
  bool uses_loss() const override { return true; }
  bool empty() const override { return batches_ == 0; }
  bool adds_up() const override { return true; }
  std::map<std::string, std::vector<double>> counts() const override;

 protected:
  void add(const std::vector<Tensor>& inputs) override;
  void archive(CountArchive& counts) override { counts(sum_)(weight_)(batches_)(totals_); }

 private:
  double sum_ = 0, weight_ = 0;
  int64_t batches_ = 0, totals_ = 0;
};

/// Share of samples [N, C] whose label is among the k largest scores; of equal scores the lower class comes first, NaN last.
class SINDRI_API TopKCategoricalAccuracy final : public Metric {
 public:
  /// Throws ValueError unless k >= 1.
  explicit TopKCategoricalAccuracy(int64_t k);
  void clear() override { correct_ = total_ = 0; }
  std::vector<double> eval() const override;
  bool empty() const override { return total_ == 0; }
  bool adds_up() const override { return true; }
  std::map<std::string, std::vector<double>> counts() const override;

 protected:
  void add(const std::vector<Tensor>& inputs) override;
  void archive(CountArchive& counts) override { counts(correct_)(total_); }

 private:
  int64_t k_, correct_ = 0, total_ = 0;
};

/// Counts [label][prediction] of class scores, or of predictions like the labels: classes, or scores of class 1, which `threshold` cuts.
/// eval(): the rows one after the other, normalised as asked; value(): the share on the diagonal.
class SINDRI_API ConfusionMatrix final : public Metric {
 public:
  /// num_classes 0: taken from the first scores. normalize: "no_norm", "target" (rows sum to 1), "prediction" (columns) or "all".
  explicit ConfusionMatrix(int64_t num_classes = 0, const std::string& normalize = "no_norm", double threshold = 0.5);
  void clear() override;
  std::vector<double> eval() const override;
  double value() const override;
  bool empty() const override { return !counted_; }
  bool adds_up() const override { return true; }
  std::map<std::string, std::vector<double>> counts() const override;
  int64_t num_classes() const { return classes_; }
  int64_t count(int64_t label, int64_t prediction) const;

 protected:
  void add(const std::vector<Tensor>& inputs) override;
  void archive(CountArchive& counts) override { counts.same(classes_)(counted_)(counts_); }

 private:
  int64_t wanted_classes_, classes_;
  std::string normalize_;
  double threshold_;
  bool counted_ = false;
  std::vector<int64_t> counts_;
};

/// Sum of |prediction - label| (MAE) or its square (MSE) over all elements, divided by the number of samples (dimension 0 of the labels), as in
/// MindSpore.
class SINDRI_API ErrorMetric : public Metric {
 public:
  void clear() override { sum_ = 0, samples_ = 0; }
  std::vector<double> eval() const override;
  bool scores_classes() const override { return false; }
  bool empty() const override { return samples_ == 0; }
  bool adds_up() const override { return true; }
  std::map<std::string, std::vector<double>> counts() const override;

 protected:
  ErrorMetric(const char* name, bool squared) : name_(name), squared_(squared) {}
  void add(const std::vector<Tensor>& inputs) override;
  void archive(CountArchive& counts) override { counts(sum_)(samples_); }

 private:
  const char* name_;
  bool squared_;
  double sum_ = 0;
  int64_t samples_ = 0;
};
/// Mean absolute error (MindSpore: train.MAE).
class SINDRI_API MAE final : public ErrorMetric {
 public:
  MAE() : ErrorMetric("MAE", false) {}
};
/// Mean squared error (MindSpore: train.MSE).
class SINDRI_API MSE final : public ErrorMetric {
 public:
  MSE() : ErrorMetric("MSE", true) {}
};

/// exp of the mean of -log p(label): predictions are probabilities [..., C], labels [...].
class SINDRI_API Perplexity final : public Metric {
 public:
  /// Samples labelled ignore_label, which need be no class, count nothing.
  explicit Perplexity(std::optional<int64_t> ignore_label = std::nullopt) : ignore_label_(ignore_label) {}
  void clear() override { sum_ = 0, count_ = 0; }
  std::vector<double> eval() const override;
  bool scores_classes() const override { return false; }
  bool empty() const override { return count_ == 0; }
  bool adds_up() const override { return true; }
  std::map<std::string, std::vector<double>> counts() const override;

 protected:
  void add(const std::vector<Tensor>& inputs) override;
  void archive(CountArchive& counts) override { counts(sum_)(count_); }

 private:
  std::optional<int64_t> ignore_label_;
  double sum_ = 0;
  int64_t count_ = 0;
};

/// BLEU of translations: uniform weights over 1 … n_gram grams, a brevity penalty; `smooth` adds one to hits and counts. Of texts, not of tensors.
class SINDRI_API BleuScore final {
 public:
  using Words = std::vector<std::string>;
  /// Throws ValueError unless n_gram is 1 to 4.
  explicit BleuScore(int64_t n_gram = 4, bool smooth = false);
  void clear();
  /// Each candidate with its references. Throws ValueError for lists of different lengths and a candidate without references.
  void update(const std::vector<Words>& candidates, const std::vector<std::vector<Words>>& references);
  /// 0 when some length of gram never hit. Throws ValueError before any update.
  double eval() const;
  bool empty() const { return !updated_; }
  bool smooth() const { return smooth_; }
  /// Hits ("numerator") and grams ("denominator") by length of gram.
  std::map<std::string, std::vector<double>> counts() const;
  /// Hands each of its counts to `counts`, as a Metric does.
  void archive(CountArchive& counts) { counts(updated_)(length_)(reference_length_)(hits_)(counts_); }

 private:
  bool smooth_, updated_ = false;
  int64_t length_ = 0, reference_length_ = 0;
  std::vector<int64_t> hits_, counts_;  // by length of gram
};

}  // namespace sindri::nn
