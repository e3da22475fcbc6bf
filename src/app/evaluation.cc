// See sindri/app/evaluation.h.
#include "sindri/app/evaluation.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "sindri/app/plot.h"
#include "sindri/core/error.h"
#include "src/core/replaceable.h"

namespace sindri::app {

namespace {

using nlohmann::ordered_json;

struct Mean {
  double precision = 0, recall = 0, f1 = 0;
};

Mean mean_of(const Evaluation& e, bool by_support) {
  Mean m;
  double total = 0;
  for (const ClassScore& c : e.classes) {
    const double weight = by_support ? static_cast<double>(c.support) : 1;
    m.precision += weight * c.precision;
    m.recall += weight * c.recall;
    m.f1 += weight * c.f1;
    total += weight;
  }
  if (total > 0) m = {m.precision / total, m.recall / total, m.f1 / total};
  return m;
}

size_t characters(const std::string& s) {
  return static_cast<size_t>(std::count_if(s.begin(), s.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0u) != 0x80u; }));
}

// Returns exactly `width` characters of UTF-8: spaces after a short text, an ellipsis at the end of a long one.
std::string column(std::string s, size_t width) {
  if (characters(s) > width) {
    while (characters(s) >= width) {
      while (!s.empty() && (static_cast<unsigned char>(s.back()) & 0xC0u) == 0x80u) s.pop_back();
      if (!s.empty()) s.pop_back();
    }
    s += "…";
  }
  return s + std::string(width - characters(s), ' ');
}

size_t widest_name(const Evaluation& e) {
  size_t widest = 0;
  for (const ClassScore& c : e.classes) widest = std::max(widest, characters(c.name));
  return widest;
}

// JSON has no NaN or infinity: null represents them.
ordered_json number(double v) { return std::isfinite(v) ? ordered_json(v) : ordered_json(nullptr); }

}  // namespace

std::vector<ClassScore> class_scores(const std::vector<std::vector<int64_t>>& confusion, const std::vector<std::string>& names) {
  const size_t n = confusion.size();
  if (names.size() != n) throw ValueError(fmt::format("class_scores: {} names for {} classes", names.size(), n));
  std::vector<ClassScore> out(n);
  for (size_t i = 0; i < n; ++i) {
    if (confusion[i].size() != n) throw ValueError(fmt::format("class_scores: row {} has {} columns, expected {}", i, confusion[i].size(), n));
    out[i].name = names[i];
    for (size_t j = 0; j < n; ++j) {
      out[i].support += confusion[i][j];
      out[j].predicted += confusion[i][j];
    }
  }
  for (size_t i = 0; i < n; ++i) {
    const auto share = [&](int64_t of) { return of > 0 ? static_cast<double>(confusion[i][i]) / static_cast<double>(of) : 0.0; };
    ClassScore& c = out[i];
    c.precision = share(c.predicted);
    c.recall = share(c.support);
    c.f1 = c.precision + c.recall > 0 ? 2 * c.precision * c.recall / (c.precision + c.recall) : 0;
  }
  return out;
}

std::string class_table(const Evaluation& e, int width) {
  constexpr size_t kNumbers = 4 * 11;
  const size_t room = static_cast<size_t>(std::max(width, 60)) - kNumbers, names = std::min(std::max<size_t>(16, widest_name(e)), room);
  const auto line = [&](const std::string& name, double p, double r, double f, int64_t support) {
    return fmt::format("{}{:>11.4f}{:>11.4f}{:>11.4f}{:>11}\n", column(name, names), p, r, f, support);
  };
  std::string out = fmt::format("{}{:>11}{:>11}{:>11}{:>11}\n", column("class", names), "precision", "recall", "f1", "support");
  for (const ClassScore& c : e.classes) out += line(c.name, c.precision, c.recall, c.f1, c.support);
  const Mean plain = mean_of(e, false), weighted = mean_of(e, true);
  out += line("mean", plain.precision, plain.recall, plain.f1, e.samples);
  return out + line("weighted mean", weighted.precision, weighted.recall, weighted.f1, e.samples);
}

std::string confusion_table(const Evaluation& e, int width) {
  const size_t n = e.classes.size();
  int64_t largest = static_cast<int64_t>(n);
  for (const auto& row : e.confusion) {
    for (const int64_t v : row) largest = std::max(largest, v);
  }
  const size_t cell = std::to_string(largest).size() + 2, names = std::min<size_t>(std::max<size_t>(8, widest_name(e)), 24);
  const size_t number = std::to_string(n).size(), lead = number + 1 + names;
  const size_t each = std::max<size_t>(1, (static_cast<size_t>(std::max(width, 40)) - lead) / cell);
  std::string out = "rows: the true class; columns: the predicted class, by number\n";
  for (size_t first = 0; first < n; first += each) {
    const size_t end = std::min(n, first + each);
    out += std::string(lead, ' ');
    for (size_t j = first; j < end; ++j) out += fmt::format("{:>{}}", j, cell);
    out += "\n";
    for (size_t i = 0; i < n; ++i) {
      out += fmt::format("{:>{}} {}", i, number, column(e.classes[i].name, names));
      for (size_t j = first; j < end; ++j) out += e.confusion[i][j] == 0 ? fmt::format("{:>{}}", ".", cell) : fmt::format("{:>{}}", e.confusion[i][j], cell);
      out += "\n";
    }
    if (end < n) out += "\n";
  }
  return out;
}

std::string evaluation_json(const Evaluation& e) {
  ordered_json j = {{"checkpoint", e.checkpoint}, {"samples", e.samples}};
  for (const auto& [name, value] : e.metrics) j["metrics"][name] = number(value);
  j["classes"] = ordered_json::array();
  for (const ClassScore& c : e.classes) {
    j["classes"].push_back(
        {{"name", c.name}, {"precision", c.precision}, {"recall", c.recall}, {"f1", c.f1}, {"support", c.support}, {"predicted", c.predicted}});
  }
  for (const bool by_support : {false, true}) {
    const Mean m = mean_of(e, by_support);
    j[by_support ? "weighted_average" : "macro_average"] = {{"precision", m.precision}, {"recall", m.recall}, {"f1", m.f1}};
  }
  j["confusion"] = e.confusion;
  return j.dump(2, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

void write_evaluation_plot(const Evaluation& e, const std::string& title, const std::string& path) {
  check_replaceable(path, FileKind::kPng, "plot");
  RunPlot p;
  p.title = title;
  p.confusion = e.confusion;
  for (const ClassScore& c : e.classes) p.class_names.push_back(c.name);
  write_plot(p, path);
}

std::string predictions_json(const std::vector<Prediction>& predictions) {
  ordered_json all = ordered_json::array();
  for (const Prediction& p : predictions) {
    ordered_json classes = ordered_json::array();
    for (const auto& [name, probability] : p.classes) classes.push_back({{"name", name}, {"probability", number(probability)}});
    all.push_back({{"file", p.file}, {"classes", classes}});
  }
  return all.dump(2, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace sindri::app
