// Losses, and the cell that joins a network with one.
#pragma once
#include <memory>
#include <string>

#include "sindri/nn/cell.h"

namespace sindri::nn {

/// Base of losses of two tensors. reduction: "mean", "sum" or "none".
class SINDRI_API LossBase : public Cell {
 public:
  /// Throws ValueError for another reduction.
  LossBase(std::string class_name, std::string reduction);
  /// Takes (logits, labels).
  Value construct_values(Span<const Value> in) override;
  virtual Tensor compute(const Tensor& logits, const Tensor& labels) = 0;
  const std::string& reduction() const { return reduction_; }

 protected:
  /// weights·x, reduced over all dimensions.
  Tensor get_loss(const Tensor& x, double weights = 1) const;

 private:
  std::string reduction_;
};

struct SoftmaxCrossEntropyOptions {
  bool sparse = false;  ///< labels: class indices [N] int32/int64; else probabilities [N, C]
  std::string reduction = "none";
};

/// -log softmax(logits) at the label: logits [N, C] -> [N], or its reduction.
class SINDRI_API SoftmaxCrossEntropyWithLogits final : public LossBase {
 public:
  using Options = SoftmaxCrossEntropyOptions;
  explicit SoftmaxCrossEntropyWithLogits(Options o) : LossBase("SoftmaxCrossEntropyWithLogits", o.reduction), sparse_(o.sparse) {}
  static std::shared_ptr<SoftmaxCrossEntropyWithLogits> make(Options o) { return std::make_shared<SoftmaxCrossEntropyWithLogits>(std::move(o)); }
  Tensor compute(const Tensor& logits, const Tensor& labels) override;

 private:
  bool sparse_;
};

struct CrossEntropySmoothOptions {
  bool sparse = true;
  std::string reduction = "mean";
  double smooth_factor = 0;
  int64_t num_classes = 1000;
};

/// Label smoothing of the MindSpore ResNet scripts: 1 - f on the label and f/(C - 1) on the other classes (PyTorch spreads f over
/// all C). Dense labels (sparse false) are taken as they are.
class SINDRI_API CrossEntropySmooth final : public LossBase {
 public:
  using Options = CrossEntropySmoothOptions;
  explicit CrossEntropySmooth(Options o);
  static std::shared_ptr<CrossEntropySmooth> make(Options o) { return std::make_shared<CrossEntropySmooth>(std::move(o)); }
  Tensor compute(const Tensor& logits, const Tensor& labels) override;

 private:
  Options options_;
};

struct CrossEntropyLossOptions {
  Tensor weight = {};  ///< [C] weight per class; undefined: ones
  int64_t ignore_index = -100;
  std::string reduction = "mean";
  double label_smoothing = 0;
};

/// PyTorch's CrossEntropyLoss: logits [N, C] or [N, C, d...], labels class indices [N, d...] or probabilities of logits' shape.
/// The mean of indices divides by the summed weights of the labels that are not ignored, that of probabilities by their number.
class SINDRI_API CrossEntropyLoss final : public LossBase {
 public:
  using Options = CrossEntropyLossOptions;
  explicit CrossEntropyLoss(Options o);
  static std::shared_ptr<CrossEntropyLoss> make(Options o = {}) { return std::make_shared<CrossEntropyLoss>(std::move(o)); }
  Tensor compute(const Tensor& logits, const Tensor& labels) override;

 private:
  Tensor of_indices(const Tensor& logits, const Tensor& labels);  // rows [N, C], [N]
  Tensor of_probabilities(const Tensor& logits, const Tensor& labels);  // rows [N, C] both
  Options options_;
};

struct ReductionOptions {
  std::string reduction = "mean";
};

/// (logits - labels)².
class SINDRI_API MSELoss final : public LossBase {
 public:
  using Options = ReductionOptions;
  explicit MSELoss(Options o) : LossBase("MSELoss", o.reduction) {}
  static std::shared_ptr<MSELoss> make(Options o = {}) { return std::make_shared<MSELoss>(std::move(o)); }
  Tensor compute(const Tensor& logits, const Tensor& labels) override;
};

/// |logits - labels|.
class SINDRI_API L1Loss final : public LossBase {
 public:
  using Options = ReductionOptions;
  explicit L1Loss(Options o) : LossBase("L1Loss", o.reduction) {}
  static std::shared_ptr<L1Loss> make(Options o = {}) { return std::make_shared<L1Loss>(std::move(o)); }
  Tensor compute(const Tensor& logits, const Tensor& labels) override;
};

struct BCEWithLogitsLossOptions {
  std::string reduction = "mean";
  Tensor weight = {};  ///< factor per element, broadcast; undefined: ones
  Tensor pos_weight = {};  ///< factor on the positive term, broadcast; undefined: ones
};

/// Binary cross entropy of sigmoid(logits): -(pos_weight·y·log σ(x) + (1 - y)·log(1 - σ(x)))·weight, computed without overflow.
class SINDRI_API BCEWithLogitsLoss final : public LossBase {
 public:
  using Options = BCEWithLogitsLossOptions;
  explicit BCEWithLogitsLoss(Options o) : LossBase("BCEWithLogitsLoss", o.reduction), options_(std::move(o)) {}
  static std::shared_ptr<BCEWithLogitsLoss> make(Options o = {}) { return std::make_shared<BCEWithLogitsLoss>(std::move(o)); }
  Tensor compute(const Tensor& logits, const Tensor& labels) override;

 private:
  Options options_;
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
