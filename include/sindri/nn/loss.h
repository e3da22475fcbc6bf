// Losses, and the cell that joins a network with one. Every loss has its arithmetic in a rule, which is registered by name
// (sindri/nn/registry.h): the classes here, nn::make_loss, settings files and Python's classes are made of the rules.
#pragma once
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "sindri/nn/cell.h"

namespace sindri::nn {

/// Throws ValueError unless the reduction is "mean", "sum" or "none"; `who` is named.
SINDRI_API void check_reduction(const std::string& who, const std::string& reduction);
/// x reduced over all dimensions: "mean", "sum", "none", or "batchmean", the sum divided by the first dimension. Half types, which hold neither the sum nor the number of many elements, are
/// reduced in float32 and come back in their own; so do integers.
SINDRI_API Tensor reduce_loss(const Tensor& x, const std::string& reduction);
/// weights·x reduced so; weights broadcast, undefined: ones; `factor` multiplies, too.
SINDRI_API Tensor reduce_loss(const Tensor& x, const Tensor& weights, double factor, const std::string& reduction);

/// What the second input of a loss is, as data of class numbers sees it.
enum class LossLabels {
  kClasses,  ///< class numbers [N], or [N, d...]
  kOneHot,  ///< values of the logits' shape, which one-hot rows are
  kOther,  ///< neither
};

/// The arithmetic of a loss with its settings in it; make_loss makes a Cell of it.
struct LossRule {
  LossLabels labels = LossLabels::kOneHot;
  std::vector<std::string> inputs = {"logits", "labels"};
  std::vector<std::string> optional = {};  ///< tensors behind the inputs that may be left out, undefined then: weights
  /// One of the two; both take inputs and optional tensors, work in eager and graph mode, and throw ShapeError, ValueError, DTypeError, DataError.
  std::function<Tensor(Span<const Tensor>)> terms = nullptr;  ///< what is to be reduced: by element, row or sample
  /// The loss itself, of a loss that reduces in its own way ("mean", "sum" or "none"), as by weight.
  std::function<Tensor(Span<const Tensor>, const std::string& reduction)> reduced = nullptr;
  /// What the mean divides by, of the labels and the optional tensors, all on the host; null: by a number that is the same for each sample.
  std::function<double(const Tensor& labels, Span<const Tensor> optional)> divisor = nullptr;
};

/// What the mean of a loss of class numbers divides by: the summed weights of the labels that are not ignored; weight undefined: their number.
/// Probabilities, which are floating, count by sample. Host tensors; a label that is neither a class nor ignored counts nothing.
SINDRI_API double label_weight(const Tensor& labels, const Tensor& weight, int64_t ignore_index);

/// The rule for class numbers [N] instead of the one-hot rows [N, C] that it takes.
SINDRI_API LossRule of_class_numbers(LossRule rule);

/// Base of losses of two tensors. reduction: "mean", "sum" or "none".
class SINDRI_API LossBase : public Cell {
 public:
  /// Throws ValueError for another reduction.
  LossBase(std::string class_name, std::string reduction);
  /// Takes (logits, labels).
  Value construct_values(Span<const Value> in) override;
  virtual Tensor compute(const Tensor& logits, const Tensor& labels) = 0;
  const std::string& reduction() const { return reduction_; }
  /// What the mean of a batch divides by, so that the means of batches of any sizes make up that of all samples: the number of samples, or what the
  /// loss weighs them with. Labels on the host.
  virtual double divisor(const Tensor& labels) const { return labels.rank() > 0 ? static_cast<double>(labels.dim(0)) : 1; }

 protected:
  /// weights·x, reduced over all dimensions.
  Tensor get_loss(const Tensor& x, double weights = 1) const;

 private:
  std::string reduction_;
};

/// A loss of a rule: takes the rule's inputs.
class SINDRI_API RuleLoss : public LossBase {
 public:
  /// optional: as many as the rule names, or none. Throws ValueError for another number, or another reduction.
  RuleLoss(std::string class_name, std::string reduction, LossRule rule, std::vector<Tensor> optional = {});
  Value construct_values(Span<const Value> in) override;
  Tensor compute(const Tensor& logits, const Tensor& labels) override;
  double divisor(const Tensor& labels) const override;
  const LossRule& rule() const { return rule_; }

 private:
  Tensor of(std::vector<Tensor> inputs) const;
  LossRule rule_;
  std::vector<Tensor> optional_;
};

/// Of SoftmaxCrossEntropyWithLogits: form of the labels and reduction.
struct SoftmaxCrossEntropyOptions {
  bool sparse = false;  ///< labels: class indices [N] int32/int64; else probabilities [N, C]
  std::string reduction = "none";
};

/// -log softmax(logits) at the label: logits [N, C] -> [N], or its reduction.
class SINDRI_API SoftmaxCrossEntropyWithLogits final : public RuleLoss {
 public:
  using Options = SoftmaxCrossEntropyOptions;
  explicit SoftmaxCrossEntropyWithLogits(Options o);
  static std::shared_ptr<SoftmaxCrossEntropyWithLogits> make(Options o) { return std::make_shared<SoftmaxCrossEntropyWithLogits>(std::move(o)); }
};

/// Of CrossEntropySmooth: form of the labels, smoothing and classes.
struct CrossEntropySmoothOptions {
  bool sparse = true;
  std::string reduction = "mean";
  double smooth_factor = 0;
  int64_t num_classes = 1000;
};

/// Label smoothing of the MindSpore ResNet scripts: 1 - f on the label and f/(C - 1) on the other classes (PyTorch spreads f over
/// all C). Dense labels (sparse false) are taken as they are.
class SINDRI_API CrossEntropySmooth final : public RuleLoss {
 public:
  using Options = CrossEntropySmoothOptions;
  explicit CrossEntropySmooth(Options o);
  static std::shared_ptr<CrossEntropySmooth> make(Options o) { return std::make_shared<CrossEntropySmooth>(std::move(o)); }
  Tensor compute(const Tensor& logits, const Tensor& labels) override;

 private:
  int64_t num_classes_;
};

/// Of CrossEntropyLoss: class weights, ignored labels, smoothing and reduction.
struct CrossEntropyLossOptions {
  Tensor weight = {};  ///< [C] weight per class; undefined: ones
  int64_t ignore_index = -100;
  std::string reduction = "mean";
  double label_smoothing = 0;
};

/// PyTorch's CrossEntropyLoss: logits [N, C] or [N, C, d...] (or [C] of one sample), labels class indices [N, d...] or probabilities of logits' shape.
/// The mean of indices divides by the summed weights of the labels that are not ignored, that of probabilities by their number.
class SINDRI_API CrossEntropyLoss final : public RuleLoss {
 public:
  using Options = CrossEntropyLossOptions;
  explicit CrossEntropyLoss(Options o);
  static std::shared_ptr<CrossEntropyLoss> make(Options o = {}) { return std::make_shared<CrossEntropyLoss>(std::move(o)); }
};

/// Of losses that have nothing else to set.
struct ReductionOptions {
  std::string reduction = "mean";
};

/// (logits - labels)².
class SINDRI_API MSELoss final : public RuleLoss {
 public:
  using Options = ReductionOptions;
  explicit MSELoss(Options o);
  static std::shared_ptr<MSELoss> make(Options o = {}) { return std::make_shared<MSELoss>(std::move(o)); }
};

/// |logits - labels|.
class SINDRI_API L1Loss final : public RuleLoss {
 public:
  using Options = ReductionOptions;
  explicit L1Loss(Options o);
  static std::shared_ptr<L1Loss> make(Options o = {}) { return std::make_shared<L1Loss>(std::move(o)); }
};

/// Of BCEWithLogitsLoss: weights and reduction.
struct BCEWithLogitsLossOptions {
  std::string reduction = "mean";
  Tensor weight = {};  ///< factor per element, broadcast; undefined: ones
  Tensor pos_weight = {};  ///< factor on the positive term, broadcast; undefined: ones
};

/// Binary cross entropy of sigmoid(logits): -(pos_weight·y·log σ(x) + (1 - y)·log(1 - σ(x)))·weight, computed without overflow.
class SINDRI_API BCEWithLogitsLoss final : public RuleLoss {
 public:
  using Options = BCEWithLogitsLossOptions;
  explicit BCEWithLogitsLoss(Options o);
  static std::shared_ptr<BCEWithLogitsLoss> make(Options o = {}) { return std::make_shared<BCEWithLogitsLoss>(std::move(o)); }
};

/// loss_fn(backbone(inputs...), labels): takes the backbone's inputs, then the labels. Parameters keep the backbone's names.
class SINDRI_API WithLossCell final : public Cell {
 public:
  WithLossCell(CellPtr backbone, CellPtr loss_fn);
  static std::shared_ptr<WithLossCell> make(CellPtr backbone, CellPtr loss_fn) {
    return std::make_shared<WithLossCell>(std::move(backbone), std::move(loss_fn));
  }
  Value construct_values(Span<const Value> in) override;
  const CellPtr& backbone() const { return backbone_; }

 private:
  CellPtr backbone_, loss_fn_;
};

}  // namespace sindri::nn
