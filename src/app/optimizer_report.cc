// See optimizer_report.h.
#include "src/app/optimizer_report.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <sstream>

#include "sindri/app/plot.h"
#include "src/core/clock.h"
#include "src/train/atomic_file.h"

namespace sindri::app {

namespace {

constexpr const char* kMeasures = "measures";  // the event of metrics.jsonl

// Devices compute asynchronously: the host would only measure how long it takes to enqueue a step. So no times are reported on devices.
class StepForms final : public train::Callback {
 public:
  explicit StepForms(Session* s) : s_(s) {}
  void step_begin(train::TrainState& state) override {
    form_ = s_->optimizer->variant((state.cur_step_num - 1) / s_->steps_per_update);
    start_ = now_seconds();
  }
  void step_end(train::TrainState&) override {
    if (s_->step_times.size() <= static_cast<size_t>(form_)) s_->step_times.resize(static_cast<size_t>(form_) + 1);
    s_->step_times[static_cast<size_t>(form_)].push_back(static_cast<float>(now_seconds() - start_));
  }

 private:
  Session* s_;
  int form_ = 0;
  double start_ = 0;
};

// Records the optimizer's measures at the steps that change them, and the algorithms' measures at the end of epochs, in metrics.jsonl and TensorBoard.
class Measures final : public train::Callback {
 public:
  explicit Measures(Session* s) : s_(s) {}
  void step_end(train::TrainState& state) override {
    const optim::Optimizer& o = *s_->optimizer;
    if (!s_->folder || !s_->folder->started() || !o.remeasures(o.variant((state.cur_step_num - 1) / s_->steps_per_update))) return;
    record(state, o.measures(), false);
  }
  void epoch_end(train::TrainState& state) override {
    if (!s_->folder || !s_->folder->started()) return;
    std::vector<optim::Optimizer::Measure> all;
    for (const train::BoostAlgorithmPtr& a : state.algorithms)
      for (optim::Optimizer::Measure& m : a->measures()) all.push_back(std::move(m));
    record(state, all, true);
  }

 private:
  void record(const train::TrainState& state, const std::vector<optim::Optimizer::Measure>& measures, bool at_epoch_end) {
    EventValues values;
    for (const optim::Optimizer::Measure& m : measures) values.emplace_back(m.group + "/" + m.name, m.value);
    if (values.empty()) return;
    s_->folder->measures(state.cur_epoch_num, state.cur_step_num, values, at_epoch_end);
  }
  Session* s_;
};

double median(std::vector<float> v) {
  std::sort(v.begin(), v.end());
  return static_cast<double>(v[v.size() / 2]);
}

}  // namespace

std::shared_ptr<train::Callback> make_step_forms(Session* s) {
  return s->optimizer->variant_name(0).empty() || !current_device().is_cpu() ? nullptr : std::make_shared<StepForms>(s);
}

std::shared_ptr<train::Callback> make_measures(Session* s) { return std::make_shared<Measures>(s); }

std::string write_measures_plot(const Session& s) {
  const std::string path = s.folder->file("metrics.jsonl");
  if (!train::file_exists(path, "metrics.jsonl")) return "";
  std::istringstream lines(train::read_small_file(path, int64_t{1} << 30, "metrics.jsonl"));
  std::vector<MeasureChart> charts;
  for (std::string text; std::getline(lines, text);) {
    const nlohmann::ordered_json line = nlohmann::ordered_json::parse(text, nullptr, false);
    if (!line.is_object() || line.value("event", "") != kMeasures) continue;
    for (const auto& [key, value] : line.items()) {
      const size_t slash = key.find('/');
      if (slash == std::string::npos || !value.is_number()) continue;
      const std::string group = key.substr(0, slash), name = key.substr(slash + 1);
      const auto in = [](auto& list, const auto& wanted, auto member) {
        const auto it = std::find_if(list.begin(), list.end(), [&](const auto& e) { return e.*member == wanted; });
        return it != list.end() ? it : list.emplace(list.end());
      };
      const auto chart = in(charts, group, &MeasureChart::title);
      chart->title = group;
      const auto curve = in(chart->curves, name, &MeasureCurve::name);
      curve->name = name;
      curve->points.emplace_back(line.value("step", 0.0), value.get<double>());
    }
  }
  if (charts.empty()) return "";
  const std::string out = s.folder->file("measures.png");
  write_measures(charts, "step", out);
  return out;
}

std::vector<std::string> optimizer_lines(const Session& s) {
  std::vector<std::string> out, forms;
  size_t steps = 0;
  for (size_t form = 0; form < s.step_times.size(); ++form) {
    const std::vector<float>& times = s.step_times[form];
    if (times.empty()) continue;
    steps += times.size();
    forms.push_back(fmt::format("{} that {} of {:.4g} ms", times.size(), s.optimizer->variant_name(static_cast<int>(form)), 1e3 * median(times)));
  }
  if (!forms.empty()) out.push_back(fmt::format("{} steps: {} (medians)", steps, fmt::join(forms, ", ")));
  for (std::string& line : s.optimizer->report()) out.push_back(std::move(line));
  return out;
}

}  // namespace sindri::app
