// Loss Cells. The rules compute the losses (loss_rules.cc, loss_rules_classes.cc).
#include "sindri/nn/loss.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "sindri/amp/amp.h"
#include "sindri/core/error.h"
#include "sindri/core/nearest.h"
#include "sindri/nn/registry.h"
#include "sindri/ops/elementwise.h"
#include "sindri/ops/loss.h"
#include "sindri/ops/reduce.h"
#include "sindri/ops/shape.h"

namespace sindri::nn {

namespace {

Value in_float32(const Value& v) {
  std::vector<Tensor> tensors = v.flatten();
  for (Tensor& t : tensors) t = amp::cast_floating(t, DType::kFloat32);
  return v.with_tensors(tensors);
}

}  // namespace

void check_reduction(const std::string& who, const std::string& reduction) {
  if (reduction != "mean" && reduction != "sum" && reduction != "none")
    throw ValueError(fmt::format("{}: reduction '{}' is not known", who, reduction), "", did_you_mean(reduction, {"mean", "sum", "none"}));
}

LossBase::LossBase(std::string class_name, std::string reduction) : Cell(std::move(class_name)), reduction_(std::move(reduction)) {
  check_reduction(this->class_name(), reduction_);
}

Value LossBase::construct_values(Span<const Value> in) {
  const std::vector<Tensor> args = tensor_inputs(in, 2);
  return compute(args[0], args[1]);
}

Tensor LossBase::get_loss(const Tensor& x, double weights) const { return reduce_loss(x, {}, weights, reduction_); }

Tensor reduce_loss(const Tensor& x, const std::string& reduction) { return reduce_loss(x, {}, 1, reduction); }

Tensor reduce_loss(const Tensor& x, const Tensor& weights, double factor, const std::string& reduction) {
  const DType dtype = x.dtype();
  Tensor y = is_half(dtype) || !is_floating(dtype) ? ops::cast(x, DType::kFloat32) : x;
  if (weights.defined()) y = ops::mul(ops::cast(weights, y.dtype()), y);
  if (factor != 1) y = ops::mul(y, factor);
  if (reduction == "mean") y = ops::mean(y);
  else if (reduction == "sum") y = ops::sum(y);
  else if (reduction == "batchmean") y = ops::div(ops::sum(y), static_cast<double>(x.dim(0)));
  else check_reduction("reduce_loss", reduction);
  return y.dtype() == dtype ? y : ops::cast(y, dtype);
}

RuleLoss::RuleLoss(std::string class_name, std::string reduction, LossRule rule, std::vector<Tensor> optional)
    : LossBase(std::move(class_name), std::move(reduction)), rule_(std::move(rule)), optional_(std::move(optional)) {
  if (!optional_.empty() && optional_.size() != rule_.optional.size())
    throw ValueError(fmt::format("{} has {} optional tensors, got {}", this->class_name(), rule_.optional.size(), optional_.size()));
  optional_.resize(rule_.optional.size());
}

Value RuleLoss::construct_values(Span<const Value> in) {
  std::vector<Tensor> t = tensor_inputs(in, rule_.inputs.size());
  return t.size() == 2 ? compute(t[0], t[1]) : of(std::move(t));
}

Tensor RuleLoss::compute(const Tensor& logits, const Tensor& labels) { return of({logits, labels}); }

double RuleLoss::divisor(const Tensor& labels) const {
  if (!rule_.divisor) return LossBase::divisor(labels);
  std::vector<Tensor> host;
  for (const Tensor& t : optional_) host.push_back(t.defined() ? to_host({&t, 1}, "loss weights")[0] : t);
  return rule_.divisor(labels, host);
}

Tensor RuleLoss::of(std::vector<Tensor> inputs) const {
  inputs.insert(inputs.end(), optional_.begin(), optional_.end());
  return compute_loss(rule_, std::move(inputs), reduction());
}

// Half types cannot hold the intermediate squares and sums.
Tensor compute_loss(const LossRule& rule, std::vector<Tensor> tensors, const std::string& reduction) {
  std::optional<DType> result;
  bool narrow = false;
  for (const Tensor& t : tensors) {
    if (!t.defined() || !is_floating(t.dtype())) continue;
    result = result ? promote_types(*result, t.dtype()) : t.dtype();
    narrow = narrow || is_half(t.dtype());
  }
  if (narrow) {
    const DType inside = is_half(*result) ? DType::kFloat32 : *result;
    for (Tensor& t : tensors)
      if (t.defined() && is_floating(t.dtype()) && t.dtype() != inside) t = ops::cast(t, inside);
  }
  Tensor loss;
  if (rule.reduced) loss = rule.reduced(tensors, reduction.empty() ? "mean" : reduction);
  else loss = reduction.empty() ? rule.terms(tensors) : reduce_loss(rule.terms(tensors), reduction);
  return narrow && loss.dtype() != *result ? ops::cast(loss, *result) : loss;
}

LossRule of_class_numbers(LossRule rule) {
  const auto one_hot = [](Span<const Tensor> t) {
    std::vector<Tensor> out(t.begin(), t.end());
    if (t[0].rank() != 2) throw ShapeError(fmt::format("logits must be [N, C], got {}", t[0].meta().str()));
    out[1] = ops::one_hot(ops::check_labels(t[1], t[0].dim(1)), t[0].dim(1), 1, 0, t[0].dtype());
    return out;
  };
  rule.labels = LossLabels::kClasses;
  if (rule.terms) rule.terms = [one_hot, inner = rule.terms](Span<const Tensor> t) { return inner(one_hot(t)); };
  if (rule.reduced) rule.reduced = [one_hot, inner = rule.reduced](Span<const Tensor> t, const std::string& how) { return inner(one_hot(t), how); };
  return rule;
}

Registry<MakeLoss>& losses() {
  static Registry<MakeLoss>& all = *new Registry<MakeLoss>("loss");  // filled before main by each library
  return all;
}

CellPtr make_loss(const std::string& name, const std::map<std::string, SettingValue>& settings, const std::string& reduction,
                  std::map<std::string, Tensor> optional) {
  LossRule rule = losses().make(name, settings);
  std::vector<Tensor> tensors;
  for (const std::string& key : rule.optional) {
    const auto it = optional.find(key);
    tensors.push_back(it == optional.end() ? Tensor() : it->second);
    if (it != optional.end()) optional.erase(it);
  }
  if (!optional.empty())
    throw ValueError(fmt::format("the loss '{}' has no optional tensor '{}'", name, optional.begin()->first), "",
                     did_you_mean(optional.begin()->first, rule.optional));
  return std::make_shared<RuleLoss>(name, reduction, std::move(rule), std::move(tensors));
}

SoftmaxCrossEntropyWithLogits::SoftmaxCrossEntropyWithLogits(Options o)
    : RuleLoss("SoftmaxCrossEntropyWithLogits", o.reduction, losses().make(o.sparse ? "softmax_cross_entropy" : "softmax_cross_entropy_dense", {})) {}

namespace {

LossRule smooth_rule(const CrossEntropySmoothOptions& o) {
  if (o.num_classes < 2) throw ValueError(fmt::format("CrossEntropySmooth: num_classes must be at least 2, got {}", o.num_classes));
  const double most = 1 - 1 / static_cast<double>(o.num_classes);
  if (!(o.smooth_factor >= 0 && o.smooth_factor <= most))
    throw ValueError(fmt::format("CrossEntropySmooth: smooth_factor must be from 0 to {:.4g} (the uniform distribution), got {}", most, o.smooth_factor));
  return o.sparse ? losses().make("softmax_cross_entropy", {{"label_smoothing", o.smooth_factor}}) : losses().make("softmax_cross_entropy_dense", {});
}

}  // namespace

CrossEntropySmooth::CrossEntropySmooth(Options o) : RuleLoss("CrossEntropySmooth", o.reduction, smooth_rule(o)), num_classes_(o.num_classes) {}

Tensor CrossEntropySmooth::compute(const Tensor& logits, const Tensor& labels) {
  if (logits.rank() < 2 || logits.dim(1) != num_classes_)
    throw ShapeError(fmt::format("CrossEntropySmooth: num_classes is {}, the logits are {}", num_classes_, logits.meta().str()));
  return RuleLoss::compute(logits, labels);
}

CrossEntropyLoss::CrossEntropyLoss(Options o)
    : RuleLoss("CrossEntropyLoss", o.reduction, losses().make("cross_entropy", {{"ignore_index", o.ignore_index}, {"label_smoothing", o.label_smoothing}}),
               {o.weight}) {
  if (o.weight.defined() && o.weight.rank() != 1) throw ShapeError(fmt::format("CrossEntropyLoss: weight must be [C], got {}", o.weight.meta().str()));
}

MSELoss::MSELoss(Options o) : RuleLoss("MSELoss", o.reduction, losses().make("mse", {})) {}
L1Loss::L1Loss(Options o) : RuleLoss("L1Loss", o.reduction, losses().make("l1", {})) {}
BCEWithLogitsLoss::BCEWithLogitsLoss(Options o)
    : RuleLoss("BCEWithLogitsLoss", o.reduction, losses().make("binary_cross_entropy_with_logits", {}), {o.weight, o.pos_weight}) {}

WithLossCell::WithLossCell(CellPtr backbone, CellPtr loss_fn)
    : Cell("WithLossCell"), backbone_(child("backbone", std::move(backbone), false)), loss_fn_(child("loss_fn", std::move(loss_fn), false)) {}

Value WithLossCell::construct_values(Span<const Value> in) {
  if (in.size() < 2)
    throw ValueError(fmt::format("WithLossCell takes the network's inputs and the labels, got {} value{}", in.size(), in.size() == 1 ? "" : "s"));
  const Value logits = backbone_->call(in.first(in.size() - 1));
  if (!amp::is_casting()) return loss_fn_->call({logits, in.back()});
  const amp::FullPrecisionScope float32;  // converts output and labels to float32, then computes the loss, as in MindSpore
  return loss_fn_->call({in_float32(logits), in_float32(in.back())});
}

}  // namespace sindri::nn
