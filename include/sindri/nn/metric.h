// Metrics: counted on the host over the batches of an evaluation (MindSpore: mindspore.train.metrics).
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "sindri/core/tensor.h"
#include "sindri/export.h"

namespace sindri::nn {

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
  /// Which of the values given to update() to use, in this order; empty: all as they come.
  Metric& set_indexes(std::vector<size_t> indexes);

 protected:
  virtual void add(const std::vector<Tensor>& inputs) = 0;

 private:
  std::vector<size_t> indexes_;
};

using MetricPtr = std::shared_ptr<Metric>;

/// The metric MindSpore registers under that name: accuracy, acc, precision, recall, F1, loss, top_1_accuracy, top_5_accuracy,
/// confusion_matrix, mae, mse, perplexity. Throws ValueError with the nearest names.
SINDRI_API MetricPtr make_metric(const std::string& name);
/// Names make_metric knows, sorted.
SINDRI_API std::vector<std::string> metric_names();

/// "classification": predictions [N, C], labels [N] or one-hot [N, C]; a prediction is the first largest score.
/// "multilabel": predictions and labels [N, C] of 0 and 1; a row counts when it is right throughout.
class SINDRI_API Accuracy final : public Metric {
 public:
  /// Throws ValueError for another eval_type.
  explicit Accuracy(const std::string& eval_type = "classification");
  void clear() override { correct_ = total_ = 0; }
  std::vector<double> eval() const override;

 protected:
  void add(const std::vector<Tensor>& inputs) override;

 private:
  bool multilabel_;
  int64_t correct_ = 0, total_ = 0;
};

/// Counts per class behind precision, recall and F-beta. Inputs as for Accuracy; "multilabel" counts columns.
class SINDRI_API ClassCounts : public Metric {
 public:
  void clear() override;

 protected:
  explicit ClassCounts(const char* name, const std::string& eval_type);
  void add(const std::vector<Tensor>& inputs) override;
  void check_counted() const;
  const char* name_;
  bool multilabel_;
  std::vector<int64_t> true_positives_, predicted_, actual_;
};

/// True positives over predicted ones, per class; 0 for a class never predicted.
class SINDRI_API Precision final : public ClassCounts {
 public:
  explicit Precision(const std::string& eval_type = "classification") : ClassCounts("Precision", eval_type) {}
  std::vector<double> eval() const override;
};

/// True positives over actual ones, per class; 0 for a class that never occurs.
class SINDRI_API Recall final : public ClassCounts {
 public:
  explicit Recall(const std::string& eval_type = "classification") : ClassCounts("Recall", eval_type) {}
  std::vector<double> eval() const override;
};

/// (1 + beta²)·P·R/(beta²·P + R) per class.
class SINDRI_API Fbeta final : public ClassCounts {
 public:
  /// Throws ValueError unless beta > 0.
  explicit Fbeta(double beta = 1);
  std::vector<double> eval() const override;

 private:
  double beta_;
};

/// Mean of the losses of the batches, each one number.
class SINDRI_API Loss final : public Metric {
 public:
  void clear() override { sum_ = 0, count_ = 0; }
  std::vector<double> eval() const override;
  bool uses_loss() const override { return true; }

 protected:
  void add(const std::vector<Tensor>& inputs) override;

 private:
  double sum_ = 0;
  int64_t count_ = 0;
};

/// Share of samples whose label is among the k largest scores; of equal scores the lower class comes first.
class SINDRI_API TopKCategoricalAccuracy final : public Metric {
 public:
  /// Throws ValueError unless k >= 1.
  explicit TopKCategoricalAccuracy(int64_t k);
  void clear() override { correct_ = total_ = 0; }
  std::vector<double> eval() const override;

 protected:
  void add(const std::vector<Tensor>& inputs) override;

 private:
  int64_t k_, correct_ = 0, total_ = 0;
};

/// Counts [label][prediction]. eval(): the rows one after the other, normalised as asked; value(): the share on the diagonal.
class SINDRI_API ConfusionMatrix final : public Metric {
 public:
  /// num_classes 0: taken from the first predictions. normalize: "no_norm", "target" (rows sum to 1), "prediction" (columns) or "all".
  explicit ConfusionMatrix(int64_t num_classes = 0, const std::string& normalize = "no_norm");
  void clear() override;
  std::vector<double> eval() const override;
  double value() const override;
  int64_t num_classes() const { return classes_; }
  int64_t count(int64_t label, int64_t prediction) const;

 protected:
  void add(const std::vector<Tensor>& inputs) override;

 private:
  int64_t wanted_classes_, classes_;
  std::string normalize_;
  std::vector<int64_t> counts_;
};

/// Sum of |prediction - label| (MAE) or its square (MSE) over all elements, divided by the number of samples (dimension 0), as in
/// MindSpore.
class SINDRI_API ErrorMetric : public Metric {
 public:
  void clear() override { sum_ = 0, samples_ = 0; }
  std::vector<double> eval() const override;

 protected:
  ErrorMetric(const char* name, bool squared) : name_(name), squared_(squared) {}
  void add(const std::vector<Tensor>& inputs) override;

 private:
  const char* name_;
  bool squared_;
  double sum_ = 0;
  int64_t samples_ = 0;
};
class SINDRI_API MAE final : public ErrorMetric {
 public:
  MAE() : ErrorMetric("MAE", false) {}
};
class SINDRI_API MSE final : public ErrorMetric {
 public:
  MSE() : ErrorMetric("MSE", true) {}
};

/// exp of the mean of -log p(label): predictions are probabilities [..., C], labels [...].
class SINDRI_API Perplexity final : public Metric {
 public:
  void clear() override { sum_ = 0, count_ = 0; }
  std::vector<double> eval() const override;

 protected:
  void add(const std::vector<Tensor>& inputs) override;

 private:
  double sum_ = 0;
  int64_t count_ = 0;
};

}  // namespace sindri::nn
