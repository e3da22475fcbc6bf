// Losses, and the Cell that joins a network with one. The arithmetic of every loss is in a rule that is registered by
// name (sindri/nn/registry.h). The classes here, nn::make_loss, settings files and Python's classes are built from the
// rules.
#pragma once
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "sindri/nn/cell.h"

namespace sindri::nn {

/// Throws ValueError, naming `who`, unless the reduction is "mean", "sum" or "none".
SINDRI_API void check_reduction(const std::string& who, const std::string& reduction);
/// Reduces x over all dimensions by "mean", "sum", "none" or "batchmean", the sum divided by the first dimension. Half
/// types and integers are reduced in float32 and returned in x's type, since half types can represent neither the sum
/// of many elements nor their number.
SINDRI_API Tensor reduce_loss(const Tensor& x, const std::string& reduction);
/// Reduces weights·factor·x in the same way; weights broadcast, undefined weights are ones.
SINDRI_API Tensor reduce_loss(const Tensor& x, const Tensor& weights, double factor, const std::string& reduction);

/// Meaning of a loss's second input, for data whose labels are class numbers.
enum class LossLabels {
  kClasses,  ///< class numbers [N], or [N, d...]
  kOneHot,  ///< values of the logits' shape, such as one-hot rows
  kOther,  ///< neither
};

/// The arithmetic of a loss with its settings applied; make_loss turns it into a Cell.
struct LossRule {
  LossLabels labels = LossLabels::kOneHot;  ///< meaning of the second input
  std::vector<std::string> inputs = {"logits", "labels"};  ///< names of the inputs, in order
  /// Names of optional tensors that follow the inputs, such as weights. An omitted one is undefined.
  std::vector<std::string> optional = {};
  /// Set either `terms` or `reduced`. Both take the inputs and optional tensors, work in eager and graph mode, and
  /// throw ShapeError, ValueError, DTypeError or DataError.
  std::function<Tensor(Span<const Tensor>)> terms = nullptr;  ///< values to be reduced: one per element, row or sample
  /// The reduced loss, for losses with their own reduction ("mean", "sum" or "none"), such as a mean by weight.
  std::function<Tensor(Span<const Tensor>, const std::string& reduction)> reduced = nullptr;
  /// Divisor of the mean, from the labels and the optional tensors, all on the host; null: the number of samples.
  std::function<double(const Tensor& labels, Span<const Tensor> optional)> divisor = nullptr;
};

/// Divisor of the mean of a loss whose labels are class numbers. It is the sum of the weights of the labels that are
/// not ignored; if `weight` is undefined, their number. With a weight, a label that is neither a class nor ignored adds
/// 0. For floating labels, which are probabilities, it is the number of samples. Takes host tensors.
SINDRI_API double label_weight(const Tensor& labels, const Tensor& weight, int64_t ignore_index);

/// Returns a rule that takes class numbers [N] in place of the one-hot rows [N, C] that `rule` takes.
SINDRI_API LossRule of_class_numbers(LossRule rule);

/// Base of losses of two tensors, logits and labels, with reduction "mean", "sum" or "none" (MindSpore: nn.LossBase).
class SINDRI_API LossBase : public Cell {
 public:
  /// Throws ValueError for another reduction.
  LossBase(std::string class_name, std::string reduction);
  /// Takes (logits, labels).
  Value construct_values(Span<const Value> in) override;
  /// The loss of logits and labels, reduced by reduction().
  virtual Tensor compute(const Tensor& logits, const Tensor& labels) = 0;
  /// "mean", "sum" or "none".
  const std::string& reduction() const { return reduction_; }
  /// Divisor of a batch's mean loss: the number of samples, or the total weight that the loss gives them. Batch means
  /// weighted by their divisors combine to the mean over all samples, whatever the batch sizes. The labels are on the
  /// host.
  virtual double divisor(const Tensor& labels) const { return labels.rank() > 0 ? static_cast<double>(labels.dim(0)) : 1; }

 protected:
  /// Reduces weights·x over all dimensions by reduction().
  Tensor get_loss(const Tensor& x, double weights = 1) const;

 private:
  std::string reduction_;
};

/// A loss made from a rule; takes the rule's inputs.
class SINDRI_API RuleLoss : public LossBase {
 public:
  /// `optional` holds as many tensors as the rule names, or none. Throws ValueError for any other number of tensors or
  /// any other reduction.
  RuleLoss(std::string class_name, std::string reduction, LossRule rule, std::vector<Tensor> optional = {});
  Value construct_values(Span<const Value> in) override;
  Tensor compute(const Tensor& logits, const Tensor& labels) override;
  double divisor(const Tensor& labels) const override;
  /// The rule.
  const LossRule& rule() const { return rule_; }

 private:
  Tensor of(std::vector<Tensor> inputs) const;
  LossRule rule_;
  std::vector<Tensor> optional_;
};

/// Options of SoftmaxCrossEntropyWithLogits.
struct SoftmaxCrossEntropyOptions {
  bool sparse = false;  ///< labels are class indices [N] int32 or int64, else probabilities [N, C]
  std::string reduction = "none";  ///< "mean", "sum" or "none"
};

/// -log softmax(logits) at the label, for logits [N, C] -> [N], or its reduction (MindSpore:
/// nn.SoftmaxCrossEntropyWithLogits).
class SINDRI_API SoftmaxCrossEntropyWithLogits final : public RuleLoss {
 public:
  using Options = SoftmaxCrossEntropyOptions;
  explicit SoftmaxCrossEntropyWithLogits(Options o);
  static std::shared_ptr<SoftmaxCrossEntropyWithLogits> make(Options o) { return std::make_shared<SoftmaxCrossEntropyWithLogits>(std::move(o)); }
};

/// Options of CrossEntropySmooth.
struct CrossEntropySmoothOptions {
  bool sparse = true;  ///< labels are class indices [N], else probabilities [N, C]
  std::string reduction = "mean";  ///< "mean", "sum" or "none"
  double smooth_factor = 0;  ///< f: from 0 to 1 - 1/C
  int64_t num_classes = 1000;  ///< C: at least 2; the logits must have this many classes
};

/// Cross entropy with the label smoothing of MindSpore's ResNet scripts: 1 - f on the label and f/(C - 1) on the other
/// classes (PyTorch spreads f over all C). Dense labels (sparse false) are used unchanged.
class SINDRI_API CrossEntropySmooth final : public RuleLoss {
 public:
  using Options = CrossEntropySmoothOptions;
  /// Throws ValueError for fewer than 2 classes and a smooth_factor out of range.
  explicit CrossEntropySmooth(Options o);
  static std::shared_ptr<CrossEntropySmooth> make(Options o) { return std::make_shared<CrossEntropySmooth>(std::move(o)); }
  Tensor compute(const Tensor& logits, const Tensor& labels) override;

 private:
  int64_t num_classes_;
};

/// Options of CrossEntropyLoss.
struct CrossEntropyLossOptions {
  Tensor weight = {};  ///< [C], weight per class; undefined: ones
  int64_t ignore_index = -100;  ///< rows with this label are ignored
  std::string reduction = "mean";  ///< "mean", "sum" or "none"
  double label_smoothing = 0;  ///< share of the target spread over all classes
};

/// PyTorch's CrossEntropyLoss: logits [N, C] or [N, C, d...] (or [C] for one sample), labels class indices [N, d...] or
/// probabilities of the logits' shape. For indices, the mean divides by the sum of the weights of the labels that are
/// not ignored; for probabilities, by the number of positions [N, d...].
class SINDRI_API CrossEntropyLoss final : public RuleLoss {
 public:
  using Options = CrossEntropyLossOptions;
  /// Throws ShapeError for a weight that is not [C].
  explicit CrossEntropyLoss(Options o);
  static std::shared_ptr<CrossEntropyLoss> make(Options o = {}) { return std::make_shared<CrossEntropyLoss>(std::move(o)); }
};

/// Options of losses that have only a reduction.
struct ReductionOptions {
  std::string reduction = "mean";  ///< "mean", "sum" or "none"
};

/// Squared error (logits - labels)² (MindSpore: nn.MSELoss).
class SINDRI_API MSELoss final : public RuleLoss {
 public:
  using Options = ReductionOptions;
  explicit MSELoss(Options o);
  static std::shared_ptr<MSELoss> make(Options o = {}) { return std::make_shared<MSELoss>(std::move(o)); }
};

/// Absolute error |logits - labels| (MindSpore: nn.L1Loss).
class SINDRI_API L1Loss final : public RuleLoss {
 public:
  using Options = ReductionOptions;
  explicit L1Loss(Options o);
  static std::shared_ptr<L1Loss> make(Options o = {}) { return std::make_shared<L1Loss>(std::move(o)); }
};

/// Options of BCEWithLogitsLoss.
struct BCEWithLogitsLossOptions {
  std::string reduction = "mean";  ///< "mean", "sum" or "none"
  Tensor weight = {};  ///< factor per element, broadcast; undefined: ones
  Tensor pos_weight = {};  ///< factor on the positive term, broadcast; undefined: ones
};

/// Binary cross entropy of sigmoid(logits), computed without overflow (MindSpore: nn.BCEWithLogitsLoss):
/// -(pos_weight·y·log σ(x) + (1 - y)·log(1 - σ(x)))·weight.
class SINDRI_API BCEWithLogitsLoss final : public RuleLoss {
 public:
  using Options = BCEWithLogitsLossOptions;
  explicit BCEWithLogitsLoss(Options o);
  static std::shared_ptr<BCEWithLogitsLoss> make(Options o = {}) { return std::make_shared<BCEWithLogitsLoss>(std::move(o)); }
};

/// Joins a network with its loss: loss_fn(backbone(inputs...), labels). Takes the backbone's inputs, then the labels.
/// Parameters keep the backbone's names (MindSpore: nn.WithLossCell). Under mixed precision the loss is computed in
/// float32.
class SINDRI_API WithLossCell final : public Cell {
 public:
  /// Throws ValueError if one of the two is null.
  WithLossCell(CellPtr backbone, CellPtr loss_fn);
  static std::shared_ptr<WithLossCell> make(CellPtr backbone, CellPtr loss_fn) {
    return std::make_shared<WithLossCell>(std::move(backbone), std::move(loss_fn));
  }
  Value construct_values(Span<const Value> in) override;
  /// The network.
  const CellPtr& backbone() const { return backbone_; }

 private:
  CellPtr backbone_, loss_fn_;
};

}  // namespace sindri::nn
