// Losses of class scores: softmax cross entropy in its forms, negative log likelihood, focal, margins, Dice.
#include <numeric>

#include "sindri/ops/power.h"
#include "src/nn/loss_rules.h"

namespace sindri::nn {

Tensor classes_last(const Tensor& x) {
  if (x.rank() == 2) return x;
  std::vector<int64_t> perm(static_cast<size_t>(x.rank()));
  std::iota(perm.begin(), perm.end(), 0);
  perm.erase(perm.begin() + 1);
  perm.push_back(1);
  return ops::reshape(ops::transpose(x, perm), {-1, x.dim(1)});
}

double label_weight(const Tensor& labels, const Tensor& weight, int64_t ignore_index) {
  if (is_floating(labels.dtype())) return labels.rank() > 0 ? static_cast<double>(labels.dim(0)) : 1;
  const std::vector<double> weights = weight.defined() ? weight.to_vector<double>() : std::vector<double>();
  double sum = 0;
  for (const int64_t label : labels.to_vector<int64_t>()) {
    if (label == ignore_index) continue;
    if (!weight.defined()) sum += 1;
    else if (label >= 0 && label < static_cast<int64_t>(weights.size())) sum += weights[static_cast<size_t>(label)];
  }
  return sum;
}

namespace {

const SettingSpec kIgnored = int_setting("ignore_index", "-100", "rows with this label are ignored");

void check_class_weight(const char* who, const Tensor& weight, const Tensor& logits) {
  if (!weight.defined()) return;
  if (weight.rank() != 1) throw ShapeError(fmt::format("{}: weight must be [C], got {}", who, weight.meta().str()));
  if (weight.dim(0) != logits.dim(1))
    throw ShapeError(fmt::format("{}: weight has {} classes, the logits {} have {}", who, weight.dim(0), logits.meta().str(), logits.dim(1)));
}

// Returns labels [R] of int32 or int64.
Tensor flat_labels(const Tensor& labels) {
  if (is_floating(labels.dtype()))
    throw DTypeError(fmt::format("labels must be class numbers of an integer type, got {}", labels.meta().str()), "", "cast them to int32");
  const Tensor flat = labels.rank() == 1 ? labels : ops::reshape(labels, {-1});
  return flat.dtype() == DType::kInt32 || flat.dtype() == DType::kInt64 ? flat : ops::cast(flat, DType::kInt32);
}

// Returns the shape of labels and losses for logits [N, C, d...]: [N, d...].
Shape places_of(const char* who, const Tensor& logits, const Tensor& labels) {
  if (logits.rank() < 2) throw ShapeError(fmt::format("{}: logits must be [N, C], [N, C, d...] or [C], got {}", who, logits.meta().str()));
  Shape places = logits.shape();
  places.erase(1);
  if (labels.shape() != places && !is_floating(labels.dtype()))
    throw ShapeError(fmt::format("{}: labels must be {} for logits {}, got {}", who, places.str(), logits.meta().str(), labels.meta().str()));
  return places;
}

// The sum of the losses divided by the sum of their weights.
Tensor weighted_mean(const Tensor& loss, const Tensor& weights) {
  const Tensor rows = wide(loss);
  return ops::cast(ops::div(ops::sum(rows), ops::sum(ops::cast(weights, rows.dtype()))), loss.dtype());
}

// f(logits [1, C], labels [1], reduction) of one sample: logits [C], labels [].
template <class F> Tensor of_one_sample(const F& f, const Tensor& logits, const Tensor& labels, const std::string& reduction) {
  const Tensor y = f(ops::expand_dims(logits, 0), ops::expand_dims(labels, 0));
  return reduction == "none" ? ops::reshape(y, {}) : y;
}

// ---- negative log likelihood

struct NegativeLogLikelihood {
  int64_t ignore_index;
  double smoothing;

  // Maps log probabilities [R, C] and labels [R], which may be ignore_index, to the losses or their reduction. Labels
  // select their entries by index. Rows of ignored labels are removed: a weight of 0 would turn an entry of -inf into
  // NaN.
  Tensor operator()(const Tensor& rows, const Tensor& labels, const Tensor& weight, const Shape& places, const std::string& reduction) const {
    const int64_t C = rows.dim(1);
    const Tensor flat = ops::check_labels(labels, C, ignore_index), counted = ops::not_equal(flat, ops::scalar_like(flat, static_cast<double>(ignore_index)));
    const Tensor safe = ops::where(counted, flat, ops::scalar_like(flat, 0)), scale = weight.defined() ? ops::cast(weight, rows.dtype()) : Tensor();
    const Tensor own_scale = weight.defined() ? ops::gather(scale, safe, 0) : Tensor();
    Tensor loss = ops::neg(ops::squeeze(ops::gather_elements(rows, ops::expand_dims(safe, 1), 1), 1));
    if (weight.defined()) loss = ops::mul(loss, own_scale);
    if (smoothing != 0) {
      const Tensor all = ops::neg(ops::sum(wide(weight.defined() ? ops::mul(rows, scale) : rows), {1}));
      loss = ops::add(ops::mul(loss, 1 - smoothing), ops::cast(ops::mul(all, smoothing / static_cast<double>(C)), loss.dtype()));
    }
    loss = ops::where(counted, loss, ops::scalar_like(loss, 0));
    if (reduction == "none") return ops::reshape(loss, places);
    if (reduction == "sum") return ops::sum(loss);
    const Tensor ones = ops::cast(counted, wide(rows).dtype());
    return weighted_mean(loss, weight.defined() ? ops::mul(ones, ops::cast(own_scale, ones.dtype())) : ones);
  }
};

Tensor nll(Tensors t, const NegativeLogLikelihood& rule, const std::string& reduction) {
  const auto of_batch = [&](const Tensor& logits, const Tensor& labels) {
    const Shape places = places_of("NLLLoss", logits, labels);
    check_class_weight("NLLLoss", t[2], logits);
    return rule(classes_last(logits), flat_labels(labels), t[2], places, reduction);
  };
  return t[0].rank() == 1 ? of_one_sample(of_batch, t[0], t[1], reduction) : of_batch(t[0], t[1]);
}

const SettingSpec kSmoothing = {
    .name = "label_smoothing", .type = SettingType::kFloat, .fallback = "0", .doc = "share of the target that is spread over all classes", .min = 0, .max = 1};

const auto& kNll =
    losses().add({.name = "nll",
                  .doc = "-logits at the label, logits being log probabilities",
                  .settings = {kIgnored, kSmoothing},
                  .code_only = true,
                  .make = [](const SettingValues& v) -> LossRule {
                    const NegativeLogLikelihood rule{v.get_int("ignore_index"), v.get_float("label_smoothing")};
                    return {.labels = LossLabels::kClasses,
                            .optional = {"weight"},
                            .reduced = [rule](Tensors t, const std::string& how) { return nll(t, rule, how); },
                            .divisor = [ignored = rule.ignore_index](const Tensor& labels, Tensors t) { return label_weight(labels, t[0], ignored); }};
                  }});

// ---- softmax cross entropy of rows [N, C]

const auto& kSoftmaxCrossEntropy = losses().add(
    {.name = "softmax_cross_entropy",
     .doc = "-log softmax(logits) at the label",
     .settings = {{.name = "label_smoothing",
                   .type = SettingType::kFloat,
                   .fallback = "0",
                   .doc = "share of the target that is spread over the other classes",
                   .min = 0,
                   .max = 1}},
     .make = [](const SettingValues& v) -> LossRule {
       return {.labels = LossLabels::kClasses, .terms = [share = v.get_float("label_smoothing")](Tensors t) {
                 if (share == 0) return ops::softmax_cross_entropy_sparse(t[0], t[1]);
                 if (t[0].rank() < 2) throw ShapeError(fmt::format("CrossEntropySmooth: logits must be [N, C], got {}", t[0].meta().str()));
                 const auto C = static_cast<double>(t[0].dim(1));
                 if (share > 1 - 1 / C)
                   throw ValueError(fmt::format("CrossEntropySmooth: the share must be from 0 to {:.4g} (the uniform distribution), got {}", 1 - 1 / C, share));
                 // Giving each class but the label share/(C-1) equals spreading share·C/(C-1) evenly over all classes.
                 return ops::softmax_cross_entropy_sparse(t[0], t[1], share * C / (C - 1));
               }};
     }});

const auto& kSoftmaxCrossEntropyDense =
    losses().add({.name = "softmax_cross_entropy_dense",
                  .doc = "-sum(labels·log softmax(logits)), labels being probabilities",
                  .make = [](const SettingValues&) -> LossRule { return {.terms = [](Tensors t) { return ops::softmax_cross_entropy_dense(t[0], t[1]); }}; }});

// ---- PyTorch's cross entropy: weights, ignored labels, more dimensions

struct CrossEntropy {
  static constexpr const char* kWho = "CrossEntropyLoss";
  NegativeLogLikelihood likelihood;

  Tensor operator()(Tensors t, const std::string& reduction) const {
    const auto of = [&](const Tensor& logits, const Tensor& labels) { return of_batch(logits, labels, t[2], reduction); };
    return t[0].rank() == 1 ? of_one_sample(of, t[0], t[1], reduction) : of(t[0], t[1]);
  }

  Tensor of_batch(const Tensor& logits, const Tensor& labels, const Tensor& weight, const std::string& reduction) const {
    const Shape places = places_of(kWho, logits, labels);
    check_class_weight(kWho, weight, logits);
    if (is_floating(labels.dtype())) {
      check_same_shape(kWho, logits, labels);
      const Tensor rows = of_probabilities(classes_last(logits), classes_last(labels), weight);
      return reduction == "none" ? ops::reshape(rows, places) : reduce_loss(rows, reduction);
    }
    const Tensor flat = flat_labels(labels), rows = classes_last(logits);
    if (weight.defined()) return likelihood(ops::log_softmax(rows, 1), flat, weight, places, reduction);
    const Tensor loss = ops::softmax_cross_entropy_sparse(rows, flat, likelihood.smoothing, likelihood.ignore_index);
    if (reduction == "none") return ops::reshape(loss, places);
    if (reduction == "sum") return ops::sum(loss);
    return weighted_mean(loss, ops::not_equal(flat, ops::scalar_like(flat, static_cast<double>(likelihood.ignore_index))));
  }

  Tensor of_probabilities(const Tensor& logits, const Tensor& labels, const Tensor& weight) const {
    const double s = likelihood.smoothing;
    Tensor q = s == 0 ? labels : ops::add(ops::mul(labels, 1 - s), s / static_cast<double>(logits.dim(1)));
    if (!weight.defined()) return ops::softmax_cross_entropy_dense(logits, q, true);
    q = ops::mul(q, ops::cast(weight, q.dtype()));
    return ops::neg(ops::sum(ops::mul(q, ops::log_softmax(logits, 1)), {1}));
  }
};

const auto& kCrossEntropy =
    losses().add({.name = "cross_entropy",
                  .doc = "-log softmax(logits) at the label, with PyTorch's definition of label smoothing",
                  .settings = {kIgnored, kSmoothing},
                  .make = [](const SettingValues& v) -> LossRule {
                    const NegativeLogLikelihood likelihood{v.get_int("ignore_index"), v.get_float("label_smoothing")};
                    return {.labels = LossLabels::kClasses,
                            .optional = {"weight"},
                            .reduced = CrossEntropy{likelihood},
                            .divisor = [ignored = likelihood.ignore_index](const Tensor& labels, Tensors t) { return label_weight(labels, t[0], ignored); }};
                  }});

// Maps logits [N, C, d...] and labels, either classes [N, 1, d...] or one-hot [N, C, d...], to the mean over the positions of each sample.
Tensor focal(Tensors t, double gamma) {
  const Tensor& logits = t[0];
  if (logits.rank() < 2 || logits.rank() != t[1].rank() || (t[1].dim(1) != 1 && t[1].dim(1) != logits.dim(1)))
    throw ShapeError(fmt::format("FocalLoss: labels must be [N, 1, d...] or [N, C, d...] for logits {}, got {}", logits.meta().str(), t[1].meta().str()));
  check_class_weight("FocalLoss", t[2], logits);
  const int64_t N = logits.dim(0), C = logits.dim(1);
  int64_t S = 1;  // positions; counted, since a batch may be empty
  for (int64_t d = 2; d < logits.rank(); ++d) S *= logits.dim(d);
  Tensor logp = ops::reshape(ops::log_softmax(logits, 1), {N, C, S});
  const Tensor labels = ops::reshape(t[1], {N, t[1].dim(1), S});
  Tensor weight = t[2].defined() ? ops::reshape(ops::cast(t[2], logp.dtype()), {1, C, 1}) : Tensor();
  const bool sparse = labels.dim(1) == 1;
  if (sparse) {
    const Tensor index = ops::ravel_indices({ops::cast(labels, DType::kInt32)}, {C}, false, {1});
    if (weight.defined()) weight = ops::squeeze(ops::gather_elements(ops::broadcast_to(weight, logp.shape()), index, 1), 1);
    logp = ops::squeeze(ops::gather_elements(logp, index, 1), 1);  // [N, S]
  } else {
    const Tensor share = ops::cast(labels, logp.dtype());
    weight = weight.defined() ? ops::mul(weight, share) : share;
  }
  // A prediction of probability 1 has loss and gradient 0. This also holds for gamma below 1, where the slope of the power itself is infinite.
  const Tensor wrong = ops::neg(ops::expm1(logp));
  Tensor loss = ops::mul(ops::neg(gamma > 0 ? ops::power_or_zero(wrong, gamma) : ops::pow(wrong, gamma)), logp);
  if (weight.defined()) loss = ops::mul(loss, weight);
  return ops::mean(loss, {sparse ? 1 : 2});
}

const auto& kFocal = losses().add({.name = "focal",
                                   .doc = "-(1 - p)^gamma·log(p) of p = softmax(logits)",
                                   .settings = {number_setting("gamma", "2", "focusing exponent: larger values give well-classified samples less weight")},
                                   .make = [](const SettingValues& v) -> LossRule {
                                     return {.optional = {"weight"}, .terms = [gamma = v.get_float("gamma")](Tensors t) { return focal(t, gamma); }};
                                   }});

const auto& kMultiMargin = losses().add({.name = "multi_margin",
                                         .doc = "mean over the other classes of max(0, margin - x[target] + x[class])^p, times weight[target]",
                                         .settings = {{.name = "p", .type = SettingType::kFloat, .fallback = "1", .doc = "exponent", .min = 1, .max = 2},
                                                      number_setting("margin", "1", "margin by which the label's score should exceed the others")},
                                         .make = [](const SettingValues& v) -> LossRule {
                                           return {.labels = LossLabels::kClasses,
                                                   .inputs = {"x", "target"},
                                                   .optional = {"weight"},
                                                   .terms = [p = v.get_float("p"), margin = v.get_float("margin")](Tensors t) {
                                                     if (t[0].rank() != 2)
                                                       throw ShapeError(fmt::format("MultiMarginLoss: x must be [N, C], got {}", t[0].meta().str()));
                                                     const int64_t C = t[0].dim(1);
                                                     const Tensor target = ops::ravel_indices({flat_labels(t[1])}, {C}, false, {1});
                                                     const Tensor own = ops::gather_elements(t[0], ops::expand_dims(target, 1), 1);
                                                     Tensor terms = ops::relu(ops::add(ops::sub(t[0], own), margin));
                                                     if (p != 1) terms = ops::pow(terms, p);
                                                     if (t[2].defined()) terms = ops::mul(terms, ops::expand_dims(ops::gather(t[2], target, 0), 1));
                                                     const Tensor others = ops::one_hot(target, C, 0, 1, t[0].dtype());
                                                     return ops::div(ops::sum(ops::mul(terms, others), {1}), static_cast<double>(C));
                                                   }};
                                         }});

// ---- overlap

Tensor dice(const Tensor& x, const Tensor& y, double smooth) {
  const Tensor both = ops::add(ops::sum(ops::square(x)), ops::sum(ops::square(y)));
  return 1.0 - ops::div(ops::mul(ops::sum(ops::mul(x, y)), 2.0), ops::add(both, smooth));
}

const auto& kDice = losses().add(
    {.name = "dice",
     .doc = "1 - 2·sum(logits·label)/(sum(logits²) + sum(label²) + smooth)",
     .settings = {number_setting("smooth", "1e-5", "keeps the divisor away from 0", kAboveZero)},
     .code_only = true,
     .make = [](const SettingValues& v) -> LossRule {
       return {.labels = LossLabels::kOther, .inputs = {"logits", "label"}, .reduced = [smooth = v.get_float("smooth")](Tensors t, const std::string&) {
                 check_same_shape("DiceLoss", t[0], t[1]);
                 return dice(t[0], t[1], smooth);
               }};
     }});

Tensor multi_class_dice(Tensors t, int64_t ignored) {
  check_same_shape("MultiClassDiceLoss", t[0], t[1]);
  Tensor total;
  for (int64_t i = 0; i < t[1].dim(1); ++i) {
    if (i == ignored) continue;
    const Tensor at = Tensor::from_vector<int32_t>({}, {static_cast<int32_t>(i)});
    Tensor loss = dice(ops::gather(t[0], at, 1), ops::gather(t[1], at, 1), 1e-5);
    if (t[2].defined()) loss = ops::mul(loss, ops::gather(t[2], at, 0));
    total = total.defined() ? ops::add(total, loss) : loss;
  }
  if (!total.defined()) throw ValueError("MultiClassDiceLoss: no class is left but ignore_indiex");
  return ops::div(total, static_cast<double>(t[1].dim(1)));
}

const auto& kMultiClassDice =
    losses().add({.name = "multi_class_dice",
                  .doc = "mean of dice over the classes (axis 1) but ignore_index, times weights [C, ...]",
                  .settings = {int_setting("ignore_index", "-1", "class to ignore; -1: none")},
                  .code_only = true,
                  .make = [](const SettingValues& v) -> LossRule {
                    return {.labels = LossLabels::kOther,
                            .inputs = {"logits", "label"},
                            .optional = {"weights"},
                            .reduced = [ignored = v.get_int("ignore_index")](Tensors t, const std::string&) { return multi_class_dice(t, ignored); }};
                  }});

}  // namespace

}  // namespace sindri::nn
