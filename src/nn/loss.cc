// Losses; formulas in the header.
#include "sindri/nn/loss.h"

#include <fmt/format.h>

#include <numeric>

#include "sindri/amp/amp.h"
#include "sindri/core/error.h"
#include "sindri/core/nearest.h"
#include "sindri/ops/elementwise.h"
#include "sindri/ops/loss.h"
#include "sindri/ops/reduce.h"
#include "sindri/ops/shape.h"

namespace sindri::nn {

namespace {

void check_classes(const char* who, const Tensor& logits) {
  if (logits.rank() < 2) throw ShapeError(fmt::format("{}: logits must be [N, C] or [N, C, d...], got {}", who, logits.meta().str()));
}

void check_same_shape(const char* who, const Tensor& logits, const Tensor& labels) {
  if (logits.shape() != labels.shape())
    throw ShapeError(fmt::format("{}: logits {} and labels {} must have one shape", who, logits.meta().str(), labels.meta().str()));
}

// [N, C, d...] -> [N·d..., C], so that each row is one distribution.
Tensor classes_last(const Tensor& x) {
  if (x.rank() == 2) return x;
  std::vector<int64_t> perm(static_cast<size_t>(x.rank()));
  std::iota(perm.begin(), perm.end(), 0);
  perm.erase(perm.begin() + 1);
  perm.push_back(1);
  return ops::reshape(ops::transpose(x, perm), {-1, x.dim(1)});
}

Value in_float32(const Value& v) {
  std::vector<Tensor> tensors = v.flatten();
  for (Tensor& t : tensors) t = amp::cast_floating(t, DType::kFloat32);
  return v.with_tensors(tensors);
}

}  // namespace

LossBase::LossBase(std::string class_name, std::string reduction) : Cell(std::move(class_name)), reduction_(std::move(reduction)) {
  if (reduction_ != "mean" && reduction_ != "sum" && reduction_ != "none")
    throw ValueError(fmt::format("{}: reduction '{}' is not known", this->class_name(), reduction_), "", did_you_mean(reduction_, {"mean", "sum", "none"}));
}

Value LossBase::construct_values(Span<const Value> in) {
  const std::vector<Tensor> args = tensor_inputs(in, 2);
  return compute(args[0], args[1]);
}

Tensor LossBase::get_loss(const Tensor& x, double weights) const {
  const Tensor weighted = weights == 1 ? x : ops::mul(x, weights);
  if (reduction_ == "mean") return ops::mean(weighted);
  return reduction_ == "sum" ? ops::sum(weighted) : weighted;
}

Tensor SoftmaxCrossEntropyWithLogits::compute(const Tensor& logits, const Tensor& labels) {
  return get_loss(sparse_ ? ops::softmax_cross_entropy_sparse(logits, labels) : ops::softmax_cross_entropy_dense(logits, labels));
}

CrossEntropySmooth::CrossEntropySmooth(Options o) : LossBase("CrossEntropySmooth", o.reduction), options_(std::move(o)) {
  if (options_.num_classes < 2) throw ValueError(fmt::format("CrossEntropySmooth: num_classes must be at least 2, got {}", options_.num_classes));
  const double most = 1 - 1 / static_cast<double>(options_.num_classes);
  if (!(options_.smooth_factor >= 0 && options_.smooth_factor <= most))
    throw ValueError(
        fmt::format("CrossEntropySmooth: smooth_factor must be from 0 to {:.4g} (the uniform distribution), got {}", most, options_.smooth_factor));
}

Tensor CrossEntropySmooth::compute(const Tensor& logits, const Tensor& labels) {
  check_classes("CrossEntropySmooth", logits);
  const auto C = static_cast<double>(options_.num_classes);
  if (logits.dim(1) != options_.num_classes)
    throw ShapeError(fmt::format("CrossEntropySmooth: num_classes is {}, the logits {} have {}", options_.num_classes, logits.meta().str(), logits.dim(1)));
  if (!options_.sparse) return get_loss(ops::softmax_cross_entropy_dense(logits, labels));
  // f/(C-1) off the label equals spreading f·C/(C-1) over all classes.
  return get_loss(ops::softmax_cross_entropy_sparse(logits, labels, options_.smooth_factor * C / (C - 1)));
}

CrossEntropyLoss::CrossEntropyLoss(Options o) : LossBase("CrossEntropyLoss", o.reduction), options_(std::move(o)) {
  if (!(options_.label_smoothing >= 0 && options_.label_smoothing <= 1))
    throw ValueError(fmt::format("CrossEntropyLoss: label_smoothing must be from 0 to 1, got {}", options_.label_smoothing));
  if (options_.weight.defined() && options_.weight.rank() != 1)
    throw ShapeError(fmt::format("CrossEntropyLoss: weight must be [C], got {}", options_.weight.meta().str()));
}

Tensor CrossEntropyLoss::compute(const Tensor& logits, const Tensor& labels) {
  check_classes("CrossEntropyLoss", logits);
  if (options_.weight.defined() && options_.weight.dim(0) != logits.dim(1))
    throw ShapeError(fmt::format("CrossEntropyLoss: weight has {} classes, the logits {} have {}", options_.weight.dim(0), logits.meta().str(), logits.dim(1)));
  Shape spatial = logits.shape();
  spatial.erase(1);
  if (is_floating(labels.dtype())) {
    check_same_shape("CrossEntropyLoss", logits, labels);
    const Tensor rows = of_probabilities(classes_last(logits), classes_last(labels));
    return reduction() == "none" ? ops::reshape(rows, spatial) : get_loss(rows);
  }
  if (labels.shape() != spatial)
    throw ShapeError(fmt::format("CrossEntropyLoss: labels must be {} for logits {}, got {}", spatial.str(), logits.meta().str(), labels.meta().str()));
  const Tensor flat = ops::reshape(labels, {-1});
  const Tensor own = of_indices(classes_last(logits), flat);
  if (reduction() == "none") return ops::reshape(own, spatial);
  if (reduction() == "sum") return ops::sum(own);
  // Half types hold neither the sum nor the number of many rows.
  const Tensor rows = is_half(own.dtype()) ? ops::cast(own, DType::kFloat32) : own;
  const Tensor counted = ops::cast(ops::not_equal(flat, ops::scalar_like(flat, static_cast<double>(options_.ignore_index))), rows.dtype());
  if (!options_.weight.defined()) return ops::cast(ops::div(ops::sum(rows), ops::sum(counted)), own.dtype());
  const Tensor row_weight = ops::sum(ops::mul(ops::one_hot(flat, logits.dim(1), 1, 0, rows.dtype()), ops::cast(options_.weight, rows.dtype())), {1});
  return ops::cast(ops::div(ops::sum(rows), ops::sum(ops::mul(row_weight, counted))), own.dtype());
}

Tensor CrossEntropyLoss::of_indices(const Tensor& logits, const Tensor& labels) {
  if (!options_.weight.defined()) return ops::softmax_cross_entropy_sparse(logits, labels, options_.label_smoothing, options_.ignore_index);
  const int64_t C = logits.dim(1);
  const double s = options_.label_smoothing;
  const Tensor logp = ops::log_softmax(logits, 1);
  const Tensor q = ops::mul(
      ops::one_hot(ops::check_labels(labels, C, options_.ignore_index), C, 1 - s + s / static_cast<double>(C), s / static_cast<double>(C), logp.dtype()),
      ops::cast(options_.weight, logp.dtype()));
  const Tensor counted = ops::cast(ops::not_equal(labels, ops::scalar_like(labels, static_cast<double>(options_.ignore_index))), logp.dtype());
  return ops::neg(ops::mul(ops::sum(ops::mul(q, logp), {1}), counted));
}

Tensor CrossEntropyLoss::of_probabilities(const Tensor& logits, const Tensor& labels) {
  const auto C = static_cast<double>(logits.dim(1));
  const double s = options_.label_smoothing;
  Tensor q = s == 0 ? labels : ops::add(ops::mul(labels, 1 - s), s / C);
  if (!options_.weight.defined()) return ops::softmax_cross_entropy_dense(logits, q);
  q = ops::mul(q, ops::cast(options_.weight, q.dtype()));
  return ops::neg(ops::sum(ops::mul(q, ops::log_softmax(logits, 1)), {1}));
}

Tensor MSELoss::compute(const Tensor& logits, const Tensor& labels) { return get_loss(ops::square(ops::sub(logits, labels))); }
Tensor L1Loss::compute(const Tensor& logits, const Tensor& labels) { return get_loss(ops::abs(ops::sub(logits, labels))); }

Tensor BCEWithLogitsLoss::compute(const Tensor& logits, const Tensor& labels) {
  check_same_shape("BCEWithLogitsLoss", logits, labels);
  // -log sigma(x) = softplus(-x) and -log(1 - sigma(x)) = x + softplus(-x).
  const Tensor tail = ops::softplus(ops::neg(logits));
  const Tensor negative = ops::mul(1.0 - labels, ops::add(logits, tail));
  Tensor positive = ops::mul(labels, tail);
  if (options_.pos_weight.defined()) positive = ops::mul(positive, options_.pos_weight);
  Tensor loss = ops::add(positive, negative);
  if (options_.weight.defined()) loss = ops::mul(loss, options_.weight);
  return get_loss(loss);
}

WithLossCell::WithLossCell(CellPtr backbone, CellPtr loss_fn)
    : Cell("WithLossCell"), backbone_(child("backbone", std::move(backbone), false)), loss_fn_(child("loss_fn", std::move(loss_fn), false)) {}

Value WithLossCell::construct_values(Span<const Value> in) {
  if (in.size() < 2)
    throw ValueError(fmt::format("WithLossCell takes the network's inputs and the labels, got {} value{}", in.size(), in.size() == 1 ? "" : "s"));
  const Value logits = backbone_->call(in.first(in.size() - 1));
  if (!amp::is_casting()) return loss_fn_->call({logits, in.back()});
  const amp::FullPrecisionScope float32;  // output and labels in float32, then the loss, as in MindSpore
  return loss_fn_->call({in_float32(logits), in_float32(in.back())});
}

}  // namespace sindri::nn
