// Losses of two equally shaped tensors, element by element or row by row, and of pairs and triples; each formula is next to its name.
#include "src/nn/loss_rules.h"

#include <cmath>
#include <numbers>

#include "sindri/ops/power.h"

namespace sindri::nn {

namespace {

// Both tensors must have one shape: broadcasting here is more often a mistake than intended.
LossRule like(const char* who, std::function<Tensor(const Tensor&, const Tensor&)> f, std::vector<std::string> inputs = {"logits", "labels"}) {
  return {.inputs = std::move(inputs), .terms = [who, f = std::move(f)](Tensors t) {
            check_same_shape(who, t[0], t[1]);
            return f(t[0], t[1]);
          }};
}

// Integers are computed in float32: the other operand's half type would round values that are exact as integers.
Tensor one_minus(const Tensor& y) { return 1.0 - (is_floating(y.dtype()) ? y : ops::cast(y, DType::kFloat32)); }

Tensor distance(const Tensor& a, const Tensor& b) { return ops::abs(ops::sub(a, b)); }

const auto& kL1 = losses().add({.name = "l1", .doc = "absolute value of logits - labels", .make = [](const SettingValues&) -> LossRule {
                                  return {.terms = [](Tensors t) { return distance(t[0], t[1]); }};
                                }});

const auto& kMse = losses().add({.name = "mse", .doc = "(logits - labels)²", .make = [](const SettingValues&) -> LossRule {
                                   return {.terms = [](Tensors t) { return ops::square(ops::sub(t[0], t[1])); }};
                                 }});

const auto& kRmse = losses().add(
    {.name = "rmse", .doc = "root of the mean of (logits - labels)²", .make = [](const SettingValues&) -> LossRule {
       return {.reduced = [](Tensors t, const std::string&) { return ops::power_or_zero(reduce_loss(ops::square(ops::sub(t[0], t[1])), "mean"), 0.5); }};
     }});

const auto& kSmoothL1 =
    losses().add({.name = "smooth_l1",
                  .doc = "0.5·d²/beta where d, the absolute value of logits - labels, is below beta, d - 0.5·beta elsewhere",
                  .settings = {number_setting("beta", "1", "|logits - labels| at which the loss changes from quadratic to linear; 0: linear everywhere", 0)},
                  .make = [](const SettingValues& v) {
                    const double beta = v.get_float("beta");
                    return like("SmoothL1Loss", [beta](const Tensor& x, const Tensor& y) {
                      const Tensor d = distance(x, y);
                      if (beta == 0) return d;
                      const Tensor small = minimum(d, beta);  // squared, with slope 1 above beta: no branch squares an infinite d
                      return ops::add(ops::div(ops::square(small), 2.0 * beta), ops::sub(d, small));
                    });
                  }});

const auto& kHuber =
    losses().add({.name = "huber",
                  .doc = "0.5·d² where d, the absolute value of logits - labels, is at most delta, delta·(d - 0.5·delta) elsewhere",
                  .settings = {number_setting("delta", "1", "|logits - labels| at which the loss changes from quadratic to linear", kAboveZero)},
                  .make = [](const SettingValues& v) -> LossRule {
                    const double delta = v.get_float("delta");
                    return {.terms = [delta](Tensors t) {
                      const Tensor d = distance(t[0], t[1]), small = minimum(d, delta);  // as for smooth_l1
                      return ops::add(ops::mul(ops::square(small), 0.5), ops::mul(ops::sub(d, small), delta));
                    }};
                  }});

const auto& kSoftMargin =
    losses().add({.name = "soft_margin", .doc = "log(1 + e^(-labels·logits)), labels of -1 and 1", .code_only = true, .make = [](const SettingValues&) {
                    LossRule rule = like("SoftMarginLoss", [](const Tensor& x, const Tensor& y) { return ops::softplus(ops::neg(ops::mul(y, x))); });
                    rule.labels = LossLabels::kOther;
                    return rule;
                  }});

// MindSpore computes log(p + 1e-12), so a wrong prediction made with certainty costs 27.63 (PyTorch: 100). In half types 1e-12 is 0, so the loss is computed in
// float32. The term is added only to values below 1e-8, because it would cost digits of larger ones.
Tensor binary_cross_entropy(Tensors t) {
  check_same_shape("BCELoss", t[0], t[1]);
  Tensor p = t[0], y = t[1];
  to_common_type(&p, &y);
  const DType dtype = p.dtype();
  const auto above_zero = [](const Tensor& x) { return ops::where(ops::greater(x, ops::scalar_like(x, 1e-8)), x, ops::add(x, 1e-12)); };
  p = ops::check_probabilities(wide(p));
  y = wide(y);
  const Tensor positive = ops::mul(y, ops::log(above_zero(p)));
  // log(1 - p) would lose digits for small p, as 1 - p is rounded. The rounded part is added back, to first order.
  const Tensor q = 1.0 - p, safe = above_zero(q), lost = ops::stop_gradient(ops::div(ops::sub(p, 1.0 - q), safe));
  const Tensor negative = ops::mul(one_minus(y), ops::sub(ops::log(safe), lost));
  const Tensor loss = ops::neg(ops::add(positive, negative));
  return ops::cast(t[2].defined() ? ops::mul(loss, t[2]) : loss, dtype);
}

const auto& kBce = losses().add(
    {.name = "binary_cross_entropy",
     .doc = "-(labels·log(p) + (1 - labels)·log(1 - p))·weight of probabilities p",
     .code_only = true,
     .make = [](const SettingValues&) -> LossRule { return {.labels = LossLabels::kOther, .optional = {"weight"}, .terms = binary_cross_entropy}; }});

// -log σ(x) = softplus(-x) and -log(1 - σ(x)) = x + softplus(-x), so both terms share the softplus: PyTorch's form.
Tensor binary_cross_entropy_with_logits(const char* who, Tensor x, Tensor y, const Tensor& weight, const Tensor& pos_weight) {
  check_same_shape(who, x, y);
  to_common_type(&x, &y);
  Tensor tail = ops::softplus(ops::neg(x));
  if (pos_weight.defined()) tail = ops::mul(ops::add(ops::mul(ops::sub(pos_weight, 1.0), y), 1.0), tail);
  const Tensor loss = ops::add(ops::mul(one_minus(y), x), tail);
  return weight.defined() ? ops::mul(loss, weight) : loss;
}

const auto& kBceLogits = losses().add({.name = "binary_cross_entropy_with_logits",
                                       .doc = "binary cross entropy of sigmoid(logits), one decision per class, without overflow",
                                       .make = [](const SettingValues&) -> LossRule {
                                         return {.optional = {"weight", "pos_weight"}, .terms = [](Tensors t) {
                                                   return binary_cross_entropy_with_logits("BCEWithLogitsLoss", t[0], t[1], t[2], t[3]);
                                                 }};
                                       }});

const auto& kMultilabelSoftMargin = losses().add({.name = "multilabel_soft_margin",
                                                  .doc = "mean over the classes of the binary cross entropy of sigmoid(x), times weight",
                                                  .make = [](const SettingValues&) -> LossRule {
                                                    return {.inputs = {"x", "target"}, .optional = {"weight"}, .terms = [](Tensors t) {
                                                              const Tensor loss =
                                                                  binary_cross_entropy_with_logits("MultiLabelSoftMarginLoss", t[0], t[1], t[2], {});
                                                              return ops::mean(loss, {-1});
                                                            }};
                                                  }});

const auto& kKlDiv = losses().add({.name = "kl_div",
                                   .doc = "labels·(log(labels) - logits), logits being log probabilities, 0 where labels are 0",
                                   .settings = {bool_setting("log_target", "false", "labels are log probabilities, too")},
                                   .code_only = true,
                                   .make = [](const SettingValues& v) {
                                     LossRule rule = like("KLDivLoss", [logs = v.get_bool("log_target")](const Tensor& x, const Tensor& y) {
                                       if (logs) return ops::mul(ops::exp(y), ops::sub(y, x));
                                       const Tensor positive = ops::greater(y, ops::scalar_like(y, 0));
                                       const Tensor log_y = ops::log(ops::where(positive, y, ops::scalar_like(y, 1)));
                                       return ops::where(positive, ops::mul(y, ops::sub(log_y, x)), ops::scalar_like(x, 0));
                                     });
                                     rule.labels = LossLabels::kOther;
                                     return rule;
                                   }});

const auto& kPoisson = losses().add(
    {.name = "poisson_nll",
     .doc = "exp(input) - target·input, or without log_input input - target·log(input + eps)",
     .settings = {bool_setting("log_input", "true", "the input is the logarithm of the rate"),
                  bool_setting("full", "false", "with Stirling's term for targets above 1"), number_setting("eps", "1e-8", "keeps the logarithm finite")},
     .code_only = true,
     .make = [](const SettingValues& v) -> LossRule {
       const bool log_input = v.get_bool("log_input"), full = v.get_bool("full");
       return {.labels = LossLabels::kOther, .inputs = {"input", "target"}, .terms = [log_input, full, eps = v.get_float("eps")](Tensors t) {
                 const Tensor &x = t[0], y = ops::cast(t[1], x.dtype());
                 Tensor loss = log_input ? ops::sub(ops::exp(x), ops::mul(y, x)) : ops::sub(x, ops::mul(y, ops::log(ops::add(x, eps))));
                 if (!full) return loss;
                 const Tensor safe = maximum(y, 1);
                 const Tensor more = ops::add(safe, 0.5), log_safe = ops::log(safe);  // in this order, which fixes the order in which gradients are summed
                 const Tensor term = ops::add(ops::sub(ops::mul(more, log_safe), safe), 0.5 * std::log(2 * std::numbers::pi));
                 return ops::add(loss, ops::where(ops::greater(y, ops::scalar_like(y, 1)), term, ops::zeros_like(term)));
               }};
     }});

const auto& kGaussian = losses().add(
    {.name = "gaussian_nll",
     .doc = "0.5·(log(v) + (logits - labels)²/v) with v = max(var, eps), eps without gradient",
     .settings = {bool_setting("full", "false", "plus 0.5·log(2π)"), number_setting("eps", "1e-6", "least variance", kAboveZero)},
     .code_only = true,
     .make = [](const SettingValues& v) -> LossRule {
       return {.labels = LossLabels::kOther, .inputs = {"logits", "labels", "var"}, .terms = [full = v.get_bool("full"), eps = v.get_float("eps")](Tensors t) {
                 const Tensor var = ops::add(t[2], ops::stop_gradient(ops::sub(maximum(t[2], eps), t[2])));
                 const Tensor loss = ops::mul(ops::add(ops::log(var), ops::div(ops::square(ops::sub(t[0], t[1])), var)), 0.5);
                 return full ? ops::add(loss, 0.5 * std::log(2 * std::numbers::pi)) : loss;
               }};
     }});

const auto& kCosine =
    losses().add({.name = "cosine_embedding",
                  .doc = "1 - cos for labels 1, max(cos - margin, 0) for labels -1, with the cosine of the rows of two tensors [N, D]",
                  .settings = {number_setting("margin", "0", "what the cosine of rows apart may be")},
                  .code_only = true,
                  .make = [](const SettingValues& v) -> LossRule {
                    return {.labels = LossLabels::kOther, .inputs = {"logits_x1", "logits_x2", "labels"}, .terms = [margin = v.get_float("margin")](Tensors t) {
                              check_same_shape("CosineEmbeddingLoss", t[0], t[1]);
                              Tensor a = t[0], b = t[1];
                              to_common_type(&a, &b);
                              const int64_t axis = a.rank() > 1 ? 1 : 0;  // [D] is one row
                              // Rows of zeros have no direction: their cosine is 0.
                              const Tensor lengths = maximum(ops::mul(ops::norm(a, 2.0, {axis}), ops::norm(b, 2.0, {axis})), 1e-16);
                              const Tensor cos = ops::div(ops::sum(ops::mul(a, b), {axis}), lengths), zero = ops::scalar_like(cos, 0);
                              const Tensor apart = ops::maximum(margin == 0 ? cos : ops::sub(cos, margin), zero);
                              return where_equal(t[2], 1, 1.0 - cos, where_equal(t[2], -1, apart, zero));
                            }};
                  }});

const auto& kRanking =
    losses().add({.name = "margin_ranking",
                  .doc = "max(0, -target·(input1 - input2) + margin), target 1 or -1",
                  .settings = {number_setting("margin", "0", "by how much the larger is to be larger")},
                  .code_only = true,
                  .make = [](const SettingValues& v) -> LossRule {
                    return {.labels = LossLabels::kOther, .inputs = {"input1", "input2", "target"}, .terms = [margin = v.get_float("margin")](Tensors t) {
                              Tensor terms = ops::mul(t[2], ops::sub(t[1], t[0]));
                              if (margin != 0) terms = ops::add(terms, margin);
                              const Tensor zero = ops::scalar_like(terms, 0);
                              return ops::where(ops::less(terms, zero), zero, terms);  // at the kink, equal inputs are pushed apart
                            }};
                  }});

const auto& kHinge = losses().add({.name = "hinge_embedding",
                                   .doc = "logits for labels 1, max(0, margin - logits) for labels -1",
                                   .settings = {number_setting("margin", "1", "the least distance of what is apart")},
                                   .code_only = true,
                                   .make = [](const SettingValues& v) -> LossRule {
                                     return {.labels = LossLabels::kOther, .terms = [margin = v.get_float("margin")](Tensors t) {
                                               const Tensor zero = ops::scalar_like(t[0], 0), hinge = ops::maximum(margin - t[0], zero);
                                               return where_equal(t[1], 1, t[0], where_equal(t[1], -1, hinge, zero));
                                             }};
                                   }});

// The p-norm along the last dimension; eps keeps its gradient finite.
Tensor p_distance(const Tensor& a, const Tensor& b, double p, double eps) {
  const Tensor d = ops::abs(ops::add(ops::sub(a, b), eps));
  return p == 1 || p == 2 ? ops::norm(d, p, {-1}) : ops::power_or_zero(ops::sum(ops::power_or_zero(d, p), {-1}), 1 / p);
}

const auto& kTriplet =
    losses().add({.name = "triplet_margin",
                  .doc = "max(0, d(x, positive) - d(x, negative) + margin), d being the p-norm of the difference",
                  .settings = {{.name = "p", .type = SettingType::kFloat, .fallback = "2", .doc = "order of the norm", .min = 1e-30},
                               bool_setting("swap", "false", "the nearer of x and positive to negative counts"),
                               number_setting("eps", "1e-6", "added to differences"),
                               number_setting("margin", "1", "how much farther the negative is to be")},
                  .code_only = true,
                  .make = [](const SettingValues& v) -> LossRule {
                    return {.labels = LossLabels::kOther,
                            .inputs = {"x", "positive", "negative"},
                            .optional = {"margin"},  // replaces the setting
                            .terms = [p = v.get_float("p"), swap = v.get_bool("swap"), eps = v.get_float("eps"), margin = v.get_float("margin")](Tensors t) {
                              if (t[0].rank() != t[1].rank() || t[0].rank() != t[2].rank())
                                throw ShapeError(fmt::format("TripletMarginLoss: the same number of dimensions is expected, got {}, {} and {}",
                                                             t[0].meta().str(), t[1].meta().str(), t[2].meta().str()),
                                                 "", "reshape them first");
                              Tensor apart = p_distance(t[0], t[2], p, eps);
                              if (swap) apart = ops::minimum(apart, p_distance(t[1], t[2], p, eps));
                              const Tensor more = ops::sub(p_distance(t[0], t[1], p, eps), apart);
                              return ops::relu(t[3].defined() ? ops::add(more, t[3]) : ops::add(more, margin));
                            }};
                  }});

}  // namespace

}  // namespace sindri::nn
