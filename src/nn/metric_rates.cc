// One rate of the confusion matrix, over all decisions or per sample (MindSpore: train.ConfusionMatrixMetric).
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "sindri/core/error.h"
#include "sindri/nn/registry.h"
#include "src/nn/metric_checks.h"

namespace sindri::nn {

namespace {

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();  // a rate with an empty denominator

double over(double a, double b) { return b == 0 ? kNone : a / b; }

// Counts of true and false positives and negatives.
struct Decisions {
  double tp = 0, fp = 0, tn = 0, fn = 0;
  double positive() const { return tp + fn; }
  double negative() const { return fp + tn; }
  double all() const { return positive() + negative(); }
  double tpr() const { return over(tp, positive()); }
  double tnr() const { return over(tn, negative()); }
  double ppv() const { return over(tp, tp + fp); }
  double npv() const { return over(tn, tn + fn); }
};

struct NamedRate {
  const char* names;  // the short name and its synonyms
  double (*of)(const Decisions&);
};
const NamedRate kRates[] = {
    {"tpr|sensitivity|recall|hit_rate|true_positive_rate", [](const Decisions& d) { return d.tpr(); }},
    {"tnr|specificity|selectivity|true_negative_rate", [](const Decisions& d) { return d.tnr(); }},
    {"ppv|precision|positive_predictive_value", [](const Decisions& d) { return d.ppv(); }},
    {"npv|negative_predictive_value", [](const Decisions& d) { return d.npv(); }},
    {"fnr|miss_rate|false_negative_rate", [](const Decisions& d) { return over(d.fn, d.positive()); }},
    {"fpr|fall_out|false_positive_rate", [](const Decisions& d) { return over(d.fp, d.negative()); }},
    {"fdr|false_discovery_rate", [](const Decisions& d) { return over(d.fp, d.fp + d.tp); }},
    {"for|false_omission_rate", [](const Decisions& d) { return over(d.fn, d.fn + d.tn); }},
    {"pt|prevalence_threshold", [](const Decisions& d) { return over(std::sqrt(d.tpr() * (1 - d.tnr())) + d.tnr() - 1, d.tpr() + d.tnr() - 1); }},
    {"ts|threat_score|critical_success_index|csi", [](const Decisions& d) { return over(d.tp, d.tp + d.fn + d.fp); }},
    {"acc|accuracy", [](const Decisions& d) { return over(d.tp + d.tn, d.all()); }},
    {"ba|balanced_accuracy", [](const Decisions& d) { return (d.tpr() + d.tnr()) / 2; }},
    {"f1|f1_score", [](const Decisions& d) { return over(2 * d.tp, 2 * d.tp + d.fn + d.fp); }},
    {"mcc|matthews_correlation_coefficient",
     [](const Decisions& d) { return over(d.tp * d.tn - d.fp * d.fn, std::sqrt((d.tp + d.fp) * (d.tp + d.fn) * (d.tn + d.fp) * (d.tn + d.fn))); }},
    {"fm|fowlkes_mallows_index", [](const Decisions& d) { return std::sqrt(d.ppv() * d.tpr()); }},
    {"bm|informedness|bookmaker_informedness", [](const Decisions& d) { return d.tpr() + d.tnr() - 1; }},
    {"mk|markedness|deltap", [](const Decisions& d) { return d.ppv() + d.npv() - 1; }},
};

const char* rate_names() {
  static const std::string all = [] {
    std::string s;
    for (const NamedRate& r : kRates) s += (s.empty() ? "" : "|") + std::string(r.names);
    return s;
  }();
  return all.c_str();
}

const NamedRate& find_rate(const std::string& name) {
  return *std::find_if(std::begin(kRates), std::end(kRates),
                       [&](const NamedRate& r) { return fmt::format("|{}|", r.names).find("|" + name + "|") != std::string::npos; });
}

// Rates [samples, classes], reduced over the axes that `how` names, ignoring rates with an empty denominator; and the
// number of rates included.
struct Reduced {
  std::vector<double> values, taken;
};

Reduced reduce(const std::vector<double>& rates, size_t classes, const std::string& how) {
  const size_t samples = rates.size() / classes;
  if (how == "mean") {  // over the samples' means
    double sum = 0, taken = 0;
    for (size_t s = 0; s < samples; ++s) {
      const Reduced one =
          reduce({rates.begin() + static_cast<ptrdiff_t>(s * classes), rates.begin() + static_cast<ptrdiff_t>((s + 1) * classes)}, classes, "mean_channel");
      sum += one.values[0];
      taken += one.taken[0] > 0;
    }
    return {{taken > 0 ? sum / taken : 0}, {taken}};
  }
  const bool is_mean = how.starts_with("mean"), over_all = how == "sum", over_samples = how.ends_with("_batch"), over_classes = how.ends_with("_channel");
  const size_t groups = over_all ? 1 : over_samples ? classes : over_classes ? samples : rates.size();
  Reduced r{std::vector<double>(groups), std::vector<double>(groups)};
  for (size_t i = 0; i < rates.size(); ++i) {
    const size_t at = over_all ? 0 : over_samples ? i % classes : over_classes ? i / classes : i;
    if (std::isnan(rates[i])) continue;
    r.values[at] += rates[i];
    ++r.taken[at];
  }
  for (size_t g = 0; is_mean && g < groups; ++g) r.values[g] = r.taken[g] > 0 ? r.values[g] / r.taken[g] : 0;
  return r;
}

class ConfusionRate final : public Metric {
 public:
  explicit ConfusionRate(const SettingValues& v)
      : rate_(find_rate(v.get_string("metric_name")).of),
        first_class_(v.get_bool("skip_channel") ? 0 : 1),
        per_sample_(v.get_bool("calculation_method")),
        decrease_(v.get_string("decrease")) {}
  void clear() override { total_ = {}, rate_sum_ = 0, rates_ = 0; }
  bool empty() const override { return per_sample_ ? rates_ == 0 : total_.all() == 0; }
  bool scores_classes() const override { return false; }
  std::vector<double> eval() const override {
    if (!per_sample_) return {rate_(total_)};
    check_counted(kWho, rates_ > 0);
    return {rate_sum_ / rates_};
  }
  bool adds_up() const override { return true; }

 protected:
  void add(const std::vector<Tensor>& in) override {
    check_inputs(kWho, in, 2);
    const Tensor &guess = in[0], &truth = in[1];
    if (guess.rank() < 2) throw ShapeError(fmt::format("{}: predictions must be one-hot [N, C, d...], got {}", kWho, guess.meta().str()));
    if (guess.shape() != truth.shape())
      throw ShapeError(fmt::format("{}: predictions {} and labels {} must have one shape", kWho, guess.meta().str(), truth.meta().str()));
    const std::vector<double> p = guess.to_vector<double>(), t = truth.to_vector<double>();
    for (const double v : t)
      if (!(v >= 0 && v <= 255 && v == std::floor(v))) throw ValueError(fmt::format("{}: labels must be 0 or 1, found {}", kWho, v));
    const int64_t first = guess.dim(1) > 1 ? first_class_ : 0, classes = guess.dim(1) - first,
                  inner = guess.numel() / std::max<int64_t>(1, guess.dim(0) * guess.dim(1));
    if (per_sample_ && inner <= 1)
      throw ValueError(fmt::format("{}: {} holds one element per sample and class, which gives no rate per sample", kWho, guess.meta().str()), "",
                       "set calculation_method to False");
    std::vector<double> rates;
    for (int64_t row = 0; row < guess.dim(0) * guess.dim(1); ++row) {
      if (row % guess.dim(1) < first) continue;
      Decisions d;
      double positive = 0;
      for (int64_t i = row * inner; i < (row + 1) * inner; ++i) {
        const double both = p[static_cast<size_t>(i)] + t[static_cast<size_t>(i)];
        d.tp += both == 2, d.tn += both == 0, positive += t[static_cast<size_t>(i)];
      }
      d.fp = static_cast<double>(inner) - positive - d.tn, d.fn = positive - d.tp;
      rates.push_back(rate_(d));
      total_.tp += d.tp, total_.fp += d.fp, total_.tn += d.tn, total_.fn += d.fn;
    }
    if (!per_sample_ || rates.empty()) return;
    const Reduced r = reduce(rates, static_cast<size_t>(classes), decrease_);
    if (r.values.size() != 1) throw ValueError(fmt::format("{}: decrease '{}' leaves {} values", kWho, decrease_, r.values.size()), "", "use 'mean' or 'sum'");
    rate_sum_ += r.values[0] * r.taken[0];
    rates_ += r.taken[0];
  }
  void archive(CountArchive& counts) override { counts(total_.tp)(total_.fp)(total_.tn)(total_.fn)(rate_sum_)(rates_); }

 private:
  static constexpr const char* kWho = "ConfusionMatrixMetric";
  double (*rate_)(const Decisions&);
  int64_t first_class_;
  bool per_sample_;
  std::string decrease_;
  Decisions total_;
  double rate_sum_ = 0, rates_ = 0;
};

const bool kRateMetrics = [] {
  metrics().add({.name = "confusion_matrix_metric",
                 .doc = "a rate of the confusion matrix of decisions: predictions and labels one-hot [N, C, d...]",
                 .settings = {{.name = "metric_name", .type = SettingType::kString, .fallback = "sensitivity", .doc = "the rate", .choices = rate_names()},
                              {.name = "skip_channel", .type = SettingType::kBool, .fallback = "true", .doc = "false leaves class 0 out"},
                              {.name = "calculation_method",
                               .type = SettingType::kBool,
                               .fallback = "false",
                               .doc = "true takes the rate of each sample and class, false that of all decisions"},
                              {.name = "decrease",
                               .type = SettingType::kString,
                               .fallback = "mean",
                               .doc = "how the rates of samples and classes become one",
                               .choices = "none|mean|sum|mean_batch|sum_batch|mean_channel|sum_channel"}},
                 .code_only = true,
                 .make = [](const SettingValues& v) -> MetricPtr { return std::make_shared<ConfusionRate>(v); }});
  return true;
}();

}  // namespace

}  // namespace sindri::nn
