// Metrics, counted on the host over the batches of an evaluation (MindSpore: mindspore.train.metrics). Python's classes
// use these, too.
//
// "Class scores" are predictions [N, C] or [N, C, d...] with labels [N, d...] (class numbers) or one-hot labels of the
// predictions' shape. The predicted class is the first with the largest score; NaN counts as largest, as in NumPy.
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

/// Counts written by a metric, or read into one.
class CountArchive {
 public:
  /// Replaces the metric's counts, or adds to them.
  enum class Into { kReplace, kAdd };
  /// An archive to write to.
  CountArchive() = default;
  /// An archive to read from: values that a metric of the same settings wrote, to replace its counts or be added to
  /// them.
  explicit CountArchive(std::vector<double> values, Into into = Into::kReplace) : values_(std::move(values)), reading_(true), adding_(into == Into::kAdd) {}
  /// Writes, reads or adds one count.
  template <class T>
  requires std::is_arithmetic_v<T> CountArchive& operator()(T& count) {
    if (adding_) count = static_cast<T>(count + static_cast<T>(next()));
    else if (reading_) count = static_cast<T>(next());
    else values_.push_back(static_cast<double>(count));
    return *this;
  }
  /// The same for a list of counts, whose length is stored. Throws ValueError for lists of different lengths.
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
  /// Handles a value that is not a count, such as the number of classes, and that is unknown until something was counted. Throws
  /// ValueError if both sides have one and they differ; 0 means unknown.
  template <class T> CountArchive& same(T& number) {
    if (!adding_) return (*this)(number);
    const auto other = static_cast<T>(next());
    if (number != 0 && other != 0 && number != other) throw_wrong_size();
    if (number == 0) number = other;
    return *this;
  }
  /// Values written so far.
  const std::vector<double>& values() const { return values_; }
  /// Throws ValueError unless all values were read.
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

/// Base of metrics (MindSpore: train.Metric): clear() before an evaluation, update() per batch, eval() at its end.
class SINDRI_API Metric {
 public:
  virtual ~Metric() = default;
  /// Forgets all batches.
  virtual void clear() = 0;
  /// Adds a batch, usually {predictions, labels}. Throws ValueError for a wrong number of inputs, ShapeError for wrong shapes.
  void update(const std::vector<Tensor>& inputs);
  /// The result: one number, or one per class. Throws ValueError before any update.
  virtual std::vector<double> eval() const = 0;
  /// The result as one number: the mean over classes if there are several.
  virtual double value() const;
  /// Whether update() takes the loss instead of predictions and labels.
  virtual bool uses_loss() const { return false; }
  /// Whether the metric takes a classifier's outputs and class labels unchanged; settings files offer these metrics.
  virtual bool scores_classes() const { return !uses_loss(); }
  /// Whether nothing was counted since clear().
  virtual bool empty() const { return false; }
  /// Parts of eval(), by the names MindSpore gives them: "correct_num", "total_num", ….
  virtual std::map<std::string, std::vector<double>> counts() const { return {}; }
  /// All that was counted since clear(), for a copy of the metric. Throws ValueError if the metric does not override
  /// archive.
  std::vector<double> saved() const;
  /// Restores the counts of saved() from a metric with the same settings. Throws ValueError for counts that do not match.
  void restore(std::vector<double> saved);
  /// Whether the counts over parts of the data add up to the counts over all of it (add_saved). False for metrics that keep every
  /// sample or do not override this.
  virtual bool adds_up() const { return false; }
  /// Adds the counts of saved() from a metric with the same settings and other data. Throws ValueError for counts that do not
  /// match, and if adds_up() is false.
  void add_saved(std::vector<double> saved);
  /// Selects which of the values given to update() to use, in this order; empty: all, in their order. Returns *this.
  Metric& set_indexes(std::vector<size_t> indexes);
  /// Counts a label that is not a class as a wrong answer, as in MindSpore, instead of throwing. Affects metrics that
  /// count correct answers. Returns *this.
  Metric& allow_other_labels(bool allow = true);

 protected:
  /// Adds the selected values of one batch.
  virtual void add(const std::vector<Tensor>& inputs) = 0;
  /// Passes each of the metric's counts to `counts`, for saved() and restore(). The default throws ValueError.
  virtual void archive(CountArchive& counts);
  /// Labels that are not a class are allowed.
  bool other_labels_ = false;

 private:
  std::vector<size_t> indexes_;
};

/// Shared ownership of a metric.
using MetricPtr = std::shared_ptr<Metric>;

/// Makes the metric of this name (sindri/nn/registry.h) with default settings: accuracy, precision, F1, loss,
/// top_5_accuracy, …. Throws ValueError with the nearest names.
SINDRI_API MetricPtr make_metric(const std::string& name);
/// Names that make_metric knows, sorted.
SINDRI_API std::vector<std::string> metric_names();

/// Area under the points (x, y) by the trapezoidal rule. x must rise or fall throughout, unless `reorder` sorts the
/// points. Throws ValueError for other x, for different lengths and for fewer than two points.
SINDRI_API double auc(std::vector<double> x, std::vector<double> y, bool reorder = false);

/// Correct answers divided by samples (MindSpore: train.Accuracy). "classification": class scores. "multilabel":
/// predictions and labels [N, C] or [N, C, d...] of 0 and 1; a sample is correct if all its classes are. The number of
/// classes may not change between batches.
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

/// Base of Precision, Recall and Fbeta: counts per class, or for "multilabel" per sample, concatenated over batches, as
/// in MindSpore. Inputs as for Accuracy; a label that is not a class throws DataError.
class SINDRI_API ClassCounts : public Metric {
 public:
  void clear() override;
  bool empty() const override { return classes_ == 0; }
  bool adds_up() const override { return !multilabel_; }
  std::map<std::string, std::vector<double>> counts() const override;

 protected:
  /// Throws ValueError for another eval_type.
  explicit ClassCounts(const char* name, const std::string& eval_type);
  void add(const std::vector<Tensor>& inputs) override;
  void archive(CountArchive& counts) override { counts.same(classes_)(true_positives_)(predicted_)(actual_); }
  /// of_hits·hits / (of_predicted·predicted + of_actual·actual) for each class; 0 if the divisor is 0. Throws
  /// ValueError before any update.
  std::vector<double> rate(double of_hits, double of_predicted, double of_actual) const;
  /// Name of the class, for messages.
  const char* name_;
  /// Whether counts are per sample (eval_type "multilabel").
  bool multilabel_;
  /// Number of classes; 0 before the first batch.
  int64_t classes_ = 0;
  /// Counts of each class or sample.
  std::vector<int64_t> true_positives_, predicted_, actual_;
};

/// True positives divided by predicted positives; 0 if nothing was predicted (MindSpore: train.Precision).
class SINDRI_API Precision final : public ClassCounts {
 public:
  /// Throws ValueError for another eval_type.
  explicit Precision(const std::string& eval_type = "classification") : ClassCounts("Precision", eval_type) {}
  std::vector<double> eval() const override { return rate(1, 1, 0); }
};

/// True positives divided by actual positives; 0 if there are none (MindSpore: train.Recall).
class SINDRI_API Recall final : public ClassCounts {
 public:
  /// Throws ValueError for another eval_type.
  explicit Recall(const std::string& eval_type = "classification") : ClassCounts("Recall", eval_type) {}
  std::vector<double> eval() const override { return rate(1, 0, 1); }
};

/// F-beta, (1 + beta²)·P·R/(beta²·P + R) per class (MindSpore: train.Fbeta).
class SINDRI_API Fbeta final : public ClassCounts {
 public:
  /// Throws ValueError unless beta > 0.
  explicit Fbeta(double beta = 1);
  std::vector<double> eval() const override { return rate(1 + beta_ * beta_, 1, beta_ * beta_); }

 private:
  double beta_;
};

/// Mean of the batches' losses (MindSpore: train.Loss). A batch's loss is one number, or a vector, of which the mean is used.
/// update() gives every batch the same weight, as MindSpore does. Model::eval weights the batches, so that the result is the loss
/// over all samples, whatever the batch size.
class SINDRI_API Loss final : public Metric {
 public:
  void clear() override { sum_ = weight_ = 0, batches_ = totals_ = 0; }
  /// Adds a batch whose loss has this weight, usually its number of samples. A batch of weight 0 is ignored, whatever its loss.
  /// Throws ShapeError as update() does.
  void add_weighted(const Tensor& loss, double weight);
  /// Adds a batch whose loss is a sum: the result is then the sum over all batches. Throws ShapeError as update() does.
  void add_total(const Tensor& loss);
  /// The mean, or the sum after add_total; NaN if all weights are 0.
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

/// Share of samples [N, C] whose label is among the k largest scores (MindSpore: train.TopKCategoricalAccuracy). Of
/// equal scores the lower class ranks first; NaN ranks last.
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

/// Counts [label][prediction] (MindSpore: train.ConfusionMatrix). Takes class scores, or predictions of the labels' shape: class
/// numbers, or scores of class 1, where a score of at least `threshold` predicts class 1. eval() returns the matrix row by row,
/// normalised as `normalize` says; value() returns the share on the diagonal.
class SINDRI_API ConfusionMatrix final : public Metric {
 public:
  /// num_classes 0: found from the first scores. normalize: "no_norm", "target" (rows sum to 1), "prediction" (columns do) or
  /// "all". Throws ValueError for other values.
  explicit ConfusionMatrix(int64_t num_classes = 0, const std::string& normalize = "no_norm", double threshold = 0.5);
  void clear() override;
  std::vector<double> eval() const override;
  double value() const override;
  bool empty() const override { return !counted_; }
  bool adds_up() const override { return true; }
  std::map<std::string, std::vector<double>> counts() const override;
  /// Number of classes; 0 before it is known.
  int64_t num_classes() const { return classes_; }
  /// Samples with this label and prediction. Throws ValueError for a class that is out of range.
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

/// Sum of |prediction - label| (MAE) or its square (MSE) over all elements, divided by the number of samples (dimension
/// 0 of the labels), as in MindSpore.
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

/// exp of the mean of -log p(label) (MindSpore: train.Perplexity): predictions are probabilities [..., C], labels
/// [...].
class SINDRI_API Perplexity final : public Metric {
 public:
  /// Samples labelled ignore_label are not counted; it need not be a class.
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

/// BLEU of translations (Papineni et al. 2002; MindSpore: train.BleuScore): uniform weights over n-grams of length 1 to
/// n_gram, times a brevity penalty. `smooth` adds one to hits and counts. Works on texts, not tensors.
class SINDRI_API BleuScore final {
 public:
  /// A text as its words.
  using Words = std::vector<std::string>;
  /// Throws ValueError unless n_gram is 1 to 4.
  explicit BleuScore(int64_t n_gram = 4, bool smooth = false);
  /// Forgets all texts.
  void clear();
  /// Adds candidates with the references of each. Throws ValueError for lists of different lengths and a candidate
  /// without references.
  void update(const std::vector<Words>& candidates, const std::vector<std::vector<Words>>& references);
  /// The score; 0 if there are no hits for some n-gram length. Throws ValueError before any update.
  double eval() const;
  /// Whether nothing was counted since clear().
  bool empty() const { return !updated_; }
  bool smooth() const { return smooth_; }
  /// Hits ("numerator") and n-grams ("denominator") by n-gram length.
  std::map<std::string, std::vector<double>> counts() const;
  /// Passes each of its counts to `counts`, as Metric::archive does.
  void archive(CountArchive& counts) { counts(updated_)(length_)(reference_length_)(hits_)(counts_); }

 private:
  bool smooth_, updated_ = false;
  int64_t length_ = 0, reference_length_ = 0;
  std::vector<int64_t> hits_, counts_;  // by length of gram
};

}  // namespace sindri::nn
